// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/join/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

/// Detects a format in which every row has as many columns as the first one, and fields are kept as
/// text.
table_format whole_lines(mapped_file const& file, format_settings settings) {
  settings.text = true;
  table_format format = detect_format(file, settings);
  format.least = format.most = format.column_count;
  if (format.columns.empty()) {
    format.columns.resize(format.column_count);
    std::iota(format.columns.begin(), format.columns.end(), std::size_t(0));
  }
  return format;
}

std::uint64_t count_lines(std::string_view text) {
  std::uint64_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return lines;
}

}  // namespace

text_table::text_table(std::string const& path, format_settings const& settings)
    : m_file(path),
      m_format(whole_lines(m_file, settings)),
      m_reader(m_file, m_format),
      m_names(m_format.names) {
  std::string_view const text = m_file.text().substr(m_format.data_begin);
  m_max_rows = count_lines(text);
  for (std::size_t c = m_names.size(); c < m_format.column_count; ++c)
    m_names.push_back(column_text(c, {}));
  for (std::string const& setting : settings.columns)
    m_keys.push_back(column_of(setting, m_format.names, m_file.path()));
  if (settings.columns.empty()) m_keys = m_format.columns;
  auto const& all = m_format.columns;
  for (std::size_t const column : m_keys)
    m_places.push_back(
        static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), column) - all.begin()));
  m_fields.resize(all.size());
}

void text_table::read(reporter const& report) {
  std::size_t const width = m_fields.size();
  m_begins.reserve(m_max_rows);
  for (auto& fields : m_fields) fields.reserve(m_max_rows);
  while (!m_reader.done()) {
    for (table_part const& part : m_reader.next()) {
      m_begins.insert(m_begins.end(), part.begins.begin(), part.begins.end());
      for (std::size_t i = 0; i < part.words.size(); i += width)
        for (std::size_t c = 0; c < width; ++c) m_fields[c].push_back(part.words[i + c]);
    }
    report(m_reader.progress(), path() + ": " + counted(rows(), "row", "rows"));
  }
}

void text_table::require_different_keys(char const* option, std::size_t first) const {
  for (std::size_t k = 0; k < std::min(first, m_keys.size()); ++k)
    for (std::size_t before = 0; before < k; ++before)
      if (m_keys[before] == m_keys[k])
        throw bad_input(std::string(option) + " has " + column_text(m_keys[k], m_names) + " of " +
                        path() + " twice: name it once");
}

void text_table::read_row(std::uint64_t row, std::vector<std::string>& fields) const {
  fields.clear();
  for_each_field(row_at(m_file.text(), m_begins[row], m_format.separator), m_format.separator,
                 [&](std::size_t, table_field const& f) {
                   fields.push_back(f.has_escaped_quotes ? unescaped(f.text) : std::string(f.text));
                 });
}

}  // namespace karpos::perf
