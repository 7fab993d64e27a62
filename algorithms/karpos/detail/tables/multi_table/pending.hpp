// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/outcome.hpp"

// Pairs that kernels insert: they are appended to a list, and inserted into the table later
// (multi_table::ref).

namespace karpos::detail::multi_table {

/// The list as kernels see it. T: no_value for a set.
template <class Table, class T>
struct pending_ref {
  using key_type = typename Table::key_type;
  Table table;  // for its sentinels
  key_type* keys;
  T* values;
  std::uint64_t* offered;  // pairs that were appended, or did not fit
  std::uint64_t capacity;

  /// Appends a pair. Returns inserted, or full.
  KOKKOS_FUNCTION outcome append(key_type const& key, [[maybe_unused]] T const& value) const {
    std::uint64_t const at = device::fetch_add(offered, 1);
    if (at >= capacity) return outcome::full;
    keys[at] = key;
    if constexpr (!is_no_value<T>) values[at] = value;
    return outcome::inserted;
  }
};

template <class Ref, class Keys, class Values>
struct append_pairs {
  Ref ref;
  Keys keys;
  Values values;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    ref.append(device::element(keys, i), values(i));
  }
};

/// The memory of the list.
template <class Key, class T, class ExecSpace>
struct pending_pairs {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Key*, memory_space> keys;
  Kokkos::View<T*, memory_space> values;
  Kokkos::View<std::uint64_t, memory_space> offered;
  // Pairs reserved since the list was empty; at most its capacity.
  std::uint64_t reserved_pairs = 0;

  pending_pairs() = default;
  pending_pairs(ExecSpace const& exec, std::uint64_t pair_capacity) {
    std::uint64_t const values_capacity = is_no_value<T> ? 0 : pair_capacity;
    allocate_or_explain<memory_space>(
        pair_capacity * sizeof(Key) + values_capacity * sizeof(T), "pairs that kernels insert",
        "reserve capacity for fewer", [&] {
          keys = uninitialized_array<Kokkos::View<Key*, memory_space>>(
              exec, "karpos::multi_table::pending_keys", pair_capacity);
          values = uninitialized_array<Kokkos::View<T*, memory_space>>(
              exec, "karpos::multi_table::pending_values", values_capacity);
          offered = Kokkos::View<std::uint64_t, memory_space>(
              Kokkos::view_alloc(exec, "karpos::multi_table::pending_count"));
          return true;
        });
  }
  std::uint64_t pair_capacity() const { return keys.extent(0); }
  template <class Table>
  pending_ref<Table, T> ref(Table const& table) const {
    return {table, keys.data(), values.data(), offered.data(), pair_capacity()};
  }
  /// Returns the number of pending pairs, offered on exec or before. Waits.
  std::uint64_t count(ExecSpace const& exec) const {
    return reserved_pairs == 0
               ? 0
               : read_back(exec, offered.data(), "karpos::multi_table: pending pairs");
  }
  /// Returns the number of pending pairs, on whatever instance they were offered. Waits.
  std::uint64_t count() const {
    std::uint64_t n = 0;
    if (reserved_pairs > 0) Kokkos::deep_copy(n, offered);
    return n;
  }
  /// Empties the list. Asynchronous.
  void clear(ExecSpace const& exec) {
    if (reserved_pairs > 0) Kokkos::deep_copy(exec, offered, std::uint64_t(0));
    reserved_pairs = 0;
  }
};

}  // namespace karpos::detail::multi_table
