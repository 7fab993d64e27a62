// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers and texts in the form that people write and read.

namespace karpos::perf {

/// Parses 100000, 1e6, 2^27. Throws std::invalid_argument that quotes the text.
std::uint64_t parse_count(std::string const& text);

/// Returns a count in digits, "1e6" as "1000000". Other texts are returned unchanged.
std::string count_text(std::string const& text);

/// Returns 1234567 as "1,234,567".
std::string grouped(std::uint64_t n);

/// Returns 1 as "1 vertex", 1234 as "1,234 vertices".
std::string counted(std::uint64_t n, std::string const& one, std::string const& many);

/// Returns three significant digits: "0.145", "43.7", "291"; two for values below 0.001: "1.2e-05".
std::string three_digits(double x);

/// Returns "1.07 GB", "16.8 MB", "640 B"; the units are powers of 1000.
std::string human_bytes(double bytes);

/// Returns "1.25 s", "46.1 ms", "8.00 us".
std::string human_seconds(double seconds);

/// Returns text of a file in a form that is safe to print on a terminal: `?` for each control
/// character.
std::string printable(std::string_view text);

/// Returns the text with A to Z in lower case.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Pad a text with spaces to a column of fixed width.
std::string left(std::string const& text, std::size_t width);
std::string right(std::string const& text, std::size_t width);

}  // namespace karpos::perf
