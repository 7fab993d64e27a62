// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

__extension__ using wide_sum = __int128;

/// Numbers of a text, one after the other: integers of 64 bits, of which the last `places` digits stand behind the point,
/// as long as these hold every number exactly; else doubles.
class number_column {
 public:
  /// Returns: what is wrong with the field; null: nothing.
  char const* add(std::string_view field);

  bool exact() const { return m_exact; }
  int places() const { return m_places; }
  std::vector<std::int64_t> const& integers() const { return m_integers; }  ///< if exact
  std::vector<double> const& reals() const { return m_reals; }              ///< if not
  /// Of the integers, without their signs: no sum of some of them is larger.
  wide_sum magnitude() const { return m_magnitude; }

 private:
  bool add_exactly(std::int64_t digits, int places);
  void become_real();

  bool m_exact = true;
  int m_places = 0;
  std::uint64_t m_largest = 0;  ///< of the integers, without its sign
  wide_sum m_magnitude = 0;
  std::vector<std::int64_t> m_integers;
  std::vector<double> m_reals;
};

/// An integer whose last `places` digits stand behind the point.
std::string decimal_text(std::int64_t digits, int places);
double decimal_value(std::int64_t digits, int places);

}  // namespace karpos::perf
