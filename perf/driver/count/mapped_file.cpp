// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/count/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "perf/driver/command.hpp"

namespace karpos::perf {
namespace {

[[noreturn]] void fail(std::string const& path, char const* why) {
  throw bad_input("cannot read '" + path + "': " + why);
}

}  // namespace

mapped_file::mapped_file(std::string const& path) : m_path(path) {
  int const file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, std::strerror(errno));
  struct stat facts {};
  int const failed = fstat(file, &facts);
  bool const regular = failed == 0 && S_ISREG(facts.st_mode);
  auto const bytes = static_cast<std::size_t>(facts.st_size);
  void* data = MAP_FAILED;
  if (regular && bytes > 0) data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (!regular) fail(path, "it is not a regular file");
  if (bytes == 0) fail(path, "it is empty");
  if (data == MAP_FAILED) fail(path, std::strerror(errno));
  madvise(data, bytes, MADV_SEQUENTIAL);
  m_text = {static_cast<char const*>(data), bytes};
}

mapped_file::~mapped_file() { munmap(const_cast<char*>(m_text.data()), m_text.size()); }

std::string mapped_file::place(std::size_t offset) const {
  auto const end = m_text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, m_text.size()));
  return m_path + ":" + std::to_string(1 + std::count(m_text.begin(), end, '\n'));
}

}  // namespace karpos::perf
