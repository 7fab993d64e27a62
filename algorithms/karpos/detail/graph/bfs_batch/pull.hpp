// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/graph/bfs_batch/state.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/team.hpp"

// A pull level: every vertex that some search has not found ORs the frontier words of its
// neighbours, and stops once it has all the bits that it can get. Rows are sorted by falling degree
// of the neighbour: the first neighbours have most bits, and their words are in the team's scratch.

namespace karpos::detail::bfs_batch {

template <class StateHandle, class ProgressHandle>
struct pull {
  static constexpr char const* label = "karpos::bfs_batch::pull";
  using State = typename StateHandle::state;
  using execution_space = typename State::execution_space;
  using tuned = typename State::tuned;
  using edge = typename State::edge;
  static constexpr bool on_gpu = tuned::on_gpu;
  /// Bytes at the front of the scratch for the bits that a team has collected for a row.
  static constexpr std::size_t row_bytes = 16;

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return s->vertices + s->edges; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->clear_totals(team, p->level + 2);
    level l{p->frontier.reached, s->front_of(p->current), s->front_of(1 - p->current),
            reinterpret_cast<word const*>(team.scratch() + row_bytes), p->level - p->base + 2};
    thread_totals sum;
    if constexpr (on_gpu) {
      fill_cache(team, l.front);
      pull_by_team(team, l, sum);
      pull_rows<tuned::large_lanes>(team, l, s->team_rows, s->large_rows, sum);
      pull_rows<tuned::medium_lanes>(team, l, s->large_rows, s->medium_rows, sum);
      pull_rows<tuned::small_lanes>(team, l, s->medium_rows, s->pull_rows, sum);
    } else {
      pull_parts(team, l, sum);
    }
    for_each_index<tuned::width>(team, s->vertices - s->pull_rows,
                                 [&](std::uint64_t i) { l.next[s->pull_rows + i] = 0; });
    add_totals<execution_space>(team, sum, s->totals_of(p->level + 1));
  }

 private:
  static constexpr int at_once = on_gpu ? 4 : tuned::neighbours_at_once;

  struct level {
    word active;  // searches that can still find something
    word const* front;
    word* next;
    word const* cached;
    std::int32_t value;

    KARPOS_STEP_FUNCTION word of(local_vertex u,
                                 [[maybe_unused]] std::uint32_t cached_count) const {
      if constexpr (on_gpu)
        return u < cached_count ? cached[u] : front[u];
      else
        return front[u];
    }
  };

  template <class Team>
  KOKKOS_FUNCTION void fill_cache(Team const& team, word const* front) const {
    auto* const cached = reinterpret_cast<word*>(team.scratch() + row_bytes);
    for (std::uint32_t i = device::rank(team); i < s->cached; i += device::size(team))
      cached[i] = front[i];
    team.barrier();
  }

  /// Returns the OR of the words of the neighbours at positions e … e + 3 of the in-rows that lie
  /// within [begin, end). Requires: e is a multiple of 4.
  KARPOS_STEP_FUNCTION word or_of_neighbours(level const& l, edge e, edge begin, edge end) const {
    if (e >= end) return 0;
    local_vertex u[4];
    if (e + 4 <= s->edges)
      device::load_frozen(s->in.column + e, u);
    else
      for (unsigned i = 0; i < 4; ++i) u[i] = e + i < end ? s->in.column[e + i] : 0;
    word found = 0;
    for (unsigned i = 0; i < 4; ++i)
      if (e + i >= begin && e + i < end) found |= l.of(u[i], s->cached);
    return found;
  }

  /// Pulls for the vertices first … last - 1, by W lanes each.
  template <int W, class Team>
  KARPOS_STEP_FUNCTION void pull_rows(Team& team, level const& l, std::uint64_t first,
                                      std::uint64_t last, thread_totals& sum) const {
    auto const t = team.template this_tile<W>();
    team.template for_each_tile<W>(last - first, [&](std::uint64_t i) {
      auto const v = static_cast<local_vertex>(first + i);
      word const seen = s->seen[v], need = l.active & ~seen;
      auto bits = t.each([](int) -> word { return 0; });
      edge const begin = s->in.begin(v), end = need == 0 ? begin : s->in.end(v);
      for (edge e = begin / 4 * 4; e < end; e += 4 * W) {
        bits = or_of_lanes(t, t.each([&](int lane) -> word {
          return bits[lane] | or_of_neighbours(l, e + 4 * static_cast<edge>(lane), begin, end);
        }));
        if ((t.get(bits, 0) & need) == need) break;
      }
      word const x = t.get(bits, 0) & need;
      t.each([&](int lane) { record_found<W>(l, lane, v, seen, x, sum); });
    });
  }

  /// Pulls for the vertices whose rows are long enough for a team each.
  template <class Team>
  KOKKOS_FUNCTION void pull_by_team(Team& team, level const& l, thread_totals& sum) const {
    auto* const half = reinterpret_cast<std::uint32_t*>(team.scratch());
    auto const t = team.template this_tile<tuned::width>();
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    for (auto i = static_cast<std::uint64_t>(team.league_rank()); i < s->team_rows; i += teams) {
      auto const v = static_cast<local_vertex>(i);
      word const seen = s->seen[v], need = l.active & ~seen;
      if (team.rank() < 2) half[team.rank()] = 0;
      team.barrier();
      edge const begin = s->in.begin(v), end = need == 0 ? begin : s->in.end(v);
      auto const round = 4 * static_cast<edge>(team.size());
      word x = 0;
      for (edge e = begin / 4 * 4; e < end && x != need; e += round) {
        word const mine = or_of_neighbours(l, e + 4 * static_cast<edge>(team.rank()), begin, end);
        auto const all = or_of_lanes(t, t.each([&](int) -> word { return mine; }));
        t.on(lane_mask<tuned::width>::of(0), [&](int lane) {
          device::set_bits(device::scratch(half), static_cast<std::uint32_t>(all[lane]));
          device::set_bits(device::scratch(half + 1), static_cast<std::uint32_t>(all[lane] >> 32));
        });
        team.barrier();
        x = need & (word(half[1]) << 32 | half[0]);
        team.barrier();
      }
      if (team.rank() == 0) record_found<1>(l, 0, v, seen, x, sum);
    }
  }

  /// CPUs: pulls by parts of equal cost in rows and edges, because the first rows are far longer.
  template <class Team>
  KOKKOS_FUNCTION void pull_parts(Team& team, level const& l, thread_totals& sum) const {
    std::uint64_t const parts = 64 * static_cast<std::uint64_t>(team.league_size());
    team.template for_each_tile<1>(parts, [&](std::uint64_t i) {
      std::uint64_t const last = first_of_part(i + 1, parts);
      for (std::uint64_t v = first_of_part(i, parts); v < last; ++v)
        pull_row(l, static_cast<local_vertex>(v), sum);
    });
  }
  /// Returns the first vertex of a part, found by bisection.
  KOKKOS_FUNCTION std::uint64_t first_of_part(std::uint64_t i, std::uint64_t parts) const {
    constexpr std::uint64_t row_cost = 4;  // cost of a row without edges, in edges
    auto const cost = [&](std::uint64_t v) { return s->in.begin(v) + row_cost * v; };
    std::uint64_t const wanted = cost(s->pull_rows) / parts * i;
    if (i >= parts) return s->pull_rows;
    return device::partition_point(std::uint64_t(0), s->pull_rows,
                                   [&](std::uint64_t v) { return cost(v) < wanted; });
  }
  KARPOS_STEP_FUNCTION void pull_row(level const& l, local_vertex v, thread_totals& sum) const {
    word const seen = s->seen[v], need = l.active & ~seen;
    word bits = 0;
    if (need != 0) {
      edge e = s->in.begin(v);
      edge const end = s->in.end(v);
      local_vertex const* const column = s->in.column;
      for (; e + at_once <= end && (bits & need) != need; e += at_once)
        for (unsigned i = 0; i < at_once; ++i) bits |= l.front[column[e + i]];
      if ((bits & need) != need)
        for (; e < end; ++e) bits |= l.front[column[e]];
    }
    record_found<1>(l, 0, v, seen, bits & need, sum);
  }

  /// Records that searches x have found v: the share of lane `lane` of W.
  template <int W>
  KARPOS_STEP_FUNCTION void record_found(level const& l, int lane, local_vertex v, word seen,
                                         word x, thread_totals& sum) const {
    if (lane == 0) l.next[v] = x;
    if (x == 0) return;
    if (lane == 0) {
      s->seen[v] = seen | x;
      sum.edges += s->out.degree(v);
      sum.reached |= x;
    }
    s->template record_value<W>(lane, v, x, l.value);
  }
};

}  // namespace karpos::detail::bfs_batch
