// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

__extension__ using wide_sum = __int128;

/// A decimal number whose last `places` digits are after the point.
struct decimal {
  std::int64_t digits = 0;
  int places = 0;
};

/// The numbers of a column, in the order of rows. If 64-bit integers, whose last `places` digits
/// are after the point, represent every number exactly, the column has these; otherwise it has
/// doubles.
class number_column {
 public:
  /// Returns whether a field stands for a missing number: it is empty, a NaN, NA, N/A, null, none
  /// or \N.
  static bool is_null(std::string_view field);

  /// Reserves memory for a number of each row.
  void reserve(std::uint64_t rows) { m_integers.reserve(rows); }
  /// Adds the number of the next row. Returns a description of an error in the field, or null.
  char const* add(std::string_view field);
  /// Skips the next row, which has no number.
  void skip() { m_skipped.push_back(m_rows++); }

  /// Returns the first row with an integer beyond 64 bits, unless another number of the column
  /// requires doubles.
  std::optional<std::uint64_t> too_large() const {
    return m_wants_reals ? std::nullopt : m_too_large;
  }
  bool exact() const { return m_exact; }
  int places() const { return m_places; }
  std::vector<std::int64_t> const& integers() const { return m_integers; }  ///< if exact
  std::vector<double> const& reals() const { return m_reals; }              ///< if not exact
  std::uint64_t rows() const { return m_rows; }
  std::vector<std::uint64_t> const& skipped() const { return m_skipped; }  ///< rows, ascending
  /// Returns the sum of the integers' absolute values, an upper bound of all sums of some of them.
  wide_sum magnitude() const { return m_magnitude; }

 private:
  void track(std::string_view field, std::optional<decimal> const& exact);
  bool add_exactly(std::int64_t digits, int places);
  void become_real();

  bool m_exact = true, m_wants_reals = false;
  std::optional<std::uint64_t> m_too_large;
  int m_places = 0;
  std::uint64_t m_largest = 0;  ///< largest absolute value of the integers
  wide_sum m_magnitude = 0;
  std::uint64_t m_rows = 0;
  std::vector<std::uint64_t> m_skipped;
  std::vector<std::int64_t> m_integers;
  std::vector<double> m_reals;
};

/// Returns the text of an integer whose last `places` digits are after the point.
std::string decimal_text(std::int64_t digits, int places);
double decimal_value(std::int64_t digits, int places);
std::int64_t power_of_ten(int n);

}  // namespace karpos::perf
