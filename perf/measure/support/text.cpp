// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace karpos::perf {
namespace {

double number(std::string const& text, std::string const& whole) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (std::exception const&) {
    used = 0;
  }
  if (text.empty() || used != text.size() || !(value >= 0))
    throw std::invalid_argument("'" + whole + "' is not a count: write 100000, 1e6 or 2^27");
  return value;
}

}  // namespace

std::uint64_t parse_count(std::string const& text) {
  // Integers beyond 2^53 must not pass through a double.
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    std::uint64_t whole = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc() && end == text.data() + text.size()) return whole;
    throw std::invalid_argument("'" + text + "' is too large a count");
  }
  std::size_t const power = text.find('^');
  double const value = power == std::string::npos ? number(text, text)
                                                  : std::pow(number(text.substr(0, power), text),
                                                             number(text.substr(power + 1), text));
  if (!(value < 0x1p63)) throw std::invalid_argument("'" + text + "' is too large a count");
  if (value != std::floor(value))
    throw std::invalid_argument("'" + text + "' is not a count: write a whole number");
  return static_cast<std::uint64_t>(std::llround(value));
}

std::string count_text(std::string const& text) {
  try {
    return std::to_string(parse_count(text));
  } catch (std::invalid_argument const&) {
    return text;
  }
}

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(std::uint64_t n, std::string const& one, std::string const& many) {
  return grouped(n) + " " + (n == 1 ? one : many);
}

std::string three_digits(double x) {
  if (!(x > 0) || !std::isfinite(x)) return "-";
  if (x < 0.00095) {
    char small[64];
    std::snprintf(small, sizeof(small), "%.1e", x);
    return small;
  }
  int const decimals = x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.9995 ? 2 : x >= 0.09995 ? 3 : 4;
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, x);
  return text;
}

std::string human_bytes(double bytes) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit) bytes /= 1000;
  return (unit == 0 ? std::to_string(static_cast<int>(bytes)) : three_digits(bytes)) + " " +
         units[unit];
}

std::string human_seconds(double seconds) {
  if (seconds >= 0.9995) return three_digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " us";
}

std::string printable(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F in UTF-8: some terminals interpret these as control characters, too.
    bool const wide = c == 0xc2 && i + 1 < text.size() &&
                      static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                      static_cast<unsigned char>(text[i + 1]) < 0xa0;
    i += wide;
    safe += wide || c < ' ' || c == 0x7f ? '?' : text[i];
  }
  return safe;
}

std::string left(std::string const& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}
std::string right(std::string const& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

}  // namespace karpos::perf
