// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/count/mapped_file.hpp"

#include <algorithm>

#include "perf/graph/input.hpp"

namespace karpos::perf {

mapped_file::mapped_file(std::string const& path) : m_file(path), m_text(m_file.bytes()) {
  if (m_text.substr(0, 2) == "\x1f\x8b") {
    graph_progress const silent;
    m_unpacked = graph_input::gunzip({m_text, m_file.name(), silent});
    m_text = m_unpacked;
  }
  if (m_text.empty())
    graph_input::fail(m_file.name(), "it is empty", "check that the file is whole");
  graph_input::require_text(m_text, m_file.name(), "it is no text", "give a table in a text file");
}

std::string mapped_file::place(std::size_t offset) const {
  auto const end = m_text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, m_text.size()));
  return path() + ":" + std::to_string(1 + std::count(m_text.begin(), end, '\n'));
}

}  // namespace karpos::perf
