// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/count/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>

#include "perf/driver/command.hpp"
#include "perf/graph/input.hpp"

namespace karpos::perf {
namespace {

[[noreturn]] void fail(std::string const& path, char const* why) {
  throw bad_input("cannot read '" + path + "': " + why);
}

}  // namespace

mapped_file::mapped_file(std::string const& path) : m_path(path == "-" ? "standard input" : path) {
  if (path == "-") {
    m_content.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
    m_text = m_content;
  } else {
    map(path);
    m_text = m_mapped;
  }
  if (m_text.empty()) fail(m_path, "it is empty");
  if (m_text.substr(0, 2) != "\x1f\x8b") return;
  graph_progress const silent;
  m_content = graph_input::gunzip({m_text, m_path, silent});
  m_text = m_content;
  if (m_text.empty()) fail(m_path, "there is nothing in it");
}

void mapped_file::map(std::string const& path) {
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, std::strerror(errno));
  struct stat facts {};
  int const failed = fstat(file, &facts);
  bool const regular = failed == 0 && S_ISREG(facts.st_mode);
  auto const bytes = static_cast<std::size_t>(facts.st_size);
  void* data = MAP_FAILED;
  if (regular && bytes > 0) data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  int const error = errno;
  close(file);
  if (!regular) fail(path, "it is not a regular file");
  if (bytes == 0) return;
  if (data == MAP_FAILED) fail(path, std::strerror(error));
  madvise(data, bytes, MADV_SEQUENTIAL);
  m_mapped = {static_cast<char const*>(data), bytes};
}

mapped_file::~mapped_file() {
  if (!m_mapped.empty()) munmap(const_cast<char*>(m_mapped.data()), m_mapped.size());
}

std::string mapped_file::place(std::size_t offset) const {
  auto const end = m_text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, m_text.size()));
  return m_path + ":" + std::to_string(1 + std::count(m_text.begin(), end, '\n'));
}

}  // namespace karpos::perf
