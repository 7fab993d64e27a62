// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate.hpp"
#include "karpos/detail/relational/reduce_by_key/heavy_hitters.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"
#include "karpos/device/atomics.hpp"

// The steps that aggregate fixed-capacity partitions on GPUs. Hashing makes partitions alike, so a
// team (block) gives its table the size that earlier partitions needed. Most partitions have few
// groups, so that two teams share a multiprocessor, with half of its scratch each. A partition with
// too many groups for such a table is deferred to a team with a table of twice the size.

namespace karpos::detail::reduce_by_key {

/// The data that both steps work on.
template <class ExecSpace, class Rows, class Op, class Result, class FixedPartitions>
struct partition_reduction {
  using row = typename Rows::row;
  Rows rows;        // of the partitions
  Rows overflowed;  // of the overflow list
  FixedPartitions from;
  heavy_hitter_table<ExecSpace, row> heavy_hitters;
  std::uint64_t filter_teams;  // teams with groups of heavy hitters; 0 if there are none
  Result result;
  partial_array<row> partial;
  counters* counts;
  std::uint32_t* again;  // partitions that are deferred to a larger table
  Op op;
  std::uint32_t expected = ~std::uint32_t(0);  // groups of a partition, until one is aggregated

  /// Writes a partition's groups: to the result if no row has overflowed, else as partial rows.
  template <class Team, class Aggregator>
  KOKKOS_FORCEINLINE_FUNCTION void write_groups(Team const& t, Aggregator& a,
                                                std::uint32_t p) const {
    if (from.taken[p] <= from.capacity && !a.has_overflowed(t))
      a.write_groups(t, result, &counts->groups);
    else
      a.write_groups(t, partial, &counts->partial);
  }
};

/// A step: each team aggregates a partition, in a table of half a multiprocessor's scratch. Further
/// teams write the groups of heavy hitters, and the rows of the overflow list as partial rows.
template <class ExecSpace, class Partitions>
struct aggregate_partitions {
  using row = typename Partitions::row;
  using tuned = tuning<ExecSpace>;
  using team_aggregator =
      aggregator<ExecSpace, row, decltype(Partitions::op), tuned::partition_batch(sizeof(row))>;
  static constexpr int threads = tuned::partition_threads(sizeof(row)), teams_at_once = 2;
  static constexpr std::uint32_t slots = tuned::slots(sizeof(row)) / 8 * 4;
  static constexpr std::size_t front_bytes = alignof(team_state);  // a word (choose_slots)
  static constexpr std::size_t scratch_bytes = front_bytes + team_aggregator::bytes(slots);
  /// Teams that write groups of heavy hitters; as many write overflowed rows.
  static constexpr int other_teams = 16;

  Partitions partitions;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const other = t.league_rank() - partitions.from.partitions;
    if (other >= 0)
      return other < other_teams ? write_heavy_hitters(t, other)
                                 : write_overflow(t, other - other_teams);
    auto const p = static_cast<std::uint32_t>(t.league_rank());
    std::uint32_t const n = partitions.from.stored_rows(p);
    if (n == 0) return;
    std::uint32_t const fit = choose_slots(t);
    if (fit == 0) return defer(t, p);
    std::uint64_t const first = static_cast<std::uint64_t>(p) * partitions.from.capacity;
    team_aggregator a(t, t.scratch() + front_bytes, fit, partitions.op);
    bool all = a.try_add_all(t, partitions.rows, first, first + n, tuned::partition_probes);
    if (!all && fit < slots) {
      a.restart(t, slots);
      all = a.try_add_all(t, partitions.rows, first, first + n, tuned::partition_probes);
    }
    if (all) partitions.write_groups(t, a, p);
    if (t.rank() == 0)
      Kokkos::atomic_max(&partitions.counts->max_groups, all ? a.groups() : std::uint32_t(slots));
    if (!all) defer(t, p);
  }

 private:
  /// Returns the number of slots for a partition's table, by the groups of earlier partitions.
  /// Returns 0 if it would need too many. Has a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t choose_slots(Team const& t) const {
    auto* const word = reinterpret_cast<std::uint32_t*>(t.scratch());
    if (t.rank() == 0) {
      std::uint32_t const most = device::load_relaxed(&partitions.counts->max_groups),
                          groups = Kokkos::min(most == 0 ? partitions.expected : most,
                                               std::uint32_t(slots));
      std::uint32_t const wanted = (groups * 11 / 5 + 63) / 64 * 64;
      *word = most > slots / 10 * 9 ? 0 : Kokkos::min(std::uint32_t(slots), wanted);
    }
    t.barrier();
    return *word;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void defer(Team const& t, std::uint32_t p) const {
    if (t.rank() == 0) partitions.again[device::fetch_add(&partitions.counts->again, 1)] = p;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_heavy_hitters(Team const& t, int team) const {
    if (partitions.filter_teams == 0) return;
    auto const first = static_cast<std::uint32_t>(team * t.size() + t.rank());
    for (std::uint32_t s = first; s < partitions.heavy_hitters.all;
         s += static_cast<std::uint32_t>(other_teams * t.size()))
      write_heavy_hitter(partitions.heavy_hitters, s, partitions.filter_teams, partitions.op,
                         partitions.result, &partitions.counts->groups);
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_overflow(Team const& t, int team) const {
    std::uint64_t const n = Kokkos::min(*partitions.from.overflowed, partitions.from.list_capacity);
    std::uint64_t const each = (n + other_teams - 1) / other_teams;
    std::uint64_t const first = Kokkos::min(n, each * static_cast<std::uint64_t>(team)),
                        last = Kokkos::min(n, first + each);
    if (first == last) return;
    auto* const base = reinterpret_cast<std::uint64_t*>(t.scratch());
    if (t.rank() == 0) *base = device::fetch_add(&partitions.counts->partial, last - first);
    t.barrier();
    for (std::uint64_t i = first + static_cast<std::uint64_t>(t.rank()); i < last;
         i += static_cast<std::uint64_t>(t.size()))
      partitions.partial.write(*base + (i - first),
                               partitions.overflowed.make(partitions.overflowed.load(i), i));
  }
};

/// A step: teams aggregate the deferred partitions, in turns, in a table of all scratch. Rows that
/// find no slot become partial rows.
template <class ExecSpace, class Partitions>
struct aggregate_deferred {
  using row = typename Partitions::row;
  using tuned = tuning<ExecSpace>;
  using team_aggregator = aggregator<ExecSpace, row, decltype(Partitions::op)>;
  static constexpr int threads = team_aggregator::threads, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = team_aggregator::scratch_bytes;

  Partitions partitions;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const end = static_cast<int>(partitions.counts->again);
    for (int i = t.league_rank(); i < end; i += t.league_size()) {
      // If partial rows have exceeded their array, all rows are reduced again in another way.
      if (t.any(device::load_relaxed(&partitions.counts->partial) > partitions.partial.capacity))
        return;
      std::uint32_t const p = partitions.again[i];
      std::uint64_t const first = static_cast<std::uint64_t>(p) * partitions.from.capacity;
      team_aggregator a(t, tuned::slots(sizeof(row)), partitions.op);
      a.add(t, partitions.rows, first, first + partitions.from.stored_rows(p), tuned::max_probes,
            partitions.partial, &partitions.counts->partial);
      partitions.write_groups(t, a, p);
      t.barrier();
    }
  }
};

}  // namespace karpos::detail::reduce_by_key
