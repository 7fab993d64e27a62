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
#include "karpos/partition.hpp"
#include "karpos/table_options.hpp"

// Bulk insertion page by page: the rows are split by the page of the table that their keys belong to, so that what is
// random stays in scratch, and memory is read and written in order: random compare-and-swaps move 128 bytes of memory for 8.
// For GPUs.
//
//   rows           |      |      |      | …              in the caller's order
//   split          | part 0  | part 1  | …               by the high bits of the hash, that is by pairs of buckets
//   table          | page 0 | page 1 | page 2 | …        a team builds a page in its scratch and writes it back
//
// Rows whose first pair is full go the ordinary way afterwards, so that the table is the same as if all had.

namespace karpos::detail::open_addressing {

/// The arrays of an insertion of so many rows.
template <class ExecSpace, class Table>
struct page_memory {
  using row = row_of<Table>;
  using split_plan = partition::plan<ExecSpace, row>;

  page_plan pages;
  split_plan split;
  std::uint64_t n;
  row* rows = nullptr;
  rows_left<row> left{};
  std::uint64_t* begins = nullptr;
  page_counts* counts = nullptr;
  std::byte* of_split = nullptr;
  std::size_t bytes = 0;

  page_memory(ExecSpace const& exec, page_plan const& p, std::uint64_t count,
              std::byte* memory = nullptr)
      : pages(p),
        split(exec, count, p.parts, false),
        n(count) {
    left.room = n / 4;
    arena a(memory);
    a.take(rows, n);
    a.take(left.rows, left.room);
    a.take(left.bits, n / 32 + 1);
    a.take(begins, pages.parts + 1);
    a.take(counts, 1);
    a.take(of_split, split.bytes());
    bytes = a.bytes();
  }
};

/// The pages of a table.
template <class ExecSpace, class Table>
page_plan pages_of(std::uint64_t pairs) {
  constexpr std::uint64_t most = build_pages<ExecSpace, Table, keep_stored>::max_page_pairs;
  return {pairs, most, tuning<ExecSpace>::max_parts};
}

/// Whether an insertion of so many rows into a table of so many pairs goes page by page.
template <class ExecSpace, class Table>
bool goes_by_page(bulk_strategy strategy, std::uint64_t pairs, std::uint64_t rows) {
  using tuned = tuning<ExecSpace>;
  constexpr std::uint64_t max_count = ~std::uint32_t(0);
  if (strategy == bulk_strategy::direct || rows == 0 || rows > max_count || pairs > max_count)
    return false;
  if (open_addressing::pages_of<ExecSpace, Table>(pairs).pages_per_part > tuned::max_pages_per_part)
    return false;
  if (strategy == bulk_strategy::partitioned) return true;
  if (!tuned::prefers_pages) return false;
  std::uint64_t const bytes = pairs * 2 * Table::bucket_slots * sizeof(typename Table::word);
  return bytes >= tuned::min_page_table_bytes && bytes / tuned::max_table_bytes_per_row <= rows;
}

/// Inserts a row whose first pair of buckets is full: the search begins with the second.
template <class Body>
struct insert_beyond_first_pair : Body {
  using path = typename Body::path;

  KOKKOS_FUNCTION path stage(std::uint64_t i) const {
    path p = Body::stage(i);
    this->table.advance(p);
    this->table.advance(p);
    return p;
  }
  KOKKOS_FUNCTION device::staged_result operator()(std::uint64_t i, path& p) const {
    if (!this->table.past_end(p)) return Body::operator()(i, p);
    return this->stencil(i)
               ? device::staged_result::counted(insert_report::counter_of(outcome::full))
               : device::staged_result::done();
  }
};

/// An insertion page by page, in memory that there is.
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

  /// Splits the rows. Asynchronous.
  template <class Keys, class Values>
  void split(Keys const& keys, Values const& values) const {
    begins_view const begins(m_memory.begins, m_memory.pages.parts + 1);
    part_of_key<Table> const part_of(m_table, m_memory.pages);
    auto const source = [&] {
      if constexpr (Table::layout::has_value)
        return partition::keys_and_values<row, Keys, Values>(keys, values);
      else
        return partition::keys_alone<Keys>(keys);
    }();
    partition::split_as_planned(m_exec, source, part_of, m_memory.split, m_memory.of_split,
                                m_memory.rows, begins);
  }

  /// Inserts the rows that were split. Returns: whether it did; not where a part has far more rows than others. Waits.
  template <class ReportView>
  bool insert(bool is_empty, ReportView const& report_view, insert_report& report) const {
    page_counts const counts = build(is_empty);
    if (counts.uneven != 0) return false;
    report = counts.report;
    auto const& left = m_memory.left;
    std::uint64_t const listed = Kokkos::min(counts.left, left.room);
    if (listed > 0) report += insert_rest(left.rows, listed, everything{}, report_view);
    if (counts.left > listed)
      report += insert_rest(m_memory.rows, m_memory.n, set_bits_of{left.bits}, report_view);
    return true;
  }

 private:
  page_counts build(bool is_empty) const {
    auto const& m = m_memory;
    fill_words("karpos::hash_table: clear rows left", m_exec, m.left.bits, m.n / 32 + 1, 0);
    fill_words("karpos::hash_table: clear counts", m_exec, m.counts, 1, 0);
    std::uint64_t const most = 8 * (m.n / m.pages.parts) + 16384;
    device::loop_over("karpos::hash_table: measure parts", m_exec, m.pages.parts,
                      partition::find_long_part{m.begins, most, &m.counts->uneven});
    device::for_each_in_league(
        m_label + " by page", m_exec, static_cast<int>(m.pages.parts * m.pages.pages_per_part),
        step(m_table, m.pages, m.rows, m.begins, m.left, m.counts, is_empty, m_combine));
    return read_back(m_exec, m.counts, "karpos::hash_table: counts of an insertion by page");
  }
  template <class Stencil, class ReportView>
  insert_report insert_rest(row const* rows, std::uint64_t n, Stencil const& stencil,
                            ReportView const& report) const {
    using keys = keys_of_rows<row>;
    using values = values_of_rows<row, typename Table::mapped_type>;
    using body = insert_beyond_first_pair<insert_body<0, Table, keys, values, Combine, Stencil>>;
    device::tally_each_staged<0>(m_label, m_exec, n,
                                 body{{{m_table, keys{rows}}, values{rows}, m_combine, stencil}},
                                 report);
    return read_back(m_exec, report.data(), "karpos::hash_table: report of an insertion");
  }

  ExecSpace m_exec;
  std::string m_label;
  Table m_table;
  memory_type m_memory;
  Combine m_combine;
};

/// Inserts page by page where that is the way to go and there is memory for it. Returns: whether it did.
template <class Storage, class Keys, class Values, class Combine, class ReportView>
bool insert_by_page(typename Storage::execution_space const& exec, char const* what,
                    Storage const& storage, Keys const& keys, Values const& values,
                    Combine const& combine, bool is_empty, bulk_options const& options,
                    ReportView const& report_view, insert_report& report) {
  using exec_space = typename Storage::execution_space;
  using table = typename Storage::ref_type;
  using memory = page_memory<exec_space, table>;
  std::uint64_t const n = keys.extent(0), pairs = storage.bucket_count() / 2;
  if (!open_addressing::goes_by_page<exec_space, table>(options.strategy, pairs, n)) return false;
  page_plan const pages = open_addressing::pages_of<exec_space, table>(pairs);
  std::size_t const bytes = memory(exec, pages, n).bytes;
  if (!detail::serves(options.workspace, bytes)) return false;
  std::optional<workspace<exec_space>> w;
  try {
    w.emplace(exec, workspace_user{"insert", "insert_bytes(exec, keys, strategy)"},
              options.workspace, bytes);
  } catch (allocation_error const&) {
    return false;
  }
  page_insertion<exec_space, table, Combine> const insertion(
      exec, storage.label(what), storage.ref(), memory(exec, pages, n, w->data()), combine);
  insertion.split(keys, values);
  return insertion.insert(is_empty, report_view, report);
}

}  // namespace karpos::detail::open_addressing
