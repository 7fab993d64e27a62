// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/table_options.hpp"

// Options of partition (partition.hpp).

namespace karpos {

struct partition_options {
  /// Keeps the rows of a partition in their order. Costs nothing on CPUs; GPUs take a pass for each
  /// factor of 256 in the number of partitions.
  bool stable = false;
  /// Memory that the caller owns: at least partition_bytes, aligned to 64 bytes; null: allocated,
  /// and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

}  // namespace karpos
