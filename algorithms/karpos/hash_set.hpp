// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/open_addressing/ref.hpp"
#include "karpos/detail/open_addressing/table.hpp"
#include "karpos/detail/slot.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/table_interface.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

namespace karpos {

/// The reading half of hash_set_ref, and all of a frozen ref: for kernels during which nobody changes the set.
template <class Key, class ExecSpace, class Hash, class KeyEqual, class Probing, int BucketSlots,
          device::access Access>
class hash_set_reader {
 protected:
  using table = detail::open_addressing::open_addressing_ref<Key, detail::no_value, ExecSpace, Hash,
                                                             KeyEqual, Probing, BucketSlots>;
  table m_table;

 public:
  using key_type = Key;
  static constexpr int bucket_slots = BucketSlots;

  hash_set_reader() = default;
  explicit hash_set_reader(table const& t) : m_table(t) {}

  /// Whether a key is there.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return contains(device::thread_tile{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    return m_table.template find<Access>(t, query).present;
  }
};

/// The view of a hash_set that kernels take by value; the contract is that of hash_map_ref.
template <class Key, class ExecSpace, class Hash, class KeyEqual, class Probing, int BucketSlots>
class hash_set_ref : public hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots,
                                            device::access::shared> {
  using reader =
      hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, device::access::shared>;
  using reader::m_table;

 public:
  using reader::reader;

  /// Inserts the key unless it is there. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(Key const& key) const {
    return insert(device::thread_tile{}, key);
  }
  template <device::tile Tile>
  KOKKOS_FUNCTION outcome insert(Tile const& t, Key const& key) const {
    return m_table.upsert(t, key, {}, detail::keep_stored{});
  }
  /// Removes a key. Its slot is used again only after clear or rehash. Returns: whether this call removed it.
  template <class Query>
  KOKKOS_FUNCTION bool erase(Query const& query) const {
    return erase(device::thread_tile{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be erased");
    return m_table.erase(t, query);
  }
};

namespace detail {
/// What a hash_set derives from.
template <class Key, class ExecSpace, class Hash, class KeyEqual, class Probing, int B>
using hash_set_interface = table_interface<
    open_addressing::open_addressing_table<Key, no_value, ExecSpace, Hash, KeyEqual, Probing, B>,
    hash_set_ref<Key, ExecSpace, Hash, KeyEqual, Probing, B>,
    hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, B, device::access::frozen>>;
}  // namespace detail

/// Hash set of keys of up to eight bytes: hash_map without values, in half the memory. Interface, memory,
/// concurrency and errors are those of hash_map.
/// Source: cuCollections' static_set; overflow marks after boost::unordered_flat_set.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots =
              detail::open_addressing::default_bucket_slots<Key, detail::no_value, ExecSpace>>
class hash_set
    : public detail::hash_set_interface<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots> {
  using base = detail::hash_set_interface<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;
  using base::m_table;

 public:
  using options = hash_table_options<Key>;
  using typename base::report_view;
  static constexpr int bucket_slots = BucketSlots;

  /// Makes an empty set for max_keys keys. Throws as hash_map does.
  hash_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the set.
  hash_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, "hash_set", max_keys, o, hash, equal, memory) {}

  /// Bytes that a set for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return base::table_type::bytes_for(max_keys, load);
  }

  /// Inserts keys that are new. Returns: how many were inserted, existing, rejected. Throws
  /// std::invalid_argument when a key equals a sentinel: every other key has then been handled as usual.
  template <view_1d Keys>
  insert_report insert(ExecSpace const& exec, Keys const& keys) {
    detail::require_reachable<ExecSpace, Keys>();
    detail::require_key_type<Key, Keys>();
    return m_table.insert(exec, "insert", keys, nothing{}, detail::keep_stored{},
                          detail::everything{});
  }
  /// As insert, for the keys with predicate(stencil(i)).
  template <view_1d Keys, view_1d Stencil, class Predicate = detail::as_bool>
  insert_report insert_if(ExecSpace const& exec, Keys const& keys, Stencil const& stencil,
                          Predicate const& predicate = {}) {
    detail::require_reachable<ExecSpace, Keys, Stencil>();
    detail::require_key_type<Key, Keys>();
    detail::require_same_extent("keys", keys.extent(0), "stencil", stencil.extent(0));
    return m_table.insert(exec, "insert_if", keys, nothing{}, detail::keep_stored{},
                          detail::where<Stencil, Predicate>{stencil, predicate});
  }
  /// As insert; throws capacity_error when a key did not fit (those that did are in).
  template <view_1d Keys>
  insert_report insert_or_throw(ExecSpace const& exec, Keys const& keys) {
    insert_report const r = insert(exec, keys);
    m_table.throw_if_rejected(exec, r);
    return r;
  }
  /// As insert without waiting: the report is written to a view when the kernel is done.
  template <view_1d Keys>
  void insert_async(ExecSpace const& exec, Keys const& keys, report_view const& report) {
    detail::require_reachable<ExecSpace, Keys>();
    detail::require_key_type<Key, Keys>();
    m_table.insert(exec, "insert_async", keys, nothing{}, detail::keep_stored{},
                   detail::everything{}, report);
  }

  /// Writes every key to a view, in no particular order. Returns: how many there are.
  template <view_1d KeysOut>
  std::uint64_t retrieve_all(ExecSpace const& exec, KeysOut const& keys) const {
    detail::require_reachable<ExecSpace, KeysOut>();
    return m_table.retrieve_all(exec, keys, nothing{});
  }

  std::uint64_t bucket_count() const { return m_table.bucket_count(); }  ///< buckets there are
  std::uint64_t capacity() const { return m_table.slot_count(); }        ///< slots there are

 private:
  using nothing = detail::constant<detail::no_value>;
};

}  // namespace karpos
