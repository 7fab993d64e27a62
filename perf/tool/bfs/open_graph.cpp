// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/bfs/open_graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/vertex_numbers.hpp"

namespace karpos::perf {
namespace {

/// Opens the graph and numbers its vertices without gaps, whatever their names in the file.
graph_source open_relabelled(std::string const& graph, bool directed, reporter const& report,
                             graph_read_options const& options, vertex_names& names) {
  vertex_numbers numbers{space()};
  graph_source source = open_graph(
      graph, directed, report,
      [&](auto const& words, std::uint32_t* out) { numbers.number(words, out); }, options);
  auto* const list = std::get_if<edge_list>(&source);
  if (list == nullptr)
    throw std::invalid_argument("karpos: --relabel does not apply to " + graph +
                                " (its vertices have no gaps): leave it out");
  if (numbers.size() == 0) {  // a format whose ids are numbers
    std::uint64_t const first_id = list->ids_from_0 ? 0 : 1;
    numbers.replace(list->sources, first_id);
    numbers.replace(list->targets, first_id);
  }
  names = numbers.finish(*list);
  return source;
}

bool has_vertex_0(edge_list const& list) {
  auto const has = [](auto const& ids) {
    return std::find(ids.begin(), ids.end(), 0u) != ids.end();
  };
  return has(list.sources) || has(list.targets);
}

}  // namespace

graph_source open_graph(std::string const& name, bool directed, reporter const& report,
                        word_numbers const& words, graph_read_options const& options) {
  if (!is_generator(name)) {
    graph_file file = read_graph(name, report, words, options);
    if (auto* const list = std::get_if<edge_list>(&file)) return std::move(*list);
    return std::get<csr_arrays>(std::move(file));
  }
  generator_spec const spec = parse_generator(name);
  if (options.format != graph_format::automatic)
    throw std::invalid_argument("karpos: --format does not apply to " + name +
                                " (it is generated): leave it out, or call a file ./NAME");
  if (directed)
    throw std::invalid_argument("karpos: --directed does not apply to " + name +
                                " (generated graphs are undirected): leave it out");
  return spec;
}

opened_graph open_named_graph(std::string const& graph, bool directed, bool relabel,
                              reporter const& report, graph_read_options const& options) {
  auto const first_half = [&](double part, std::string const& what) { report(0.5 * part, what); };
  opened_graph g;
  g.name = graph;
  g.source = relabel ? open_relabelled(graph, directed, first_half, options, g.names)
                     : open_graph(graph, directed, first_half, {}, options);
  if (auto const* const spec = std::get_if<generator_spec>(&g.source)) g.name = to_string(*spec);
  if (auto const* const list = std::get_if<edge_list>(&g.source)) {
    g.lacks_vertex_0 = !relabel && list->ids_from_0 && !has_vertex_0(*list);
    g.layout = list->layout;
  }
  return g;
}

std::string source_word(std::string const& word, bool relabel) {
  if (relabel) return word;
  try {
    return std::to_string(parse_count(word));
  } catch (std::invalid_argument const& e) {
    throw bad_input(std::string("--source: ") + e.what() + "; names take --relabel");
  }
}

}  // namespace karpos::perf
