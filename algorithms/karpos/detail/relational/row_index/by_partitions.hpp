// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/row_index/claims.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// An index of rows of one value by partitions, on GPUs: the slots are a table of
// tables/partitioned_lookup.hpp, which has the walkthrough. A build is a lookup of the rows in
// their own index, with one step between: after the rows are split, together with their numbers,
// those of each partition claim slots, while the region of the slots is in the cache. If all rows
// are different, the lookup is left out.

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

  template <class Query>
  KOKKOS_FUNCTION std::uint64_t hash(Query const& q) const {
    return code::hash(holds(q).code);
  }
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_slots.buckets.part(hash, n);
  }
  template <class Query>
  KOKKOS_FUNCTION static constexpr bool reserved(Query const&) {
    return false;
  }
  /// Takes a value, or a value and its row number.
  template <class Query>
  KOKKOS_FUNCTION query holds(Query const& q) const {
    if constexpr (std::is_same_v<Query, key_type>) {
      row_type const row(q);
      return {code::of(m_rows, row), row};
    } else {
      return holds(q.key);
    }
  }
  KOKKOS_FUNCTION path start_at(std::uint64_t hash) const { return {m_slots.home_of(hash)}; }
  template <class Query>
  KOKKOS_FUNCTION path start(Query const& q) const {
    return start_at(hash(q));
  }
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
          plan_regions(exec, slots.slots * sizeof(std::uint64_t), queries.size(), strategy);
      column const values = with_dynamic_extent(queries.first_column());
      // Queries that overflow are read again, after results were written.
      if (plan.is_direct() || range_of(values).overlaps(range_of(out))) return false;
      auto const results = with_dynamic_extent(out);
      partitioned_lookup<ExecSpace, table, column, std::decay_t<decltype(results)>, Answer> const
          lookup(exec, label, table(rows, slots), answer, plan);
      auto const memory = try_workspace(exec, {nullptr, 0}, lookup.bytes(values));
      if (!memory) return false;
      lookup.run(values, results, memory->data());
      memory->release();
      return true;
    }
  }
  return false;
}

/// The rows of a split, as queries that claim slots.
template <class Row, class Split>
struct split_queries {
  Split const* rows;
  std::uint64_t begin;  // number of the first row of the source
  KOKKOS_FORCEINLINE_FUNCTION Row operator[](std::uint64_t k) const { return Row(rows[k].key); }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t number(std::uint64_t k) const {
    return begin + rows[k].value;
  }
};
/// Claims a slot for row k of a split, or for one that overflowed.
template <class Claim>
struct claim_one {
  Claim claim;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { claim(i, claim.stage(i)); }
};

/// Builds of an index by partitions.
template <class ExecSpace, class Rows, class RowNumber>
struct partitioned_build {
  static constexpr bool is_possible = false;
  static std::size_t bytes(ExecSpace const&, std::uint64_t, bulk_strategy) { return 0; }
};
template <class ExecSpace, class Rows, class RowNumber>
  requires(single_value<Rows>::is_key &&
           may_partition_lookups<
               ExecSpace, value_table<ExecSpace, Rows, RowNumber>,
               Kokkos::View<typename single_value<Rows>::type*, typename ExecSpace::memory_space>,
               RowNumber>)
class partitioned_build<ExecSpace, Rows, RowNumber> {
  using memory_space = typename ExecSpace::memory_space;
  template <class T>
  using unmanaged = Kokkos::View<T*, memory_space, Kokkos::MemoryUnmanaged>;
  using value = typename single_value<Rows>::type;
  using split_row = key_value<value, RowNumber>;
  using table = value_table<ExecSpace, Rows, RowNumber>;
  using slots_type = slot_table<ExecSpace, RowNumber>;
  template <class Values>
  using lookup = partitioned_lookup<ExecSpace, table, Values, unmanaged<RowNumber>,
                                    value_or<RowNumber>, split_row>;

 public:
  static constexpr bool is_possible = true;

  /// Returns the bytes that a build of n rows takes; 0 if it is direct.
  static std::size_t bytes(ExecSpace const& exec, std::uint64_t n, bulk_strategy strategy) {
    auto const plan = plan_of(exec, n, strategy);
    if (plan.is_direct()) return 0;
    Rows const no_rows({}, {}, null_equality::equal, {});
    using values = unmanaged<value>;
    return lookup<values>(exec, "", table(no_rows, {nullptr, 0}), {none<RowNumber>}, plan)
        .bytes(values(nullptr, n));
  }
  /// Claims slots for n rows, from row `begin` on. Then calls first_of(); unless that is null,
  /// writes the first row of each row to it. Returns false if the build is direct. Waits.
  template <class Work, class FirstOf>
  static bool try_claim(ExecSpace const& exec, Rows const& rows, std::uint64_t begin,
                        std::uint64_t n, slots_type const& slots, Work const& with,
                        bulk_strategy strategy, FirstOf const& first_of) {
    auto const plan = plan_of(exec, n, strategy);
    // Rows of a batch would be too few for the regions of a much larger table.
    if (plan.is_direct() || slots.slots > 2 * slots_for<ExecSpace>(n)) return false;
    auto const values = slice_of(rows.first_column(), begin, begin + n);
    lookup<std::decay_t<decltype(values)>> const find(exec, "karpos::row_index: find first rows",
                                                      table(rows, slots), {none<RowNumber>}, plan);
    if (find.bytes(values) > with.split_bytes) return false;
    find.run_batch(values, with.for_split, [&](auto const& split, split_row const* at) {
      claim(split, at, rows, begin, slots, {nullptr, with.repeated});
      return unmanaged<RowNumber>(first_of(), n);
    });
    return true;
  }

 private:
  static table_regions plan_of(ExecSpace const& exec, std::uint64_t n, bulk_strategy strategy) {
    constexpr std::uint64_t max_rows = std::uint64_t(1) << 31;  // places are counted in 32 bits
    if (n > max_rows) return {};
    table_regions plan =
        plan_regions(exec, slots_for<ExecSpace>(n) * sizeof(std::uint64_t), n, strategy);
    plan.batch = n;
    return plan;
  }
  template <class Split>
  static void claim(Split const& split, split_row const* at, Rows const& rows, std::uint64_t begin,
                    slots_type const& slots, claimed_slots<RowNumber> const& to) {
    using queries = split_queries<typename Rows::row_type, split_row>;
    using stored = claim_slots<0, Rows, queries, everything, ExecSpace, RowNumber>;
    using overflowed = claim_slots<0, Rows, Rows, everything, ExecSpace, RowNumber>;
    split.for_each_stored(
        "karpos::row_index: claim slots",
        claim_one<stored>{{{rows, queries{at, begin}, 0, slots}, everything{}, to}});
    split.for_each_overflowed(
        claim_one<overflowed>{{{rows, rows, begin, slots}, everything{}, to}});
  }
};

}  // namespace karpos::detail::row_index
