// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/device/space.hpp"

namespace karpos::detail::build_sorted_lists {

/// Constants of building sorted lists, by execution space.
template <class ExecSpace>
struct tuning {
  /// Whether each thread sorts a list by a radix sort of its own, as on CPUs. Otherwise all threads
  /// sort one list after another.
  static constexpr bool sorts_list_per_thread = !device::is_device<ExecSpace>;
};

}  // namespace karpos::detail::build_sorted_lists
