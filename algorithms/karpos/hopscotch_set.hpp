// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/hopscotch/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/map.hpp"

// hopscotch_set: concurrent hopscotch hashing. Its operations: karpos/lookup_table.hpp and karpos/map.hpp in bulk,
// karpos/map_ref.hpp in kernels.

namespace karpos {

/// Hash set of keys of up to eight bytes: hopscotch_map without values, in slots of eight bytes. Growth, memory, concurrency
/// and errors are those of hopscotch_map, and so is what it requires.
/// Source: as hopscotch_map.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
class hopscotch_set
    : public hash_table<detail::hopscotch::storage<
          detail::hopscotch::traits<Key, detail::no_value_in_8_bytes, ExecSpace, Hash, KeyEqual>>> {
  using base = typename hopscotch_set::hash_table;

 public:
  using typename base::options;

  /// The same set in the host's memory: see create_host_mirror.
  using host_mirror_type = hopscotch_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual>;

  /// Without memory, to be assigned to; what is asked of its keys throws std::logic_error.
  hopscotch_set() : base("hopscotch_set") {}
  /// Makes an empty set for max_keys keys. Asynchronous but for the allocation.
  /// Throws std::invalid_argument (load, sentinels), std::length_error (capacity overflow),
  /// allocation_error (out of memory).
  hopscotch_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_set", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the set.
  hopscotch_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
                options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_set", max_keys, o, hash, equal, memory) {}
};

}  // namespace karpos
