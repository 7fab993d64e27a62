// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/aggregates.hpp"
#include "karpos/detail/relational/reduce_by_key/reproducible.hpp"

namespace karpos {

/// Adds floating-point numbers so that sums have the same bits in every call, in any order of the
/// rows, with any number of threads, on every backend: an operation of an aggregate,
/// `aggregate(price, reproducible_plus{}, revenue)`. Sums have the type of the column; those of
/// floats may also be doubles.
///
/// Numbers are cut into three integers of 30 bits each; sums of integers do not depend on the
/// order, and are rounded once. If the bits that are set in any of a column's numbers span at most
/// 90 bits, from the highest to the lowest, sums are exact before they are rounded, so they are
/// rounded correctly. Otherwise numbers are cut 90 bits below the largest number of their key.
/// Before it is rounded, a sum of n numbers then differs from the exact one by less than n 2^-89
/// times the largest number. An ordinary sum of n > 2 doubles may differ by more, whatever the
/// order. Infinities and NaNs have the effect that they have on ordinary sums; a sum that is zero
/// is 0.0, never -0.0.
///
/// Complexity: for each output, reads the column once more; if its numbers span more than 90 bits,
///   also reduces it once more, and looks up every row's key.
/// Memory: for each output whose numbers span more than 90 bits, allocates up to 12 bytes a row and
///   32 a key. While it finds the largest exponent of each key, also the workspace of a reduction
///   of one column. Both are on top of the reduction's workspace, even if the caller passes that.
/// Throws: std::invalid_argument for more than 2^32 rows.
/// Source: Demmel, Nguyen, "Parallel reproducible summation", IEEE Transactions on Computers 64(7),
///   2015: cuts at exponents that all agree on.
struct reproducible_plus {};

namespace detail::reduce_by_key {
template <class ExecSpace, class Key, class Columns, int Column, class Out>
struct field_of<ExecSpace, Key, Columns, output<Column, reproducible_plus, Out>>
    : reproducible_field_of<ExecSpace, Key, Columns, Column, Out> {};
}  // namespace detail::reduce_by_key

}  // namespace karpos
