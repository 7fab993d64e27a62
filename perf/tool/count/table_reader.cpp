// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/table_reader.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <new>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/graph/input.hpp"

namespace karpos::perf {
namespace {

constexpr std::size_t part_bytes = std::size_t(1) << 20;
constexpr std::size_t parts_at_a_time = 32;

void fail(table_part& part, std::size_t offset, std::string const& why) {
  if (!part.error.empty()) return;
  part.error_at = offset;
  part.error = why;
}

constexpr char const* separator_advice =
    ": mend the line, or say by --separator what stands between columns";

/// Checks that the row and column of an entry are within a matrix of that size.
void check_index(std::string_view field, std::size_t column, std::size_t offset,
                 graph_input::matrix_header const& matrix, table_part& part) {
  if (column > 1) return;
  std::uint64_t const most = column == 0 ? matrix.rows : matrix.columns;
  std::uint64_t index = 0;
  if (!read_number(field, index) || index < 1 || index > most)
    fail(part, offset,
         graph_input::quoted(field) + " is no " + (column == 0 ? "row" : "column") +
             " of the matrix, whose " + (column == 0 ? "rows" : "columns") + " are 1 to " +
             std::to_string(most));
}

void add_field(table_field const& field, table_format const& format, table_part& part) {
  std::uint64_t number = 0;
  if (!format.numeric && field.has_escaped_quotes)
    part.words.push_back(part.unescaped.emplace_back(unescaped(field.text)));
  else if (!format.numeric)
    part.words.push_back(field.text);
  else if (read_number(field.text, number))
    part.numbers.push_back(number);
  else
    part.has_non_numbers = true;
}

void read_row(std::string_view row, std::size_t offset, table_format const& format,
              table_part& part) {
  std::size_t const fields =
      for_each_field(row, format.separator, [&](std::size_t column, table_field const& field) {
        if (field.quote_error != nullptr) fail(part, offset, field.quote_error);
        if (format.matrix) check_index(field.text, column, offset, *format.matrix, part);
        if (format.chosen(column)) add_field(field, format, part);
      });
  if (format.matrix && fields != 2 + static_cast<std::size_t>(format.matrix->values))
    fail(part, offset,
         "the line has " + counted(fields, "field", "fields") + ", the banner announces " +
             std::to_string(2 + format.matrix->values));
  if (fields < format.needed())
    fail(part, offset,
         "the line has " + counted(fields, "column", "columns") + ", " +
             std::to_string(format.needed()) + " are needed" + separator_advice);
  if (fields > format.most)
    fail(part, offset,
         "the line has " + counted(fields, "column", "columns") + ", the first one " +
             std::to_string(format.most) +
             (format.columns.empty() ? ": choose some, like --column 1" : separator_advice));
  part.begins.push_back(offset);
}

void read_part(std::string_view text, std::size_t begin, std::size_t end,
               table_format const& format, table_part& part) {
  part.numbers.clear();
  part.words.clear();
  part.begins.clear();
  part.error.clear();
  part.has_non_numbers = false;
  for (std::size_t at = begin; at < end && part.error.empty() && !part.has_non_numbers;) {
    std::string_view const row = row_at(text, at, format.separator);
    if (holds_data(row, format.separator)) read_row(row, at, format, part);
    at += row.size() + 1;
  }
}

/// Kernel that reads part i of the file on the host.
struct read_parts {
  std::string_view text;
  std::size_t const* begins;
  table_format const* format;
  table_part* parts;
  void operator()(std::size_t i) const {
    // No exception may leave a thread of Kokkos.
    try {
      read_part(text, begins[i], begins[i + 1], *format, parts[i]);
    } catch (std::bad_alloc const&) {
      parts[i].out_of_memory = true;
    }
  }
};

}  // namespace

table_reader::table_reader(mapped_file const& file, table_format const& format)
    : table_reader(file, format, format.data_begin, file.text().size()) {
  m_is_whole = true;
}

table_reader::table_reader(mapped_file const& file, table_format const& format, std::size_t begin,
                           std::size_t end)
    : m_file(file),
      m_format(format),
      m_begin(begin),
      m_end(end),
      m_offset(begin),
      m_is_whole(false),
      m_parts(parts_at_a_time) {}

double table_reader::progress() const {
  if (m_is_whole) return static_cast<double>(m_offset) / static_cast<double>(m_end);
  auto const all = static_cast<double>(m_end - m_begin);
  return all > 0 ? static_cast<double>(m_offset - m_begin) / all : 1;
}

std::vector<table_part> const& table_reader::next() {
  std::string_view const text = m_file.text().substr(0, m_end);
  std::vector<std::size_t> begins = {m_offset};
  while (begins.size() <= parts_at_a_time && begins.back() < text.size())
    begins.push_back(row_from(text, begins.back(), begins.back() + part_bytes, m_format.separator));
  std::size_t const end = begins.back();
  begins.resize(m_parts.size() + 1,
                end);  // unused parts get no rows, but keep the `unescaped` words of earlier calls
  using host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(
      "karpos::perf::read",
      Kokkos::RangePolicy<host, Kokkos::Schedule<Kokkos::Dynamic>>(0, m_parts.size()),
      read_parts{text, begins.data(), &m_format, m_parts.data()});
  host().fence("karpos::perf: the text is read");
  for (table_part const& part : m_parts)
    if (part.out_of_memory) throw std::bad_alloc();
  for (table_part const& part : m_parts)
    if (!part.error.empty()) throw bad_input(m_file.place(part.error_at) + ": " + part.error);
  m_offset = end;
  for (table_part const& part : m_parts)
    m_has_non_numbers = m_has_non_numbers || part.has_non_numbers;
  if (m_has_non_numbers) return m_parts;
  for (table_part const& part : m_parts) m_lines += part.lines();
  if (m_is_whole) require_entries(m_file, m_format, m_lines, done());
  return m_parts;
}

void require_entries(mapped_file const& file, table_format const& format, std::uint64_t lines,
                     bool all) {
  if (!format.matrix) return;
  std::uint64_t const entries = format.matrix->entries;
  if (all ? lines == entries : lines <= entries) return;
  throw bad_input(file.path() + " has " + (all ? "" : "more than ") +
                  counted(lines, "entry", "entries") + ", its header announces " +
                  grouped(entries) + ": check that the file is whole");
}

}  // namespace karpos::perf
