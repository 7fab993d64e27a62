// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "karpos/detail/bfs/state.hpp"

// A few vertices have a great part of all edges. A small cache of those that are visited, in the scratch of each
// team, ends most bottom-up searches without a look at the bitmap.

namespace karpos::detail::bfs {

/// A direct-mapped cache: vertex v can only be in the entry that is chosen by its hash, so that all entries are
/// used and a look-up is one read.
template <class State>
class hub_cache {
 public:
  static constexpr int entries = State::tuned::hub_cache_entries;
  static constexpr std::size_t bytes = entries * sizeof(std::uint32_t);
  static_assert((entries & (entries - 1)) == 0);

  KOKKOS_FUNCTION explicit hub_cache(std::byte* scratch)
      : m_entry(reinterpret_cast<std::uint32_t*>(scratch)) {}

  /// Fills the cache with the visited hubs. All threads of the team take part.
  template <class Team>
  KOKKOS_FUNCTION void fill(Team const& team, State const& s, std::uint32_t const* visited) const {
    for (int i = team.rank(); i < entries; i += team.size()) m_entry[i] = empty;
    team.barrier();
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < s.hub_count;
         i += static_cast<std::uint32_t>(team.size())) {
      std::uint32_t const v = s.hubs[i];
      // Hubs that meet in an entry overwrite each other: one of them stays, and either is right.
      if ((visited[v / 32] & bit_of(v)) != 0) m_entry[slot(v)] = v;
    }
    team.barrier();
  }
  KOKKOS_FUNCTION bool contains(std::uint64_t v) const {
    return m_entry[slot(static_cast<std::uint32_t>(v))] == static_cast<std::uint32_t>(v);
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t(0);  // no vertex: there are fewer

  /// Fibonacci hashing: the upper bits of the product depend on all bits of v.
  KOKKOS_FUNCTION static std::uint32_t slot(std::uint32_t v) {
    return static_cast<std::uint32_t>(v * 2654435769u) >> (32 - bits);
  }
  static constexpr int bits = std::countr_zero(static_cast<unsigned>(entries));

  std::uint32_t* m_entry;
};

}  // namespace karpos::detail::bfs
