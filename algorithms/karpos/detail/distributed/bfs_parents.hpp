// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/distributed/edges.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/distributed/communicator.hpp"

// Sends parents that one rank has found top-down for another's vertices, once, after the search.
// Every proposal is right: a rank makes one only for a vertex that no earlier level has reached,
// and then the next level contains the vertex.

namespace karpos::detail::distributed {

/// Copies the parents that this rank has proposed for its own vertices.
template <class VertexId>
struct store_own_proposals {
  VertexId* parent;
  VertexId const* proposal;  // for this rank's vertices
  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (parent[v] == no_source<VertexId>) parent[v] = proposal[v];
  }
};

/// Lists the parents that this rank has proposed for other ranks' vertices: rows of a vertex and
/// its parent.
template <class VertexId>
struct list_proposals {
  using value_type = std::uint64_t;
  VertexId const* proposal;
  std::uint64_t first, own;
  edge_row<VertexId>* to;  // null: counts the rows only
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& at, bool last_pass) const {
    if (v - first < own || proposal[v] == no_source<VertexId>) return;
    if (last_pass && to != nullptr) to[at] = {static_cast<VertexId>(v), proposal[v]};
    ++at;
  }
};

/// Copies the parents that other ranks have proposed. If there are several for a vertex, one stays.
template <class VertexId>
struct store_proposals {
  edge_row<VertexId> const* rows;
  VertexId* parent;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    VertexId& of = parent[static_cast<std::uint64_t>(rows[i].key) - first];
    Kokkos::atomic_compare_exchange(&of, no_source<VertexId>, rows[i].value);
  }
};

/// Writes the parents that are still missing. parent: for this rank's vertices; proposal: for all
/// vertices. Collective.
template <class ExecSpace, class Graph, class VertexId>
void complete_parents(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
                      VertexId* parent, VertexId const* proposal) {
  using row = edge_row<VertexId>;
  auto const& exec = ranks.exec();
  std::uint64_t const first = graph.first(), own = graph.local().vertices();
  device::loop_over("karpos::bfs: store own proposals", exec, own,
                    store_own_proposals<VertexId>{parent, proposal + first});
  if (ranks.size() == 1) {
    exec.fence("karpos::bfs: parents");
    return;
  }
  reusable_memory<ExecSpace> sent, received_memory;
  auto const split = run_collectively(ranks, [&] {
    auto const all = index_range(exec, graph.vertices());
    std::uint64_t n = 0;
    Kokkos::parallel_scan("karpos::bfs: count proposals", all,
                          list_proposals<VertexId>{proposal, first, own, nullptr}, n);
    auto const rows = distributed::allocate<row>(exec, "karpos::bfs: proposals", n);
    Kokkos::parallel_scan("karpos::bfs: list proposals", all,
                          list_proposals<VertexId>{proposal, first, own, rows.data()});
    return split_by_source(exec, sent, graph.begins(), ranks.size(), rows);
  });
  auto const received = send_to_owners(ranks, split, received_memory);
  device::loop_over("karpos::bfs: store proposals", exec, received.extent(0),
                    store_proposals<VertexId>{received.data(), parent, first});
  exec.fence("karpos::bfs: parents");
}

}  // namespace karpos::detail::distributed
