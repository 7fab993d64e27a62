// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/write_result.hpp"

#include <string>

#include "perf/driver/program/output_file.hpp"

namespace karpos::perf {
namespace {

std::string line_of(std::uint64_t v, bfs_answer const& a) {
  std::string text;
  vertex_names const& names = a.run->names;
  char const between = names.blanks() ? '\t' : ' ';
  if (!names.empty()) text += names[v] + between;
  text += std::to_string(a.distance[v]);
  if (a.parent != nullptr) text += between + (a.distance[v] < 0 ? "-1" : names[a.parent[v]]);
  return text + '\n';
}

}  // namespace

void write_result(std::string const& path, bfs_answer const& answer) {
  output_file file(path);
  for (std::uint64_t v = 0; v < answer.vertices; ++v) file.write(line_of(v, answer));
  file.close();
}

}  // namespace karpos::perf
