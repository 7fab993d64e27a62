// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/tables/open_addressing/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"
#include "karpos/probing.hpp"

// hash_map: open addressing. Constructors and bulk operations: karpos/hash_table.hpp and
// karpos/lookup_table.hpp; operations in kernels: karpos/map_ref.hpp; kernels that insert into a
// map that grows: karpos/for_each_until_placed.hpp. A tile is a group of 1, 2, 4, 8, 16 or 32
// threads of a warp that run one operation together (CUDA: a cooperative group).

namespace karpos {

/// Hash map from keys of up to 16 bytes to values of up to eight. The host works on it by bulk
/// calls, kernels through ref(). Open addressing over buckets of BucketSlots slots. Each pair of
/// buckets has eight overflow marks, one for each class of keys; three bits of the hash give the
/// class. A mark is set if keys of its class may lie beyond the pair on their probe paths.
///
/// Sized for max_keys keys at options.load. rehash enlarges it; so do blocking insertions if
/// options.growth is growth::automatic (table_options.hpp says when; default: growth::fixed). Slots
/// of erased keys are used again after compaction, which blocking insertions and apply do when they
/// need those slots. If there is no memory for compaction, insertions probe further, and in the end
/// reject keys (growth::fixed) or throw allocation_error (growth::automatic).
///
/// Complexity: expected O(1) buckets an operation. At most Probing::probe_limit buckets of three or
///   more slots; twice as many buckets of two slots, four times as many of one slot.
/// Requires:
///   - Keys and values are trivially copyable and default-constructible. Keys are float or double,
///     or have neither padding nor floating-point members. Two key values are sentinels (three in
///     slots of 16 bytes) and cannot be stored: table_options.hpp says which.
///   - If keys have more than eight bytes: device::is_lock_free<16, ExecSpace> (x86-64 CPUs with
///     AVX, GPUs of compute capability 9.0). A slot has 32 bytes then. On a CPU without AVX the
///     constructor throws std::runtime_error.
///   - Hash and KeyEqual are copied into kernels and called there, as hash(query) and
///     equal(key, query). Keys that KeyEqual calls equal have equal hashes. The map mixes the hash
///     unless Hash has a member type is_avalanching and returns 64 bits.
///   - Probing is double_hashing or linear_probing. BucketSlots is 1 to 64. The width of a tile
///     that works on the map divides BucketSlots or is a multiple of it.
/// Concurrency: in kernels every operation of a ref may run concurrently with every other; per key,
///   histories are linearizable. Operations are lock-free, with one exception: an insertion into
///   32-byte slots (and 16-byte ones if device::is_lock_free<16, ExecSpace> is false) waits for
///   threads that have claimed a slot of the same bucket and not yet stored its pair. Atomics are
///   relaxed: finding a key orders no other memory. Blocking insertions and apply need exclusive
///   access, because they may compact or move the table.
/// Memory: bytes_for(max_keys, load), and 40 bytes of counters; layout: docs/hash_map.md. Bulk
///   calls allocate nothing but:
///   - compaction: a copy of the table, freed at the end;
///   - growth and rehash: the new table, which replaces the old one (both exist meanwhile);
///   - compaction, growth and rehash of large tables on GPUs: also a workspace, as large as
///     insert_bytes for the stored keys, freed at the end;
///   - host views: staging buffers;
///   - insertions on GPUs, if keys are split (bulk_strategy in table_options.hpp): insert_bytes;
///   - find, contains, count and erase on GPUs, if keys are split: lookup_bytes;
///   - a blocking insertion on GPUs that finds every slot taken and rejects keys: one byte for each
///     two buckets, freed at the end, to remove the overflow marks of rejected keys. Without that
///     memory these marks stay, and lookups of missing keys are slower; the next insertion that
///     rejects keys tries again. Once the marks have been removed, insertions set none for the keys
///     that they reject, and take no such memory. That ends with clear, apply, apply_async,
///     compaction, growth, rehash and deep_copy. If refs may exist (ref() was called, or the memory
///     is the caller's), each insertion that rejects keys removes the marks anew;
///   - deep_copy into the map: hash_table.hpp says how much;
///   - frequent keys, pre-aggregated by insert_or_apply: insert_or_apply_bytes.
/// Source: cuCollections' static_map; overflow marks after boost::unordered_flat_map.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots = detail::open_addressing::default_bucket_slots<Key, T, ExecSpace>>
class hash_map : public hash_table<detail::open_addressing::storage<detail::open_addressing::traits<
                     Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>>> {
  using base = typename hash_map::hash_table;

 public:
  static constexpr int bucket_slots = BucketSlots;

  /// The type of this map in host memory, which create_host_mirror returns.
  using host_mirror_type =
      hash_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual, Probing, BucketSlots>;

  using base::base;  // hash_table.hpp
};

}  // namespace karpos
