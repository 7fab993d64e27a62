// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/outcome.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// An index of rows of one value by partitions, on GPUs: the slots are a table of
// tables/partitioned_lookup.hpp, which has the walkthrough.

namespace karpos::detail::row_index {

/// The slots of rows of one value, as a table (tables/probe.hpp) that maps a value to the first row
/// with it.
template <class ExecSpace, class Rows, class RowNumber>
class value_table {
  using code = row_code<Rows, RowNumber>;
  using row_type = typename Rows::row_type;
  using slots_type = slot_table<ExecSpace, RowNumber>;

 public:
  using execution_space = ExecSpace;
  using key_type = typename single_value<Rows>::type;
  using mapped_type = RowNumber;
  static constexpr unsigned threads_at_once = 0;
  struct path {
    std::uint64_t slot;  // the first of a bucket
  };
  struct query {
    std::uint64_t code;
    row_type row;
  };

  value_table(Rows const& rows, slots_type const& slots) : m_rows(rows), m_slots(slots) {}

  KOKKOS_FUNCTION std::uint64_t hash(key_type const& value) const {
    return code::hash(holds(value).code);
  }
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_slots.buckets.part(hash, n);
  }
  KOKKOS_FUNCTION static constexpr bool reserved(key_type const&) { return false; }
  KOKKOS_FUNCTION query holds(key_type const& value) const {
    row_type const row(value);
    return {code::of(m_rows, row), row};
  }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const { return {m_slots.home_of(hash)}; }
  KOKKOS_FUNCTION path start(key_type const& value) const { return start_at(hash(value)); }
  KOKKOS_FUNCTION void advance(path& p) const {
    p.slot = m_slots.wrap(p.slot + slots_type::bucket_slots);
  }
  /// Returns false: some slot is empty, and ends every search.
  KOKKOS_FUNCTION static constexpr bool past_end(path const&) { return false; }

  template <device::access Access, device::tile Tile>
  KARPOS_STEP_FUNCTION lookup_step<RowNumber> find_step(Tile const& t, path const& p,
                                                        query const& q) const {
    using step = lookup_step<RowNumber>;
    using word = slot_word<RowNumber>;
    auto const window =
        device::load_window<slots_type::bucket_slots, Access>(t, m_slots.words + p.slot);
    has_tag<RowNumber> const tagged{code::tag(q.code)};
    std::uint64_t w = 0;
    if constexpr (code::is_exact) {
      if (window.only([&](std::uint64_t slot) { return tagged(slot) && !is_empty{}(slot); }, w))
        return step::decide({true, word::row_of(w)});
    } else {
      for (auto hits = window.match(tagged); hits; hits = hits.without_first()) {
        RowNumber const row = word::row_of(window.get(hits.first()));
        if (m_rows.equal(m_rows[row], q.row)) return step::decide({true, row});
      }
    }
    return window.any(is_empty{}) ? step::decide({}) : step::undecided();
  }

 private:
  Rows m_rows;
  slots_type m_slots;
};

/// Looks the values of queries up by partitions. Returns false, and writes nothing, if the plan is
/// direct, if rows are no single values, or without memory. Asynchronous.
template <class ExecSpace, class Rows, class RowNumber, class Queries, class Answer, class Out>
bool try_look_up(ExecSpace const& exec, std::string const& label, Rows const& rows,
                 slot_table<ExecSpace, RowNumber> const& slots, Queries const& queries,
                 Answer const& answer, Out const& out, bulk_strategy strategy) {
  using column = std::decay_t<decltype(with_dynamic_extent(queries.first_column()))>;
  using result = std::decay_t<std::invoke_result_t<Answer, found<RowNumber>>>;
  if constexpr (single_value<Rows>::is_key && Kokkos::is_view_v<column>) {
    using table = value_table<ExecSpace, Rows, RowNumber>;
    if constexpr (may_partition_lookups<ExecSpace, table, column, result>) {
      auto const plan =
          plan_lookup(exec, slots.slots * sizeof(std::uint64_t), queries.size(), strategy);
      column const values = with_dynamic_extent(queries.first_column());
      // Queries that overflow are read again, after results were written.
      if (plan.is_direct() || range_of(values).overlaps(range_of(out))) return false;
      auto const results = with_dynamic_extent(out);
      partitioned_lookup<ExecSpace, table, column, std::decay_t<decltype(results)>, Answer> const
          lookup(exec, label, table(rows, slots), answer, plan);
      auto const memory =
          try_workspace(exec, {"row_index", ""}, {nullptr, 0}, lookup.bytes(values));
      if (!memory) return false;
      lookup.run(values, results, memory->data());
      memory->release();
      return true;
    }
  }
  return false;
}

}  // namespace karpos::detail::row_index
