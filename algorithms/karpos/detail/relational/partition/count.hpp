// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/batches.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"

// First half of a split: counts the rows of each partition, and computes where they go.
//
//   begins  | partition 0, 1, … |          count_rows: a team counts a range, adds to the totals
//                                          scan_counts turns the totals into offsets
//   firsts  | range 0: partition 0, 1, … | range 1: partition 0, 1, … | …
//                                          count_rows: the counts of a range
//                                          place_ranges: where its first row of each partition goes
//
// `firsts` exist if the rows of a range must stay together: on CPUs, and for stable partitions.
// Otherwise teams reserve space in a partition when they need it.

namespace karpos::detail::partition {

/// A step: counts the rows of a range by partition.
template <class ExecSpace, class Source, class PartitionOf>
struct count_rows {
  using tuned = tuning<ExecSpace>;
  static constexpr int threads = tuned::threads,
                       teams_at_once = device::is_device<ExecSpace> ? 2 : 1;
  static constexpr std::size_t scratch_bytes =
      device::is_device<ExecSpace> ? tuned::max_partitions(false) * sizeof(std::uint32_t) : 64;
  /// Rows whose loads a thread overlaps.
  static constexpr int batch = device::is_device<ExecSpace> ? 8 : 1;

  /// 32-bit counters of a partition on CPUs, which successive rows use in turn: an increment of
  /// what has just been stored waits for that store. 2^24 keys, one thread of an Intel Xeon, 2 to
  /// 1,024 partitions: one counter of 64 bits 1.7 to 2.1 ns a key, four 0.9 to 1.2; 8,192
  /// partitions: 0.75 and 0.78.
  static constexpr int counters = 4;

  Source source;
  PartitionOf partition_of;
  row_ranges ranges;
  places to;
  std::uint32_t*
      tables;  // on CPUs: counter c of partition p, range r at (r * counters + c) * to.stride + p

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const range = t.league_rank();
    if constexpr (device::is_device<ExecSpace>) {
      auto* const count = reinterpret_cast<std::uint32_t*>(t.scratch());
      for (int p = t.rank(); p < to.partitions; p += t.size()) count[p] = 0;
      t.barrier();
      for_each_row(t, range, [&](std::uint32_t p) { device::add(device::scratch(count + p), 1); });
      t.barrier();
      for (int p = t.rank(); p < to.partitions; p += t.size()) store_count(range, p, count[p]);
    } else {
      std::uint64_t* const count = to.of_range(range);
      for (int p = 0; p < to.partitions; ++p) count[p] = 0;
      constexpr std::uint64_t most = ~std::uint32_t(0);  // maximum of a counter
      std::uint64_t const end = ranges.end(range);
      for (std::uint64_t i = ranges.begin(range); i < end; i += most)
        add_counts(i, Kokkos::min(i + most, end), range, count);
      for (int p = 0; p < to.partitions; ++p) store_count(range, p, count[p]);
    }
  }

 private:
  KARPOS_STEP_FUNCTION void store_count(int range, int p, std::uint64_t count) const {
    if (to.firsts != nullptr) to.of_range(range)[p] = count;
    if (count != 0) device::add(to.begins + p, count);
  }
  KARPOS_STEP_FUNCTION void add_counts(std::uint64_t begin, std::uint64_t end, int range,
                                       std::uint64_t* count) const {
    std::uint32_t* const table = tables + static_cast<std::uint64_t>(range) * counters * to.stride;
    for (std::uint64_t i = 0; i < counters * to.stride; ++i) table[i] = 0;
    std::uint64_t i = begin;
    for (; i + counters <= end; i += counters)
      for (std::uint64_t c = 0; c < counters; ++c)
        ++table[c * to.stride + partition_of(source.load(i + c))];
    for (; i < end; ++i) ++table[partition_of(source.load(i))];
    for (int p = 0; p < to.partitions; ++p)
      for (std::uint64_t c = 0; c < counters; ++c)
        count[p] += table[c * to.stride + static_cast<std::uint64_t>(p)];
  }
  template <class Team, class F>
  KARPOS_STEP_FUNCTION void for_each_row(Team const& t, int range, F const& f) const {
    load_all_then_use<batch>(
        ranges.begin(range) + static_cast<std::uint64_t>(t.rank()), ranges.end(range),
        static_cast<std::uint64_t>(t.size()), [&](std::uint64_t i) { return source.load(i); },
        [&](std::uint64_t, auto const& row) { f(partition_of(row)); });
  }
};

/// Turns the counts of partitions into offsets: `begins` for later steps, `offsets` for callers.
template <class Offsets>
struct scan_counts {
  std::uint64_t* begins;
  Offsets offsets;
  std::uint64_t partitions;

  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& sum, bool last) const {
    std::uint64_t const count = p < partitions ? begins[p] : 0;
    if (last) {
      offsets(p) = static_cast<typename Offsets::non_const_value_type>(sum);
      if (p < partitions) begins[p] = sum;
    }
    sum += count;
  }
};

/// Turns partition p's counts in all ranges into where each range's rows begin.
struct place_ranges {
  places to;
  std::uint64_t ranges;

  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    std::uint64_t sum = to.begins[p];
    load_all_then_use<8>(
        p, to.stride * ranges, to.stride, [&](std::uint64_t i) { return to.firsts[i]; },
        [&](std::uint64_t i, std::uint64_t count) {
          to.firsts[i] = sum;
          sum += count;
        });
  }
};

/// Sets the counters of partitions to zero.
struct clear_counters {
  places to;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    to.begins[p] = 0;
    if (to.taken != nullptr) to.taken[p] = 0;
  }
};

/// Enqueues the first half. CPUs count in `tables`, of 16 * stride bytes for each range.
template <class ExecSpace, class Source, class PartitionOf, class Offsets>
void count_and_place(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                     row_ranges const& ranges, places const& to, Offsets const& offsets,
                     std::uint32_t* tables) {
  auto const n = static_cast<std::uint64_t>(to.partitions);
  // Two teams share a multiprocessor. With `firsts` a team must count the range that it moves.
  row_ranges const counted = to.firsts == nullptr
                                 ? row_ranges{ranges.rows, (ranges.each + 1) / 2, 2 * ranges.count}
                                 : ranges;
  device::loop_over("karpos::partition: clear", exec, n, clear_counters{to});
  device::for_each_in_league(
      "karpos::partition: count", exec, counted.count,
      count_rows<ExecSpace, Source, PartitionOf>{source, partition_of, counted, to, tables});
  Kokkos::parallel_scan("karpos::partition: scan counts", index_range(exec, n + 1),
                        scan_counts<Offsets>{to.begins, offsets, n});
  if (to.firsts != nullptr)
    device::loop_over("karpos::partition: place ranges", exec, n,
                      place_ranges{to, static_cast<std::uint64_t>(ranges.count)});
}

}  // namespace karpos::detail::partition
