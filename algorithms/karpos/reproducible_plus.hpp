// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/aggregates.hpp"
#include "karpos/detail/reduce_by_key/reproducible.hpp"

namespace karpos {

/// Sums of floating-point numbers that have the same bits in every call, in any order of the rows, with any number of
/// threads, on every backend: an operation of an aggregate, `aggregate(price, reproducible_plus{}, revenue)`. The sums have
/// the type of the column, or are doubles of floats.
///
/// Numbers are cut into three integers of 30 bits each, whose sums no order changes, and which are rounded once. Where
/// the bits of a column's numbers, from the highest of the largest to the lowest of all, span at most 90, sums are exact
/// before that: they are rounded correctly. Else numbers are cut 90 bits below the largest one of their key, and a sum of n
/// differs by less than n 2^-89 times the largest one besides: less than sums in any order of n > 2 doubles may. Infinities
/// and NaNs make what they make of sums in any order; a sum of zero is 0.0.
///
/// Complexity: for each output, reads the column once more; where its numbers span more than 90 bits, also reduces it once more, and looks up
///   every row's key.
/// Memory: where they span more, allocates up to 12 bytes a row and 32 a key, and for a while what reducing the exponents
///   takes, beside the workspace of the reduction, also where that is the caller's.
/// Throws: std::invalid_argument for more than 2^32 rows.
/// Source: Demmel, Nguyen, "Parallel reproducible summation", IEEE Transactions on Computers 64(7), 2015: cuts at
///   exponents that all agree on.
struct reproducible_plus {};

namespace detail::reduce_by_key {
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, reproducible_plus, Out>>
    : reproducible_field_of<ExecSpace, Key, Columns, Column, Out> {};
}  // namespace detail::reduce_by_key

}  // namespace karpos
