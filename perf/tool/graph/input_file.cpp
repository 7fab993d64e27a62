// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/graph/input_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "perf/tool/graph/input.hpp"

namespace karpos::perf::graph_input {

input_file::input_file(std::string const& path) : m_name(path == "-" ? "standard input" : path) {
  if (path == "-")
    read_standard_input();
  else
    map(path);
}

input_file::~input_file() {
  if (m_content.empty() && !m_bytes.empty())
    munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
}

void input_file::map(std::string const& path) {
  struct stat facts {};
  // The type is checked before the file is opened: opening a pipe would block until it has a
  // writer.
  if (stat(path.c_str(), &facts) != 0) fail(path, std::strerror(errno), "check the path");
  if (S_ISDIR(facts.st_mode)) fail(path, "it is a directory", "name a file");
  if (!S_ISREG(facts.st_mode))
    fail(path, "it is not a regular file", "write it to a file first, or read - from it");
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, std::strerror(errno), "check the rights of the file");
  auto const size = static_cast<std::size_t>(facts.st_size);
  void* const data = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  int const error = errno;
  close(file);
  if (size == 0) return;
  if (data == MAP_FAILED && error == ENOMEM) throw std::bad_alloc();
  if (data == MAP_FAILED) fail(path, std::strerror(error), "copy it to a local disk");
  madvise(data, size, MADV_SEQUENTIAL);
  m_bytes = {static_cast<char const*>(data), size};
}

void input_file::read_standard_input() {
  constexpr std::size_t min_capacity = std::size_t(1) << 16;
  std::size_t filled = 0;
  for (;;) {
    if (m_content.size() - filled < min_capacity) m_content.resize(2 * filled + 2 * min_capacity);
    ssize_t const n = read(STDIN_FILENO, m_content.data() + filled, m_content.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      fail(m_name, errno == EBADF ? "it is closed" : std::strerror(errno), "send it a file");
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  m_content.resize(filled);
  m_bytes = m_content;
}

}  // namespace karpos::perf::graph_input
