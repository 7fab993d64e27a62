// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/index_range.hpp"

namespace karpos {

namespace detail {
template <class T>
concept graph_integer =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Finds the first place at which a graph's arrays are wrong.
template <class Offsets, class Columns>
struct find_defect {
  Offsets offsets;
  Columns columns;
  std::uint64_t vertices;

  static constexpr std::uint64_t none = ~std::uint64_t(0);

  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& first) const {
    auto const begin = static_cast<std::uint64_t>(offsets(v));
    auto const end = static_cast<std::uint64_t>(offsets(v + 1));
    bool valid = begin <= end && end <= columns.extent(0);
    for (std::uint64_t e = begin; valid && e < end; ++e)
      valid = static_cast<std::uint64_t>(columns(e)) < vertices;
    if (!valid && v < first) first = v;
  }
};
}  // namespace detail

/// A graph in compressed sparse rows: the neighbours of vertex v are column_indices[row_offsets[v]] up to, not
/// including, column_indices[row_offsets[v + 1]]. It shares the views it is made of: copies are cheap, and the
/// memory may be the user's own. Self loops and duplicate edges are allowed.
///
/// A graph is directed until said otherwise: `undirected()` states that every edge occurs both ways,
/// `with_transpose(in)` gives the in-edges. Bottom-up levels of a search need either.
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

  /// A graph without vertices.
  csr_graph() = default;

  /// Wraps views: n + 1 offsets for n vertices, and as many column indices as the last offset says.
  /// Complexity: constant; what the arrays hold is looked at by `validate`.
  /// Throws: std::invalid_argument if there is no offset at all.
  csr_graph(offsets_view row_offsets, columns_view column_indices)
      : m_offsets(row_offsets),
        m_columns(column_indices) {
    if (m_offsets.extent(0) == 0)
      detail::reject("a graph has no row offsets", "extent 0",
                     "n vertices have n + 1 offsets, the first of them 0");
  }

  /// The same graph, every edge of which is known to occur in both directions.
  csr_graph undirected() const { return with_transpose(*this); }

  /// The same graph, with the edges the other way round: in's row v lists the vertices that have an edge to v.
  /// Throws: std::invalid_argument if the two differ in vertices or edges.
  csr_graph with_transpose(csr_graph const& in) const {
    detail::require_same_extent("row offsets of a graph", m_offsets.extent(0), "of its transpose",
                                in.m_offsets.extent(0));
    detail::require_same_extent("column indices of a graph", m_columns.extent(0),
                                "of its transpose", in.m_columns.extent(0));
    csr_graph g = *this;
    g.m_in_offsets = in.m_offsets;
    g.m_in_columns = in.m_columns;
    g.m_has_transpose = true;
    return g;
  }

  std::uint64_t vertices() const { return m_offsets.extent(0) == 0 ? 0 : m_offsets.extent(0) - 1; }
  /// Directed edges: an undirected edge counts twice.
  std::uint64_t edges() const { return m_columns.extent(0); }
  bool has_transpose() const { return m_has_transpose; }
  bool is_undirected() const {
    return m_has_transpose && m_in_offsets.data() == m_offsets.data() &&
           m_in_columns.data() == m_columns.data();
  }

  offsets_view const& row_offsets() const { return m_offsets; }
  columns_view const& column_indices() const { return m_columns; }
  /// Of the transpose; empty without one.
  offsets_view const& in_row_offsets() const { return m_in_offsets; }
  columns_view const& in_column_indices() const { return m_in_columns; }

  /// Bytes of the two arrays of a graph.
  static std::size_t bytes_for(std::uint64_t vertices, std::uint64_t edges) {
    return (vertices + 1) * sizeof(EdgeOffset) + edges * sizeof(VertexId);
  }

  /// Looks at every offset and index of the graph, and of its transpose where it is another array.
  /// Throws: std::invalid_argument that names the vertex: offsets that do not start at 0, decrease or do not end
  /// at the number of edges, an index that is no vertex. Complexity: one pass; waits for it.
  template <execution_space ExecSpace>
  void validate(ExecSpace const& exec) const {
    validate(exec, m_offsets, m_columns, "the graph");
    if (m_has_transpose && !is_undirected())
      validate(exec, m_in_offsets, m_in_columns, "the transpose");
  }

 private:
  template <class ExecSpace>
  static void validate(ExecSpace const& exec, offsets_view const& offsets,
                       columns_view const& columns, std::string const& name) {
    detail::require_reachable<ExecSpace, offsets_view, columns_view>();
    if (offsets.extent(0) == 0) return;
    std::uint64_t const n = offsets.extent(0) - 1;
    EdgeOffset first{}, last{};
    Kokkos::deep_copy(exec, first, Kokkos::subview(offsets, 0));
    Kokkos::deep_copy(exec, last, Kokkos::subview(offsets, n));
    exec.fence("karpos::csr_graph::validate: ends");
    if (first != 0)
      detail::reject("row offset 0 of " + name + " is wrong", std::to_string(first),
                     "the first row starts at 0");
    using defect = detail::find_defect<offsets_view, columns_view>;
    std::uint64_t vertex = defect::none;
    Kokkos::parallel_reduce("karpos::csr_graph::validate", detail::index_range(exec, n),
                            defect{offsets, columns, n}, Kokkos::Min<std::uint64_t>(vertex));
    if (vertex != defect::none)
      detail::reject(
          "row " + std::to_string(vertex) + " of " + name + " is wrong",
          "its offsets decrease or pass the end, or an index is not below " + std::to_string(n),
          "offsets grow from 0 to the number of edges; indices are vertices");
    if (static_cast<std::uint64_t>(last) != columns.extent(0))
      detail::reject(
          "the last row offset of " + name + " is wrong",
          std::to_string(last) + " with " + std::to_string(columns.extent(0)) + " column indices",
          "it is the number of edges");
  }

  offsets_view m_offsets, m_in_offsets;
  columns_view m_columns, m_in_columns;
  bool m_has_transpose = false;
};

/// A graph of views of the user's has their types of vertices, offsets and memory.
template <view_1d Offsets, view_1d Columns>
csr_graph(Offsets const&, Columns const&)
    -> csr_graph<typename Columns::non_const_value_type, typename Offsets::non_const_value_type,
                 typename Columns::memory_space>;

}  // namespace karpos
