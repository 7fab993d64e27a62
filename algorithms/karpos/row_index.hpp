// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/row_index/by_partitions.hpp"
#include "karpos/detail/relational/row_index/lookup.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/relational/row_index/run.hpp"
#include "karpos/detail/relational/row_index/slots.hpp"
#include "karpos/detail/relational/row_index/tuning.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/outcome.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// An index of rows (rows.hpp), by all of their columns: built once, then searched for equal rows.
// It also serves as a hash table for keys of more than eight bytes: pass a column of structs, or a
// column for each member.
//
//   row     slot                group id  its run
//   b  ->   | tag of b | 2 |    1         | 2 | 5 |        rows 2 and 5 are equal to b
//
// A slot stores the number of the first of the equal rows, and a tag, some bits of the hash. If the
// tag matches, the columns decide. A group is the rows that are equal; a run is their numbers, side
// by side. Groups have ids, which label() writes. How it is built:
// detail/relational/row_index/run.hpp.

namespace karpos {

/// Chooses what becomes of rows that are equal to an earlier row.
enum class duplicates {
  kept,  ///< the index holds every row
  /// of equal rows the index holds only the first; more rows may be appended later; label() also
  /// writes the group id of each dropped row
  dropped
};

namespace detail {
template <>
inline constexpr enumeration<duplicates> enumeration_of<duplicates> = {
    "treatment of duplicate rows", "duplicates", duplicates::dropped};
}  // namespace detail

struct row_index_options {
  karpos::duplicates duplicates = karpos::duplicates::kept;
  static constexpr std::uint64_t all_rows = ~std::uint64_t(0);
  /// Number of rows that the constructor indexes, from the first row on, at most as many as the
  /// columns have. By default all. With duplicates::dropped, insert appends the others; with
  /// duplicates::kept they cannot be appended.
  std::uint64_t rows = all_rows;
  /// Memory that the caller owns: at least bytes_for(all rows of the columns, duplicates), also if
  /// the constructor indexes fewer; aligned to 64 bytes; null: allocated. The memory must outlive
  /// the index.
  wrapped_memory memory = {nullptr, 0};
  /// Memory for the build alone: at least workspace_bytes(exec, rows that the constructor indexes,
  /// duplicates, bulk_strategy::direct), aligned to 64 bytes; null: allocated, and freed at the
  /// end. With less memory than its strategy takes, the build is direct.
  wrapped_memory workspace = {nullptr, 0};
  /// Strategy of the build, and of bulk lookups, joins included. CPUs always work directly. GPUs
  /// can split rows by partitions if the rows use row_hash and row_equal, have no nullable column,
  /// and are not single values of one or two bytes. A build with a mask is direct.
  bulk_strategy strategy = bulk_strategy::automatic;
};

/// View of an index for kernels, passed by value. A row to look up has values of the columns'
/// types: other_rows[i], or karpos::row(values...).
template <class Rows, class ExecSpace, std::unsigned_integral RowNumber>
class row_index_ref {
 public:
  using row_type = typename Rows::row_type;
  using number_type = RowNumber;

  row_index_ref(Rows const& rows, detail::row_index::slot_table<ExecSpace, RowNumber> const& table,
                detail::row_index::row_groups<RowNumber> const& groups)
      : m_rows(rows),
        m_table(table),
        m_groups(groups) {}

  /// Returns the number of the first row of the index that equals this one.
  KOKKOS_FUNCTION found<RowNumber> find(row_type const& row) const {
    return detail::row_index::find_row(m_rows, m_table, row);
  }
  KOKKOS_FUNCTION bool contains(row_type const& row) const { return find(row).present; }
  /// Returns how many rows of the index equal this one.
  KOKKOS_FUNCTION RowNumber count(row_type const& row) const {
    return detail::row_index::count_of<RowNumber>{m_groups}(find(row));
  }
  /// Returns the group id of the rows that equal this one: below groups() of the index, after the
  /// last insertion.
  KOKKOS_FUNCTION found<RowNumber> label(row_type const& row) const {
    auto const first = find(row);
    return first ? found<RowNumber>{true, m_groups.id(*first)} : found<RowNumber>{};
  }
  /// Calls f(number) for each row of the index that equals this one, in order.
  template <class F>
  KOKKOS_FUNCTION void for_each_match(row_type const& row, F const& f) const {
    if (auto const first = find(row)) m_groups.for_each(*first, f);
  }

  /// Returns the rows that the index was built from: rows()[number] is a row.
  KOKKOS_FUNCTION Rows const& rows() const { return m_rows; }

 private:
  Rows m_rows;
  detail::row_index::slot_table<ExecSpace, RowNumber> m_table;
  detail::row_index::row_groups<RowNumber> m_groups;
};

/// An index of rows. It keeps the views of the columns, not copies of them: do not change rows that
/// are indexed. Copies of an index share its memory. Lookups are asynchronous: call exec.fence()
/// before the last copy is destroyed. They block if they are made by partitions (options.strategy)
/// and the GPU has no stream-ordered memory for their workspace. Lookups only read the index:
/// several host threads may run them at the same time on different instances, but not during an
/// insertion.
///
/// Rows with a null, if nulls are unequal, are equal to no row: they are in no group, and are not
/// found. RowNumber is std::uint32_t for up to 2^31 - 8 rows, or std::uint64_t for up to 2^40 - 8.
template <class Rows, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          std::unsigned_integral RowNumber = std::uint32_t>
  requires detail::is_row_view<Rows>
class row_index {
  static_assert(sizeof(RowNumber) == 4 || sizeof(RowNumber) == 8,
                "karpos: row numbers are std::uint32_t or std::uint64_t");
  static_assert(
      Rows::template reached_by<ExecSpace>,
      "karpos: a column lies in a memory space that the execution space cannot reach; copy it "
      "with Kokkos::create_mirror_view_and_copy first");

 public:
  using rows_type = Rows;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using number_type = RowNumber;
  using ref_type = row_index_ref<Rows, ExecSpace, RowNumber>;
  using options = row_index_options;
  /// Written by find and label for rows that are not in the index.
  static constexpr RowNumber missing = ~RowNumber(0);

  /// Indexes options.rows rows, by default all. Blocks.
  ///
  /// Complexity: O(rows) unless many different rows have equal hashes; frequent rows cost no more
  ///   than others. With duplicates::kept, if rows repeat, they are also sorted by group: one pass
  ///   for each factor of 2^13 in the number of groups (GPUs: of 2^8).
  /// Concurrency: works on `exec`.
  /// Memory: bytes_for(all rows, duplicates), and during the build workspace_bytes(exec,
  ///   options.rows, duplicates, strategy). Memory that the index allocates is less, 10 bytes a row
  ///   on GPUs and 16 on CPUs, if all rows are different, none is left out (by a mask, or for a
  ///   null that is unequal), and none can be appended. A build by partitions takes all of
  ///   bytes_for even then if the hashes of two rows agree in 31 bits, or in 23 if row numbers have
  ///   64. This does not apply to single values of four bytes with row numbers of 32 bits. The
  ///   index is right in any case.
  /// Throws: std::invalid_argument for an unknown strategy or treatment of duplicates, if there are
  ///   more rows than RowNumber can number, if options.rows is larger than the number of rows, or
  ///   if memory or workspace is too small or not aligned; allocation_error.
  /// Source: Leis, Boncz, Kemper, Neumann, "Morsel-driven parallelism", SIGMOD 2014, for a hash
  ///   table of joins that keeps bits of the hash in its slots; Ashkiani, Davidson, Meyer, Owens,
  ///   "GPU multisplit", PPoPP 2016, for the sort.
  row_index(ExecSpace const& exec, Rows const& rows, row_index_options const& o = {})
      : row_index(exec, rows, o, detail::everything{}) {}
  /// Indexes the rows i for which members(i) is true or not zero. The mask `members` is a view of
  /// bool or integers, as long as the columns; the index does not keep it. It applies only to the
  /// rows that the constructor indexes; insert appends every row. Throws std::invalid_argument if
  /// the mask has another length. Otherwise as the constructor above.
  template <view_1d Members>
  row_index(ExecSpace const& exec, Rows const& rows, Members const& members,
            row_index_options const& o = {})
      : row_index(exec, rows, o, detail::where{members, detail::as_bool{}}) {}

  /// Returns the bytes of an index of `rows` rows of any type: about 28 a row on CPUs, 40 if row
  /// numbers have 64 bits; 24 and 32 if duplicates are dropped. On GPUs 6 less. Throws
  /// std::invalid_argument for an unknown treatment of duplicates.
  static std::size_t bytes_for(std::uint64_t rows, duplicates d = duplicates::kept) {
    detail::user_call const call("row_index", "bytes_for");
    return arrays(rows, keeps(d)).bytes;
  }
  /// Returns the bytes that the build, or an insertion, of `rows` rows also needs. Throws
  /// std::invalid_argument for an unknown strategy or treatment of duplicates.
  static std::size_t workspace_bytes(ExecSpace const& exec, std::uint64_t rows,
                                     duplicates d = duplicates::kept,
                                     bulk_strategy strategy = bulk_strategy::automatic) {
    detail::user_call const call("row_index", "workspace_bytes");
    using by_partitions = detail::row_index::partitioned_build<ExecSpace, Rows, RowNumber>;
    detail::require_enumerators(strategy);
    return detail::row_index::build_arrays<ExecSpace, RowNumber>(
               exec, rows, keeps(d), by_partitions::bytes(exec, rows, strategy))
        .bytes;
  }

  /// Returns the number of rows that the index holds: without those that the mask left out and, if
  /// nulls are unequal, those with a null. If duplicates are dropped: groups().
  std::uint64_t size() const { return m_groups.size(); }
  /// Returns the number of different rows.
  std::uint64_t groups() const { return m_groups.groups(); }
  Rows const& rows() const { return m_rows; }

  /// Appends the next n rows of the columns to an index that drops duplicates. Groups keep their
  /// ids; new groups follow. Rows may be written until they are appended.
  ///
  /// Returns: the number of new groups. Blocks.
  /// Complexity: O(n), whatever the size of the index is.
  /// Requires: all insertions are made by the same object. Copies made before share the slots, so
  ///   their lookups find appended rows too, but their size(), groups(), distinct and label of all
  ///   rows do not count them. Their label of queries writes ids below groups() of the object that
  ///   inserts: take that number, not groups() of the copy, as the size of arrays that are indexed
  ///   by these ids.
  /// Concurrency: works on `exec`; one insertion at a time, and no lookup meanwhile. Refs stay
  ///   valid.
  /// Memory: workspace_bytes(exec, n, duplicates::dropped), the caller's or allocated.
  /// Throws, and changes nothing: std::invalid_argument if n is larger than the number of rows that
  ///   are not appended yet, if the index keeps duplicates, or if the workspace is too small or not
  ///   aligned; allocation_error.
  std::uint64_t insert(ExecSpace const& exec, std::uint64_t n,
                       wrapped_memory const& workspace = {nullptr, 0}) {
    detail::user_call const call("row_index", "insert");
    if (m_groups.keeps_duplicates())
      detail::reject("rows cannot be appended to an index that keeps duplicates",
                     "its runs lie side by side", "build it with duplicates::dropped");
    if (n > m_rows.size() - m_groups.end())
      detail::reject(
          "too many rows to append to an index",
          std::to_string(n) + " of " + std::to_string(m_rows.size() - m_groups.end()) + " left",
          "build it over longer columns");
    return append(exec, n, detail::everything{}, workspace);
  }

  /// Writes the number of the first row of the index that equals queries[i], or `missing`, to
  /// out(i), a RowNumber. Queries are rows with columns of the same types; the functions of the
  /// index's rows compare them. Asynchronous, as are count, contains, label and distinct.
  ///
  /// Memory: lookups by partitions (options.strategy) allocate 11 bytes for each query of one
  ///   column of four bytes, and 16 for each other query; if row numbers have 64 bits, 20 for any
  ///   query. They block if the GPU has no stream-ordered memory. If there is no memory, lookups
  ///   are direct. Results may replace a column of the queries if its values have as many bytes as
  ///   a result; lookups are then direct, too.
  /// Throws: std::invalid_argument if the output is not as long as the queries, or overlaps them in
  ///   another way, or if queries and index both have nullable columns, with or without nulls in
  ///   them, and nulls are unequal in the queries, but equal in the index's rows.
  template <class Queries, view_1d Out>
  void find(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    look_up<RowNumber>("find", exec, queries, detail::value_or<RowNumber>{missing}, out);
  }
  /// Writes how many rows of the index equal queries[i] to out(i), a RowNumber. Otherwise as find.
  template <class Queries, view_1d Out>
  void count(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    look_up<RowNumber>("count", exec, queries,
                       detail::row_index::count_of<RowNumber>{m_groups.runs()}, out);
  }
  /// Writes to out(i), a bool or an integer, whether a row equals queries[i]. Otherwise as find.
  template <class Queries, view_1d Out>
  void contains(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    look_up<typename Out::non_const_value_type>("contains", exec, queries, detail::presence{}, out);
  }
  /// Writes the group id of the rows that equal queries[i], or `missing`, to out(i), a RowNumber.
  /// Ids are below groups(), except in a copy older than an insertion (see insert). Groups are
  /// numbered in the order of their first rows. Otherwise as find.
  template <class Queries, view_1d Out>
    requires detail::is_row_view<Queries>
  void label(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    if (auto const runs = m_groups.runs(); runs.group_of == nullptr)  // row i is group i
      look_up<RowNumber>("label", exec, queries, detail::value_or<RowNumber>{missing}, out);
    else
      look_up<RowNumber>("label", exec, queries, detail::row_index::group_id_of<RowNumber>{runs},
                         out);
  }
  /// Writes, without a lookup, the group id of each row up to the last one that was indexed or
  /// appended. Rows that the mask left out get `missing`, and so do rows with a null if nulls are
  /// unequal. Asynchronous.
  ///
  /// Throws: std::invalid_argument unless the output is as long as all these rows, left-out ones
  ///   included: options.rows (or all rows), and the rows that insert has appended.
  template <view_1d Out>
  void label(ExecSpace const& exec, Out const& out) const {
    detail::user_call const call("row_index", "label");
    require_numbers<Out>();
    detail::require_same_extent("the rows of an index", m_groups.end(), "the group ids",
                                out.extent(0));
    using body = detail::row_index::copy_group_ids<RowNumber, device::held_by_loop<ExecSpace, Out>>;
    device::loop_over("karpos::row_index: label", exec, m_groups.end(),
                      body{m_groups.runs(), device::for_loop<ExecSpace>(out)});
  }
  /// Writes the number of the first row of each group, in order. Asynchronous.
  ///
  /// Throws: std::invalid_argument if out has fewer than groups() elements.
  template <view_1d Out>
  void distinct(ExecSpace const& exec, Out const& out) const {
    detail::user_call const call("row_index", "distinct");
    require_numbers<Out>();
    detail::require_length("the output", out.extent(0), groups(), "groups");
    device::loop_over(
        "karpos::row_index: distinct", exec, groups(),
        detail::row_index::copy_first_rows<RowNumber, device::held_by_loop<ExecSpace, Out>>{
            m_groups.runs(), device::for_loop<ExecSpace>(out)});
  }

  ref_type ref() const { return {m_rows, m_groups.table(), m_groups.runs()}; }

 private:
  using arrays = detail::row_index::arrays<ExecSpace, RowNumber>;
  friend struct detail::row_index::index_access;
  template <class Members>
    requires(!Kokkos::is_view_v<Members>)
  row_index(ExecSpace const& exec, Rows const& rows, row_index_options const& o,
            Members const& members, detail::user_call const& = detail::user_call("row_index"))
      : m_rows(rows),
        m_memory((detail::require_enumerators(o.strategy), require_mask(rows.size(), members),
                  detail::row_index::require_row_numbers<RowNumber>(rows.size()),
                  require_rows(o.rows, rows.size()),
                  detail::row_index::memory_for(
                      exec, o.memory, bytes_for(rows.size(), o.duplicates),
                      arrays(capacity_for(o, rows), keeps(o.duplicates)).slot_bytes))),
        m_groups(exec, capacity_for(o, rows), keeps(o.duplicates), m_memory.data()),
        m_strategy(o.strategy) {
    append(exec, Kokkos::min(o.rows, rows.size()), members, o.workspace);
  }

  template <class Members>
  static void require_mask(std::uint64_t rows, Members const& members) {
    if constexpr (!std::is_same_v<Members, detail::everything>) {
      detail::require_reachable<ExecSpace, detail::view_type_of<Members>>();
      detail::require_same_extent("the rows of an index", rows, "their mask",
                                  members.stencil.extent(0));
    }
  }
  static void require_rows(std::uint64_t requested, std::uint64_t rows) {
    if (requested > rows && requested != row_index_options::all_rows)
      detail::reject("an index of more rows than there are",
                     std::to_string(requested) + " of " + std::to_string(rows),
                     "leave options.rows out for all of them");
  }

  /// Returns whether an index keeps duplicates. Throws std::invalid_argument for unknown numbers.
  static bool keeps(duplicates d) {
    detail::require_enumerators(d);
    return d == duplicates::kept;
  }
  /// Returns the number of rows that are indexed, or may be appended later.
  static std::uint64_t capacity_for(row_index_options const& o, Rows const& rows) {
    return keeps(o.duplicates) ? Kokkos::min(o.rows, rows.size()) : rows.size();
  }

  /// Indexes the next n rows. Returns: the number of new groups. Blocks.
  template <class Members>
  std::uint64_t append(ExecSpace const& exec, std::uint64_t n, Members const& members,
                       wrapped_memory const& workspace) {
    char const* const bytes_call = "workspace_bytes(exec, rows, duplicates)";
    auto const bytes = [&](bulk_strategy s) {
      return workspace_bytes(
          exec, n, m_groups.keeps_duplicates() ? duplicates::kept : duplicates::dropped, s);
    };
    bool const splits = std::is_same_v<Members, detail::everything>;
    bulk_strategy const strategy = splits ? m_strategy : bulk_strategy::direct;
    std::size_t const most = bytes(strategy), least = bytes(bulk_strategy::direct);
    auto const group_memory = [&](arrays const& a) {
      if (m_memory.extent(0) >= a.bytes) return m_memory.data() + a.slot_bytes;  // the caller's
      m_group_memory = detail::row_index::memory_for(exec, {}, 0, a.bytes - a.slot_bytes);
      return m_group_memory.data();
    };
    if (most > least)
      if (auto const w = detail::try_workspace(exec, workspace, most))
        return m_groups.append(exec, m_rows, n, members, w->data(), group_memory, strategy);
    detail::workspace<ExecSpace> const w(exec, bytes_call, workspace, least);
    return m_groups.append(exec, m_rows, n, members, w.data(), group_memory,
                           most > least ? bulk_strategy::direct : strategy);
  }

  template <class Out, class Result = RowNumber>
  static constexpr void require_numbers() {
    detail::require_reachable<ExecSpace, Out>();
    static_assert(
        std::is_same_v<typename Out::value_type, Result>,
        "karpos: row numbers, ids of groups and counts are written to a view of the index's "
        "RowNumber, which is not const");
  }

  template <class Result, class Queries, class Answer, class Out>
  void look_up(char const* what, ExecSpace const& exec, Queries const& queries,
               Answer const& answer, Out const& out) const {
    detail::user_call const call("row_index", what);
    static_assert(detail::is_row_view<Queries>, "karpos: queries are rows(column, column, ...)");
    static_assert(std::is_same_v<typename Queries::row_type, typename Rows::row_type>,
                  "karpos: queries have columns of the types of the index' columns");
    detail::require_reachable_columns<ExecSpace, Queries>();
    require_numbers<Out, Result>();
    detail::require_same_extent("queries", queries.size(), "the output", out.extent(0));
    detail::require_rule_for_nulls(queries, m_rows);
    bool in_place = false;
    queries.for_each_column(
        [&](auto const& column) { in_place |= detail::row_index::replaces_column(out, column); });
    std::string const kernel = std::string("karpos::row_index: ") + what;
    if (detail::row_index::try_look_up(exec, kernel, m_rows, m_groups.table(), queries, answer, out,
                                       in_place ? bulk_strategy::direct : m_strategy))
      return;
    constexpr int distance = detail::row_index::tuning<ExecSpace>::prefetch_distance;
    using device::for_loop, device::held_by_loop;
    using body = detail::row_index::look_up<distance, held_by_loop<ExecSpace, Rows>,
                                            held_by_loop<ExecSpace, Queries>, ExecSpace, RowNumber,
                                            Answer, held_by_loop<ExecSpace, Out>>;
    device::for_each_staged<distance>(
        kernel, exec, queries.size(),
        body{{for_loop<ExecSpace>(m_rows), for_loop<ExecSpace>(queries), 0, m_groups.table()},
             answer,
             for_loop<ExecSpace>(out)});
  }

  Rows m_rows;
  Kokkos::View<std::byte*, memory_space> m_memory, m_group_memory;
  detail::row_index::groups_of_rows<ExecSpace, RowNumber> m_groups;
  bulk_strategy m_strategy;
};

namespace detail {
template <class X>
inline constexpr bool is_row_index = false;
template <class Rows, execution_space ExecSpace, std::unsigned_integral RowNumber>
inline constexpr bool is_row_index<karpos::row_index<Rows, ExecSpace, RowNumber>> = true;
}  // namespace detail

/// Numbers the groups of equal rows in the order of their first rows: writes row i's group id,
/// below the number of groups, to out(i). Rows with a null, if nulls are unequal, get the largest
/// value of the type. Out is a view of std::uint32_t or std::uint64_t; more than 2^31 - 8 rows need
/// std::uint64_t.
///
/// Returns: the number of groups. Blocks.
/// Memory: that of a row_index and of its build.
/// Throws: as the constructor of row_index; std::invalid_argument if the output has another length.
template <execution_space ExecSpace, class Rows, view_1d Out>
  requires detail::is_row_view<Rows>
std::uint64_t label(ExecSpace const& exec, Rows const& rows, Out const& out) {
  detail::user_call const call("label");
  row_index<Rows, ExecSpace, typename Out::value_type> const index(
      exec, rows, row_index_options{.duplicates = duplicates::dropped});
  index.label(exec, out);
  exec.fence("karpos::label: before the index is freed");
  return index.groups();
}

/// Writes the number of the first row of each group of equal rows, in order. The output may be
/// longer than the number of groups: the elements after them are not written. Rows with a null, if
/// nulls are unequal, are in no group. Types, and what it returns: as label. `distinct`
/// (reduce_by_key.hpp) writes keys instead.
///
/// Memory: that of a row_index and of its build.
/// Throws: as the constructor of row_index; std::invalid_argument if the output is too short (the
///   message says how many elements would do).
template <execution_space ExecSpace, class Rows, view_1d Out>
  requires detail::is_row_view<Rows>
std::uint64_t distinct_indices(ExecSpace const& exec, Rows const& rows, Out const& out) {
  detail::user_call const call("distinct_indices");
  row_index<Rows, ExecSpace, typename Out::value_type> const index(
      exec, rows, row_index_options{.duplicates = duplicates::dropped});
  index.distinct(exec, out);
  exec.fence("karpos::distinct_indices: before the index is freed");
  return index.groups();
}
/// Calls distinct_indices; this is its old name.
template <execution_space ExecSpace, class Rows, view_1d Out>
[[deprecated("karpos: distinct of rows is distinct_indices")]] std::uint64_t distinct(
    ExecSpace const& exec, Rows const& rows, Out const& out)
  requires detail::is_row_view<Rows>
{
  return distinct_indices(exec, rows, out);
}

}  // namespace karpos
