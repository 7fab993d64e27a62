// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/csr_graph.hpp"

namespace karpos::detail::distributed {

/// The rows of a rank, as the algorithms of one device read them: offsets begin at its first
/// vertex, columns are vertices of the whole graph. There may be more in- or out-edges.
template <class VertexId, class EdgeOffset, class MemorySpace>
struct local_rows {
  using graph = karpos::csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using vertex_type = VertexId;
  using offset_type = EdgeOffset;
  using memory_space = MemorySpace;
  using offsets_view = typename graph::offsets_view;
  using columns_view = typename graph::columns_view;

  graph out, in;
  bool transposed, undirected;

  /// Does nothing: what works on ranks has checked the rows of its graph.
  template <class ExecSpace>
  void validate_unless_trusted(ExecSpace const&) const {}

  std::uint64_t vertices() const { return out.vertices(); }
  /// Returns the number of out-edges. A rank may have more or fewer in-edges.
  std::uint64_t edges() const { return out.edges(); }
  bool has_transpose() const { return transposed; }
  bool is_undirected() const { return undirected; }
  offsets_view const& row_offsets() const { return out.row_offsets(); }
  columns_view const& column_indices() const { return out.column_indices(); }
  offsets_view const& in_row_offsets() const { return in.row_offsets(); }
  columns_view const& in_column_indices() const { return in.column_indices(); }
};

template <class Graph>
auto local_rows_of(Graph const& graph) {
  return local_rows<typename Graph::vertex_type, typename Graph::offset_type,
                    typename Graph::memory_space>{graph.local(), graph.local_in(),
                                                  graph.has_transpose(), graph.is_undirected()};
}

}  // namespace karpos::detail::distributed
