// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks that any bytes give a table whose rows follow one another, wherever reading begins, or a
/// message that names the file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "perf/measure/support/bad_input.hpp"
#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/count/table_format.hpp"
#include "perf/tool/graph/read_graph.hpp"

namespace {

using namespace karpos::perf;

// Replaces assert, since the condition must also hold in a release build.
void require(bool condition, char const* what) {
  if (condition) return;
  std::fprintf(stderr, "a table breaks its promise: %s\n", what);
  std::abort();
}

void check_field(table_field const& field) {
  std::string const word =
      field.has_escaped_quotes ? unescaped(field.text) : std::string(field.text);
  require(word.size() <= field.text.size(), "a field is no longer than its text");
  auto const number = exact_number::read(word);
  require(!number || exact_number::read(number->text()) == number,
          "a number is what its text says");
  require(!number || is_real(trimmed(word)), "a number is a number to every command");
}

void check_rows(std::string_view text, table_format const& format) {
  std::vector<std::size_t> begins;
  for (std::size_t at = format.data_begin; at < text.size();) {
    begins.push_back(at);
    std::string_view const row = row_at(text, at, format.separator);
    require(at + row.size() == text.size() || text[at + row.size()] == '\n', "lines end rows");
    std::size_t next = 0;
    if (holds_data(row, format.separator))
      for_each_field(row, format.separator, [&](std::size_t column, table_field const& field) {
        require(column == next++, "fields are counted");
        check_field(field);
      });
    at += row.size() + 1;
  }
  begins.push_back(text.size());
  std::size_t row = 0;
  for (std::size_t at = format.data_begin; at <= text.size(); ++at) {
    while (begins[row] < at) ++row;
    require(row_from(text, format.data_begin, at, format.separator) == begins[row],
            "a row is found from any place before it");
  }
}

void check_table(mapped_file const& file, format_settings const& settings) {
  try {
    table_format const format = detect_format(file, settings);
    require(format.data_begin <= file.text().size(), "data begins in the text");
    require(format.needed() <= format.column_count, "the first row has what is asked for");
    check_rows(file.text(), format);
  } catch (bad_input const& e) {
    require(std::string_view(e.what()).find("input") != std::string_view::npos,
            "messages name the file");
  } catch (graph_file_error const& e) {
    require(std::string_view(e.what()).find("input") != std::string_view::npos,
            "messages name the file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  try {
    mapped_file const file("input", bytes);
    check_table(file, {});
    format_settings words;
    words.text = true;
    check_table(file, words);
    words.columns = {"2"};
    words.header = "yes";
    words.separator = "comma";
    check_table(file, words);
  } catch (graph_file_error const& e) {
    require(std::string_view(e.what()).find("input") != std::string_view::npos,
            "messages name the file");
  }
  return 0;
}
