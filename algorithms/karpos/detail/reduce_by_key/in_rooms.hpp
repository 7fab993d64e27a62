// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/detail/reduce_by_key/aggregate.hpp"
#include "karpos/detail/reduce_by_key/hot_keys.hpp"
#include "karpos/detail/reduce_by_key/memory.hpp"
#include "karpos/detail/reduce_by_key/parts.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/reduce_by_key/tuning.hpp"
#include "karpos/device/league.hpp"

// The first round of a reduction by key on GPUs, which is nearly always the only one. A sample of
// the keys decides how it begins:
//
//   few groups     every team aggregates its range of rows first; what is left is split
//   otherwise      the rows are split, but for the rows of heavy hitters (hot_keys.hpp)
//
// Rows are split into fixed-capacity partitions (`rooms`), and one team aggregates each. Rows that
// overflow their partition, or for which no table is large enough, are left to the rounds of
// reduction.hpp as partial rows. The host waits for the sample, because it chooses what to enqueue,
// and for the number of groups.

namespace karpos::detail::reduce_by_key {

/// A step of one team: takes a sample, zeroes the counters and empties the partitions.
template <class ExecSpace, class Source>
struct begin_round : find_hot_keys<ExecSpace, Source> {
  counters* counts;
  std::uint32_t* taken;  // of `rooms` partitions
  std::uint32_t rooms;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (t.rank() == 0) *counts = counters{0, 0};
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < rooms;
         i += static_cast<std::uint32_t>(t.size()))
      taken[i] = 0;
    find_hot_keys<ExecSpace, Source>::operator()(t);
  }
};

template <class ExecSpace, class Row, class Result, class Op>
class reduction_in_rooms {
  using tuned = tuning<ExecSpace>;
  using arrays = room_arrays<ExecSpace, Row>;
  using hot = hot_table<ExecSpace, Row>;
  static constexpr std::uint64_t chunk_rows = tuned::chunk_rows(sizeof(Row));

 public:
  reduction_in_rooms(ExecSpace const& exec, arrays const& a, counters* counts, Result const& result,
                     Op const& op)
      : m_exec(exec),
        m_arrays(a),
        m_counts(counts),
        m_result(result),
        m_op(op) {}

  /// Returns whether this round pays off for `rows` rows, and tables can hold the partitions.
  static bool takes(std::uint64_t rows) {
    return rows >= tuned::min_sampled_rows && rows <= arrays::most_parts * chunk_rows &&
           rows < ~std::uint32_t(0);
  }
  /// Returns whether rows were lost because some array was too short.
  bool has_lost(counters const& c) const {
    return c.partial > m_arrays.eighth || c.listed > m_arrays.eighth ||
           c.first > 3 * m_arrays.eighth;
  }

  /// Runs the round. Returns its counters. Waits.
  template <class Source>
  counters run(Source const& source) const {
    sample_of_keys const s = sample(source);
    bool const two = groups(s) < 0.25 * tuned::slots(sizeof(Row));
    if (!has_few_groups(s, source.size(), two ? 2 : 1)) return split(source, s);
    return two ? aggregate_first_and_split<2>(source, s) : aggregate_first_and_split<1>(source, s);
  }

 private:
  template <class Source>
  sample_of_keys sample(Source const& source) const {
    using step = begin_round<ExecSpace, Source>;
    device::for_each_in_league("karpos::reduce_by_key: sample", m_exec, 1,
                               step{{source, step::max_keys, m_arrays.sample, m_arrays.keys.keys},
                                    m_counts,
                                    m_arrays.taken,
                                    static_cast<std::uint32_t>(arrays::most_parts)});
    return read_back(m_exec, static_cast<sample_of_keys const*>(m_arrays.sample),
                     "karpos::reduce_by_key: a sample of the keys");
  }
  /// Returns an estimate of the number of groups, from below (Chao 1984).
  static double groups(sample_of_keys const& s) {
    double const once = s.once;
    return s.different + once * once / (2.0 * s.twice + 1);
  }
  /// Returns whether the groups are few enough for a table, and the tables of all teams hold few
  /// rows: less than a quarter of the input. The estimate of the groups is trusted in two cases:
  /// nearly all groups have been seen, or the groups seen more than once are about equally
  /// frequent. A long tail deceives it.
  bool has_few_groups(sample_of_keys const& s, std::uint64_t rows, int teams) const {
    double const once = s.once, again = s.different - s.once;
    bool const even = once * 50 < s.keys || s.keys - once < 4 * again;
    double const tables = teams * device::processors(m_exec);
    return even && groups(s) < 0.57 * tuned::slots(sizeof(Row)) &&
           groups(s) * tables < 0.25 * static_cast<double>(rows);
  }
  /// Returns whether keys may be equally frequent, by the number of keys that occur three times or
  /// more in the sample. If they are, that number is about 2 / 3 of the square of the number of
  /// keys that occur twice, divided by the sample's size.
  static bool is_even(sample_of_keys const& s) {
    double const twice = s.twice, more = double(s.different) - s.once - twice;
    return more <= 1 + 2 * twice * twice / s.keys;
  }
  /// Returns whether it pays off to keep the rows of heavy hitters back: they are a quarter of the
  /// rows, or one of their keys would make a partition long.
  static bool has_hot_keys(sample_of_keys const& s) {
    return (s.hot_rows * 4 >= s.keys && !is_even(s)) || s.most >= 8;
  }
  /// Returns an estimate of the number of groups, from above: Chao's, with the number of keys seen
  /// twice reduced by one and a half standard deviations.
  static double most_groups(sample_of_keys const& s) {
    double const once = s.once, twice = s.twice - 1.5 * std::sqrt(double(s.twice));
    return twice < 0.25 ? 1e18 : s.different + once * once / (2 * twice);
  }
  /// Returns the number of partitions of a split, a power of two. Fewer partitions are faster. So
  /// each has on average as many groups as fill half of a multiprocessor's scratch to two thirds;
  /// if that makes too many partitions, all of its scratch. There are enough of them for all
  /// multiprocessors. A partition has at most 8 chunks of rows on average if keys are equally
  /// frequent. If they are skewed, the number of groups is unknown: 4 chunks then, or 2 if 13 in 20
  /// of the sample or more occur once.
  std::uint64_t parts(std::uint64_t rows, sample_of_keys const& s) const {
    std::uint64_t const each = rows / s.keys, cold = has_hot_keys(s) ? s.keys - s.hot_rows : s.keys;
    std::uint64_t const most = static_cast<std::uint64_t>(most_groups(s)),
                        groups = Kokkos::min(each * s.once, most),
                        by_half = groups / (tuned::slots(sizeof(Row)) / 3),
                        by_groups =
                            by_half <= arrays::most_parts / 2 ? by_half : groups / chunk_rows,
                        chunks = is_even(s)                  ? 8
                                 : s.once * 20 < s.keys * 13 ? 4
                                                             : 2,
                        by_rows = each * cold / (chunks * chunk_rows),
                        least = Kokkos::min(std::uint64_t(512), rows / 1024);
    return Kokkos::min(std::bit_ceil(Kokkos::max(Kokkos::max(by_groups, by_rows), least)),
                       arrays::most_parts);
  }

  /// Aggregates first, with `Teams` teams per multiprocessor, then splits what is left.
  template <int Teams, class Source>
  counters aggregate_first_and_split(Source const& source, sample_of_keys const& s) const {
    int const teams = Teams * device::processors(m_exec);
    std::uint64_t const n = source.size(), count = static_cast<std::uint64_t>(teams),
                        room = 3 * m_arrays.eighth;
    std::uint64_t* const left = &m_counts->first;
    using step = aggregate_first<ExecSpace, Source, Op, Teams>;
    std::uint32_t const columns =
        adds_ones<Source> ? 1 : columns_for(8 * groups(s), step::max_slots);
    device::for_each_in_league("karpos::reduce_by_key: aggregate first", m_exec, teams,
                               step{source,
                                    {n, (n + count - 1) / count, teams},
                                    {m_arrays.first(), room},
                                    left,
                                    m_op,
                                    slots_for(16 * columns * groups(s), step::max_slots),
                                    columns});
    using rows = counted_rows<Row>;
    constexpr int parts = 128;
    auto const to = rooms_for<Row>(parts, 11 * m_arrays.eighth, partition::holds_nothing{});
    auto* const out = reinterpret_cast<Row*>(m_arrays.rooms);
    partition::move_into_rooms(m_exec, rows(m_arrays.first(), room, left), room,
                               part_of<partial_rows<Row>>(parts), to, out);
    using split = partial_rows<Row>;
    auto const of_part = static_cast<std::uint32_t>(2 * groups(s) / parts + 16);
    return aggregate(split(out, parts * to.room), split(to.list, to.capacity), to, 0, of_part, 0);
  }
  /// Returns the number of columns of `slots` slots that a table has space for, up to one per
  /// thread of a warp.
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
  counters split(Source const& source, sample_of_keys const& s) const {
    if constexpr (requires { source.to_split(); }) {
      return split(source, source.to_split(), s,
                   [&](auto const* rows, std::uint64_t n) { return source.of_split(rows, n); });
    } else {
      return split(source, source, s,
                   [](Row const* rows, std::uint64_t n) { return partial_rows<Row>(rows, n); });
    }
  }
  template <class Source, class Split, class OfSplit>
  counters split(Source const& source, Split const& keys, sample_of_keys const& s,
                 OfSplit const& of_split) const {
    using row = typename Split::row;
    std::uint64_t const parts = this->parts(source.size(), s);
    bool const is_hot = has_hot_keys(s);
    std::uint64_t const room = 14 * m_arrays.eighth * sizeof(Row) / sizeof(row);
    auto const to = rooms_for<row>(parts, room, partition::holds_nothing{});
    auto* const out = reinterpret_cast<row*>(m_arrays.rooms);
    if (is_hot) {
      hot_groups<ExecSpace, Source, Op> const held(source, m_op, m_arrays.keys);
      partition::move_into_rooms(m_exec, keys, keys.size(), part_of<Source>(parts),
                                 rooms_for<row>(parts, room, held), out);
    } else {
      partition::move_into_rooms(m_exec, keys, keys.size(), part_of<Source>(parts), to, out);
    }
    return aggregate(of_split(out, parts * to.room), of_split(to.list, to.capacity), to,
                     is_hot ? partition::teams_of_rooms(m_exec, keys.size()) : 0, ~std::uint32_t(0),
                     most_groups(s) / static_cast<double>(parts));
  }
  template <class Source>
  static auto part_of(std::uint64_t parts) {
    auto const n = static_cast<std::uint32_t>(parts);
    return partition::part_of_row<Source, part_of_bits>{{n, 0}, n};
  }
  /// Returns fixed-capacity partitions in the memory of `rows` rows. Each has space for at least 32
  /// rows, and at most twice the mean. The capacity is an odd multiple of 32 rows: partitions grow
  /// at the same rate, and would otherwise hit the same memory channels at once.
  template <class SplitRow, class Holder>
  partition::rooms<SplitRow, Holder> rooms_for(std::uint64_t parts, std::uint64_t rows,
                                               Holder const& holder) const {
    std::uint64_t const most = (1u << 30) - 32, twice = 2 * (8 * m_arrays.eighth / parts) + 128,
                        room = Kokkos::min(Kokkos::min(rows / parts, twice), most);
    return {m_arrays.taken,
            m_arrays.filled,
            reinterpret_cast<SplitRow*>(m_arrays.list()),
            &m_counts->listed,
            static_cast<std::uint32_t>((Kokkos::max(room / 64, std::uint64_t(1)) * 2 - 1) * 32),
            static_cast<std::uint32_t>(Kokkos::min(m_arrays.eighth, most)),
            static_cast<int>(parts),
            holder};
  }
  /// Aggregates the partitions, the first ones in tables for `expected` groups. Partitions with
  /// more groups than half of the scratch holds are aggregated again. That step is enqueued at once
  /// if `most`, an upper estimate of a partition's groups, says so; else after a look at the
  /// counters. Waits.
  template <class Rows, class Rooms>
  counters aggregate(Rows const& rows, Rows const& listed, Rooms const& from,
                     std::uint64_t hot_teams, std::uint32_t expected, double most) const {
    using parts = parts_in_rooms<ExecSpace, Rows, Op, Result, Rooms>;
    parts const p{rows,
                  listed,
                  from,
                  m_arrays.keys,
                  hot_teams,
                  m_result,
                  {m_arrays.partial(), m_arrays.eighth},
                  m_counts,
                  m_arrays.again,
                  m_op,
                  expected};
    using step = aggregate_parts<ExecSpace, parts>;
    device::for_each_in_league("karpos::reduce_by_key: aggregate parts", m_exec,
                               from.parts + 2 * step::other_teams, step{p});
    auto const again = [&] {
      device::for_each_in_league("karpos::reduce_by_key: aggregate parts again", m_exec,
                                 device::processors(m_exec), aggregate_again<ExecSpace, parts>{p});
    };
    bool const at_once = most > 0.5 * step::slots;
    if (at_once) again();
    counters const counts = read_counters();
    if (at_once || counts.again == 0) return counts;
    again();
    return read_counters();
  }
  counters read_counters() const {
    return read_back(m_exec, static_cast<counters const*>(m_counts),
                     "karpos::reduce_by_key: groups are counted");
  }

  ExecSpace m_exec;
  arrays m_arrays;
  counters* m_counts;
  Result m_result;
  Op m_op;
};

}  // namespace karpos::detail::reduce_by_key
