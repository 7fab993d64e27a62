// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiled/bits.hpp"
#include "karpos/csr_graph.hpp"

namespace karpos::compiled {

template <class VertexId, class EdgeOffset>
using graph_of_bits = csr_graph<bits<VertexId>, bits<EdgeOffset>, memory_space>;

/// Returns a graph of unmanaged views of the same arrays, which the caller keeps alive.
template <class VertexId, class EdgeOffset>
graph_of_bits<VertexId, EdgeOffset> bits_of(
    csr_graph<VertexId, EdgeOffset, memory_space> const& g) {
  using result = graph_of_bits<VertexId, EdgeOffset>;
  if (g.row_offsets().extent(0) == 0) return {};
  auto const made_of = [&](auto const& offsets, auto const& columns) {
    result const r(bits_of_view(offsets), bits_of_view(columns));
    return g.is_trusted() ? r.trusted() : r;
  };
  result const out = made_of(g.row_offsets(), g.column_indices());
  if (g.is_undirected()) return out.undirected();
  if (!g.has_transpose()) return out;
  return out.with_transpose(made_of(g.in_row_offsets(), g.in_column_indices()));
}

}  // namespace karpos::compiled
