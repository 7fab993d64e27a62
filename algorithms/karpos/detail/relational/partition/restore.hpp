// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/run.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/native/step_function.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/device/team.hpp"

// The inverse of a split, for GPUs: brings one result for each row back to the order of the source.
// The split records the order of each of its tiles. restore_order reads a tile's runs of results
// into scratch (shared memory), where it picks them in the order of the tile's rows: memory is read
// and written in order.
//
//   source    7 2 9 4 | 1 3 8 6       two tiles, split by rows below 5
//   sorted    2 4 7 9 | 1 3 8 6       each row's place in the sorted tile: 2 0 3 1 | 0 1 2 3
//   split     2 4 1 3 | 7 9 8 6       each run's begin in the sorted tile and in the split:
//                                     tile 0: 0 and 0, 2 and 4; tile 1: 0 and 2, 2 and 6
//
// Rows of runs that overflowed are not in the split, and get unspecified results; use
// for_each_overflowed. Memory: 2 bytes a row, 8 a partition of each tile. A split that is not
// restored records only runs, by which overflowed rows are found. Tests: restore_order.

namespace karpos::detail::partition {

/// The order of the tiles of a split in one pass.
struct tile_record {
  static constexpr std::uint32_t no_run = ~std::uint32_t(0);
  /// Rows of a partition in a tile: rows begin, begin + 1, … of the sorted tile.
  struct run {
    std::uint32_t at;  // where they begin in the output; or no_run
    std::uint16_t begin, count;
  };
  run* runs = nullptr;              // of tile t, partition p at t * partitions + p
  std::uint16_t* places = nullptr;  // of a row of the source: its index in the sorted tile; or null
  int partitions = 0;
  std::uint32_t rows = 0, tile_rows = 1;

  KOKKOS_FUNCTION std::uint32_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  KOKKOS_FORCEINLINE_FUNCTION run& run_of(std::uint32_t tile, int p) const {
    return runs[std::uint64_t(tile) * static_cast<std::uint64_t>(partitions) +
                static_cast<std::uint64_t>(p)];
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_run(std::uint32_t tile, int p, std::uint32_t at,
                                           std::uint32_t begin, std::uint32_t count) const {
    run_of(tile, p) = {at, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(count)};
  }
  KOKKOS_FUNCTION std::uint32_t rows_of(std::uint32_t tile) const {
    return Kokkos::min(rows - tile * tile_rows, tile_rows);
  }
};

/// Fixed-capacity partitions whose split is recorded. There is no overflow list.
template <class Row>
struct recorded_partitions : fixed_partitions<Row> {
  tile_record record;
};

/// Returns whether row i of a source overflowed in its recorded split.
template <class Source, class PartitionOf>
struct has_overflowed {
  Source source;
  PartitionOf partition_of;
  tile_record record;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(std::uint64_t i) const {
    auto const p = static_cast<int>(partition_of(source.load(i)));
    return record.run_of(static_cast<std::uint32_t>(i) / record.tile_rows, p).at == record.no_run;
  }
};
/// Returns whether place i of fixed-capacity partitions holds a row.
template <class Row>
struct holds_row {
  fixed_partitions<Row> in;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(std::uint64_t i) const {
    auto const place = static_cast<std::uint32_t>(i), p = place / in.capacity;
    return place - p * in.capacity < in.stored_rows(p);
  }
};

/// A step: a team calls f(i) for each row i of a tile that overflowed.
template <class Source, class PartitionOf, class F>
struct visit_overflowed {
  static constexpr int threads = 256, teams_at_once = 4;
  static constexpr std::size_t scratch_bytes = 64;

  has_overflowed<Source, PartitionOf> chosen;
  std::uint32_t const* overflowed;
  F f;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (*overflowed == 0) return;
    auto const tile = static_cast<std::uint32_t>(t.league_rank());
    for (std::uint32_t i = device::rank(t); i < chosen.record.rows_of(tile); i += device::size(t)) {
      std::uint64_t const row = std::uint64_t(tile) * chosen.record.tile_rows + i;
      if (chosen(row)) f(row);
    }
  }
};

/// A step: a team calls f(k) for the rows k in a chunk of a partition.
template <class Row, class F>
struct visit_stored {
  static constexpr int threads = 256, teams_at_once = 8;
  static constexpr std::size_t scratch_bytes = 64;
  static constexpr std::uint32_t chunk = 4 * threads;

  fixed_partitions<Row> in;
  std::uint32_t chunks;  // of a partition
  F f;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const team = static_cast<std::uint32_t>(t.league_rank()), p = team / chunks,
               first = team % chunks * chunk, end = Kokkos::min(first + chunk, in.stored_rows(p));
    for (auto i = first + device::rank(t); i < end; i += device::size(t))
      f(std::uint64_t(p) * in.capacity + i);
  }
};

/// Constants of a recorded split, and of its inverse.
template <class ExecSpace>
using tuning_of_recorded = tuning_of_few_partitions<ExecSpace, 2>;

/// A split in one pass that is recorded, so that its order can be restored.
template <class ExecSpace, class Source, class PartitionOf>
class recorded_split {
  using row = typename Source::row;
  using tuned = tuning_of_recorded<ExecSpace>;
  using partitions_type = capacity_split<ExecSpace, row>;

 public:
  /// At most this many partitions.
  static constexpr int max_partitions = tuned::max_partitions_each;

  /// Requires: `partitions` are at most max_partitions, in one pass, and all of their places are
  ///   counted in 32 bits.
  recorded_split(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                 partitions_type const& partitions)
      : m_exec(exec),
        m_source(source),
        m_partition_of(partition_of),
        m_partitions(partitions) {
    m_record.partitions = partitions.fine.partitions;
    m_record.rows = static_cast<std::uint32_t>(source.size());
    m_record.tile_rows =
        partition::step_into_fixed_partitions<tuned>(exec, source, source.size(), partition_of,
                                                     to(), static_cast<row*>(nullptr))
            .tile_rows();
  }
  /// Allocates the record and the counters. `restores`: the order will be restored.
  void allocate_from(arena& a, bool restores = true) { allocate_from(a, a, restores); }
  /// Allocates the record from `a`, and from `counters` what others need to read the rows.
  void allocate_from(arena& a, arena& counters, bool restores = true) {
    a.allocate(m_record.runs, m_record.tiles() * static_cast<std::uint64_t>(m_record.partitions));
    if (restores) a.allocate(m_record.places, m_record.rows);
    m_partitions.allocate_from(counters);
    std::uint32_t* overflowed = nullptr;
    a.allocate(overflowed, 1);
    m_partitions.count_overflow_in(overflowed);
  }
  std::uint64_t places() const { return m_partitions.places(); }
  partitioned_rows<row> rows_in(row* out) const { return m_partitions.rows_in(out); }
  /// Splits the rows into `out`, of places() rows. Asynchronous.
  void run(row* out) const {
    m_partitions.clear(m_exec);
    partition::move_into_fixed_partitions<tuned>(m_exec, m_source, m_source.size(), m_partition_of,
                                                 to(), out);
  }
  /// Calls restore_order. Asynchronous.
  template <class Result, class Out>
  void restore(Result const* results, Out const& out) const;
  /// Calls f(i) for the rows of the source that overflowed, in any order. Asynchronous.
  template <class F>
  void for_each_overflowed(F const& f) const {
    device::for_each_in_league(
        "karpos::partition: overflowed rows", m_exec, static_cast<int>(m_record.tiles()),
        visit_overflowed<Source, PartitionOf, F>{overflowed_rows(), overflowed(), f});
  }
  /// Calls f(k) for each row k of the output, one partition after the other. Asynchronous.
  template <class F>
  void for_each_stored(std::string const& label, F const& f) const {
    using step = visit_stored<row, F>;
    auto const& in = m_partitions.fine;
    std::uint32_t const chunks = (in.capacity + step::chunk - 1) / step::chunk;
    device::for_each_in_league(label, m_exec,
                               static_cast<int>(static_cast<std::uint32_t>(in.partitions) * chunks),
                               step{in, chunks, f});
  }
  has_overflowed<Source, PartitionOf> overflowed_rows() const {
    return {m_source, m_partition_of, m_record};
  }
  /// Returns where the number of overflowed rows is, on the device.
  std::uint32_t const* overflowed() const { return m_partitions.fine.overflowed; }
  tile_record const& record() const { return m_record; }

 private:
  recorded_partitions<row> to() const { return {m_partitions.fine, m_record}; }

  ExecSpace m_exec;
  Source m_source;
  PartitionOf m_partition_of;
  partitions_type m_partitions;
  tile_record m_record;
};

/// A step: a team restores the order of a tile.
template <class ExecSpace, class Result, class Out>
struct restore_tiles {
  using tuned = tuning_of_recorded<ExecSpace>;
  static constexpr int threads = tuned::threads, teams_at_once = tuned::teams_at_once,
                       width = tuned::width;
  static constexpr std::size_t scratch_bytes = tuned::scratch_bytes;
  /// Places that a thread loads before it uses one.
  static constexpr int batch = 8;
  /// Whether an output wants to know which rows overflowed.
  static constexpr bool has_overflowed_result = requires { Out::overflowed; };

  tile_record record;
  Result const* results;
  Out out;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const tile = static_cast<std::uint32_t>(t.league_rank());
    auto* const sorted = reinterpret_cast<Result*>(t.scratch());
    read_runs(t, tile, sorted);
    t.barrier();
    std::uint64_t const first = std::uint64_t(tile) * record.tile_rows;
    load_all_then_use<batch>(
        static_cast<std::uint64_t>(t.rank()), std::uint64_t(record.rows_of(tile)),
        static_cast<std::uint64_t>(t.size()),
        [&](std::uint64_t i) { return record.places[first + i]; },
        [&](std::uint64_t i, std::uint16_t place) { out(first + i) = sorted[place]; });
  }

 private:
  /// Reads the results of a tile's rows; a warp reads a run.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void read_runs(Team const& t, std::uint32_t tile,
                                             Result* sorted) const {
    int const warps = (t.size() + width - 1) / width;
    for (int p = t.rank() / width; p < record.partitions; p += warps) {
      auto const run = record.run_of(tile, p);
      bool const overflowed = run.at == record.no_run;
      if (overflowed && !has_overflowed_result) continue;
      for (auto i = static_cast<std::uint32_t>(t.rank() % width); i < run.count; i += width) {
        if constexpr (has_overflowed_result)
          sorted[run.begin + i] = overflowed ? Result(Out::overflowed) : results[run.at + i];
        else
          sorted[run.begin + i] = results[run.at + i];
      }
    }
  }
};

/// Writes the result of row i of the source to out(i), where results[k] is the result of row k of
/// the split. For rows that overflowed writes Out::overflowed, or an unspecified result if there is
/// no such member. Asynchronous.
template <class ExecSpace, class Result, class Out>
void restore_order(ExecSpace const& exec, tile_record const& record, Result const* results,
                   Out const& out) {
  device::for_each_in_league("karpos::partition: restore order", exec,
                             static_cast<int>(record.tiles()),
                             restore_tiles<ExecSpace, Result, Out>{record, results, out});
}
template <class ExecSpace, class Source, class PartitionOf>
template <class Result, class Out>
void recorded_split<ExecSpace, Source, PartitionOf>::restore(Result const* results,
                                                             Out const& out) const {
  if (m_record.rows > 0) partition::restore_order(m_exec, m_record, results, out);
}

template <class Loaded>
struct loaded_with_partition {
  Loaded of_source;
  std::uint16_t partition;
};
struct known_partition {
  template <class Loaded>
  KARPOS_STEP_FUNCTION std::uint32_t operator()(loaded_with_partition<Loaded> const& r) const {
    return r.partition;
  }
};
/// The rows of a source with their partitions, which the first pass over the rows notes.
template <class Source, class PartitionOf>
struct noting_rows {
  using row = typename Source::row;
  using loaded = loaded_with_partition<typename Source::loaded>;
  Source source;
  PartitionOf partition_of;
  std::uint16_t* partitions;
  KARPOS_STEP_FUNCTION loaded load(std::uint64_t i) const {
    auto const r = source.load(i);
    auto const p = static_cast<std::uint16_t>(partition_of(r));
    partitions[i] = p;
    return {r, p};
  }
};
template <class Source>
struct noted_rows {
  using row = typename Source::row;
  using loaded = loaded_with_partition<typename Source::loaded>;
  Source source;
  std::uint16_t const* partitions;
  KARPOS_STEP_FUNCTION loaded load(std::uint64_t i) const {
    return {source.load(i), partitions[i]};
  }
  KARPOS_STEP_FUNCTION row make(loaded const& r, std::uint64_t i) const {
    return source.make(r.of_source, i);
  }
};

/// A step: a thread restores the order of a range of rows.
template <class Result, class Out>
struct restore_range {
  static constexpr int threads = 1, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64;
  /// How many results before its use a result is prefetched: those of a cache line. There are more
  /// partitions than sequences of accesses that a processor prefetches by itself.
  static constexpr int ahead = device::line_bytes / static_cast<int>(sizeof(Result));

  std::uint16_t const* partitions;
  row_ranges ranges;
  places from;
  Result const* results;
  Out out;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const range = t.league_rank();
    std::uint64_t* const next = from.of_range(range);
    std::uint64_t const end = ranges.end(range);
    for (std::uint64_t i = ranges.begin(range); i < end; ++i) {
      Result const* const at = results + next[partitions[i]]++;
      device::prefetch(at + ahead);
      out(i) = *at;
    }
  }
};

/// The counterpart of recorded_split for CPUs. Rows are counted first, so that none overflows. A
/// thread keeps the order of its rows in each partition: the result of its next row of a partition
/// is the partition's next result. Memory: 2 bytes a row, for its partition.
template <class ExecSpace, class Source, class PartitionOf>
class counted_split {
  using row = typename Source::row;
  using plan_type = plan<ExecSpace, row>;

 public:
  /// Requires: at most 8,192 partitions, which take one pass.
  counted_split(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                std::uint64_t partitions)
      : m_exec(exec),
        m_source(source),
        m_partition_of(partition_of),
        m_plan(exec, source.size(), partitions, true) {}
  /// Allocates memory of the split from `a`, and from `counters` what others need to read the rows.
  void allocate_from(arena& a, arena& counters) {
    a.allocate(m_memory, m_plan.bytes());
    a.allocate(m_partitions, m_plan.ranges().rows);
    counters.allocate(m_begins, m_plan.partitions() + 1);
  }
  partitioned_rows<row> rows_in(row* out) const { return {out, m_begins, {}}; }
  /// Splits the rows into `out`, which begins at a cache line. Asynchronous.
  void run(row* out) const {
    auto const a = arrays_of_plan();
    auto const to = partition::places_in<true>(m_plan, a, m_plan.partitions());
    partition::count_and_place(
        m_exec, noting_rows<Source, PartitionOf>{m_source, m_partition_of, m_partitions},
        known_partition{}, m_plan.ranges(), to,
        unmanaged<ExecSpace>(m_begins, m_plan.partitions() + 1), a.tables());
    partition::move_rows<true>(m_exec, noted_rows<Source>{m_source, m_partitions},
                               known_partition{}, m_plan.ranges(), to, a, out, 0);
  }
  /// Writes the result of row i of the source to out(i), where results[k] is the result of row k of
  /// the split. Once after each run. Asynchronous.
  template <class Result, class Out>
  void restore(Result const* results, Out const& out) const {
    // Rows that are moved one by one advance their places; buffered ones leave them, at a line.
    static_assert(line_of_rows<row>::is_buffered, "karpos: the places of these rows are lost");
    auto const from = partition::places_in<true>(m_plan, arrays_of_plan(), m_plan.partitions());
    device::for_each_in_league(
        "karpos::partition: restore order", m_exec, m_plan.ranges().count,
        restore_range<Result, Out>{m_partitions, m_plan.ranges(), from, results, out});
  }

 private:
  arrays<row> arrays_of_plan() const { return arrays<row>(m_plan, m_memory); }

  ExecSpace m_exec;
  Source m_source;
  PartitionOf m_partition_of;
  plan_type m_plan;
  std::byte* m_memory = nullptr;
  std::uint16_t* m_partitions = nullptr;
  std::uint64_t* m_begins = nullptr;
};

}  // namespace karpos::detail::partition
