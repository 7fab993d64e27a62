// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include "karpos/table_options.hpp"

// What joins are asked for, and what stands for a row that there is not.

namespace karpos {

/// Stands for the row that an outer join has none of: the largest number of an unsigned type, -1 of a signed one.
template <std::integral Number>
inline constexpr Number no_row = static_cast<Number>(~std::uint64_t(0));

/// Which rows a join has. Those of inner, left, right and full are pairs of row numbers, where no_row stands for a row that
/// there is not; those of the others are single numbers.
enum class join_kind {
  inner,       ///< pairs of a left row and a right one that match
  left,        ///< the same, and (row, no_row) for each left row without a match
  right,       ///< the pairs, and (no_row, row) for each right row without a match
  full,        ///< all of these
  left_semi,   ///< left rows with a match, each once
  left_anti,   ///< left rows without
  right_semi,  ///< right rows with a match, each once
  right_anti   ///< right rows without
};

struct join_options {
  /// Memory of the caller's, at least bytes_for(left rows, right rows, kind), aligned to 64 bytes; null: allocated. It lives
  /// as long as the join.
  wrapped_memory memory = {nullptr, 0};
};

struct partitioned_join_options {
  /// Memory of the caller's, at least partitioned_join_bytes, also where the tables turn out not to be split, aligned to 64
  /// bytes; null: allocated, and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

}  // namespace karpos
