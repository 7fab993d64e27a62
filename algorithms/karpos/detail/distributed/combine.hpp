// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/key_value.hpp"
#include "karpos/reduce_by_key.hpp"

// Pre-aggregates the rows of a rank: rows with equal keys become one row before they are sent.

namespace karpos::detail::distributed {

/// Whether reduce_by_key accepts keys and values of these types.
template <class Key, class T>
inline constexpr bool can_combine =
    (std::is_arithmetic_v<Key> || std::is_enum_v<Key>)&&(sizeof(Key) == 4 || sizeof(Key) == 8) &&
    std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Returns whether pre-aggregation pays, from a sample of the keys, if there are enough. It costs
/// about as much as sending the rows that it saves and inserting them at the owner.
template <class ExecSpace, class T, class Op, class Keys>
bool pays_to_combine(ExecSpace const& exec, Keys const& keys) {
  using tuned = reduced_tuning<ExecSpace, T, Op>;
  using key = typename Keys::non_const_value_type;
  if (keys.extent(0) < tuned::min_rows) return false;
  using row = typename reduce_by_key::row_type<key, T>::type;
  auto const to = distributed::allocate<sample_statistics>(exec, "karpos::distributed: sample", 1);
  using rows = reduce_by_key::keys_with_value<row, device::held_by_loop<ExecSpace, Keys>>;
  count_sample(exec, rows{device::for_loop<ExecSpace>(keys), T{}},
               tuned::sample_size(keys.extent(0)), to.data());
  auto const sample = read_back(exec, to.data(), "karpos::distributed: sample of keys");
  return sample.distinct * 2 <= sample.keys || has_few_groups<tuned>(sample, keys.extent(0));
}

/// Distinct keys, and the reduced value of each.
template <class ExecSpace, class Key, class T>
struct groups {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Key*, memory_space> keys;
  Kokkos::View<T*, memory_space> values;
};

template <class ExecSpace, class Key, class T>
auto new_groups(ExecSpace const& exec, std::uint64_t n) {
  return groups<ExecSpace, Key, T>{
      distributed::allocate<Key>(exec, "karpos::distributed: different keys", n),
      distributed::allocate<T>(exec, "karpos::distributed: reduced values", n)};
}

/// Reduces rows of this rank by key. to: views that can hold a group for each row. Blocks.
template <class ExecSpace, class Keys, class Values, class Op, class Groups>
Groups reduce_rows(ExecSpace const& exec, Keys const& keys, Values const& values, Op const& op,
                   Groups to, reduce_by_key_options const& options = {}) {
  std::uint64_t const found =
      karpos::reduce_by_key(exec, keys, values, to.keys, to.values, op, options);
  to.keys = Kokkos::subview(to.keys, Kokkos::make_pair(std::uint64_t(0), found));
  to.values = Kokkos::subview(to.values, Kokkos::make_pair(std::uint64_t(0), found));
  return to;
}

/// Memory of a reduction over ranks: of groups, of sent and received rows, of owned groups.
template <class ExecSpace>
struct reduction_buffers {
  reusable_memory<ExecSpace> keys, values, workspace, sent, received, owned_keys, owned_values;

  template <class Key, class T>
  reduce_by_key_options options(ExecSpace const& exec, std::uint64_t rows) {
    auto const bytes =
        workspace.template reserve<std::byte>(exec, "karpos::distributed: workspace of a reduction",
                                              reduce_by_key_bytes<Key, T>(exec, rows));
    return {.workspace = {bytes.data(), bytes.extent(0)}};
  }
};
template <class ExecSpace, class Key, class T>
auto groups_in(ExecSpace const& exec, reusable_memory<ExecSpace>& keys,
               reusable_memory<ExecSpace>& values, std::uint64_t n) {
  return groups<ExecSpace, Key, T>{
      keys.template reserve<Key>(exec, "karpos::distributed: different keys", n),
      values.template reserve<T>(exec, "karpos::distributed: reduced values", n)};
}

/// Runs distributed::reduce_by_key in memory of `buffers`. Returns: the groups that this rank owns,
/// in `buffers` if `keeps`, and the number of groups of all ranks. Collective.
template <template <class, class, class> class Result, class ExecSpace, class Keys, class Values,
          class Op>
auto reduce_over_ranks(karpos::distributed::communicator<ExecSpace> const& ranks, Keys const& keys,
                       Values const& values, Op const& op, reduction_buffers<ExecSpace>& buffers,
                       bool keeps) {
  using key = typename Keys::non_const_value_type;
  using value = typename Values::non_const_value_type;
  using row = key_value<key, value>;
  static_assert(can_combine<key, value>,
                "karpos: a reduction takes keys and values that are numbers of 4 or 8 bytes");
  user_call const call("distributed::reduce_by_key");
  auto const& exec = ranks.exec();
  auto const split = run_collectively(ranks, [&] {
    auto const mine = distributed::reduce_rows(
        exec, keys, values, op,
        groups_in<ExecSpace, key, value>(exec, buffers.keys, buffers.values, keys.extent(0)),
        buffers.template options<key, value>(exec, keys.extent(0)));
    key_owner<key> const owner_of{static_cast<std::uint32_t>(ranks.size())};
    return distributed::split<row>(exec, buffers.sent, ranks.size(), false, owner_of, mine.keys,
                                   mine.values);
  });
  auto const received = send_to_owners(ranks, split, buffers.received);
  std::uint64_t const n = received.extent(0);
  auto const owned = run_collectively(ranks, [&] {
    if (!keeps) {  // they have been sent
      buffers.keys.release();
      buffers.values.release();
      buffers.sent.release();
    }
    auto const to =
        keeps ? groups_in<ExecSpace, key, value>(exec, buffers.owned_keys, buffers.owned_values, n)
              : new_groups<ExecSpace, key, value>(exec, n);
    return distributed::reduce_rows(exec, member_of_rows(received, &row::key),
                                    member_of_rows(received, &row::value), op, to,
                                    buffers.template options<key, value>(exec, n));
  });
  return Result<key, value, typename ExecSpace::memory_space>{
      owned.keys, owned.values, ranks.all_reduce(std::uint64_t(owned.keys.extent(0)))};
}

}  // namespace karpos::detail::distributed
