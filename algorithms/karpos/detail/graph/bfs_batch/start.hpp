// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/graph/bfs_batch/state.hpp"
#include "karpos/device/atomics.hpp"

// The first two steps of a pass: `reset` clears the arrays, `seed` visits the sources.

namespace karpos::detail::bfs_batch {

/// Clears all arrays; only the planes when a deep search goes on.
template <class StateHandle>
struct reset {
  static constexpr char const* label = "karpos::bfs_batch::reset";
  static constexpr int width = StateHandle::state::width;

  StateHandle s;
  bool continues;

  std::uint64_t work() const { return s->vertices * planes; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for_each_index<width>(team, s->vertices * planes, [&](std::uint64_t i) { s->plane[i] = 0; });
    if (continues) return;
    for (int l = 0; l < 3; ++l) s->clear_totals(team, l);
    for_each_index<width>(team, s->vertices, [&](std::uint64_t v) {
      // A vertex without in-edges cannot be found.
      s->seen[v] = v < s->pull_rows ? 0 : ~word(0);
      s->front[0][v] = 0;
      s->front[1][v] = 0;
    });
    for_each_index<width>(team, s->words, [&](std::uint64_t w) {
      s->bits[0][w] = 0;
      s->bits[1][w] = 0;
    });
    for_each_index<width>(team, searches_at_once, [&](std::uint64_t i) {
      s->record->visited[i] = 0;
      s->record->distances[i] = 0;
    });
  }
};

/// Makes the sources the frontier.
template <class StateHandle, class ProgressHandle>
struct seed {
  static constexpr char const* label = "karpos::bfs_batch::seed";
  using State = typename StateHandle::state;
  static constexpr int width = State::width;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return searches_at_once; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    level_totals& to = s->totals_of(0);
    for_each_index<width>(team, static_cast<std::uint64_t>(s->searches),
                          [&](std::uint64_t i) { start(static_cast<int>(i), to); });
  }

 private:
  /// Starts a search at its source. Several searches may have one source.
  KOKKOS_FUNCTION void start(int search, level_totals& to) const {
    local_vertex const v = s->sources[search];
    word const bit = word(1) << search;
    device::set_bits(s->seen + v, bit);
    device::set_bits(s->front_of(p->current) + v, bit);
    device::set_bits(s->plane + std::uint64_t(v) * planes, bit);
    device::set_bits(&to.reached, bit);
    for (int other = 0; other < search; ++other)
      if (s->sources[other] == v) return;
    device::add(&to.edges, s->out.degree(v));
  }
};

}  // namespace karpos::detail::bfs_batch
