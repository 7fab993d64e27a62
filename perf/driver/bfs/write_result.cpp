// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/write_result.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace karpos::perf {
namespace {

void append_line(std::string& text, std::uint64_t v, bfs_answer const& a) {
  vertex_names const& names = a.run->names;
  char const between = names.blanks() ? '\t' : ' ';
  if (!names.empty()) text += names[v] + between;
  text += std::to_string(a.distance[v]);
  if (a.parent != nullptr) text += between + (a.distance[v] < 0 ? "-1" : names[a.parent[v]]);
  text += '\n';
}

}  // namespace

void write_result(std::string const& path, bfs_answer const& answer) {
  constexpr std::size_t part_bytes = 1 << 20;
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  bool const opened = file.good();
  std::string part;
  for (std::uint64_t v = 0; v < answer.vertices && file; ++v) {
    append_line(part, v, answer);
    if (part.size() < part_bytes && v + 1 < answer.vertices) continue;
    file.write(part.data(), static_cast<std::streamsize>(part.size()));
    part.clear();
  }
  file.close();
  if (file) return;
  std::string const why = std::strerror(errno);
  std::error_code ignored;
  if (opened && std::filesystem::is_regular_file(path, ignored))
    std::filesystem::remove(path, ignored);
  throw std::invalid_argument("karpos: cannot write " + path + " (" + why +
                              "): choose another place for the output");
}

}  // namespace karpos::perf
