// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/graph/connected_components/tuning.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/atomics.hpp"

// The kernels, in the order in which they run. connected_components.hpp explains why the result is
// exact. The component ids are a forest: a vertex points to a smaller one, a root to itself.
//
//   component_ids   | 0 | 0 | 1 | 3 | 3 |     the trees of {0, 1, 2} and {3, 4}; an edge 2 - 4 lets
//                   | 0 | 0 | 1 | 0 | 3 |     the root 3 point to the root 0
//
//   start                 lets each vertex point to its first neighbour, if that is smaller
//   compress              lets each vertex point to its root
//   link_sampled          links the trees of vertices and their first few neighbours
//   compress              once more
//   sample_component_ids  samples the component ids of some vertices
//   find_most_frequent    finds the most frequent id in the sample: that of a nearly complete
//                         component
//   link_remaining        links the other neighbours of the vertices with another id; lists long
//                         rows
//   link_long_rows        links the neighbours in these rows, each row by all tiles
//   compress              once more, and counts the roots
//
// After each `compress` every vertex points to its root: otherwise each vertex below a path would
// walk that path. CPUs that sample leave out the first one: their walks shorten long paths.
// Tests: connected_components, paths.

namespace karpos::detail::connected_components {

/// The component ids, as words: disjoint sets of vertices. A root is the smallest vertex of its
/// tree, and no pointers form a cycle. Walks go to smaller numbers only, so they end whatever the
/// array contains. All functions may run concurrently. SplitsPaths: whether every walk to a root
/// shortens the path for later walks. If false (CPUs, where a store takes the cache line from other
/// cores), only long walks do.
template <class VertexId, bool SplitsPaths>
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
  /// a parent (path splitting). No root's pointer is written, so no store here undoes a `link`.
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

/// Everything that the kernels share. has_in_edges: the graph is directed and has a transpose.
template <class ExecSpace, class VertexId, class EdgeOffset>
struct state {
  using execution_space = ExecSpace;
  using tuned = tuning<ExecSpace>;
  using forest_type = forest<VertexId, tuned::splits_paths>;
  using word = typename forest_type::word;
  using rows = frontier::rows<VertexId, EdgeOffset>;

  std::uint64_t vertices;
  std::uint64_t begin, end;          // the vertices whose rows are linked: all, or those of a rank
  std::uint64_t sampled_neighbours;  // of each vertex: those that link_sampled links
  rows out, in;                      // addressed by vertices
  bool has_in_edges;
  bool skips_most_frequent;  // whether link_remaining skips the most frequent component
  forest_type components;
  word* sample;
  std::uint64_t* most_frequent;  // (how often a sample occurs) << 32 | its index
  word* long_row;
  std::uint64_t* long_rows;  // number of entries in long_row

  KOKKOS_FUNCTION word neighbour(rows const& r, std::uint64_t e) const {
    return static_cast<word>(r.column[e]);
  }
  /// Returns the number of v's edges that are left for link_remaining.
  KOKKOS_FUNCTION std::uint64_t remaining_edges(std::uint64_t v) const {
    std::uint64_t const degree = out.degree(v), in_degree = has_in_edges ? in.degree(v) : 0;
    return (degree > sampled_neighbours ? degree - sampled_neighbours : 0) + in_degree;
  }
  /// Returns neighbour i among these edges.
  KOKKOS_FUNCTION word remaining_neighbour(std::uint64_t v, std::uint64_t i) const {
    std::uint64_t const e = static_cast<std::uint64_t>(out.begin(v)) + sampled_neighbours + i;
    if (e < static_cast<std::uint64_t>(out.end(v))) return neighbour(out, e);
    std::uint64_t const out_edges =
        out.degree(v) > sampled_neighbours ? out.degree(v) - sampled_neighbours : 0;
    return neighbour(in, static_cast<std::uint64_t>(in.begin(v)) + i - out_edges);
  }
};

template <class State>
struct start {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v) const {
    auto const self = static_cast<typename State::word>(v);
    auto const first = v < s.begin || v >= s.end || s.out.degree(v) == 0
                           ? self
                           : s.neighbour(s.out, static_cast<std::uint64_t>(s.out.begin(v)));
    s.components.set_parent(self, Kokkos::min(self, first));
  }
};

template <class State>
struct compress {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v) const {
    s.components.compress(static_cast<typename State::word>(v));
  }
  /// Compresses v's path as above; counts roots.
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v, std::uint64_t& roots) const {
    (*this)(v);
    roots += s.components.parent_of(static_cast<typename State::word>(v)) == v ? 1 : 0;
  }
};

/// Links the vertices of a tile to their first neighbours, one neighbour of each at a time, so
/// that the accesses of the lanes overlap.
template <class State>
struct link_sampled {
  State s;
  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    using word = typename State::word;
    auto const vertex = [&](int lane) {
      return s.begin + i * Tile::width + static_cast<std::uint64_t>(lane);
    };
    auto const degree = t.each([&](int lane) -> std::uint64_t {
      return vertex(lane) < s.end ? s.out.degree(vertex(lane)) : 0;
    });
    for (std::uint64_t k = 0; k < s.sampled_neighbours; ++k) {
      if (!t.ballot([&](int lane) { return degree[lane] > k; })) return;
      auto const v = t.each([&](int lane) -> word {
        std::uint64_t const u = vertex(lane);
        if (degree[lane] <= k) return static_cast<word>(u);
        word const w = s.neighbour(s.out, static_cast<std::uint64_t>(s.out.begin(u)) + k);
        s.components.prefetch(w);
        return w;
      });
      t.each([&](int lane) {
        if (v[lane] != vertex(lane)) s.components.link(static_cast<word>(vertex(lane)), v[lane]);
      });
    }
  }
};

/// CPUs: runs link_sampled for tile i, as a loop.
template <class State>
struct link_sampled_serially {
  link_sampled<State> link;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    link(device::tile_for<typename State::execution_space, State::tuned::width>{}, i);
  }
};

template <class State>
struct sample_component_ids {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const v = s.begin + i * 0x9e3779b97f4a7c15u % (s.end - s.begin);
    s.sample[i] = s.components.parent_of(static_cast<typename State::word>(v));
    if (i == 0) *s.most_frequent = *s.long_rows = 0;
  }
};

template <class State>
struct find_most_frequent {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t count = 0;
    for (std::uint64_t k = 0; k < State::tuned::samples; ++k)
      count += s.sample[k] == s.sample[i] ? 1 : 0;
    Kokkos::atomic_max(s.most_frequent, count << 32 | i);
  }
};

template <class State>
struct link_remaining {
  using word = typename State::word;
  State s;

  /// CPUs: links the rest of one row.
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    auto const v = static_cast<word>(s.begin + i);
    if (s.skips_most_frequent &&
        s.components.parent_of(v) == s.sample[static_cast<std::uint32_t>(*s.most_frequent)])
      return;
    std::uint64_t const remaining = s.remaining_edges(v);
    if (remaining >= State::tuned::grid_degree)
      s.long_row[device::fetch_add(s.long_rows, 1)] = v;
    else
      for (std::uint64_t k = 0; k < remaining; ++k)
        s.components.link(v, s.remaining_neighbour(v, k));
  }
  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    word const most_frequent = s.sample[static_cast<std::uint32_t>(*s.most_frequent)];
    word const first = static_cast<word>(s.begin + i * Tile::width);
    auto const vertex = [&](int lane) { return first + static_cast<word>(lane); };
    auto const remaining = t.each([&](int lane) -> std::uint64_t {
      word const v = vertex(lane);
      if (i * Tile::width + static_cast<std::uint64_t>(lane) >= s.end - s.begin) return 0;
      return s.skips_most_frequent && s.components.parent_of(v) == most_frequent
                 ? 0
                 : s.remaining_edges(v);
    });
    auto const by_tile = t.ballot([&](int lane) {
      return remaining[lane] >= State::tuned::tile_degree &&
             remaining[lane] < State::tuned::grid_degree;
    });
    t.each([&](int lane) {
      if (remaining[lane] >= State::tuned::grid_degree)
        s.long_row[device::fetch_add(s.long_rows, 1)] = vertex(lane);
      else if (!by_tile.test(lane))
        for (std::uint64_t k = 0; k < remaining[lane]; ++k)
          s.components.link(vertex(lane), s.remaining_neighbour(vertex(lane), k));
    });
    for (auto m = by_tile; m; m = m.without_first()) {
      word const v = vertex(m.first());
      std::uint64_t const n = t.get(remaining, m.first());
      for (std::uint64_t k = 0; k < n; k += Tile::width)
        t.each([&](int lane) {
          std::uint64_t const index = k + static_cast<std::uint64_t>(lane);
          if (index < n) s.components.link(v, s.remaining_neighbour(v, index));
        });
    }
  }
};

template <class State>
struct link_long_rows {
  State s;
  std::uint64_t tiles;

  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    std::uint64_t const rows = *s.long_rows;
    for (std::uint64_t r = 0; r < rows; ++r) {
      auto const v = s.long_row[r];
      std::uint64_t const n = s.remaining_edges(v);
      for (std::uint64_t k = i * Tile::width; k < n; k += tiles * Tile::width)
        t.each([&](int lane) {
          std::uint64_t const index = k + static_cast<std::uint64_t>(lane);
          if (index < n) s.components.link(v, s.remaining_neighbour(v, index));
        });
    }
  }
};

}  // namespace karpos::detail::connected_components
