// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/open_addressing/build_segments.hpp"
#include "karpos/detail/tables/open_addressing/plan.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/device/loop_arguments.hpp"

// Bulk insertion by table segments, for GPUs. A segment is a run of bucket pairs that a team (CUDA:
// a block) holds in its scratch (shared memory). Rows are split by the segment that their keys
// belong to: random accesses stay in scratch, and memory is read and written in order. A random
// compare-and-swap would move 128 bytes of memory for 8.
//
//   rows    |      |      |      | …          in the caller's order
//   split   | partition 0 | partition 1 | …   by the pair of a key's home bucket: into partitions
//                                             of fixed capacity, or after counting if too many
//                                             rows overflow these
//   table   | segment 0 | segment 1 | …       a team builds a segment in its scratch and writes
//                                             it back
//
// Afterwards two kinds of rows are inserted one by one: those that overflowed a partition, and the
// deferred ones. The first pair of a deferred row is full; its second pair is full, too, or lies in
// another segment. So each key lies where a direct insertion may put it.

namespace karpos::detail::open_addressing {

/// Makes every slot of a table empty. Asynchronous.
template <class ExecSpace, class Table>
void clear_slots(ExecSpace const& exec, std::string const& label, Table const& table) {
  fill_with(label + " (clear)", exec, table.slot_at(0), table.pairs() * 2 * Table::bucket_slots,
            constant<typename Table::word>{table.slot().empty_slot()});
}

/// Counts the rows that overflowed their partitions; sets `skewed` if they overflow the list, too.
template <class Row>
struct count_overflow {
  partition::fixed_partitions<Row> fixed_partitions;
  segment_counts* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t) const {
    counts->overflowed = *fixed_partitions.overflowed;
    if (*fixed_partitions.overflowed > fixed_partitions.list_capacity) counts->skewed = 1;
  }
};

/// Inserts a deferred row: the search begins with the first pair that build_segments did not try.
template <class Body>
struct insert_beyond_segment : Body {
  using path = typename Body::path;
  segment_plan plan;

  KOKKOS_FUNCTION path stage(std::uint64_t i) const {
    return plan.beyond_segment(this->table, Body::stage(i));
  }
  KARPOS_STEP_FUNCTION device::staged_result operator()(std::uint64_t i, path& p) const {
    if (!this->table.past_end(p)) return Body::operator()(i, p);
    return this->stencil(i)
               ? device::staged_result::counted(insert_report::counter_of(outcome::full))
               : device::staged_result::done();
  }
};

/// An insertion by segments, in memory that is already allocated.
template <class ExecSpace, class Table, class Combine>
class segmented_insertion {
  using row = row_of<Table>;
  using memory_type = segment_memory<ExecSpace, Table>;
  using step = build_segments<ExecSpace, Table, Combine>;

 public:
  segmented_insertion(ExecSpace const& exec, std::string label, Table const& table,
                      memory_type const& memory, Combine const& combine)
      : m_exec(exec),
        m_label(std::move(label)),
        m_table(table),
        m_memory(memory),
        m_combine(combine) {}

  /// Splits rows and inserts them. Returns whether it did: not if a partition has far more rows
  /// than others. Blocks.
  template <class Keys, class Values, class ReportView>
  bool insert(Keys const& keys, Values const& values, table_state state,
              ReportView const& report_view, insert_report& report) {
    segment_counts counts{};
    counts.skewed = 1;
    if (m_memory.by_capacity.is_possible()) {
      split(source(keys, values), partition::no_filter{});
      counts = build(m_memory.segments, state, m_memory.by_capacity.rows_in(rows()));
    }
    if (counts.skewed != 0) {
      partition::split_by_counting(
          m_exec, source(keys, values), partition_of_key<Table>(m_table, m_memory.counted),
          m_memory.by_counting, m_memory.split_workspace, m_memory.rows, m_memory.begins);
      counts = build(m_memory.counted, state, {rows(), m_memory.begins, {}});
    }
    return try_finish(counts, report_view, report);
  }
  /// Inserts rows that come in pieces of coarse partitions: `from` says where these lie in the
  /// rows of the source `in` (partition/split.hpp). Returns whether it did: not if the list of
  /// overflowed rows is too short. Blocks.
  template <class Source, class Pieces, class ReportView>
  bool insert_pieces(Source const& in, Pieces const& from, table_state state,
                     ReportView const& report_view, insert_report& report) {
    if (!m_memory.by_capacity.is_possible()) return false;
    m_memory.by_capacity.clear(m_exec);
    partition::split_again(m_exec, in, m_memory.n, from, partition_of<Source>(1),
                           m_memory.by_capacity, m_memory.rows);
    segment_counts const counts =
        build(m_memory.segments, state, m_memory.by_capacity.rows_in(rows()));
    return try_finish(counts, report_view, report);
  }
  /// Inserts the keys of another table, as many as the memory is for, into an empty one. Returns
  /// whether it did: not if the list of overflowed rows is too short. Blocks.
  template <class ReportView>
  bool insert_slots(Table const& from, std::uint64_t slots, bool has_order,
                    ReportView const& report_view, insert_report& report) {
    if (!m_memory.by_capacity.is_possible()) return false;
    split(rows_of_slots<Table>(from, slots), empty_slot_filter<Table>{from});
    segment_counts const counts =
        build(m_memory.segments, {true, has_order}, m_memory.by_capacity.rows_in(rows()));
    return try_finish(counts, report_view, report);
  }
  /// Returns whether keys were inserted that no team saw, of which the order of keys says nothing.
  bool loses_order() const { return m_loses_order; }

 private:
  template <class Keys, class Values>
  static auto source(Keys const& keys, Values const& values) {
    return open_addressing::source_of<ExecSpace, Table>(keys, values);
  }
  row const* rows() const { return m_memory.rows; }
  template <class Source>
  using of_row = partition::partition_of_row<Source, partition_of_key<Table>>;
  /// Returns the function from rows to partitions, or to coarse partitions of `each` ones.
  template <class Source>
  of_row<Source> partition_of(std::uint64_t each) const {
    return {partition_of_key<Table>(m_table, m_memory.segments, each),
            static_cast<std::uint32_t>(m_memory.segments.partitions())};
  }
  /// Splits rows into partitions of fixed capacity, except those that `filter` removes.
  template <class Source, class Filter>
  void split(Source const& from, Filter const& filter) const {
    partition::split_rows(
        m_exec, from,
        partition::partition_functions<of_row<Source>>{
            partition_of<Source>(1), partition_of<Source>(m_memory.segments.passes.each)},
        m_memory.by_capacity, m_memory.rows, reinterpret_cast<row*>(m_table.slot_at(0)), filter);
  }
  segment_counts build(segment_plan const& plan, table_state state,
                       partition::partitioned_rows<row const> const& rows) const {
    auto const& m = m_memory;
    fill_words("karpos::hash_table: clear deferred rows", m_exec, m.deferred.bits,
               m.places / 32 + 1, 0);
    fill_words("karpos::hash_table: clear counts", m_exec, m.counts, 1, 0);
    std::uint64_t const row_limit = 8 * (m.n / plan.partitions()) + 16384;
    if (rows.begins != nullptr)
      device::loop_over("karpos::hash_table: measure partitions", m_exec, plan.partitions(),
                        partition::find_long_partition{m.begins, row_limit, &m.counts->skewed});
    else
      device::loop_over("karpos::hash_table: count overflow", m_exec, 1,
                        count_overflow<row>{m.by_capacity.fine, m.counts});
    auto const segments = static_cast<int>(plan.partitions() * plan.segments_per_partition);
    device::for_each_in_league(
        m_label + " by segments", m_exec,
        Kokkos::min(segments, step::teams_at_once * device::processors(m_exec)),
        step(m_table, plan, rows, m.deferred, m.counts, state, m_combine));
    return read_back(m_exec, m.counts, "karpos::hash_table: counts of an insertion by segments");
  }
  /// Inserts the overflowed and the deferred rows, unless no segment was built. Returns whether it
  /// did; `done` becomes the report of all rows.
  template <class ReportView>
  bool try_finish(segment_counts const& counts, ReportView const& report, insert_report& done) {
    if (counts.skewed != 0) return false;
    m_loses_order = counts.overflowed > 0;
    auto const& deferred = m_memory.deferred;
    done = counts.report;
    std::uint64_t const stored = Kokkos::min(counts.deferred, deferred.capacity);
    if (counts.overflowed > 0)
      done += insert_each(counts.overflowed, body_for(m_memory.by_capacity.fine.list, everything{}),
                          report);
    if (counts.deferred > stored)
      done += insert_deferred(m_memory.rows, m_memory.places, set_bits_of{deferred.bits}, report);
    if (stored > 0) done += insert_deferred(deferred.rows, stored, everything{}, report);
    return true;
  }
  using keys_type = keys_of_rows<row>;
  using values_type = values_of_rows<row, typename Table::mapped_type>;
  template <class Stencil>
  using body = insert_body<0, Table, keys_type, values_type, Combine, Stencil>;

  template <class Stencil>
  body<Stencil> body_for(row const* rows, Stencil const& stencil) const {
    return {{m_table, keys_type{rows}}, values_type{rows}, m_combine, stencil};
  }
  template <class Stencil, class ReportView>
  insert_report insert_deferred(row const* rows, std::uint64_t n, Stencil const& stencil,
                                ReportView const& report) const {
    return insert_each(
        n, insert_beyond_segment<body<Stencil>>{body_for(rows, stencil), m_memory.segments},
        report);
  }
  template <class Body, class ReportView>
  insert_report insert_each(std::uint64_t n, Body const& rows, ReportView const& report) const {
    device::tally_each_staged<0>(m_label, m_exec, n, rows, report);
    return read_back(m_exec, report.data(), "karpos::hash_table: report of an insertion");
  }

  ExecSpace m_exec;
  std::string m_label;
  Table m_table;
  memory_type m_memory;
  Combine m_combine;
  bool m_loses_order = false;
};

}  // namespace karpos::detail::open_addressing
