// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/groupby/number_column.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "perf/measure/support/text.hpp"
#include "perf/tool/count/table_text.hpp"

namespace karpos::perf {
namespace {

constexpr int max_places = 18;

std::uint64_t magnitude_of(std::int64_t x) {
  return x < 0 ? ~static_cast<std::uint64_t>(x) + 1 : static_cast<std::uint64_t>(x);
}

/// Reads an optional sign and digits, with at most one point among them. Returns nothing if 64 bits
/// do not hold the digits.
std::optional<decimal> read_decimal(std::string_view field) {
  bool const negative = field.starts_with('-');
  if (negative || field.starts_with('+')) field.remove_prefix(1);
  std::size_t const point = field.find('.');
  std::size_t const after = point == std::string_view::npos ? 0 : field.size() - point - 1;
  if (after > max_places || field.size() == (point != std::string_view::npos)) return {};
  decimal d{0, static_cast<int>(after)};
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (i == point) continue;
    int const digit = field[i] - '0';
    if (digit < 0 || digit > 9 || __builtin_mul_overflow(d.digits, 10, &d.digits) ||
        __builtin_add_overflow(d.digits, negative ? -digit : digit, &d.digits))
      return {};
  }
  return d;
}

bool is_integer(std::string_view field) {
  return field.find_first_not_of("0123456789", field.front() == '-' || field.front() == '+') ==
         std::string_view::npos;
}

}  // namespace

std::int64_t power_of_ten(int n) {
  std::int64_t power = 1;
  for (int i = 0; i < n; ++i) power *= 10;
  return power;
}

bool number_column::is_null(std::string_view field) {
  constexpr std::string_view marks[] = {"",    "nan",  "+nan", "-nan", "na",
                                        "n/a", "null", "none", "\\n"};
  constexpr std::size_t longest = 4;
  field = trimmed(field);
  if (field.size() > longest) return false;
  return std::find(std::begin(marks), std::end(marks), lower_case(field)) != std::end(marks);
}

char const* number_column::add(std::string_view field) {
  field = trimmed(field);
  std::optional<decimal> const exact = m_wants_reals ? std::nullopt : read_decimal(field);
  if (!exact && !is_real(field)) return "is no number: mend it, or leave this column out";
  if (!m_wants_reals) track(field, exact);
  ++m_rows;
  if (m_exact) return nullptr;
  if (field.front() == '+') field.remove_prefix(1);  // from_chars rejects a plus
  double value = 0;
  auto const [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc()) return "lies outside of double's range: write a smaller one";
  m_reals.push_back(value);
  return nullptr;
}

/// Adds a number to the exact ones, or determines that doubles are needed, independently of the
/// order of rows. `exact` holds its digits if 64 bits hold them.
void number_column::track(std::string_view field, std::optional<decimal> const& exact) {
  if (exact)
    m_wants_reals = !add_exactly(exact->digits, exact->places);
  else if (!is_integer(field))
    m_wants_reals = true;
  else if (!m_too_large)
    m_too_large = m_rows;
  if (m_exact && (m_wants_reals || m_too_large)) become_real();
}

/// Returns whether 64 bits hold the new number and all others with the same number of decimal
/// places.
bool number_column::add_exactly(std::int64_t digits, int places) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (places > m_places) {
    std::int64_t const factor = power_of_ten(places - m_places);
    if (m_largest > most / static_cast<std::uint64_t>(factor)) return false;
    for (std::int64_t& x : m_integers) x *= factor;
    m_largest *= static_cast<std::uint64_t>(factor);
    m_magnitude *= factor;
    m_places = places;
  }
  if (__builtin_mul_overflow(digits, power_of_ten(m_places - places), &digits)) return false;
  m_largest = std::max(m_largest, magnitude_of(digits));
  m_magnitude += magnitude_of(digits);
  if (m_exact) m_integers.push_back(digits);
  return true;
}

void number_column::become_real() {
  m_reals.reserve(m_integers.capacity() + 1);
  for (std::int64_t const x : m_integers) m_reals.push_back(decimal_value(x, m_places));
  m_integers = {};
  m_exact = false;
}

std::string decimal_text(std::int64_t digits, int places) {
  std::string text = std::to_string(magnitude_of(digits));
  auto const after = static_cast<std::size_t>(places);
  if (text.size() <= after) text.insert(0, after + 1 - text.size(), '0');
  if (after > 0) text.insert(text.size() - after, ".");
  return digits < 0 ? "-" + text : text;
}

double decimal_value(std::int64_t digits, int places) {
  return static_cast<double>(digits) / static_cast<double>(power_of_ten(places));
}

}  // namespace karpos::perf
