// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"

// Disjoint sets of vertices as a forest in the array of labels: a vertex points to one with a smaller number, a root to
// itself. So a root is the smallest of its tree, and what points upwards cannot form a cycle. Walks
// go on to smaller numbers only, so that they end whatever the labels are.

namespace karpos::detail::connected_components {

/// The labels of a graph whose vertex ids have the type VertexId, as words. Any thread may call any of these at any time.
/// Splits: whether every walk to a root shortens the path for those to come. On CPUs, where other cores pay for the stores, only
/// long ones do.
template <class VertexId, bool Splits = true>
class forest {
 public:
  using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;

  KOKKOS_FUNCTION explicit forest(VertexId* labels) : m_label(reinterpret_cast<word*>(labels)) {}

  KOKKOS_FUNCTION word label(word v) const { return device::load_relaxed(m_label + v); }
  KOKKOS_FUNCTION void set(word v, word label) const { device::store_relaxed(m_label + v, label); }
  KOKKOS_FUNCTION void prefetch(word v) const { device::prefetch(m_label + v); }

  /// The root of v. Every other vertex on the way gets its grandparent for a parent (path splitting): no root does, so
  /// that a store here never undoes a `join`.
  KOKKOS_FUNCTION word root(word v) const {
    word parent = label(v);
    for (word next = label(parent); next < parent; next = label(parent)) {
      set(v, next);
      v = parent;
      parent = next;
    }
    return parent;
  }

  /// Makes one tree of those of u and v. Most pairs have one parent already: that is two loads.
  KARPOS_STEP_FUNCTION void join(word u, word v) const {
    if constexpr (Splits)
      join_roots(u, v);
    else
      join_paths(u, v);
  }

  /// Makes v point to its root. Threads that walk one long path share their steps: each writes after every one, so that
  /// the steps of all double in length.
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
      u = root(high);         // another thread was faster: it is no root any more
      if (u >= high) return;  // labels that somebody else has written
      v = low;
    }
  }

  /// Climbs both paths in turns, the one whose label is larger, until they meet or that label is a root. After some steps walks
  /// shorten their paths: chains would be climbed again for every edge between them.
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
