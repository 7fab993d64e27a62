// SPDX-License-Identifier: Apache-2.0
/// \file
/// A device that a CPU emulates: an execution space for algorithms that launch teams of many
/// threads; its loops run on the host. Include this header first: the algorithms find these
/// declarations only if they come before the algorithms' own.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/detail/index_range.hpp"

namespace karpos_test {

/// An execution space whose memory is the host's.
struct emulated_space : Kokkos::DefaultHostExecutionSpace {
  static constexpr int processors = 3, threads = 24;
  static inline std::vector<std::string> launches;        ///< labels of leagues
  static inline std::size_t max_bytes = ~std::size_t(0);  ///< larger allocations are refused

  static std::size_t launched(std::string const& label) {
    return static_cast<std::size_t>(std::count(launches.begin(), launches.end(), label));
  }
};

}  // namespace karpos_test

/// It reaches what the host reaches.
template <class Memory>
struct Kokkos::SpaceAccessibility<karpos_test::emulated_space, Memory>
    : Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Memory> {};

namespace karpos::detail {

inline auto index_range(karpos_test::emulated_space const&, std::uint64_t n) {
  return detail::index_range(Kokkos::DefaultHostExecutionSpace{}, n);
}

}  // namespace karpos::detail

#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/league.hpp"
#include "support/emulated_team.hpp"

namespace karpos::device::host {

template <>
struct part<karpos_test::emulated_space> {
  using space = karpos_test::emulated_space;
  static constexpr bool is_device = true;
  static constexpr int warp_width = 1;
  static constexpr bool has_wide_cas = false, reads_wide = false;
  static constexpr bool has_grid_barrier = false, counts_votes = false;
  static constexpr bool bounds_registers = false, spans_devices = false;
  template <int W>
  using tile = reference_tile<W>;
  using peer_window = host::peer_window;

  static constexpr int max_scratch_bytes = 48 * 1024;
  static int processors(space const&) { return space::processors; }
  static std::size_t cache_bytes(space const&) { return 4096; }

  template <class Step>
  static void run_league(std::string const& label, space const&, int league, Step const& step) {
    space::launches.push_back(label);
    karpos_test::emulated_block block(std::min(int(Step::threads), space::threads),
                                      static_cast<std::uint64_t>(league));
    for (int team = 0; team < league; ++team) block.run(step, team, league);
  }
};

}  // namespace karpos::device::host

namespace karpos::device {

template <int Distance, class Body>
void for_each_staged(std::string const& label, karpos_test::emulated_space const&, std::uint64_t n,
                     Body const& body) {
  for_each_staged<Distance>(label, Kokkos::DefaultHostExecutionSpace{}, n, body);
}
template <int Distance, class Body, class Tally, class... P>
void tally_each_staged(std::string const& label, karpos_test::emulated_space const&,
                       std::uint64_t n, Body const& body, Kokkos::View<Tally, P...> const& tally) {
  tally_each_staged<Distance>(label, Kokkos::DefaultHostExecutionSpace{}, n, body, tally);
}

}  // namespace karpos::device

namespace karpos::detail {

template <class MemorySpace>
Kokkos::View<std::byte*, MemorySpace> allocate_byte_array(karpos_test::emulated_space const&,
                                                          std::string const& label,
                                                          std::size_t bytes, char const* what,
                                                          char const* suggestion) {
  if (bytes > karpos_test::emulated_space::max_bytes)
    throw allocation_error(std::string("refused: ") + what);
  return detail::allocate_byte_array<MemorySpace>(Kokkos::DefaultHostExecutionSpace{}, label, bytes,
                                                  what, suggestion);
}
template <class T>
T read_back(karpos_test::emulated_space const&, T const* from, std::string const&) {
  return *from;
}

}  // namespace karpos::detail
