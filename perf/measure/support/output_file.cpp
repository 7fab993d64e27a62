// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace karpos::perf {

output_file::output_file(std::string path) : m_path(std::move(path)) {
  errno = 0;
  m_file.open(m_path, std::ios::binary);
  m_opened = m_file.good();
}

void output_file::write(std::string const& line) {
  constexpr std::size_t part_bytes = 1 << 20;
  m_part += line;
  if (m_part.size() >= part_bytes) flush();
}

void output_file::flush() {
  if (m_file) m_file.write(m_part.data(), static_cast<std::streamsize>(m_part.size()));
  m_part.clear();
}

void output_file::close() {
  flush();
  if (m_file) m_file.close();
  if (m_file) return;
  std::string const why = std::strerror(errno);
  std::error_code ignored;
  // Neither a link nor its target is removed: /dev/stdout is a link.
  if (m_opened && is_regular_file(std::filesystem::symlink_status(m_path, ignored)))
    std::filesystem::remove(m_path, ignored);
  std::string const what = "karpos: cannot write " + m_path + " (" + why + "): ";
  if (m_opened) throw std::runtime_error(what + "not all of it arrived, write it elsewhere");
  throw std::invalid_argument(what + "choose another place for the output");
}

}  // namespace karpos::perf
