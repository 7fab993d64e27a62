// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/tables/hopscotch/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"

// hopscotch_set: concurrent hopscotch hashing. Bulk operations: karpos/lookup_table.hpp and
// karpos/hash_table.hpp; operations in kernels: karpos/map_ref.hpp.

namespace karpos {

/// Hash set of keys of up to eight bytes: a hopscotch_map without values, in slots of eight bytes.
/// Growth, memory, concurrency, errors and requirements are those of hopscotch_map.
/// Source: that of hopscotch_map.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
class hopscotch_set
    : public hash_table<detail::hopscotch::storage<
          detail::hopscotch::traits<Key, detail::no_value_in_8_bytes, ExecSpace, Hash, KeyEqual>>> {
  using base = typename hopscotch_set::hash_table;

 public:
  using typename base::options;

  /// The type of this set in host memory, which create_host_mirror returns: a whole table, so that
  /// bulk calls work on it, too.
  using host_mirror_type = hopscotch_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual>;

  /// Makes a set without memory, to be assigned to. Lookups, insertions, erasures and rehash throw
  /// std::logic_error; size, empty, retrieve_all, clear, begin and end do not.
  hopscotch_set() : base("hopscotch_set") {}
  /// Makes an empty set for max_keys keys. Asynchronous, except for the allocation.
  /// Throws std::invalid_argument (load out of range, equal sentinels), std::length_error (capacity
  /// overflow), allocation_error (out of memory).
  hopscotch_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_set", max_keys, o, hash, equal, {}) {}
  /// Makes an empty set in the caller's memory, which must outlive the set. Size, alignment,
  /// counters and errors: as for hopscotch_map.
  hopscotch_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
                options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_set", max_keys, o, hash, equal, memory) {}
};

}  // namespace karpos
