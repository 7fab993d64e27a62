// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/sssp/distance.hpp"
#include "karpos/hash.hpp"

// Checks weights, adds them up, and measures by a sample how far they spread: a mean of weights
// over many decades reflects the largest ones only.

namespace karpos::detail::sssp {

/// Sum and faults of all weights.
struct weight_sums {
  double sum = 0;                                   // sum of the finite ones
  std::uint64_t invalid = 0;                        // number of negative ones and NaNs
  std::uint64_t first_invalid = ~std::uint64_t(0);  // edge of the first of these

  KOKKOS_FUNCTION weight_sums& operator+=(weight_sums const& other) {
    sum += other.sum;
    invalid += other.invalid;
    first_invalid = Kokkos::min(first_invalid, other.first_invalid);
    return *this;
  }
};
template <class Weight>
struct sum_weights {
  Weight const* weight;
  KOKKOS_FUNCTION void operator()(std::uint64_t e, weight_sums& sums) const {
    using traits = distance_traits<Weight>;
    if (traits::is_invalid(weight[e])) {
      ++sums.invalid;
      sums.first_invalid = Kokkos::min(sums.first_invalid, e);
    } else if (traits::is_finite(weight[e])) {
      sums.sum += static_cast<double>(weight[e]);
    }
  }
};

inline void require_reach(double reach) {
  if (!(reach >= 0))
    reject("reach " + std::to_string(reach) + " of sssp is refused", "negative, or no number",
           "pass 0 for an automatic one, infinity for none");
}

/// Copies the weights of edges drawn by a hash.
template <class Weight>
struct draw_weights {
  Weight const* weight;
  std::uint64_t edges;
  double* drawn;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    drawn[i] = static_cast<double>(weight[mix(i) % edges]);
  }
};

/// A sample of the weights that are finite and above 0, in ascending order.
class weight_sample {
 public:
  static constexpr std::uint64_t max_size = 1024;

  /// Draws `size` weights, `max_size` at most. buffer: memory for `size` numbers on the device.
  /// Blocks.
  template <class ExecSpace, class Weight>
  weight_sample(ExecSpace const& exec, Weight const* weight, std::uint64_t edges, double* buffer,
                std::uint64_t size)
      : m_weights(std::min(size, max_size)) {
    using host = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    using space = Kokkos::View<double*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;
    Kokkos::parallel_for("karpos::sssp::draw_weights", index_range(exec, m_weights.size()),
                         draw_weights<Weight>{weight, edges, buffer});
    Kokkos::deep_copy(exec, host(m_weights.data(), m_weights.size()),
                      space(buffer, m_weights.size()));
    exec.fence("karpos::sssp: a sample of the weights");
    std::erase_if(m_weights, [](double w) { return !(w > 0 && std::isfinite(w)); });
    std::sort(m_weights.begin(), m_weights.end());
  }

  /// Returns the weight below which this fraction of the sample lies. Requires: the sample is not
  /// empty.
  double quantile(double fraction) const {
    auto const last = static_cast<double>(m_weights.size() - 1);
    return m_weights[static_cast<std::size_t>(fraction * last)];
  }
  /// Returns whether the middle half of the weights differs by more than this factor.
  bool is_spread_over(double factor) const {
    return !m_weights.empty() && quantile(0.75) / factor > quantile(0.25);
  }

 private:
  std::vector<double> m_weights;
};

}  // namespace karpos::detail::sssp

template <>
struct Kokkos::reduction_identity<karpos::detail::sssp::weight_sums> {
  KOKKOS_FUNCTION static karpos::detail::sssp::weight_sums sum() { return {}; }
};
