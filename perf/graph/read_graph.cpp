// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/read_graph.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>

#include "perf/graph/input.hpp"
#include "perf/graph/text_lines.hpp"

namespace karpos::perf {
namespace {

using graph_input::fail;
using graph_input::input;

/// A whole file, read-only in memory.
class file_bytes {
 public:
  explicit file_bytes(std::string const& path);
  ~file_bytes() {
    if (!m_bytes.empty()) munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
  }
  file_bytes(file_bytes const&) = delete;
  file_bytes& operator=(file_bytes const&) = delete;

  std::string_view get() const { return m_bytes; }

 private:
  std::string_view m_bytes;
};

file_bytes::file_bytes(std::string const& path) {
  struct stat facts {};
  // Asked before it is opened: opening a pipe would wait for its writer.
  if (stat(path.c_str(), &facts) != 0) fail(path, std::strerror(errno), "check the path");
  if (S_ISDIR(facts.st_mode)) fail(path, "it is a directory", "name a file");
  if (!S_ISREG(facts.st_mode)) fail(path, "it is not a regular file", "write it to a file first");
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, std::strerror(errno), "check the rights of the file");
  auto const size = static_cast<std::size_t>(facts.st_size);
  void* const data = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  int const error = errno;
  close(file);
  if (size == 0) return;
  if (data == MAP_FAILED) fail(path, std::strerror(error), "copy it to a local disk");
  madvise(data, size, MADV_SEQUENTIAL);
  m_bytes = {static_cast<char const*>(data), size};
}

/// The place of a byte near the beginning that no text holds; npos: it is a text.
std::size_t binary_at(std::string_view bytes) {
  constexpr std::size_t glance = 4096;
  auto const binary = [](char c) {
    return (c >= 0 && c < ' ' && c != '\n' && !graph_input::is_blank(c)) || c == '\x7f';
  };
  std::string_view const begin = bytes.substr(0, glance);
  auto const found = std::find_if(begin.begin(), begin.end(), binary);
  return found == begin.end() ? std::string_view::npos
                              : static_cast<std::size_t>(found - begin.begin());
}

constexpr char known[] = "give a MatrixMarket, DIMACS, SNAP or .sg file, gzip'ed or not";

graph_file read_text(input const& in) {
  // Two marks even if the word is broken: as a comment it would make an edge of the line of sizes.
  if (in.bytes.substr(0, 2) == "%%") return graph_input::read_matrix_market(in);
  graph_progress const silent;
  input const first_look{in.bytes, in.name, silent};
  graph_input::text_lines lines(first_look);
  if (!lines.next_data("#%")) return graph_input::read_snap(in);
  std::string_view const line = lines.rest();
  char const first = line.front();
  if ((first >= '0' && first <= '9') || first == '-') return graph_input::read_snap(in);
  bool const one_letter = line.size() == 1 || graph_input::is_blank(line[1]);
  if (one_letter && std::strchr("cpae", first)) return graph_input::read_dimacs(in);
  lines.fail("the line " + graph_input::quoted(line) + " begins no graph", known);
}

graph_file read_content(input const& in) {
  if (in.bytes.empty()) fail(in.name, "it is empty", "check that the file is whole");
  if (in.bytes[0] == 0 || in.bytes[0] == 1) return graph_input::read_serialized(in);
  std::size_t const binary = binary_at(in.bytes);
  if (binary != std::string_view::npos)
    fail(in.name + " at byte " + std::to_string(binary), "neither a text nor a .sg graph", known);
  return read_text(in);
}

}  // namespace

graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress) {
  if (bytes.substr(0, 2) != "\x1f\x8b") return read_content({bytes, name, progress});
  // The two take about as long; a caller sees one bar.
  constexpr double unpacked = 0.5;
  graph_progress const first_half = [&](double part, std::string const& note) {
    if (progress) progress(part * unpacked, note);
  };
  std::string const content = graph_input::gunzip({bytes, name, first_half});
  return read_content({content, name, progress, unpacked});
}

graph_file read_graph(std::string const& path, graph_progress const& progress) {
  if (path == "-") {
    std::string const bytes((std::istreambuf_iterator<char>(std::cin)),
                            std::istreambuf_iterator<char>());
    return parse_graph(bytes, "standard input", progress);
  }
  file_bytes const file(path);
  return parse_graph(file.get(), path, progress);
}

}  // namespace karpos::perf
