// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/state.hpp"

// Where a search is, and when it turns.

namespace karpos {

/// Which way a search looks at the edges of a level.
enum class bfs_direction {
  automatic,  ///< bottom-up as long as the frontier has more edges than there are unvisited vertices
  top_down,   ///< never bottom-up
  gamma,  ///< bottom-up for good once the frontier holds more than `gamma` of all hubs (Enterprise)
  beamer  ///< bottom-up when the frontier's edges exceed those left / alpha, back below vertices / beta
};

}  // namespace karpos

namespace karpos::detail::bfs {

inline constexpr std::int32_t recorded_levels = 1024;

struct level_record {
  std::uint64_t vertices, edges;
  std::uint32_t hubs, up;
};
struct search_summary {
  std::uint64_t visited, edges_down, edges_up, hub_hits;
  std::int32_t levels, first_up, first_down;  // -1: never
  std::int32_t unused;
};
/// Where a search leaves its report.
struct search_record {
  search_summary summary;
  level_record level[recorded_levels];
};

/// What a search remembers from level to level. One copy for a program, or for each team of a cooperative kernel.
struct progress {
  level_counters frontier;
  std::uint32_t
      head[degree_classes];  // the frontier's segment of the queue, relative to the regions
  std::uint32_t tail[degree_classes];  // its end, where the next level begins
  std::int32_t level;
  int now;         // which bitmap is the visited one
  int candidates;  // which queue of unvisited vertices
  bool has_candidates, up, grew, done;
  bool blind;   // this level is top-down and leaves no queue: the next goes bottom-up
  bool narrow;  // few vertices, all of low degree
  std::uint64_t unvisited, edges_left;
  search_summary sum;

  template <class State>
  KOKKOS_FUNCTION void begin(State const& s) {
    *this = progress{};
    unvisited = s.reachable;
    edges_left = s.edges;
    sum.first_up = sum.first_down = -1;
  }
  /// Takes the counters of the level that has just been found.
  KOKKOS_FUNCTION void enter(level_counters const& next, std::int32_t which) {
    std::uint64_t const n = next.vertices();
    grew = n > frontier.vertices();
    level = which;
    sum.hub_hits += next.hub_hits;
    sum.edges_up += next.examined;
    sum.visited += n;
    sum.levels = level;
    unvisited -= n < unvisited ? n : unvisited;
    edges_left -= next.edges < edges_left ? next.edges : edges_left;
    done = n == 0;
    queue(next);
  }
  /// Takes the frontier's segment of the queue.
  KOKKOS_FUNCTION void queue(level_counters const& next) {
    frontier = next;
    for (int c = 0; c < degree_classes; ++c) {
      head[c] = tail[c];
      tail[c] += next.in_class[c];
    }
  }
  KOKKOS_FUNCTION void turn(bool to) {
    if (to == up) return;
    up = to;
    has_candidates = false;
    if (up && sum.first_up < 0) sum.first_up = level;
    if (!up && sum.first_down < 0) sum.first_down = level;
  }
};

/// The options of a search that its loop needs.
struct search_plan {
  bfs_direction direction;
  bool scanned_queue, unvisited_queue, hub_cache;
  double gamma, alpha, beta;
  std::uint64_t vertices, words;
  std::uint32_t hubs;

  KOKKOS_FUNCTION bool goes_up(progress const& p) const {
    switch (direction) {
      case bfs_direction::automatic:
        // A bottom-up level looks at every word of the bitmap and at an edge or two of every unvisited vertex. The
        // way back costs a scan of the bitmap.
        if (p.blind) return true;
        return p.up ? p.frontier.edges + words / 2 > p.unvisited
                    : p.frontier.edges > p.unvisited + words / 16;
      case bfs_direction::gamma:
        return p.up || static_cast<double>(p.frontier.hubs) > gamma * static_cast<double>(hubs);
      case bfs_direction::beamer:
        if (!p.up)
          return p.grew &&
                 static_cast<double>(p.frontier.edges) * alpha > static_cast<double>(p.edges_left);
        return p.grew ||
               static_cast<double>(p.frontier.vertices()) * beta > static_cast<double>(vertices);
      case bfs_direction::top_down:
        break;
    }
    return false;
  }
  /// Whether the next level will go up for sure, by the mean degree of unvisited vertices: then nobody needs a queue.
  KOKKOS_FUNCTION bool goes_blind(progress const& p) const {
    return direction == bfs_direction::automatic && !scanned_queue && !unvisited_queue && !p.up &&
           p.frontier.edges > words / 16 &&
           p.frontier.edges * (p.edges_left / (p.unvisited + 1)) > 2 * p.unvisited;
  }
};

}  // namespace karpos::detail::bfs
