// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/open_addressing/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/map.hpp"
#include "karpos/probing.hpp"

// hash_set: open addressing. Its operations: karpos/lookup_table.hpp and karpos/map.hpp in bulk,
// karpos/map_ref.hpp in kernels.

namespace karpos {

/// Hash set of keys of up to eight bytes: hash_map without values, in half the memory. Memory,
/// concurrency and errors are those of hash_map, and so is what it requires of Hash, KeyEqual, Probing and BucketSlots.
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

  /// The same set in the host's memory: see create_host_mirror.
  using host_mirror_type =
      hash_set<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Probing, BucketSlots>;

  /// Without memory, to be assigned to; what is asked of its keys throws std::logic_error.
  hash_set() : base("hash_set") {}
  /// Makes an empty set for max_keys keys. Throws as hash_map does.
  hash_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the set.
  hash_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, memory) {}

  /// Buckets that there are.
  std::uint64_t bucket_count() const { return this->m_storage.bucket_count(); }
};

}  // namespace karpos
