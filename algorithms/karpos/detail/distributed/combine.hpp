// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/distributed/key_owner.hpp"
#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/reduce_by_key.hpp"

// Pre-aggregates the rows of a rank: rows with equal keys become one row before they are sent.

namespace karpos::detail::distributed {

/// Whether reduce_by_key accepts keys and values of these types.
template <class Key, class T>
inline constexpr bool can_combine =
    (std::is_arithmetic_v<Key> || std::is_enum_v<Key>)&&(sizeof(Key) == 4 || sizeof(Key) == 8) &&
    std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Returns the statistics of a sample of n keys; of fewer if a team's scratch holds fewer.
template <class T, class ExecSpace, class Keys>
sample_statistics sample_of(ExecSpace const& exec, Keys const& keys, std::uint32_t n) {
  using row = typename reduce_by_key::row_type<typename Keys::non_const_value_type, T>::type;
  auto const to = distributed::allocate<sample_statistics>(exec, "karpos::distributed: sample", 1);
  using rows = reduce_by_key::keys_with_value<row, device::held_by_loop<ExecSpace, Keys>>;
  count_sample(exec, rows{device::for_loop<ExecSpace>(keys), T{}}, n, to.data());
  return read_back(exec, to.data(), "karpos::distributed: sample of keys");
}

/// Returns whether pre-aggregation pays, from a sample of the keys, if there are enough. It costs
/// about as much as sending the rows that it saves and inserting them at the owner.
template <class ExecSpace, class T, class Op, class Keys>
bool pays_to_combine(ExecSpace const& exec, Keys const& keys) {
  using tuned = reduced_tuning<ExecSpace, T, Op>;
  if (keys.extent(0) < tuned::min_rows) return false;
  auto const sample = distributed::sample_of<T>(exec, keys, tuned::sample_size(keys.extent(0)));
  return sample.distinct * 2 <= sample.keys || has_few_groups<tuned>(sample, keys.extent(0));
}

/// Constants of a reduction over ranks. Tests specialise it.
template <class ExecSpace>
struct default_reduction_tuning {
  /// Fewer rows of a rank are reduced before they are sent, whatever their keys are.
  static constexpr std::uint64_t min_unreduced = std::uint64_t(1)
                                                 << (device::is_device<ExecSpace> ? 24 : 22);
};
template <class ExecSpace>
struct reduction_tuning : default_reduction_tuning<ExecSpace> {};

/// Returns whether a reduction of this rank's rows would leave most of them: in a sample of as many
/// keys as fit in a team's scratch, at most one is a repetition. A sample of 8,192 keys has at most
/// one with a probability of 74 % if the rows have 2^25 equally frequent keys, and of 9 % if they
/// have 2^23.
template <class T, class ExecSpace, class Keys>
bool keeps_most_rows(ExecSpace const& exec, Keys const& keys) {
  std::uint64_t const rows = keys.extent(0);
  if (rows < reduction_tuning<ExecSpace>::min_unreduced) return false;
  auto const sample = distributed::sample_of<T>(
      exec, keys, static_cast<std::uint32_t>(Kokkos::min(rows, std::uint64_t(1) << 16)));
  return sample.keys - sample.distinct <= 1;
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
  windows_by_ranks<window_memory<ExecSpace, karpos::distributed::communicator<ExecSpace>>> windows;

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

/// Sends rows to the owners of their keys, in windows or in messages. Returns: the rows that this
/// rank owns, in buffers.received. Collective.
template <class ExecSpace, class Keys, class Values>
auto send_rows_by_key(karpos::distributed::communicator<ExecSpace> const& ranks, Keys const& keys,
                      Values const& values, reduction_buffers<ExecSpace>& buffers) {
  using key = typename Keys::non_const_value_type;
  using row = key_value<key, typename Values::non_const_value_type>;
  if constexpr (device::has_peer_windows<ExecSpace>)
    if (auto& windows = buffers.windows.of(ranks); windows.may_open(ranks)) {
      // Regions by the hash multiplier of one rank. Owners are chosen by another one, that of
      // ranks.size() ranks, so that the keys of an owner are spread over all its regions.
      split_offer const offer{keys.extent(0), 0, device::cache_bytes(ranks.exec()),
                              place_among(hashed::rank, 1)};
      auto const split = distributed::try_split_into_windows<ExecSpace>(
          ranks, windows, partition::source_of_rows<row, ExecSpace>(keys, values),
          distributed::plan_windows<ExecSpace>(ranks.all_gather(offer)),
          [](window_plan const& plan) {
            return owner_and_place<ExecSpace, hash<key>, void>({}, plan);
          });
      if (split)
        return run_collectively(ranks, [&] {
          return split->gather([&](std::uint64_t n) {
            return buffers.received.template reserve<row>(ranks.exec(),
                                                          "karpos::distributed: received rows", n);
          });
        });
    }
  auto const split = run_collectively(ranks, [&] {
    key_owner<key> const owner_of{static_cast<std::uint32_t>(ranks.size())};
    return distributed::split<row>(ranks.exec(), buffers.sent, ranks.size(), false, owner_of, keys,
                                   values);
  });
  return send_to_owners(ranks, split, buffers.received);
}

/// Whether a view is an array in the memory of a space.
template <class MemorySpace, class View>
inline constexpr bool is_array_in = false;
template <class MemorySpace, class View>
  requires(Kokkos::is_view_v<View> && partition::has_neighbours<View>)
inline constexpr bool is_array_in<MemorySpace, View> =
    std::is_same_v<typename View::memory_space, MemorySpace>;

/// Runs distributed::reduce_by_key in memory of `buffers`. Returns: the groups that this rank owns,
/// in `buffers` if `keeps`, and the number of groups of all ranks. Collective.
template <template <class, class, class> class Result, class ExecSpace, class Keys, class Values,
          class Op>
auto reduce_over_ranks(karpos::distributed::communicator<ExecSpace> const& ranks, Keys const& keys,
                       Values const& values, Op const& op, reduction_buffers<ExecSpace>& buffers,
                       bool keeps) try {
  using key = typename Keys::non_const_value_type;
  using value = typename Values::non_const_value_type;
  using row = key_value<key, value>;
  static_assert(can_combine<key, value>,
                "karpos: a reduction takes keys and values that are numbers of 4 or 8 bytes");
  user_call const call("distributed::reduce_by_key");
  auto const& exec = ranks.exec();
  std::optional<kept_windows<ExecSpace, karpos::distributed::communicator<ExecSpace>>> kept;
  if (!keeps) kept.emplace(ranks, buffers.windows);
  auto const reduce = [&](auto const& of_keys, auto const& of_values, auto const& to) {
    return distributed::reduce_rows(exec, of_keys, of_values, op, to,
                                    buffers.template options<key, value>(exec, of_keys.extent(0)));
  };
  auto const output = [&](std::uint64_t n) {
    return keeps
               ? groups_in<ExecSpace, key, value>(exec, buffers.owned_keys, buffers.owned_values, n)
               : new_groups<ExecSpace, key, value>(exec, n);
  };
  std::uint64_t const rows = keys.extent(0);
  groups<ExecSpace, key, value> owned;
  if (ranks.size() == 1) {
    owned = run_collectively(ranks, [&] {
      auto const are_groups = [&](auto const& view) {
        return buffers.owned_keys.holds(view) || buffers.owned_values.holds(view);
      };
      if (are_groups(keys) || are_groups(values)) {  // of the last reduction: keep them meanwhile
        std::swap(buffers.keys, buffers.owned_keys);
        std::swap(buffers.values, buffers.owned_values);
      }
      auto mine = reduce(keys, values, output(rows));
      if (keeps) return mine;
      mine.keys = distributed::unless_mostly_free(exec, mine.keys, rows);
      mine.values = distributed::unless_mostly_free(exec, mine.values, rows);
      return mine;
    });
  } else {
    using memory_space = typename ExecSpace::memory_space;
    using key_view = Kokkos::View<key const*, memory_space>;
    using value_view = Kokkos::View<value const*, memory_space>;
    auto const [sent_keys, sent_values] = run_collectively(ranks, [&] {
      if constexpr (is_array_in<memory_space, Keys> && is_array_in<memory_space, Values>)
        if (distributed::keeps_most_rows<value>(exec, keys)) {
          require_same_extent("keys", rows, "values", values.extent(0));
          return std::pair(key_view(keys), value_view(values));
        }
      auto const mine = reduce(
          keys, values, groups_in<ExecSpace, key, value>(exec, buffers.keys, buffers.values, rows));
      return std::pair(key_view(mine.keys), value_view(mine.values));
    });
    auto const received = distributed::send_rows_by_key(ranks, sent_keys, sent_values, buffers);
    kept.reset();  // received rows have been copied out of the windows
    owned = run_collectively(ranks, [&] {
      if (!keeps) {  // they have been sent
        buffers.keys.release();
        buffers.values.release();
        buffers.sent.release();
      }
      return reduce(member_of_rows(received, &row::key), member_of_rows(received, &row::value),
                    output(received.extent(0)));
    });
  }
  return Result<key, value, typename ExecSpace::memory_space>{
      owned.keys, owned.values, ranks.all_reduce(std::uint64_t(owned.keys.extent(0)))};
} catch (karpos::distributed::collective_error const&) {
  buffers.windows.close(ranks);
  throw;
}

}  // namespace karpos::detail::distributed
