// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/count/table_format.hpp"

#include <algorithm>

#include "perf/driver/command.hpp"

namespace karpos::perf {
namespace {

/// Offset of the first line from `offset` on that holds data; the size of the text if there is none.
std::size_t next_data(std::string_view text, std::size_t offset) {
  while (offset < text.size()) {
    std::string_view const line = line_at(text, offset);
    if (holds_data(line)) return offset;
    offset += line.size() + 1;
  }
  return text.size();
}
std::size_t behind(std::string_view text, std::size_t offset) {
  return std::min(text.size(), offset + line_at(text, offset).size() + 1);
}

char separator_of(std::string const& wish, std::string_view line) {
  if (wish == "blank") return ' ';
  if (wish == "tab") return '\t';
  if (wish == "comma") return ',';
  if (wish == "semicolon") return ';';
  if (wish.size() == 1) return wish[0];
  if (wish != "auto")
    throw bad_input("--separator " + wish +
                    ": choose auto, blank, tab, comma, semicolon or one character");
  for (char const c : {',', ';'})
    if (line.find(c) != std::string_view::npos) return c;
  return ' ';
}

std::vector<std::size_t> columns_of(std::vector<std::string> const& wishes) {
  std::vector<std::size_t> columns;
  for (std::string const& wish : wishes) {
    std::uint64_t number = 0;
    if (wish == "all") return {};
    if (!read_number(wish, number) || number == 0)
      throw bad_input("--column " + wish + ": columns are numbers from 1, or 'all'");
    columns.push_back(static_cast<std::size_t>(number - 1));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

/// How many fields of a line are numbers, and how many of the chosen ones are not.
struct kinds {
  std::size_t fields = 0, numbers = 0, chosen_words = 0;
};
kinds kinds_of(std::string_view line, table_format const& format) {
  kinds k;
  k.fields =
      for_each_field(line, format.separator, [&](std::size_t column, std::string_view field) {
        std::uint64_t ignored = 0;
        bool const number = read_number(field, ignored);
        k.numbers += number;
        k.chosen_words += !number && format.chosen(column);
      });
  return k;
}

/// A line of names above a line with numbers.
bool is_header(std::string const& wish, kinds const& first, kinds const& second) {
  if (wish != "auto") return wish == "yes";
  return first.numbers == 0 && second.numbers > 0;
}

}  // namespace

table_format detect_format(mapped_file const& file, format_wishes const& wishes) {
  std::string_view const text = file.text();
  table_format format;
  format.columns = columns_of(wishes.columns);
  std::size_t first = next_data(text, 0);
  bool const matrix_market = text.rfind("%%MatrixMarket", 0) == 0;
  if (matrix_market && first < text.size()) {
    first = next_data(text, behind(text, first));  // skips the line of sizes
    // Entries are row, column, value: without a wish, count rows and columns.
    if (wishes.columns.empty()) format.columns = {0, 1};
  }
  if (first == text.size()) throw bad_input("'" + file.path() + "' has no line of data");

  format.separator = separator_of(wishes.separator, line_at(text, first));
  kinds kind = kinds_of(line_at(text, first), format);
  std::size_t const second = next_data(text, behind(text, first));
  kinds const next = second < text.size() ? kinds_of(line_at(text, second), format) : kinds{};
  format.column_count = kind.fields;
  if (kind.fields < format.needed())
    throw bad_input(file.place(first) + ": the line has " + std::to_string(kind.fields) +
                    " columns, column " + std::to_string(format.needed()) + " was asked for");
  if (is_header(wishes.header, kind, next)) {
    first = second;
    kind = next;
    if (first == text.size()) throw bad_input("'" + file.path() + "' has a header and no data");
  }
  format.data_begin = first;
  format.numeric = !wishes.text && kind.chosen_words == 0;
  return format;
}

}  // namespace karpos::perf
