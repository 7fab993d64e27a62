// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/tool/count/table_text.hpp"

// Numbers of a text, compared by value, whatever their notation.

namespace karpos::perf {

/// A number with all of its digits: 1000, 1e3 and +1000.0 are equal, 2^64 and 2^64 + 1 are not.
class exact_number {
 public:
  /// Parses a sign, digits with at most one point, and an exponent. Returns nothing for other
  /// fields, which include inf, nan and 0x10, and for exponents of more than 17 digits.
  static std::optional<exact_number> read(std::string_view field) {
    field = trimmed(field);
    exact_number n;
    n.m_negative = !field.empty() && field.front() == '-';
    if (!field.empty() && (n.m_negative || field.front() == '+')) field.remove_prefix(1);
    std::size_t const mark = field.find_first_of("eE");
    if (mark != std::string_view::npos) {
      if (!read_exponent(field.substr(mark + 1), n.m_exponent)) return {};
      field = field.substr(0, mark);
    }
    if (!n.parse_digits(field)) return {};
    return n;
  }

  /// Returns the canonical notation: 1000, -0.5, 1.5e400.
  std::string text() const {
    if (m_digits.empty()) return "0";
    std::string const sign = m_negative ? "-" : "";
    auto const size = static_cast<std::int64_t>(m_digits.size());
    if (m_exponent - size > max_zeros || m_exponent < min_exponent)
      return sign + m_digits.substr(0, 1) + (size > 1 ? "." + m_digits.substr(1) : "") + "e" +
             std::to_string(m_exponent - 1);
    if (m_exponent <= 0)
      return sign + "0." + std::string(static_cast<std::size_t>(-m_exponent), '0') + m_digits;
    auto const point = static_cast<std::size_t>(m_exponent);
    if (m_exponent < size) return sign + m_digits.substr(0, point) + "." + m_digits.substr(point);
    return sign + m_digits + std::string(point - m_digits.size(), '0');
  }

  /// Returns whether the number is an integer from -2^63 to 2^64 - 1.
  bool fits_64_bits() const {
    auto const size = static_cast<std::int64_t>(m_digits.size());
    if (m_digits.empty()) return true;
    if (m_exponent < size || m_exponent > 20) return false;
    std::string const digits =
        m_digits + std::string(static_cast<std::size_t>(m_exponent - size), '0');
    std::string const most = m_negative ? "9223372036854775808" : "18446744073709551615";
    return digits.size() != most.size() ? digits.size() < most.size() : digits <= most;
  }

  friend bool operator==(exact_number const&, exact_number const&) = default;
  friend std::strong_ordering operator<=>(exact_number const& a, exact_number const& b) {
    if (a.sign() != b.sign()) return a.sign() <=> b.sign();
    auto const size = a.m_exponent != b.m_exponent ? a.m_exponent <=> b.m_exponent
                                                   : a.m_digits.compare(b.m_digits) <=> 0;
    return a.m_negative ? 0 <=> size : size;
  }

 private:
  // Limits of text(): numbers with more zeros before or after the point get an exponent.
  static constexpr std::int64_t max_zeros = 20, min_exponent = -5;
  // An exponent has at most 17 digits, as it is written and in text().
  static constexpr std::int64_t end_of_exponents = 100'000'000'000'000'000;

  static bool read_exponent(std::string_view field, std::int64_t& exponent) {
    bool const negative = !field.empty() && field.front() == '-';
    if (!field.empty() && (negative || field.front() == '+')) field.remove_prefix(1);
    field.remove_prefix(
        std::min(field.find_first_not_of('0'), field.empty() ? 0 : field.size() - 1));
    std::uint64_t value = 0;
    if (!read_number(field, value) || value >= end_of_exponents) return false;
    exponent = static_cast<std::int64_t>(value) * (negative ? -1 : 1);
    return true;
  }

  /// Takes digits with at most one point. Returns whether the field has at least one digit and
  /// nothing else, and text() an exponent that can be read.
  bool parse_digits(std::string_view field) {
    std::size_t const point = std::min(field.find('.'), field.size());
    m_digits.reserve(field.size());
    m_digits.append(field.substr(0, point));
    if (point < field.size()) m_digits.append(field.substr(point + 1));
    if (m_digits.empty() || m_digits.find_first_not_of("0123456789") != std::string::npos)
      return false;
    m_exponent += static_cast<std::int64_t>(point);
    std::size_t const first = m_digits.find_first_not_of('0');
    if (first == std::string::npos) {
      *this = exact_number();
      return true;
    }
    m_exponent -= static_cast<std::int64_t>(first);
    m_digits = m_digits.substr(first, m_digits.find_last_not_of('0') + 1 - first);
    return m_exponent - 1 < end_of_exponents && 1 - m_exponent < end_of_exponents;
  }
  int sign() const { return m_digits.empty() ? 0 : m_negative ? -1 : 1; }

  bool m_negative = false;
  std::string m_digits;         // without leading and trailing zeros; empty: 0
  std::int64_t m_exponent = 0;  // the number is 0.DIGITS times 10^m_exponent
};

/// The way in which the values of a column are compared.
enum class comparison {
  integers,  ///< all are 64-bit integers
  numbers,   ///< all are numbers
  text
};

inline char const* name_of(comparison how) {
  return how == comparison::integers ? "integers" : how == comparison::numbers ? "numbers" : "text";
}

/// The values of a column's distinct words.
struct column_values {
  comparison how = comparison::text;
  std::vector<std::string>
      numbers;  ///< for each word its exact_number text, or empty; no elements for text
};

/// Compares the words of a column as numbers if all but the empty ones are numbers.
inline column_values values_of(std::vector<std::string_view> const& words) {
  column_values values{comparison::integers, {}};
  values.numbers.reserve(words.size());
  for (std::string_view const word : words) {
    values.numbers.emplace_back();
    if (word.empty()) continue;
    std::optional<exact_number> const number = exact_number::read(word);
    if (!number) return {};
    if (!number->fits_64_bits()) values.how = comparison::numbers;
    values.numbers.back() = number->text();
  }
  return values;
}

/// Returns whether value a precedes b in the order of a column; empty values come first.
inline bool precedes(comparison how, std::string_view a, std::string_view b) {
  if (how == comparison::text || a.empty() || b.empty()) return a < b;
  auto const x = exact_number::read(a), y = exact_number::read(b);
  return x < y;
}

}  // namespace karpos::perf
