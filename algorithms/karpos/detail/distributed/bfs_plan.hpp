// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/search_arguments.hpp"
#include "karpos/detail/distributed/windows.hpp"
#include "karpos/detail/graph/bfs/plan.hpp"
#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/bfs/team_local_search.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/device/program.hpp"
#include "karpos/distributed/communicator.hpp"

// A search over ranks before it runs: the arguments, which are checked and on which the ranks
// agree; the state on which the steps of detail/graph/bfs run; windows between devices.
//
// On every rank, status bitmaps have a bit for each vertex of the whole graph. All other arrays
// hold this rank's vertices only. Steps name vertices by their numbers in the whole graph. The
// rows, distances and parents of this rank begin at its first vertex, so the state's pointers are
// moved back by as many elements; only elements of its vertices are accessed.

namespace karpos::detail::distributed {

/// Arguments of a rank: besides those of every search, what decides about levels.
struct bfs_arguments : search_arguments {
  bfs_direction direction;
  launch_mode driver;
  double gamma, alpha, beta;
  std::uint32_t can_span, local_search_hops;
};

inline void require_options(bfs_options const& o, bool needs_classes) {
  bfs::require_options(o, needs_classes);
  if (o.queue == bfs_queue::scanned || o.hub_cache || o.unvisited_queue)
    reject("an option of a search is not for searches over ranks",
           "a scanned queue, a hub cache or a queue of unvisited vertices", "leave it out");
}

/// Facts about a search that all ranks know before it starts.
template <class VertexId, class MemorySpace>
struct agreed_search {
  all_sources<VertexId, MemorySpace> sources;
  bool with_parents, in_one_kernel;
};
/// Compares the ranks' arguments, in one message if they search from one vertex. check(): throws
/// what this rank must refuse. Throws: collective_error on every rank. Collective.
template <class VertexId, class ExecSpace, class Graph, class Source, class Check>
auto agree_on_search(karpos::distributed::communicator<ExecSpace> const& ranks, Graph const& graph,
                     bfs_options const& o, Source const& source, bool has_parents, bool can_span,
                     Check const& check) {
  auto mine = arguments_of<bfs_arguments>(graph, source, has_parents);
  mine.direction = o.direction;
  mine.driver = o.driver;
  mine.gamma = o.gamma;
  mine.alpha = o.alpha;
  mine.beta = o.beta;
  mine.can_span = can_span;
  mine.local_search_hops = o.local_search_hops;
  auto const all = gather_arguments(ranks, mine, check);
  require_same_member(ranks, all, "the direction of a search", &bfs_arguments::direction);
  require_same_member(ranks, all, "the driver of a search", &bfs_arguments::driver);
  require_same_member(ranks, all, "gamma of a search", &bfs_arguments::gamma);
  require_same_member(ranks, all, "alpha of a search", &bfs_arguments::alpha);
  require_same_member(ranks, all, "beta of a search", &bfs_arguments::beta);
  require_same_member(ranks, all, "local_search_hops of a search",
                      &bfs_arguments::local_search_hops);
  agreed_search<VertexId, typename ExecSpace::memory_space> agreed{
      {}, agree_on_parents(ranks, all), true};
  for (bfs_arguments const& t : all) agreed.in_one_kernel = agreed.in_one_kernel && t.can_span != 0;
  if (o.driver == launch_mode::persistent_kernel && !agreed.in_one_kernel)
    throw_on_all(
        ranks,
        "launch_mode::persistent_kernel is not available to these ranks (their devices do not "
        "address each other): choose launch_mode::automatic");
  agreed.sources = gather_sources<VertexId>(ranks, all, graph.vertices(), source);
  return agreed;
}

/// State that the loop over ranks keeps from level to level.
struct rank_progress : bfs::progress {
  std::uint32_t listed[device::most_peers];  // entries of the lists of the first ranks
  std::uint64_t all_listed;                  // of all ranks
  std::uint32_t deepest;                     // last level that local searches have passed

  /// Reads the lengths of lists from the messages that ranks have sent: length_of(message) entries.
  KARPOS_PROGRAM template <class Message, class Grid, class LengthOf>
  KOKKOS_FUNCTION void count_lists(Grid const& grid, LengthOf const& length_of) {
    all_listed = 0;
    for (int r = 0; r < grid.ranks(); ++r) {
      std::uint32_t const n = length_of(grid.template of_rank<Message>(r));
      if (r < device::most_peers) listed[r] = n;
      all_listed += n;
    }
  }
};

/// Adds memory of local searches by teams to the state of a space that lacks it on one device.
template <class ExecSpace>
struct rank_search_memory : bfs::team_local_search_memory {};
template <class ExecSpace>
  requires(bfs::tuning<ExecSpace>::has_team_local_search)
struct rank_search_memory<ExecSpace> {};

/// Everything that the steps of a search share on a rank.
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct rank_state : bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks>,
                    rank_search_memory<ExecSpace> {
  using base = bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks>;
  using local_vertex = frontier::local_vertex;
  static constexpr bool over_ranks = true;
  using progress_type = rank_progress;

  std::uint64_t own_first_word, own_word_count;
  // For the status bitmaps and `claims`; none if ranks exchange between the steps.
  device::peer_distances peers;
  // The claims of this rank, as many words as a bitmap has. On a level: a list of vertices. In
  // local searches: two lists of rank_claim in turn. After them: a list of parent_claim.
  local_vertex* claims;
  local_vertex const* gathered;  // the lists of all ranks, if ranks exchange between the steps
  // Parents of other ranks' vertices, if parents are asked for. proposal: if ranks exchange between
  // the steps; those that this rank has found, for every vertex of the graph. parent_window: in one
  // kernel; those that other ranks have found, for this rank's vertices, in a window.
  VertexId *proposal, *parent_window;
  device::peer_distances parent_peers;              // for that window
  std::uint64_t begin_of_rank[device::most_peers];  // first vertex of each rank

  KOKKOS_FUNCTION bool wants_parents() const {
    return proposal != nullptr || parent_window != nullptr;
  }
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
  /// Adds the bits that other ranks have set to `count` words of the bitmap, Step apart from w on.
  /// Between launched steps, the exchange has merged the words of all ranks into the other bitmap.
  template <int Step, int N>
  KOKKOS_FUNCTION void add_others(int current, std::uint64_t w, int count,
                                  std::uint32_t (&bits)[N]) const {
    bool const in_windows = peers.count > 0;
    std::uint32_t* const from = base::bitmap(in_windows ? current : 1 - current) + w;
    for (int r = 0; r < (in_windows ? peers.count : 1); ++r) {
      if (in_windows && r == peers.rank) continue;
      std::uint32_t const* const of_rank = in_windows ? peers.of(r, from) : from;
      for (int k = 0; k < N; ++k)  // all loads, for one wait
        if (k < count) bits[k] |= of_rank[k * Step];
    }
  }
  /// Runs f(list, n) for lists that together hold what all other ranks have claimed, in their list
  /// number `which`.
  template <class Entry, class F>
  KARPOS_STEP_FUNCTION void for_each_list(rank_progress const& p, int which, F const& f) const {
    bool const in_windows = peers.count > 0;
    for (int r = 0; r < (in_windows ? peers.count : 1); ++r)
      if (!in_windows || r != peers.rank)
        KARPOS_INLINE_CALLS f(reinterpret_cast<Entry const*>(
                                  in_windows ? peers.of(r, begin_of_list(which)) : gathered),
                              in_windows ? std::uint64_t(p.listed[r]) : p.all_listed);
  }
  /// Returns the most entries of a list of rank_claim, and where list 0 or 1 begins.
  KOKKOS_FUNCTION std::uint64_t claim_capacity() const { return base::words / 4; }
  KOKKOS_FUNCTION local_vertex* begin_of_list(int which) const {
    return claims + (which == 0 ? 0 : 2 * claim_capacity());
  }
  /// Returns the number of the list that a local search writes. The next one reads it.
  KOKKOS_FUNCTION int claim_list(bfs::progress const& p) const {
    return static_cast<int>(p.local_search.number % 2);
  }
  KOKKOS_FUNCTION void store_claim(bfs::progress const& p, std::uint32_t at,
                                   bfs::rank_claim const& c) const {
    if (at < claim_capacity())
      reinterpret_cast<bfs::rank_claim*>(begin_of_list(claim_list(p)))[at] = c;
  }
  /// Appends to the list of parents. Local searches require few enough edges between ranks.
  KOKKOS_FUNCTION void list_parent(bfs::progress const& p, bfs::parent_claim const& c) const {
    std::uint32_t const at =
        device::fetch_add(&this->local_search_sums[p.local_search.number % 3].claims, 1u);
    if (at < base::words / 3) reinterpret_cast<bfs::parent_claim*>(claims)[at] = c;
  }
  template <class Team>
  KOKKOS_FUNCTION void clear_next_local_search(Team const& team, bfs::progress const& p) const {
    if (team.league_rank() == 0 && team.rank() == 0)
      this->local_search_sums[(p.local_search.number + 1) % 3] = bfs::local_search_totals{};
  }
  /// Writes what is known of a vertex that this rank has claimed. Returns whether the rank owns it.
  KOKKOS_FUNCTION bool discover(local_vertex v, local_vertex from, std::int32_t level) const {
    if (is_own_word(v / 32)) return base::discover(v, from, level);
    propose_parent(v, from);
    return false;
  }
  /// Writes what is known of an own vertex that other ranks have claimed, and this rank has not.
  /// Reads one of the parents that they have proposed, if those are in a window.
  KOKKOS_FUNCTION void receive(local_vertex v, std::int32_t level) const {
    base::distance[v] = level;
    if (parent_window != nullptr) {
      auto* const from = reinterpret_cast<id_word*>(parent_window + (v - 32 * own_first_word));
      base::parent[v] = static_cast<VertexId>(device::load_relaxed(from));
    }
    base::hooks.discovered(base::global(v), level);
  }
  /// Stores a parent of another rank's vertex, which others may find concurrently.
  KOKKOS_FUNCTION void propose_parent(local_vertex v, local_vertex from) const {
    auto const found = static_cast<id_word>(base::global(from));
    if (proposal != nullptr) proposal[v] = static_cast<VertexId>(found);
    if (parent_window == nullptr) return;
    int owner = 0;
    for (int r = 1; r < parent_peers.count; ++r) owner = v >= begin_of_rank[r] ? r : owner;
    VertexId* const to = parent_peers.of(owner, parent_window) + (v - begin_of_rank[owner]);
    device::store_to_peer(reinterpret_cast<id_word*>(to), found);
  }

 private:
  using id_word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
};

/// Counts the edges to vertices that other ranks own. Returns their number so far.
template <class Columns>
struct count_edges_between_ranks {
  Columns column;
  std::uint64_t first, own;  // vertices of this rank

  KOKKOS_FUNCTION void operator()(std::uint64_t e, std::uint64_t& count) const {
    count += static_cast<std::uint64_t>(column(e)) - first < own ? 0 : 1;
  }
};

/// Returns the number of a rank's edges that lead to vertices of other ranks. first: its first
/// vertex.
template <class ExecSpace, class Rows>
std::uint64_t edges_to_other_ranks(ExecSpace const& exec, Rows const& rows, std::uint64_t first) {
  auto const column = rows.column_indices();
  std::uint64_t edges = 0;
  Kokkos::parallel_reduce(
      "karpos::bfs: edges between ranks", index_range(exec, column.extent(0)),
      count_edges_between_ranks<std::decay_t<decltype(column)>>{column, first, rows.vertices()},
      edges);
  return edges;
}

/// Returns the most vertices of a frontier that local searches start from, on all ranks the same. 0
/// if too many edges lead from rank to rank: few paths then stay on a rank, and the lists of claims
/// might not hold an entry for each of these edges. s: rank_state. Collective.
template <class Ranks, class State>
std::uint64_t most_local_search_vertices(Ranks const& ranks, State const& s,
                                         std::uint64_t edges_to_others) {
  using tuned = typename State::tuned;
  std::uint64_t most = ~std::uint64_t(0);
  if (s.own_vertices() > 0) {
    std::uint32_t const list = bfs::team_list_capacity(s, static_cast<int>(s.grid_teams));
    most = list < tuned::min_list_capacity
               ? 0
               : s.grid_teams * std::uint64_t(std::min(list, tuned::initial_team_vertices));
  }
  most = ranks.all_reduce(most, minimum{});
  return 4 * ranks.all_reduce(edges_to_others) <= s.words ? most : 0;
}

}  // namespace karpos::detail::distributed
