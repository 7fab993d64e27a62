// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/write_result.hpp"

#include <string>

#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/support/output_file.hpp"

namespace karpos::perf {
namespace {

std::string line_of(std::uint64_t v, bfs_answer const& a) {
  vertex_names const& names = a.run->names;
  std::string text = line_begin(names, v) + std::to_string(a.distance[v]);
  if (a.parent != nullptr)
    text += column_separator(names) + (a.distance[v] < 0 ? "-1" : names[a.parent[v]]);
  return text + '\n';
}

}  // namespace

void write_result(std::string const& path, bfs_answer const& answer) {
  output_file file(path);
  for (std::uint64_t v = 0; v < answer.vertices; ++v) file.write(line_of(v, answer));
  file.close();
}

}  // namespace karpos::perf
