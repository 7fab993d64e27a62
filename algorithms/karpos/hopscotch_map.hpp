// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/detail/hopscotch/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/map.hpp"

// hopscotch_map: concurrent hopscotch hashing. Its operations: karpos/lookup_table.hpp and karpos/map.hpp in bulk,
// karpos/map_ref.hpp in kernels.

namespace karpos {

/// Hash map from keys to values of up to eight bytes each in which insert, erase and find may run at once, in one
/// kernel, without limit of time: the slot of an erased key is free at once, and lookups get no slower. Hopscotch hashing with
/// neighbourhoods of 32 slots; for bulk use from the host and for use inside kernels through ref(). Misses cost less
/// than hits; a map that is built once and then read is smaller and faster to build as a hash_map.
///
/// Grows, unless options.growth is growth::fixed: insert, insert_if, insert_or_throw, insert_or_assign and find_or_insert
///   rehash to twice the size, at most to four times, and invalidate refs, when a key finds no place, or max_keys are in and
///   many more come. In kernels, in the _async forms, in insert_or_apply and in apply a key that finds none is reported as
///   full or rejected, and nothing is lost. A map over wrapped memory leaves it when it grows, and owns its memory from then
///   on. Throws allocation_error when there is none to grow into: what is in stays in.
/// Complexity: find reads the home line, rarely up to 25 slots more. Insertions into a full neighbourhood move other
///   keys: a few lines in general, some thousand when they return `full`, unless no slot of the
///   table is free.
/// Requires: key and value types are trivially copyable; two key values serve as sentinels (three in 16-byte slots)
///   and cannot be stored: options.empty_key, options.erased_key, and the largest value that is neither. Functions of the
///   user do not throw (operations.hpp), and an op of insert_or_apply does not use the map: both
///   run while a lock is held.
/// Concurrency: in kernels every operation of a ref may run concurrently with every other; per key, histories are
///   linearizable. find and contains are wait-free (16-byte slots where they are read in halves, as on CPUs: lock-free) and
///   write nothing; the others wait for the thread that holds the lock of the same home and class of keys (one of eight),
///   for as long as it takes to look through one neighbourhood and write a slot. A key that is found does not order other
///   memory. find operations of apply may run beside writers on another instance.
/// Memory: bytes_for(max_keys, load), and 16 bytes and a bit for each 32 lines; see
///   docs/hopscotch_map.md. Bulk calls allocate nothing but when they grow, staging buffers for
///   views on the host, and insert_or_apply_bytes where frequent keys are reduced first.
/// Source: GLHT (Zhang, Sun, "GPU lock-free hopscotch hash table", 2019); Herlihy, Shavit, Tzafrir, "Hopscotch hashing",
///   DISC 2008.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
class hopscotch_map : public hash_table<detail::hopscotch::storage<
                          detail::hopscotch::traits<Key, T, ExecSpace, Hash, KeyEqual>>> {
  using base = typename hopscotch_map::hash_table;

 public:
  using typename base::options;

  /// The same map in the host's memory: see create_host_mirror.
  using host_mirror_type = hopscotch_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual>;

  /// Without memory, to be assigned to; what is asked of its keys throws std::logic_error.
  hopscotch_map() : base("hopscotch_map") {}
  /// Makes an empty map for max_keys keys. Asynchronous but for the allocation.
  /// Throws std::invalid_argument (load, sentinels), std::length_error (capacity overflow),
  /// allocation_error (out of memory).
  hopscotch_map(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_map", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the map.
  hopscotch_map(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
                options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hopscotch_map", max_keys, o, hash, equal, memory) {}
};

}  // namespace karpos
