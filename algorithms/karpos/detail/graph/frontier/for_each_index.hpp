// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace karpos::detail::frontier {

/// Runs f(i) for every i in [0, n), spread over the lanes of the grid.
template <int W, class Team, class F>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, F const& f) {
  auto const t = team.template this_tile<W>();
  team.template for_each_tile<W>((n + W - 1) / W, [&](std::uint64_t tile) {
    t.each([&](int lane) {
      std::uint64_t const i = tile * W + static_cast<std::uint64_t>(lane);
      if (i < n) f(i);
      return 0;
    });
  });
}

}  // namespace karpos::detail::frontier
