// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/tables/open_addressing/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"
#include "karpos/probing.hpp"

// hash_set: open addressing. Bulk operations: karpos/lookup_table.hpp and karpos/hash_table.hpp;
// operations in kernels: karpos/map_ref.hpp.

namespace karpos {

/// Hash set of keys of up to eight bytes: a hash_map without values, in about half the memory or
/// less (small sets save less). Growth, memory, concurrency, errors and requirements are those of
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
  using typename base::options;
  static constexpr int bucket_slots = BucketSlots;

  /// The type of this set in host memory, which create_host_mirror returns: a whole table, so that
  /// bulk calls work on it, too.
  using host_mirror_type =
      hash_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Probing, BucketSlots>;

  /// Makes a set without memory, to be assigned to. Lookups, insertions, erasures, rehash and
  /// compact throw std::logic_error; size, empty, retrieve_all, clear, begin and end do not.
  hash_set() : base("hash_set") {}
  /// Makes an empty set for max_keys keys. Asynchronous, except for the allocation. Throws what
  /// hash_map's constructor throws.
  hash_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, {}) {}
  /// Makes an empty set in the caller's memory, which must outlive the set. Size, alignment,
  /// counters and errors: as for hash_map.
  hash_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, memory) {}

  /// Returns the number of buckets.
  std::uint64_t bucket_count() const { return this->m_storage.bucket_count(); }
};

}  // namespace karpos
