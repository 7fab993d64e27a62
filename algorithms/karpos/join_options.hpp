// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/table_options.hpp"

// What joins are asked for.

namespace karpos {

/// Which rows a join has. Those of inner, left, right and full are pairs of row numbers, where `missing` stands for a row
/// that there is not; those of the others are single numbers.
enum class join_kind {
  inner,       ///< pairs of a left row and a right one that match
  left,        ///< the same, and (row, missing) for each left row without a match
  right,       ///< the pairs, and (missing, row) for each right row without a match
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
  /// Memory of the caller's, at least partitioned_join_bytes, aligned to 64 bytes; null: allocated, and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

}  // namespace karpos
