// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "karpos/bfs_options.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/graph/bfs/state.hpp"

// Prepares a graph: finds isolated vertices, hubs and short rows. Decides how levels are found.

namespace karpos::detail::bfs {

/// The options of a search that its loop needs, and the direction switch.
struct search_plan {
  bfs_direction direction;
  bool scanned_queue, unvisited_queue, hub_cache;
  double gamma, alpha, beta;
  std::uint64_t vertices, words;  // of the graph; of a status bitmap
  std::uint32_t hubs;             // of the graph
  std::uint64_t edges = 0;        // of the graph
  std::uint64_t reachable = 0;    // vertices of the graph that are not isolated
  // As bfs_options::local_search_hops, which is the source of the default.
  std::uint32_t local_search_hops = 64;
  // Several ranks: most vertices of a frontier that local searches start from. 0: none do.
  std::uint64_t local_search_vertices = 0;

  /// Chooses the direction of the level that p is about to expand, and whether that level only
  /// counts the vertices that it finds (frontier_output::count).
  KOKKOS_FUNCTION void choose(int probes_per_claim, progress& p) const {
    // A level that was only counted has no queue, so the next one is bottom-up at any cost.
    p.set_direction(
        chooses_bottom_up(p) &&
        (p.bottom_up || p.count_only || is_bottom_up_cheaper(probes_per_claim, p, p.all.edges)));
    p.count_only =
        chooses_count_only(p) && is_bottom_up_cheaper(probes_per_claim, p, p.next_edges());
  }
  /// Returns whether levels may be found several at a time, without a decision between them.
  KOKKOS_FUNCTION bool allows_local_search() const {
    return (direction == bfs_direction::automatic || direction == bfs_direction::top_down) &&
           !scanned_queue && !unvisited_queue && local_search_hops > 0;
  }

 private:
  /// Returns whether the direction switch asks for a bottom-up level.
  KOKKOS_FUNCTION bool chooses_bottom_up(progress const& p) const {
    switch (direction) {
      case bfs_direction::automatic:
        // A bottom-up level reads every word of the bitmap and one or two edges of every unvisited
        // vertex. The first top-down level after it costs a scan of the bitmap.
        if (p.count_only) return true;
        return p.bottom_up ? p.all.edges + words / 2 > p.unvisited
                           : p.all.edges > p.unvisited + words / 16;
      case bfs_direction::gamma:
        return p.bottom_up || static_cast<double>(p.all.hubs) > gamma * static_cast<double>(hubs);
      case bfs_direction::beamer:
        if (!p.bottom_up)
          return p.frontier_grows &&
                 static_cast<double>(p.all.edges) * alpha > static_cast<double>(p.edges_unexplored);
        return p.frontier_grows ||
               static_cast<double>(p.all.vertices) * beta > static_cast<double>(vertices);
      case bfs_direction::top_down:
        break;
    }
    return false;
  }
  /// Returns whether a bottom-up level pays off for a frontier with this number of edges; used by
  /// the automatic direction. Before an unvisited vertex meets the frontier, it probes about (all
  /// remaining edges) / (edges of the frontier) neighbours. probes_per_claim: see tuning.
  KOKKOS_FUNCTION bool is_bottom_up_cheaper(int probes_per_claim, progress const& p,
                                            std::uint64_t frontier_edges) const {
    if (direction != bfs_direction::automatic) return true;
    auto const from = static_cast<double>(frontier_edges);
    double const left = from + static_cast<double>(p.edges_unexplored);
    double const probes = Kokkos::min(static_cast<double>(p.unvisited) * left / (from + 1), left);
    return probes_per_claim * from > probes;
  }
  /// Returns whether this top-down level need only count its vertices: the mean degree of unvisited
  /// vertices predicts that the next level is bottom-up, which reads no queue.
  KOKKOS_FUNCTION bool chooses_count_only(progress const& p) const {
    return direction == bfs_direction::automatic && !scanned_queue && !unvisited_queue &&
           !p.bottom_up && p.all.edges > words / 16 && p.next_edges() > 2 * p.unvisited;
  }
};

/// Throws std::invalid_argument for options that are refused. needs_classes: whether a vertex has
/// too many edges for one thread.
inline void require_options(bfs_options const& o, bool needs_classes) {
  require_enumerators(o.direction, o.queue, o.driver);
  if (!o.degree_classes && needs_classes)
    reject("degree classes are off", "a vertex has 2^27 edges or more", "leave degree_classes on");
}

/// Returns the plan of a search with these options. reachable: vertices that are not isolated.
inline search_plan plan_of(bfs_options const& o, bool has_transpose, std::uint64_t vertices,
                           std::uint64_t edges, std::uint64_t reachable, std::uint32_t hubs) {
  return {.direction = has_transpose ? o.direction : bfs_direction::top_down,
          .scanned_queue = o.queue == bfs_queue::scanned,
          .unvisited_queue = o.unvisited_queue,
          .hub_cache = o.hub_cache && hubs > 0,
          .gamma = o.gamma,
          .alpha = o.alpha,
          .beta = o.beta,
          .vertices = vertices,
          .words = (vertices + 31) / 32,
          .hubs = hubs,
          .edges = edges,
          .reachable = reachable,
          .local_search_hops = o.local_search_hops};
}

/// Returns word w of the status bitmap that every search starts from. Isolated vertices, and bits
/// beyond the last vertex, count as visited.
template <class Rows>
struct find_isolated {
  Rows out, in;
  bool has_in;
  std::uint64_t vertices;

  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t w) const {
    std::uint32_t bits = 0;
    for (std::uint64_t i = 0; i < 32; ++i) {
      std::uint64_t const v = w * 32 + i;
      // Without a transpose the in-degree of v is unknown, so v is not called isolated.
      bool const alone = v >= vertices || (has_in && out.degree(v) == 0 && in.degree(v) == 0);
      bits |= static_cast<std::uint32_t>(alone) << i;
    }
    return bits;
  }
};

/// Returns a row of at most padded_row::size edges in 16 bytes; marks a longer row.
template <class Rows>
struct pad_row {
  Rows out;

  KOKKOS_FUNCTION padded_row operator()(std::uint64_t v) const {
    padded_row r = padded_row::empty();
    auto const begin = out.begin(v), degree = out.end(v) - begin;
    if (degree > padded_row::size)
      r.neighbour[0] = padded_row::longer;
    else
      for (int i = 0; i < padded_row::size; ++i)
        if (static_cast<std::uint64_t>(i) < degree)
          r.neighbour[i] =
              static_cast<local_vertex>(out.column[begin + static_cast<typename Rows::edge>(i)]);
    return r;
  }
};

/// Returns the row of all vertices within two hops, by the padded rows of an undirected graph.
struct make_two_hop_row {
  padded_row const* padded;

  KOKKOS_FUNCTION two_hop_row operator()(std::uint64_t v) const {
    two_hop_row r;
    for (padded_row& part : r.part) part = padded_row::empty();
    padded_row const mine = padded[v];
    bool fits = !mine.is_long();
    for (int i = 0; fits && i < two_hop_row::parts; ++i) {
      local_vertex const w = mine.neighbour[i];
      if (w == padded_row::none || w == v) continue;
      padded_row const next = padded[w];
      r.part[i].neighbour[0] = w;
      fits = !next.is_long() && add(next, static_cast<local_vertex>(v), mine, r, i);
    }
    if (!fits) {
      for (padded_row& part : r.part) part = padded_row::empty();
      r.part[0].neighbour[0] = padded_row::longer;
    }
    return r;
  }

 private:
  /// Adds the neighbours in `row` to a part, except v, v's neighbours and vertices that are in a
  /// part already. Returns: whether they fit.
  KOKKOS_FUNCTION static bool add(padded_row const& row, local_vertex v, padded_row const& mine,
                                  two_hop_row& r, int part) {
    int at = 1;
    for (local_vertex const x : row.neighbour) {
      if (x == padded_row::none || x == v || is_in(mine, x)) continue;
      bool known = false;
      for (int i = 0; i <= part; ++i) known = known || is_in(r.part[i], x);
      if (known) continue;
      if (at == padded_row::size) return false;
      r.part[part].neighbour[at++] = x;
    }
    return true;
  }
  KOKKOS_FUNCTION static bool is_in(padded_row const& row, local_vertex x) {
    bool found = false;
    for (local_vertex const y : row.neighbour) found = found || y == x;
    return found;
  }
};

/// Lists the hub vertices, in no particular order.
template <class Rows>
struct list_hubs {
  Rows out;
  std::uint64_t hub_degree;
  local_vertex* hubs;
  std::uint32_t* count;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (out.degree(v) > hub_degree)
      hubs[Kokkos::atomic_fetch_add(count, 1u)] = static_cast<local_vertex>(v);
  }
};

}  // namespace karpos::detail::bfs
