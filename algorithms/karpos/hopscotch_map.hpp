// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/detail/bulk_table.hpp"
#include "karpos/detail/hopscotch/storage.hpp"
#include "karpos/detail/map_interface.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/hash.hpp"
#include "karpos/hopscotch_map_ref.hpp"

namespace karpos {

namespace detail {
/// What a hopscotch_map derives from.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual>
using hopscotch_map_interface =
    map_interface<bulk_table<hopscotch::hopscotch_storage<Key, T, ExecSpace, Hash, KeyEqual>>,
                  hopscotch_map_ref<Key, T, ExecSpace, Hash, KeyEqual>,
                  hopscotch_map_reader<Key, T, ExecSpace, Hash, KeyEqual>>;
}  // namespace detail

/// Hash map from keys to values of up to eight bytes each in which insert, erase and find may run at once, in one
/// kernel, for ever: the slot of an erased key is free at once, and lookups get no slower. Hopscotch hashing with
/// neighbourhoods of 32 slots; for bulk use from the host and for use inside kernels through ref(). Misses cost less
/// than hits; a map that is built once and then read is smaller and faster to build as a hash_map.
///
/// Grows: insert, insert_if, insert_or_throw and insert_or_assign rehash to twice the size, and invalidate refs, when
///   a key finds no place. In kernels, in the _async forms, in insert_or_apply and in apply such a key is reported as
///   full or rejected, and nothing is lost. A map over wrapped memory leaves it when it grows, and owns its memory from
///   then on. Throws allocation_error when there is none to grow into: what is in stays in.
/// Memory: bytes_for(max_keys, load); see docs/hopscotch_map.md for the layout. Bulk calls allocate nothing but when
///   they grow.
/// Concurrency: bulk calls on one execution space instance run in order. Calls that return void only enqueue; calls
///   that return a report or a count wait for that instance. Those count in memory of the map's own: one of them at a
///   time per map. Bulk lookups read as a frozen ref does: they see what happened before them, and must not run beside
///   writers on another instance; find operations of apply may.
/// Requires: key and value types are trivially copyable; two key values serve as sentinels (three in 16-byte slots)
///   and cannot be stored: options.empty_key, options.erased_key, and the largest value that is neither.
/// Source: GLHT; Herlihy, Shavit, Tzafrir, "Hopscotch hashing", DISC 2008.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
class hopscotch_map : public detail::hopscotch_map_interface<Key, T, ExecSpace, Hash, KeyEqual> {
  using base = detail::hopscotch_map_interface<Key, T, ExecSpace, Hash, KeyEqual>;
  using base::m_table;

 public:
  using options = hash_table_options<Key>;

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

  /// Bytes that a map for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return base::table_type::bytes_for(max_keys, load);
  }

  std::uint64_t capacity() const { return m_table.slot_count(); }  ///< slots there are
};

}  // namespace karpos
