// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/tables/hopscotch/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"

// hopscotch_set: concurrent hopscotch hashing. Constructors and bulk operations:
// karpos/hash_table.hpp and karpos/lookup_table.hpp; operations in kernels: karpos/map_ref.hpp.

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
  /// The type of this set in host memory, which create_host_mirror returns.
  using host_mirror_type = hopscotch_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual>;

  using base::base;  // hash_table.hpp
};

}  // namespace karpos
