// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace karpos::perf {

/// Calls run(width) with the width as a compile-time constant.
template <class Run>
void with_width(int width, Run const& run) {
  if (width == 1) run(std::integral_constant<int, 1>{});
  if (width == 2) run(std::integral_constant<int, 2>{});
  if (width == 4) run(std::integral_constant<int, 4>{});
  if (width == 8) run(std::integral_constant<int, 8>{});
  if (width == 16) run(std::integral_constant<int, 16>{});
  if (width == 32) run(std::integral_constant<int, 32>{});
}

}  // namespace karpos::perf
