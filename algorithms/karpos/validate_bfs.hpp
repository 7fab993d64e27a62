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
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/validate_bfs/checks.hpp"

namespace karpos {

/// Defects of the result of a breadth-first search, by kind. One mistake of a search may count
/// under several kinds.
struct bfs_defects {
  std::uint64_t sources = 0;  ///< sources without the distance 0, or not their own parent
  std::uint64_t roots = 0;    ///< other vertices with the distance 0, or that are their own parent
  std::uint64_t distances = 0;  ///< distances below -1
  /// Parents that are missing although there is a distance, or are there without one, or are out of
  /// range.
  std::uint64_t parents = 0;
  std::uint64_t tree_edges = 0;  ///< edges from a parent to its vertex that the graph lacks
  /// Vertices whose distance is not their parent's plus one. Without parents: vertices with a
  /// distance d > 0 to which no edge leads from a vertex with distance d - 1.
  std::uint64_t levels = 0;
  /// Edges that lead more than one level farther, or from a reached vertex to one that is not
  /// reached.
  std::uint64_t edges = 0;
  std::uint64_t first_vertex = ~std::uint64_t(0);  ///< the lowest vertex with a defect; ~0: none

  bool valid() const { return first_vertex == ~std::uint64_t(0); }
  /// Returns one line that names the kinds with defects.
  std::string to_string() const {
    if (valid()) return "no defects";
    std::string text;
    auto const add = [&](std::uint64_t count, char const* what) {
      if (count > 0) text += std::to_string(count) + " " + what + ", ";
    };
    add(sources, "sources without distance 0 or not their own parent");
    add(roots, "other vertices with distance 0 or their own parent");
    add(distances, "distances below -1");
    add(parents, "parents that are missing, out of range, or given to unreached vertices");
    add(tree_edges, "parents without an edge to their vertex");
    add(levels, "vertices not one level after their parent or an in-neighbour");
    add(edges, "edges that lead more than a level farther or leave the reached vertices");
    return text + "the first at vertex " + std::to_string(first_vertex);
  }
};

/// Checks what a breadth-first search has found, without another search. `source` is one vertex, or
/// a view of several; `parents` may be a view without elements; `follow` is the predicate of the
/// search. Edges that `follow` refuses count as absent. Views may be strided. It checks:
///
///   1. A source has the distance 0 and is its own parent. No other vertex has the distance 0, or
///      is its own parent.
///   2. A vertex has a parent if and only if it has a distance.
///   3. The graph has the edge from a parent to its vertex, and the vertex is one level farther.
///      Without parents: some edge leads to the vertex from one level before.
///   4. An edge from a vertex with distance d leads to one that has a distance, of at most d + 1.
///
/// That proves distances exact. By 1 and 4, by induction over the edges of a path from a source,
/// the end of a path of k edges has a distance, of at most k. By 3 and 1, going from parent to
/// parent (without parents: from one level to the one before), a vertex of distance d has a path of
/// d edges that ends at a vertex of distance 0, which is a source. So no path leads to a vertex
/// without a distance, and no shorter path leads to a vertex with one.
///
/// Returns: the defects; valid() if there are none. Blocks.
/// Complexity: O(vertices + edges), every edge once, and once more if the graph is not trusted.
/// Requires: the graph and the results are not written meanwhile.
/// Memory: two bits a vertex.
/// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate), if a source is
///   out of range, or if distances or parents do not have one element for each vertex; Kokkos'
///   std::runtime_error, and not allocation_error, if there is not enough memory.
/// Source: the validations of Graph500 (graph500.org) and of the GAP benchmark suite (Beamer,
///   Asanović, Patterson, 2015), which look for the edge of a parent in its row; here each edge
///   checks whether its source is the parent of its target.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          class Source, view_1d Distances, view_1d Parents = Kokkos::View<VertexId*, MemorySpace>,
          class Follow = follow_all>
bfs_defects validate_bfs(ExecSpace const& exec,
                         csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                         Source const& source, Distances const& distances,
                         Parents const& parents = {}, Follow const& follow = {}) {
  namespace checks = detail::validate_bfs;
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  detail::require_reachable<ExecSpace, typename graph_type::offsets_view, Distances, Parents>();
  static_assert(std::is_same_v<typename Distances::non_const_value_type, std::int32_t>,
                "karpos: distances come in a view of std::int32_t, not unsigned: unreachable "
                "vertices get -1");
  static_assert(std::is_same_v<typename Parents::non_const_value_type, VertexId>,
                "karpos: parents come in a view of the graph's vertex type");
  detail::user_call const call("validate_bfs");
  std::uint64_t const n = graph.vertices(), words = (n + 31) / 32;
  bool const has_parents = parents.extent(0) != 0;
  detail::require_same_extent("distances", distances.extent(0), "vertices", n);
  if (has_parents) detail::require_same_extent("parents", parents.extent(0), "vertices", n);
  graph.validate_unless_trusted(exec);

  using memory_space = typename ExecSpace::memory_space;
  using counts_view = Kokkos::View<checks::defect_counts*, memory_space>;
  Kokkos::View<std::uint32_t*, memory_space> const sets(
      Kokkos::view_alloc(exec, "karpos::validate_bfs: sets"), 2 * words);
  auto const counts =
      detail::uninitialized_array<counts_view>(exec, "karpos::validate_bfs: defects", 1);
  detail::fill("karpos::validate_bfs: no defects", exec, counts, checks::defect_counts{});
  checks::vertex_set const is_source{sets.data()}, proven{sets.data() + words};
  if constexpr (std::is_integral_v<Source>) {
    checks::collect_sources(exec, detail::constant<Source>{source}, 1, n, is_source);
  } else {
    detail::require_reachable<ExecSpace, Source>();
    checks::collect_sources(exec, source, source.extent(0), n, is_source);
  }
  checks::result_tree<Distances, Parents> const tree{
      n, distances, parents, has_parents, is_source, proven, {counts.data()}};
  checks::check_tree(exec, graph, tree, follow);
  auto const d = detail::read_back(exec, counts.data(), "karpos::validate_bfs: the defects");
  return {d.of[checks::sources],    d.of[checks::roots],
          d.of[checks::distances],  d.of[checks::parents],
          d.of[checks::tree_edges], d.of[checks::levels],
          d.of[checks::edges],      d.first_vertex};
}

}  // namespace karpos
