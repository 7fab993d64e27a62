// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/mapped_file.hpp"

#include <algorithm>
#include <utility>

#include "perf/tool/graph/input.hpp"

namespace karpos::perf {

mapped_file::mapped_file(std::string const& path)
    : m_file(std::make_unique<graph_input::input_file>(path)),
      m_name(m_file->name()),
      m_text(m_file->bytes()) {
  open();
}

mapped_file::mapped_file(std::string name, std::string_view bytes)
    : m_name(std::move(name)),
      m_text(bytes) {
  open();
}

void mapped_file::open() {
  if (m_text.substr(0, 2) == "\x1f\x8b") {
    graph_progress const silent;
    m_unpacked = graph_input::gunzip({m_text, m_name, silent});
    m_text = m_unpacked;
  }
  if (m_text.empty()) graph_input::fail(m_name, "it is empty", "check that the file is whole");
  graph_input::require_text(m_text, m_name, "it is no text", "give a table in a text file");
}

std::string mapped_file::place(std::size_t offset) const {
  auto const end = m_text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, m_text.size()));
  return path() + ":" + std::to_string(1 + std::count(m_text.begin(), end, '\n'));
}

}  // namespace karpos::perf
