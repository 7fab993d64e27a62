// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/device/space.hpp"

namespace karpos::detail::select_k {

/// Constants of a selection, by execution space.
template <class ExecSpace>
struct tuning {
  /// Whether small k are selected in one pass with a private buffer for each thread, as on CPUs,
  /// whose threads are few.
  static constexpr bool has_private_buffers = !device::is_device<ExecSpace>;
  /// Teams (blocks) per processor when digits are counted.
  static constexpr int teams_per_processor = device::is_device<ExecSpace> ? 4 : 1;
  /// Elements that a thread compacts at a time when it collects. CPUs move them together, without a
  /// branch.
  static constexpr int collect_chunk = device::is_device<ExecSpace> ? 1 : 128;
};

}  // namespace karpos::detail::select_k
