// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace karpos::perf {

/// Counts the seconds since it was made. Unlike Kokkos::Timer, it can be copied.
class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
  }

 private:
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

}  // namespace karpos::perf
