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
#include "karpos/detail/relational/row_index/lookup.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// An index of rows by partitions, on GPUs: the slots are a table of tables/partitioned_lookup.hpp,
// which has the walkthrough. A build is a lookup of the rows in their own index, with one step
// between: after the rows are split, together with their numbers, those of each partition claim
// slots, while the region of the slots is in the cache. If all rows are different, the lookup is
// left out.
//
//   rows      what is split                 slots tell rows apart by       columns are compared
//   a value   of four bytes, the tag        the value                      never
//   others    their hash                    bits of the hash               in the callers' order
//
// So rows of several columns are hashed once, and no column is read at random but for one
// comparison of each row that has an equal. If a row differs from the row of its slot although
// their tags are equal, it then claims another slot, or is looked up, directly.

namespace karpos::detail::row_index {

/// Whether rows may be split: if the library's functions compare them, and there are no nulls.
template <class Rows>
inline constexpr bool may_split_rows = false;
template <class... Columns>
inline constexpr bool may_split_rows<row_view<row_hash, row_equal, Columns...>> =
    !row_view<row_hash, row_equal, Columns...>::may_have_nulls;

/// The hashes of rows [begin, end), in place of a view.
template <class Rows>
struct row_hashes {
  using value_type = std::uint64_t;
  using non_const_value_type = std::uint64_t;
  Rows rows;
  std::uint64_t begin, end;

  KOKKOS_FUNCTION std::uint64_t extent(int /*0*/) const { return end - begin; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t operator()(std::uint64_t i) const {
    return rows.hash(begin + i);
  }
  row_hashes slice(std::uint64_t first, std::uint64_t last) const {
    return {rows, begin + first, begin + last};
  }
};
/// Returns what is split of rows [begin, end).
template <class RowNumber, class Rows>
auto split_keys_of(Rows const& rows, std::uint64_t begin, std::uint64_t end) {
  if constexpr (row_code<Rows, RowNumber>::is_exact)
    return slice_of(rows.first_column(), begin, end);
  else
    return row_hashes<Rows>{rows, begin, end};
}

/// The slots as a table (tables/probe.hpp) that maps what is split of a row to the first row with
/// its tag.
template <class ExecSpace, class Rows, class RowNumber>
class tag_table {
  using code = row_code<Rows, RowNumber>;
  using slots_type = slot_table<ExecSpace, RowNumber>;

 public:
  using execution_space = ExecSpace;
  using key_type = typename code::key;
  using mapped_type = RowNumber;
  static constexpr unsigned threads_at_once = 0;
  struct path {
    std::uint64_t slot;  // the first of a bucket
  };

  explicit tag_table(slots_type const& slots) : m_slots(slots) {}

  template <class Query>
  KOKKOS_FUNCTION static std::uint64_t hash(Query const& q) {
    return code::hash(holds(q));
  }
  KOKKOS_FUNCTION std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_slots.buckets.part(hash, n);
  }
  template <class Query>
  KOKKOS_FUNCTION static constexpr bool reserved(Query const&) {
    return false;
  }
  /// Returns the code. Takes what is split, or that and its row number.
  template <class Query>
  KOKKOS_FUNCTION static std::uint64_t holds(Query const& q) {
    if constexpr (std::is_same_v<Query, key_type>)
      return code::of_key(q);
    else
      return code::of_key(q.key);
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
                                                        std::uint64_t code_of_row) const {
    using step = lookup_step<RowNumber>;
    using word = slot_word<RowNumber>;
    auto const window =
        device::load_window<slots_type::bucket_slots, Access>(t, m_slots.words + p.slot);
    has_tag<RowNumber> const tagged{code::tag(code_of_row)};
    if constexpr (code::is_exact) {
      std::uint64_t w = 0;
      if (window.only([&](std::uint64_t slot) { return tagged(slot) && !is_empty{}(slot); }, w))
        return step::decide({true, word::row_of(w)});
    } else if (auto const hits = window.match(tagged)) {
      return step::decide({true, word::row_of(window.get(hits.first()))});
    }
    return window.any(is_empty{}) ? step::decide({}) : step::undecided();
  }

 private:
  slots_type m_slots;
};

/// Stands for element i of an output. Assigning the row with the tag of row i, or none, compares
/// the two rows, and writes the answer.
template <class Out, class RowNumber>
struct compared_element {
  Out const& out;
  std::uint64_t i;
  KOKKOS_FORCEINLINE_FUNCTION void operator=(RowNumber row_of_tag) const {
    out.write(i, row_of_tag);
  }
};
/// Queries with the answers to them, in place of the view that lookups write rows of equal tags to:
/// writing such a row, or none, compares it with the query, and writes the answer.
template <class ExecSpace, class Rows, class Queries, class RowNumber, class Answer, class Out>
struct compared_queries {
  Rows rows;
  Queries queries;
  slot_table<ExecSpace, RowNumber> slots;
  Answer answer;
  Out out;
  std::uint64_t begin, end;
  static constexpr RowNumber overflowed = none<RowNumber>;

  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, RowNumber row_of_tag) const {
    found<RowNumber> first;
    if (row_of_tag != none<RowNumber>) {
      auto const query = queries[begin + i];
      first = rows.equal(rows[row_of_tag], query) ? found<RowNumber>{true, row_of_tag}
                                                  : find_row(rows, slots, query);
    }
    out(begin + i) = answer(first);
  }
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::uint64_t i) const {
    return compared_element<compared_queries, RowNumber>{*this, i};
  }
  KOKKOS_FUNCTION std::uint64_t extent(int /*0*/) const { return end - begin; }
  auto data() const { return out.data(); }
  compared_queries slice(std::uint64_t first, std::uint64_t last) const {
    compared_queries part = *this;
    part.begin = begin + first;
    part.end = begin + last;
    return part;
  }
};

/// Chooses how n rows are handled, with space in each partition for rows that occur often.
template <class ExecSpace>
table_regions plan_of_rows(ExecSpace const& exec, std::uint64_t table_bytes, std::uint64_t n,
                           bulk_strategy strategy) {
  table_regions plan = plan_regions(exec, table_bytes, n, strategy);
  plan.slack = 1.1;
  return plan;
}

/// Returns whether results replace a column of queries. Throws std::invalid_argument if they
/// overlap it in another way.
template <class Out, class Column>
bool replaces_column(Out const& out, Column const& column) {
  if constexpr (is_nullable<Column>) {
    bool const replaces_mask = row_index::replaces_column(out, column.mask());
    return row_index::replaces_column(out, column.values()) || replaces_mask;
  } else if constexpr (is_string_column<Column>) {
    require_apart("the output", out, column.bytes(), column.offsets());
    return false;
  } else {
    require_apart_or_replacing(out, column);
    return replaces_queries(out, column);
  }
}

/// Looks queries up by partitions. Returns false, and writes nothing, if the plan is direct, if
/// rows may not be split, or without memory. Asynchronous. Requires: results replace no query.
template <class ExecSpace, class Rows, class RowNumber, class Queries, class Answer, class Out>
bool try_look_up(ExecSpace const& exec, std::string const& label, Rows const& rows,
                 slot_table<ExecSpace, RowNumber> const& slots, Queries const& queries,
                 Answer const& answer, Out const& out, bulk_strategy strategy) {
  if constexpr (may_split_rows<Rows> && may_split_rows<Queries>) {
    using table = tag_table<ExecSpace, Rows, RowNumber>;
    using written = std::decay_t<std::invoke_result_t<Answer, found<RowNumber>>>;
    auto const keys = split_keys_of<RowNumber>(queries, 0, queries.size());
    using keys_type = std::decay_t<decltype(keys)>;
    if constexpr (may_partition_lookups<ExecSpace, table, keys_type, written>) {
      auto const plan =
          plan_of_rows(exec, slots.slots * sizeof(std::uint64_t), queries.size(), strategy);
      if (plan.is_direct()) return false;
      auto const run = [&](auto const& to, auto const& write) {
        partitioned_lookup<ExecSpace, table, keys_type, std::decay_t<decltype(to)>,
                           std::decay_t<decltype(write)>> const lookup(exec, label, table(slots),
                                                                       write, plan);
        auto const memory = try_workspace(exec, {nullptr, 0}, lookup.bytes(keys));
        if (!memory) return false;
        lookup.run(keys, to, memory->data());
        memory->release();
        return true;
      };
      auto const results = with_dynamic_extent(out);
      if constexpr (row_code<Rows, RowNumber>::is_exact)
        return run(results, answer);
      else
        return run(compared_queries<ExecSpace, Rows, Queries, RowNumber, Answer,
                                    std::decay_t<decltype(results)>>{rows, queries, slots, answer,
                                                                     results, 0, queries.size()},
                   value_or<RowNumber>{none<RowNumber>});
    }
  }
  return false;
}

/// Split rows, as rows that are equal if their tags are.
template <class Rows>
struct tagged_rows {};
template <class Rows, class RowNumber>
struct row_code<tagged_rows<Rows>, RowNumber> : row_code<Rows, RowNumber> {
  using row = typename row_code<Rows, RowNumber>::key;
  static constexpr bool is_exact = true;
  KOKKOS_FUNCTION static std::uint64_t of(tagged_rows<Rows> const&, row const& r) {
    return row_code<Rows, RowNumber>::of_key(r);
  }
  KOKKOS_FUNCTION static constexpr bool can_equal(tagged_rows<Rows> const&, row const&) {
    return true;
  }
};
/// The rows of a split, as queries that claim slots.
template <class Split>
struct split_queries {
  Split const* rows;
  std::uint64_t begin;  // number of the first row of the source
  KOKKOS_FORCEINLINE_FUNCTION auto operator[](std::uint64_t k) const { return rows[k].key; }
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

/// Rows of a batch, in place of the view that a build writes first rows to. A row that differs from
/// the row of its slot claims another one; then find_again, for every row, finds its first row.
template <class ExecSpace, class Rows, class RowNumber>
struct compared_rows {
  static constexpr std::uint32_t differ = 2;
  static constexpr RowNumber overflowed = none<RowNumber>;  // looked up later
  using claim = claim_slots<0, Rows, Rows, everything, ExecSpace, RowNumber>;
  claim_one<claim> directly;
  RowNumber* first_of;

  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, RowNumber row_of_tag) const {
    first_of[i] = row_of_tag;
    if (row_of_tag == overflowed || is_equal(i)) return;
    device::store_relaxed(directly.claim.to.repeated, differ);
    directly(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::uint64_t i) const {
    return compared_element<compared_rows, RowNumber>{*this, i};
  }
  RowNumber const* data() const { return first_of; }
  /// Returns whether row i is equal to the one that was written for it.
  KOKKOS_FORCEINLINE_FUNCTION bool is_equal(std::uint64_t i) const {
    Rows const& rows = directly.claim.rows;
    std::uint64_t const row = directly.claim.number(i);
    return first_of[i] == row || rows.equal(rows[first_of[i]], rows[row]);
  }
};
template <class Compared>
struct find_again {
  Compared to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const& in = to.directly.claim;
    if (!to.is_equal(i)) to.first_of[i] = *find_row(in.rows, in.table, in.rows[in.number(i)]);
  }
};

template <class ExecSpace, class Rows, class RowNumber>
struct partitioned_build {
  static constexpr bool is_possible = false;
  static std::size_t bytes(ExecSpace const&, std::uint64_t, bulk_strategy) { return 0; }
};
template <class ExecSpace, class Rows, class RowNumber>
  requires(may_split_rows<Rows> &&
           may_partition_lookups<ExecSpace, tag_table<ExecSpace, Rows, RowNumber>,
                                 Kokkos::View<typename row_code<Rows, RowNumber>::key*>, RowNumber>)
class partitioned_build<ExecSpace, Rows, RowNumber> {
  using memory_space = typename ExecSpace::memory_space;
  template <class T>
  using unmanaged = Kokkos::View<T*, memory_space, Kokkos::MemoryUnmanaged>;
  using table = tag_table<ExecSpace, Rows, RowNumber>;
  using split_row = key_value<typename table::key_type, RowNumber>;
  using slots_type = slot_table<ExecSpace, RowNumber>;
  using compared = compared_rows<ExecSpace, Rows, RowNumber>;
  static constexpr bool is_exact = row_code<Rows, RowNumber>::is_exact;
  using first_rows =
      std::conditional_t<row_code<Rows, RowNumber>::is_exact, unmanaged<RowNumber>, compared>;
  template <class Keys>
  using lookup =
      partitioned_lookup<ExecSpace, table, Keys, first_rows, value_or<RowNumber>, split_row>;

 public:
  static constexpr bool is_possible = true;

  /// Returns the bytes that a build of n rows takes; 0 if it is direct.
  static std::size_t bytes(ExecSpace const& exec, std::uint64_t n, bulk_strategy strategy) {
    auto const plan = plan_of(exec, n, strategy);
    if (plan.is_direct()) return 0;
    using keys = unmanaged<typename table::key_type>;
    return lookup<keys>(exec, "", table({nullptr, 0}), {none<RowNumber>}, plan)
        .bytes(keys(nullptr, n));
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
    auto const keys = split_keys_of<RowNumber>(rows, begin, begin + n);
    lookup<std::decay_t<decltype(keys)>> const find(exec, "karpos::row_index: find first rows",
                                                    table(slots), {none<RowNumber>}, plan);
    if (find.bytes(keys) > with.split_bytes) return false;
    claim_one<typename compared::claim> const directly{
        {{rows, rows, begin, slots}, everything{}, {nullptr, with.repeated}}};
    RowNumber* first = nullptr;
    find.run_batch(keys, with.for_split, [&](auto const& split, split_row const* at) {
      using queries = split_queries<split_row>;
      using stored = claim_slots<0, tagged_rows<Rows>, queries, everything, ExecSpace, RowNumber>;
      split.for_each_stored(
          "karpos::row_index: claim slots",
          claim_one<stored>{
              {{{}, queries{at, begin}, 0, slots}, everything{}, {nullptr, with.repeated}}});
      split.for_each_overflowed(directly);
      first = first_of();
      if constexpr (is_exact)
        return first_rows(first, n);
      else
        return first_rows{directly, first};
    });
    if constexpr (!is_exact)
      if (first != nullptr &&
          read_back(exec, with.repeated, "karpos::row_index: whether equal tags differ") ==
              compared::differ)
        device::loop_over("karpos::row_index: find again", exec, n,
                          find_again<compared>{{directly, first}});
    return true;
  }

 private:
  static table_regions plan_of(ExecSpace const& exec, std::uint64_t n, bulk_strategy strategy) {
    constexpr std::uint64_t max_rows = std::uint64_t(1) << 31;  // places are counted in 32 bits
    if (n > max_rows) return {};
    table_regions plan =
        plan_of_rows(exec, slots_for<ExecSpace>(n) * sizeof(std::uint64_t), n, strategy);
    plan.batch = n;
    return plan;
  }
};

}  // namespace karpos::detail::row_index
