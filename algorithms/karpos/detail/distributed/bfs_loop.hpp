// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "karpos/bfs_options.hpp"
#include "karpos/detail/bfs/bottom_up.hpp"
#include "karpos/detail/bfs/level_loop.hpp"
#include "karpos/detail/bfs/scan.hpp"
#include "karpos/detail/bfs/top_down.hpp"
#include "karpos/detail/distributed/bfs_exchange.hpp"
#include "karpos/detail/distributed/bfs_state.hpp"
#include "karpos/distributed/communicator.hpp"

// The level loop over ranks. The steps are those of one device (detail/bfs), each rank looking after its own vertices:
//
//   top-down    expand_frontier      marks unvisited neighbours of this rank's frontier, whoever owns them
//               merge_all            all ranks know what all have marked
//               scan                 this rank's part of it: distances, frontier queue
//   bottom-up   bottom_up_bitmap     this rank's unvisited vertices look for a visited neighbour
//               merge_own            all ranks know what all have found
//   then        totals over ranks    the same on all, and so the direction of the next level, and the end
//
// `p` is the progress of this rank (its queue's segments), `g` that of all: every decision reads `g`.

namespace karpos::detail::distributed {

/// Starts a search: no distances, no parents, isolated vertices visited.
template <class VertexId>
struct reset_vertices {
  std::int32_t* distance;
  VertexId* parent;
  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    distance[v] = -1;
    if (parent != nullptr) parent[v] = static_cast<VertexId>(-1);
  }
};
struct reset_words {
  std::uint32_t const* isolated;
  std::uint32_t* visited;
  std::uint32_t* found;
  KOKKOS_FUNCTION void operator()(std::uint64_t w) const {
    visited[w] = isolated[w];
    found[w] = 0;
  }
};
struct reset_counters {
  bfs::level_counters* levels;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { levels[i] = bfs::level_counters{}; }
};
/// Makes every source one that was found, isolated ones, too. A source is its own parent.
template <class State>
struct find_sources {
  State s;
  typename State::vertex_id const* list;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const v = static_cast<std::uint64_t>(list[i]);
    std::uint32_t const bit = bfs::bit_of(v);
    device::set_bits(s.visited[1] + v / 32, bit);
    Kokkos::atomic_and(s.visited[0] + v / 32, ~bit);
    if (s.parent != nullptr && v / 32 - s.first_word() < s.own_words()) s.parent[v] = list[i];
  }
};

/// A level as a search over ranks reports it.
struct rank_search_record {
  bfs::search_summary summary;
  std::vector<bfs_level> level;
};

/// One search on one rank. `State`: rank_state.
template <class ExecSpace, class State>
class rank_search {
  using grid_type = device::launched_grid<ExecSpace>;
  using G = typename grid_type::template handle_of<State>;
  using P = typename grid_type::template handle_of<bfs::progress>;
  using communicator = karpos::distributed::communicator<ExecSpace>;

 public:
  /// non_isolated, edges: of the whole graph.
  rank_search(communicator const& ranks, grid_type const& grid, State const& state,
              bfs::search_plan const& plan, found_exchange<ExecSpace>& exchange,
              std::uint64_t non_isolated, std::uint64_t edges)
      : m_ranks(ranks),
        m_grid(grid),
        s(state),
        m_plan(plan),
        m_exchange(exchange) {
    p.begin(s);
    g.begin(s);
    g.unvisited = non_isolated;
    g.edges_unexplored = edges;
  }

  /// sources: `count` of them on this rank's device, of all ranks together.
  rank_search_record run(typename State::vertex_id const* sources, std::uint64_t count) {
    device::loop_over("karpos::bfs: reset counters", m_ranks.exec(), 3, reset_counters{s.levels});
    device::loop_over("karpos::bfs: sources", m_ranks.exec(), count,
                      find_sources<State>{s, sources});
    device::loop_over("karpos::bfs: others' vertices", m_ranks.exec(), s.words,
                      commit_others{words()});
    scan(bfs::scan_target::status_bits);
    decide();
    while (!g.done) {
      if (p.bottom_up)
        expand_bottom_up();
      else
        expand_top_down();
      decide();
    }
    m_record.summary = g.sum;
    return m_record;
  }

 private:
  status_words words() const {
    return {s.bitmap(p.current), s.bitmap(1 - p.current), s.words, s.first_word(), s.own_words()};
  }
  void expand_top_down() {
    if (p.frontier.unqueued > 0) {
      scan(bfs::scan_target::found_bottom_up);
      p.take_segment(m_grid.read(&s.counters(p.level)));
    }
    m_grid.run(bfs::expand_frontier<G, P>{{m_grid.handle(s), m_grid.handle(p)},
                                          bfs::frontier_output::status_bits},
               [] {});
    m_exchange.merge_all(words());
    scan(bfs::scan_target::status_bits);
  }
  void expand_bottom_up() {
    m_grid.run(bfs::bottom_up_bitmap<G, P>{m_grid.handle(s), m_grid.handle(p), false}, [] {});
    m_exchange.merge_own(words(), m_grid.read(&s.counters(p.level + 1)).unqueued);
    p.current = 1 - p.current;
  }
  void scan(bfs::scan_target target) {
    bfs::bitmap_scan<G, P> const pass{m_grid.handle(s), m_grid.handle(p), target};
    m_grid.run(bfs::scan_count<G, P>{pass}, [] {});
    m_grid.run(bfs::scan_compact<G, P>{pass}, [] {});
  }

  /// Makes the level that was found the frontier, and chooses how it is expanded: of totals over all ranks.
  void decide() {
    bfs::level_counters const mine = m_grid.read(&s.counters(p.level + 1));
    bfs::level_counters const all = sum_over_ranks(mine);
    if (g.bottom_up && is_recorded(g.level))
      m_record.level[static_cast<std::size_t>(g.level)].edges = all.edges_examined;
    p.advance(mine);
    g.advance(all);
    p.done = g.done;
    if (g.done) return;
    bool bottom_up = m_plan.chooses_bottom_up(g);
    constexpr int looks = State::tuned::looks_per_claim;
    if (looks > 0)
      bottom_up = bottom_up && (g.bottom_up || m_plan.pays_bottom_up(looks, g, g.frontier.edges));
    g.set_direction(bottom_up);
    p.set_direction(bottom_up);
    if (!bottom_up) g.sum.edges_top_down += all.edges;
    if (g.level < bfs::recorded_levels)
      m_record.level.push_back({all.vertices(), all.edges, all.hubs, bottom_up});
  }
  bool is_recorded(std::int32_t level) const {
    return level >= 0 && static_cast<std::size_t>(level) < m_record.level.size();
  }
  bfs::level_counters sum_over_ranks(bfs::level_counters const& mine) const {
    bfs::level_counters sum{};
    for (bfs::level_counters const& c : m_ranks.all_gather(mine)) {
      for (int i = 0; i < bfs::degree_classes; ++i) sum.in_class[i] += c.in_class[i];
      sum.unqueued += c.unqueued;
      sum.hubs += c.hubs;
      sum.edges += c.edges;
      sum.edges_examined += c.edges_examined;
    }
    return sum;
  }

  communicator const& m_ranks;
  grid_type m_grid;
  State s;
  bfs::search_plan m_plan;
  found_exchange<ExecSpace>& m_exchange;
  bfs::progress p, g;
  rank_search_record m_record;
};

}  // namespace karpos::detail::distributed
