// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "karpos/detail/common/word_probing.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/hash.hpp"

// The first of equal keys, found with a hash set of indices. The set hashes the bits of keys, for a
// user's hash may collide.

namespace karpos::detail::cuckoo {

/// Inserts an index into a set by linear probing. Of equal keys, the lowest index stays.
template <class View, class Keys>
struct keep_first {
  using key_bits = typename View::key_bits;
  View table;
  Keys keys;
  word_probing::table<std::uint64_t> set;
  place_among home;                ///< a slot of the set
  std::uint64_t* first_duplicate;  ///< the lowest index that does not stay

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const bits_of_key = [&](std::uint64_t j) {
      return key_bits_of<key_bits>(device::element(keys, j));
    };
    auto const key = bits_of_key(i);
    if (table.slot.reserved(device::element(keys, i))) return;
    auto const has_key = [&](std::uint64_t j) { return bits_of_key(j) == key; };
    auto const p = set.insert_or_find(home(mix(key)), i, has_key);
    if (p.ended == outcome::found) keep_lower(set.words + p.slot, p.word, i);
  }

 private:
  KOKKOS_FUNCTION void keep_lower(std::uint64_t* slot, std::uint64_t seen, std::uint64_t i) const {
    while (i < seen) {
      std::uint64_t const before = device::compare_and_swap(slot, seen, i);
      if (before == seen) break;
      seen = before;
    }
    std::uint64_t const other = Kokkos::max(i, seen);
    if (other < device::load_relaxed(first_duplicate)) Kokkos::atomic_min(first_duplicate, other);
  }
};

/// Compacts the indices of the set for which predicate(index) holds.
template <class Indices, class Predicate>
struct gather_indices {
  std::uint64_t const* set;
  Indices to;
  Predicate predicate;
  KOKKOS_FUNCTION void operator()(std::uint64_t s, std::uint64_t& at, bool last_pass) const {
    if (set[s] == ~std::uint64_t(0) || !predicate(set[s])) return;
    if (last_pass) to(at) = set[s];
    ++at;
  }
};

/// The lowest index of every key.
template <class MemorySpace>
struct distinct_keys {
  Kokkos::View<std::uint64_t*, MemorySpace> indices;
  std::uint64_t count = 0;  ///< number of the indices
  std::uint64_t first_duplicate = ~std::uint64_t(0);
};

/// Finds the lowest index of every valid key, and keeps those for which predicate(index) holds.
/// Blocks. Complexity: expected linear. Memory: three words of 8 bytes for each key.
template <class ExecSpace, class View, class Keys, class Predicate>
distinct_keys<typename ExecSpace::memory_space> find_distinct(std::string const& name,
                                                              ExecSpace const& exec,
                                                              View const& table, Keys const& keys,
                                                              Predicate const& predicate) {
  using words = Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space>;
  std::uint64_t const n = keys.extent(0), slots = 2 * n + 1;
  auto const [set, indices] =
      allocate_table<typename ExecSpace::memory_space>(8 * (slots + n), [&] {
        return std::pair{uninitialized_array<words>(exec, table_label(name, "distinct"), slots + 1),
                         uninitialized_array<words>(exec, table_label(name, "indices"), n)};
      });
  distinct_keys<typename ExecSpace::memory_space> result{indices};
  constexpr std::uint64_t none = ~std::uint64_t(0);
  fill(table_label(name, "clear distinct"), exec, set, none);
  Kokkos::parallel_for(table_label(name, "distinct"), index_range(exec, n),
                       keep_first<View, Keys>{table,
                                              keys,
                                              {set.data(), slots, none},
                                              place_among(hashed::distinct_keys, slots),
                                              set.data() + slots});
  Kokkos::parallel_scan(table_label(name, "gather distinct"), index_range(exec, slots),
                        gather_indices<words, Predicate>{set.data(), result.indices, predicate},
                        result.count);
  result.first_duplicate =
      read_back(exec, set.data() + slots, table_label(name, "first duplicate"));
  return result;
}

}  // namespace karpos::detail::cuckoo
