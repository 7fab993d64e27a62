// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers and words as people write and read them.

namespace karpos::perf {

/// Reads 100000, 1e6, 2^27. Throws std::invalid_argument that quotes the text.
std::uint64_t parse_count(std::string const& text);

/// A count as digits, "1e6" as "1000000"; what is none stays as it is.
std::string count_text(std::string const& text);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t n);

/// 1 as "1 vertex", 1234 as "1,234 vertices".
std::string counted(std::uint64_t n, std::string const& one, std::string const& many);

/// Three significant digits: "0.145", "43.7", "291"; two of what is below 0.001: "1.2e-05".
std::string three_digits(double x);

/// "1.07 GB", "16.8 MB", "640 B"; powers of ten.
std::string human_bytes(double bytes);

/// "1.25 s", "46.1 ms", "8.00 us".
std::string human_seconds(double seconds);

/// Text of a file as a terminal may get it: `?` for each control character.
std::string printable(std::string_view text);

/// Returns the text with A to Z in lower case.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Fixed-width columns.
std::string left(std::string const& text, std::size_t width);
std::string right(std::string const& text, std::size_t width);

}  // namespace karpos::perf
