// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/tables/hopscotch/storage.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_table.hpp"

// hopscotch_map: concurrent hopscotch hashing. Constructors and bulk operations:
// karpos/hash_table.hpp and karpos/lookup_table.hpp; operations in kernels: karpos/map_ref.hpp.

namespace karpos {

/// Hash map from keys to values of up to eight bytes each, in which insert, erase and find may run
/// concurrently in one kernel, indefinitely: the slot of an erased key is free at once, and lookups
/// get no slower. Hopscotch hashing with neighbourhoods of 32 slots. The host works on it by bulk
/// calls, kernels through ref(). Misses cost less than hits. If a map is built once and then only
/// read, a hash_map is smaller and built faster.
///
/// Growth (default; not with options.growth = growth::fixed): insert, insert_if, insert_or_throw,
/// insert_or_assign and find_or_insert rehash as often as the call needs. Each time max_keys
/// becomes two to four times the larger of max_keys and the number of stored keys. They rehash when
/// a key finds no slot, and large calls also ahead of need (growth::automatic in table_options.hpp
/// says when). Refs become invalid. A map over wrapped memory leaves that memory and owns its
/// memory from then on. Throws allocation_error if there is no memory to grow into; stored keys
/// stay stored. In kernels, in the _async forms, in insert_or_apply and in apply the map does not
/// grow: a key that finds no slot is reported as full or rejected, and nothing is lost. That is
/// rare up to a load of 0.9 (at 0.9 one key of some millions), but not above: at 0.95 one of
/// 10,000. for_each_until_placed (karpos/for_each_until_placed.hpp) runs kernels that insert into a
/// map that grows.
///
/// Complexity: a line is eight words (64 bytes, or 128 with 16-byte slots): seven slots, and one
///   word that says which slots hold keys whose home is this line. find reads the key's home line,
///   rarely up to 25 slots of four other lines. Insertions into a full neighbourhood move other
///   keys: they read a few lines in general, and up to 4,000 neighbourhoods of up to five lines
///   each before they return `full` (in tables of fewer than 875 slots: 32 neighbourhoods for each
///   line of the table). If other threads hold slots or locks that such a search needs, it waits
///   and searches again: at most 20,000 neighbourhoods and 2,000 searches in all. Once failed
///   searches have established that no slot of the table is free, insertions return `full` without
///   that search, until a key is erased or the table is cleared or gets new memory.
/// Requires: types are those that a hash_map takes, keys of up to 8 bytes. Two key values are
///   sentinels (three in slots of 16 bytes) and cannot be stored: table_options.hpp says which. The
///   user's functions do not throw (operations.hpp), and an op of insert_or_apply does not use the
///   map, because they run while a lock is held.
/// Concurrency: in kernels every operation of a ref may run concurrently with every other; per
///   key, histories are linearizable. While erase or erase_async of many keys runs on another
///   instance, an insertion may return `full` though a slot has just become free. find and
///   contains write nothing and are wait-free. With 16-byte slots they are only lock-free if
///   device::reads_whole<16, ExecSpace> is false, as it is on all CPUs. Each line has eight locks,
///   one for each class of keys (three bits of the hash). Writers exclude each other only if their
///   keys share home line and class. A writer holds a lock for as long as it takes to look through
///   one neighbourhood and write a slot. Finding a key orders no other memory. apply may run
///   concurrently with writers on another instance; blocking insertions need exclusive access.
/// Memory: bytes_for(max_keys, load), and beside it 16 bytes, one bit for every 32 lines, and 40
///   bytes of counters; see docs/hopscotch_map.md. Bulk calls allocate nothing but:
///   - growth and rehash: the new table, which replaces the old one (both exist meanwhile);
///   - host views: staging buffers;
///   - find, contains and count on GPUs, if queries are split by table region (bulk_strategy):
///     lookup_bytes;
///   - deep_copy into the map: hash_table.hpp says how much;
///   - frequent keys, pre-aggregated by insert_or_apply: insert_or_apply_bytes;
///   - insert_or_assign on GPUs, if it reduces rows of equal keys to one row first: also
///     insert_or_apply_bytes. It does so from 2^12 rows on if a sample of the keys suggests it,
///     with bulk_strategy::reduced always, and never with another KeyEqual than equal_to<Key> or
///     with values of one or two bytes.
/// Source: GLHT (Zhang, Sun, "GPU lock-free hopscotch hash table", 2019); Herlihy, Shavit, Tzafrir,
///   "Hopscotch hashing", DISC 2008.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
class hopscotch_map : public hash_table<detail::hopscotch::storage<
                          detail::hopscotch::traits<Key, T, ExecSpace, Hash, KeyEqual>>> {
  using base = typename hopscotch_map::hash_table;

 public:
  /// The type of this map in host memory, which create_host_mirror returns.
  using host_mirror_type = hopscotch_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual>;

  using base::base;  // hash_table.hpp
};

}  // namespace karpos
