// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/join/plan.hpp"
#include "karpos/detail/relational/join/run.hpp"
#include "karpos/join.hpp"
#include "karpos/join_options.hpp"
#include "karpos/row_index.hpp"
#include "karpos/rows.hpp"

// Joins of two tables that are joined once: both tables are split by the hash of their rows into
// partitions so small that random accesses stay in scratch (shared memory; on CPUs the cache).
// detail/relational/join/split_join.hpp says how. Kinds, options and `columns`: join_options.hpp.

namespace karpos {

namespace detail::join {

/// Writes the rows of a join, by partitions or by an index. Returns their number. Blocks.
template <class ExecSpace, class Left, class Right, class Write, class... Out>
std::uint64_t write_join(ExecSpace const& exec, Left const& left, Right const& right,
                         join_kind kind, partitioned_join_options const& o, Write const& write,
                         Out const&... out) {
  std::uint64_t const capacity = std::min({std::uint64_t(out.extent(0))...});
  auto rows = pair_of_tables<ExecSpace, Left, Right>(exec, left, right)
                  .join_by_partitions(kind, write, capacity, o);
  if (!rows) {
    using index = karpos::row_index<Right, ExecSpace>;
    karpos::join<Left, index> const by_index(exec, left, right, kind);
    by_index.write(exec, out...);
    exec.fence("karpos::partitioned_join: written");
    rows = by_index.size();
  }
  detail::require_length("the output of a join", capacity, *rows);
  return *rows;
}

}  // namespace detail::join

/// Returns the bytes of the workspace of a partitioned join of these rows. Throws
/// std::invalid_argument for more than 2^31 - 8 rows on a side.
template <execution_space ExecSpace, class Left, class Right>
std::size_t partitioned_join_bytes(ExecSpace const& exec, Left const& left, Right const& right) {
  detail::user_call const call("partitioned_join_bytes");
  return detail::join::pair_of_tables<ExecSpace, Left, Right>(exec, left, right).bytes();
}

/// Returns the bytes of the workspace of a partitioned join that writes these payload columns.
template <execution_space ExecSpace, class Left, class Right, view_1d... LeftColumns,
          view_1d... RightColumns>
std::size_t partitioned_join_bytes(ExecSpace const& exec, Left const& left, Right const& right,
                                   column_list<LeftColumns...> const& left_columns,
                                   column_list<RightColumns...> const& right_columns) {
  detail::user_call const call("partitioned_join_bytes");
  namespace d = detail::join;
  d::payload_columns<LeftColumns...> const l(left_columns.views);
  d::payload_columns<RightColumns...> const r(right_columns.views);
  return std::max(
      karpos::partitioned_join_bytes(exec, left, right),
      d::with_payload_join<std::size_t>(exec, left, right, l, r,
                                        [](auto const& both, auto) { return both.bytes(); }));
}

/// Writes the rows of a join to left_out(j) and right_out(j), in no particular order: pairs of row
/// numbers, as those of karpos::join (join.hpp). For tables that are joined once: nothing is kept.
/// Rows are compared by the functions of the right rows, and by their rule for nulls. If a
/// predicate also decides, use karpos::join.
///
/// To know the size of the outputs first, call partitioned_join_size, which costs another join.
///
/// Returns: the number of rows. Blocks.
/// Complexity: copies both tables into partitions in one pass or two, with sequential accesses, and
///   looks up rows of one table in a partition of the other, held in scratch. Rows that are moved
///   as a hash and a number (see the table under Memory) are compared by their columns, at random
///   addresses.
///
///   Small inputs (fewer than 2^17 rows in all), full joins and too frequent rows use an index
///   instead (row_index.hpp), in memory of its own; the rows then come in the order of
///   karpos::join. Rows are too frequent if some partition of the table that is held in scratch has
///   more rows than scratch holds. This shows after the split, whose time is then lost. The table
///   held in scratch is:
///
///     left, left_semi, left_anti       the right one
///     right, right_semi, right_anti    the left one
///     inner                            the smaller one; if its rows are too frequent, the other
///
/// Requires: the outputs overlap no other view.
/// Concurrency: works on `exec`.
/// Memory: partitioned_join_bytes, for each row of both tables:
///
///     8    one column of up to 4 bytes, no nulls
///     16   one column of 5 to 8 bytes, no nulls
///     16   several columns of at most 8 bytes each and 12 together, no nulls
///     16   1 to 8 columns of at most 8 bytes each and 11 together, nulls
///     8    other rows, and all rows with functions of the caller's: a hash and a number
///
///   "No nulls": no column of either side has a mask. In all lines but the last, rows are moved
///   with their values. GPUs take a quarter more than these bytes. If the longer side needs two
///   passes, its bytes count twice. On an H100 a side needs two passes from about 22 million rows
///   of several columns on, from 34 million rows of one column of 5 to 8 bytes, and from 134
///   million rows that take 8 bytes. The memory of `partition` is included.
/// Throws: std::invalid_argument for a kind without pairs, if `kind` is no join_kind, if outputs
///   are too short (the message says how many elements would do; what fitted may be written) or
///   have too small integers, if the workspace is too small or not aligned, for more than 2^31 - 8
///   rows on a side, or if both sides have nullable columns, with or without nulls in them, and
///   nulls are unequal in the left rows, but equal in the right rows; allocation_error.
/// Source: Manegold, Boncz, Kersten, "Optimizing main-memory join on modern hardware", TKDE 2002
///   (radix join); Balkesen, Teubner, Alonso, Özsu, "Main-memory hash joins on multi-core CPUs",
///   ICDE 2013.
template <execution_space ExecSpace, class Left, class Right, view_1d LeftOut, view_1d RightOut>
std::uint64_t partitioned_join(ExecSpace const& exec, Left const& left, Right const& right,
                               join_kind kind, LeftOut const& left_out, RightOut const& right_out,
                               partitioned_join_options const& options = {}) {
  detail::user_call const call("partitioned_join");
  namespace d = detail::join;
  d::require_kind(kind, true);
  d::require_numbers<ExecSpace>("the output for left rows", left_out, left.size());
  d::require_numbers<ExecSpace>("the output for right rows", right_out, right.size());
  return d::write_join(exec, left, right, kind, options,
                       d::write_pair<LeftOut, RightOut>{left_out, right_out}, left_out, right_out);
}
/// Writes row j of a semi or anti join, one number, to out(j). Otherwise as for pairs.
///
/// Throws: as partitioned_join of pairs, except that kinds with pairs are refused.
template <execution_space ExecSpace, class Left, class Right, view_1d Out>
std::uint64_t partitioned_join(ExecSpace const& exec, Left const& left, Right const& right,
                               join_kind kind, Out const& out,
                               partitioned_join_options const& options = {}) {
  detail::user_call const call("partitioned_join");
  namespace d = detail::join;
  d::require_kind(kind, false);
  bool const of_left = d::is_of_left(kind);
  d::require_numbers<ExecSpace>("the output of a join", out, of_left ? left.size() : right.size());
  if (of_left)
    return d::write_join(exec, left, right, kind, options, d::write_side<Out, true>{out}, out);
  return d::write_join(exec, left, right, kind, options, d::write_side<Out, false>{out}, out);
}

/// Writes payload columns of both tables instead of row numbers, for an inner join, in no
/// particular order. Row j is a pair of a left and a right row: the left row's values of
/// left_columns go to left_out, the right row's values of right_columns to right_out, one view for
/// each column. `columns(view, view, ...)` makes such a list, which may be empty for one side.
///
/// Returns: the number of rows. Blocks.
/// Complexity: on GPUs values are moved with their keys, once or twice, with sequential accesses.
///   That needs rows of one column of up to 8 bytes, without nulls and without functions of the
///   caller's, and payload columns of 1, 2, 4 or 8 bytes each, at most 16 bytes a side; a column of
///   1 or 2 bytes counts as 4. In all other cases, and on CPUs, pairs are written and then the
///   columns are gathered at random addresses. This also happens with fewer than 2^17 rows in all,
///   and if a partition overflows because of frequent rows.
/// Requires: columns are as long as the rows of their side, and may be strided; outputs are as many
///   as the columns of their side, of the same types, and overlap no other view.
/// Memory: partitioned_join_bytes(exec, left, right, left_columns, right_columns). A row of a side
///   has K bytes of key and V bytes of payload:
///
///     K    4, or 8 if the key column has more than 4 bytes
///     V    4 for each payload column of up to 4 bytes, 8 for one of 8 bytes; 4 if there is none
///
///   If values are moved, each row of a side takes about 1.25 * (K + V) bytes. The side with fewer
///   rows decides how many partitions there are, and whether both sides are split in one pass or in
///   two. If in two, the bytes of one side, the one with more bytes, count twice. On an H100 the
///   side with fewer rows takes two passes from about 96 million rows on if its K + V is 8,
///   from 34 million on if it is 12, down to 18 million if it is 24. The workspace is never smaller
///   than partitioned_join_bytes(exec, left, right). If columns are gathered, also allocates
///   8 bytes for each element of the shortest output, even if the join has far fewer rows.
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
  detail::user_call const call("partitioned_join");
  namespace d = detail::join;
  static_assert(sizeof...(LeftOut) + sizeof...(RightOut) > 0,
                "karpos: a join of payload columns writes at least one");
  detail::require_enumerators(kind);
  if (kind != join_kind::inner)
    detail::reject("payload columns are written by inner joins only",
                   "rows of other kinds may lack one of the sides",
                   "write pairs, and gather columns with a value for missing rows");
  d::require_joinable<ExecSpace>(left, right);
  d::payload_side<column_list<LeftColumns...>, column_list<LeftOut...>> const of_left{left_columns,
                                                                                      left_out};
  d::payload_side<column_list<RightColumns...>, column_list<RightOut...>> const of_right{
      right_columns, right_out};
  std::uint64_t const capacity =
      std::min(of_left.template check<ExecSpace>("left rows", left.size()),
               of_right.template check<ExecSpace>("right rows", right.size()));
  if (detail::is_given(options.workspace))
    detail::require_workspace(
        d::payload_bytes_call, options.workspace,
        partitioned_join_bytes(exec, left, right, left_columns, right_columns));
  auto rows = d::join_with_payload(exec, left, right, of_left, of_right, capacity, options);
  if (!rows)
    rows = d::join_and_gather(exec, of_left, of_right, capacity, [&](auto const& l, auto const& r) {
      d::write_pair<std::decay_t<decltype(l)>, std::decay_t<decltype(r)>> const write{l, r};
      return d::write_join(exec, left, right, kind, options, write, l, r);
    });
  detail::require_length("the output of a join", capacity, *rows);
  return *rows;
}

/// Returns the number of rows of a join. Does the work of partitioned_join without writing. Blocks.
/// Otherwise as partitioned_join.
template <execution_space ExecSpace, class Left, class Right>
std::uint64_t partitioned_join_size(ExecSpace const& exec, Left const& left, Right const& right,
                                    join_kind kind, partitioned_join_options const& options = {}) {
  detail::user_call const call("partitioned_join_size");
  detail::join::pair_of_tables<ExecSpace, Left, Right> const both(exec, left, right);
  auto const rows = both.join_by_partitions(kind, detail::join::write_nothing{}, 0, options);
  return rows ? *rows : karpos::join(exec, left, right, kind).size();
}

}  // namespace karpos
