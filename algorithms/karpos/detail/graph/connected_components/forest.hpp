// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"

// Disjoint sets of vertices as a forest (drawn in steps.hpp). A root is the smallest vertex of its
// tree, and no pointers form a cycle. Walks go to smaller numbers only, so they end whatever the
// array contains.

namespace karpos::detail::connected_components {

/// The component ids of a graph whose vertices have the type VertexId, as words. All functions may
/// run concurrently. SplitsPaths: whether every walk to a root shortens the path for later walks.
/// If false, for CPUs, whose other cores pay for the stores, only long walks do.
template <class VertexId, bool SplitsPaths = true>
class forest {
 public:
  using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;

  forest() = default;
  KOKKOS_FUNCTION explicit forest(VertexId* component_ids)
      : m_parent(reinterpret_cast<word*>(component_ids)) {}

  KOKKOS_FUNCTION word parent_of(word v) const { return device::load_relaxed(m_parent + v); }
  KOKKOS_FUNCTION void set_parent(word v, word parent) const {
    device::store_relaxed(m_parent + v, parent);
  }
  KOKKOS_FUNCTION void prefetch(word v) const { device::prefetch(m_parent + v); }

  /// Returns the root of v. Each vertex on the way whose parent is no root gets its grandparent for
  /// a parent (path splitting). A root's pointer is not written, so a store here never undoes a
  /// `link`.
  KOKKOS_FUNCTION word root(word v) const {
    word parent = parent_of(v);
    for (word next = parent_of(parent); next < parent; next = parent_of(parent)) {
      set_parent(v, next);
      v = parent;
      parent = next;
    }
    return parent;
  }

  /// Links the trees of u and v. Most pairs have the same parent already, which takes two loads.
  KARPOS_STEP_FUNCTION void link(word u, word v) const {
    if constexpr (SplitsPaths)
      link_roots(u, v);
    else
      link_paths(u, v);
  }

  /// Makes v point to its root. It writes v's pointer after every step, so that threads on one long
  /// path use each other's steps: the length of a step doubles.
  KARPOS_STEP_FUNCTION void compress(word v) const {
    word parent = parent_of(v);
    for (word next = parent_of(parent); next < parent; next = parent_of(parent)) {
      set_parent(v, next);
      parent = next;
    }
  }

 private:
  KOKKOS_FUNCTION void link_roots(word u, word v) const {
    u = parent_of(u);
    v = parent_of(v);
    if (u == v) return;
    u = root(u);
    v = root(v);
    while (u != v) {
      word const high = Kokkos::max(u, v), low = Kokkos::min(u, v);
      if (device::compare_and_swap(m_parent + high, high, low) == high) return;
      u = root(high);         // another thread was faster: high is no root any more
      if (u >= high) return;  // another writer has changed the component ids
      v = low;
    }
  }

  /// Climbs both paths, always from the larger of the two vertices, until the paths meet or that
  /// vertex is a root. After short_walk steps it calls link_roots, which shortens paths: otherwise
  /// chains would be climbed again for every edge between them.
  KARPOS_STEP_FUNCTION void link_paths(word u, word v) const {
    u = parent_of(u);
    v = parent_of(v);
    for (int steps = 0; u != v; ++steps) {
      if (steps == short_walk) return link_roots(u, v);
      word const high = Kokkos::max(u, v), low = Kokkos::min(u, v), high_parent = parent_of(high);
      if (high_parent == low) return;
      if (high_parent == high && device::compare_and_swap(m_parent + high, high, low) == high)
        return;
      u = parent_of(parent_of(high));
      v = parent_of(low);
    }
  }

  static constexpr int short_walk = 8;
  word* m_parent = nullptr;
};

}  // namespace karpos::detail::connected_components
