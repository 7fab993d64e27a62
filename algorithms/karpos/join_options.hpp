// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// Kinds and options of joins, lists of columns, and the number that stands for no row.

namespace karpos {

/// Stands for the missing row of a pair of an outer join: the largest number of an unsigned type,
/// -1 of a signed one.
template <std::integral Number>
inline constexpr Number no_row = static_cast<Number>(~std::uint64_t(0));

/// Chooses which rows a join has. Rows of inner, left, right and full joins are pairs of row
/// numbers, in which no_row stands for a missing row. Rows of the other joins are single row
/// numbers.
enum class join_kind {
  inner,       ///< pairs of a left row and a right one that match
  left,        ///< the pairs, and (row, no_row) for each left row without a match
  right,       ///< the pairs, and (no_row, row) for each right row without a match
  full,        ///< the pairs, and both kinds of rows without a match
  left_semi,   ///< left rows with a match, each once
  left_anti,   ///< left rows without a match
  right_semi,  ///< right rows with a match, each once
  right_anti   ///< right rows without a match
};

namespace detail {
template <>
inline constexpr enumeration<join_kind> enumeration_of<join_kind> = {"kind of join", "join_kind",
                                                                     join_kind::right_anti};
}  // namespace detail

struct join_options {
  /// Memory that the caller owns: at least bytes_for(left rows, right rows, kind), aligned to 64
  /// bytes; null: allocated. The memory must outlive the join.
  wrapped_memory memory = {nullptr, 0};
};

struct partitioned_join_options {
  /// Memory that the caller owns: at least partitioned_join_bytes, even if the tables are not
  /// split; aligned to 64 bytes; null: allocated, and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

/// A list of columns, of a table or of an output; `columns(view, view, ...)` makes it.
template <view_1d... Views>
struct column_list {
  detail::pack<Views...> views;
};
template <view_1d... Views>
column_list<Views...> columns(Views const&... views) {
  return {{{views}...}};
}

}  // namespace karpos
