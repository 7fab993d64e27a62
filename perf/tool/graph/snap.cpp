// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "perf/tool/graph/text_format.hpp"
#include "perf/tool/graph/text_lines.hpp"

// Source: the edge lists of the Stanford Network Analysis Project. KONECT's lists add weight and
// time, networkx adds attributes {...}, and other tools separate fields by commas or semicolons.

namespace karpos::perf::graph_input {

edge_list read_snap(input const& in) {
  text_lines lines(in);
  edge_list edges;
  std::uint32_t largest = 0;
  edges.layout.header = header_of_list(in);
  if (!edges.layout.header.empty()) lines.next_data("#%");
  while (lines.next_data("#%")) {
    if (edges.sources.empty()) lines.detect_separator();
    std::uint32_t const source = lines.read_id(0, max_vertices);
    std::uint32_t const target = lines.read_id(0, max_vertices);
    std::size_t const columns = lines.read_rest_of_edge(true, edges.weights, edges.sources.size());
    if (edges.sources.empty()) edges.layout.columns = columns;
    largest = std::max({largest, source, target});
    edges.sources.push_back(source);
    edges.targets.push_back(target);
  }
  if (edges.sources.empty())
    lines.fail("the list has no edge, so the number of vertices is unknown",
               "check that the file is whole");
  edges.vertices = std::uint64_t(largest) + 1;
  edges.ids_from_0 = true;
  return edges;
}

}  // namespace karpos::perf::graph_input
