// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "karpos/detail/graph/bfs/state.hpp"

// The hub vertex cache (bfs.hpp). Hub vertices have a large part of all edges. A small cache of the
// visited hubs, in the scratch (shared memory) of each team, answers many bottom-up probes without
// an access to the status bitmap. Hubs of earlier levels have found all their neighbours already:
// they only take entries.

namespace karpos::detail::bfs {

/// A direct-mapped cache by hash: a vertex has one possible entry, so a look-up is one read.
template <class State>
class hub_cache {
 public:
  static constexpr int entries = State::tuned::hub_cache_entries;
  static constexpr std::size_t bytes = entries * sizeof(local_vertex);
  static_assert((entries & (entries - 1)) == 0);

  KOKKOS_FUNCTION explicit hub_cache(std::byte* scratch)
      : m_entry(reinterpret_cast<local_vertex*>(scratch)) {}

  /// Fills the cache with the visited hubs. All threads of the team must call it.
  template <class Team>
  KOKKOS_FUNCTION void fill(Team const& team, State const& s, std::uint32_t const* visited) const {
    for (int i = team.rank(); i < entries; i += team.size()) m_entry[i] = empty;
    team.barrier();
    for (auto i = static_cast<std::uint32_t>(team.rank()); i < s.hub_count;
         i += static_cast<std::uint32_t>(team.size())) {
      local_vertex const v = s.hubs[i];
      // Hubs with the same entry overwrite each other: any of them may stay.
      if ((visited[v / 32] & bit_of(v)) != 0) m_entry[slot(v)] = v;
    }
    team.barrier();
  }
  KOKKOS_FUNCTION bool contains(local_vertex v) const { return m_entry[slot(v)] == v; }

 private:
  static constexpr local_vertex empty = ~local_vertex(0);  // above every vertex

  /// Returns the entry of a vertex by Fibonacci hashing: the upper bits of the product.
  KOKKOS_FUNCTION static std::uint32_t slot(local_vertex v) {
    return static_cast<std::uint32_t>(v * 2654435769u) >> (32 - bits);
  }
  static constexpr int bits = std::countr_zero(static_cast<unsigned>(entries));

  local_vertex* m_entry;
};

}  // namespace karpos::detail::bfs
