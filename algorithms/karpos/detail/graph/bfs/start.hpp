// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/graph/frontier/queue.hpp"
#include "karpos/device/team.hpp"

// The first steps of a search: `reset` clears results and status bitmaps; `seed` visits sources. A
// single source is visited by `seed` alone, which resets all else meanwhile.

namespace karpos::detail::bfs {

/// Writes -1 to n distances, and 0 to that of vertex `source`, if it is below n.
template <int W, class Team>
KOKKOS_FUNCTION void reset_distances(Team& team, std::int32_t* distance, std::uint64_t n,
                                     std::uint64_t source) {
  constexpr std::uint64_t stores = 8;  // stores of a lane that overlap
  auto const t = team.template this_tile<W>();
  team.template for_each_tile<W>((n + stores * W - 1) / (stores * W), [&](std::uint64_t i) {
    t.each([&](int lane) {
      std::uint64_t v = i * stores * W + static_cast<std::uint64_t>(lane);
      for (std::uint64_t k = 0; k < stores; ++k, v += W)
        if (v < n) distance[v] = -1;
      // The lane that has written -1 here.
      if (source < n && source / (stores * W) == i && source % W == std::uint64_t(lane))
        distance[source] = 0;
    });
  });
}

template <class StateHandle>
struct reset {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::bfs::reset";
  static constexpr int width = State::width;
  using vertex_id = typename State::vertex_id;

  static constexpr std::uint64_t none = ~std::uint64_t(0);

  StateHandle s;
  std::uint64_t source = none;  // a vertex that is visited meanwhile

  std::uint64_t work() const { return s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for (int l = 0; l < 3; ++l) s->clear_counters(team, l);
    if (source != none && team.league_rank() == 0 && team.rank() == 0 &&
        s->is_own_word(source / 32))
      visit(static_cast<local_vertex>(source));
    if constexpr (State::tuned::has_team_local_search || State::over_ranks)
      if (team.league_rank() == 0 && team.rank() < 3)
        s->local_search_sums[team.rank()] = local_search_totals{};
    std::uint64_t const first = 32 * s->first_word();
    reset_distances<width>(team, s->distance + first, s->own_vertices(), source - first);
    if (s->parent != nullptr)
      for_each_index<width>(team, s->own_vertices(), [&](std::uint64_t i) {
        s->parent[first + i] = static_cast<vertex_id>(first + i == source ? source : none);
      });
    for_each_index<width>(team, s->words, [&](std::uint64_t w) {
      std::uint32_t const visited =
          w == source / 32 ? bit_of(static_cast<local_vertex>(source)) : 0;
      s->visited[0][w] = s->isolated[w] | visited;
      s->visited[1][w] = 0;
    });
  }

 private:
  /// Makes v the frontier. The threads that reset its distance, parent and status write those.
  KOKKOS_FUNCTION void visit(local_vertex v) const {
    std::uint64_t const degree = s->out.degree(v);
    int const c = s->class_of(v, degree);
    level_counters found{};
    found.in_class[c] = 1;
    found.hubs = degree > s->hub_degree ? 1 : 0;
    found.edges = degree;
    s->counters(0) = found;
    s->queue[s->class_begin[c]] = v;
    device::prefetch_far(s->out.column + s->out.begin(v));
    s->hooks.discovered(State::global(v), 0);
  }
};

template <class StateHandle, class ProgressHandle>
struct seed {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::bfs::seed";
  static constexpr int width = State::width;
  using tile = typename State::tile;

  StateHandle s;
  ProgressHandle p;
  source_list sources;

  std::uint64_t work() const { return sources.is_single() ? s->vertices : sources.count; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (sources.is_single()) {
      reset<StateHandle>{s, sources.single}(team);
      return;
    }
    tile const t = team.template this_tile<width>();
    frontier_bin<State> found(team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
                              frontier_writer<State>(t, *s, p->tail, &s->counters(0)));
    auto const source = [&](std::uint64_t i) { return sources.template at<State>(i); };
    push_chosen(
        team, t, sources.count, found, [&](std::uint64_t i) { return claim(source(i)); }, source);
    found.flush(t);
  }

 private:
  /// Claims a source for this thread. A source may occur twice, and isolated vertices count as
  /// visited in visited[0], so visited[1] decides which thread claims it. Over ranks, each rank
  /// marks the sources of all. Returns whether this device owns a source that it has claimed.
  KOKKOS_FUNCTION bool claim(local_vertex v) const {
    if ((device::fetch_or(s->visited[1] + v / 32, bit_of(v)) & bit_of(v)) != 0) return false;
    device::set_bits(s->visited[0] + v / 32, bit_of(v));
    return s->discover(v, v, 0);
  }
};

}  // namespace karpos::detail::bfs
