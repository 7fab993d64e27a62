// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/ranking/validate_sorted_lists/checks.hpp"
#include "karpos/sorted_lists.hpp"

namespace karpos {

/// Checks every entry of sorted lists, one list after another. Blocks. It refuses:
///
///   1. A score that is NaN, or above the one before it; equal and infinite scores are fine. With
///      dense ids, an id that is not below the number of objects, or negative.
///   2. An id that occurs twice in one list.
///
/// The error is about the first list that is wrong. In it, the error is about the first entry that
/// breaks rule 1; if there is none, about the lowest id that occurs twice, and its first two
/// entries. It is the same error on every execution space.
///
/// Complexity: for dense ids two passes over the entries; for sparse ids one, and a sort of each
///   list's ids, by one thread on CPUs.
/// Requires: the lists are not written meanwhile.
/// Memory: for dense ids a bit for each object; for sparse ids the ids of the longest list, and on
///   GPUs what sorts them.
/// Throws: std::invalid_argument that names the list, the position and the values;
///   allocation_error.
template <execution_space ExecSpace, class Id, class Score, class MemorySpace>
void validate_sorted_lists(ExecSpace const& exec,
                           sorted_lists<Id, Score, MemorySpace> const& lists) {
  using namespace detail::validate_sorted_lists;
  using check = list_check<ExecSpace, sorted_lists<Id, Score, MemorySpace>>;
  using memory = typename ExecSpace::memory_space;
  detail::require_reachable<ExecSpace, Kokkos::View<Id const*, MemorySpace>>();
  detail::user_call const call("validate_sorted_lists");
  bool const dense = lists.is_dense();
  std::size_t const bytes =
      dense ? (lists.objects() + 31) / 32 * sizeof(std::uint32_t) : lists.longest() * sizeof(Id);
  char const* const label = "karpos::validate_sorted_lists: ids";
  auto const buffer = detail::allocate_byte_array<memory>(
      exec, label, bytes, label, "check lists of fewer entries or objects");
  for (int i = 0; i < lists.lists(); ++i) {
    check const list(exec, lists, i);
    list.check_entries();
    if (dense)
      list.check_dense_ids(reinterpret_cast<std::uint32_t*>(buffer.data()));
    else
      list.check_sparse_ids(reinterpret_cast<Id*>(buffer.data()));
  }
  exec.fence("karpos::validate_sorted_lists: before the buffer is freed");
}

}  // namespace karpos
