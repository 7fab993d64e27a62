// SPDX-License-Identifier: Apache-2.0
/// \file
/// A tile reads a window in whole rounds, or some of its lanes read it in one round.
#include <karpos/device/atomics.hpp>

#ifdef KARPOS_GOOD
constexpr int slots = 16;
#else
constexpr int slots = 12;
#endif

bool any(karpos::device::host_tile<8> const& tile, std::uint64_t const* bucket) {
  karpos::device::window<karpos::device::host_tile<8>, std::uint64_t, slots> const window(
      tile, [&](int i) { return bucket[i]; });
  return bool(window.match([](std::uint64_t slot) { return slot != 0; }));
}
