// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "karpos/detail/tables/slot.hpp"

namespace karpos::detail {

/// The types of a hash table in one bundle, which its memory, its refs and its bulk operations take
/// as a template parameter. Derived: open_addressing::traits, hopscotch::traits, cuckoo::traits.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual>
struct table_traits {
  using key_type = Key;
  using mapped_type = T;  ///< no_value: a set
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using hasher = Hash;
  using key_equal = KeyEqual;
  using layout = slot_layout<Key, T>;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;

  // Defaults: the table's storage (storage.hpp) or the derived bundle sets those that hold.

  /// Whether bulk insertions into a full table rehash it.
  static constexpr bool grows = false;
  /// Whether erased slots stay tombstones, which no insertion takes, until the table is compacted.
  static constexpr bool has_tombstones = false;
  /// Whether insertions of many keys may go by table segments.
  static constexpr bool has_segments = false;
  /// Whether insertions set overflow marks before they know whether the key finds a slot.
  static constexpr bool eager_marks = false;
  /// Whether a table remembers being full, so that erasures have to note free slots.
  static constexpr bool tracks_free_slots = false;
};

/// Whether tables of two bundles hold the same bytes for the same contents, so that one can be
/// copied to the other: their keys, values, hash and equality are the same.
template <class Traits, class Other>
inline constexpr bool same_contents =
    std::is_same_v<typename Traits::key_type, typename Other::key_type> &&
    std::is_same_v<typename Traits::mapped_type, typename Other::mapped_type> &&
    std::is_same_v<typename Traits::hasher, typename Other::hasher> &&
    std::is_same_v<typename Traits::key_equal, typename Other::key_equal>;

}  // namespace karpos::detail
