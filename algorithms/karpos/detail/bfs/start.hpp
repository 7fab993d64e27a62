// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/bfs/progress.hpp"
#include "karpos/detail/bfs/queue.hpp"
#include "karpos/device/team.hpp"

// The first two steps of a search: nothing is visited, then the sources are.

namespace karpos::detail::bfs {

/// Where a search starts: a list in memory, or one vertex.
struct source_list {
  void const* list = nullptr;  // of vertex ids
  std::uint64_t count = 1;
  std::uint64_t single = 0;
};

/// Counts sources that are no vertices.
template <class Sources>
struct count_strangers {
  Sources sources;
  std::uint64_t vertices;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& bad) const {
    if (static_cast<std::uint64_t>(sources(i)) >= vertices) ++bad;
  }
};

template <class StateHandle>
struct reset {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::bfs::reset";
  static constexpr int width = State::width;
  using vertex = typename State::vertex;

  StateHandle s;

  std::uint64_t work() const { return s->vertices; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for (int l = 0; l < 3; ++l) s->clear_counters(team, l);
    auto const t = team.template this_tile<width>();
    constexpr std::uint64_t at_once = 8 * width;  // stores of a lane that overlap
    team.template for_each_tile<width>((s->vertices + at_once - 1) / at_once, [&](std::uint64_t i) {
      t.each([&](int lane) {
        for (std::uint64_t v = i * at_once + static_cast<std::uint64_t>(lane), k = 0; k < 8;
             ++k, v += width)
          if (v < s->vertices) s->distance[v] = -1;
        return 0;
      });
    });
    if (s->parent != nullptr)
      team.template for_each_tile<width>((s->vertices + width - 1) / width, [&](std::uint64_t i) {
        t.each([&](int lane) {
          std::uint64_t const v = i * width + static_cast<std::uint64_t>(lane);
          if (v < s->vertices) s->parent[v] = static_cast<vertex>(-1);
          return 0;
        });
      });
    team.template for_each_tile<width>((s->words + width - 1) / width, [&](std::uint64_t i) {
      t.each([&](int lane) {
        std::uint64_t const w = i * width + static_cast<std::uint64_t>(lane);
        if (w < s->words) {
          s->visited[0][w] = s->isolated[w];
          s->visited[1][w] = 0;
        }
        return 0;
      });
    });
  }
};

template <class StateHandle, class ProgressHandle>
struct seed {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::bfs::seed";
  static constexpr int width = State::width;
  static constexpr std::size_t tile_bytes = queue_bin<State>::bytes;
  using tile = typename State::tile;

  StateHandle s;
  ProgressHandle p;
  source_list sources;

  std::uint64_t work() const { return sources.count; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    tile const t = team.template this_tile<width>();
    queue_bin<State> found(team.template tile_scratch<width>(0, tile_bytes),
                           queue_end<State>(t, *s, p->tail, &s->counters(0)));
    team.template for_each_tile<width>((sources.count + width - 1) / width, [&](std::uint64_t i) {
      auto const first = i * width;
      auto const won = t.each([&](int lane) -> std::uint32_t {
        std::uint64_t const mine = first + static_cast<std::uint64_t>(lane);
        return mine < sources.count && claim(vertex(mine)) ? 1 : 0;
      });
      found.take(t, won,
                 [&](int lane, int) { return vertex(first + static_cast<std::uint64_t>(lane)); });
    });
    found.place(t);
  }

 private:
  KOKKOS_FUNCTION std::uint64_t vertex(std::uint64_t i) const {
    return sources.list == nullptr
               ? sources.single
               : static_cast<std::uint64_t>(
                     static_cast<typename State::vertex const*>(sources.list)[i]);
  }
  /// A source may come twice, and may be isolated, which counts as visited: the other bitmap decides.
  KOKKOS_FUNCTION bool claim(std::uint64_t v) const {
    if ((device::fetch_or(s->visited[1] + v / 32, bit_of(v)) & bit_of(v)) != 0) return false;
    device::set_bits(s->visited[0] + v / 32, bit_of(v));
    s->discover(v, v, 0);
    return true;
  }
};

}  // namespace karpos::detail::bfs
