// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/aggregates.hpp"
#include "karpos/detail/relational/reduce_by_key/moments.hpp"

// Operations of an aggregate (aggregates.hpp) beside plus, minimum and maximum. Their columns may
// have nulls, which they leave out:
//
//   aggregate(price, mean{}, average, variance{}, spread)
//   aggregate(nullable(price, known), mean{}, average, count_valid{}, number)

namespace karpos {

/// The arithmetic mean, written to a view of float or double: the sum, in double (of 32-bit
/// integers exactly), divided by the number of values. NaN if there are none. Its partial results
/// (reduce_by_key.hpp) have 16 bytes.
struct mean {};

/// The variance, written to a view of float or double: the sum of (x - mean)^2, divided by the
/// number of values less `ddof` (1: sample variance; 0: population variance). NaN if there are no
/// more than ddof values, or if one of them is infinite or NaN. Its partial results have 32 bytes.
///
/// Values are shifted by one value of their key before they are squared: no digits are lost if the
/// mean is large beside the deviation. For n values of a key the relative error is that of a sum of
/// n doubles; it is n times as large if the value that the others are shifted by is an extreme
/// outlier.
/// Source: Chan, Golub, LeVeque, "Algorithms for computing the sample variance: analysis and
///   recommendations", The American Statistician 37(3), 1983.
struct variance {
  std::uint64_t ddof = 1;  ///< delta degrees of freedom
};

/// The number of values that are no nulls, as SQL's COUNT(column), in integers of 4 or 8 bytes.
struct count_valid {};

namespace detail::reduce_by_key {
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, mean, Out>>
    : mean_field_of<Columns, Column, Out> {};
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, variance, Out>>
    : variance_field_of<Columns, Column, Out> {};
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, count_valid, Out>>
    : valid_field_of<Columns, Column, Out> {};
}  // namespace detail::reduce_by_key

}  // namespace karpos
