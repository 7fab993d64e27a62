// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"

// Disjoint sets of vertices as a forest: each vertex points to a vertex of smaller number, a root
// to itself. The pointers are stored in the array of component ids (`labels`). So a root is the
// smallest vertex of its tree, and no pointers form a cycle. Walks go to smaller numbers only, so
// they end whatever the array contains.

namespace karpos::detail::connected_components {

/// The component ids of a graph whose vertices have the type VertexId, as words. All functions may
/// run concurrently. Splits: whether every walk to a root shortens the path for later walks. If
/// false, for CPUs, whose other cores pay for the stores, only long walks do.
template <class VertexId, bool Splits = true>
class forest {
 public:
  using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;

  KOKKOS_FUNCTION explicit forest(VertexId* labels) : m_label(reinterpret_cast<word*>(labels)) {}

  KOKKOS_FUNCTION word label(word v) const { return device::load_relaxed(m_label + v); }
  KOKKOS_FUNCTION void set(word v, word label) const { device::store_relaxed(m_label + v, label); }
  KOKKOS_FUNCTION void prefetch(word v) const { device::prefetch(m_label + v); }

  /// Returns the root of v. Each vertex on the way whose parent is no root gets its grandparent for
  /// a parent (path splitting). A root's pointer is not written, so a store here never undoes a
  /// `join`.
  KOKKOS_FUNCTION word root(word v) const {
    word parent = label(v);
    for (word next = label(parent); next < parent; next = label(parent)) {
      set(v, next);
      v = parent;
      parent = next;
    }
    return parent;
  }

  /// Joins the trees of u and v. Most pairs have the same parent already, which takes two loads.
  KARPOS_STEP_FUNCTION void join(word u, word v) const {
    if constexpr (Splits)
      join_roots(u, v);
    else
      join_paths(u, v);
  }

  /// Makes v point to its root. It writes v's pointer after every step, so that threads on one long
  /// path use each other's steps: the length of a step doubles.
  KARPOS_STEP_FUNCTION void compress(word v) const {
    word parent = label(v);
    for (word next = label(parent); next < parent; next = label(parent)) {
      set(v, next);
      parent = next;
    }
  }

 private:
  KOKKOS_FUNCTION void join_roots(word u, word v) const {
    u = label(u);
    v = label(v);
    if (u == v) return;
    u = root(u);
    v = root(v);
    while (u != v) {
      word const high = Kokkos::max(u, v), low = Kokkos::min(u, v);
      if (device::compare_and_swap(m_label + high, high, low) == high) return;
      u = root(high);         // another thread was faster: high is no root any more
      if (u >= high) return;  // another writer has changed the component ids
      v = low;
    }
  }

  /// Climbs both paths, always from the larger of the two vertices, until the paths meet or that
  /// vertex is a root. After short_walk steps it calls join_roots, which shortens paths: otherwise
  /// chains would be climbed again for every edge between them.
  KARPOS_STEP_FUNCTION void join_paths(word u, word v) const {
    u = label(u);
    v = label(v);
    for (int steps = 0; u != v; ++steps) {
      if (steps == short_walk) return join_roots(u, v);
      word const high = Kokkos::max(u, v), low = Kokkos::min(u, v), above = label(high);
      if (above == low) return;
      if (above == high && device::compare_and_swap(m_label + high, high, low) == high) return;
      u = label(label(high));
      v = label(low);
    }
  }

  static constexpr int short_walk = 8;
  word* m_label;
};

}  // namespace karpos::detail::connected_components
