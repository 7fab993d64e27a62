// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/topk/read_scores.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "perf/measure/support/text.hpp"
#include "perf/tool/count/mapped_file.hpp"
#include "perf/tool/count/table_text.hpp"
#include "perf/tool/graph/input.hpp"
#include "perf/tool/topk/csv_rows.hpp"

namespace karpos::perf {
namespace {

constexpr std::size_t max_attributes = 32;

class score_reader {
 public:
  score_reader(std::string_view text, std::string const& path) : m_rows(text, path) {
    if (!m_rows.next())
      m_rows.fail("there is no header", "begin with a line id,attribute,attribute,...");
    std::size_t const columns = m_rows.size();
    if (columns < 2)
      m_rows.fail(
          "the header has one column",
          "write an id and at least one attribute, with commas, semicolons, tabs or bars between");
    if (columns > max_attributes + 1)
      m_rows.fail(counted(columns - 1, "attribute", "attributes"),
                  "at most " + std::to_string(max_attributes) + " are ranked together");
    bool named = false;
    for (std::size_t c = 1; c < columns; ++c) {
      m_file.attributes.push_back(m_rows[c]);
      named = named || !is_number(m_rows[c]);
    }
    if (!named)
      m_rows.fail("all attributes have numbers for names: is the header missing?",
                  "begin with a line id,attribute,attribute,...");
  }

  bool next() {
    if (!m_rows.next()) return false;
    std::size_t const columns = m_file.attributes.size() + 1;
    if (m_rows.size() != columns)
      m_rows.fail("the row has " + counted(m_rows.size(), "column", "columns") + ", the header " +
                      std::to_string(columns),
                  "write each row like the header; a missing score is an empty cell");
    auto const [at, is_new] = m_line_of.try_emplace(m_rows[0], m_rows.line());
    if (!is_new)
      m_rows.fail(0, "",
                  "the id " + graph_input::quoted(m_rows[0]) + " stands in line " +
                      std::to_string(at->second) + " already",
                  "keep one row for each object");
    bool any = false;
    for (std::size_t c = 1; c < columns; ++c) {
      m_file.cells.push_back(score(c));
      any = any || !std::isnan(m_file.cells.back());
    }
    if (any)
      m_file.ids.push_back(m_rows[0]);
    else
      skip_row();
    return true;
  }

  std::size_t bytes_read() const { return m_rows.bytes_read(); }

  score_file finish() {
    if (m_file.ids.empty() && m_file.without_scores > 0)
      m_rows.fail("no row has a score", "write a row id,score,score,... for each object");
    return std::move(m_file);
  }

 private:
  static bool is_number(std::string_view field) {
    double value = 0;
    auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc() && end == field.data() + field.size();
  }
  void skip_row() {
    m_file.cells.resize(m_file.cells.size() - m_file.attributes.size());
    ++m_file.without_scores;
  }

  double score(std::size_t column) const {
    std::string_view field = trimmed(m_rows[column]);
    if (field.empty()) return std::numeric_limits<double>::quiet_NaN();
    // from_chars rejects a plus.
    if (field.front() == '+' && field.size() > 1 && field[1] != '-') field.remove_prefix(1);
    double value = 0;
    auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::result_out_of_range) fail(column, "lies outside of double's range");
    if (error != std::errc() || end != field.data() + field.size() || std::isnan(value))
      fail(column, "is no number");
    return value;
  }
  [[noreturn]] void fail(std::size_t column, char const* why) const {
    m_rows.fail(column, m_file.attributes[column - 1],
                graph_input::quoted(m_rows[column]) + " " + why,
                "write a number, inf or -inf, or leave the cell empty");
  }

  csv_rows m_rows;
  score_file m_file;
  std::unordered_map<std::string, std::uint64_t> m_line_of;
};

}  // namespace

score_file read_scores(std::string const& path, reporter const& report) {
  mapped_file const file(path);
  score_reader reader(file.text(), path);
  for (std::uint64_t rows = 0; reader.next();)
    if (++rows % 4096 == 0)
      report(static_cast<double>(reader.bytes_read()) / static_cast<double>(file.text().size()),
             grouped(rows) + " rows");
  return reader.finish();
}

}  // namespace karpos::perf
