// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/combine.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/split_rows.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/key_value.hpp"
#include "karpos/operations.hpp"

namespace karpos::distributed {

/// The groups that a rank owns, and how many there are on all.
template <class Key, class T, class MemorySpace>
struct reduced_groups {
  Kokkos::View<Key*, MemorySpace> keys;
  Kokkos::View<T*, MemorySpace> values;
  std::uint64_t total;
};

/// Reduces the values of equal keys of all ranks by op: each rank reduces its rows, sends each group to the owner of its key,
/// and reduces what it receives. Keys, values and op are as of karpos::reduce_by_key. Collective.
///
/// Returns: the groups that this rank owns, in no particular order; every key is on one rank.
/// Complexity: two reductions and an exchange of the groups; however often a key occurs, a rank sends it once.
/// Memory: the rows twice, and what karpos::reduce_by_key takes.
/// Throws: collective_error on every rank for views of different length, hash_error's and allocation_error's message.
template <execution_space ExecSpace, view_1d Keys, view_1d Values, class Op = plus>
auto reduce_by_key(communicator<ExecSpace> const& ranks, Keys const& keys, Values const& values,
                   Op const& op = {}) {
  namespace d = detail::distributed;
  using key = typename Keys::non_const_value_type;
  using value = typename Values::non_const_value_type;
  static_assert(d::can_combine<key, value>,
                "karpos: a reduction takes keys and values that are numbers of 4 or 8 bytes");
  using row = key_value<key, value>;
  auto const split = d::together(ranks, [&] {
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    auto const mine = d::reduce_rows(ranks.exec(), keys, values, op);
    return d::split<row>(ranks.exec(), ranks.size(), false,
                         d::key_owner<key>{static_cast<std::uint32_t>(ranks.size())}, mine.keys,
                         mine.values);
  });
  auto const received = d::send_to_owners(ranks, split);
  auto const groups = d::together(ranks, [&] {
    return d::reduce_rows(ranks.exec(), d::member_of_rows(received, &row::key),
                          d::member_of_rows(received, &row::value), op);
  });
  std::uint64_t const total = ranks.all_reduce(std::uint64_t(groups.keys.extent(0)));
  return reduced_groups<key, value, typename ExecSpace::memory_space>{groups.keys, groups.values,
                                                                      total};
}

}  // namespace karpos::distributed
