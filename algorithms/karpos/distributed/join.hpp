// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/join_rows.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/join.hpp"
#include "karpos/join_options.hpp"
#include "karpos/rows.hpp"

// Joins of two tables whose rows are spread over ranks.
//
//   rank 0   left | a | b |   right | b | c |    rows of equal hash meet on one rank, from both;
//   rank 1   left | b | c |   right | a |        they are joined there as on one device (join.hpp)
//
// Rows are named by their numbers in the whole table: those of rank 0 come first.

namespace karpos::distributed {

/// Rows of a join that are on this rank, by their numbers in the whole tables; a missing row is
/// no_row<std::uint64_t>. `left` is empty for right semi and anti joins, `right` for left ones.
template <class MemorySpace>
struct joined_rows {
  Kokkos::View<std::uint64_t*, MemorySpace> left, right;
  std::uint64_t total;  ///< on all ranks
};

/// Joins rows(column, ...) of all ranks by equal rows, with columns of the same types. A rank may
/// have any number of rows, also none. Collective. Blocks.
///
/// Returns: the rows of the join that this rank holds, in no particular order.
/// Complexity: each row is sent once, with 8 bytes for its number; then as karpos::join.
/// Requires: the hash and the equality of the left rows are those of the right rows, the same on
///   every rank; no nulls. No rank passes more than 2^32 rows of a side, or receives more than
///   2^31 - 8 right rows. It may receive any number of left rows.
/// Memory: while a side is sent, each row of this rank takes its size and 36 bytes (rows above 16
///   bytes: twice their size and 20 bytes), and partition_bytes are allocated. Each received row
///   takes its size and 8 bytes until the end. Also what row_index and karpos::join take, and the
///   result.
/// Throws: collective_error on every rank if ranks pass different kinds or some rank has too many
///   rows, or with the message of the lowest rank on which row_index, karpos::join or an allocation
///   throws.
template <execution_space ExecSpace, class Left, class Right>
auto join(communicator<ExecSpace> const& ranks, Left const& left, Right const& right,
          join_kind kind) {
  namespace d = detail::distributed;
  static_assert(detail::is_row_view<Left> && detail::is_row_view<Right>,
                "karpos: the sides of a join are rows(column, ...)");
  static_assert(
      std::is_same_v<typename Left::row_type, typename Right::row_type>,
      "karpos: the two sides of a join have columns of the same types, in the same order");
  static_assert(!Left::may_have_nulls && !Right::may_have_nulls,
                "karpos: columns of a join over ranks have no nulls: leave such rows out");
  Kokkos::Profiling::ScopedRegion const region("karpos::distributed::join");
  detail::user_call const call("distributed::join");
  require_same(ranks, "the kind of a join", kind);
  auto const mine = d::send_rows(ranks, left), theirs = d::send_rows(ranks, right);
  joined_rows<typename ExecSpace::memory_space> result;
  d::run_collectively(ranks, [&] {
    auto const& exec = ranks.exec();
    auto const left_rows = d::as_rows(right, mine.rows);
    auto const index = row_index(exec, d::as_rows(right, theirs.rows));
    auto const joined =
        d::local_join<decltype(left_rows), decltype(index)>(exec, left_rows, index, kind);
    d::number_rows(exec, joined, mine.numbers, theirs.numbers, result.left, result.right);
    result.total = joined.size();
  });
  result.total = ranks.all_reduce(result.total);
  return result;
}

}  // namespace karpos::distributed
