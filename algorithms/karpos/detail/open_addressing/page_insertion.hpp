// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/bulk_arguments.hpp"
#include "karpos/detail/open_addressing/build_pages.hpp"
#include "karpos/detail/open_addressing/page_rows.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/probe.hpp"
#include "karpos/detail/workspace.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/partition.hpp"
#include "karpos/table_options.hpp"

// Bulk insertion by table segments, for GPUs. A segment (`page`) is a run of bucket pairs that a
// team (CUDA: a block) holds in its scratch (shared memory). Rows are split by the segment that
// their keys belong to: random accesses stay in scratch, and memory is read and written in order. A
// random compare-and-swap would move 128 bytes of memory for 8.
//
//   rows    |      |      |      | …          in the caller's order
//   split   | partition 0 | partition 1 | …   by the pair of a key's home bucket: into partitions
//                                             of fixed capacity (`rooms`), or after counting if
//                                             too many rows overflow these
//   table   | segment 0 | segment 1 | …       a team builds a segment in its scratch and writes
//                                             it back
//
// Rows whose first pair is full are deferred (`left`): they are inserted one by one afterwards, so
// that the table is the same as if all rows had been inserted in this way.

namespace karpos::detail::open_addressing {

/// Returns the capacity of each of `parts` partitions for `rows` rows, or 0 if they cannot have
/// fixed capacities: the rows claimed of one partition are counted in 31 bits (partition/move.hpp),
/// the places in all of them in 32.
inline std::uint32_t room_of_part(std::uint64_t rows, std::uint64_t parts) {
  double const mean = static_cast<double>(rows) / static_cast<double>(parts);
  std::uint64_t const room = partition::room_for_mean(mean);
  bool const is_counted = mean < 1 << 29 && parts * room <= ~std::uint32_t(0);
  return is_counted ? static_cast<std::uint32_t>(room) : 0;
}

/// Returns the segments of a table whose rows are split in one pass.
template <class ExecSpace, class Table>
page_plan pages_of_one_pass(std::uint64_t pairs) {
  return {pairs, build_pages<ExecSpace, Table, keep_stored>::max_page_pairs,
          tuning<ExecSpace>::max_parts};
}
/// Returns the segments of an empty table. `rows` rows are split in two passes if that is faster,
/// and if the coarse partitions fit into the table's slots, where they lie between the passes.
template <class ExecSpace, class Table>
page_plan pages_of_empty(std::uint64_t pairs, std::uint64_t rows) {
  using tuned = tuning<ExecSpace>;
  constexpr std::uint64_t pair_bytes = 2 * Table::bucket_slots * sizeof(typename Table::word);
  page_plan const two(pairs, build_pages<ExecSpace, Table, keep_stored>::max_page_pairs,
                      tuned::max_parts_of_two_passes, tuned::max_parts_of_one_pass);
  if (two.coarse_parts != 0 && room_of_part(rows, two.parts) != 0) {
    std::uint64_t const places = two.coarse_parts * room_of_part(rows, two.coarse_parts);
    if (places != 0 && places <= pairs * pair_bytes / sizeof(row_of<Table>)) return two;
  }
  return open_addressing::pages_of_one_pass<ExecSpace, Table>(pairs);
}

/// The arrays of an insertion of n rows.
template <class ExecSpace, class Table>
struct page_memory {
  using row = row_of<Table>;
  using split_plan = partition::plan<ExecSpace, row>;

  page_plan pages, counted;  // counted: if rows are split again, after counting
  split_plan split;
  std::uint64_t n, places;  // rows, and elements of their array
  row* rows = nullptr;
  partition::rooms<row> rooms{};
  partition::rooms<row> coarse{};  // in the slots of the table; with the same overflow list
  rows_left<row> left{};
  std::uint64_t* begins = nullptr;
  page_counts* counts = nullptr;
  std::byte* of_split = nullptr;
  std::size_t bytes = 0;

  page_memory(ExecSpace const& exec, page_plan const& p, std::uint64_t count,
              std::byte* memory = nullptr)
      : pages(p),
        counted(open_addressing::pages_of_one_pass<ExecSpace, Table>(p.pairs)),
        split(exec, count, counted.parts, false),
        n(count),
        places(count) {
    left.room = n / 4;
    rooms.parts = static_cast<int>(pages.parts);
    rooms.room = room_of_part(n, pages.parts);
    rooms.capacity = static_cast<std::uint32_t>(n / 64 + 256);
    places = Kokkos::max(n, pages.parts * rooms.room);
    arena a(memory);
    a.take(rows, places);
    a.take(rooms.list, has_rooms() ? rooms.capacity : 0);
    a.take(rooms.taken, pages.parts);
    a.take(rooms.filled, pages.parts);
    a.take(rooms.listed, 1);
    a.take(left.rows, left.room);
    a.take(left.bits, places / 32 + 1);
    a.take(begins, counted.parts + 1);
    a.take(counts, 1);
    a.take(of_split, split.bytes());
    coarse = rooms;
    coarse.parts = static_cast<int>(pages.coarse_parts);
    coarse.room = has_coarse() ? room_of_part(n, pages.coarse_parts) : 0;
    a.take(coarse.taken, pages.coarse_parts);
    a.take(coarse.filled, pages.coarse_parts);
    bytes = a.bytes();
  }
  bool has_rooms() const { return rooms.room != 0; }
  bool has_coarse() const { return pages.coarse_parts != 0; }
};

/// Returns the bytes of these arrays, enough whether the table is empty or not.
template <class ExecSpace, class Table>
std::size_t bytes_of_pages(ExecSpace const& exec, std::uint64_t pairs, std::uint64_t rows) {
  using memory = page_memory<ExecSpace, Table>;
  auto const one = open_addressing::pages_of_one_pass<ExecSpace, Table>(pairs),
             of_empty = open_addressing::pages_of_empty<ExecSpace, Table>(pairs, rows);
  return Kokkos::max(memory(exec, one, rows).bytes, memory(exec, of_empty, rows).bytes);
}

/// Makes every slot of a table empty. Asynchronous.
template <class ExecSpace, class Table>
void empty_slots(ExecSpace const& exec, std::string const& label, Table const& table) {
  using word = typename Table::word;
  fill_with(label + " (clear)", exec, table.slot_at(0), table.pairs() * 2 * Table::bucket_slots,
            same_value<word>{table.slot().empty_slot()});
}

/// Counts the rows that overflowed their partitions. If the list is too short for these, sets
/// `uneven`, and no segment is built.
template <class Row>
struct check_rooms {
  partition::rooms<Row> rooms;
  page_counts* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t) const {
    counts->listed = *rooms.listed;
    if (*rooms.listed > rooms.capacity) counts->uneven = 1;
  }
};

/// Returns whether an insertion of `rows` rows into a table of `pairs` bucket pairs goes by
/// segments.
template <class ExecSpace, class Table>
bool goes_by_page(bulk_strategy strategy, std::uint64_t pairs, std::uint64_t rows) {
  using tuned = tuning<ExecSpace>;
  constexpr std::uint64_t max_rows = ~std::uint32_t(0), max_pairs = max_rows / 2;
  if (strategy == bulk_strategy::direct || rows == 0 || rows > max_rows || pairs > max_pairs)
    return false;
  if (pages_of_one_pass<ExecSpace, Table>(pairs).pages_per_part > tuned::max_pages_per_part)
    return false;
  if (strategy == bulk_strategy::partitioned) return true;
  if (!tuned::prefers_pages) return false;
  std::uint64_t const bytes = pairs * 2 * Table::bucket_slots * sizeof(typename Table::word);
  return bytes >= tuned::min_page_table_bytes && bytes / tuned::max_table_bytes_per_row <= rows;
}

/// Inserts a deferred row, whose first bucket pair is full: the search begins with the second pair.
template <class Body>
struct insert_beyond_first_pair : Body {
  using path = typename Body::path;

  KOKKOS_FUNCTION path stage(std::uint64_t i) const {
    path p = Body::stage(i);
    this->table.advance(p);
    this->table.advance(p);
    return p;
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
class page_insertion {
  using row = row_of<Table>;
  using memory_type = page_memory<ExecSpace, Table>;
  using step = build_pages<ExecSpace, Table, Combine>;
  using begins_view =
      Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;

 public:
  page_insertion(ExecSpace const& exec, std::string label, Table const& table,
                 memory_type const& memory, Combine const& combine)
      : m_exec(exec),
        m_label(std::move(label)),
        m_table(table),
        m_memory(memory),
        m_combine(combine) {}

  /// Splits rows and inserts them: into partitions of fixed capacity first, and once more after
  /// counting if too many rows overflow these. Returns whether it inserted the rows: not if a
  /// partition has far more rows than others. Blocks.
  template <class Keys, class Values, class ReportView>
  bool insert(Keys const& keys, Values const& values, page_state state,
              ReportView const& report_view, insert_report& report) {
    page_counts counts{};
    counts.uneven = 1;
    if (m_memory.has_rooms()) {
      split(source(keys, values), partition::holds_nothing{});
      counts = build(m_memory.pages, state, {m_memory.rows, nullptr, m_memory.rooms});
    }
    if (counts.uneven != 0) {
      begins_view const begins(m_memory.begins, m_memory.counted.parts + 1);
      partition::split_as_planned(m_exec, source(keys, values),
                                  part_of_key<Table>(m_table, m_memory.counted), m_memory.split,
                                  m_memory.of_split, m_memory.rows, begins);
      counts = build(m_memory.counted, state, {m_memory.rows, m_memory.begins, {}});
    }
    if (counts.uneven != 0) return false;
    m_loses_order = counts.listed > 0;
    report = finish(counts, report_view);
    return true;
  }
  /// Inserts the keys of another table, as many as the memory is for, into an empty one. Returns
  /// whether it did: not if the list of overflowed rows is too short. Blocks.
  template <class ReportView>
  bool insert_slots(Table const& from, std::uint64_t slots, bool has_order,
                    ReportView const& report_view, insert_report& report) {
    if (!m_memory.has_rooms()) return false;
    split(rows_of_slots<Table>(from, slots), holds_no_rows<Table>{from});
    page_counts const counts =
        build(m_memory.pages, {true, has_order}, {m_memory.rows, nullptr, m_memory.rooms});
    if (counts.uneven != 0) return false;
    m_loses_order = counts.listed > 0;
    report = finish(counts, report_view);
    return true;
  }
  /// Returns whether keys were inserted that no team has seen: the order of keys says nothing of
  /// these.
  bool loses_order() const { return m_loses_order; }

 private:
  template <class Keys, class Values>
  static auto source(Keys const& keys, Values const& values) {
    if constexpr (Table::layout::has_value)
      return partition::keys_and_values<row, device::held_by_loop<ExecSpace, Keys>,
                                        device::held_by_loop<ExecSpace, Values>>(
          device::for_loop<ExecSpace>(keys), device::for_loop<ExecSpace>(values));
    else
      return partition::keys_alone<device::held_by_loop<ExecSpace, Keys>>(
          device::for_loop<ExecSpace>(keys));
  }
  /// Returns the function from a row to its partition, or to its coarse one.
  template <class Source>
  auto part(std::uint64_t parts_each, std::uint64_t parts) const {
    using part_of = part_of_key<Table>;
    return partition::part_of_row<Source, part_of>{part_of(m_table, m_memory.pages, parts_each),
                                                   static_cast<std::uint32_t>(parts)};
  }
  /// Splits rows into partitions of fixed capacity, in one pass or in two, except those that
  /// `holder` keeps back.
  template <class Source, class Holder>
  void split(Source const& from, Holder const& holder) const {
    auto const& m = m_memory;
    auto const fine = part<Source>(1, m.pages.parts);
    if (!m.has_coarse())
      return partition::split_into_rooms(m_exec, from, fine, m.rooms.holding(holder), m.rows);
    auto const rough = part<Source>(m.pages.parts_each, m.pages.coarse_parts);
    auto* const coarse_rows = reinterpret_cast<row*>(m_table.slot_at(0));
    partition::split_in_two_passes(
        m_exec, from, partition::pass{rough, m.coarse.holding(holder), coarse_rows},
        partition::rows_in_rooms<Source>(coarse_rows), partition::pass{fine, m.rooms, m.rows});
  }
  page_counts build(page_plan const& plan, page_state state, split_rows<row> const& rows) const {
    auto const& m = m_memory;
    fill_words("karpos::hash_table: clear rows left", m_exec, m.left.bits, m.places / 32 + 1, 0);
    fill_words("karpos::hash_table: clear counts", m_exec, m.counts, 1, 0);
    std::uint64_t const most = 8 * (m.n / plan.parts) + 16384;
    if (rows.begins != nullptr)
      device::loop_over("karpos::hash_table: measure parts", m_exec, plan.parts,
                        partition::find_long_part{m.begins, most, &m.counts->uneven});
    else
      device::loop_over("karpos::hash_table: check rooms", m_exec, 1,
                        check_rooms<row>{m.rooms, m.counts});
    auto const pages = static_cast<int>(plan.parts * plan.pages_per_part);
    device::for_each_in_league(m_label + " by page", m_exec,
                               Kokkos::min(pages, step::teams_at_once * device::processors(m_exec)),
                               step(m_table, plan, rows, m.left, m.counts, state, m_combine));
    return read_back(m_exec, m.counts, "karpos::hash_table: counts of an insertion by page");
  }
  /// Inserts the rows that no segment took. Returns the report of all rows.
  template <class ReportView>
  insert_report finish(page_counts const& counts, ReportView const& report) const {
    auto const& left = m_memory.left;
    insert_report done = counts.report;
    std::uint64_t const listed = Kokkos::min(counts.left, left.room);
    if (counts.listed > 0)
      done += insert_each(counts.listed, body_for(m_memory.rooms.list, everything{}), report);
    if (counts.left > listed)
      done += insert_left(m_memory.rows, m_memory.places, set_bits_of{left.bits}, report);
    if (listed > 0)
      done += insert_left(counts.left > listed ? left.rows : in_order(left.rows, listed), listed,
                          everything{}, report);
    return done;
  }
  /// Groups deferred rows by the pairs where their search goes on, so that what threads read and
  /// write at about the same time is close in memory. The grouped rows replace the rows that were
  /// split. Returns the grouped rows, or `rows` if grouping is not worth it.
  row const* in_order(row const* rows, std::uint64_t n) const {
    part_of_second_pair<Table> const part(m_table, m_memory.counted);
    typename memory_type::split_plan const plan(m_exec, n, part.parts, false);
    if (n < tuning<ExecSpace>::min_ordered_rows || plan.bytes() > m_memory.split.bytes())
      return rows;
    using source = partition::rows_of_array<rows_of_slots<Table>>;
    partition::split_as_planned(m_exec, source(rows, n), part, plan, m_memory.of_split,
                                m_memory.rows, begins_view(m_memory.begins, part.parts + 1));
    return m_memory.rows;
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
  insert_report insert_left(row const* rows, std::uint64_t n, Stencil const& stencil,
                            ReportView const& report) const {
    return insert_each(n, insert_beyond_first_pair<body<Stencil>>{body_for(rows, stencil)}, report);
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

/// Calls f(insertion) with an insertion by segments of n rows, in the caller's memory or its own,
/// if the strategy and the table allow it and there is memory. Returns what f does, which is
/// whether the rows were inserted; or false. If they were not, a table that was empty is empty
/// again.
template <class Storage, class Combine, class F>
bool with_page_insertion(typename Storage::execution_space const& exec, std::string const& label,
                         Storage const& storage, std::uint64_t n, bool is_empty,
                         Combine const& combine, bulk_options const& options, F const& f) {
  using exec_space = typename Storage::execution_space;
  using table = typename Storage::ref_type;
  using memory = page_memory<exec_space, table>;
  std::uint64_t const pairs = storage.bucket_count() / 2;
  if (!open_addressing::goes_by_page<exec_space, table>(options.strategy, pairs, n)) return false;
  page_plan const pages = is_empty ? open_addressing::pages_of_empty<exec_space, table>(pairs, n)
                                   : open_addressing::pages_of_one_pass<exec_space, table>(pairs);
  std::size_t const bytes = memory(exec, pages, n).bytes;
  if (!detail::serves(options.workspace, bytes)) return false;
  std::optional<workspace<exec_space>> w;
  try {
    w.emplace(exec, workspace_user{"insert", "insert_bytes(exec, keys, strategy)"},
              options.workspace, bytes);
  } catch (allocation_error const&) {
    return false;
  }
  table const t = storage.ref();
  page_insertion<exec_space, table, Combine> insertion(exec, label, t,
                                                       memory(exec, pages, n, w->data()), combine);
  bool const inserted = f(insertion);
  if (insertion.loses_order()) storage.forget_order();
  if (!inserted && pages.coarse_parts != 0) empty_slots(exec, label, t);
  return inserted;
}

/// Inserts keys by segments. Returns whether it did.
template <class Storage, class Keys, class Values, class Combine, class ReportView>
bool insert_by_page(typename Storage::execution_space const& exec, char const* what,
                    Storage const& storage, Keys const& keys, Values const& values,
                    Combine const& combine, bool is_empty, bulk_options const& options,
                    ReportView const& report_view, insert_report& report) {
  return open_addressing::with_page_insertion(
      exec, storage.label(what), storage, keys.extent(0), is_empty, combine, options,
      [&](auto& insertion) {
        return insertion.insert(keys, values, {is_empty, storage.has_order()}, report_view, report);
      });
}

}  // namespace karpos::detail::open_addressing
