// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/detail/graph/bfs/tuning.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/lane_mask.hpp"

// The memory of a search: what each array holds, which step writes it, and when.
//
// Terms (tile, team, lane, scratch, step): see frontier/frontier.hpp. A local search explores
// several levels between two grid barriers.
//
//   visited[2]      status bitmaps (the paper's status array), one bit for each vertex. A top-down
//                   level claims a vertex by fetch_or in visited[current]. A bottom-up level reads
//                   visited[current], writes visited[1 - current] and swaps the two at the end. A
//                   local search claims vertices by their distances, and sets bits in
//                   visited[current] once the distances are final. There is no bitmap of the
//                   frontier: a visited neighbour of an unvisited vertex is in the frontier, or the
//                   vertex would have been found one level earlier.
//   queue           frontier queue, n entries. A vertex enters it at most once in a search, so each
//                   level is a segment [head, tail) behind the segment of the level before. The
//                   queue has a region for each degree class, as long as the class. Of the levels
//                   that a local search finds, only the last enters the queue.
//   unvisited[2]    queues of unvisited vertices (bfs_options::unvisited_queue): a bottom-up level
//                   reads unvisited[current_unvisited], and writes the vertices without a parent to
//                   the other one. Searches without such queues keep the lists of local searches
//                   here.
//   slice_results   CPUs: results of each slice of a local search, for two local searches.
//   list_lengths, local_search_sums
//                   GPUs: lengths of the teams' lists; totals of a local search.
//   passed_levels   totals of the levels that a series of local searches has passed
//                   (deferred_commit.hpp).
//   levels[3]       counters; level l has levels[l % 3]. Level l + 1 is counted while level l is
//                   expanded; that step also clears the counters of level l + 2. A local search
//                   clears all three (on GPUs see explore_in_teams::clear), and counts its last
//                   level.
//
// Every team runs a step; a grid barrier ends it, and the level loop (run.hpp) decides from the
// totals how the next level is found.
// Tests: bfs_*, validate_bfs, bfs_on_threads, stepwise_searches.

namespace karpos::detail::bfs {

using namespace frontier;

inline constexpr std::int32_t recorded_levels = 1024;

struct level_record {
  std::uint64_t vertices, edges;
  std::uint32_t hubs, bottom_up;
  /// Value of bottom_up: each rank has a record of its own vertices (search_state::records). It
  /// belongs to a top-down level that local searches over ranks have found.
  static constexpr std::uint32_t by_rank = 2;
};
struct search_summary {
  std::uint64_t visited, edges_top_down, edges_bottom_up, hub_hits;
  std::int32_t levels, first_bottom_up, first_top_down_again;  // first_…: -1 for never
  /// 1: the search was stopped, because it found more vertices or levels than the graph has.
  std::int32_t failed;
};
/// Totals of the levels that local searches have passed, without the last level.
struct passed_totals {
  std::uint64_t vertices, edges;
  std::uint32_t deepest, unused;  // deepest: the largest distance
};
/// The source of bfs_report. The level loop writes it, the host reads it.
struct search_record {
  search_summary summary;
  level_record level[recorded_levels];
  passed_totals passed;
};
/// Makes the report of a search. hub_degree stays 0.
inline bfs_report report_of(search_record const& record, std::uint32_t hubs,
                            bool bottom_up_available) {
  auto const& sum = record.summary;
  bfs_report r{.levels = sum.levels,
               .visited = sum.visited,
               .edges_top_down = sum.edges_top_down,
               .edges_bottom_up = sum.edges_bottom_up,
               .first_bottom_up = sum.first_bottom_up,
               .first_top_down_again = sum.first_top_down_again,
               .hub_cache_hits = sum.hub_hits,
               .hubs = hubs,
               .bottom_up_available = bottom_up_available,
               .level = {}};
  for (std::int32_t l = 0; l < r.levels && l < recorded_levels; ++l) {
    auto const& from = record.level[l];
    r.level.push_back({from.vertices, from.edges, from.hubs, from.bottom_up != 0});
  }
  return r;
}

/// State of local searches by teams (team_local_search.hpp); CPUs use `start_level` only. During
/// local searches, progress::level is the level that the next one starts from.
struct local_search_progress {
  std::uint64_t entries;  // of the frontier
  std::uint32_t hops, successes, number;
  std::int32_t start_level;  // level that the first local search started from
  std::int32_t stable;       // number of small frontiers in a row; negative: levels to wait
  int input;                 // which lists the next local search starts from
  bool from_queue;           // it starts from the frontier queue instead
  bool exploring, failed;
};

/// Levels that local searches may count beyond the last level that has vertices: the hops left of
/// one local search, and those of the next, whose vertices all have lower distances.
inline constexpr std::uint64_t max_empty_levels = 256;

/// Totals of a level over all ranks, from which they decide alike; on one device, of the frontier.
struct level_totals {
  std::uint64_t vertices, edges;
  std::uint32_t hubs;
};

/// State that the level loop keeps from level to level: one copy on the host, or one in the scratch
/// of each team of a cooperative kernel, all equal because they are computed from the same totals.
struct progress {
  level_counters frontier;  // totals of the level that is expanded; over ranks, of this rank
  level_totals all;         // of that level
  // The frontier's segment in each region of the queue. The next level is appended at its tail.
  std::uint32_t head[degree_classes];
  std::uint32_t tail[degree_classes];
  std::int32_t level;     // distance of the frontier
  int current;            // visited[current] is the status bitmap
  int current_unvisited;  // index of the queue of unvisited vertices
  bool has_unvisited_queue, bottom_up, frontier_grows, done;
  bool count_only;      // top-down level that fills no queue: the next level is bottom-up
  bool small_frontier;  // few vertices, all of low degree
  bool lists_claims;    // several ranks: they exchange lists of the vertices claimed, not bitmaps
  std::uint64_t unvisited, edges_unexplored;
  search_summary sum;
  local_search_progress local_search;

  /// reachable, edges: vertices that a search can reach, and edges, of the graph.
  KOKKOS_FUNCTION void begin(std::uint64_t reachable, std::uint64_t edges) {
    *this = progress{};
    level = -1;
    unvisited = reachable;
    edges_unexplored = edges;
    sum.first_bottom_up = sum.first_top_down_again = -1;
  }
  /// Returns: whether a graph of n vertices can have as many vertices and levels as were found.
  /// Every level has a vertex, so an endless loop exceeds these bounds.
  KOKKOS_FUNCTION bool is_possible(std::uint64_t n) const {
    return sum.visited <= n && static_cast<std::uint64_t>(level + 1) <= n + max_empty_levels;
  }
  /// Makes the level that has just been found the frontier. own: its totals on this rank; next: on
  /// all ranks. On one device both are the same.
  KOKKOS_FUNCTION void advance(level_counters const& own, level_counters const& next) {
    std::uint64_t const n = next.vertices();
    frontier_grows = n > all.vertices;
    all = {n, next.edges, next.hubs};
    ++level;
    sum.hub_hits += next.hub_hits;
    sum.edges_bottom_up += next.edges_examined;
    sum.visited += n;
    sum.levels = level;
    unvisited -= Kokkos::min(n, unvisited);
    edges_unexplored -= Kokkos::min(next.edges, edges_unexplored);
    done = n == 0;
    advance_segment(own);
  }
  /// Makes the entries behind the frontier's segment of the queue the new segment.
  KOKKOS_FUNCTION void advance_segment(level_counters const& next) {
    frontier = next;
    for (int c = 0; c < degree_classes; ++c) {
      head[c] = tail[c];
      tail[c] += next.in_class[c];
    }
  }
  /// Estimates the next level's edges, as if each frontier edge found a vertex of mean degree.
  KOKKOS_FUNCTION std::uint64_t next_edges() const {
    return all.edges * (edges_unexplored / (unvisited + 1));
  }
  KOKKOS_FUNCTION void set_direction(bool is_bottom_up) {
    if (is_bottom_up == bottom_up) return;
    bottom_up = is_bottom_up;
    has_unvisited_queue = false;
    if (bottom_up && sum.first_bottom_up < 0) sum.first_bottom_up = level;
    if (!bottom_up && sum.first_top_down_again < 0) sum.first_top_down_again = level;
  }
};

/// Result of one slice of a local search (local_search.hpp).
struct alignas(64) slice_result {                // Kokkos guarantees no larger alignment
  static constexpr std::uint32_t max_hops = 64;  // no less than bfs_options' default
  struct totals {
    std::uint64_t edges;
    std::uint32_t vertices, hubs;
  };
  std::uint32_t complete;           // hops that were explored completely
  std::uint32_t count;              // entries of the list
  std::uint32_t end[max_hops + 1];  // where the entries of each hop end; end[0] is 0
  totals hop_totals[max_hops + 1];  // of the vertices found; the last hop's are in level_counters
};
/// Memory of local searches by CPU threads: two results for each slice.
struct local_search_memory {
  slice_result* slice_results;
};
/// Totals of a local search by teams: entries of all lists, and teams whose queue overflowed. Over
/// ranks, also claims to vertices of other ranks, and a level: all vertices up to it have their
/// final distances (team_local_search.hpp).
struct local_search_totals {
  std::uint32_t entries = 0, overflows = 0, claims = 0, final_level = ~std::uint32_t(0);
};
/// A vertex of another rank, and a distance that it has at most. With parents, also its neighbour.
struct rank_claim {
  local_vertex vertex;
  std::uint32_t distance;
};
struct parent_claim {
  local_vertex vertex;
  std::uint32_t distance;
  local_vertex from;
};
/// The neighbours of a vertex, if it has at most four, side by side, so that one load reads them
/// all. A longer row holds the mark `longer`.
struct alignas(16) padded_row {
  static constexpr int size = 4;
  static constexpr local_vertex none = ~local_vertex(0), longer = none - 1;  // not vertices
  local_vertex neighbour[size];

  KOKKOS_FUNCTION static padded_row empty() { return {{none, none, none, none}}; }
  KOKKOS_FUNCTION bool is_long() const { return neighbour[0] == longer; }
};
/// The vertices within two hops of a vertex, in 64 bytes. Part i holds neighbour i, then those
/// neighbours of it that are neither the vertex, nor one of its neighbours, nor in an earlier part.
/// A row that does not fit holds the mark `padded_row::longer`.
struct alignas(64) two_hop_row {
  static constexpr int parts = padded_row::size;
  padded_row part[parts];
};
/// Memory of local searches by teams. list_lengths has two arrays of the lengths of the teams'
/// lists; local search i counts in local_search_sums[i % 3].
struct team_local_search_memory {
  std::uint32_t* list_lengths;
  local_search_totals* local_search_sums;
  padded_row const* padded;    // of all vertices, or null
  two_hop_row const* two_hop;  // of all vertices, or null; only with padded rows
};

/// Whether a search has no edge predicate.
template <class Hooks>
inline constexpr bool follows_all = false;
template <class Discovered>
inline constexpr bool follows_all<bfs_hooks<follow_all, Discovered>> = true;

/// Everything that the steps of a search share. Hooks: bfs_hooks.
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct search_state : frontier_queue,
                      std::conditional_t<tuning<ExecSpace>::has_local_search, local_search_memory,
                                         team_local_search_memory> {
  using execution_space = ExecSpace;
  using vertex_id = VertexId;
  static constexpr bool follows_every_edge = follows_all<Hooks>;
  /// A rank's state (detail/distributed/bfs_plan.hpp) sets it, and hides functions of this class.
  static constexpr bool over_ranks = false;
  using progress_type = progress;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::tile_width;
  using tile = device::tile_for<ExecSpace, width>;
  static_assert(width <= 32);
  using edge = typename rows<VertexId, EdgeOffset>::edge;
  static constexpr int neighbours_per_load =
      tuned::load_bytes < int(sizeof(VertexId)) ? 1 : tuned::load_bytes / int(sizeof(VertexId));

  std::uint32_t grid_teams;
  std::uint64_t vertices, words;  // words: of a bitmap
  std::uint64_t in_edges;         // of the in-rows; on a rank often not as many as out-edges
  bool in_aligned;                // in-rows are aligned for loads of 16 bytes
  rows<VertexId, EdgeOffset> out, in;
  Hooks hooks;
  std::int32_t* distance;
  VertexId* parent;  // null: no parents are asked for

  std::uint32_t* visited[2];
  std::uint32_t* isolated;  // bitmap that every search starts from
  local_vertex* unvisited[2];
  level_counters* levels;
  level_record* records;         // of the search
  passed_totals* passed_levels;  // see deferred_commit.hpp
  std::uint32_t* scan_counts;    // of a bitmap scan: degree_classes for each team

  local_vertex* hubs;
  std::uint32_t hub_count;

  KOKKOS_FUNCTION bool wants_parents() const { return parent != nullptr; }
  KOKKOS_FUNCTION bool is_own_word(std::uint64_t /*w*/) const { return true; }
  /// Return the words whose vertices this device owns, and the number of these vertices: all.
  KOKKOS_FUNCTION std::uint64_t first_word() const { return 0; }
  KOKKOS_FUNCTION std::uint64_t own_words() const { return words; }
  KOKKOS_FUNCTION std::uint64_t own_vertices() const { return vertices; }

  /// Receives every word that a bottom-up level writes. A rank's state sends it to other ranks.
  KOKKOS_FUNCTION void copy_to_peers(std::uint32_t* /*word*/, std::uint32_t /*bits*/) const {}

  KOKKOS_FUNCTION static local_vertex local(VertexId v) { return static_cast<local_vertex>(v); }
  KOKKOS_FUNCTION static VertexId global(local_vertex v) { return static_cast<VertexId>(v); }

  // By comparison: a run-time index would move the whole state of a GPU thread to local memory.
  KOKKOS_FUNCTION std::uint32_t* bitmap(int which) const {
    return which == 0 ? visited[0] : visited[1];
  }
  KOKKOS_FUNCTION local_vertex* unvisited_queue(int which) const {
    return which == 0 ? unvisited[0] : unvisited[1];
  }
  KOKKOS_FUNCTION level_counters& counters(std::int32_t level) const { return levels[level % 3]; }

  /// Clears the counters of a level. Each expanding step does so two levels ahead: no step reads
  /// these counters, of the level before the frontier, any more.
  template <class Team>
  KOKKOS_FUNCTION void clear_counters(Team const& team, std::int32_t level) const {
    if (team.league_rank() == 0 && team.rank() == 0) counters(level) = level_counters{};
  }

  /// Loads the neighbours at positions e … e + N - 1 of the in-rows; values beyond the last edge
  /// are unspecified. Requires: N divides e.
  template <int N>
  KARPOS_STEP_FUNCTION void load_neighbours(edge e, local_vertex (&u)[N]) const {
    if constexpr (N > 1) {
      if (in_aligned && e + N <= in_edges) {
        VertexId v[N];
        device::load_frozen(in.column + e, v);
        for (int i = 0; i < N; ++i) u[i] = local(v[i]);
        return;
      }
    }
    for (int i = 0; i < N; ++i)
      u[i] = e + static_cast<edge>(i) < in_edges ? local(in.column[e + static_cast<edge>(i)]) : 0;
  }

  /// Writes distance and parent of a vertex, which this thread has claimed, and calls the hook.
  /// Returns whether this device owns the vertex: only then it enters the frontier.
  KOKKOS_FUNCTION bool discover(local_vertex v, local_vertex from, std::int32_t level) const {
    distance[v] = level;
    if (parent != nullptr) parent[v] = global(from);
    hooks.discovered(global(v), level);
    return true;
  }
  /// Writes the parent only. Several threads may find v concurrently; the last one to write wins.
  KOKKOS_FUNCTION void propose_parent(local_vertex v, local_vertex from) const {
    if (parent != nullptr) store_parent(v, from);
  }
  /// Writes the parent of a vertex that this device owns; several threads may do so.
  KOKKOS_FUNCTION void store_parent(local_vertex v, local_vertex from) const {
    using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
    device::store_relaxed(reinterpret_cast<word*>(parent + v), static_cast<word>(global(from)));
  }
  KOKKOS_FUNCTION bool follows(local_vertex from, local_vertex to) const {
    return hooks.follow(global(from), global(to));
  }
};

}  // namespace karpos::detail::bfs
