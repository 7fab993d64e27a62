// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <vector>

namespace karpos::perf {

/// Returns the median seconds of f() and a fence, of `times` runs after a warm-up. Calls prepare()
/// before each run, outside of the time.
template <class Prepare, class F>
double median_seconds(Prepare const& prepare, F const& f, int times = 5) {
  std::vector<double> seconds;
  for (int i = 0; i < times + 1; ++i) {
    prepare();
    Kokkos::fence();
    auto const start = std::chrono::steady_clock::now();
    f();
    Kokkos::fence();
    std::chrono::duration<double> const d = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(d.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
  return seconds[static_cast<std::size_t>(times / 2)];
}

}  // namespace karpos::perf
