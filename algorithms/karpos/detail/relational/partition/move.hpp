// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/streaming.hpp"

// Second half of a split: a team moves the rows of a range to where they belong in the partitions.

namespace karpos::detail::partition {

/// A step for GPUs. A team (block) sorts a tile of rows by partition in its scratch (shared
/// memory), and writes each partition's run of rows to adjacent addresses. Teams process tiles in
/// turn, and reserve space in partitions as they go. So rows that are written at about the same
/// time lie together, in whole sectors and pages of memory. In a stable partition each team
/// processes its own range instead. There the threads of a warp hold 32 adjacent rows at a time,
/// and rank them by ballots into counters of their warp.
///
/// To says where rows go:
/// - places: positions that were counted before.
/// - fixed_partitions: partitions of one capacity. Runs that do not fit go to an overflow list.
/// - fine_partitions: a tile has rows of one coarse partition only, and goes to the fine partitions
///   of that one. A coarse partition may lie in several pieces.
/// - recorded_partitions: fixed_partitions, and the order of each tile (restore.hpp).
///
/// Out is the array of the output, or an object that stores the pieces of a row in several arrays.
/// If a source has a type `payload`, that piece of a row is loaded when the row is sorted, and
/// takes no registers before. Space is reserved in 32 bits: 64-bit results of overlapping atomics
/// would not stay in a thread's registers.
///
/// Source: Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016 (block-level multisplit).
template <class ExecSpace, class Source, class PartitionOf, bool Stable, class To = places,
          class Out = typename Source::row*, class Tuned = tuning<ExecSpace>>
class move_tiles {
  using row = typename Source::row;
  using loaded = typename Source::loaded;
  using tuned = Tuned;
  using filter = typename To::filter_type;
  static constexpr bool in_fixed_partitions = !std::is_same_v<To, places>,
                        has_filter = !std::is_same_v<filter, no_filter>,
                        from_fixed_partitions = requires(To const to) { to.from; },
                        is_recorded = requires(To const to) { to.record; },
                        has_payload = requires { typename Source::payload; };
  static_assert(!(Stable && in_fixed_partitions) && !(is_recorded && has_payload));
  /// Maximum of rows of a tile that a thread holds. If rows are long: at most what the scratch
  /// holds for all threads, but no less than eight.
  static constexpr int max_each = Kokkos::min(
      tuned::rows_each(Stable, sizeof(loaded)),
      Kokkos::max(tuned::scratch_bytes / (tuned::threads * static_cast<int>(sizeof(row))) / 4 * 4,
                  8));
  static constexpr int width = tuned::width, groups = tuned::groups(Stable);
  static_assert(max_each * tuned::threads <= (has_filter ? 1 << 15 : 1 << 16),
                "ranks have 16 bits");
  /// Adjacent rows that a thread loads at once. The number of rows of a thread is a multiple of it.
  static constexpr int run = Stable ? 1 : Kokkos::min(neighbours<Source>, max_each & -max_each);
  /// An index into the output, modulo 2^32 or 2^64.
  using index = std::conditional_t<Stable, std::uint64_t, std::uint32_t>;
  /// An index into the source. Fixed-capacity partitions may span more than 2^32 places.
  using source_index = std::conditional_t<from_fixed_partitions, std::uint64_t, index>;

 public:
  static constexpr int threads =
                           tuned::tile_threads(Stable, run * sizeof(row), filter::scratch_bytes),
                       teams_at_once = tuned::teams_at_once;
  static constexpr std::size_t scratch_bytes = tuned::scratch_bytes;

  move_tiles(Source const& s, PartitionOf const& p, row_ranges const& r, To const& to,
             Out const& out)
      : m_source(s),
        m_partition_of(p),
        m_ranges(r),
        m_to(to),
        m_out(out),
        m_each(is_balanced ? balanced(most_rows_each()) : 0) {}

  /// Returns the number of teams that the rows are meant for. For the host, as tile_rows.
  int teams() const { return m_ranges.count; }
  /// Returns the number of rows of a tile, except perhaps of the last one.
  std::uint32_t tile_rows() const { return static_cast<std::uint32_t>(rows_each() * threads); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const each = rows_each(), size = each * t.size();
    memory const m = memory_of(t);
    zero_counts(t, m);
    if constexpr (has_filter) m_to.filter.begin(t, m.filtered);
    loaded rows[max_each];
    tile now = first_tile(t, size);
    load(t, rows, each, now);
    while (now.rows > 0) {
      rank_list ranks;
      rank_rows(t, m, rows, ranks, each, now);
      int const sorted = reserve_runs(t, m, now);
      if constexpr (has_payload)
        sort_with_payload(t, m, rows, ranks, each, now);
      else if constexpr (is_recorded)
        sort_and_record(t, m, rows, ranks, each, now);
      else
        sort(t, m, rows, ranks, each, now);
      t.barrier();
      tile const next = next_tile(t, now, size);
      load(t, rows, each, next);
      zero_counts(t, m);
      write_runs(t, m, sorted, now);
      now = next;
    }
    if constexpr (has_filter) m_to.filter.end(t, m.filtered);
  }

 private:
  /// Partitions that a thread reserves space in at once.
  static constexpr int partitions_each = Stable ? 1 : tuned::partitions_each;

  /// Rows that are sorted at once; few enough for an int.
  struct tile {
    source_index first;
    int rows;
    std::uint32_t number = 0;  // if it is recorded, or rows come from fixed-capacity partitions
    std::uint32_t coarse = 0;  // the partition that they come from
  };
  template <class Team>
  KOKKOS_FUNCTION tile first_tile(Team const& t, int size) const {
    auto const rank = static_cast<std::uint64_t>(t.league_rank());
    if constexpr (from_fixed_partitions)
      return tile_of_partition(t, static_cast<std::uint32_t>(rank), size);
    else
      return tile_at(t, Stable ? m_ranges.begin(t.league_rank()) : rank * length_of(size), size);
  }
  template <class Team>
  KOKKOS_FUNCTION tile next_tile(Team const& t, tile const& now, int size) const {
    if constexpr (from_fixed_partitions)
      return tile_of_partition(t, now.number + static_cast<std::uint32_t>(t.league_size()), size);
    else
      return tile_at(t, std::uint64_t(now.first) + step_of(t, size), size);
  }
  KOKKOS_FUNCTION static std::uint64_t length_of(int size) {
    return static_cast<std::uint64_t>(size);
  }
  template <class Team>
  KOKKOS_FUNCTION tile tile_at(Team const& t, std::uint64_t first, int size) const {
    std::uint64_t const last = Stable ? m_ranges.end(t.league_rank()) : m_source.size();
    if (first >= last) return {0, 0};
    return {static_cast<source_index>(first),
            static_cast<int>(Kokkos::min(last - first, length_of(size))),
            is_recorded ? static_cast<std::uint32_t>(first) / static_cast<std::uint32_t>(size) : 0};
  }
  /// Returns the distance between successive tiles of a team.
  template <class Team>
  KOKKOS_FUNCTION static std::uint64_t step_of(Team const& t, int size) {
    return length_of(size) * static_cast<std::uint64_t>(Stable ? 1 : t.league_size());
  }
  /// Returns the team's first tile with rows, beginning with tile `number`. Every fixed-capacity
  /// partition has the same number of tiles, some of which may be empty.
  template <class Team>
  KOKKOS_FUNCTION tile tile_of_partition(Team const& t, std::uint32_t number, int size) const {
    auto const length = static_cast<std::uint32_t>(size);
    std::uint32_t const each = (m_to.from.capacity + length - 1) / length,
                        tiles = each * static_cast<std::uint32_t>(m_to.from.partitions);
    for (; number < tiles; number += static_cast<std::uint32_t>(t.league_size())) {
      auto const at = m_to.from.chunk_of(number, each);
      std::uint32_t const begin = at.chunk * length, rows = m_to.from.stored_rows(at.n);
      if (begin < rows)
        return {m_to.from.first_row(at.n) + begin,
                static_cast<int>(Kokkos::min(rows - begin, length)), number,
                m_to.from.region(at.n)};
    }
    return {0, 0};
  }
  /// Returns the first of the partitions that the rows of a tile go to. relative_partition returns
  /// a row's partition relative to that one.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t first_partition(tile const& now) const {
    return from_fixed_partitions ? now.coarse * static_cast<std::uint32_t>(m_to.partitions) : 0;
  }
  template <class AnyRow>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t relative_partition(tile const& now,
                                                               AnyRow const& r) const {
    return m_partition_of(r) - first_partition(now);
  }
  /// Ranks of a thread's rows within their partition and group of threads, two per register.
  class rank_list {
   public:
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator[](int j) const {
      return (m_pairs[j / 2] >> (16 * (j % 2))) & 0xffff;
    }
    KOKKOS_FORCEINLINE_FUNCTION void set(int j, std::uint32_t rank) {
      std::uint32_t& pair = m_pairs[j / 2];
      pair = j % 2 == 0 ? rank : device::opaque(pair | rank << 16);
    }

   private:
    std::uint32_t m_pairs[(max_each + 1) / 2] = {};
  };
  /// A team's scratch.
  struct memory {
    index* to;  // of a partition: output index minus tile index of its run
    std::uint32_t*
        begin;  // group g, partition p at g * partitions + p: rows, then where their run begins
    row* sorted;
    // Partitions of rows before and after the sort, of a recorded split: at most 256. H100, 2^27
    // keys of 4 bytes into 129 partitions: 0.79 ms, and 1.25 ms if each key is hashed three times.
    std::uint8_t *of_row, *of_sorted;
    std::byte* filtered;
  };
  KOKKOS_FUNCTION std::size_t counter_bytes() const {
    return static_cast<std::size_t>((m_to.partitions * tuned::counter_bytes(Stable) + 15) / 16 *
                                    16);
  }
  /// Whether the host chooses a tile length for which teams have equal numbers of tiles. Not for
  /// rows of 16 bytes: a length that is unknown at compile time costs them registers (H100, 2^26
  /// rows into `fixed_partitions`: 2.27 instead of 2.02 ms).
  static constexpr bool is_balanced = !Stable && !from_fixed_partitions && sizeof(loaded) <= 8;
  KOKKOS_FUNCTION int rows_each() const { return is_balanced ? m_each : most_rows_each(); }
  /// Returns the maximum of rows per thread and tile: what the scratch holds beside the counters.
  KOKKOS_FUNCTION int most_rows_each() const {
    std::size_t const available = tuned::scratch_bytes - counter_bytes() - filter::scratch_bytes;
    constexpr std::size_t bytes_each = sizeof(row) + (is_recorded ? 2 : 0);
    return Kokkos::min(static_cast<int>(available / (threads * bytes_each)), int(max_each)) / run *
           run;
  }
  /// Returns the fewest rows per thread and tile that give a team no more tiles than `most` does.
  /// Otherwise all teams would wait at the end for the last tiles of a few. Runs on the host,
  /// because the divisions would cost the kernel registers.
  int balanced(int most) const {
    std::uint64_t const of_each =
                            std::uint64_t(threads) * static_cast<std::uint64_t>(m_ranges.count),
                        rows = m_ranges.rows,
                        tile_rows = of_each * static_cast<std::uint64_t>(most),
                        tiles = Kokkos::max((rows + tile_rows - 1) / tile_rows, std::uint64_t(1));
    auto const each = static_cast<int>((rows + of_each * tiles - 1) / (of_each * tiles));
    return Kokkos::clamp((each + run - 1) / run * run, int(run), most);
  }
  template <class Team>
  KOKKOS_FUNCTION memory memory_of(Team const& t) const {
    auto* const to = reinterpret_cast<index*>(t.scratch());
    auto* const sorted = reinterpret_cast<row*>(t.scratch() + counter_bytes());
    int const rows = is_recorded ? most_rows_each() * threads : 0;
    auto* const partitions = reinterpret_cast<std::uint8_t*>(sorted + rows);
    return {to,
            reinterpret_cast<std::uint32_t*>(to + m_to.partitions),
            sorted,
            partitions,
            partitions + rows,
            t.scratch() + tuned::scratch_bytes - filter::scratch_bytes};
  }
  /// Returns the counters of the thread's group.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t* group_of(Team const& t, memory const& m) const {
    return Stable ? m.begin + t.rank() / width * m_to.partitions : m.begin;
  }
  template <class Team>
  KOKKOS_FUNCTION void zero_counts(Team const& t, memory const& m) const {
    for (int i = t.rank(); i < groups * m_to.partitions; i += t.size()) m.begin[i] = 0;
  }
  /// Indices of a thread's rows in the tile: row j is at first + j / run * step + j % run, if that
  /// is below last. Threads of a warp have adjacent runs. In a stable partition each warp has a
  /// contiguous piece of the tile.
  struct strided {
    int first, step, last;
    KOKKOS_FORCEINLINE_FUNCTION int operator[](int j) const {
      return first + j / run * step + j % run;
    }
  };
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static strided mine(Team const& t, int each, tile const& now) {
    if constexpr (Stable) {
      int const warp = t.rank() / width, rows = each * width;
      return {warp * rows + t.rank() % width, width, Kokkos::min(warp * rows + rows, now.rows)};
    } else {
      return {t.rank() * run, t.size() * run, now.rows};
    }
  }
  /// Calls f(j, index in the tile) for each of the thread's rows.
  template <class Team, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_my_rows(Team const& t, int each, tile const& now,
                                                      F const& f) {
    strided const i = mine(t, each, now);
    KARPOS_UNROLL
    for (int j = 0; j < max_each; ++j)
      if (i[j] < i.last) f(j, i[j]);
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void load(Team const& t, loaded (&rows)[max_each], int each,
                                        tile const& now) const {
    auto const& source = partition::unmixed_source(m_source);
    auto const load_one = [&](int j, int i) {
      rows[j] = source.load(std::uint64_t(now.first) + static_cast<std::uint64_t>(i));
    };
    if constexpr (run == 1) {
      for_my_rows(t, each, now, load_one);
    } else {
      strided const i = mine(t, each, now);
      KARPOS_UNROLL
      for (int j = 0; j < max_each; j += run)
        if (i[j + run - 1] < i.last)
          source.template load_neighbours<run>(
              std::uint64_t(now.first) + static_cast<std::uint64_t>(i[j]), rows + j);
        else
          for (int k = j; k < j + run; ++k)
            if (i[k] < i.last) load_one(k, i[k]);
    }
  }
  /// Computes the rank of each row.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void rank_rows(Team const& t, memory const& m,
                                             loaded (&rows)[max_each], rank_list& ranks, int each,
                                             tile const& now) const {
    t.barrier();  // all counts are zero
    if constexpr (Stable)
      rank_in_order(t, m, rows, ranks, each, now);
    else
      for_my_rows(t, each, now, [&](int j, int i) {
        partition::mix_key(m_source, rows[j]);
        ranks.set(j, rank_or_filter(m, now, rows[j],
                                    std::uint64_t(now.first) + static_cast<std::uint64_t>(i)));
      });
    t.barrier();
  }
  /// Returns the row's rank in its partition; 2^15 plus the filter's number if that keeps the row.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rank_or_filter(memory const& m, tile const& now,
                                                           loaded const& r,
                                                           [[maybe_unused]] std::uint64_t i) const {
    if constexpr (has_filter) {
      std::uint32_t const slot = m_to.filter.try_filter(m.filtered, r, i);
      if (slot != filter::none) return filtered | slot;
    }
    std::uint32_t const p = relative_partition(now, r);
    if constexpr (is_recorded) m.of_row[i - now.first] = static_cast<std::uint8_t>(p);
    return device::fetch_add(device::scratch(m.begin + p), 1);
  }
  /// Computes the ranks in the order of rows. `equal` has a bit for each lane whose row goes to the
  /// same partition: one ballot per bit of the partition number.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void rank_in_order(Team const& t, memory const& m,
                                                 loaded (&rows)[max_each], rank_list& ranks,
                                                 int each, tile const& now) const {
    auto const warp = t.template this_tile<width>();
    int const lane = t.rank() % width;
    strided const i = mine(t, each, now);
    std::uint32_t* const counts = group_of(t, m);
    KARPOS_UNROLL
    for (int j = 0; j < max_each; ++j) {
      bool const valid = i[j] < i.last;
      if (valid) partition::mix_key(m_source, rows[j]);
      std::uint32_t const p = valid ? m_partition_of(rows[j]) : 0;
      auto equal = warp.ballot([&](int) { return valid; });
      for (std::uint32_t bit = 1; bit < static_cast<std::uint32_t>(m_to.partitions); bit <<= 1) {
        auto const ones = warp.ballot([&](int) { return (p & bit) != 0; });
        equal = equal & ((p & bit) != 0 ? ones : ~ones);
      }
      std::uint32_t const before = counts[p];
      warp.sync();
      int const rank = equal.rank(lane);
      if (valid && rank == 0) counts[p] = before + static_cast<std::uint32_t>(equal.count());
      warp.sync();
      ranks.set(j, before + static_cast<std::uint32_t>(rank));
    }
  }
  /// Reserves space in the output for the run of each partition, and replaces the run's length by
  /// where it begins in the tile. Returns the length of all runs.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION int reserve_runs(Team const& t, memory const& m,
                                               tile const& now) const {
    std::uint32_t begin = 0;
    for (int p = 0; p < m_to.partitions; p += partitions_each * t.size())
      begin += reserve(t, m, now, p, begin);
    t.barrier();
    return static_cast<int>(begin);
  }
  /// Reserves space for partitions_each * t.size() partitions from `first` on, whose runs begin at
  /// `begin` in the tile. Returns the length of these runs.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t reserve(Team const& t, memory const& m, tile const& now,
                                                    int first, std::uint32_t begin) const {
    std::uint32_t taken[partitions_each] = {};
    std::uint64_t mine = 0, total = 0;
    KARPOS_UNROLL
    for (int k = 0; k < partitions_each; ++k) {
      int const p = first + t.rank() + k * t.size();
      std::uint32_t const count = p < m_to.partitions ? length(m, p) : 0;
      mine += count;
      if (!Stable && count != 0)
        taken[k] = device::fetch_add(m_to.taken + first_partition(now) + p, count);
    }
    begin += static_cast<std::uint32_t>(t.prefix_sum(mine, total));
    KARPOS_UNROLL
    for (int k = 0; k < partitions_each; ++k) {
      int const p = first + t.rank() + k * t.size();
      if (p >= m_to.partitions) break;
      std::uint32_t const count = length(m, p);
      index const to = reserve_run(t, static_cast<int>(first_partition(now)) + p, count, taken[k]);
      m.to[p] = to - begin;
      if constexpr (is_recorded)
        m_to.record.set_run(now.number, p,
                            to < overflowed ? static_cast<std::uint32_t>(p) * m_to.capacity + to
                                            : m_to.record.no_run,
                            begin, count);
      place_run(m, p, begin);
      begin += count;
    }
    return static_cast<std::uint32_t>(total);
  }
  /// Returns where a run begins in the output. If it overflows its fixed capacity, returns its
  /// index on the overflow list, plus 2^31.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION index reserve_run(Team const& t, int p, std::uint32_t count,
                                                std::uint32_t taken) const {
    if constexpr (Stable) {
      std::uint64_t* const next = m_to.of_range(t.league_rank()) + p;
      std::uint64_t const to = *next;
      *next = to + count;
      return to;
    } else if constexpr (in_fixed_partitions) {
      return taken + count <= m_to.capacity ? taken
                                            : m_to.reserve_overflow(p, count, taken) | overflowed;
    } else {
      return static_cast<index>(m_to.begins[p]) + taken;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t length(memory const& m, int p) const {
    std::uint32_t sum = 0;
    KARPOS_UNROLL_BY(4)
    for (int g = 0; g < groups; ++g) sum += m.begin[g * m_to.partitions + p];
    return sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void place_run(memory const& m, int p, std::uint32_t begin) const {
    KARPOS_UNROLL_BY(4)
    for (int g = 0; g < groups; ++g) {
      std::uint32_t& of_group = m.begin[g * m_to.partitions + p];
      std::uint32_t const count = of_group;
      of_group = begin;
      begin += count;
    }
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sort(Team const& t, memory const& m,
                                        loaded const (&rows)[max_each], rank_list const& ranks,
                                        int each, tile const& now) const {
    std::uint32_t const* const begin = group_of(t, m);
    [[maybe_unused]] typename filter::pending pending{};
    for_my_rows(t, each, now, [&](int j, int i) {
      if constexpr (has_filter)
        if (ranks[j] >= filtered)
          return m_to.filter.add(m.filtered, pending, ranks[j] - filtered, rows[j],
                                 std::uint64_t(now.first) + static_cast<std::uint64_t>(i));
      loaded const r = device::opaque(rows[j]);  // else compilers keep the partitions of all rows
      m.sorted[begin[relative_partition(now, r)] + ranks[j]] =
          m_source.make(r, std::uint64_t(now.first) + static_cast<std::uint64_t>(i));
    });
    if constexpr (has_filter) m_to.filter.merge(m.filtered, pending);
  }
  /// Sorts rows, and records where each of them went, if that is wanted. Adjacent rows are recorded
  /// at once.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sort_and_record(Team const& t, memory const& m,
                                                   loaded const (&rows)[max_each],
                                                   rank_list const& ranks, int each,
                                                   tile const& now) const {
    std::uint32_t const* const begin = group_of(t, m);
    strided const i = mine(t, each, now);
    KARPOS_UNROLL
    for (int j = 0; j < max_each; j += run) {
      struct alignas(2 * run) places_of_run {
        std::uint16_t place[run];
      } to{};
      std::uint64_t const first = std::uint64_t(now.first) + static_cast<std::uint64_t>(i[j]);
      KARPOS_UNROLL
      for (int k = 0; k < run; ++k)
        if (i[j + k] < i.last) {
          std::uint8_t const p = m.of_row[i[j + k]];
          std::uint32_t const place = begin[p] + ranks[j + k];
          m.sorted[place] = m_source.make(rows[j + k], first + static_cast<std::uint64_t>(k));
          m.of_sorted[place] = p;
          to.place[k] = static_cast<std::uint16_t>(place);
        }
      if (m_to.record.places == nullptr) continue;
      std::uint16_t* const out = m_to.record.places + first;
      if (i[j + run - 1] < i.last)
        *reinterpret_cast<places_of_run*>(out) = to;
      else
        for (int k = 0; k < run; ++k)
          if (i[j + k] < i.last) out[k] = to.place[k];
    }
  }
  /// Sorts rows, and loads their `payload`, of adjacent rows at once.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sort_with_payload(Team const& t, memory const& m,
                                                     loaded const (&rows)[max_each],
                                                     rank_list const& ranks, int each,
                                                     tile const& now) const {
    static_assert(!has_filter);
    std::uint32_t const* const begin = group_of(t, m);
    strided const i = mine(t, each, now);
    auto const row_at = [&](int j) { return std::uint64_t(now.first) + std::uint64_t(i[j]); };
    KARPOS_UNROLL
    for (int j = 0; j < max_each; j += run) {
      typename Source::payload payload[run];
      if (i[j + run - 1] < i.last) m_source.template load_payload<run>(row_at(j), payload);
      KARPOS_UNROLL
      for (int k = 0; k < run; ++k) {
        if (i[j + k] >= i.last) continue;
        if (i[j + run - 1] >= i.last) m_source.template load_payload<1>(row_at(j + k), payload + k);
        loaded const r = device::opaque(rows[j + k]);
        m.sorted[begin[relative_partition(now, r)] + ranks[j + k]] = m_source.make(r, payload[k]);
      }
    }
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_runs(Team const& t, memory const& m, int rows,
                                              tile const& now) const {
    for (int i = t.rank(); i < rows; i += t.size()) {
      row const r = m.sorted[i];
      std::uint32_t const p =
          is_recorded ? m.of_sorted[i] + first_partition(now) : m_partition_of(r);
      index const to = m.to[p - first_partition(now)] + static_cast<index>(i);
      if constexpr (!in_fixed_partitions)
        m_out[to] = r;
      else if (to < overflowed)
        m_out[static_cast<std::uint64_t>(p) * m_to.capacity + to] = r;
      else if (to - overflowed < m_to.list_capacity)
        m_to.list[to - overflowed] = r;
    }
  }

  static constexpr std::uint32_t overflowed = std::uint32_t(1) << 31, filtered = std::uint32_t(1)
                                                                                 << 15;

  Source m_source;
  PartitionOf m_partition_of;
  row_ranges m_ranges;
  To m_to;
  Out m_out;
  int m_each;  // rows per thread and tile, if is_balanced
};

/// A cache line that buffers rows of one partition until it is full (software write combining).
/// Rows whose size does not divide a line are not buffered (is_buffered).
template <class Row>
struct alignas(device::line_bytes) line_of_rows {
  static constexpr bool is_buffered = device::line_bytes % sizeof(Row) == 0;
  static constexpr std::uint64_t count = is_buffered ? device::line_bytes / sizeof(Row) : 1;
  Row rows[count];
};

/// The buffered lines of all ranges.
template <class Row>
struct waiting_lines {
  line_of_rows<Row>*
      lines;  // range r's begin at r * (stride + batch_rows): one per partition, then spare ones
  std::uint32_t* at;       // range r, partition p at r * stride + p: index of its next buffered row
  std::uint64_t* written;  // likewise: its next line in the output
};

/// A step for CPUs: a thread buffers a cache line of rows per partition, and writes the line when
/// it is full. It buffers a batch of rows without a branch, because no processor predicts which row
/// fills a line. A full line goes on a list, and its partition gets a spare line. After the batch
/// the full lines are written, and become the spare ones.
///
/// Source: Satish et al., "Fast sort on CPUs and GPUs", SIGMOD 2010; Wassenberg, Sanders,
///   "Engineering a multi-core radix sort", Euro-Par 2011 (software write-combining buffers,
///   non-temporal stores).
template <class ExecSpace, class Source, class PartitionOf>
class move_lines {
  using row = typename Source::row;
  using line = line_of_rows<row>;
  static constexpr std::uint32_t line_rows = line::count;
  static constexpr int batch = tuning<ExecSpace>::batch_rows;

 public:
  static constexpr int threads = 1, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64;

  move_lines(Source const& s, PartitionOf const& p, row_ranges const& r, places const& to, row* out,
             waiting_lines<row> const& w, bool past_caches)
      : m_source(s),
        m_partition_of(p),
        m_ranges(r),
        m_to(to),
        m_out(out),
        m_waiting(w),
        m_past_caches(past_caches) {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if constexpr (line::is_buffered)
      move_buffered(t.league_rank());
    else
      move_unbuffered(t.league_rank());
  }

 private:
  /// The buffers of a range. `out` is the start of the cache line in which the output begins.
  struct memory {
    row* rows;               // partition p's begin at line p
    std::uint32_t* at;       // of a partition: index of its next row in rows
    std::uint64_t* written;  // of a partition: its next line in the output
    std::uint64_t* firsts;   // of a partition: its first row in the output
    row* out;
  };
  struct full_line {
    std::uint32_t partition, last;  // index of the line's last row in rows
  };

  KOKKOS_FUNCTION void move_unbuffered(int range) const {
    std::uint64_t* const next = m_to.of_range(range);
    for (std::uint64_t i = m_ranges.begin(range); i < m_ranges.end(range); ++i) {
      auto const loaded = m_source.load(i);
      m_out[next[m_partition_of(loaded)]++] = m_source.make(loaded, i);
    }
  }
  KOKKOS_FUNCTION void move_buffered(int range) const {
    memory const m = begin_lines(range);
    std::uint32_t spare[batch];
    for (int j = 0; j < batch; ++j)
      spare[j] = static_cast<std::uint32_t>(m_to.partitions + j) * line_rows;
    std::uint64_t const end = m_ranges.end(range);
    for (std::uint64_t i = m_ranges.begin(range); i < end; i += batch) {
      full_line full[batch];
      std::uint32_t const n = fill(m, i, Kokkos::min(i + batch, end), spare, full);
      for (std::uint32_t j = 0; j < n; ++j) {
        spare[j] = full[j].last / line_rows * line_rows;
        write_full(m, full[j].partition, m.rows + spare[j]);
      }
    }
    write_rest(m);
    device::end_streaming();
  }
  KOKKOS_FUNCTION memory begin_lines(int range) const {
    std::uint64_t const skew = reinterpret_cast<std::uintptr_t>(m_out) / sizeof(row) % line_rows;
    auto const r = static_cast<std::uint64_t>(range);
    std::uint64_t const partitions = r * m_to.stride;
    memory const m{m_waiting.lines[partitions + r * batch].rows, m_waiting.at + partitions,
                   m_waiting.written + partitions, m_to.of_range(range), m_out - skew};
    for (int p = 0; p < m_to.partitions; ++p) {
      std::uint64_t const first = m.firsts[p] += skew, before = first % line_rows;
      m.at[p] = static_cast<std::uint32_t>(p) * line_rows + static_cast<std::uint32_t>(before);
      m.written[p] = first - before;
    }
    return m;
  }
  /// Buffers rows [begin, end), at most a batch. Lists the lines they fill; returns their number.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t fill(memory const& m, std::uint64_t begin,
                                                 std::uint64_t end, std::uint32_t const* spare,
                                                 full_line* full) const {
    std::uint32_t n = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      auto const loaded = m_source.load(i);
      std::uint32_t const p = m_partition_of(loaded), at = m.at[p], next = at + 1;
      bool const is_full = next % line_rows == 0;
      m.rows[at] = m_source.make(loaded, i);
      full[n] = {p, at};
      m.at[p] = device::select(is_full, spare[n], next);
      n += is_full;
    }
    return n;
  }
  KOKKOS_FORCEINLINE_FUNCTION void write_full(memory const& m, std::uint32_t partition,
                                              row const* rows) const {
    std::uint64_t const to = m.written[partition];
    m.written[partition] = to + line_rows;
    if (m_past_caches && to >= m.firsts[partition])
      device::stream_line(m.out + to, rows);
    else
      write(m, partition, to, rows, line_rows);
  }
  KOKKOS_FUNCTION void write_rest(memory const& m) const {
    for (int i = 0; i < m_to.partitions; ++i) {
      auto const partition = static_cast<std::uint32_t>(i);
      std::uint32_t const rows = m.at[partition] % line_rows;
      write(m, partition, m.written[partition], m.rows + (m.at[partition] - rows), rows);
    }
  }
  /// Writes the first `count` rows of a line, but for those before the range's first row.
  KOKKOS_FORCEINLINE_FUNCTION static void write(memory const& m, std::uint32_t partition,
                                                std::uint64_t to, row const* rows,
                                                std::uint32_t count) {
    std::uint64_t const first = m.firsts[partition];
    for (std::uint32_t i = to < first ? static_cast<std::uint32_t>(first - to) : 0; i < count; ++i)
      m.out[to + i] = rows[i];
  }

  Source m_source;
  PartitionOf m_partition_of;
  row_ranges m_ranges;
  places m_to;
  row* m_out;
  waiting_lines<row> m_waiting;
  bool m_past_caches;  // whether full lines bypass the caches
};

}  // namespace karpos::detail::partition
