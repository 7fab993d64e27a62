// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/write_result.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace karpos::perf {
namespace {

void append_line(std::string& text, std::int32_t distance, std::uint32_t const* parent) {
  text += std::to_string(distance);
  if (parent != nullptr) text += distance < 0 ? " -1" : " " + std::to_string(*parent);
  text += '\n';
}

}  // namespace

void write_result(std::string const& path, std::uint64_t vertices, std::int32_t const* distance,
                  std::uint32_t const* parent) {
  constexpr std::size_t part_bytes = 1 << 20;
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  bool const opened = file.good();
  std::string part;
  for (std::uint64_t v = 0; v < vertices && file; ++v) {
    append_line(part, distance[v], parent == nullptr ? nullptr : parent + v);
    if (part.size() < part_bytes && v + 1 < vertices) continue;
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
