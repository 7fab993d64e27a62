// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows and numbers of text tables, compared with a CSV reader that goes letter by letter and with
/// numbers written in many ways.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "perf/tool/count/exact_number.hpp"
#include "perf/tool/count/table_text.hpp"

namespace {

using namespace karpos::perf;
using row = std::vector<std::string>;

std::vector<row> rows_of(std::string_view text, char separator) {
  std::vector<row> rows;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view const one = row_at(text, at, separator);
    at += one.size() + 1;
    if (!holds_data(one, separator)) continue;
    rows.emplace_back();
    for_each_field(one, separator, [&](std::size_t column, table_field const& f) {
      CHECK(column == rows.back().size());
      CHECK(f.quote_error == nullptr);
      rows.back().push_back(f.has_escaped_quotes ? unescaped(f.text) : std::string(f.text));
    });
  }
  return rows;
}

std::string in_quotes(std::string const& field) {
  std::string text = "\"";
  for (char const c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

char const* broken_in(std::string_view text, char separator) {
  char const* quote_error = nullptr;
  for_each_field(row_at(text, 0, separator), separator, [&](std::size_t, table_field const& f) {
    if (f.quote_error != nullptr) quote_error = f.quote_error;
  });
  return quote_error;
}

std::string written(std::string_view field) {
  auto const number = exact_number::read(field);
  return number ? number->text() : "none";
}

}  // namespace

TEST_CASE("fields in quotes come back as they were, whatever stands in them") {
  constexpr char letters[] = "ab,;|\t\"\"\n\r# %'";
  std::mt19937 draw(7);
  for (char const separator : {',', ';', '|', '\t'})
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<row> rows(1 + draw() % 4, row(1 + draw() % 3));
      std::string text = draw() % 2 == 0 ? "# it's 5\" long\n" : "";
      std::vector<std::size_t> begins;
      for (row& r : rows) {
        begins.push_back(text.size());
        for (std::size_t c = 0; c < r.size(); ++c) {
          for (auto n = draw() % 6; n > 0; --n) r[c] += letters[draw() % (sizeof(letters) - 1)];
          bool const plain = !r[c].empty() && r[c].find_first_not_of("ab'") == std::string::npos;
          text += (c == 0 ? "" : std::string(1, separator)) + (plain ? r[c] : in_quotes(r[c]));
        }
        text += draw() % 2 == 0 ? "\r\n" : "\n";
      }
      CAPTURE(text);
      if (draw() % 2 == 0) text.pop_back();
      CHECK(rows_of(text, separator) == rows);
      begins.push_back(text.size());
      for (std::size_t at = 0, next = 0; at <= text.size(); ++at) {
        while (next < begins.size() && begins[next] < at) ++next;
        std::size_t const begin = begins[0];
        if (at >= begin) CHECK(row_from(text, begin, at, separator) == begins[next]);
      }
    }
}

TEST_CASE("rows between blanks are lines, and a quote there is a letter") {
  CHECK(rows_of("a \"b\n c\" d \n", ' ') == std::vector<row>{{"a", "\"b"}, {"c\"", "d"}});
  CHECK(row_from("a \"b\nc\" d\ne", 0, 3, ' ') == 5);
  CHECK(row_from("a,\"b\nc\"\ne", 0, 3, ',') == 8);
}

TEST_CASE("a badly placed quote is told, and ends no later than the line that shows it") {
  CHECK(broken_in("\"a,1\nb,2\n", ',') != nullptr);
  CHECK(row_at("\"a,1\nb,2\n", 0, ',') == "\"a,1");
  CHECK(broken_in("\"a\"b,1\nc,2\n", ',') != nullptr);
  CHECK(row_at("\"a\"b,1\nc,2\n", 0, ',') == "\"a\"b,1");
  CHECK(row_at("\"a\nb\"c,1\nd,2\n", 0, ',') == "\"a\nb\"c,1");
  CHECK(broken_in("a\"b,c\n", ',') == nullptr);
}

TEST_CASE("a badly placed quote between tabs is a letter") {
  CHECK(rows_of("\"a\t1\n6\" b\t2\n", '\t') == std::vector<row>{{"\"a", "1"}, {"6\" b", "2"}});
  CHECK(rows_of("\"a\"b\t1\n\"\"\t2\n", '\t') == std::vector<row>{{"\"a\"b", "1"}, {"", "2"}});
  CHECK(rows_of("\"a\tb\nc\"\t1\n", '\t') == std::vector<row>{{"a\tb\nc", "1"}});
}

TEST_CASE("a number has one text, however it is written") {
  for (char const* zero : {"0", "-0", "+0", "00", "0.", ".0", "-0.00e5", "0e-7", " 0 "})
    CHECK(written(zero) == "0");
  for (char const* thousand :
       {"1000", "1e3", "1E+3", "+1000.0", "001000", "0.1e4", "10000e-1", "1e0003"})
    CHECK(written(thousand) == "1000");
  CHECK(written("-1.50") == "-1.5");
  CHECK(written("-.25e1") == "-2.5");
  CHECK(written("100e-4") == "0.01");
  CHECK(written("1e-7") == "1e-7");
  CHECK(written("12e-8") == "1.2e-7");
  CHECK(written("1.5e400") == "1.5e400");
  CHECK(written("1e20") == "100000000000000000000");
  CHECK(written("123456789012345678901234567890") == "123456789012345678901234567890");
  for (char const* none : {"", " ", "+", "-", ".", "e5", "1e", "1e+", "1e5.0", "+-1", "1.2.3",
                           "0x10", "inf", "nan", "1,5", "1 2", "1e999999999999999999999"})
    CHECK(written(none) == "none");
}

TEST_CASE("what a number is written as is the same number, at the limits of exponents, too") {
  std::string const most(17, '9');  // the greatest exponent
  for (std::string const& exponent :
       row{most, "99999999999999998", "-" + most, "-99999999999999998"})
    for (char const* digits : {"1", "10", "818.", "0.01", "99.9", "-818", ".001", "0.0"}) {
      CAPTURE(digits);
      CAPTURE(exponent);
      auto const number = exact_number::read(std::string(digits) + "e" + exponent);
      if (number) CHECK(exact_number::read(number->text()) == number);
    }
  CHECK(written("1e" + most) == "1e" + most);
  CHECK(written("0.1e-99999999999999998") == "1e-" + most);
  for (std::string const& none : row{"10e" + most, "818.e99999999999999998", "0.1e-" + most})
    CHECK(written(none) == "none");
  CHECK(written("0e" + most) == "0");
}

TEST_CASE("numbers are ordered by what they are, with all their digits") {
  std::vector<std::string_view> const ascending = {"",
                                                   "-1e400",
                                                   "-18446744073709551617",
                                                   "-18446744073709551616",
                                                   "-10.5",
                                                   "-10",
                                                   "-9",
                                                   "-0.5",
                                                   "-1e-400",
                                                   "0",
                                                   "1e-400",
                                                   "0.1",
                                                   "0.10000000000000001",
                                                   "9",
                                                   "9.5",
                                                   "10",
                                                   "18446744073709551616",
                                                   "18446744073709551617",
                                                   "1e400"};
  for (std::size_t a = 0; a < ascending.size(); ++a)
    for (std::size_t b = 0; b < ascending.size(); ++b) {
      CAPTURE(ascending[a]);
      CAPTURE(ascending[b]);
      CHECK(precedes(comparison::numbers, ascending[a], ascending[b]) == (a < b));
    }
  CHECK(precedes(comparison::text, "10", "9"));
}

TEST_CASE("a column is of integers, of numbers, or of text") {
  auto const how = [](std::vector<std::string_view> const& words) { return values_of(words).how; };
  CHECK(how({}) == comparison::integers);
  CHECK(how({"1", "", "-1", "1e3", "2.0"}) == comparison::integers);
  CHECK(how({"-9223372036854775808", "18446744073709551615"}) == comparison::integers);
  CHECK(how({"-9223372036854775809"}) == comparison::numbers);
  CHECK(how({"18446744073709551616"}) == comparison::numbers);
  CHECK(how({"1", "0.5"}) == comparison::numbers);
  CHECK(how({"1", "inf"}) == comparison::text);
  CHECK(values_of({"1e3", "", "0.50"}).numbers == row{"1000", "", "0.5"});
}
