// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"

namespace karpos {

/// How many things are wrong with the result of a breadth-first search, by kind. One mistake of a search may count
/// under several kinds.
struct bfs_defects {
  std::uint64_t sources = 0;  ///< without the distance 0, or not their own parent
  std::uint64_t roots = 0;    ///< other vertices with the distance 0, or that are their own parent
  std::uint64_t distances = 0;   ///< below -1
  std::uint64_t parents = 0;     ///< missing at a distance, present without one, or no vertex
  std::uint64_t tree_edges = 0;  ///< from a parent, that the graph lacks
  std::uint64_t levels =
      0;  ///< vertices not one further than their parent; without parents: than any vertex before
  std::uint64_t edges =
      0;  ///< that span more than one level, or lead from a reached vertex to one that is not
  std::uint64_t first_vertex = ~std::uint64_t(0);  ///< the lowest vertex with a defect; ~0: none

  bool valid() const { return first_vertex == ~std::uint64_t(0); }
  /// One line that names the kinds that there are.
  std::string to_string() const;
};

namespace detail::validate_bfs {

enum kind : int { sources, roots, distances, parents, tree_edges, levels, edges, kinds };

/// Counters of the kinds, and behind them the lowest vertex. Defects are rare: one word for all threads does.
struct defect_log {
  std::uint64_t* counter;

  KOKKOS_FUNCTION void operator()(kind what, std::uint64_t v) const {
    Kokkos::atomic_inc(counter + what);
    Kokkos::atomic_min(counter + kinds, v);
  }
};

/// A set of vertices.
struct vertex_set {
  std::uint32_t* word;

  KOKKOS_FUNCTION bool contains(std::uint64_t v) const {
    return (device::load_relaxed(word + v / 32) >> (v % 32) & 1u) != 0;
  }
  KOKKOS_FUNCTION void insert(std::uint64_t v) const {
    if (!contains(v)) device::set_bits(word + v / 32, std::uint32_t(1) << (v % 32));
  }
};

struct one_source {
  std::uint64_t vertex;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t) const { return vertex; }
};

/// Notes the sources, and counts those that are no vertices.
template <class Sources>
struct note_sources {
  Sources source;
  std::uint64_t vertices;
  vertex_set is_source;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& strangers) const {
    auto const v = static_cast<std::uint64_t>(source(i));
    if (v < vertices)
      is_source.insert(v);
    else
      ++strangers;
  }
};

/// The result of a search under validation.
template <class Distances, class Parents>
struct claimed_tree {
  std::uint64_t vertices;
  Distances distance;
  Parents parent;
  bool has_parents;
  vertex_set is_source;
  vertex_set
      proven;  // reached by an edge from their parent; without parents: from one level before
  defect_log log;

  /// Wide enough to add one to.
  KOKKOS_FUNCTION std::int64_t level(std::uint64_t v) const { return distance(v); }
  KOKKOS_FUNCTION std::uint64_t parent_of(std::uint64_t v) const {
    return static_cast<std::uint64_t>(parent(v));
  }
  KOKKOS_FUNCTION bool has_parent(std::uint64_t v) const {
    return parent(v) != static_cast<typename Parents::non_const_value_type>(-1);
  }
};

/// What can be said of a vertex without its edges.
template <class Tree>
struct check_vertex {
  Tree tree;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    std::int64_t const level = tree.level(v);
    bool const own = tree.has_parents && tree.parent_of(v) == v;
    if (level < -1) tree.log(distances, v);
    if (tree.is_source.contains(v)) {
      if (level != 0 || (tree.has_parents && !own)) tree.log(sources, v);
      return;
    }
    if (level == 0 || own) tree.log(roots, v);
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

/// The edges of a vertex, shared by the lanes of a tile: a hub may have a million.
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
        return 0;
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

/// What the edges have not proven.
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

template <class ExecSpace>
auto each(ExecSpace const& exec, std::uint64_t n) {
  return Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::uint64_t>>(exec, 0, n);
}

template <class ExecSpace, class Sources>
void mark_sources(ExecSpace const& exec, Sources const& source, std::uint64_t count,
                  std::uint64_t vertices, vertex_set is_source) {
  std::uint64_t strangers = 0;
  Kokkos::parallel_reduce("karpos::validate_bfs: sources", each(exec, count),
                          note_sources<Sources>{source, vertices, is_source}, strangers);
  if (strangers > 0)
    reject(std::to_string(strangers) + " sources of a search are no vertices",
           "the graph has " + std::to_string(vertices), "pass the sources that were searched from");
}

template <class ExecSpace, class Graph, class Tree, class Follow>
void check_tree(ExecSpace const& exec, Graph const& graph, Tree const& tree, Follow const& follow) {
  // A CPU thread is faster without a tile, and there are few of them in any case.
  constexpr int width = Kokkos::min(32, device::warp_width<ExecSpace>);
  Kokkos::parallel_for("karpos::validate_bfs: vertices", each(exec, tree.vertices),
                       check_vertex<Tree>{tree});
  device::for_each_tile<width>(
      "karpos::validate_bfs: edges", exec, tree.vertices,
      check_edges<Graph, Tree, Follow>{graph.row_offsets(), graph.column_indices(), tree, follow});
  Kokkos::parallel_for("karpos::validate_bfs: proof", each(exec, tree.vertices),
                       check_proof<Tree>{tree});
}

template <class ExecSpace, class Log>
bfs_defects read_log(ExecSpace const& exec, Log const& log) {
  std::uint64_t count[kinds + 1] = {};
  Kokkos::deep_copy(
      exec,
      Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(count, kinds + 1),
      log);
  exec.fence("karpos::validate_bfs: the defects");
  return {count[sources],    count[roots],  count[distances], count[parents],
          count[tree_edges], count[levels], count[edges],     count[kinds]};
}

}  // namespace detail::validate_bfs

/// Checks what a breadth-first search has found, without another search. `source` is one vertex, or a view of
/// several; `parents` may be a view without elements; `follow` is the predicate of the search. What is checked:
///
///   1. A source has the distance 0 and is its own parent. No other vertex has the distance 0, or is its own parent.
///   2. A vertex has a parent if and only if it has a distance.
///   3. The graph has the edge from a parent to its vertex, and the vertex is one level further. Without parents:
///      some edge leads to the vertex from one level before.
///   4. An edge from a vertex with distance d leads to one that has a distance, of at most d + 1.
///
/// That proves distances exact. By 1 and 4, by induction over the edges of a path from a source, whatever a path of
/// k edges leads to has a distance, of at most k. By 3 and 1, going from parent to parent, a vertex of distance d has
/// a path of d edges that ends at a vertex of distance 0, which is a source: so no path leads to a vertex without a
/// distance, and none that is shorter to one with.
///
/// Returns: the defects; valid() if there are none.
/// Complexity: O(vertices + edges), every edge once. Waits for it.
/// Requires: a graph that is valid; nobody writes the graph or the results meanwhile.
/// Memory: two bits a vertex.
/// Throws: std::invalid_argument for a source that is no vertex, or views of another length.
/// Source: the validations of Graph500 (graph500.org) and of the GAP benchmark suite (Beamer, Asanović, Patterson,
/// 2015), which look for the edge of a parent in its row; here every edge looks whether it is one.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, view_1d Distances, view_1d Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Follow = follow_all>
bfs_defects validate_bfs(ExecSpace const& exec,
                         csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                         Source const& source, Distances const& distances,
                         Parents const& parents = {}, Follow const& follow = {}) {
  using namespace detail::validate_bfs;
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using tree = claimed_tree<Distances, Parents>;
  detail::require_reachable<ExecSpace, typename graph_type::offsets_view, Distances, Parents>();
  static_assert(std::is_same_v<typename Distances::non_const_value_type, std::int32_t>,
                "karpos: distances come in a view of std::int32_t");
  static_assert(std::is_same_v<typename Parents::non_const_value_type, VertexId>,
                "karpos: parents come in a view of the graph's vertex type");
  std::uint64_t const n = graph.vertices();
  bool const has_parents = parents.extent(0) != 0;
  detail::require_same_extent("distances", distances.extent(0), "vertices", n);
  if (has_parents) detail::require_same_extent("parents", parents.extent(0), "vertices", n);

  using words = Kokkos::View<std::uint32_t*, typename ExecSpace::memory_space>;
  using counters = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;
  std::uint64_t const length = (n + 31) / 32;
  words const sets(Kokkos::view_alloc(exec, "karpos::validate_bfs: sets"), 2 * length);
  counters const log(Kokkos::view_alloc(exec, "karpos::validate_bfs: defects"), kinds + 1);
  Kokkos::deep_copy(exec, Kokkos::subview(log, int(kinds)), ~std::uint64_t(0));
  vertex_set const is_source{sets.data()}, proven{sets.data() + length};
  if constexpr (std::is_integral_v<Source>) {
    mark_sources(exec, one_source{static_cast<std::uint64_t>(source)}, 1, n, is_source);
  } else {
    detail::require_reachable<ExecSpace, Source>();
    mark_sources(exec, source, source.extent(0), n, is_source);
  }
  check_tree(exec, graph, tree{n, distances, parents, has_parents, is_source, proven, {log.data()}},
             follow);
  return read_log(exec, log);
}

inline std::string bfs_defects::to_string() const {
  if (valid()) return "no defects";
  std::string text;
  auto const add = [&](std::uint64_t count, char const* what) {
    if (count > 0) text += std::to_string(count) + " " + what + ", ";
  };
  add(sources, "sources without distance 0 or not their own parent");
  add(roots, "other vertices with distance 0 or their own parent");
  add(distances, "distances below -1");
  add(parents, "parents that are missing, needless or no vertex");
  add(tree_edges, "parents without an edge to their vertex");
  add(levels, "vertices not one level after another");
  add(edges, "edges that span more than a level or leave the reached vertices");
  return text + "the first at vertex " + std::to_string(first_vertex);
}

}  // namespace karpos
