// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/peer_distances.hpp"

// The state of a search on one rank, on which the steps of detail/graph/bfs run, and the rows that
// its workspace is made for.
//
// On every rank, status bitmaps have a bit for each vertex of the whole graph. All other arrays
// hold this rank's vertices only. Steps name vertices by their numbers in the whole graph. The
// rows, distances and parents of this rank begin at its first vertex, so the state's pointers are
// moved back by as many elements; only elements of its vertices are accessed.

namespace karpos::detail::distributed {

/// The rows of a rank, as a bfs_workspace reads them. The numbers of out- and in-edges of its
/// vertices may differ.
template <class VertexId, class EdgeOffset, class MemorySpace>
struct local_rows {
  using graph = karpos::csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using vertex_type = VertexId;
  using offset_type = EdgeOffset;
  using memory_space = MemorySpace;
  using offsets_view = typename graph::offsets_view;
  using columns_view = typename graph::columns_view;

  graph out, in;
  bool transposed;

  /// Does nothing: distributed::bfs_workspace has checked the rows of its graph.
  template <class ExecSpace>
  void validate_unless_trusted(ExecSpace const&) const {}

  std::uint64_t vertices() const { return out.vertices(); }
  /// Returns the number of edges that a bottom-up level reads, if there are in-edges; else of
  /// out-edges.
  std::uint64_t edges() const { return transposed ? in.edges() : out.edges(); }
  bool has_transpose() const { return transposed; }
  offsets_view const& row_offsets() const { return out.row_offsets(); }
  columns_view const& column_indices() const { return out.column_indices(); }
  offsets_view const& in_row_offsets() const { return in.row_offsets(); }
  columns_view const& in_column_indices() const { return in.column_indices(); }
};

/// Everything that the steps of a search share on a rank.
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct rank_state : bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks> {
  using base = bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks>;

  std::uint64_t own_first_word, own_word_count;
  device::peer_distances peers;  // for the status bitmaps; none if ranks exchange between the steps
  // Parents found top-down, if parents are asked for. proposal: if ranks exchange between the
  // steps; holds the parents that this rank has found, for every vertex of the graph.
  // parent_window: in one kernel; holds the parents that any rank has found, for this rank's
  // vertices, in a window.
  VertexId *proposal, *parent_window;
  device::peer_distances parent_peers;              // for that window
  std::uint64_t begin_of_rank[device::most_peers];  // first vertex of each rank

  KOKKOS_FUNCTION std::uint64_t first_word() const { return own_first_word; }
  KOKKOS_FUNCTION std::uint64_t own_words() const { return own_word_count; }
  KOKKOS_FUNCTION std::uint64_t own_vertices() const {
    std::uint64_t const first = 32 * own_first_word, most = 32 * own_word_count;
    return Kokkos::min(most, base::vertices - Kokkos::min(first, base::vertices));
  }
  KOKKOS_FUNCTION bool is_own_word(std::uint64_t w) const {
    return w - own_first_word < own_word_count;
  }
  KOKKOS_FUNCTION void copy_to_peers(std::uint32_t* word, std::uint32_t bits) const {
    for (int r = 0; r < peers.count; ++r)
      if (r != peers.rank) *peers.of(r, word) = bits;
  }
  /// Stores a parent, top-down. The vertex may belong to another rank, and other ranks may find it
  /// concurrently.
  KOKKOS_FUNCTION void propose_parent(frontier::local_vertex v, frontier::local_vertex from) const {
    using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
    auto const found = static_cast<word>(base::global(from));
    if (proposal != nullptr) device::store_relaxed(reinterpret_cast<word*>(proposal + v), found);
    if (parent_window == nullptr) return;
    int owner = 0;
    for (int r = 1; r < parent_peers.count; ++r) owner = v >= begin_of_rank[r] ? r : owner;
    VertexId* const to = parent_peers.of(owner, parent_window) + (v - begin_of_rank[owner]);
    device::store_to_peer(reinterpret_cast<word*>(to), found);
  }
  /// Reads the parent of one of this rank's vertices, once all ranks that have found it have
  /// proposed one.
  KOKKOS_FUNCTION void load_parent(frontier::local_vertex v) const {
    using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
    if (parent_window == nullptr) return;
    auto* const from = reinterpret_cast<word*>(parent_window + (v - 32 * own_first_word));
    base::parent[v] = static_cast<VertexId>(device::load_relaxed(from));
  }
};

}  // namespace karpos::detail::distributed
