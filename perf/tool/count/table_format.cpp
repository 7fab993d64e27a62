// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/count/table_format.hpp"

#include <algorithm>
#include <iterator>

#include "perf/measure/support/bad_input.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/graph/input.hpp"

namespace karpos::perf {
namespace {

/// The numbers of rows that are examined to determine what the first row is, and to determine the
/// separator.
constexpr int examined_rows = 1000, compared_rows = 20;

/// Returns the offset of the first line with data at or after `offset`, or the size of the text if
/// there is none.
std::size_t next_data(std::string_view text, std::size_t offset, char separator) {
  while (offset < text.size()) {
    std::string_view const line = line_at(text, offset);
    if (holds_data(line, separator)) return offset;
    offset += line.size() + 1;
  }
  return text.size();
}
/// Returns the offset of the row after the one at `offset`.
std::size_t next_row(std::string_view text, std::size_t offset, char separator) {
  std::size_t const after = offset + row_at(text, offset, separator).size() + 1;
  return next_data(text, std::min(text.size(), after), separator);
}

using field_list = std::vector<std::string_view>;

field_list fields_of(std::string_view row, char separator) {
  field_list all;
  for_each_field(row, separator, [&](std::size_t, table_field const& f) { all.push_back(f.text); });
  return all;
}

bool all_real(std::string_view row) {
  field_list const all = fields_of(row, ' ');
  return std::all_of(all.begin(), all.end(), is_real);
}

/// Returns whether tabs separate the cells. Numbers between tabs are ambiguous, as blanks may
/// separate them as well. In this case an empty cell in the first two rows decides.
bool is_tab_table(std::string_view text, std::size_t begin) {
  std::string_view const row = row_at(text, begin, '\t'), first = trimmed(row);
  if (first.find('\t') == std::string_view::npos) return false;
  std::string_view const second = row_at(text, next_row(text, begin, '\t'), '\t');
  field_list const cells = fields_of(row, '\t');
  if (!second.empty() && fields_of(second, '\t').size() != cells.size()) return false;
  bool const gaps =
      first.find("\t\t") != std::string_view::npos || (!second.empty() && trimmed(second).empty());
  return gaps || !all_real(first) || !all_real(second);
}

/// The result of splitting a row by a separator.
struct split {
  std::size_t fields = 0;
  bool whole = true;  ///< no quote is misplaced
};
split split_of(std::string_view row, char separator) {
  split s;
  s.fields = for_each_field(row, separator, [&](std::size_t, table_field const& f) {
    s.whole = s.whole && f.quote_error == nullptr;
  });
  return s;
}

/// Returns whether a separator splits the first rows, from `at` on, into equally many fields, and
/// into at least two.
bool splits_consistently(std::string_view text, std::size_t at, char separator) {
  std::size_t const width = split_of(row_at(text, at, separator), separator).fields;
  for (int i = 0; i < compared_rows && at < text.size(); ++i) {
    split const s = split_of(row_at(text, at, separator), separator);
    if (!s.whole || s.fields != width) return false;
    at = next_row(text, at, separator);
  }
  return width > 1;
}

/// Returns whether semicolons split the first rows alike, and every comma in these rows is between
/// two digits: 1,5;2,5.
bool has_decimal_commas(std::string_view text, std::size_t begin) {
  if (!splits_consistently(text, begin, ';')) return false;
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (int i = 0; i < compared_rows && begin < text.size(); ++i) {
    std::string_view const row = row_at(text, begin, ';');
    for (std::size_t at = row.find(','); at < row.size(); at = row.find(',', at + 1))
      if (at == 0 || at + 1 == row.size() || !is_digit(row[at - 1]) || !is_digit(row[at + 1]))
        return false;
    begin = next_row(text, begin, ';');
  }
  return true;
}

char separator_of(std::string const& setting, std::string_view text, std::size_t begin) {
  if (setting == "auto") return find_separator(text, begin);
  if (setting == "blank") return ' ';
  if (setting == "tab") return '\t';
  if (setting == "comma") return ',';
  if (setting == "semicolon") return ';';
  if (setting == "bar") return '|';
  if (setting.size() == 1 && std::string("\"\r\n").find(setting) == std::string::npos)
    return setting[0];
  throw bad_input("--separator " + graph_input::quoted(setting) +
                  ": choose auto, blank, tab, comma, semicolon, bar or one character");
}

/// Returns the columns that the user asks for; empty for all columns.
std::vector<std::size_t> columns_of(std::vector<std::string> const& settings,
                                    std::vector<std::string> const& names,
                                    std::string const& path) {
  std::vector<std::size_t> columns;
  for (std::string const& setting : settings) {
    bool const named = std::find(names.begin(), names.end(), setting) != names.end();
    if (setting == "all" && !named) return {};
    columns.push_back(column_of(setting, names, path));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

bool marks_missing(std::string_view field) {
  constexpr std::string_view marks[] = {"",     "NA",   "N/A",  "na", "NaN", "nan",
                                        "null", "NULL", "None", "-",  "?",   "\\N"};
  return std::find(std::begin(marks), std::end(marks), field) != std::end(marks);
}

bool words_above_numbers(field_list const& first, field_list const& second) {
  for (std::size_t c = 0; c < std::min(first.size(), second.size()); ++c)
    if (!is_real(first[c]) && !marks_missing(first[c]) && is_real(second[c])) return true;
  return false;
}

/// Returns whether the words of the first row recur nowhere in their columns, as headers of word
/// tables do. Examines a limited number of rows.
bool has_unique_names(std::string_view text, std::size_t second, field_list const& first,
                      char separator) {
  std::size_t at = second;
  for (int i = 0; i < examined_rows && at < text.size(); ++i) {
    bool recurs = false;
    for_each_field(row_at(text, at, separator), separator,
                   [&](std::size_t c, table_field const& f) {
                     recurs = recurs || (c < first.size() && first[c] == f.text);
                   });
    if (recurs) return false;
    at = next_row(text, at, separator);
  }
  return true;
}

/// Returns whether the first row is a header: names above numbers, or, with a separator, names
/// above words.
bool is_header(format_settings const& settings, std::string_view text, std::size_t second,
               field_list const& first, char separator) {
  if (settings.header != "auto") return settings.header == "yes";
  for (std::string const& setting : settings.columns)
    if (std::find(first.begin(), first.end(), setting) != first.end() && !is_real(setting))
      return true;
  field_list const next = fields_of(row_at(text, second, separator), separator);
  if (words_above_numbers(first, next)) return true;
  bool const words = std::none_of(first.begin(), first.end(), is_real) &&
                     std::none_of(first.begin(), first.end(), marks_missing);
  return separator != ' ' && first.size() > 1 && words &&
         has_unique_names(text, second, first, separator);
}

bool begins_with(std::string_view line, std::string_view lower) {
  return std::equal(
      lower.begin(), lower.end(), line.begin(),
      line.begin() + static_cast<std::ptrdiff_t>(std::min(line.size(), lower.size())),
      [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a'); });
}

/// Refuses a .mtx file without its banner, since its size line would be counted as a row. Throws:
/// bad_input.
void refuse_matrix_without_banner(mapped_file const& file, std::size_t begin) {
  std::string_view const name = file.path();
  if (name.ends_with(".mtx") || name.ends_with(".mtx.gz"))
    throw bad_input(file.place(begin) +
                    ": a MatrixMarket file begins with %%MatrixMarket, and this has no " +
                    "such line: write it, or rename the file if it holds a table");
}

/// Returns the offset of the first line of data or names, after a byte order mark and the header of
/// a matrix.
std::size_t begin_of_table(mapped_file const& file, table_format& format) {
  std::string_view const text = file.text();
  std::size_t begin = graph_input::byte_order_mark_size(text);
  std::size_t const first = next_data(text, begin, ' ');
  for (; begin < first; begin += line_at(text, begin).size() + 1) {
    std::string_view const line = trimmed(line_at(text, begin));
    if (begins_with(line, "%matrixmarket"))
      throw bad_input(file.place(begin) +
                      ": the banner of a MatrixMarket file begins with two percent signs, " +
                      "this line with one: write %%MatrixMarket");
    if (!begins_with(line, "%%matrix")) continue;
    graph_progress const silent;
    graph_input::input const content{text.substr(graph_input::byte_order_mark_size(text)),
                                     file.path(), silent};
    graph_input::text_lines lines(content);
    format.matrix = graph_input::read_matrix_header(lines);
    return next_data(text, text.size() - lines.bytes_left(), ' ');
  }
  refuse_matrix_without_banner(file, first);
  return first;
}

std::vector<std::string> names_in(mapped_file const& file, std::size_t begin, char separator) {
  std::vector<std::string> names;
  for_each_field(
      row_at(file.text(), begin, separator), separator, [&](std::size_t, table_field const& field) {
        if (field.quote_error != nullptr)
          throw bad_input(file.place(begin) + ": " + field.quote_error);
        names.push_back(field.has_escaped_quotes ? unescaped(field.text) : std::string(field.text));
      });
  return names;
}

/// Chooses the columns to count if the user chose none: the ids of entries or edges, but not values
/// or weights.
void choose_ids(table_format& format, field_list const& data) {
  std::uint64_t id = 0;
  bool const weighted = (data.size() == 3 || data.size() == 4) && format.separator == ' ' &&
                        format.names.empty() && read_number(data[0], id) &&
                        read_number(data[1], id) &&
                        std::all_of(data.begin() + 2, data.end(), is_real);
  if (!weighted && !format.matrix) return;
  format.columns = {0, 1};
  for (std::size_t c = 2; c < data.size(); ++c) format.left_out.push_back(c);
}

/// Refuses a DIMACS graph, whose lines begin with a letter and have no columns of values.
void refuse_dimacs(mapped_file const& file, std::size_t begin) {
  std::string_view const text = file.text();
  auto const kind = [&] { return fields_of(line_at(text, begin), ' '); };
  while (begin < text.size() && kind().front() == "c") begin = next_row(text, begin, ' ');
  if (begin == text.size()) return;
  field_list const first = kind();
  std::uint64_t ignored = 0;
  if (first.size() == 4 && first[0] == "p" && read_number(first[2], ignored) &&
      read_number(first[3], ignored))
    throw bad_input(file.place(begin) +
                    ": a graph in DIMACS' format is no table: count its edges " +
                    "by grep '^[ae] ' FILE | karpos count - --column 2,3");
}

/// Returns whether the table has one column, and one of the examined rows is in quotes.
bool is_quoted_column(std::string_view text, std::size_t begin) {
  std::string_view const first = trimmed(line_at(text, begin));
  if (first.front() != '"' && fields_of(first, ' ').size() > 1) return false;
  for (int i = 0; i < examined_rows && begin < text.size(); ++i) {
    std::string_view const row = row_at(text, begin, ',');
    split const s = split_of(row, ',');
    if (trimmed(row).front() == '"' && s.whole) return s.fields == 1;
    begin = next_row(text, begin, ',');
  }
  return false;
}

/// Returns "which has 'a', 'b'", for a message.
std::string list_of(std::vector<std::string> const& names) {
  constexpr std::size_t most = 10;
  if (names.empty()) return "of which there is none (--header yes: its first line is one)";
  std::string list;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    list += (i == 0 ? "which has " : ", ") + graph_input::quoted(names[i]);
  return list + (names.size() > most ? " and more" : "");
}

}  // namespace

std::size_t column_of(std::string const& setting, std::vector<std::string> const& names,
                      std::string const& path) {
  auto const named = std::find(names.begin(), names.end(), setting);
  if (std::count(names.begin(), names.end(), setting) > 1)
    throw bad_input("several columns of " + path + " are called " + graph_input::quoted(setting) +
                    ": choose one by its number, from 1");
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  std::uint64_t number = 0;
  if (!read_number(setting, number) || number == 0)
    throw bad_input("there is no column " + graph_input::quoted(setting) + " in " + path +
                    ": choose a number from 1, or a name of its header, " + list_of(names));
  return static_cast<std::size_t>(number - 1);
}

std::string column_text(std::size_t column, std::vector<std::string> const& names) {
  std::string const number = "column " + std::to_string(column + 1);
  return column < names.size() ? number + " " + graph_input::quoted(names[column]) : number;
}

char find_separator(std::string_view text, std::size_t begin) {
  if (is_tab_table(text, begin)) return '\t';
  char found = ' ';
  for (char const c : {',', ';', '|'}) {
    if (c == ',' && has_decimal_commas(text, begin)) continue;
    if (splits_consistently(text, begin, c)) return c;
    std::string_view const row = row_at(text, begin, c);
    split const s = split_of(row, c);
    bool const splits = s.fields > 1 || (!s.whole && row.find(c) != std::string_view::npos);
    if (found == ' ' && splits) found = c;
  }
  return found == ' ' && is_quoted_column(text, begin) ? ',' : found;
}

table_format detect_format(mapped_file const& file, format_settings const& settings) {
  std::string_view const text = file.text();
  table_format format;
  std::size_t begin = begin_of_table(file, format);
  std::size_t const first = begin;
  if (begin == text.size()) throw bad_input("'" + file.path() + "' has no line of data");
  if (settings.columns.empty() && !settings.text) refuse_dimacs(file, begin);
  char const separator = format.separator = separator_of(settings.separator, text, begin);
  // Includes rows of empty cells, which only the separator distinguishes from empty lines
  if (!format.matrix) begin = next_data(text, graph_input::byte_order_mark_size(text), separator);
  field_list data = fields_of(row_at(text, begin, separator), separator);
  format.column_count = data.size();
  std::size_t const second = next_row(text, begin, separator);
  if (!format.matrix && is_header(settings, text, second, data, separator)) {
    format.names = names_in(file, begin, separator);
    begin = second;
    data = fields_of(row_at(text, begin, separator), separator);
  }
  format.columns = columns_of(settings.columns, format.names, file.path());
  if (settings.columns.empty() && !settings.text) choose_ids(format, data);
  // If the user named no columns, no column may be ignored, and none may appear unannounced.
  if (settings.columns.empty() || format.columns.empty()) format.most = format.column_count;
  if (format.column_count < format.needed())
    throw bad_input(file.place(begin == text.size() ? first : begin) + ": the line has " +
                    counted(format.column_count, "column", "columns") + ", column " +
                    std::to_string(format.needed()) + " was asked for: choose one from 1 to " +
                    std::to_string(format.column_count));
  format.data_begin = begin;
  std::uint64_t ignored = 0;
  for (std::size_t c = 0; c < data.size(); ++c)
    format.numeric = format.numeric && (!format.chosen(c) || read_number(data[c], ignored));
  format.numeric = format.numeric && !settings.text;
  return format;
}

}  // namespace karpos::perf
