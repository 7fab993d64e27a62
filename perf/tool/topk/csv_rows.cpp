// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/topk/csv_rows.hpp"

#include <algorithm>
#include <karpos/contract.hpp>
#include <utility>

#include "perf/tool/count/table_format.hpp"
#include "perf/tool/graph/input.hpp"

namespace karpos::perf {

csv_rows::csv_rows(std::string_view text, std::string name)
    : m_text(text),
      m_name(std::move(name)) {
  m_at = graph_input::byte_order_mark_size(m_text);
  skip_empty_lines();
  if (m_at == m_text.size()) return;
  // Blanks do not separate fields: they may be part of ids.
  char const found = find_separator(m_text, m_at);
  if (found != ' ') m_separator = found;
}

void csv_rows::skip_empty_lines() {
  while (m_at < m_text.size()) {
    std::string_view const line = line_at(m_text, m_at);
    if (!trimmed(line).empty() || (m_separator == '\t' && line.find('\t') != line.npos)) return;
    m_at = std::min(m_text.size(), m_at + line.size() + 1);
    ++m_line;
  }
}

bool csv_rows::next() {
  skip_empty_lines();
  if (m_at == m_text.size()) return false;
  std::string_view const row = quoted_row_at(m_text, m_at, m_separator);
  m_row_line = m_line;
  m_line += 1 + static_cast<std::uint64_t>(std::count(row.begin(), row.end(), '\n'));
  m_at = std::min(m_text.size(), m_at + row.size() + 1);
  m_size = 0;
  for_each_field(row, m_separator, [&](std::size_t column, table_field const& field) {
    if (column == m_fields.size()) m_fields.emplace_back();
    m_size = column + 1;
    if (field.quote_error != nullptr)
      fail(column, "", field.quote_error,
           "end it by a quote, and write a quote inside of it twice");
    m_fields[column] = field.has_escaped_quotes ? unescaped(field.text) : std::string(field.text);
  });
  return true;
}

void csv_rows::fail(std::string const& why, std::string const& advice) const {
  detail::reject("cannot read " + m_name + ":" + std::to_string(m_row_line), why, advice);
}

void csv_rows::fail(std::size_t column, std::string const& name, std::string const& why,
                    std::string const& advice) const {
  std::string const named = name.empty() ? "" : " " + graph_input::quoted(name);
  detail::reject("cannot read " + m_name + ":" + std::to_string(m_row_line) + ", column " +
                     std::to_string(column + 1) + named,
                 why, advice);
}

}  // namespace karpos::perf
