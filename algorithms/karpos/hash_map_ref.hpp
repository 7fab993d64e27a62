// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/backend/memory.hpp"
#include "karpos/backend/tile.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/open_addressing.hpp"
#include "karpos/outcome.hpp"

namespace karpos {

/// The reading half of hash_map_ref, and all of a frozen ref: for kernels during which nobody changes the map.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing,
          int BucketSlots, access Access>
class hash_map_reader {
 protected:
  using table =
      detail::open_addressing_ref<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;
  table m_table;

 public:
  using key_type = Key;
  using mapped_type = T;
  static constexpr int bucket_slots = BucketSlots;

  hash_map_reader() = default;
  explicit hash_map_reader(table const& t) : m_table(t) {}

  /// Looks a key up. Returns: a copy of the value, or nothing.
  template <class Query>
  KOKKOS_FUNCTION found<T> find(Query const& query) const {
    return find(thread_tile{}, query);
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION found<T> find(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    return m_table.template find<Access>(t, query);
  }

  /// Whether a key is there.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return find(thread_tile{}, query).present;
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    return find(t, query).present;
  }
};

/// The view of a hash_map that kernels take by value: trivially copyable, valid while the map lives and is
/// not rehashed. Every operation comes for one thread and, with a tile first, for W lanes that work on one
/// key together and all receive the answer.
///
/// Complexity: expected O(1) buckets; never more than Probing::probe_limit.
/// Requires: keys and queries are not equal to a sentinel (checked with KARPOS_CONTRACTS).
/// Concurrency: every operation may run concurrently with every other; per key, histories are linearizable.
///   Lock-free; where is_lock_free<16, ExecSpace> is false, inserting 16-byte slots blocks on the thread
///   that is publishing the same slot. Atomics are relaxed: a key that is found does not order other memory.
/// Source: cuCollections' static_map; docs/hash_map.md.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing,
          int BucketSlots>
class hash_map_ref : public hash_map_reader<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots,
                                            access::shared> {
  using reader =
      hash_map_reader<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, access::shared>;
  using reader::m_table;

 public:
  using reader::reader;

  /// Inserts the pair unless the key is there. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(Key const& key, T const& value) const {
    return insert(thread_tile{}, key, value);
  }
  template <tile Tile>
  KOKKOS_FUNCTION outcome insert(Tile const& t, Key const& key, T const& value) const {
    return m_table.upsert(t, key, value, detail::keep_stored{});
  }

  /// Inserts the pair or overwrites the stored value. Returns: inserted, existing (overwritten) or full.
  KOKKOS_FUNCTION outcome insert_or_assign(Key const& key, T const& value) const {
    return insert_or_assign(thread_tile{}, key, value);
  }
  template <tile Tile>
  KOKKOS_FUNCTION outcome insert_or_assign(Tile const& t, Key const& key, T const& value) const {
    return m_table.upsert(t, key, value, detail::take_new{});
  }

  /// Inserts the pair or replaces the stored value by op(stored, value), atomically. op runs once or, when
  /// others change the value meanwhile, again. Returns: inserted, existing (merged) or full.
  template <class Op>
  KOKKOS_FUNCTION outcome insert_or_apply(Key const& key, T const& value, Op const& op) const {
    return insert_or_apply(thread_tile{}, key, value, op);
  }
  template <tile Tile, class Op>
  KOKKOS_FUNCTION outcome insert_or_apply(Tile const& t, Key const& key, T const& value,
                                          Op const& op) const {
    return m_table.upsert(t, key, value, op);
  }

  /// Removes a key. Its slot is used again only after clear or rehash. Returns: whether this call removed it.
  template <class Query>
  KOKKOS_FUNCTION bool erase(Query const& query) const {
    return erase(thread_tile{}, query);
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be erased");
    return m_table.erase(t, query);
  }
};

}  // namespace karpos
