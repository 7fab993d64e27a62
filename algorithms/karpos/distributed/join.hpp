// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/detail/distributed/join_windows.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/join_options.hpp"

// Joins of two tables whose rows are spread over ranks.
//
//   rank 0   left | a | b |   right | b | c |    rows of equal hash meet on one rank, from both;
//   rank 1   left | b | c |   right | a |        they are joined there as on one device
//
// Rows are named by their numbers in the whole table: those of rank 0 come first.

namespace karpos::distributed {

/// Rows of a join that are on this rank, by their numbers in the whole tables; a missing row is
/// no_row<std::uint64_t>. `left` is empty for right semi and right anti joins, `right` for left
/// semi and left anti joins.
template <class MemorySpace>
struct joined_rows {
  Kokkos::View<std::uint64_t*, MemorySpace> left, right;
  std::uint64_t total;  ///< on all ranks
};

/// Memory that joins of a rank keep from call to call, because a GPU takes longer to allocate and
/// free gigabytes than to join what they hold. It grows. It may be used with several communicators,
/// which may end before it. Moving from it leaves it as new.
///
/// Requires: all ranks that join with it release and destroy it together, before MPI ends.
/// Concurrency: one join at a time.
/// Memory: what join takes for the most rows so far; and windows (communicator.hpp) for each group
///   of ranks: communicators of the same processes, in the same order, share them if all or none
///   stage on the host.
template <execution_space ExecSpace>
class join_memory {
 public:
  /// Frees the memory. Collective. Requires: the rows of the last join are no longer used; call
  /// exec.fence() first if kernels read them.
  void release() { m_buffers = {}; }

 private:
  friend struct detail::distributed::memory_access;
  detail::distributed::join_buffers<communicator<ExecSpace>> m_buffers;
};

/// Joins two tables over ranks by equal rows. Each rank passes its rows of both as
/// karpos::rows(column, ...), with columns of the same types; it may have none. Collective. Blocks.
///
/// Returns: the rows of the join that this rank holds, in no particular order.
/// Complexity: each row is sent once, with its number:
///   - in windows, if all of these hold: ranks open them; some rank passes 2^16 rows of a side or
///     more (on CPUs 2^12); a row is one column of up to 8 bytes, or several of up to 8 bytes each
///     and 12 together; the caller brings no hash or equality. Then as karpos::partitioned_join:
///     the split that sends rows is the first of its two passes. On CPUs, and on GPUs with more
///     than 2^16 partitions (on 3, 5, 6 or 7 ranks: 2^15), owners copy their rows and split the
///     copies instead.
///   - in messages, with 8 bytes for the number, in all other cases, and for tables of more than
///     2^31 - 8 rows. Then as karpos::join.
/// Requires: the hash and the equality of the left rows are those of the right rows, the same on
///   every rank. Columns have neither nulls nor strings, else the call does not compile: leave rows
///   with nulls out, and join by numbers of strings, which karpos::label writes. No rank passes
///   more than 2^32 rows of a side, or receives more than 2^31 - 8 right rows. It may receive any
///   number of left rows.
/// Memory:
///   - One rank alone: as partitioned_join.
///   - In windows, which are kept (communicator, Memory): 1.25 b (p + o) bytes. b is what
///     partitioned_join takes for a row, p the largest number of rows that any rank passes, and o
///     the number of rows that this rank owns (of both sides). If many rows of a rank have one
///     owner, windows hold ranks * s rows instead of p: s is the largest number of rows of a side
///     that any rank passes.
///   - In messages: while a side is sent, each row of this rank takes its size and 36 bytes (rows
///     above 16 bytes: twice their size and 20 bytes), and partition_bytes are allocated. Each
///     received row takes its size and 8 bytes until the end; also what row_index and karpos::join
///     take.
///   - The result: its rows. If they are fewer than 1/ranks of the rows of the longer side, their
///     arrays may take up to twice the bytes of the rows.
/// Throws: collective_error on every rank if ranks pass different kinds or some rank has too many
///   rows, or with the message of the lowest rank on which row_index, karpos::join or an allocation
///   throws.
template <execution_space ExecSpace, class Left, class Right>
auto join(communicator<ExecSpace> const& ranks, Left const& left, Right const& right,
          join_kind kind) {
  detail::distributed::join_buffers<communicator<ExecSpace>> buffers;
  return detail::distributed::join_over_ranks<joined_rows>(ranks, left, right, kind, buffers,
                                                           false);
}

/// Joins as join above, in memory that is kept. The rows are views of this memory, valid until the
/// next join with it, its release() or its end. Requires: columns do not lie in this memory.
template <execution_space ExecSpace, class Left, class Right>
auto join(communicator<ExecSpace> const& ranks, Left const& left, Right const& right,
          join_kind kind, join_memory<ExecSpace>& memory) {
  namespace d = detail::distributed;
  return d::join_over_ranks<joined_rows>(ranks, left, right, kind,
                                         d::memory_access::buffers(memory), true);
}

}  // namespace karpos::distributed
