// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/opened_graph.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

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

opened_graph generated_graph(std::string const& generator) {
  opened_graph g;
  generator_spec const spec = parse_generator(generator);
  g.source = spec;
  g.name = to_string(spec);
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

void print_graph(std::string const& name, std::uint64_t vertices, std::uint64_t edges,
                 bool undirected) {
  std::printf("%s: %s, %s%s\n", name.c_str(), counted(vertices, "vertex", "vertices").c_str(),
              counted(edges, "directed edge", "directed edges").c_str(),
              undirected ? " (every edge both ways)" : "");
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
