// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/open_addressing/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/map.hpp"
#include "karpos/probing.hpp"

// hash_map: open addressing. Its operations: karpos/lookup_table.hpp and karpos/map.hpp in bulk, karpos/map_ref.hpp in kernels.

namespace karpos {

/// Hash map from keys to values of up to eight bytes each, for bulk use from the host and for use inside
/// kernels through ref(). Open addressing over buckets of BucketSlots slots; holds max_keys keys at the
/// load it was made with: it grows by rehash, or in waiting insertions if options.growth says so. The slots of
/// erased keys are used again once the table is compacted, which waiting insertions do when they need it.
///
/// Complexity: expected O(1) buckets an operation; at most Probing::probe_limit buckets of four slots or more, twice as
///   many of two, four times as many of one.
/// Requires: key and value types are trivially copyable; two key values serve as sentinels (three in
///   16-byte slots) and cannot be stored. Hash and KeyEqual are copied into kernels and called there, as hash(query) and
///   equal(key, query); hashes are equal where KeyEqual says so, and are mixed here unless Hash has a member type
///   is_avalanching and returns 64 bits. Probing is double_hashing or linear_probing. BucketSlots is 1 to 64; the width
///   of a tile that works on the map divides it, or is a multiple of it.
/// Concurrency: in kernels every operation of a ref may run concurrently with every other; per key, histories are
///   linearizable. Lock-free; where device::is_lock_free<16, ExecSpace> is false, inserting 16-byte slots blocks on the
///   thread that is publishing the same slot. Atomics are relaxed: a key that is found does not order other memory.
///   Insertions that wait, and apply, run beside nothing: they may compact the table.
/// Memory: bytes_for(max_keys, load); see docs/hash_map.md for the layout. Bulk calls allocate nothing but a copy of the
///   table, for a while when one compacts it, for good when it grows, staging buffers for views on the host, on GPUs
///   insert_bytes for insertions by pages, a byte for each two buckets where keys are refused by a full table, and
///   insert_or_apply_bytes where frequent keys are reduced first (docs/hash_map.md).
/// Source: cuCollections' static_map; overflow marks after boost::unordered_flat_map.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots = detail::open_addressing::default_bucket_slots<Key, T, ExecSpace>>
class hash_map : public hash_table<detail::open_addressing::storage<detail::open_addressing::traits<
                     Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>>> {
  using base = typename hash_map::hash_table;

 public:
  using typename base::options;
  static constexpr int bucket_slots = BucketSlots;

  /// The same map in the host's memory: see create_host_mirror.
  using host_mirror_type =
      hash_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Probing, BucketSlots>;

  /// Without memory, to be assigned to; what is asked of its keys throws std::logic_error.
  hash_map() : base("hash_map") {}
  /// Makes an empty map for max_keys keys. Asynchronous but for the allocation.
  /// Throws std::invalid_argument (load, sentinels), std::length_error (capacity overflow),
  /// allocation_error (out of memory).
  hash_map(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_map", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the map.
  hash_map(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_map", max_keys, o, hash, equal, memory) {}

  /// Buckets that there are.
  std::uint64_t bucket_count() const { return this->m_storage.bucket_count(); }
};

}  // namespace karpos
