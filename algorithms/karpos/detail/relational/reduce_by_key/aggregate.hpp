// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/group_list.hpp"
#include "karpos/detail/relational/reduce_by_key/group_table.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// Two steps aggregate rows. pre_aggregate takes rows in any order, and passes on rows for which its
// table has no slot. aggregate_chunks takes chunks, which always fit into a table. Each CPU thread
// has its own table (group_list.hpp). A team (block) of a GPU processes rows in batches: all rows
// of a batch find or claim their slots. After a barrier the rows that have not claimed their slot
// merge their values. So the first value of a slot needs no identity of the operation, and no flag.
// If the operation has an identity, every value is merged at once.

namespace karpos::detail::reduce_by_key {

/// Words at the front of a team's scratch.
struct alignas(64) team_state {
  std::uint32_t appended = 0;
  std::uint32_t groups = 0;
  std::uint64_t base = 0;    // index in global memory of the first row that the team writes
  std::uint32_t failed = 0;  // whether a row has found no slot
};

/// A team of a GPU with its table.
template <class ExecSpace, class Row, class Op, int Batch = tuning<ExecSpace>::batch(sizeof(Row)),
          bool Sparse = false>
class aggregator {
  using tuned = tuning<ExecSpace>;
  using table = group_table<Row, Sparse>;
  static constexpr int batch = Batch;
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));
  /// Destination of a row that needs no slot any more. Destinations from 0 on are slots. Those
  /// below `nowhere` are indices among the overflowed rows: nowhere - 1 is the first.
  static constexpr int nowhere = -1;
  /// Whether values are merged at once, without a barrier.
  static constexpr bool has_identity = !has_value<Row> || identity_of<Op, value_type<Row>>::exists;

 public:
  static constexpr int threads = tuned::threads, teams_at_once = 1;
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return sizeof(team_state) + table::bytes(slots);
  }
  static constexpr std::uint32_t max_slots = tuned::slots(sizeof(Row));
  static constexpr std::size_t scratch_bytes = bytes(max_slots);
  /// A limit of probes that no row reaches for which there is a slot.
  static constexpr std::uint32_t max_probes = table::max_probes(max_slots);
  KOKKOS_FUNCTION static constexpr std::uint32_t slots_for(std::uint32_t rows) {
    return Kokkos::min(tuned::slots_for(rows), std::uint32_t(max_slots));
  }

  /// Begins with an empty table of `slots` slots. It lies in memory of bytes(slots) bytes, by
  /// default at the front of the scratch. Has a barrier.
  template <class Team>
  KOKKOS_FUNCTION aggregator(Team const& t, std::uint32_t slots, Op const& op)
      : aggregator(t, t.scratch(), slots, op) {}
  template <class Team>
  KOKKOS_FUNCTION aggregator(Team const& t, std::byte* memory, std::uint32_t slots, Op const& op)
      : m_state(reinterpret_cast<team_state*>(memory)),
        m_table(memory + sizeof(team_state), slots),
        m_op(op) {
    clear(t);
  }
  /// Divides the table into columns (scratch_table.hpp), until merge_columns() merges them.
  template <class Team>
  KOKKOS_FUNCTION void set_columns(Team const& t, std::uint32_t columns) {
    m_table.set_columns(t, columns);
  }
  template <class Team>
  KOKKOS_FUNCTION void merge_columns(Team const& t) {
    m_claimed -= m_table.merge_columns(t, m_op);
  }
  /// Begins again with an empty table of another number of slots. Has a barrier at either end.
  template <class Team>
  KOKKOS_FUNCTION void restart(Team const& t, std::uint32_t slots) {
    t.barrier();
    m_table = table(reinterpret_cast<std::byte*>(m_state + 1), slots);
    m_claimed = 0;
    clear(t);
  }

  /// Aggregates rows [first, last) of a source. Rows that find no slot within `probes` probes
  /// overflow: they are written to `overflow`, at indices reserved by adding to *count. If
  /// overflow.rows is nullptr, every row must find a slot.
  template <class Team, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void add(Team const& t, Source const& source, std::uint64_t first,
                                       std::uint64_t last, std::uint32_t probes,
                                       partial_array<Row> const& overflow, std::uint64_t* count) {
    constexpr int run = run_of<Source>;
    bool const may_overflow = overflow.rows != nullptr;
    for (std::uint64_t i = first; i < last; i += batch * static_cast<std::uint64_t>(t.size())) {
      Row rows[batch];
      load(t, source, i, last, rows);
      if constexpr (has_identity) {
        std::uint32_t const without_slot = merge_at_once<run>(t, i, last, probes, rows);
        if (may_overflow) append_overflow(t, rows, without_slot, overflow, count);
      } else {
        int to[batch];
        find_slots<run>(t, i, last, probes, may_overflow, rows, to);
        t.barrier();
        if (may_overflow) write_overflow(t, rows, to, overflow, count);
        if constexpr (has_value<Row>) merge(rows, to);
      }
    }
  }

  /// Aggregates rows [first, last) of a source, until some row finds no slot within `probes`
  /// probes. Returns whether every row has found one.
  template <class Team, class Source>
  KOKKOS_FORCEINLINE_FUNCTION bool try_add_all(Team const& t, Source const& source,
                                               std::uint64_t first, std::uint64_t last,
                                               std::uint32_t probes) {
    constexpr int run = run_of<Source>;
    bool all = true;
    for (std::uint64_t i = first; i < last; i += batch * static_cast<std::uint64_t>(t.size())) {
      Row rows[batch];
      load(t, source, i, last, rows);
      if constexpr (has_identity) {
        all &= merge_at_once<run>(t, i, last, probes, rows) == 0;
        if (!all) m_state->failed = 1;
        if (any_failed(t)) break;
      } else {
        int to[batch];
        all = find_slots<run>(t, i, last, probes, false, rows, to);
        if (t.any(!all)) return false;
        if constexpr (has_value<Row>) merge(rows, to);
      }
    }
    return !t.any(!all);
  }

  /// Returns whether rows have overflowed. Has a barrier.
  template <class Team>
  KOKKOS_FUNCTION bool has_overflowed(Team const& t) const {
    t.barrier();
    return m_state->failed != 0;
  }
  /// Returns the number of groups, once they have been written.
  KOKKOS_FUNCTION std::uint32_t groups() const { return m_state->groups; }

  /// Writes the groups to sink, at indices reserved by adding to *count. Adjacent threads write the
  /// groups of adjacent slots to adjacent indices.
  template <class Team, class Sink>
  KOKKOS_FORCEINLINE_FUNCTION void write_groups(Team const& t, Sink const& sink,
                                                std::uint64_t* count) {
    device::add(device::scratch(&m_state->groups), m_claimed);
    t.barrier();
    if (t.rank() == 0) m_state->base = device::fetch_add(count, m_state->groups);
    t.barrier();
    std::uint64_t const base = m_state->base;
    for (std::uint32_t s = 0; s < m_table.end(); s += device::size(t)) {
      std::uint32_t const i = s + device::rank(t);
      bool const yes = m_table.has(i);
      std::uint32_t const at = t.append(&m_state->appended, yes);
      if (yes) sink.write(base + at, m_table.get(i));
    }
  }

 private:
  /// Adjacent rows that a thread loads at once.
  template <class Source>
  static constexpr int run_of = Kokkos::min(partition::neighbours<Source>, Batch & -Batch);

  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& t) const {
    if (t.rank() == 0) *m_state = {};
    if constexpr (has_identity)
      m_table.template clear_to_identity<Op>(t);
    else
      m_table.clear(t);
    t.barrier();
  }
  /// Returns whether every thread has a full batch of rows.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static bool is_full(Team const& t, std::uint64_t first,
                                                  std::uint64_t last) {
    return last - first >= batch * static_cast<std::uint64_t>(t.size());
  }
  /// Finds a slot for each row of the batch, and merges its value at once. Returns a bit for each
  /// of the thread's rows that has found none.
  template <int Run, class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t merge_at_once(Team const& t, std::uint64_t first,
                                                          std::uint64_t last, std::uint32_t probes,
                                                          Row const (&rows)[batch]) {
    if (is_full(t, first, last)) return merge_at_once(t, probes, rows, [](int) { return true; });
    return merge_at_once(t, probes, rows, [&](int j) { return index<Run>(t, first, j) < last; });
  }
  /// Does so for each row j for which is_valid(j) is true.
  template <class Team, class IsValid>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t merge_at_once(Team const& t, std::uint32_t probes,
                                                          Row const (&rows)[batch],
                                                          IsValid const& is_valid) {
    auto const warp = t.template this_tile<width>();
    std::uint32_t without_slot = 0;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      bool present = is_valid(j);
      if constexpr (Sparse) {
        typename table::home_slot home{};
        if (present) home = m_table.probe_home(reduce_by_key::key_of(rows[j]));
        std::uint32_t slot = home.index;
        if (present && !table::is_found(home, reduce_by_key::key_of(rows[j]))) {
          scratch_slot const found =
              m_table.find_or_claim_past_home(reduce_by_key::key_of(rows[j]), home, probes);
          m_claimed += found.claimed;
          slot = found.index;
          present = found.present;
        }
        warp.sync();  // the warp adds together
        merge_if(present, slot, rows[j]);
      } else {
        scratch_slot slot{0, false, false};
        if (present) slot = m_table.find_or_claim(reduce_by_key::key_of(rows[j]), probes);
        m_claimed += slot.claimed;
        present = slot.present;
        warp.sync();  // likewise
        merge_if(present, slot.index, rows[j]);
      }
      if (is_valid(j) && !present) without_slot |= 1u << j;
    }
    return without_slot;
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge_if(bool yes, std::uint32_t slot, Row const& r) const {
    if constexpr (has_value<Row>)
      if (yes) m_table.merge(slot, r.value, m_op);
  }
  /// Returns whether a thread of the warp reads that some row of the team has found no slot.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION bool any_failed(Team const& t) const {
    auto const warp = t.template this_tile<width>();
    return static_cast<bool>(warp.ballot(
        [&](int) { return device::load_relaxed(device::scratch(&m_state->failed)) != 0; }));
  }
  /// Writes overflowed rows, with one atomic addition per warp.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void append_overflow(Team const& t, Row const (&rows)[batch],
                                                   std::uint32_t without_slot,
                                                   partial_array<Row> const& overflow,
                                                   std::uint64_t* count) {
    auto const warp = t.template this_tile<width>();
    if (!warp.ballot([&](int) { return without_slot != 0; })) return;
    m_state->failed = 1;
    auto const places = warp.prefix_sum(
        warp.each([&](int) { return Kokkos::Experimental::popcount_builtin(without_slot); }));
    std::uint64_t const base = warp.once(
        [&] { return device::fetch_add(count, static_cast<std::uint64_t>(places.total)); });
    auto at = base + static_cast<std::uint64_t>(places.before[t.rank() % width]);
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      if ((without_slot >> j & 1) != 0) overflow.write(at++, rows[j]);
  }
  /// Returns the index of row j of a thread. A thread's rows come in runs of adjacent ones.
  template <int Run, class Team>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t index(Team const& t, std::uint64_t first,
                                                         int j) {
    return first + static_cast<std::uint64_t>((j / Run * t.size() + t.rank()) * Run + j % Run);
  }
  template <class Team, class Source>
  KOKKOS_FORCEINLINE_FUNCTION static void load(Team const& t, Source const& source,
                                               std::uint64_t first, std::uint64_t last,
                                               Row (&rows)[batch]) {
    constexpr int run = run_of<Source>;
    [[maybe_unused]] bool const whole = is_full(t, first, last);
    KARPOS_UNROLL
    for (int j = 0; j < batch; j += run) {
      std::uint64_t const i = index<run>(t, first, j);
      typename Source::loaded loaded[run];
      if constexpr (run > 1)
        if (whole || i + run <= last) {
          source.template load_neighbours<run>(i, loaded);
          KARPOS_UNROLL
          for (int k = 0; k < run; ++k) rows[j + k] = source.make(loaded[k], i + k);
          continue;
        }
      KARPOS_UNROLL
      for (int k = 0; k < run; ++k)
        if (i + k < last) rows[j + k] = source.make(source.load(i + k), i + k);
    }
  }
  /// Finds a slot, or an index among the overflowed rows, for each row. Returns whether all of the
  /// thread's rows have a slot.
  template <int Run, class Team>
  KOKKOS_FORCEINLINE_FUNCTION bool find_slots(Team const& t, std::uint64_t first,
                                              std::uint64_t last, std::uint32_t probes,
                                              bool may_overflow, Row const (&rows)[batch],
                                              int (&to)[batch]) {
    auto const warp = t.template this_tile<width>();
    bool all = true;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      bool const valid = index<Run>(t, first, j) < last;
      scratch_slot slot{0, false, false};
      if (valid) slot = m_table.find_or_store(rows[j], probes);
      warp.sync();
      m_claimed += slot.claimed;
      to[j] = slot.present && !slot.claimed ? static_cast<int>(slot.index) : nowhere;
      bool const is_overflow = valid && !slot.present;
      all &= !is_overflow;
      if (!may_overflow) continue;
      auto const at = static_cast<int>(t.append(&m_state->appended, is_overflow));
      if (is_overflow) to[j] = nowhere - 1 - at;
    }
    return all;
  }
  /// Reserves space for the overflowed rows of a batch, and writes them.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_overflow(Team const& t, Row const (&rows)[batch],
                                                  int const (&to)[batch],
                                                  partial_array<Row> const& overflow,
                                                  std::uint64_t* count) {
    std::uint32_t const all = m_state->appended;
    t.barrier();
    if (all == 0) return;
    m_state->failed = 1;
    if (t.rank() == 0) {
      m_state->base = device::fetch_add(count, all);
      m_state->appended = 0;
    }
    t.barrier();
    std::uint64_t const base = m_state->base;
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j)
      if (to[j] < nowhere)
        overflow.write(base + static_cast<std::uint64_t>(nowhere - 1 - to[j]), rows[j]);
  }
  /// Merges the values of rows that have not claimed their slot. If adjacent rows of a thread
  /// belong to one group, merges those first, so that fewer threads wait for the slot.
  KOKKOS_FORCEINLINE_FUNCTION void merge(Row (&rows)[batch], int const (&to)[batch]) const {
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) {
      if (to[j] < 0) continue;
      bool const same_next = j + 1 < batch && to[j + 1 < batch ? j + 1 : j] == to[j];
      if (same_next) {
        auto& next = rows[j + 1 < batch ? j + 1 : j].value;
        next = m_op(rows[j].value, next);
      } else {
        m_table.merge(static_cast<std::uint32_t>(to[j]), rows[j].value, m_op);
      }
    }
  }

  team_state* m_state;
  table m_table;
  Op m_op;
  std::uint32_t m_claimed = 0;
};

/// The class that a team of an execution space aggregates with.
template <class ExecSpace, class Row, class Op, int Batch = tuning<ExecSpace>::batch(sizeof(Row)),
          bool Sparse = false>
using aggregator_for =
    std::conditional_t<device::is_device<ExecSpace>, aggregator<ExecSpace, Row, Op, Batch, Sparse>,
                       group_list<ExecSpace, Row, Op>>;

/// A step: each team aggregates a range of rows, as many as its table holds: keys that come first
/// stay. Groups and overflowed rows become partial rows.
///
/// Source: Ye, Ross, Vesdapunt, "Scalable aggregation on multicore processors", DaMoN 2011 (PLAT:
///   private tables that rows overflow from).
template <class ExecSpace, class Source, class Op, int Teams = 1>
struct pre_aggregate {
  using row = typename Source::row;
  using tuned = tuning<ExecSpace>;
  using team_aggregator =
      aggregator_for<ExecSpace, row, Op,
                     Teams == 1 ? tuned::batch(sizeof(row)) : tuned::partition_batch(sizeof(row)),
                     true>;
  static constexpr int threads =
                           Teams == 1 ? tuned::threads : tuned::partition_threads(sizeof(row)),
                       teams_at_once = Teams;
  static constexpr std::uint32_t max_slots = team_aggregator::max_slots / (4 * Teams) * 4;
  static constexpr std::size_t scratch_bytes = team_aggregator::bytes(max_slots);

  Source source;
  partition::row_ranges ranges;
  partial_array<row> partial;
  std::uint64_t* count;  // of partial rows
  Op op;
  std::uint32_t slots = max_slots;  // of a team's table
  std::uint32_t columns = 1;        // of the table

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    team_aggregator a(t, slots, op);
    if constexpr (device::is_device<ExecSpace>) a.set_columns(t, columns);
    a.add(t, source, ranges.begin(t.league_rank()), ranges.end(t.league_rank()),
          tuned::probe_length, partial, count);
    if constexpr (device::is_device<ExecSpace>) a.merge_columns(t);
    a.write_groups(t, partial, count);
  }
};

template <class ExecSpace, class Source, class Op, class Result>
struct aggregate_chunks {
  using row = typename Source::row;
  using team_aggregator = aggregator_for<ExecSpace, row, Op>;
  static constexpr int threads = team_aggregator::threads,
                       teams_at_once = team_aggregator::teams_at_once;
  static constexpr std::size_t scratch_bytes = team_aggregator::scratch_bytes;

  Source rows;
  partition::chunk const* chunks;
  Result result;
  partial_array<row> partial;
  counters* counts;
  Op op;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    partition::chunk const mine = chunks[t.league_rank()];
    if (mine.rows == 0) return;
    team_aggregator a(t, team_aggregator::slots_for(mine.rows), op);
    a.add(t, rows, mine.begin, mine.begin + mine.rows, team_aggregator::max_probes, {nullptr, 0},
          nullptr);
    if (mine.whole != 0)
      a.write_groups(t, result, &counts->groups);
    else
      a.write_groups(t, partial, &counts->partial);
  }
};

}  // namespace karpos::detail::reduce_by_key
