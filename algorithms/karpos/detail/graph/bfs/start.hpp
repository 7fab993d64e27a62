// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/contract.hpp"
#include "karpos/detail/graph/bfs/for_each_index.hpp"
#include "karpos/detail/graph/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// The first two steps of a search: `reset` clears distances, parents and status bitmaps; `seed`
// visits the sources.

namespace karpos::detail::bfs {

/// The sources of a search: a list in memory, or a single vertex.
struct source_list {
  void const* list = nullptr;  // of vertex ids
  std::uint64_t count = 1;
  std::uint64_t single = 0;

  /// The memory of the list, for require_apart.
  template <class VertexId>
  memory_range memory() const {
    auto const* const begin = static_cast<char const*>(list);
    return {begin, list == nullptr ? begin : begin + count * sizeof(VertexId)};
  }
  /// Returns source i as a local vertex.
  template <class State>
  KOKKOS_FUNCTION local_vertex at(std::uint64_t i) const {
    using vertex_id = typename State::vertex_id;
    return list == nullptr ? static_cast<local_vertex>(single)
                           : State::local(static_cast<vertex_id const*>(list)[i]);
  }
};

/// Counts the sources that are not vertices of the graph.
template <class Sources>
struct count_out_of_range {
  Sources sources;
  std::uint64_t vertices;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    if (static_cast<std::uint64_t>(sources(i)) >= vertices) ++count;
  }
};

/// Writes -1 to n distances.
template <int W, class Team>
KOKKOS_FUNCTION void reset_distances(Team& team, std::int32_t* distance, std::uint64_t n) {
  constexpr std::uint64_t stores = 8;  // stores of a lane that overlap
  auto const t = team.template this_tile<W>();
  team.template for_each_tile<W>((n + stores * W - 1) / (stores * W), [&](std::uint64_t i) {
    t.each([&](int lane) {
      std::uint64_t v = i * stores * W + static_cast<std::uint64_t>(lane);
      for (std::uint64_t k = 0; k < stores; ++k, v += W)
        if (v < n) distance[v] = -1;
      return 0;
    });
  });
}

template <class StateHandle>
struct reset {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::bfs::reset";
  static constexpr int width = State::width;
  using vertex_id = typename State::vertex_id;

  StateHandle s;

  std::uint64_t work() const { return s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for (int l = 0; l < 3; ++l) s->clear_counters(team, l);
    if constexpr (State::tuned::has_team_local_search)
      if (team.league_rank() == 0 && team.rank() < 3)
        s->local_search_sums[team.rank()] = local_search_totals{};
    reset_distances<width>(team, s->distance, s->vertices);
    if (s->parent != nullptr)
      for_each_index<width>(team, s->vertices,
                            [&](std::uint64_t v) { s->parent[v] = static_cast<vertex_id>(-1); });
    for_each_index<width>(team, s->words, [&](std::uint64_t w) {
      s->visited[0][w] = s->isolated[w];
      s->visited[1][w] = 0;
    });
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

  std::uint64_t work() const { return sources.count; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    tile const t = team.template this_tile<width>();
    frontier_bin<State> found(team.template tile_scratch<width>(0, frontier_bin<State>::bytes),
                              frontier_writer<State>(t, *s, p->tail, &s->counters(0)));
    team.template for_each_tile<width>((sources.count + width - 1) / width, [&](std::uint64_t i) {
      auto const first = i * width;
      auto const won = t.each([&](int lane) -> std::uint32_t {
        std::uint64_t const mine = first + static_cast<std::uint64_t>(lane);
        return mine < sources.count && claim(sources.template at<State>(mine)) ? 1 : 0;
      });
      found.push(t, won, [&](int lane, int) {
        return sources.template at<State>(first + static_cast<std::uint64_t>(lane));
      });
    });
    found.flush(t);
  }

 private:
  /// Claims a source for this thread. A source may occur twice, and isolated vertices count as
  /// visited in visited[0], so visited[1] decides which thread claims it.
  KOKKOS_FUNCTION bool claim(local_vertex v) const {
    if ((device::fetch_or(s->visited[1] + v / 32, bit_of(v)) & bit_of(v)) != 0) return false;
    device::set_bits(s->visited[0] + v / 32, bit_of(v));
    s->discover(v, v, 0);
    return true;
  }
};

}  // namespace karpos::detail::bfs
