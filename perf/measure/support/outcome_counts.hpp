// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/map_operation.hpp"

namespace karpos::perf {

/// The number of results with each outcome.
struct outcome_counts {
  static constexpr int kinds = static_cast<int>(outcome::invalid) + 1;
  static constexpr char const* names[kinds] = {"inserted", "existing", "full",   "erased",
                                               "found",    "absent",   "invalid"};

  std::uint64_t count[kinds] = {};

  KOKKOS_FUNCTION std::uint64_t of(outcome o) const { return count[static_cast<int>(o)]; }
  KOKKOS_FUNCTION outcome_counts& operator+=(outcome_counts const& other) {
    for (int k = 0; k < kinds; ++k) count[k] += other.count[k];
    return *this;
  }
};

}  // namespace karpos::perf
