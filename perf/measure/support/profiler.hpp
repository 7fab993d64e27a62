// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

// Counters of GPU kernels, read by the vendor's profiler of kernels (ncu) if it is installed.

namespace karpos::perf {

/// Means over the kernels of a program, weighted by their durations.
struct kernel_counters {
  std::map<std::string, double> of_metric;  ///< by the profiler's name of the metric
  std::size_t kernels = 0;
  std::string obstacle;  ///< why there are no counters
};

/// Runs this program again with these arguments, under the profiler, and counts its kernels whose
/// names match the regular expression.
kernel_counters profile_driver(std::vector<std::string> const& arguments,
                               std::vector<std::string> const& metrics, std::string const& kernels);

/// Reads the profiler's table (CSV: a line a kernel and metric). The text may begin with other
/// lines.
kernel_counters read_counters(std::string const& text);

/// Returns the metric that counts a kernel's nanoseconds, by which means are weighted.
std::string duration_metric();

}  // namespace karpos::perf
