// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/components_options.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/local_rows.hpp"
#include "karpos/detail/graph/connected_components/run.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"

// Connected components over ranks. Each rank makes a forest of all vertices from its own rows, by
// the steps of one device, and merges the forests of other ranks into it:
//
//   round 0   of rank r - 1      then its forest knows the rows of 2 ranks
//   round 1   of rank r - 2      4 ranks
//   round 2   of rank r - 4      8 ranks, and so on, until it knows those of all ranks
//
// To merge a forest is to link each vertex with its parent there. A rank skips the edges that both
// ends in its most frequent component have. An edge between two ranks is skipped by both if each
// end is in the most frequent component of its rank: that is right if these are one component. If
// they turn out not to be, ranks link the edges that they skipped, and merge once more.
// Tests: distributed_components.

namespace karpos::detail::distributed {

/// Memory for the components of a graph over ranks: the state of one device; on several ranks two
/// vertex ids for each vertex of the graph, of this rank's forest and of one that it receives.
template <class VertexId>
struct components_memory {
  std::byte* state;
  VertexId *forest, *received;
};
template <class ExecSpace, class Graph>
std::size_t lay_out_components(Graph const& graph, int ranks, std::byte* memory,
                               components_memory<typename Graph::vertex_type>& m) {
  std::uint64_t const ids = ranks > 1 ? graph.vertices() : 0;
  arena a(memory);
  a.allocate(m.state, connected_components::bytes_for<ExecSpace>(local_rows_of(graph)));
  a.allocate(m.forest, ids);
  a.allocate(m.received, ids);
  return a.bytes();
}

/// Links each vertex with its parent in another forest.
template <class State, class VertexId>
struct link_with_parents {
  State s;
  VertexId const* parent;
  KARPOS_STEP_FUNCTION void operator()(std::uint64_t v) const {
    using word = typename State::word;
    s.components.link(static_cast<word>(v), static_cast<word>(parent[v]));
  }
};

/// Merges the forests of all ranks into that of each. Collective.
template <class ExecSpace, class State, class View>
void merge_forests(karpos::distributed::communicator<ExecSpace> const& ranks, State const& s,
                   View const& forest, View const& received) {
  int const n = ranks.size();
  connected_components::compress_all(ranks.exec(), s);
  for (int distance = 1; distance < n; distance *= 2) {
    using counts = typename karpos::distributed::communicator<ExecSpace>::counts_type;
    counts send(static_cast<std::size_t>(n)), receive(static_cast<std::size_t>(n));
    send[static_cast<std::size_t>((ranks.rank() + distance) % n)] = s.vertices;
    receive[static_cast<std::size_t>((ranks.rank() + n - distance) % n)] = s.vertices;
    ranks.all_to_all(forest, send, received, receive);
    device::loop_in_turns("karpos::distributed::connected_components: merge", ranks.exec(),
                          s.vertices,
                          link_with_parents<State, typename View::value_type>{s, received.data()});
    connected_components::compress_all(ranks.exec(), s);
  }
}

/// Returns whether the most frequent components of all ranks that skip edges are one. Collective.
template <class ExecSpace, class State, class View>
bool skipped_alike(karpos::distributed::communicator<ExecSpace> const& ranks, State const& s,
                   View const& forest) {
  std::uint64_t least = s.vertices, most = 0;
  if (s.skips_most_frequent && s.begin < s.end) {
    auto const& exec = ranks.exec();
    auto const at = static_cast<std::uint32_t>(
        read_back(exec, s.most_frequent, "karpos::distributed: the most frequent sample"));
    auto const sample = read_back(exec, s.sample + at, "karpos::distributed: its component id");
    least = most = static_cast<std::uint64_t>(
        read_back(exec, forest.data() + sample, "karpos::distributed: its root"));
  }
  std::uint64_t const low = ranks.all_reduce(least, minimum{});
  return ranks.all_reduce(most, maximum{}) <= low;
}

/// Writes the component ids of this rank's vertices. memory: lay_out_components bytes. Collective.
template <class ExecSpace, class Graph, class ComponentIds>
components_report run_components(karpos::distributed::communicator<ExecSpace> const& ranks,
                                 Graph const& graph, ComponentIds const& component_ids,
                                 std::byte* memory, components_options const& options) {
  namespace cc = connected_components;
  auto const& exec = ranks.exec();
  auto const rows = local_rows_of(graph);
  components_memory<typename Graph::vertex_type> m{};
  lay_out_components<ExecSpace>(graph, ranks.size(), memory, m);
  if (ranks.size() == 1) return cc::run(exec, rows, component_ids.data(), m.state, options);
  auto const forest = unmanaged<ExecSpace>(m.forest, graph.vertices());
  auto const received = unmanaged<ExecSpace>(m.received, graph.vertices());
  auto s =
      cc::make_state<ExecSpace>(rows, graph.first(), graph.vertices(), m.forest, m.state, options);
  cc::link_first_neighbours(exec, s);
  cc::link_other_neighbours(exec, s);
  merge_forests(ranks, s, forest, received);
  if (!skipped_alike(ranks, s, forest)) {
    s.skips_most_frequent = false;
    cc::link_other_neighbours(exec, s);
    merge_forests(ranks, s, forest, received);
  }
  std::uint64_t const first = graph.first();
  Kokkos::deep_copy(exec, component_ids,
                    Kokkos::subview(forest, Kokkos::make_pair(first, first + rows.vertices())));
  return {cc::count_roots(exec, s)};
}

}  // namespace karpos::detail::distributed
