// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/bfs_options.hpp"
#include "karpos/detail/bfs/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/lane_mask.hpp"

// The memory of a search: what each array holds, which step writes it, and when.
//
//   visited[2]    status bitmaps: the paper's status array, one bit for each vertex. Top-down levels claim a vertex by
//                 fetch_or in visited[current]. Bottom-up levels read visited[current], write visited[1 - current] and
//                 swap the two at the end. Windows of several levels set bits in visited[current] once labels, their claims,
//                 are final. There is no bitmap of the frontier: a visited neighbour of an unvisited
//                 vertex is in the frontier, or the vertex would have been found one level earlier.
//   queue         frontier queue, n entries. A vertex enters it at most once in a search, so each level is a segment
//                 [head, tail) behind that of the level before. It has a region for each degree class, as long as
//                 the class. Levels inside of a window do not enter it, but the last.
//   unvisited[2]  queues of unvisited vertices (bfs_options::unvisited_queue): a bottom-up level reads
//                 unvisited[current_unvisited] and writes those it did not find to the other one. Windows, which are not
//                 for searches with such queues, keep the lists of their slices, or of teams, here.
//   window_parts  CPUs: what is known of each slice of a window, for two windows (windows.hpp).
//   window_counts, window_sums
//                 GPUs: lengths of the lists of teams, totals of a window (block_windows.hpp).
//   window_passed totals of the levels that a run of windows has passed (window_labels.hpp).
//   levels[3]     counters, those of level l in levels[l % 3]. Level l + 1 is counted while level l is expanded; that
//                 step also clears the counters of level l + 2. A window clears all three, and counts its last level.

namespace karpos::detail::bfs {

/// A vertex by its number on this device: an index of bitmaps, distances and rows, an entry of queues. The graph's own
/// (global) number is State::vertex_id; State::local and State::global convert. On one device both have the same value.
using local_vertex = std::uint32_t;

KOKKOS_INLINE_FUNCTION std::uint32_t bit_of(std::uint64_t v) {
  return std::uint32_t(1) << (v % 32);
}

/// Degree classes: what expands a vertex (the paper's thread, warp, CTA and grid).
enum degree_class : int { by_thread, by_tile, by_team, by_grid, degree_classes };

/// Totals of one level over all teams, added up while the level is found.
struct level_counters {
  std::uint32_t in_class[degree_classes];  // vertices in the frontier queue
  std::uint32_t unqueued;                  // vertices found without entering the queue
  std::uint32_t hubs;                      // hub vertices among those in the queue
  std::uint32_t unvisited;                 // entries of the next queue of unvisited vertices
  std::uint32_t unused;
  std::uint64_t edges;           // of the level's vertices
  std::uint64_t edges_examined;  // to find them, bottom-up
  std::uint64_t hub_hits;        // neighbours found in the hub vertex cache

  KOKKOS_FUNCTION std::uint64_t queued() const {
    std::uint64_t n = 0;
    for (int c = 0; c < degree_classes; ++c) n += in_class[c];
    return n;
  }
  KOKKOS_FUNCTION std::uint64_t vertices() const { return queued() + unqueued; }
};

inline constexpr std::int32_t recorded_levels = 1024;

struct level_record {
  std::uint64_t vertices, edges;
  std::uint32_t hubs, bottom_up;
};
struct search_summary {
  std::uint64_t visited, edges_top_down, edges_bottom_up, hub_hits;
  std::int32_t levels, first_bottom_up, first_top_down_again;  // first_…: -1 for never
  std::int32_t failed;  // 1: the search was stopped, for it went on for longer than it could
};
/// Of the levels that windows have passed, before the last: their vertices and edges, and the largest distance.
struct passed_totals {
  std::uint64_t vertices, edges;
  std::uint32_t deepest, unused;
};
/// What bfs_report is made from. The level loop writes it, the host reads it.
struct search_record {
  search_summary summary;
  level_record level[recorded_levels];
  passed_totals passed;
};

/// Windows that teams explore (block_windows.hpp), and long runs of windows of CPUs (windows.hpp). While they do, progress::level is
/// where the next one starts.
struct team_windows {
  std::uint64_t entries;  // of the frontier
  std::uint32_t hops, good, number;
  std::int32_t entered;  // level of the first window
  std::int32_t calm;     // small frontiers in a row
  int input;             // the lists that the next window starts from, if not
  bool from_queue;       // from the frontier queue
  bool exploring, failed;
};

/// Levels that windows may count beyond the last level that has vertices: those of the rest of a
/// window, and those of a next one, which finds that all of its vertices have lower labels.
inline constexpr std::uint64_t levels_in_vain = 256;

/// What the level loop remembers from level to level: one copy on the host, or one in the shared memory of each team of
/// a cooperative kernel. All copies are equal, for all are computed from the same totals.
struct progress {
  level_counters frontier;  // totals of the level that is expanded
  // The frontier's segment in each region of the queue. The next level is appended at its tail.
  std::uint32_t head[degree_classes];
  std::uint32_t tail[degree_classes];
  std::int32_t level;     // distance of the frontier
  int current;            // visited[current] is the status bitmap
  int current_unvisited;  // index of the queue of unvisited vertices
  bool has_unvisited_queue, bottom_up, frontier_grows, done;
  bool count_only;      // a top-down level that queues nothing: the next level is bottom-up
  bool small_frontier;  // few vertices, all of low degree
  std::uint64_t unvisited, edges_unexplored;
  search_summary sum;
  team_windows window;

  template <class State>
  KOKKOS_FUNCTION void begin(State const& s) {
    *this = progress{};
    level = -1;
    unvisited = s.non_isolated;
    edges_unexplored = s.edges;
    sum.first_bottom_up = sum.first_top_down_again = -1;
  }
  /// Returns: whether a graph of n vertices has as many vertices and levels as were found. Every
  /// level has a vertex, so that a loop without end leaves these bounds.
  KOKKOS_FUNCTION bool is_possible(std::uint64_t n) const {
    return sum.visited <= n && static_cast<std::uint64_t>(level + 1) <= n + levels_in_vain;
  }
  /// Makes the level that has just been found, with these totals, the frontier.
  KOKKOS_FUNCTION void advance(level_counters const& next) {
    std::uint64_t const n = next.vertices();
    frontier_grows = n > frontier.vertices();
    ++level;
    sum.hub_hits += next.hub_hits;
    sum.edges_bottom_up += next.edges_examined;
    sum.visited += n;
    sum.levels = level;
    unvisited -= Kokkos::min(n, unvisited);
    edges_unexplored -= Kokkos::min(next.edges, edges_unexplored);
    done = n == 0;
    take_segment(next);
  }
  /// Makes what stands behind the frontier's segment of the queue the new segment.
  KOKKOS_FUNCTION void take_segment(level_counters const& next) {
    frontier = next;
    for (int c = 0; c < degree_classes; ++c) {
      head[c] = tail[c];
      tail[c] += next.in_class[c];
    }
  }
  /// Edges of the next level, found top-down: so many as if each edge led to a vertex of mean degree.
  KOKKOS_FUNCTION std::uint64_t next_edges() const {
    return frontier.edges * (edges_unexplored / (unvisited + 1));
  }
  KOKKOS_FUNCTION void set_direction(bool is_bottom_up) {
    if (is_bottom_up == bottom_up) return;
    bottom_up = is_bottom_up;
    has_unvisited_queue = false;
    if (bottom_up && sum.first_bottom_up < 0) sum.first_bottom_up = level;
    if (!bottom_up && sum.first_top_down_again < 0) sum.first_top_down_again = level;
  }
  /// Several ranks: takes over what was decided by the totals of all of them.
  KOKKOS_FUNCTION void follow(progress const& all) {
    done = all.done;
    set_direction(all.bottom_up);
    count_only = all.count_only;
  }
};

/// Rows of a graph or of its transpose, by local vertex; columns are vertex ids.
template <class VertexId, class EdgeOffset>
struct rows {
  EdgeOffset const* offset;
  VertexId const* column;

  /// Unsigned and as wide as the offsets: wider would cost GPU threads registers.
  using edge = std::conditional_t<sizeof(EdgeOffset) == 4, std::uint32_t, std::uint64_t>;
  KOKKOS_FUNCTION edge begin(std::uint64_t v) const { return static_cast<edge>(offset[v]); }
  KOKKOS_FUNCTION edge end(std::uint64_t v) const { return begin(v + 1); }
  KOKKOS_FUNCTION std::uint64_t degree(std::uint64_t v) const {
    return static_cast<std::uint64_t>(offset[v + 1] - offset[v]);
  }
};

/// What is known of a slice that was explored in a window of several levels (windows.hpp).
struct alignas(64) window_part {  // Kokkos aligns allocations to no more
  static constexpr std::uint32_t most_hops = 64;
  struct totals {
    std::uint64_t edges;
    std::uint32_t vertices, hubs;
  };
  std::uint32_t complete;            // hops that were explored to their end
  std::uint32_t count;               // entries of the list
  std::uint32_t end[most_hops + 1];  // of each hop's entries; end[0] is 0
  totals of_hop[most_hops +
                1];  // of the vertices found; those of the last hop stand in level_counters
};
/// Spaces whose threads explore windows: the teams that do, and two parts for each slice, as lists are.
struct window_memory {
  window_part* window_parts;
  int window_teams;
};
/// Of a window that teams explore: entries of all lists, and teams whose queue overflowed.
struct window_totals {
  std::uint32_t entries, overflows;
};
/// The first neighbours of a vertex side by side, so that one load has them; a row that is longer says so.
struct alignas(16) padded_row {
  static constexpr int size = 4;
  static constexpr local_vertex none = ~local_vertex(0), longer = none - 1;  // no vertices
  local_vertex neighbour[size];

  KOKKOS_FUNCTION static padded_row empty() { return {{none, none, none, none}}; }
  KOKKOS_FUNCTION bool is_long() const { return neighbour[0] == longer; }
};
/// The vertices within two hops of a vertex, in 64 bytes: neighbour i first in part i, then the neighbours of that one which are
/// neither the vertex, nor a neighbour of it, nor in another part. A row that does not fit says so.
struct alignas(64) two_hop_row {
  static constexpr int parts = padded_row::size;
  padded_row part[parts];
};
/// Spaces whose teams explore windows: lengths of the teams' lists, twice; totals by number of the window % 3.
struct team_window_memory {
  std::uint32_t* window_counts;
  window_totals* window_sums;
  padded_row const* padded;    // of all vertices, or null
  two_hop_row const* two_hop;  // of all vertices, or null; only with padded rows
  std::uint32_t window_teams;
};

/// Whether a search has no predicate of edges.
template <class Hooks>
inline constexpr bool follows_all = false;
template <class Discovered>
inline constexpr bool follows_all<bfs_hooks<follow_all, Discovered>> = true;

/// Everything that the steps of a search share. Hooks: bfs_hooks.
template <class ExecSpace, class VertexId, class EdgeOffset, class Hooks>
struct search_state
    : std::conditional_t<tuning<ExecSpace>::has_windows, window_memory, team_window_memory> {
  using execution_space = ExecSpace;
  using vertex_id = VertexId;
  static constexpr bool follows_every_edge = follows_all<Hooks>;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::tile_width;
  using tile = device::tile_for<ExecSpace, width>;
  static_assert(width <= 32);
  using edge = typename rows<VertexId, EdgeOffset>::edge;
  static constexpr int neighbours_per_load =
      tuned::load_bytes < int(sizeof(VertexId)) ? 1 : tuned::load_bytes / int(sizeof(VertexId));

  std::uint64_t vertices, words, edges;  // words: of a bitmap
  std::uint64_t non_isolated;            // vertices that a search can reach at all
  bool in_aligned;                       // whether in-rows may be loaded 16 bytes at once
  rows<VertexId, EdgeOffset> out, in;
  Hooks hooks;
  std::int32_t* distance;
  VertexId* parent;  // null: not asked for

  std::uint32_t* visited[2];
  std::uint32_t const* isolated;  // bitmap that every search starts from
  local_vertex* queue;
  local_vertex* unvisited[2];
  level_counters* levels;
  level_record* records;         // of the search
  passed_totals* window_passed;  // see window_labels.hpp
  std::uint32_t* scan_counts;    // of a bitmap scan: degree_classes for each team

  std::uint64_t class_limit[degree_classes - 1];  // degrees from which on the next class begins
  std::uint64_t class_begin[degree_classes];      // regions of the queue
  std::uint64_t hub_degree;                       // hub vertices have more edges than that
  local_vertex const* hubs;
  std::uint32_t hub_count;

  /// The words of the bitmaps whose vertices this device looks for: all. Of several devices each has its own (a state that
  /// hides these two).
  KOKKOS_FUNCTION std::uint64_t first_word() const { return 0; }
  KOKKOS_FUNCTION std::uint64_t own_words() const { return words; }

  /// Told every word of a status bitmap that a bottom-up level has written. Of several devices each tells the others.
  KOKKOS_FUNCTION void tell_others(std::uint32_t* /*word*/, std::uint32_t /*bits*/) const {}

  KOKKOS_FUNCTION static local_vertex local(VertexId v) { return static_cast<local_vertex>(v); }
  KOKKOS_FUNCTION static VertexId global(local_vertex v) { return static_cast<VertexId>(v); }

  KOKKOS_FUNCTION int class_of(std::uint64_t degree) const {
    int c = 0;
    for (int i = 0; i < degree_classes - 1; ++i) c += degree >= class_limit[i] ? 1 : 0;
    return c;
  }
  KOKKOS_FUNCTION int class_of(local_vertex, std::uint64_t degree) const {
    return class_of(degree);
  }
  // Chosen by comparison: a run-time index would move the whole state of a GPU thread to local memory.
  KOKKOS_FUNCTION std::uint32_t* bitmap(int which) const {
    return which == 0 ? visited[0] : visited[1];
  }
  KOKKOS_FUNCTION local_vertex* unvisited_queue(int which) const {
    return which == 0 ? unvisited[0] : unvisited[1];
  }
  KOKKOS_FUNCTION level_counters& counters(std::int32_t level) const { return levels[level % 3]; }

  /// Clears the counters of a level. Each expanding step does so two levels ahead: that slot holds the counters of the
  /// level before the frontier, which no step reads any more.
  template <class Team>
  KOKKOS_FUNCTION void clear_counters(Team const& team, std::int32_t level) const {
    if (team.league_rank() == 0 && team.rank() == 0) counters(level) = level_counters{};
  }

  /// Loads the neighbours at the places e … e + N - 1 of the in-rows; unspecified beyond the last edge.
  /// Requires: N divides e.
  template <int N>
  KARPOS_STEP_FUNCTION void load_neighbours(edge e, local_vertex (&u)[N]) const {
    if constexpr (N > 1) {
      if (in_aligned && e + N <= edges) {
        VertexId v[N];
        device::load_frozen(in.column + e, v);
        for (int i = 0; i < N; ++i) u[i] = local(v[i]);
        return;
      }
    }
    for (int i = 0; i < N; ++i)
      u[i] = e + static_cast<edge>(i) < edges ? local(in.column[e + static_cast<edge>(i)]) : 0;
  }

  /// Writes distance and parent of a vertex and calls the hook. Requires: one caller for each vertex, its claimer.
  KOKKOS_FUNCTION void discover(local_vertex v, local_vertex from, std::int32_t level) const {
    distance[v] = level;
    if (parent != nullptr) parent[v] = global(from);
    hooks.discovered(global(v), level);
  }
  /// Told every vertex that a scan has found among status bits. Of several devices each takes what was proposed to it.
  KOKKOS_FUNCTION void take_parent(local_vertex /*v*/) const {}
  /// Writes the parent alone, where several threads may find v at the same time: the last one to write stays.
  KOKKOS_FUNCTION void propose_parent(local_vertex v, local_vertex from) const {
    using word = std::conditional_t<sizeof(VertexId) == 4, std::uint32_t, std::uint64_t>;
    if (parent != nullptr)
      device::store_relaxed(reinterpret_cast<word*>(parent + v), static_cast<word>(global(from)));
  }
  KOKKOS_FUNCTION bool follows(local_vertex from, local_vertex to) const {
    return hooks.follow(global(from), global(to));
  }
};

}  // namespace karpos::detail::bfs
