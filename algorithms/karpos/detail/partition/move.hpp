// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/partition/rows.hpp"
#include "karpos/detail/partition/tuning.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/streaming.hpp"

// Second half of a partition: moves the rows of a range, one team each, to where its rows of a part begin.

namespace karpos::detail::partition {

/// A step for GPUs. A team sorts a tile of rows by part in its scratch, and writes it in runs of a part each: neighbours
/// to neighbours. Teams take tiles in turns and room in a part as they go, so that what is written at about the same
/// time lies together, whole sectors and pages of memory. In a stable partition each goes through its own range, and the
/// threads of a warp, which hold 32 neighbours at a time, rank them by ballots into counters of their warp.
///
/// To says where rows go: places, or rooms, where a run that does not fit goes to the list, or rooms of rooms, where a tile
/// has rows of one room alone, which belong to its parts; Out is their array, or what has places for their parts in several. A
/// source with a `rest` of a row loads it only when the row is sorted: what a thread need not keep in registers. What teams
/// take is counted in 32 bits: eight 64-bit answers would not stay in a thread's registers.
///
/// Source: Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016 (block-level multisplit).
template <class ExecSpace, class Source, class Part, bool Stable, class To = places,
          class Out = typename Source::row*, class Tuned = tuning<ExecSpace>>
class move_tiles {
  using row = typename Source::row;
  using loaded = typename Source::loaded;
  using tuned = Tuned;
  using holder = typename To::holder_type;
  static constexpr bool in_rooms = !std::is_same_v<To, places>,
                        holds = !std::is_same_v<holder, holds_nothing>,
                        from_rooms = requires(To const to) { to.from; },
                        has_rest = requires { typename Source::rest; };
  static_assert(!(Stable && in_rooms));
  /// Rows of a tile that a thread holds at most: of long ones no more than all threads have room for.
  static constexpr int max_each = Kokkos::min(
      tuned::rows_each(Stable, sizeof(loaded)),
      Kokkos::max(tuned::scratch_bytes / (tuned::threads * static_cast<int>(sizeof(row))) / 4 * 4,
                  8));
  static constexpr int width = tuned::width, groups = tuned::groups(Stable);
  static_assert(max_each * tuned::threads <= (holds ? 1 << 15 : 1 << 16), "ranks have 16 bits");
  /// Rows of a thread that are neighbours: those of one load. A thread's rows are so many, times a whole number.
  static constexpr int run = Stable ? 1 : Kokkos::min(neighbours<Source>, max_each & -max_each);
  /// Of a row in the output, modulo 2^32 or 2^64.
  using index = std::conditional_t<Stable, std::uint64_t, std::uint32_t>;
  /// Of a row in the source: rooms may be longer than what is in them.
  using source_index = std::conditional_t<from_rooms, std::uint64_t, index>;

 public:
  static constexpr int threads =
                           tuned::tile_threads(Stable, run * sizeof(row), holder::scratch_bytes),
                       teams_at_once = tuned::teams_at_once;
  static constexpr std::size_t scratch_bytes = tuned::scratch_bytes;

  move_tiles(Source const& s, Part const& p, row_ranges const& r, To const& to, Out const& out)
      : m_source(s),
        m_part(p),
        m_ranges(r),
        m_to(to),
        m_out(out),
        m_each(is_balanced ? balanced(most_rows_each()) : 0) {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    int const each = is_balanced ? m_each : most_rows_each(), size = each * t.size();
    memory const m = memory_of(t);
    zero_counts(t, m);
    if constexpr (holds) m_to.holder.begin(t, m.held);
    loaded rows[max_each];
    tile now = first_tile(t, size);
    load(t, rows, each, now);
    while (now.rows > 0) {
      rank_list ranks;
      rank_rows(t, m, rows, ranks, each, now);
      int const sorted = reserve_runs(t, m, now);
      if constexpr (has_rest)
        sort_with_rest(t, m, rows, ranks, each, now);
      else
        sort(t, m, rows, ranks, each, now);
      t.barrier();
      tile const next = next_tile(t, now, size);
      load(t, rows, each, next);
      zero_counts(t, m);
      write_runs(t, m, sorted, now);
      now = next;
    }
    if constexpr (holds) m_to.holder.end(t, m.held);
  }

 private:
  /// Parts that a thread takes room for at once.
  static constexpr int parts_each = Stable ? 1 : tuned::parts_each;

  /// Rows that are sorted at once: few enough for an int.
  struct tile {
    source_index first;
    int rows;
    std::uint32_t number = 0;  // of tiles from rooms
    std::uint32_t room = 0;    // that they are from
  };
  template <class Team>
  KOKKOS_FUNCTION tile first_tile(Team const& t, int size) const {
    auto const rank = static_cast<std::uint64_t>(t.league_rank());
    if constexpr (from_rooms)
      return tile_of_room(t, static_cast<std::uint32_t>(rank), size);
    else
      return tile_at(t, Stable ? m_ranges.begin(t.league_rank()) : rank * length_of(size), size);
  }
  template <class Team>
  KOKKOS_FUNCTION tile next_tile(Team const& t, tile const& now, int size) const {
    if constexpr (from_rooms)
      return tile_of_room(t, now.number + static_cast<std::uint32_t>(t.league_size()), size);
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
            static_cast<int>(Kokkos::min(last - first, length_of(size)))};
  }
  /// How far a team's tiles are apart.
  template <class Team>
  KOKKOS_FUNCTION static std::uint64_t step_of(Team const& t, int size) {
    return length_of(size) * static_cast<std::uint64_t>(Stable ? 1 : t.league_size());
  }
  /// The first tile of a team, from one of that number on, that has rows: each room has as many tiles as every other.
  template <class Team>
  KOKKOS_FUNCTION tile tile_of_room(Team const& t, std::uint32_t number, int size) const {
    auto const length = static_cast<std::uint32_t>(size);
    std::uint32_t const each = (m_to.from.room + length - 1) / length,
                        tiles = each * static_cast<std::uint32_t>(m_to.from.parts);
    for (; number < tiles; number += static_cast<std::uint32_t>(t.league_size())) {
      std::uint32_t const room = number / each, begin = (number - room * each) * length,
                          rows = m_to.from.rows_in_room(room);
      if (begin < rows)
        return {std::uint64_t(room) * m_to.from.room + begin,
                static_cast<int>(Kokkos::min(rows - begin, length)), number, room};
    }
    return {0, 0};
  }
  /// The first of the parts that the rows of a tile belong to, and the part of a row among these.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t first_part(tile const& now) const {
    return from_rooms ? now.room * static_cast<std::uint32_t>(m_to.parts) : 0;
  }
  template <class AnyRow>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t part_in(tile const& now, AnyRow const& r) const {
    return m_part(r) - first_part(now);
  }
  /// Ranks of a thread's rows among the rows of their part and group, two in a register.
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
    index* to;  // of a part: from an index of the sorted tile to one of the output
    std::uint32_t*
        begin;  // of group g and part p at g * parts + p: rows; then where their run begins in the tile
    row* sorted;
    std::byte* held;
  };
  KOKKOS_FUNCTION std::size_t counter_bytes() const {
    return static_cast<std::size_t>((m_to.parts * tuned::counter_bytes(Stable) + 15) / 16 * 16);
  }
  /// Whether tiles are as large for all teams. Not of rows of 16 bytes: a number of rows that is not known when the kernel is
  /// compiled costs them registers (H100, 2^26 rows into rooms: 2.27 instead of 2.02 ms).
  static constexpr bool is_balanced = !Stable && !from_rooms && sizeof(loaded) <= 8;
  /// Rows of a tile for each thread, at most: those that have room beside the counters.
  KOKKOS_FUNCTION int most_rows_each() const {
    std::size_t const room = tuned::scratch_bytes - counter_bytes() - holder::scratch_bytes;
    return Kokkos::min(static_cast<int>(room / (threads * sizeof(row))), int(max_each)) / run * run;
  }
  /// As few of them as make no more tiles for a team: else the last ones of a few teams keep all waiting. The host says so, for the
  /// divisions would take registers of the kernel.
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
    return {to, reinterpret_cast<std::uint32_t*>(to + m_to.parts),
            reinterpret_cast<row*>(t.scratch() + counter_bytes()),
            t.scratch() + tuned::scratch_bytes - holder::scratch_bytes};
  }
  /// The counters of a thread's group.
  template <class Team>
  KOKKOS_FUNCTION std::uint32_t* group_of(Team const& t, memory const& m) const {
    return Stable ? m.begin + t.rank() / width * m_to.parts : m.begin;
  }
  template <class Team>
  KOKKOS_FUNCTION void zero_counts(Team const& t, memory const& m) const {
    for (int i = t.rank(); i < groups * m_to.parts; i += t.size()) m.begin[i] = 0;
  }
  /// A thread's rows have these indices in the tile, below last: row j is at first + j / run * step + j % run. Threads of a
  /// warp have neighbours; in a stable partition a warp has neighbours alone.
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
  /// Calls f(j, index in the tile) for each of a thread's rows.
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
    auto const& source = partition::unsettled(m_source);
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
  /// Finds the rank of each row.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void rank_rows(Team const& t, memory const& m,
                                             loaded (&rows)[max_each], rank_list& ranks, int each,
                                             tile const& now) const {
    t.barrier();  // the counts are zero
    if constexpr (Stable)
      rank_in_order(t, m, rows, ranks, each, now);
    else
      for_my_rows(t, each, now, [&](int j, int i) {
        partition::settle(m_source, rows[j]);
        ranks.set(j, rank_or_hold(m, now, rows[j],
                                  std::uint64_t(now.first) + static_cast<std::uint64_t>(i)));
      });
    t.barrier();
  }
  /// The rank of a row in its part; of one that is held back, what its holder knows it by, and 2^15 more.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t rank_or_hold(memory const& m, tile const& now,
                                                         loaded const& r,
                                                         [[maybe_unused]] std::uint64_t i) const {
    if constexpr (holds) {
      std::uint32_t const slot = m_to.holder.take(m.held, r, i);
      if (slot != holder::none) return held | slot;
    }
    return device::fetch_add(device::scratch(m.begin + part_in(now, r)), 1);
  }
  /// The same in the order of the rows.
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
      if (valid) partition::settle(m_source, rows[j]);
      std::uint32_t const p = valid ? m_part(rows[j]) : 0;
      auto equal = warp.ballot([&](int) { return valid; });
      for (std::uint32_t bit = 1; bit < static_cast<std::uint32_t>(m_to.parts); bit <<= 1) {
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
  /// Takes room in the output for the run of each part, and turns its length into where it begins in the tile. Returns: the
  /// length of all runs.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION int reserve_runs(Team const& t, memory const& m,
                                               tile const& now) const {
    std::uint32_t begin = 0;
    for (int p = 0; p < m_to.parts; p += parts_each * t.size())
      begin += reserve(t, m, now, p, begin);
    t.barrier();
    return static_cast<int>(begin);
  }
  /// The same for so many parts from the first one on, whose runs begin there. Returns: the length of the runs.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t reserve(Team const& t, memory const& m, tile const& now,
                                                    int first, std::uint32_t begin) const {
    std::uint32_t taken[parts_each] = {};
    std::uint64_t mine = 0, total = 0;
    KARPOS_UNROLL
    for (int k = 0; k < parts_each; ++k) {
      int const p = first + t.rank() + k * t.size();
      std::uint32_t const count = p < m_to.parts ? length(m, p) : 0;
      mine += count;
      if (!Stable && count != 0)
        taken[k] = device::fetch_add(m_to.taken + first_part(now) + p, count);
    }
    begin += static_cast<std::uint32_t>(t.prefix_sum(mine, total));
    KARPOS_UNROLL
    for (int k = 0; k < parts_each; ++k) {
      int const p = first + t.rank() + k * t.size();
      if (p >= m_to.parts) break;
      std::uint32_t const count = length(m, p);
      m.to[p] = place_of_run(t, static_cast<int>(first_part(now)) + p, count, taken[k]) - begin;
      place_run(m, p, begin);
      begin += count;
    }
    return static_cast<std::uint32_t>(total);
  }
  /// Where a run goes in the output; a run that does not fit into its room: where on the list, and 2^31 more.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION index place_of_run(Team const& t, int p, std::uint32_t count,
                                                 std::uint32_t taken) const {
    if constexpr (Stable)
      return take_own(t, p, count);
    else if constexpr (in_rooms)
      return taken + count <= m_to.room ? taken : m_to.take_listed(p, count, taken) | listed;
    else
      return static_cast<index>(m_to.begins[p]) + taken;
  }
  /// Room among the rows of the team's range.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t take_own(Team const& t, int p,
                                                     std::uint32_t count) const {
    std::uint64_t* const next = m_to.of_range(t.league_rank()) + p;
    std::uint64_t const to = *next;
    *next = to + count;
    return to;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t length(memory const& m, int p) const {
    std::uint32_t sum = 0;
    KARPOS_UNROLL_BY(4)
    for (int g = 0; g < groups; ++g) sum += m.begin[g * m_to.parts + p];
    return sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void place_run(memory const& m, int p, std::uint32_t begin) const {
    KARPOS_UNROLL_BY(4)
    for (int g = 0; g < groups; ++g) {
      std::uint32_t& of_group = m.begin[g * m_to.parts + p];
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
    [[maybe_unused]] typename holder::pending pending{};
    for_my_rows(t, each, now, [&](int j, int i) {
      if constexpr (holds)
        if (ranks[j] >= held)
          return m_to.holder.add(m.held, pending, ranks[j] - held, rows[j],
                                 std::uint64_t(now.first) + static_cast<std::uint64_t>(i));
      loaded const r = device::opaque(rows[j]);  // all the parts would be too many to remember
      m.sorted[begin[part_in(now, r)] + ranks[j]] =
          m_source.make(r, std::uint64_t(now.first) + static_cast<std::uint64_t>(i));
    });
    if constexpr (holds) m_to.holder.merge(m.held, pending);
  }
  /// The same, which loads the rest of neighbours at once.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sort_with_rest(Team const& t, memory const& m,
                                                  loaded const (&rows)[max_each],
                                                  rank_list const& ranks, int each,
                                                  tile const& now) const {
    static_assert(!holds);
    std::uint32_t const* const begin = group_of(t, m);
    strided const i = mine(t, each, now);
    auto const row_at = [&](int j) { return std::uint64_t(now.first) + std::uint64_t(i[j]); };
    KARPOS_UNROLL
    for (int j = 0; j < max_each; j += run) {
      typename Source::rest rest[run];
      if (i[j + run - 1] < i.last) m_source.template load_rest<run>(row_at(j), rest);
      KARPOS_UNROLL
      for (int k = 0; k < run; ++k) {
        if (i[j + k] >= i.last) continue;
        if (i[j + run - 1] >= i.last) m_source.template load_rest<1>(row_at(j + k), rest + k);
        loaded const r = device::opaque(rows[j + k]);
        m.sorted[begin[part_in(now, r)] + ranks[j + k]] = m_source.make(r, rest[k]);
      }
    }
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_runs(Team const& t, memory const& m, int rows,
                                              tile const& now) const {
    for (int i = t.rank(); i < rows; i += t.size()) {
      row const r = m.sorted[i];
      std::uint32_t const p = m_part(r);
      index const to = m.to[p - first_part(now)] + static_cast<index>(i);
      if constexpr (!in_rooms)
        m_out[to] = r;
      else if (to < listed)
        m_out[static_cast<std::uint64_t>(p) * m_to.room + to] = r;
      else if (to - listed < m_to.capacity)
        m_to.list[to - listed] = r;
    }
  }

  static constexpr std::uint32_t listed = std::uint32_t(1) << 31, held = std::uint32_t(1) << 15;

  Source m_source;
  Part m_part;
  row_ranges m_ranges;
  To m_to;
  Out m_out;
  int m_each;  // rows of a tile for each thread, where they are balanced
};

/// A cache line of rows of one part that wait until it is full. Rows that do not fill one do not wait.
template <class Row>
struct alignas(device::line_bytes) line_of_rows {
  static constexpr bool is_filled = device::line_bytes % sizeof(Row) == 0;
  static constexpr std::uint64_t count = is_filled ? device::line_bytes / sizeof(Row) : 1;
  Row rows[count];
};

/// The lines of all ranges.
template <class Row>
struct waiting_lines {
  line_of_rows<Row>*
      lines;  // of range r from r * (stride + batch_rows) on: one of each part, and spare ones
  std::uint32_t* at;       // of range r and part p at r * stride + p
  std::uint64_t* written;  // the same
};

/// A step for CPUs: a thread keeps a cache line for each part, and writes it when it is full. It fills lines for a batch of
/// rows without a branch, for no processor predicts which row fills one: a full line goes on a list, and its part gets a
/// spare one. Then the list is written, and its lines are spare.
///
/// Source: Satish et al., "Fast sort on CPUs and GPUs", SIGMOD 2010; Wassenberg, Sanders, "Engineering a multi-core radix
/// sort", Euro-Par 2011 (software write-combining buffers, non-temporal stores).
template <class ExecSpace, class Source, class Part>
class move_lines {
  using row = typename Source::row;
  using line = line_of_rows<row>;
  static constexpr std::uint32_t line_rows = line::count;
  static constexpr int batch = tuning<ExecSpace>::batch_rows;

 public:
  static constexpr int threads = 1, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = 64;

  move_lines(Source const& s, Part const& p, row_ranges const& r, places const& to, row* out,
             waiting_lines<row> const& w, bool past_caches)
      : m_source(s),
        m_part(p),
        m_ranges(r),
        m_to(to),
        m_out(out),
        m_waiting(w),
        m_past_caches(past_caches) {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if constexpr (line::is_filled)
      by_lines(t.league_rank());
    else
      one_by_one(t.league_rank());
  }

 private:
  /// A range's rows that wait. Rows of the output are counted from the begin of the line that it begins in.
  struct memory {
    row* rows;               // those of part p in one line
    std::uint32_t* at;       // of a part: where its next row waits
    std::uint64_t* written;  // of a part: its next line in the output
    std::uint64_t* firsts;   // of a part: its first row in the output
    row* out;
  };
  struct full_line {
    std::uint32_t part, last;  // of its rows among those that wait
  };

  KOKKOS_FUNCTION void one_by_one(int range) const {
    std::uint64_t* const next = m_to.of_range(range);
    for (std::uint64_t i = m_ranges.begin(range); i < m_ranges.end(range); ++i) {
      row const r = m_source.make(m_source.load(i), i);
      m_out[next[m_part(r)]++] = r;
    }
  }
  KOKKOS_FUNCTION void by_lines(int range) const {
    memory const m = begin_lines(range);
    std::uint32_t spare[batch];
    for (int j = 0; j < batch; ++j)
      spare[j] = static_cast<std::uint32_t>(m_to.parts + j) * line_rows;
    std::uint64_t const end = m_ranges.end(range);
    for (std::uint64_t i = m_ranges.begin(range); i < end; i += batch) {
      full_line full[batch];
      std::uint32_t const n = fill(m, i, Kokkos::min(i + batch, end), spare, full);
      for (std::uint32_t j = 0; j < n; ++j) {
        spare[j] = full[j].last / line_rows * line_rows;
        write_full(m, full[j].part, m.rows + spare[j]);
      }
    }
    write_rest(m);
    device::end_streaming();
  }
  KOKKOS_FUNCTION memory begin_lines(int range) const {
    std::uint64_t const skew = reinterpret_cast<std::uintptr_t>(m_out) / sizeof(row) % line_rows;
    auto const r = static_cast<std::uint64_t>(range);
    std::uint64_t const parts = r * m_to.stride;
    memory const m{m_waiting.lines[parts + r * batch].rows, m_waiting.at + parts,
                   m_waiting.written + parts, m_to.of_range(range), m_out - skew};
    for (int p = 0; p < m_to.parts; ++p) {
      std::uint64_t const first = m.firsts[p] += skew, before = first % line_rows;
      m.at[p] = static_cast<std::uint32_t>(p) * line_rows + static_cast<std::uint32_t>(before);
      m.written[p] = first - before;
    }
    return m;
  }
  /// Lets rows [begin, end), a batch at most, wait. Returns: how many lines of `full` they have filled.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t fill(memory const& m, std::uint64_t begin,
                                                 std::uint64_t end, std::uint32_t const* spare,
                                                 full_line* full) const {
    std::uint32_t n = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      row const r = m_source.make(m_source.load(i), i);
      std::uint32_t const p = m_part(r), at = m.at[p], next = at + 1;
      bool const is_full = next % line_rows == 0;
      m.rows[at] = r;
      full[n] = {p, at};
      m.at[p] = device::select(is_full, spare[n], next);
      n += is_full;
    }
    return n;
  }
  KOKKOS_FORCEINLINE_FUNCTION void write_full(memory const& m, std::uint32_t part,
                                              row const* rows) const {
    std::uint64_t const to = m.written[part];
    m.written[part] = to + line_rows;
    if (m_past_caches && to >= m.firsts[part])
      device::stream_line(m.out + to, rows);
    else
      write(m, part, to, rows, line_rows);
  }
  KOKKOS_FUNCTION void write_rest(memory const& m) const {
    for (int i = 0; i < m_to.parts; ++i) {
      auto const part = static_cast<std::uint32_t>(i);
      std::uint32_t const rows = m.at[part] % line_rows;
      write(m, part, m.written[part], m.rows + (m.at[part] - rows), rows);
    }
  }
  /// Writes so many rows of a line, but for those in front of the range's first of the part.
  KOKKOS_FORCEINLINE_FUNCTION static void write(memory const& m, std::uint32_t part,
                                                std::uint64_t to, row const* rows,
                                                std::uint32_t count) {
    std::uint64_t const first = m.firsts[part];
    for (std::uint32_t i = to < first ? static_cast<std::uint32_t>(first - to) : 0; i < count; ++i)
      m.out[to + i] = rows[i];
  }

  Source m_source;
  Part m_part;
  row_ranges m_ranges;
  places m_to;
  row* m_out;
  waiting_lines<row> m_waiting;
  bool m_past_caches;  // whether to stream whole lines
};

}  // namespace karpos::detail::partition
