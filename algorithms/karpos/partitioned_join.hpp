// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/join/output.hpp"
#include "karpos/detail/relational/join/payload_columns.hpp"
#include "karpos/detail/relational/join/payload_join.hpp"
#include "karpos/detail/relational/join/split_join.hpp"
#include "karpos/join.hpp"
#include "karpos/join_options.hpp"
#include "karpos/rows.hpp"

// Joins of two tables that are joined once: both tables are split by the hash of their rows into
// partitions so small that random accesses stay in scratch (shared memory; on CPUs the cache).
// detail/relational/join/split_join.hpp says how.

namespace karpos {

/// A list of columns, of a table or of an output; `columns(view, view, ...)` makes it.
template <view_1d... Views>
struct column_list {
  detail::pack<Views...> views;
};
template <view_1d... Views>
column_list<Views...> columns(Views const&... views) {
  return {{{views}...}};
}

namespace detail::join {

/// Writes the rows of a join that fit the output. swapped: the sides have traded places.
template <class Write>
struct write_within {
  Write write;
  std::uint64_t capacity;
  bool swapped;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint64_t at, std::uint64_t l,
                                              std::uint64_t r) const {
    if (at < capacity) write(at, swapped ? r : l, swapped ? l : r);
  }
};
struct write_nothing {
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t, std::uint64_t) const {}
};

/// Joins two tables once, by partitions or by an index.
template <class ExecSpace, class Left, class Right>
class pair_of_tables {
  static_assert(is_row_view<Left> && is_row_view<Right>,
                "karpos: the sides of a partitioned join are rows(column, ...)");
  static_assert(
      std::is_same_v<typename Left::row_type, typename Right::row_type>,
      "karpos: the two sides of a join have columns of the same types, in the same order");
  static_assert(
      Left::template reached_by<ExecSpace> && Right::template reached_by<ExecSpace>,
      "karpos: a column lies in a memory space that the execution space cannot reach; copy it "
      "with Kokkos::create_mirror_view_and_copy first");
  using index_type = karpos::row_index<Right, ExecSpace>;

 public:
  pair_of_tables(ExecSpace const& exec, Left const& left, Right const& right)
      : m_exec(exec),
        m_left(left),
        m_right(right) {
    for (std::uint64_t const rows : {left.size(), right.size()})
      if (rows > max_rows)
        reject("a partitioned join has too many rows",
               std::to_string(rows) + " on a side, of at most " + std::to_string(max_rows),
               "join by an index with row numbers of 64 bits");
  }

  /// Writes the rows of the join that fit the output, partition by partition. Returns: the number
  /// of all rows; nothing if an index must be used: for a full join, and if tables are too small or
  /// their rows too skewed to be split.
  template <class Write>
  std::optional<std::uint64_t> join_by_partitions(join_kind kind, Write const& write,
                                                  std::uint64_t capacity,
                                                  partitioned_join_options const& o) const {
    require_valid_kind(kind);
    if (is_given(o.workspace)) require_workspace(user, o.workspace, bytes());
    if (kind == join_kind::full ||
        m_left.size() + m_right.size() < tuning<ExecSpace>::min_split_rows)
      return {};
    using m = multiplicity;
    switch (kind) {
      case join_kind::inner:
        return join_inner(write, capacity, o);
      case join_kind::right:
        return run(backward(), m::matches_or_one, write_within<Write>{write, capacity, true}, o);
      case join_kind::right_semi:
        return run(backward(), m::one_if_matched, write_within<Write>{write, capacity, true}, o);
      case join_kind::right_anti:
        return run(backward(), m::one_if_not, write_within<Write>{write, capacity, true}, o);
      default:
        return run(forward(), join::multiplicity_of(kind),
                   write_within<Write>{write, capacity, false}, o);
    }
  }
  /// Returns the join by an index of the right table.
  karpos::join<Left, index_type> join_by_index(join_kind kind) const {
    return explain_as("karpos::partitioned_join", "join fewer rows at once", [&] {
      return karpos::join<Left, index_type>(m_exec, m_left, index_type(m_exec, m_right), kind);
    });
  }

  std::size_t bytes() const { return std::max(forward().bytes(), backward().bytes()); }

 private:
  static constexpr std::uint64_t max_rows = row_index::max_rows<std::uint32_t>;
  static constexpr workspace_user user{"partitioned_join",
                                       "partitioned_join_bytes(exec, left, right)"};

  split_join<ExecSpace, Left, Right, Right> forward() const {
    return {m_exec, m_left, m_right, m_right};
  }
  split_join<ExecSpace, Right, Left, Right> backward() const {
    return {m_exec, m_right, m_left, m_right};
  }
  /// Splits for an inner join: the hash table of a partition holds rows of the smaller side, or, if
  /// that is too skewed, of the other side.
  template <class Write>
  std::optional<std::uint64_t> join_inner(Write const& write, std::uint64_t capacity,
                                          partitioned_join_options const& o) const {
    bool const left_first = m_left.size() < m_right.size();
    for (bool const of_left : {left_first, !left_first}) {
      write_within<Write> const emit{write, capacity, of_left};
      auto const rows = of_left ? run(backward(), multiplicity::matches, emit, o)
                                : run(forward(), multiplicity::matches, emit, o);
      if (rows) return rows;
    }
    return {};
  }
  template <class Join, class Emit>
  std::optional<std::uint64_t> run(Join const& join, multiplicity kind, Emit const& emit,
                                   partitioned_join_options const& o) const {
    workspace<ExecSpace> const w(m_exec, user, o.workspace, bytes());
    return join.run(kind, emit, w.data());
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
};

/// Writes the rows of a join, by partitions or by an index. Returns: their number. Blocks.
template <class ExecSpace, class Left, class Right, class Write, class... Out>
std::uint64_t write_join(ExecSpace const& exec, pair_of_tables<ExecSpace, Left, Right> const& both,
                         join_kind kind, partitioned_join_options const& o, Write const& write,
                         Out const&... out) {
  std::uint64_t const capacity = std::min({std::uint64_t(out.extent(0))...});
  auto rows = both.join_by_partitions(kind, write, capacity, o);
  if (!rows) {
    auto const join_by_index = both.join_by_index(kind);
    join_by_index.write(exec, out...);
    exec.fence("karpos::partitioned_join: written");
    rows = join_by_index.size();
  }
  join::require_length("the output of a join", capacity, *rows);
  return *rows;
}

inline constexpr workspace_user payload_join_user{
    "partitioned_join", "partitioned_join_bytes(exec, left, right, left_columns, right_columns)"};

/// Payload columns of a side, and the views for their values.
template <class In, class Out>
struct payload_side;
template <class... In, class... Out>
struct payload_side<column_list<In...>, column_list<Out...>> {
  static_assert(sizeof...(In) == sizeof...(Out),
                "karpos: every payload column of a join goes to one column of the output");
  static_assert((std::is_same_v<typename Out::value_type, typename In::non_const_value_type> &&
                 ...),
                "karpos: payload columns go to views of their values, not const");
  column_list<In...> in;
  column_list<Out...> out;

  template <class ExecSpace>
  std::uint64_t check(char const* what, std::uint64_t rows) const {
    require_reachable<ExecSpace, In..., Out...>();
    return check(what, rows, std::index_sequence_for<In...>{});
  }
  payload_columns<In...> columns() const { return payload_columns<In...>(in.views); }
  payload_columns<Out...> output_columns() const { return payload_columns<Out...>(out.views); }
  template <class ExecSpace, class Numbers>
  void gather_rows(ExecSpace const& exec, Numbers const& rows) const {
    gather_rows(exec, rows, std::index_sequence_for<In...>{});
  }

 private:
  /// Returns: the number of rows that fit all outputs.
  template <std::size_t... I>
  std::uint64_t check([[maybe_unused]] char const* what, [[maybe_unused]] std::uint64_t rows,
                      std::index_sequence<I...>) const {
    (require_same_extent(what, rows, "a payload column", detail::get<I>(in.views).extent(0)), ...);
    return std::min({~std::uint64_t(0), std::uint64_t(detail::get<I>(out.views).extent(0))...});
  }
  template <class ExecSpace, class Numbers, std::size_t... I>
  void gather_rows(ExecSpace const& exec, Numbers const& rows, std::index_sequence<I...>) const {
    [[maybe_unused]] auto const part = std::pair(std::uint64_t(0), std::uint64_t(rows.extent(0)));
    (karpos::gather(exec, rows, detail::get<I>(in.views), typename Out::value_type{},
                    Kokkos::subview(detail::get<I>(out.views), part)),
     ...);
  }
};

/// Splits payload columns together with their rows. Returns: the number of rows of the join;
/// nothing if the columns must be gathered instead.
template <class ExecSpace, class Left, class Right, class LeftSide, class RightSide>
std::optional<std::uint64_t> join_with_payload(ExecSpace const& exec, Left const& left,
                                               Right const& right, LeftSide const& of_left,
                                               RightSide const& of_right, std::uint64_t capacity,
                                               partitioned_join_options const& o) {
  auto const l = of_left.columns();
  auto const r = of_right.columns();
  if constexpr (can_join_with_payload<ExecSpace, Left, Right, std::decay_t<decltype(l)>,
                                      std::decay_t<decltype(r)>>) {
    if (left.size() + right.size() < tuning<ExecSpace>::min_split_rows) return {};
    return join::with_payload_join(
        exec, left, right, l, r,
        [&](auto const& both, auto swapped) -> std::optional<std::uint64_t> {
          if (!both.has_fixed_partitions()) return {};
          workspace<ExecSpace> const w(exec, payload_join_user, o.workspace, both.bytes());
          if constexpr (swapped)
            return both.run(r, l, of_right.output_columns(), of_left.output_columns(), capacity,
                            w.data());
          else
            return both.run(l, r, of_left.output_columns(), of_right.output_columns(), capacity,
                            w.data());
        });
  } else {
    return {};
  }
}
/// Writes pairs of row numbers, and gathers the payload columns by them. Returns: the number of
/// rows of the join.
template <class ExecSpace, class Left, class Right, class LeftSide, class RightSide>
std::uint64_t join_and_gather(ExecSpace const& exec,
                              pair_of_tables<ExecSpace, Left, Right> const& both,
                              LeftSide const& of_left, RightSide const& of_right,
                              std::uint64_t capacity, partitioned_join_options const& o) {
  using numbers = Kokkos::View<std::uint32_t*, typename ExecSpace::memory_space>;
  auto const make = [&] {
    return allocate_or_explain<typename ExecSpace::memory_space>(
        capacity * sizeof(std::uint32_t), "the row numbers of a join", "join fewer rows at once",
        [&] {
          return uninitialized_array<numbers>(exec, "karpos::partitioned_join: rows", capacity);
        });
  };
  numbers const left = make(), right = make();
  std::uint64_t const rows = join::write_join(
      exec, both, join_kind::inner, o, write_pair<numbers, numbers>{left, right}, left, right);
  auto const part = std::pair(std::uint64_t(0), rows);
  of_left.gather_rows(exec, Kokkos::subview(left, part));
  of_right.gather_rows(exec, Kokkos::subview(right, part));
  exec.fence("karpos::partitioned_join: gathered");
  return rows;
}

}  // namespace detail::join

/// Returns the bytes of the workspace of a partitioned join of these rows.
template <execution_space ExecSpace, class Left, class Right>
std::size_t partitioned_join_bytes(ExecSpace const& exec, Left const& left, Right const& right) {
  return detail::join::pair_of_tables<ExecSpace, Left, Right>(exec, left, right).bytes();
}

/// Returns the bytes of the workspace of a partitioned join of these rows that writes these payload
/// columns.
template <execution_space ExecSpace, class Left, class Right, view_1d... LeftColumns,
          view_1d... RightColumns>
std::size_t partitioned_join_bytes(ExecSpace const& exec, Left const& left, Right const& right,
                                   column_list<LeftColumns...> const& left_columns,
                                   column_list<RightColumns...> const& right_columns) {
  namespace d = detail::join;
  std::size_t bytes = karpos::partitioned_join_bytes(exec, left, right);
  d::payload_columns<LeftColumns...> const l(left_columns.views);
  d::payload_columns<RightColumns...> const r(right_columns.views);
  if constexpr (d::can_join_with_payload<ExecSpace, Left, Right, std::decay_t<decltype(l)>,
                                         std::decay_t<decltype(r)>>)
    bytes = std::max(bytes, d::with_payload_join(
                                exec, left, right, l, r, [](auto const& both, auto) -> std::size_t {
                                  return both.has_fixed_partitions() ? both.bytes() : 0;
                                }));
  return bytes;
}

/// Writes the rows of a join to left_out(j) and right_out(j), in no particular order: pairs of row
/// numbers, as those of karpos::join (join.hpp). For tables that are joined once: nothing is kept.
/// Rows are compared by the functions of the right rows, and by their rule for nulls.
///
/// To know the size of the outputs first, call partitioned_join_size, which costs another join.
///
/// Returns: the number of rows. Blocks.
/// Complexity: copies both tables into partitions, in one pass or two, in order, and looks up rows
///   of one table in a partition of the other, held in scratch. Rows that are moved as hashes (last
///   line of the table under Memory) are compared by their columns, at random addresses.
///
///   Small inputs (fewer than 2^17 rows in all), full joins and too frequent rows use an index
///   instead (row_index.hpp), in memory of its own; the rows then come in the order of
///   karpos::join. Rows are too frequent if some partition of the table that is held in scratch has
///   more rows than scratch holds. That table is the right one; for right, right_semi and
///   right_anti the left one; for inner joins the smaller one, then the other. In that case the
///   index is built after the split.
/// Requires: the outputs overlap no other view.
/// Concurrency: works on `exec`.
/// Memory: partitioned_join_bytes, for each row of both tables:
///
///     8    one column of up to 4 bytes without nulls, materialised (moved with its values)
///     16   one column of 5 to 8 bytes without nulls, materialised; several columns of at most 8
///          bytes each and 12 together, materialised; with nulls, 1 to 8 columns of at most 8
///          bytes each and 11 together, materialised
///     8    other rows, and all rows with functions of the caller's: a hash and a number
///
///   On GPUs a quarter more. If the longer side has so many rows that it takes two passes, that
///   side once more. On an H100 that begins at about 22 million rows of several columns, 34 million
///   of one column of 5 to 8 bytes, and 134 million that take 8 bytes. Also what `partition` takes.
/// Throws: std::invalid_argument for a kind without pairs, if `kind` is no join_kind, if outputs
///   are too short (the message says how many elements would do; what fitted may be written) or
///   have too small integers, if the workspace is too small or not aligned, or for more than
///   2^31 - 8 rows on a side; allocation_error.
/// Source: Manegold, Boncz, Kersten, "Optimizing main-memory join on modern hardware", TKDE 2002
///   (radix join); Balkesen, Teubner, Alonso, Özsu, "Main-memory hash joins on multi-core CPUs",
///   ICDE 2013.
template <execution_space ExecSpace, class Left, class Right, view_1d LeftOut, view_1d RightOut>
std::uint64_t partitioned_join(ExecSpace const& exec, Left const& left, Right const& right,
                               join_kind kind, LeftOut const& left_out, RightOut const& right_out,
                               partitioned_join_options const& options = {}) {
  namespace d = detail::join;
  d::require_kind(kind, true);
  d::require_numbers<ExecSpace>("the output for left rows", left_out, left.size());
  d::require_numbers<ExecSpace>("the output for right rows", right_out, right.size());
  return d::write_join(exec, d::pair_of_tables<ExecSpace, Left, Right>(exec, left, right), kind,
                       options, d::write_pair<LeftOut, RightOut>{left_out, right_out}, left_out,
                       right_out);
}
/// Writes row j of a semi or anti join, one number, to out(j). Otherwise as partitioned_join of
/// pairs.
///
/// Throws: as partitioned_join of pairs, except that kinds with pairs are refused.
template <execution_space ExecSpace, class Left, class Right, view_1d Out>
std::uint64_t partitioned_join(ExecSpace const& exec, Left const& left, Right const& right,
                               join_kind kind, Out const& out,
                               partitioned_join_options const& options = {}) {
  namespace d = detail::join;
  d::require_kind(kind, false);
  bool const of_left = kind == join_kind::left_semi || kind == join_kind::left_anti;
  d::require_numbers<ExecSpace>("the output of a join", out, of_left ? left.size() : right.size());
  d::pair_of_tables<ExecSpace, Left, Right> const both(exec, left, right);
  if (of_left) return d::write_join(exec, both, kind, options, d::write_left<Out>{out}, out);
  return d::write_join(exec, both, kind, options, d::write_right<Out>{out}, out);
}

/// Writes payload columns of both tables instead of row numbers, for an inner join, in no
/// particular order. Row j is a pair of a left and a right row: the left row's values of
/// left_columns go to left_out, the right row's values of right_columns to right_out, one view for
/// each column. `columns(view, view, ...)` makes such a list, which may be empty for one side.
///
/// Returns: the number of rows. Blocks.
/// Complexity: on GPUs values are moved with their keys, once or twice, so that everything is read
///   and written in order. That needs rows of one column of up to 8 bytes, without nulls and
///   without functions of the caller's, and payload columns of 1, 2, 4 or 8 bytes each, at most 16
///   bytes a side; a column of 1 or 2 bytes counts as 4. In all other cases, and on CPUs, pairs are
///   written and then the columns are gathered at random addresses. This also happens with fewer
///   than 2^17 rows in all, and if a partition overflows because rows have many equals.
/// Requires: columns are as long as the rows of their side; outputs overlap no other view.
/// Memory: partitioned_join_bytes(exec, left, right, left_columns, right_columns). A row of a side
///   has K bytes of key and V bytes of payload:
///
///     K    4, or 8 if the key column has more than 4 bytes
///     V    4 for each payload column of up to 4 bytes, 8 for one of 8 bytes; 4 if there is none
///
///   If values are moved, each row of a side takes about 1.25 * (K + V) bytes. If the side with
///   fewer rows is split in two passes, the side that takes more bytes counts twice. On an H100
///   that begins at about 96 million rows if their K + V is 8, and at 34 to 18 million if it is 12
///   to 24. The workspace is never smaller than partitioned_join_bytes(exec, left, right). If
///   columns are gathered, also allocates 8 bytes for each element of the shortest output.
/// Throws: std::invalid_argument for another kind than inner, or if columns are not as long as
///   their rows; as partitioned_join of pairs.
template <execution_space ExecSpace, class Left, class Right, view_1d... LeftColumns,
          view_1d... RightColumns, view_1d... LeftOut, view_1d... RightOut>
std::uint64_t partitioned_join(ExecSpace const& exec, Left const& left, Right const& right,
                               join_kind kind, column_list<LeftColumns...> const& left_columns,
                               column_list<RightColumns...> const& right_columns,
                               column_list<LeftOut...> const& left_out,
                               column_list<RightOut...> const& right_out,
                               partitioned_join_options const& options = {}) {
  namespace d = detail::join;
  static_assert(sizeof...(LeftOut) + sizeof...(RightOut) > 0,
                "karpos: a join of payload columns writes at least one");
  d::require_valid_kind(kind);
  if (kind != join_kind::inner)
    detail::reject("payload columns are written by inner joins only",
                   "rows of other kinds may lack one of the sides",
                   "write pairs, and gather columns with what stands for no row");
  d::pair_of_tables<ExecSpace, Left, Right> const both(exec, left, right);
  d::payload_side<column_list<LeftColumns...>, column_list<LeftOut...>> const of_left{left_columns,
                                                                                      left_out};
  d::payload_side<column_list<RightColumns...>, column_list<RightOut...>> const of_right{
      right_columns, right_out};
  std::uint64_t const capacity =
      std::min(of_left.template check<ExecSpace>("left rows", left.size()),
               of_right.template check<ExecSpace>("right rows", right.size()));
  if (detail::is_given(options.workspace))
    detail::require_workspace(
        d::payload_join_user, options.workspace,
        partitioned_join_bytes(exec, left, right, left_columns, right_columns));
  auto rows = d::join_with_payload(exec, left, right, of_left, of_right, capacity, options);
  if (!rows) rows = d::join_and_gather(exec, both, of_left, of_right, capacity, options);
  d::require_length("the output of a join", capacity, *rows);
  return *rows;
}

/// Returns the number of rows of a join. Does the work of partitioned_join without writing. Blocks.
/// Otherwise as partitioned_join.
template <execution_space ExecSpace, class Left, class Right>
std::uint64_t partitioned_join_size(ExecSpace const& exec, Left const& left, Right const& right,
                                    join_kind kind, partitioned_join_options const& options = {}) {
  detail::join::pair_of_tables<ExecSpace, Left, Right> const both(exec, left, right);
  auto const rows = both.join_by_partitions(kind, detail::join::write_nothing{}, 0, options);
  return rows ? *rows : both.join_by_index(kind).size();
}

}  // namespace karpos
