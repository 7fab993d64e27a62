// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/bfs/state.hpp"
#include "karpos/detail/connected_components/forest.hpp"
#include "karpos/detail/connected_components/tuning.hpp"

// The kernels, in the order in which they run. connected_components.hpp explains why the result is
// exact. The code calls a component id, and the pointer that it is computed from, a `label`.
//
//   start          lets each vertex point to its first neighbour, if that is smaller
//   compress       lets each vertex point to its root
//   join_first     joins the trees of vertices and their first few neighbours
//   compress       once more
//   take_samples   samples the component ids of some vertices
//   find_frequent  finds the most frequent id in the sample: its component is nearly complete
//   join_rest      joins the other neighbours of the vertices with another id; lists long rows
//   join_long      joins the listed rows, each by all tiles
//   compress       once more, and counts the roots
//
// After each `compress` every vertex points to its root: otherwise each vertex below a path would
// walk that path. CPUs leave out the first `compress`, because their walks shorten long paths
// (forest.hpp).

namespace karpos::detail::connected_components {

/// Everything that the kernels share. The rows of in-edges are used if `has_in`, for directed
/// graphs with a transpose.
template <class ExecSpace, class VertexId, class EdgeOffset>
struct state {
  using execution_space = ExecSpace;
  using tuned = tuning<ExecSpace>;
  using forest_type = forest<VertexId, tuned::splits_paths>;
  using word = typename forest_type::word;
  using rows = bfs::rows<VertexId, EdgeOffset>;

  std::uint64_t vertices, first;  // first: number of neighbours that join_first joins
  rows out, in;
  bool has_in;
  bool skips;  // whether join_rest skips the most frequent component
  forest_type labels;
  word* sample;
  std::uint64_t* frequent;  // (how often a sample occurs) << 32 | its index
  word* long_row;
  std::uint64_t* long_rows;  // number of entries in long_row

  KOKKOS_FUNCTION word neighbour(rows const& r, std::uint64_t e) const {
    return static_cast<word>(r.column[e]);
  }
  /// Returns the number of v's edges that are left for join_rest.
  KOKKOS_FUNCTION std::uint64_t rest(std::uint64_t v) const {
    std::uint64_t const degree = out.degree(v), in_degree = has_in ? in.degree(v) : 0;
    return (degree > first ? degree - first : 0) + in_degree;
  }
  /// Returns neighbour i among these edges.
  KOKKOS_FUNCTION word other(std::uint64_t v, std::uint64_t i) const {
    std::uint64_t const e = static_cast<std::uint64_t>(out.begin(v)) + first + i;
    std::uint64_t const end = static_cast<std::uint64_t>(out.end(v));
    if (e < end) return neighbour(out, e);
    std::uint64_t const here = out.degree(v) > first ? out.degree(v) - first : 0;
    return neighbour(in, static_cast<std::uint64_t>(in.begin(v)) + i - here);
  }
};

template <class State>
struct start {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v) const {
    auto const self = static_cast<typename State::word>(v);
    auto const first = s.out.degree(v) == 0
                           ? self
                           : s.neighbour(s.out, static_cast<std::uint64_t>(s.out.begin(v)));
    s.labels.set(self, Kokkos::min(self, first));
  }
};

template <class State>
struct compress {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v) const {
    s.labels.compress(static_cast<typename State::word>(v));
  }
  /// Compresses v's path as above; counts roots.
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v, std::uint64_t& roots) const {
    (*this)(v);
    roots += s.labels.label(static_cast<typename State::word>(v)) == v ? 1 : 0;
  }
};

/// Joins the vertices of a tile with their first neighbours, one neighbour of each at a time, so
/// that the accesses of the lanes overlap.
template <class State>
struct join_first {
  State s;
  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    using word = typename State::word;
    auto const vertex = [&](int lane) {
      return i * Tile::width + static_cast<std::uint64_t>(lane);
    };
    auto const degree = t.each([&](int lane) -> std::uint64_t {
      return vertex(lane) < s.vertices ? s.out.degree(vertex(lane)) : 0;
    });
    for (std::uint64_t k = 0; k < s.first; ++k) {
      if (!t.ballot([&](int lane) { return degree[lane] > k; })) return;
      auto const v = t.each([&](int lane) -> word {
        std::uint64_t const u = vertex(lane);
        if (degree[lane] <= k) return static_cast<word>(u);
        word const w = s.neighbour(s.out, static_cast<std::uint64_t>(s.out.begin(u)) + k);
        s.labels.prefetch(w);
        return w;
      });
      t.each([&](int lane) {
        if (v[lane] != vertex(lane)) s.labels.join(static_cast<word>(vertex(lane)), v[lane]);
        return 0;
      });
    }
  }
};

/// CPUs: runs join_first for tile i, as a loop.
template <class State>
struct join_first_alone {
  join_first<State> join;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    join(device::tile_for<typename State::execution_space, State::tuned::width>{}, i);
  }
};

template <class State>
struct take_samples {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const v = i * 0x9e3779b97f4a7c15u % s.vertices;
    s.sample[i] = s.labels.label(static_cast<typename State::word>(v));
    if (i == 0) *s.frequent = *s.long_rows = 0;
  }
};

template <class State>
struct find_frequent {
  State s;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t alike = 0;
    for (std::uint64_t k = 0; k < State::tuned::samples; ++k)
      alike += s.sample[k] == s.sample[i] ? 1 : 0;
    Kokkos::atomic_max(s.frequent, alike << 32 | i);
  }
};

template <class State>
struct join_rest {
  using word = typename State::word;
  State s;

  /// CPUs: joins the rest of one row.
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t i) const {
    auto const v = static_cast<word>(i);
    if (s.skips && s.labels.label(v) == s.sample[static_cast<std::uint32_t>(*s.frequent)]) return;
    std::uint64_t const left = s.rest(i);
    if (left >= State::tuned::grid_row)
      s.long_row[device::fetch_add(s.long_rows, 1)] = v;
    else
      for (std::uint64_t k = 0; k < left; ++k) s.labels.join(v, s.other(i, k));
  }
  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    word const frequent = s.sample[static_cast<std::uint32_t>(*s.frequent)];
    auto const vertex = [&](int lane) {
      return static_cast<word>(i * Tile::width + static_cast<std::uint64_t>(lane));
    };
    auto const left = t.each([&](int lane) -> std::uint64_t {
      word const v = vertex(lane);
      if (i * Tile::width + static_cast<std::uint64_t>(lane) >= s.vertices) return 0;
      return s.skips && s.labels.label(v) == frequent ? 0 : s.rest(v);
    });
    auto const by_tile = t.ballot([&](int lane) { return is_wide(left[lane]); });
    t.each([&](int lane) {
      if (left[lane] >= State::tuned::grid_row)
        s.long_row[device::fetch_add(s.long_rows, 1)] = vertex(lane);
      else if (!by_tile.test(lane))
        for (std::uint64_t k = 0; k < left[lane]; ++k)
          s.labels.join(vertex(lane), s.other(vertex(lane), k));
      return 0;
    });
    for (auto m = by_tile; m; m = m.without_first()) {
      word const v = vertex(m.first());
      std::uint64_t const n = t.get(left, m.first());
      for (std::uint64_t k = 0; k < n; k += Tile::width)
        t.each([&](int lane) {
          std::uint64_t const mine = k + static_cast<std::uint64_t>(lane);
          if (mine < n) s.labels.join(v, s.other(v, mine));
          return 0;
        });
    }
  }
  KOKKOS_FUNCTION static bool is_wide(std::uint64_t edges) {
    return edges >= State::tuned::tile_row && edges < State::tuned::grid_row;
  }
};

template <class State>
struct join_long {
  State s;
  std::uint64_t tiles;

  template <class Tile>
  KARPOS_STEP_FUNCTION void operator()(Tile const& t, std::uint64_t i) const {
    std::uint64_t const rows = *s.long_rows;
    for (std::uint64_t r = 0; r < rows; ++r) {
      auto const v = s.long_row[r];
      std::uint64_t const n = s.rest(v);
      for (std::uint64_t k = i * Tile::width; k < n; k += tiles * Tile::width)
        t.each([&](int lane) {
          std::uint64_t const mine = k + static_cast<std::uint64_t>(lane);
          if (mine < n) s.labels.join(v, s.other(v, mine));
          return 0;
        });
    }
  }
};

}  // namespace karpos::detail::connected_components
