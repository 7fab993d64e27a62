// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/require_rows.hpp"

namespace karpos {

namespace detail {
template <class T>
concept graph_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);
}  // namespace detail

/// A graph in compressed sparse rows: the neighbours of vertex v are the column_indices at
/// positions in [row_offsets[v], row_offsets[v + 1]). A graph shares the views that it is made of:
/// copies are cheap, and the memory may be the user's own. Self loops and duplicate edges are
/// allowed.
///
/// A graph is directed by default. `undirected()` states that every edge is stored in both
/// directions; `with_transpose(in)` adds the in-edges. Bottom-up levels of a search need one of the
/// two.
///
/// Algorithms check offsets and columns before they read a graph, in one pass over both. A
/// workspace checks them once, when it is constructed; a call without a workspace checks them each
/// time. Both throw std::invalid_argument, which names the first wrong offset or edge. `trusted()`
/// saves the pass; build_csr and transpose return trusted graphs. The views of a graph are const.
/// If you change the arrays through other views, keep them valid, and make new workspaces: a
/// workspace neither checks again nor notices changes.
template <class VertexId = std::uint32_t, class EdgeOffset = std::uint64_t,
          class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
class csr_graph {
 public:
  static_assert(detail::graph_integer<VertexId> && detail::graph_integer<EdgeOffset>,
                "karpos: vertex ids and edge offsets are integers of 32 or 64 bits");
  using vertex_type = VertexId;
  using offset_type = EdgeOffset;
  using memory_space = MemorySpace;
  using offsets_view = Kokkos::View<EdgeOffset const*, MemorySpace>;
  using columns_view = Kokkos::View<VertexId const*, MemorySpace>;

  /// Makes a graph without vertices.
  csr_graph() = default;

  /// Wraps views: n + 1 offsets for n vertices, and as many column indices as the last offset says.
  /// Complexity: constant; only `validate` and algorithms check the contents of the arrays.
  /// Throws: std::invalid_argument if there is no offset at all.
  csr_graph(offsets_view row_offsets, columns_view column_indices)
      : m_offsets(row_offsets),
        m_columns(column_indices) {
    detail::user_call const call("csr_graph");
    if (m_offsets.extent(0) == 0)
      detail::reject("a graph has no row offsets", "extent 0",
                     "n vertices have n + 1 offsets, the first of them 0");
  }

  /// Returns this graph, marked as one whose edges are all stored in both directions. Only
  /// `validate` checks that. A trusted graph stays trusted.
  csr_graph undirected() const { return with_transpose(*this); }

  /// Returns this graph with a transpose: row v of `in` lists the vertices that have an edge to v.
  /// Only `validate` checks that these are the edges of this graph; algorithms check that `in` is a
  /// valid graph. The result is trusted if both graphs are.
  /// Throws: std::invalid_argument if the two differ in the number of vertices or edges.
  csr_graph with_transpose(csr_graph const& in) const {
    detail::user_call const call("csr_graph", "with_transpose");
    detail::require_same_extent("row offsets of a graph", m_offsets.extent(0), "of its transpose",
                                in.m_offsets.extent(0));
    detail::require_same_extent("column indices of a graph", m_columns.extent(0),
                                "of its transpose", in.m_columns.extent(0));
    csr_graph g = *this;
    g.m_in_offsets = in.m_offsets;
    g.m_in_columns = in.m_columns;
    g.m_has_transpose = true;
    g.m_trusted = m_trusted && in.m_trusted;
    return g;
  }

  /// Returns this graph, marked as valid, so that algorithms do not check its offsets and columns.
  /// If the CMake option KARPOS_CONTRACTS (contract.hpp) is on, they check them nevertheless.
  csr_graph trusted() const {
    csr_graph g = *this;
    g.m_trusted = true;
    return g;
  }

  std::uint64_t vertices() const { return m_offsets.extent(0) == 0 ? 0 : m_offsets.extent(0) - 1; }
  /// Returns the number of directed edges: an undirected edge counts twice.
  std::uint64_t edges() const { return m_columns.extent(0); }
  bool has_transpose() const { return m_has_transpose; }
  bool is_trusted() const { return m_trusted; }
  /// Returns whether the transpose has the arrays of the graph itself. Compares arrays, not edges:
  /// a symmetric graph with a separate transpose is not undirected.
  bool is_undirected() const {
    return m_has_transpose && m_in_offsets.data() == m_offsets.data() &&
           m_in_columns.data() == m_columns.data();
  }

  offsets_view const& row_offsets() const { return m_offsets; }
  columns_view const& column_indices() const { return m_columns; }
  /// Returns the row offsets of the transpose; empty if there is none.
  offsets_view const& in_row_offsets() const { return m_in_offsets; }
  columns_view const& in_column_indices() const { return m_in_columns; }

  /// Returns the bytes of the two arrays of a graph.
  static std::size_t bytes_for(std::uint64_t vertices, std::uint64_t edges) {
    return (vertices + 1) * sizeof(EdgeOffset) + edges * sizeof(VertexId);
  }

  /// Checks every offset and column of the graph and of its transpose, whether or not the graph is
  /// trusted. Also checks that the transpose has the edges of the graph in the other direction. It
  /// compares hashes of all edges: a wrong transpose passes with a probability of 2^-64, or if it
  /// was designed to pass, because the hash has no seed.
  /// Throws: std::invalid_argument. It names the first wrong offset: offset 0 must be 0, none may
  /// be below the one before or above the number of columns, and the last must be that number. If
  /// all offsets are right, it names the first edge that leads to no vertex. Otherwise it says that
  /// the transpose has other edges. An array with a length but without memory is refused, too.
  /// Complexity: one pass for a directed graph, three for an undirected one, four if the transpose
  /// has arrays of its own. Blocks.
  template <execution_space ExecSpace>
  void validate(ExecSpace const& exec) const {
    detail::user_call const call("csr_graph", "validate");
    require_rows(exec);
    if (m_has_transpose)
      detail::require_transposed(exec, m_offsets, m_columns, m_in_offsets, m_in_columns);
  }
  /// Checks every offset and column, unless the graph is trusted. Algorithms call this before they
  /// read a graph. Does not compare the transpose with the graph.
  /// Throws: std::invalid_argument as validate does. Complexity: one pass over the graph, and one
  /// over the transpose if it has arrays of its own; none if the graph is trusted and the CMake
  /// option KARPOS_CONTRACTS is off. Blocks.
  template <execution_space ExecSpace>
  void validate_unless_trusted(ExecSpace const& exec) const {
    detail::user_call const call("csr_graph", "validate_unless_trusted");
    if (detail::checks_always || !m_trusted) require_rows(exec);
  }

 private:
  template <class ExecSpace>
  void require_rows(ExecSpace const& exec) const {
    detail::require_reachable<ExecSpace, offsets_view, columns_view>();
    detail::require_rows(exec, m_offsets, m_columns, {"the graph", vertices()});
    if (m_has_transpose && !is_undirected())
      detail::require_rows(exec, m_in_offsets, m_in_columns, {"the transpose", vertices()});
  }

  offsets_view m_offsets, m_in_offsets;
  columns_view m_columns, m_in_columns;
  bool m_has_transpose = false, m_trusted = false;
};

namespace detail {
/// Returns the memory of a graph, of its transpose and of `others`, for require_apart.
template <class Graph>
std::vector<memory_range> memory_of(Graph const& graph,
                                    std::initializer_list<memory_range> others = {}) {
  std::vector<memory_range> all = others;
  all.insert(all.end(), {range_of(graph.row_offsets()), range_of(graph.column_indices()),
                         range_of(graph.in_row_offsets()), range_of(graph.in_column_indices())});
  return all;
}
}  // namespace detail

/// A graph with a weight, or any other value, for each edge: weights(e) belongs to the edge
/// column_indices()(e). build_csr and transpose return it if they are given weights:
///
///   auto const [graph, weights] = build_csr(exec, vertices, sources, targets, lengths);
///   sssp(exec, graph, weights, source, distances);
template <class Graph, class Weight>
struct weighted_csr_graph {
  Graph graph;
  Kokkos::View<Weight*, typename Graph::memory_space> weights;
};

/// Deduces the types of vertices, offsets and memory space from the user's views.
template <view_1d Offsets, view_1d Columns>
csr_graph(Offsets const&, Columns const&)
    -> csr_graph<typename Columns::non_const_value_type, typename Offsets::non_const_value_type,
                 typename Columns::memory_space>;

}  // namespace karpos
