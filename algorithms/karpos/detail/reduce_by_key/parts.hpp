// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/partition/rooms.hpp"
#include "karpos/detail/reduce_by_key/aggregate.hpp"
#include "karpos/detail/reduce_by_key/hot_keys.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/reduce_by_key/tuning.hpp"
#include "karpos/device/atomics.hpp"

// The steps that aggregate fixed-capacity partitions on GPUs. The partitions of a hash are alike: a
// team (block) gives its table the size that earlier partitions needed. Most partitions have few
// groups, so that two teams share a multiprocessor, with half of its scratch each. A partition with
// too many groups for such a table is left to a team with a table of twice the size.

namespace karpos::detail::reduce_by_key {

/// The data that both steps work on.
template <class ExecSpace, class Rows, class Op, class Result, class Rooms>
struct parts_in_rooms {
  using row = typename Rows::row;
  Rows rows;    // of the partitions
  Rows listed;  // of the overflow list
  Rooms from;
  hot_table<ExecSpace, row> hot;
  std::uint64_t hot_teams;  // that have kept groups of heavy hitters; 0 if there are none
  Result result;
  partial_array<row> partial;
  counters* counts;
  std::uint32_t* again;  // partitions that are left to a larger table
  Op op;
  std::uint32_t expected = ~std::uint32_t(0);  // groups of a partition, until one is aggregated

  /// Writes the groups of a partition: to the result if no row has overflowed, else as partial
  /// rows.
  template <class Team, class Aggregator>
  KOKKOS_FORCEINLINE_FUNCTION void write_groups(Team const& t, Aggregator& a,
                                                std::uint32_t p) const {
    if (from.taken[p] <= from.room && !a.has_left(t))
      a.write_groups(t, result, &counts->groups);
    else
      a.write_groups(t, partial, &counts->partial);
  }
};

/// A step: each team aggregates a partition, in a table of half of a multiprocessor's scratch. The
/// teams behind those write the groups of heavy hitters, and the rows of the overflow list as
/// partial rows.
template <class ExecSpace, class Parts>
struct aggregate_parts {
  using row = typename Parts::row;
  using tuned = tuning<ExecSpace>;
  using team_aggregator =
      aggregator<ExecSpace, row, decltype(Parts::op), tuned::part_batch(sizeof(row))>;
  static constexpr int threads = tuned::part_threads(sizeof(row)), teams_at_once = 2;
  static constexpr std::uint32_t slots = tuned::slots(sizeof(row)) / 8 * 4;
  static constexpr std::size_t front_bytes = alignof(team_words);  // a word (slots_that_fit)
  static constexpr std::size_t scratch_bytes = front_bytes + team_aggregator::bytes(slots);
  /// Teams that write groups of heavy hitters; as many write overflowed rows.
  static constexpr int other_teams = 16;

  Parts parts;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const other = t.league_rank() - parts.from.parts;
    if (other >= 0)
      return other < other_teams ? write_hot(t, other) : write_listed(t, other - other_teams);
    auto const p = static_cast<std::uint32_t>(t.league_rank());
    std::uint32_t const n = parts.from.rows_in_room(p);
    if (n == 0) return;
    std::uint32_t const fit = slots_that_fit(t);
    if (fit == 0) return leave(t, p);
    std::uint64_t const first = static_cast<std::uint64_t>(p) * parts.from.room;
    team_aggregator a(t, t.scratch() + front_bytes, fit, parts.op);
    bool all = a.add_all(t, parts.rows, first, first + n, tuned::part_looks);
    if (!all && fit < slots) {
      a.restart(t, slots);
      all = a.add_all(t, parts.rows, first, first + n, tuned::part_looks);
    }
    if (all) parts.write_groups(t, a, p);
    if (t.rank() == 0)
      Kokkos::atomic_max(&parts.counts->most_groups, all ? a.groups() : std::uint32_t(slots));
    if (!all) leave(t, p);
  }

 private:
  /// Returns the number of slots for a partition's table, by the groups of earlier partitions.
  /// Returns 0 if it would need too many. Has a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t slots_that_fit(Team const& t) const {
    auto* const word = reinterpret_cast<std::uint32_t*>(t.scratch());
    if (t.rank() == 0) {
      std::uint32_t const most = device::load_relaxed(&parts.counts->most_groups),
                          groups =
                              Kokkos::min(most == 0 ? parts.expected : most, std::uint32_t(slots));
      std::uint32_t const ample = (groups * 11 / 5 + 63) / 64 * 64;
      *word = most > slots / 10 * 9 ? 0 : Kokkos::min(std::uint32_t(slots), ample);
    }
    t.barrier();
    return *word;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void leave(Team const& t, std::uint32_t p) const {
    if (t.rank() == 0) parts.again[device::fetch_add(&parts.counts->again, 1)] = p;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_hot(Team const& t, int team) const {
    if (parts.hot_teams == 0) return;
    auto const first = static_cast<std::uint32_t>(team * t.size() + t.rank());
    for (std::uint32_t s = first; s < parts.hot.all;
         s += static_cast<std::uint32_t>(other_teams * t.size()))
      write_hot_group(parts.hot, s, parts.hot_teams, parts.op, parts.result, &parts.counts->groups);
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_listed(Team const& t, int team) const {
    std::uint64_t const n = Kokkos::min(*parts.from.listed, parts.from.capacity);
    std::uint64_t const each = (n + other_teams - 1) / other_teams;
    std::uint64_t const first = Kokkos::min(n, each * static_cast<std::uint64_t>(team)),
                        last = Kokkos::min(n, first + each);
    if (first == last) return;
    auto* const base = reinterpret_cast<std::uint64_t*>(t.scratch());
    if (t.rank() == 0) *base = device::fetch_add(&parts.counts->partial, last - first);
    t.barrier();
    for (std::uint64_t i = first + static_cast<std::uint64_t>(t.rank()); i < last;
         i += static_cast<std::uint64_t>(t.size()))
      parts.partial.write(*base + (i - first), parts.listed.make(parts.listed.load(i), i));
  }
};

/// A step: teams aggregate the partitions that were left, in turns, in a table of all scratch. Rows
/// that find no slot become partial rows.
template <class ExecSpace, class Parts>
struct aggregate_again {
  using row = typename Parts::row;
  using tuned = tuning<ExecSpace>;
  using team_aggregator = aggregator<ExecSpace, row, decltype(Parts::op)>;
  static constexpr int threads = team_aggregator::threads, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = team_aggregator::scratch_bytes;

  Parts parts;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const end = static_cast<int>(parts.counts->again);
    for (int i = t.league_rank(); i < end; i += t.league_size()) {
      if (has_lost(t)) return;
      std::uint32_t const p = parts.again[i];
      std::uint64_t const first = static_cast<std::uint64_t>(p) * parts.from.room;
      team_aggregator a(t, tuned::slots(sizeof(row)), parts.op);
      a.add(t, parts.rows, first, first + parts.from.rows_in_room(p), tuned::most_looks,
            parts.partial, &parts.counts->partial);
      parts.write_groups(t, a, p);
      t.barrier();
    }
  }

 private:
  /// Returns whether partial rows have exceeded their array. If so, all rows are reduced again in
  /// another way.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION bool has_lost(Team const& t) const {
    return t.any(device::load_relaxed(&parts.counts->partial) > parts.partial.room);
  }
};

}  // namespace karpos::detail::reduce_by_key
