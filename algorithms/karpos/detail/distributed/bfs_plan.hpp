// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/windows.hpp"
#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/distributed/communicator.hpp"

// A search over ranks before it runs: the arguments, which are checked and on which the ranks
// agree; the state on which the steps of detail/graph/bfs run; windows between devices.
//
// On every rank, status bitmaps have a bit for each vertex of the whole graph. All other arrays
// hold this rank's vertices only. Steps name vertices by their numbers in the whole graph. The
// rows, distances and parents of this rank begin at its first vertex, so the state's pointers are
// moved back by as many elements; only elements of its vertices are accessed.

namespace karpos::detail::distributed {

/// Arguments of a rank, which it sends to all other ranks in one message.
struct search_arguments {
  bfs_direction direction;
  launch_mode driver;
  double gamma, alpha, beta;
  std::uint64_t source;  // if it is one vertex
  std::uint32_t has_vertices, has_parents, can_span, failed, passes_view, unused;
};

/// Throws collective_error, on every rank, unless all ranks have passed equal values of what
/// decides about levels. Compares bits: equal NaNs agree.
template <class Ranks>
void require_same_arguments(Ranks const& ranks, std::vector<search_arguments> const& all) {
  auto const require = [&]<class T>(char const* what, T search_arguments::*member) {
    std::vector<std::uint64_t> bits;
    for (auto const& of_rank : all) bits.push_back(to_bits<std::uint64_t>(of_rank.*member));
    require_equal<T>(ranks, what, bits);
  };
  require("the direction of a search", &search_arguments::direction);
  require("the driver of a search", &search_arguments::driver);
  require("gamma of a search", &search_arguments::gamma);
  require("alpha of a search", &search_arguments::alpha);
  require("beta of a search", &search_arguments::beta);
  require("whether a search starts from a view of sources", &search_arguments::passes_view);
  require("the source", &search_arguments::source);
}

inline void require_options(bfs_options const& o, bool needs_classes) {
  if (!o.degree_classes && needs_classes)
    reject("bfs without degree classes", "a vertex has 2^27 edges or more",
           "leave degree_classes on");
  if (o.queue == bfs_queue::scanned || o.hub_cache || o.unvisited_queue)
    reject("an option of a search is not for several ranks",
           "a scanned queue, a hub cache or a queue of unvisited vertices", "leave it out");
}

/// Throws collective_error if any rank's sources are out of range. wrong: how many are.
template <class Ranks>
void require_vertices(Ranks const& ranks, std::uint64_t wrong, std::uint64_t vertices) {
  if (wrong > 0)
    throw_on_all(ranks, std::to_string(wrong) +
                            " of the sources of a search are no vertices (the graph has " +
                            std::to_string(vertices) + "): pass vertices below that");
}

/// The sources of all ranks, stored on each rank.
template <class VertexId, class MemorySpace>
struct all_sources {
  Kokkos::View<VertexId*, MemorySpace> views;  // used if they were passed in views
  frontier::source_list list;
};

/// Collects the sources: one vertex, which all ranks pass, or the views of all ranks. Collective.
template <class VertexId, class ExecSpace, class Source>
auto gather_sources(karpos::distributed::communicator<ExecSpace> const& ranks,
                    std::uint64_t vertices, Source const& source) {
  std::uint64_t wrong = 0;
  all_sources<VertexId, typename ExecSpace::memory_space> all;
  if constexpr (std::is_integral_v<Source>) {
    karpos::distributed::require_same(ranks, "the source", source);
    all.list = {nullptr, 1, static_cast<std::uint64_t>(source)};
    wrong = all.list.single >= vertices ? 1 : 0;
  } else {
    require_reachable<ExecSpace, Source>();
    static_assert(std::is_same_v<typename Source::non_const_value_type, VertexId>,
                  "karpos: sources come in a view of the graph's vertex type");
    auto const counts = ranks.all_gather(std::uint64_t(source.extent(0)));
    std::uint64_t const total = blocks(counts).total;
    all.views = run_collectively(ranks, [&] {
      require_contiguous("sources of a search", source);
      return distributed::allocate<VertexId>(ranks.exec(), "karpos::bfs: sources", total);
    });
    ranks.all_gather(source, all.views, counts);
    all.list = {all.views.data(), total, 0};
    wrong = frontier::sources_out_of_range("karpos::bfs: check sources", ranks.exec(), all.views,
                                           vertices);
  }
  require_vertices(ranks, wrong, vertices);
  return all;
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
  std::exception_ptr problem;
  try {
    check();
  } catch (...) {
    problem = std::current_exception();
  }
  search_arguments mine{o.direction, o.driver, o.gamma, o.alpha, o.beta, {},
                        {},          {},       {},      {},      {},     {}};
  mine.has_vertices = graph.local().vertices() > 0;
  mine.has_parents = has_parents;
  mine.can_span = can_span;
  mine.failed = problem != nullptr;
  mine.passes_view = !std::is_integral_v<Source>;
  if constexpr (std::is_integral_v<Source>) mine.source = static_cast<std::uint64_t>(source);
  auto const all = ranks.all_gather(mine);
  agreed_search<VertexId, typename ExecSpace::memory_space> agreed{{}, false, true};
  bool failed = false;
  for (search_arguments const& t : all) {
    failed = failed || t.failed != 0;
    agreed.with_parents = agreed.with_parents || t.has_parents != 0;
    agreed.in_one_kernel = agreed.in_one_kernel && t.can_span != 0;
  }
  if (failed)
    run_collectively(ranks, [&] {
      if (problem) std::rethrow_exception(problem);
    });
  require_same_arguments(ranks, all);
  for (search_arguments const& t : all)  // a rank without vertices has no parents to pass
    if (agreed.with_parents && t.has_vertices != 0 && t.has_parents == 0)
      throw_on_all(ranks,
                   "some ranks ask for parents, and others do not: pass views of them on all");
  if (o.driver == launch_mode::persistent_kernel && !agreed.in_one_kernel)
    throw_on_all(
        ranks,
        "launch_mode::persistent_kernel is not available to these ranks (their devices do not "
        "address each other): choose launch_mode::automatic");
  if constexpr (std::is_integral_v<Source>) {
    agreed.sources.list = {nullptr, 1, mine.source};
    require_vertices(ranks, mine.source < graph.vertices() ? 0 : 1, graph.vertices());
  } else {
    agreed.sources = gather_sources<VertexId>(ranks, graph.vertices(), source);
  }
  return agreed;
}

/// State that the loop over ranks keeps from level to level.
struct rank_progress : bfs::progress {
  std::uint32_t listed[device::most_peers];  // entries of the lists of the first ranks
  std::uint64_t all_listed;                  // of all ranks

  /// Reads the lengths of lists from the messages that ranks have sent.
  template <class Grid>
  KOKKOS_FUNCTION void count_lists(Grid const& grid) {
    all_listed = 0;
    for (int r = 0; r < grid.ranks(); ++r) {
      std::uint32_t const n = grid.template of_rank<frontier::level_counters>(r).listed;
      if (r < device::most_peers) listed[r] = n;
      all_listed += n;
    }
  }
};

/// Everything that the steps of a search share on a rank.
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct rank_state : bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks> {
  using base = bfs::search_state<ExecSpace, VertexId, EdgeOffset, Hooks>;
  using local_vertex = frontier::local_vertex;
  static constexpr bool over_ranks = true;
  using progress_type = rank_progress;

  std::uint64_t own_first_word, own_word_count;
  // For the status bitmaps and `claims`; none if ranks exchange between the steps.
  device::peer_distances peers;
  local_vertex* claims;          // vertices that this rank has claimed on a level, as a list
  local_vertex const* gathered;  // the lists of all ranks, if ranks exchange between the steps
  // Parents of other ranks' vertices, if parents are asked for. proposal: if ranks exchange between
  // the steps; those that this rank has found, for every vertex of the graph. parent_window: in one
  // kernel; those that other ranks have found, for this rank's vertices, in a window.
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
  /// Returns a word of the vertices that any rank has visited or claimed. Between launched steps,
  /// the exchange has merged the words of all ranks into the other bitmap.
  KOKKOS_FUNCTION std::uint32_t merged(int current, std::uint64_t w) const {
    if (peers.count == 0) return base::bitmap(1 - current)[w];
    std::uint32_t bits = 0;
    for (int r = 0; r < peers.count; ++r) bits |= *peers.of(r, base::bitmap(current) + w);
    return bits;
  }
  /// Runs f(list, n) for lists that together hold what all other ranks have claimed on a level.
  template <class F>
  KARPOS_STEP_FUNCTION void for_each_list(rank_progress const& p, F const& f) const {
    bool const in_windows = peers.count > 0;
    for (int r = 0; r < (in_windows ? peers.count : 1); ++r)
      if (!in_windows || r != peers.rank)
        KARPOS_INLINE_CALLS f(in_windows ? peers.of(r, claims) : gathered,
                              in_windows ? std::uint64_t(p.listed[r]) : p.all_listed);
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

}  // namespace karpos::detail::distributed
