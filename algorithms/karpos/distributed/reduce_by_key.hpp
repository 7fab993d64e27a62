// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/detail/distributed/combine.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/operations.hpp"

namespace karpos::distributed {

/// The groups that a rank owns (keys with reduced values), and the number of groups on all ranks.
template <class Key, class T, class MemorySpace>
struct reduced_groups {
  Kokkos::View<Key*, MemorySpace> keys;
  Kokkos::View<T*, MemorySpace> values;
  std::uint64_t total;
};

/// Memory that reductions of a rank keep from call to call, because a GPU takes as long to allocate
/// and free gigabytes as to reduce what they hold. It grows. It may be used with several
/// communicators, which may end before it. Moving from it leaves it as new.
///
/// Requires: all ranks that reduce with it release and destroy it together, before MPI ends.
/// Concurrency: one reduction at a time.
/// Memory: what reduce_by_key takes for the most rows so far; and windows (communicator.hpp) for
///   each group of ranks: communicators of the same processes, in the same order, share them if all
///   or none stage on the host. On one rank, if the groups of the last reduction are the next one's
///   input: the groups of both.
template <execution_space ExecSpace>
class reduction_memory {
 public:
  /// Frees the memory. Collective. Requires: the groups of the last reduction are no longer used;
  /// call exec.fence() first if kernels read them.
  void release() { m_buffers = {}; }

 private:
  friend struct detail::distributed::memory_access;
  detail::distributed::reduction_buffers<ExecSpace> m_buffers;
};

/// Reduces the values of equal keys of all ranks by op: each rank reduces its rows, sends each
/// group to the owner of its key, and reduces what it receives. Keys, values and op are as in
/// karpos::reduce_by_key, but op is one operation, not several aggregates. Collective. Blocks.
///
/// Returns: the groups that this rank owns, in no particular order; every key is on one rank.
/// Complexity: two reductions and an exchange of the groups: a rank sends each key once. One rank
///   alone reduces once. A rank with 2^24 rows or more (on CPUs 2^22), in contiguous views, sends
///   them unreduced if hardly a key repeats in a sample. Ranks that open windows (communicator.hpp)
///   send groups in these, unless all ranks send fewer than 2^16 (on CPUs 2^12) or one sends more
///   than 2^30.
/// Requires: op is the same on all ranks.
/// Memory: at most twice this rank's rows, twice the rows that it receives, and what
///   karpos::reduce_by_key takes. Windows take the most rows that any rank sends, times the number
///   of ranks if many rows of one rank have one owner. They are kept (communicator, Memory).
/// Throws: collective_error on every rank if views differ in length, or with the message of a
///   hash_error or an allocation_error.
template <execution_space ExecSpace, view_1d Keys, view_1d Values, class Op = plus>
auto reduce_by_key(communicator<ExecSpace> const& ranks, Keys const& keys, Values const& values,
                   Op const& op = {}) {
  detail::distributed::reduction_buffers<ExecSpace> buffers;
  return detail::distributed::reduce_over_ranks<reduced_groups>(ranks, keys, values, op, buffers,
                                                                false);
}

/// Reduces as reduce_by_key above, in memory that is kept. The groups are views of this memory,
/// valid until the next reduction with it (they may be its input), its release() or its end.
template <execution_space ExecSpace, view_1d Keys, view_1d Values, class Op>
auto reduce_by_key(communicator<ExecSpace> const& ranks, Keys const& keys, Values const& values,
                   Op const& op, reduction_memory<ExecSpace>& memory) {
  namespace d = detail::distributed;
  return d::reduce_over_ranks<reduced_groups>(ranks, keys, values, op,
                                              d::memory_access::buffers(memory), true);
}

}  // namespace karpos::distributed
