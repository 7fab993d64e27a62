// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/local_rows.hpp"
#include "karpos/detail/distributed/sssp_plan.hpp"
#include "karpos/detail/distributed/sssp_run.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/sssp.hpp"
#include "karpos/sssp_options.hpp"
#include "karpos/sssp_workspace.hpp"

// Shortest paths in a graph over ranks.
//
//   distributed::sssp_workspace const workspace(ranks, graph, weights);  // of this rank's edges
//   distributed::sssp(workspace, source, distances, parents);            // of its vertices
//
// One rank searches by karpos::sssp. Of several, each owns a block of vertices, and runs the loop
// and the steps of karpos::sssp (detail/graph/sssp/run.hpp) on its own rows. Buckets are the same
// on all ranks. In a bucket, a rank expands vertices until it has none left; then the ranks send
// the distances that they have found for each other's vertices, and go on. The bucket ends when
// nobody has anything to send (detail/distributed/sssp_run.hpp).

namespace karpos::distributed {

/// Report of a call. delta, buckets, vertices, edges and exchanges are the same on every rank;
/// rounds and fused_rounds are those of this rank; passes is 0 on several ranks.
struct sssp_report : karpos::sssp_report {
  std::uint64_t exchanges = 0;   ///< times that all ranks have waited for each other; 0 on one rank
  std::uint64_t bytes_sent = 0;  ///< by this rank; 0 on one rank
};

/// Memory of shortest paths, and what they need to know of a graph and its weights in advance. Made
/// once, for any number of calls.
///
/// Weight: as in karpos::sssp_workspace. weights(e) is the weight of the edge that leads to
/// local().column_indices()(e).
/// Requires: the communicator outlives the workspace; neither the graph nor its weights change
///   while the workspace is used, which is not checked.
/// Concurrency: one call at a time. Copies share the memory, except what calls allocate later.
/// Memory: on each rank, as karpos::sssp_workspace for its own vertices. On several ranks, also a
///   weight and 4.125 bytes for each vertex of the whole graph; from the first call for parents on,
///   a vertex id for each; and rows of up to 16 bytes for as many vertices as the largest exchange
///   has sent and received.
template <execution_space ExecSpace, class Graph, class Weight>
class sssp_workspace {
 public:
  using graph_type = Graph;
  using weight_type = Weight;
  using vertex_type = typename Graph::vertex_type;
  using memory_space = typename Graph::memory_space;

  /// Checks the graph unless it is trusted, and reads the degrees and weights of this rank's rows.
  /// weights: of this rank's edges. Collective. Blocks.
  ///
  /// Complexity: as karpos::sssp_workspace, for the rows of each rank; three messages.
  /// Throws: collective_error on every rank, with what karpos::sssp_workspace throws on one; for
  ///   more than 2^32 - 64 vertices in the whole graph.
  template <view_1d Weights>
    requires(std::is_same_v<typename Weights::non_const_value_type, Weight>)
  sssp_workspace(communicator<ExecSpace> const& ranks, Graph const& graph, Weights const& weights)
      : m_ranks(&ranks),
        m_graph(graph) {
    namespace d = detail::distributed;
    detail::user_call const call("distributed::sssp_workspace");
    d::run_collectively(ranks, [&] { allocate(weights); });
    if (ranks.size() == 1) {
      m_delta = m_alone->delta();
      return;
    }
    auto const& local = *m_local;
    m_delta = d::agreed_delta<Weight>(
        ranks, graph, access::weight_sum(local), graph.local().edges(),
        [&](std::uint64_t n) { return access::draw(ranks.exec(), local, n); });
    m_teams = ranks.all_reduce(static_cast<std::uint64_t>(access::grid(local).shape().teams));
  }

  /// Returns the width of a bucket that sssp chooses if options.delta is 0; the same on all ranks.
  double delta() const { return m_delta; }
  /// Returns the bytes that this rank has allocated for distances and queues, without what calls
  /// allocate.
  std::size_t bytes() const {
    return m_alone ? m_alone->bytes() : m_local->bytes() + m_memory.extent(0);
  }

  /// Searches as karpos::distributed::sssp does, which calls this.
  template <class Source, view_1d Distances, view_1d Parents>
  sssp_report search(Source const& source, Distances const& distances, Parents const& parents,
                     sssp_options const& options) const {
    namespace d = detail::distributed;
    auto const& ranks = *m_ranks;
    std::uint64_t const sent = ranks.bytes_sent();
    auto mine = d::arguments_of<d::sssp_arguments>(m_graph, source, parents.extent(0) > 0);
    mine.delta = options.delta;
    auto const all =
        d::gather_arguments(ranks, mine, [&] { check(source, distances, parents, options); });
    d::require_same_member(ranks, all, "delta of a search", &d::sssp_arguments::delta);
    bool const with_parents = d::agree_on_parents(ranks, all);
    auto const sources = d::gather_sources<vertex_type>(ranks, all, m_graph.vertices(), source);
    sssp_report r;
    if (ranks.size() == 1)
      static_cast<karpos::sssp_report&>(r) = d::run_collectively(ranks, [&] {
        return karpos::sssp(ranks.exec(), *m_alone, source, distances, parents, options);
      });
    else
      r = search_over_ranks(sources.list, distances, with_parents, parents, options);
    if (ranks.size() > 1) r.bytes_sent = ranks.bytes_sent() - sent;
    return r;
  }

 private:
  friend struct detail::sssp::workspace_access;
  using access = detail::sssp::workspace_access;
  using alone_graph = typename Graph::local_type;
  using local_graph = decltype(detail::distributed::local_rows_of(std::declval<Graph const&>()));
  using local_workspace = karpos::sssp_workspace<ExecSpace, local_graph, Weight>;
  using state_type = typename detail::sssp::state_for<ExecSpace, local_graph, Weight>::type;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;

  template <class Weights>
  void allocate(Weights const& weights) {
    namespace d = detail::distributed;
    auto const& exec = m_ranks->exec();
    detail::frontier::require_vertex_count(m_graph.vertices());
    m_graph.validate_unless_trusted(exec);
    if (m_ranks->size() == 1) {
      auto const rows = m_graph.local().trusted();
      m_alone.emplace(exec, m_graph.is_undirected() ? rows.undirected() : rows, weights);
      return;
    }
    m_local.emplace(exec, d::local_rows_of(m_graph), weights);
    state_type s{};
    m_memory = d::allocate<std::byte>(exec, "karpos::distributed::sssp: memory",
                                      lay_out(detail::arena(), s));
    m_exchange.allocate_counters(m_ranks->size());
    auto const& begins = m_graph.begins();
    lay_out(detail::arena(m_memory.data()), s);
    Kokkos::deep_copy(
        exec,
        detail::unmanaged<ExecSpace>(const_cast<std::uint64_t*>(s.begin_of_rank), begins.size()),
        detail::unmanaged<Kokkos::HostSpace>(begins.data(), begins.size()));
    exec.fence("karpos::distributed::sssp_workspace: begins of blocks");
  }
  /// Places what a state of several ranks has besides that of one device. Returns: its bytes.
  std::size_t lay_out(detail::arena a, state_type& s) const {
    auto const ranks = static_cast<std::uint64_t>(m_ranks->size());
    std::uint64_t const n = m_graph.vertices();
    std::uint64_t* begins = nullptr;
    a.allocate(s.distance, n);
    a.allocate(s.list, n);
    a.allocate(s.list_bits, (n + 31) / 32);
    a.allocate(s.listed, ranks);
    a.allocate(begins, ranks + 1);
    s.begin_of_rank = begins;
    return a.bytes();
  }

  template <class Source, class Distances, class Parents>
  void check(Source const& source, Distances const& distances, Parents const& parents,
             sssp_options const& options) const {
    detail::frontier::require_results<vertex_type>(
        m_ranks->exec(), distances, parents, parents.extent(0) > 0, "vertices of this rank",
        m_graph.local().vertices(),
        detail::memory_of(
            detail::distributed::local_rows_of(m_graph),
            {detail::range_of(m_alone ? access::weights(*m_alone) : access::weights(*m_local)),
             detail::distributed::memory_of_source(source)}));
    detail::sssp::checked_delta<Weight>(options.delta, m_delta);
    if (m_ranks->size() > 1) detail::distributed::require_options(options);
  }

  /// Returns what the steps share, without parents.
  state_type state(sssp_options const& options) const {
    Weight const delta = detail::sssp::checked_delta<Weight>(options.delta, m_delta);
    state_type s = access::state(m_ranks->exec(), *m_local, delta, options);
    lay_out(detail::arena(m_memory.data()), s);
    s.first = m_graph.first();
    s.all_vertices = m_graph.vertices();
    s.all_teams = m_teams;
    s.ranks = m_ranks->size();
    s.edges = m_graph.edges();
    s.out.offset -= s.first;
    for (auto& bits : s.near_bits) bits -= s.first / 32;
    return s;
  }
  template <class Distances, class Parents>
  sssp_report search_over_ranks(detail::frontier::source_list const& sources,
                                Distances const& distances, bool with_parents,
                                Parents const& parents, sssp_options const& options) const {
    namespace d = detail::distributed;
    auto const& ranks = *m_ranks;
    auto const& exec = ranks.exec();
    state_type s = state(options);
    if (with_parents) {
      if (m_parents.extent(0) != m_graph.vertices())  // on all ranks or none
        m_parents = d::run_collectively(ranks, [&] {
          return d::allocate<vertex_type>(exec, "karpos::distributed::sssp: parents",
                                          m_graph.vertices());
        });
      s.parent = m_parents.data();
    }
    auto const record = d::run_sssp(ranks, s, sources, access::grid(*m_local), m_exchange);
    auto const own = Kokkos::make_pair(s.first, s.first + s.vertices);
    array<Weight const> const all_distances(reinterpret_cast<Weight*>(s.distance), s.all_vertices);
    Kokkos::deep_copy(exec, distances, Kokkos::subview(all_distances, own));
    if (with_parents) Kokkos::deep_copy(exec, parents, Kokkos::subview(m_parents, own));
    if (record.totals.overflowed > 0) require_in_range(s, distances);
    exec.fence("karpos::distributed::sssp");
    sssp_report r;
    r.delta = static_cast<double>(s.delta);
    r.buckets = record.summary.buckets;
    r.rounds = record.summary.rounds;
    r.fused_rounds = record.summary.fused_rounds;
    r.vertices = record.totals.vertices;
    r.edges = record.totals.edges;
    r.exchanges = record.exchanges;
    return r;
  }
  /// Throws collective_error on every rank if a vertex can be reached, but its distance does not
  /// fit the type. Collective.
  template <class Distances>
  void require_in_range(state_type const& s, Distances const& distances) const {
    namespace d = detail::distributed;
    array<Weight> const all(reinterpret_cast<Weight*>(s.distance), s.all_vertices);
    m_ranks->all_gather(distances, all, m_graph.counts());
    d::run_collectively(*m_ranks, [&] { detail::sssp::require_in_range(m_ranks->exec(), s); });
  }

  communicator<ExecSpace> const* m_ranks;
  Graph m_graph;
  std::optional<karpos::sssp_workspace<ExecSpace, alone_graph, Weight>> m_alone;  // on one rank
  std::optional<local_workspace> m_local;                                         // on several
  double m_delta = 1;
  std::uint64_t m_teams = 1;  // of all ranks
  array<std::byte> m_memory;
  mutable array<vertex_type> m_parents;  // of all vertices, for those that this rank has found
  mutable detail::distributed::exchange_memory<ExecSpace> m_exchange;
};

template <class ExecSpace, class Graph, class Weights>
sssp_workspace(communicator<ExecSpace> const&, Graph const&, Weights const&)
    -> sssp_workspace<ExecSpace, Graph, typename Weights::non_const_value_type>;

/// Writes the distances of this rank's vertices from `source`: one vertex, the same on every rank,
/// or a view on every rank, which may be empty; paths start from the vertices of all views.
/// Distances are those of karpos::sssp. If `parents` has elements, also writes parents, as vertices
/// of the whole graph: as in karpos::sssp, without cycles. Collective.
///
/// Options: delta, fusion_hops, driver. On several ranks nothing is pulled: a reach other than 0
/// and infinity is refused, and so is launch_mode::persistent_kernel. delta must be the same on all
/// ranks; fusion_hops and driver are not compared.
///
/// Returns: what was done. Blocks.
/// Complexity: on one rank, as karpos::sssp. On several, as karpos::sssp without a reach, divided
///   by the ranks; for each bucket one exchange, and one more for each time that ranks have lowered
///   distances for each other. An exchange is a message of 72 bytes to every rank, and one of a row
///   for each vertex whose distance was lowered for its owner.
/// Requires: the graph, the weights and the results are not written meanwhile.
/// Concurrency: one call of a workspace at a time.
/// Memory: none beyond the workspace.
/// Throws: collective_error on every rank, in these cases (the last two leave results unspecified,
///   the others leave them unchanged):
///   - for sources: if one is out of range; if a view of them is strided; if ranks pass different
///     vertices as `source`; if only some ranks pass a view;
///   - for results: if distances or parents do not have one element for each vertex of the rank,
///     are strided, or overlap each other, the sources, the weights or the graph; if only some of
///     the ranks that have vertices pass parents;
///   - for options: if delta differs between ranks, or is refused as in karpos::sssp; if the reach
///     or the driver is refused (see Options, and karpos::sssp);
///   - if there is not enough memory for the views of sources of all ranks, for parents, or for the
///     rows that ranks exchange;
///   - if a distance does not fit the type, as in karpos::sssp;
///   - if the search was stopped, as in karpos::sssp.
/// Source: as karpos::sssp; Chakaravarthy, Checconi, Murali, Petrini, Sabharwal, "Scalable single
///   source shortest path algorithms for massively parallel systems", IEEE TPDS 28, 2017, for
///   delta-stepping over ranks by blocks of vertices.
template <
    execution_space ExecSpace, class Graph, class Weight, class Source, view_1d Distances,
    view_1d Parents = Kokkos::View<typename Graph::vertex_type*, typename Graph::memory_space>>
sssp_report sssp(sssp_workspace<ExecSpace, Graph, Weight> const& workspace, Source const& source,
                 Distances const& distances, Parents const& parents = {},
                 sssp_options const& options = {}) {
  static_assert(std::is_same_v<typename Distances::value_type, Weight>,
                "karpos: distances of sssp come in a view of the type of the weights");
  Kokkos::Profiling::ScopedRegion const region("karpos::distributed::sssp");
  detail::user_call const call("distributed::sssp");
  return workspace.search(source, distances, parents, options);
}

/// Writes distances and parents as above, with a workspace for this call alone. Collective.
///
/// Throws: also what sssp_workspace throws.
template <execution_space ExecSpace, class VertexId, class EdgeOffset, class MemorySpace,
          view_1d Weights, class Source, view_1d Distances,
          view_1d Parents = Kokkos::View<VertexId*, MemorySpace>>
sssp_report sssp(communicator<ExecSpace> const& ranks,
                 csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph, Weights const& weights,
                 Source const& source, Distances const& distances, Parents const& parents = {},
                 sssp_options const& options = {}) {
  detail::user_call const call("distributed::sssp");
  return sssp(sssp_workspace(ranks, graph, weights), source, distances, parents, options);
}

}  // namespace karpos::distributed
