// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/graph/frontier/tuning.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"

// The kernels of validate_bfs (validate_bfs.hpp: checks 1 to 4), with two bits for each vertex.
//
//   insert_sources   is_source   the vertex is a source
//   check_vertex                 makes the checks that need no edges
//   check_edges      proven      an edge leads to the vertex from its parent or, without parents,
//                                from one level before
//   check_proof                  reports the vertices that are not proven
// Tests: validate_bfs, bfs_*.

namespace karpos::detail::validate_bfs {

enum kind : int { sources, roots, distances, parents, tree_edges, levels, edges, kinds };

struct defect_counts {
  std::uint64_t of[kinds] = {};
  std::uint64_t first_vertex = ~std::uint64_t(0);
};

/// Counts defects. They are rare, so one counter for all threads is no bottleneck.
struct defect_log {
  defect_counts* counts;

  KOKKOS_FUNCTION void operator()(kind what, std::uint64_t v) const {
    Kokkos::atomic_inc(counts->of + what);
    Kokkos::atomic_min(&counts->first_vertex, v);
  }
};

/// A set of vertices, as a bitmap.
struct vertex_set {
  std::uint32_t* word;

  KOKKOS_FUNCTION bool contains(std::uint64_t v) const {
    return (device::load_relaxed(word + v / 32) >> (v % 32) & 1u) != 0;
  }
  KOKKOS_FUNCTION void insert(std::uint64_t v) const {
    if (!contains(v)) device::set_bits(word + v / 32, std::uint32_t(1) << (v % 32));
  }
};

/// Inserts the sources into a set, and counts those out of range.
template <class Sources>
struct insert_sources {
  Sources source;
  std::uint64_t vertices;
  vertex_set is_source;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& out_of_range) const {
    auto const v = static_cast<std::uint64_t>(source(i));
    if (v < vertices)
      is_source.insert(v);
    else
      ++out_of_range;
  }
};

/// The result of a search under validation.
template <class Distances, class Parents>
struct result_tree {
  std::uint64_t vertices;
  Distances distance;
  Parents parent;
  bool has_parents;
  vertex_set is_source;
  vertex_set proven;  // an edge leads to it from its parent; without parents: from one level before
  defect_log log;

  template <class F>
  auto transformed(F const& f) const {
    return result_tree<decltype(f(distance)), decltype(f(parent))>{
        vertices, f(distance), f(parent), has_parents, is_source, proven, log};
  }

  /// Returns a distance in a type wide enough to add one.
  KOKKOS_FUNCTION std::int64_t level(std::uint64_t v) const { return distance(v); }
  KOKKOS_FUNCTION std::uint64_t parent_of(std::uint64_t v) const {
    return static_cast<std::uint64_t>(parent(v));
  }
  KOKKOS_FUNCTION bool has_parent(std::uint64_t v) const {
    using vertex = typename std::remove_cvref_t<Parents>::non_const_value_type;
    return parent(v) != static_cast<vertex>(-1);
  }
};

/// Makes checks 1 and 2, and that of the levels in 3: all that needs no edges of the vertex.
template <class Tree>
struct check_vertex {
  Tree tree;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    std::int64_t const level = tree.level(v);
    bool const own_parent = tree.has_parents && tree.parent_of(v) == v;
    if (level < -1) tree.log(distances, v);
    if (tree.is_source.contains(v)) {
      if (level != 0 || (tree.has_parents && !own_parent)) tree.log(sources, v);
      return;
    }
    if (level == 0 || own_parent) tree.log(roots, v);
    if (tree.has_parents) check_parent(v, level);
  }

 private:
  KOKKOS_FUNCTION void check_parent(std::uint64_t v, std::int64_t level) const {
    bool const has = tree.has_parent(v);
    std::uint64_t const parent = tree.parent_of(v);
    if (has != (level >= 0) || (has && parent >= tree.vertices)) tree.log(parents, v);
    if (!has || parent >= tree.vertices || level < 0) return;
    if (tree.level(parent) < 0 || tree.level(parent) + 1 != level) tree.log(levels, v);
  }
};

/// Makes check 4 for the edges of a vertex, by a tile. Proves the vertices that they lead to.
template <class Graph, class Tree, class Follow>
struct check_edges {
  typename Graph::offsets_view offset;
  typename Graph::columns_view column;
  Tree tree;
  Follow follow;

  template <class Tile>
  KOKKOS_FUNCTION void operator()(Tile const& t, std::uint64_t u) const {
    auto const end = static_cast<std::uint64_t>(offset(u + 1));
    for (auto first = static_cast<std::uint64_t>(offset(u)); first < end; first += Tile::width)
      t.each([&](int lane) {
        std::uint64_t const e = first + static_cast<std::uint64_t>(lane);
        if (e < end && follow(static_cast<typename Graph::vertex_type>(u), column(e)))
          check(u, static_cast<std::uint64_t>(column(e)));
      });
  }

 private:
  KOKKOS_FUNCTION void check(std::uint64_t u, std::uint64_t v) const {
    std::int64_t const from = tree.level(u), to = tree.level(v);
    if (from >= 0 && (to < 0 || to > from + 1)) tree.log(edges, u);
    if (tree.has_parents ? tree.parent_of(v) == u : from >= 0 && to == from + 1)
      tree.proven.insert(v);
  }
};

/// Makes check 3 for a vertex: reports it if no edge has proven it.
template <class Tree>
struct check_proof {
  Tree tree;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (tree.is_source.contains(v) || tree.proven.contains(v)) return;
    if (!tree.has_parents) {
      if (tree.level(v) > 0) tree.log(levels, v);
    } else if (tree.has_parent(v) && tree.parent_of(v) < tree.vertices && tree.parent_of(v) != v) {
      tree.log(tree_edges, v);
    }
  }
};

template <class ExecSpace, class Sources>
void collect_sources(ExecSpace const& exec, Sources const& source, std::uint64_t count,
                     std::uint64_t vertices, vertex_set is_source) {
  std::uint64_t out_of_range = 0;
  Kokkos::parallel_reduce("karpos::validate_bfs: sources", index_range(exec, count),
                          insert_sources<Sources>{source, vertices, is_source}, out_of_range);
  if (out_of_range > 0)
    reject(std::to_string(out_of_range) + " sources are no vertices",
           "the graph has " + std::to_string(vertices), "pass the sources that were searched from");
}

template <class ExecSpace, class Graph, class Tree, class Follow>
void check_tree(ExecSpace const& exec, Graph const& graph, Tree const& tree, Follow const& follow) {
  constexpr int width = frontier::tuning<ExecSpace>::validation_width;
  Kokkos::parallel_for("karpos::validate_bfs: vertices", index_range(exec, tree.vertices),
                       check_vertex<Tree>{tree});
  device::for_each_tile<width>(
      "karpos::validate_bfs: edges", exec, tree.vertices,
      check_edges<Graph, Tree, Follow>{graph.row_offsets(), graph.column_indices(), tree, follow});
  Kokkos::parallel_for("karpos::validate_bfs: proof", index_range(exec, tree.vertices),
                       check_proof<Tree>{tree});
}

}  // namespace karpos::detail::validate_bfs
