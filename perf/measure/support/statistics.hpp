// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace karpos::perf {

/// Repeated measurements of one thing, in seconds per execution.
struct samples {
  std::vector<double> seconds;
  int batch = 1;  ///< executions between two readings of the clock

  double median() const { return quantile(0.5); }
  double low() const { return quantile(0.0); }
  double high() const { return quantile(1.0); }

 private:
  double quantile(double q) const {
    if (seconds.empty()) return 0;
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    double const at = q * static_cast<double>(sorted.size() - 1);
    auto const below = static_cast<std::size_t>(at);
    std::size_t const above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  }
};

}  // namespace karpos::perf
