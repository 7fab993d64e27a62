// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/detail/map_interface.hpp"
#include "karpos/detail/open_addressing/table.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_map_ref.hpp"
#include "karpos/probing.hpp"

namespace karpos {

namespace detail {
/// What a hash_map derives from.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B>
using hash_map_interface = map_interface<
    open_addressing::open_addressing_table<Key, T, ExecSpace, Hash, KeyEqual, Probing, B>,
    hash_map_ref<Key, T, ExecSpace, Hash, KeyEqual, Probing, B>,
    hash_map_reader<Key, T, ExecSpace, Hash, KeyEqual, Probing, B, device::access::frozen>>;
}  // namespace detail

/// Hash map from keys to values of up to eight bytes each, for bulk use from the host and for use inside
/// kernels through ref(). Open addressing over buckets of BucketSlots slots; holds max_keys keys at the
/// load it was made with, and never moves them: it grows by rehash only. The slots of erased keys are used
/// again after clear or rehash.
///
/// Memory: bytes_for(max_keys, load); see docs/hash_map.md for the layout. Bulk calls allocate nothing.
/// Concurrency: bulk calls on one execution space instance run in order. Calls that return void only
///   enqueue; calls that return a report or a count wait for that instance. Those count in memory of the map's
///   own: one of them at a time per map (the _async forms count where you say). Bulk lookups read as a
///   frozen ref does: they see what happened before them, and must not run beside writers on another instance.
/// Requires: key and value types are trivially copyable; two key values serve as sentinels (three in
///   16-byte slots) and cannot be stored.
/// Source: cuCollections' static_map; overflow marks after boost::unordered_flat_map.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots = detail::open_addressing::default_bucket_slots<Key, T, ExecSpace>>
class hash_map
    : public detail::hash_map_interface<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots> {
  using base = detail::hash_map_interface<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;
  using base::m_table;

 public:
  using options = hash_table_options<Key>;
  static constexpr int bucket_slots = BucketSlots;

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

  /// Bytes that a map for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return base::table_type::bytes_for(max_keys, load);
  }

  std::uint64_t bucket_count() const { return m_table.bucket_count(); }  ///< buckets there are
  std::uint64_t capacity() const { return m_table.slot_count(); }        ///< slots there are
};

}  // namespace karpos
