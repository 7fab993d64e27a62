// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// A kernel that Kokkos has run: its label, when it began, and how long it took, in seconds.
struct timed_kernel {
  std::string label;
  double begin, seconds;
};

/// Records the kernels that Kokkos runs during the clock's lifetime, by callbacks of Kokkos' tools.
/// Kokkos waits for the device before and after each kernel meanwhile, so times include the launch.
/// A tool that the user has loaded listens again afterwards. One clock at a time.
class kernel_clock {
 public:
  kernel_clock();
  ~kernel_clock();
  kernel_clock(kernel_clock const&) = delete;
  kernel_clock& operator=(kernel_clock const&) = delete;

  /// Returns the kernels that have ended.
  std::vector<timed_kernel> const& kernels() const;
  /// Returns the seconds since the clock was made.
  double seconds() const;
};

}  // namespace karpos::perf
