// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/aggregates.hpp"
#include "karpos/detail/relational/reduce_by_key/checked.hpp"

namespace karpos {

/// Adds integers, and reports sums that do not fit: an operation of an aggregate, `aggregate(price,
/// checked_plus{}, revenue)`. The view has the type of the column, or one that holds all of its
/// values. Sums are formed in 96 bits: a sum that fits is right in any order of the rows, also if
/// an intermediate sum does not fit.
///
/// Complexity: as plus, but partial sums have 16 bytes, not 4 or 8; at the end reads one byte for
///   each key.
/// Memory: a byte for each element of the view, on top of the workspace of the reduction.
/// Throws: std::overflow_error if sums do not fit, after all results are written. Such a sum is
///   written as plus would make it; all other results are right. The message is about the first
///   checked output that overflows: it says how many of its sums do not fit, of how many keys, and
///   the index of the first. The number of keys is not returned then. std::invalid_argument for
///   more than 2^32 rows. Outputs that are too short throw std::invalid_argument even if sums do
///   not fit.
struct checked_plus {};

namespace detail::reduce_by_key {
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, checked_plus, Out>>
    : checked_field_of<ExecSpace, Columns, Column, Out> {};
}  // namespace detail::reduce_by_key

}  // namespace karpos
