// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/distance.hpp"
#include "karpos/detail/graph/sssp/loop.hpp"

// The sum and the check of the weights that a workspace of sssp is made for, and its memory of
// fixed size.

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

/// The part of a workspace that does not depend on the graph.
struct fixed_memory {
  level_counters levels[3], far[3];
  std::uint64_t far_min[3], fused_edges, last_lowering_pass;
  summary record;
  std::uint32_t distance_overflowed, unused;
};

struct workspace_access;  // access to a workspace, for calls of sssp

}  // namespace karpos::detail::sssp

template <>
struct Kokkos::reduction_identity<karpos::detail::sssp::weight_sums> {
  KOKKOS_FUNCTION static karpos::detail::sssp::weight_sums sum() { return {}; }
};
