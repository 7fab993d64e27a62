// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/tables/open_addressing/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"
#include "karpos/probing.hpp"

// hash_set: open addressing. Constructors and bulk operations: karpos/hash_table.hpp and
// karpos/lookup_table.hpp; operations in kernels: karpos/map_ref.hpp.

namespace karpos {

/// Hash set of keys of up to 16 bytes: a hash_map without values, in about half the memory or less
/// (small sets save less). Growth, memory, concurrency, errors and requirements are those of
/// hash_map.
/// Source: cuCollections' static_set; overflow marks after boost::unordered_flat_set.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots =
              detail::open_addressing::default_bucket_slots<Key, detail::no_value, ExecSpace>>
class hash_set : public hash_table<detail::open_addressing::storage<detail::open_addressing::traits<
                     Key, detail::no_value, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>>> {
  using base = typename hash_set::hash_table;

 public:
  static constexpr int bucket_slots = BucketSlots;

  /// The type of this set in host memory, which create_host_mirror returns.
  using host_mirror_type =
      hash_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Probing, BucketSlots>;

  using base::base;  // hash_table.hpp
};

}  // namespace karpos
