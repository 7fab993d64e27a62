// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate_partitions.hpp"
#include "karpos/detail/relational/reduce_by_key/heavy_hitters.hpp"
#include "karpos/detail/relational/reduce_by_key/plan.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/team.hpp"

// The first round of a reduction by key on GPUs, nearly always the only one. A sample decides:
//
//   few groups     every team aggregates its range of rows first; the groups, and rows for which
//                  its table had no slot, are split
//   otherwise      the rows are split, but for the rows of heavy hitters (heavy_hitters.hpp)
//
// Rows are split into fixed-capacity partitions, and one team aggregates each. Rows that overflow
// their partition, or for which no table is large enough, are deferred as partial rows to further
// rounds (run.hpp). The host waits twice: for the sample, by which it chooses what to enqueue, and
// for the counters.

namespace karpos::detail::reduce_by_key {

/// A step of one team: takes a sample, zeroes the counters and empties the partitions.
template <class ExecSpace, class Source>
struct begin_round : find_heavy_hitters<ExecSpace, Source> {
  counters* counts;
  std::uint32_t* taken;  // of `partitions` partitions
  std::uint32_t partitions;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (t.rank() == 0) *counts = counters{0, 0};
    for (std::uint32_t i = device::rank(t); i < partitions; i += device::size(t)) taken[i] = 0;
    find_heavy_hitters<ExecSpace, Source>::operator()(t);
  }
};

template <class ExecSpace, class Row, class Result, class Op>
class reduction_in_fixed_partitions {
  using tuned = tuning<ExecSpace>;
  using arrays = fixed_partition_arrays<ExecSpace, Row>;
  static constexpr std::uint64_t chunk_rows = tuned::chunk_rows(sizeof(Row));

 public:
  reduction_in_fixed_partitions(ExecSpace const& exec, arrays const& a, counters* counts,
                                Result const& result, Op const& op)
      : m_exec(exec),
        m_arrays(a),
        m_counts(counts),
        m_result(result),
        m_op(op) {}

  /// Returns whether this round pays off for `rows` rows, and tables can hold the partitions.
  static bool can_reduce(std::uint64_t rows) {
    return rows >= tuned::min_sampled_rows && rows <= arrays::max_fixed_partitions * chunk_rows &&
           rows < ~std::uint32_t(0);
  }
  /// Returns whether rows were lost because some array was too short.
  bool has_array_overflow(counters const& c) const {
    return c.partial > m_arrays.eighth || c.overflowed > m_arrays.eighth ||
           c.first > 3 * m_arrays.eighth;
  }

  /// Runs the round. Returns its counters. Waits.
  template <class Source>
  counters run(Source const& source) const {
    sample_statistics const s = sample(source);
    bool const two_teams = groups(s) < 0.25 * tuned::slots(sizeof(Row));
    if (!has_few_groups(s, source.size(), two_teams ? 2 : 1)) return split(source, s);
    return two_teams ? pre_aggregate_and_split<2>(source, s)
                     : pre_aggregate_and_split<1>(source, s);
  }

 private:
  template <class Source>
  sample_statistics sample(Source const& source) const {
    using step = begin_round<ExecSpace, Source>;
    device::for_each_in_league("karpos::reduce_by_key: sample", m_exec, 1,
                               step{{source, step::max_keys, m_arrays.sample, m_arrays.keys.keys},
                                    m_counts,
                                    m_arrays.taken,
                                    static_cast<std::uint32_t>(arrays::max_fixed_partitions)});
    return read_back(m_exec, m_arrays.sample, "karpos::reduce_by_key: a sample of the keys");
  }
  /// Returns an estimate of the number of groups, from below (Chao 1984).
  static double groups(sample_statistics const& s) {
    double const once = s.once;
    return s.distinct + once * once / (2.0 * s.twice + 1);
  }
  /// Returns whether the groups are few enough for a table, and the tables of all teams hold few
  /// rows: less than a quarter of the input. The estimate of the groups is trusted in two cases:
  /// nearly all groups have been seen, or the groups seen more than once are about equally
  /// frequent. A long tail deceives it.
  bool has_few_groups(sample_statistics const& s, std::uint64_t rows, int teams) const {
    double const once = s.once, again = s.distinct - s.once;
    bool const is_reliable = once * 50 < s.keys || s.keys - once < 4 * again;
    double const tables = teams * device::processors(m_exec);
    return is_reliable && groups(s) < 0.57 * tuned::slots(sizeof(Row)) &&
           groups(s) * tables < 0.25 * static_cast<double>(rows);
  }
  /// Returns whether keys may be equally frequent, by the number of keys that occur three times or
  /// more in the sample. If they are, that number is about 2 / 3 of the square of the number of
  /// keys that occur twice, divided by the sample's size.
  static bool is_uniform(sample_statistics const& s) {
    double const twice = s.twice, more = double(s.distinct) - s.once - twice;
    return more <= 1 + 2 * twice * twice / s.keys;
  }
  /// Returns whether it pays off to keep the rows of heavy hitters back: they are a quarter of the
  /// rows, or one of their keys would make a partition long.
  static bool is_worth_filtering(sample_statistics const& s) {
    return (s.heavy_hitter_rows * 4 >= s.keys && !is_uniform(s)) || s.most >= 8;
  }
  /// Returns an estimate of the number of groups, from above: Chao's, with the number of keys seen
  /// twice reduced by one and a half standard deviations.
  static double max_groups(sample_statistics const& s) {
    double const once = s.once, twice = s.twice - 1.5 * std::sqrt(double(s.twice));
    return twice < 0.25 ? 1e18 : s.distinct + once * once / (2 * twice);
  }
  /// Returns the number of partitions of a split, a power of two. Fewer partitions are faster. So
  /// each has on average as many groups as fill half of a multiprocessor's scratch to two thirds;
  /// if that makes too many partitions, all of its scratch. There are enough of them for all
  /// multiprocessors. A partition has at most 8 chunks of rows on average if keys are equally
  /// frequent. If they are skewed, the number of groups is unknown: 4 chunks then, or 2 if 13 in 20
  /// of the sample or more occur once.
  std::uint64_t partitions(std::uint64_t rows, sample_statistics const& s) const {
    std::uint64_t const each = rows / s.keys,
                        unfiltered = is_worth_filtering(s) ? s.keys - s.heavy_hitter_rows : s.keys;
    std::uint64_t const most = static_cast<std::uint64_t>(max_groups(s)),
                        groups = Kokkos::min(each * s.once, most),
                        by_half = groups / (tuned::slots(sizeof(Row)) / 3),
                        by_groups = by_half <= arrays::max_fixed_partitions / 2
                                        ? by_half
                                        : groups / chunk_rows,
                        chunks = is_uniform(s)               ? 8
                                 : s.once * 20 < s.keys * 13 ? 4
                                                             : 2,
                        by_rows = each * unfiltered / (chunks * chunk_rows),
                        least = Kokkos::min(std::uint64_t(512), rows / 1024);
    return Kokkos::min(std::bit_ceil(Kokkos::max(Kokkos::max(by_groups, by_rows), least)),
                       arrays::max_fixed_partitions);
  }

  /// Aggregates first, with `Teams` teams per multiprocessor, then splits the partial rows.
  template <int Teams, class Source>
  counters pre_aggregate_and_split(Source const& source, sample_statistics const& s) const {
    int const teams = Teams * device::processors(m_exec);
    std::uint64_t const n = source.size(), count = static_cast<std::uint64_t>(teams),
                        capacity = 3 * m_arrays.eighth;
    std::uint64_t* const remaining = &m_counts->first;
    using step = pre_aggregate<ExecSpace, Source, Op, Teams>;
    std::uint32_t const columns =
        adds_ones<Source> ? 1 : columns_for(8 * groups(s), step::max_slots);
    device::for_each_in_league("karpos::reduce_by_key: aggregate first", m_exec, teams,
                               step{source,
                                    {n, (n + count - 1) / count, teams},
                                    {m_arrays.first(), capacity},
                                    remaining,
                                    m_op,
                                    slots_for(16 * columns * groups(s), step::max_slots),
                                    columns});
    using rows = counted_rows<Row>;
    constexpr int partitions = 128;
    auto const to = fixed_partitions_for<Row>(partitions, 11 * m_arrays.eighth);
    auto* const out = reinterpret_cast<Row*>(m_arrays.fixed_partitions);
    partition::move_into_fixed_partitions<partition::tuning<ExecSpace>>(
        m_exec, rows(m_arrays.first(), capacity, remaining), capacity,
        partition_of<partial_rows<Row>>(partitions), to, out);
    using split = partial_rows<Row>;
    auto const groups_per_partition = static_cast<std::uint32_t>(2 * groups(s) / partitions + 16);
    return aggregate(split(out, partitions * to.capacity), split(to.list, to.list_capacity), to, 0,
                     groups_per_partition, 0);
  }
  /// Returns the number of columns of `slots` slots in a table, at most one per thread of a warp.
  static std::uint32_t columns_for(double slots, std::uint32_t most) {
    std::uint32_t columns = 1;
    while (columns < 32 && 2 * columns * slots <= most && most >= 1024) columns *= 2;
    return columns;
  }
  /// Returns `wanted` slots, or as many as a table can have: a multiple of columns, and enough for
  /// keys that the sample has not seen.
  static std::uint32_t slots_for(double wanted, std::uint32_t most) {
    if (most < 1024) return most;
    return static_cast<std::uint32_t>(Kokkos::clamp(wanted, 1024.0, double(most))) / 64 * 64;
  }
  template <class Source>
  counters split(Source const& source, sample_statistics const& s) const {
    decltype(auto) keys = reduce_by_key::split_source(source);
    using row = typename std::remove_cvref_t<decltype(keys)>::row;
    std::uint64_t const partitions = this->partitions(source.size(), s);
    bool const is_filtered = is_worth_filtering(s);
    std::uint64_t const capacity = 14 * m_arrays.eighth * sizeof(Row) / sizeof(row);
    auto const to = fixed_partitions_for<row>(partitions, capacity);
    auto* const out = reinterpret_cast<row*>(m_arrays.fixed_partitions);
    auto const move = [&](auto const& filter) {
      partition::move_into_fixed_partitions<partition::tuning<ExecSpace>>(
          m_exec, keys, keys.size(), partition_of<Source>(partitions), to.with_filter(filter), out);
    };
    if (is_filtered)
      move(heavy_hitter_filter<ExecSpace, Source, Op>(source, m_op, m_arrays.keys));
    else
      move(partition::no_filter{});
    return aggregate(reduce_by_key::source_after_split(source, out, partitions * to.capacity),
                     reduce_by_key::source_after_split(source, to.list, to.list_capacity), to,
                     is_filtered ? partition::teams_for_rows(m_exec, keys.size()) : 0,
                     ~std::uint32_t(0), max_groups(s) / static_cast<double>(partitions));
  }
  template <class Source>
  static auto partition_of(std::uint64_t partitions) {
    auto const n = static_cast<std::uint32_t>(partitions);
    return partition::partition_of_row<Source, partition_of_bits>{{n, 0}, n};
  }
  /// Returns fixed-capacity partitions in the memory of `rows` rows. Each has space for at least 32
  /// rows, and at most twice the mean. The capacity is an odd multiple of 32 rows: partitions grow
  /// at the same rate, and would otherwise hit the same memory channels at once.
  template <class SplitRow>
  partition::fixed_partitions<SplitRow> fixed_partitions_for(std::uint64_t partitions,
                                                             std::uint64_t rows) const {
    std::uint64_t const most = (1u << 30) - 32,
                        twice = 2 * (8 * m_arrays.eighth / partitions) + 128,
                        capacity = Kokkos::min(Kokkos::min(rows / partitions, twice), most);
    return {m_arrays.taken,
            m_arrays.filled,
            reinterpret_cast<SplitRow*>(m_arrays.list()),
            &m_counts->overflowed,
            static_cast<std::uint32_t>((Kokkos::max(capacity / 64, std::uint64_t(1)) * 2 - 1) * 32),
            static_cast<std::uint32_t>(Kokkos::min(m_arrays.eighth, most)),
            static_cast<int>(partitions)};
  }
  /// Aggregates the partitions, the first ones in tables for `expected` groups. Partitions with
  /// more groups than half of the scratch holds are aggregated again. That step is enqueued at once
  /// if `most`, an upper estimate of a partition's groups, says so; else when the counters have
  /// been read. Waits.
  template <class Rows, class FixedPartitions>
  counters aggregate(Rows const& rows, Rows const& overflowed, FixedPartitions const& from,
                     std::uint64_t filter_teams, std::uint32_t expected, double most) const {
    using partitions = partition_reduction<ExecSpace, Rows, Op, Result, FixedPartitions>;
    partitions const p{rows,
                       overflowed,
                       from,
                       m_arrays.keys,
                       filter_teams,
                       m_result,
                       {m_arrays.partial(), m_arrays.eighth},
                       m_counts,
                       m_arrays.again,
                       m_op,
                       expected};
    using step = aggregate_partitions<ExecSpace, partitions>;
    device::for_each_in_league("karpos::reduce_by_key: aggregate partitions", m_exec,
                               from.partitions + 2 * step::other_teams, step{p});
    auto const again = [&] {
      device::for_each_in_league("karpos::reduce_by_key: aggregate deferred partitions", m_exec,
                                 device::processors(m_exec),
                                 aggregate_deferred<ExecSpace, partitions>{p});
    };
    bool const at_once = most > 0.5 * step::slots;
    if (at_once) again();
    counters const counts = read_counters();
    if (at_once || counts.again == 0) return counts;
    again();
    return read_counters();
  }
  counters read_counters() const {
    return read_back(m_exec, m_counts, "karpos::reduce_by_key: numbers of groups and partial rows");
  }

  ExecSpace m_exec;
  arrays m_arrays;
  counters* m_counts;
  Result m_result;
  Op m_op;
};

}  // namespace karpos::detail::reduce_by_key
