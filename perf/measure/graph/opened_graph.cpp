// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/opened_graph.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <variant>

#include "perf/measure/support/text.hpp"
#include "perf/tool/bfs/vertex_numbers.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/option_values.hpp"

namespace karpos::perf {
namespace {

/// Opens the graph and numbers its vertices without gaps, whatever their names in the file.
graph_source open_relabelled(std::string const& graph, bool directed, load_progress const& report,
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

std::uint64_t find_vertex_by_name(std::string const& name, vertex_names const& names) {
  if (auto const vertex = names.find(name)) return *vertex;
  if (auto const vertex = names.find(count_text(name))) return *vertex;
  std::string const nearest = names.nearest(name);
  throw std::invalid_argument("karpos: --source " + printable(name) +
                              " is no vertex (no edge names it): " +
                              (nearest.empty() ? "" : "did you mean " + printable(nearest) + "? ") +
                              "choose an id of the file");
}

}  // namespace

opened_graph open_named_graph(std::string const& graph, bool directed, bool relabel,
                              load_progress const& report, graph_read_options const& options) {
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

bool fits_31_bits(graph_source const& source, bool directed) {
  return max_edges(source, directed) < std::uint64_t(1) << 31;
}

std::uint64_t vertex_of(std::string const& source, vertex_names const& names,
                        std::uint64_t vertices) {
  if (!names.empty()) return find_vertex_by_name(source, names);
  std::uint64_t const vertex = parse_count(source);
  if (vertex >= vertices)
    throw std::invalid_argument(
        "karpos: --source " + std::to_string(vertex) + " is no vertex (the graph has " +
        counted(vertices, "vertex", "vertices") + "): ids count from 0, choose one below that");
  return vertex;
}

std::string source_word(std::string const& word, bool relabel) {
  if (relabel) return word;
  try {
    return std::to_string(parse_count(word));
  } catch (std::invalid_argument const& e) {
    throw bad_input(std::string("--source: ") + e.what() + "; names take --relabel");
  }
}

std::string shown(vertex_names const& names, std::uint64_t vertex) {
  return names.is_word(vertex) ? printable(names.word(vertex)) : grouped(names.number(vertex));
}

json vertex_json(vertex_names const& names, std::uint64_t vertex) {
  if (names.is_word(vertex)) return names[vertex];
  return names.number(vertex);
}

char column_separator(vertex_names const& names) { return names.blanks() ? '\t' : ' '; }

std::string line_begin(vertex_names const& names, std::uint64_t vertex) {
  return names.empty() ? "" : names[vertex] + column_separator(names);
}

void print_layout(list_layout const& layout, bool uses_weights) {
  if (!layout.header.empty())
    std::printf("the line '%s' is taken for a header, not for an edge\n",
                printable(layout.header).c_str());
  if (layout.columns > 2)
    std::printf("the third column is taken for weights%s%s\n",
                uses_weights ? "" : ", which are not used",
                layout.columns > 3 ? ", the fourth for times" : "");
}

json to_json(list_layout const& layout) {
  json j = json::object();
  if (!layout.header.empty()) j["header"] = layout.header;
  if (layout.columns > 2) j["columns"] = layout.columns;
  return j;
}

void print_relabelling(vertex_names const& names) {
  if (names.words() > 0)
    std::printf("relabelled: %s by words of the file\n",
                counted(names.words(), "vertex is called", "vertices are called").c_str());
  else
    std::printf("relabelled: ids up to %s in the file\n",
                grouped(names.number(names.size() - 1)).c_str());
}

}  // namespace karpos::perf
