// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Atomic.hpp>
#include <Kokkos_Macros.hpp>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"

namespace karpos::detail {

/// The value type of a set: no value is stored.
struct no_value {};
/// The value type of hopscotch and cuckoo sets. Their slots have eight bytes for every key type:
/// they lie beside hop words, or in lines of cuckoo tables.
struct no_value_in_8_bytes {};
template <class T>
inline constexpr bool is_no_value =
    std::is_same_v<T, no_value> || std::is_same_v<T, no_value_in_8_bytes>;

/// The layout of a key and its value in one machine word, or in a pair of words.
///
///   key, value <= 4 bytes    64-bit word   | value : 32 | key : 32 |
///                                          claimed by one 8-byte compare-and-swap
///   either of up to 8 bytes  word16        | hi: value : 64 | lo: key : 64 |
///                                          one 16-byte compare-and-swap, or claim, then publish
///   key of 9 to 16 bytes     word32        | hi: value : 64 | lo: state : 64 | key : 128 |
///                                          claimed by a 16-byte compare-and-swap, then published
///   set                      32, 64 or 128 bits   | key |
///                                          64 bits in hopscotch and cuckoo hashing
///
/// In open addressing a slot goes from empty to live to erased and never back, until the table is
/// cleared or rebuilt. A slot that was read as not empty can never come to hold another key, so
/// probes need no locks. Hopscotch hashing empties slots again, under a lock. MaxKeyBytes is 16 in
/// open addressing, and 8 in hopscotch and cuckoo hashing.
template <class Key, class T, int MaxKeyBytes = 8>
struct slot_layout {
  static constexpr bool has_value = !is_no_value<T>;
  // One sentence for each pair of types: a later assertion holds if an earlier one fails.
  static constexpr bool is_copyable =
      std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<T>;
  static_assert(is_copyable, "karpos: keys and values must be trivially copyable");
  static constexpr bool has_equal_bits = std::has_unique_object_representations_v<Key> ||
                                         (std::is_floating_point_v<Key> && sizeof(Key) <= 8);
  static_assert(!is_copyable || has_equal_bits,
                "karpos: this key has padding or floating-point members, and equal keys could "
                "differ in bits: use karpos::unordered_map, which compares such keys by their ==");
  static_assert(
      !is_copyable || !has_equal_bits || (sizeof(Key) <= MaxKeyBytes && sizeof(T) <= 8),
      "karpos: values have at most eight bytes, and keys too, or 16 in a hash_map or "
      "hash_set: store an index of what is larger, use 64 bits of its hash as the key, or "
      "use karpos::unordered_map");

  static constexpr bool small = sizeof(Key) <= 4 && sizeof(T) <= 4;
  static constexpr bool has_128_bit_key = sizeof(Key) > 8;
  static constexpr bool in_8_bytes = std::is_same_v<T, no_value_in_8_bytes>;
  using key_bits =
      std::conditional_t<has_128_bit_key, device::bits128,
                         std::conditional_t<(has_value ? small : sizeof(Key) <= 4 && !in_8_bytes),
                                            std::uint32_t, std::uint64_t>>;
  using value_bits = std::conditional_t<small, std::uint32_t, std::uint64_t>;
  using word = std::conditional_t<
      !has_value, key_bits,
      std::conditional_t<has_128_bit_key, device::word32,
                         std::conditional_t<small, std::uint64_t, device::word16>>>;
  /// Whether a slot is a key and a value that are changed by themselves.
  static constexpr bool has_halves = has_value && !small;
  /// States of a slot with a key of 128 bits, which alone does not say that the value is stored.
  static constexpr std::uint64_t unpublished = 0, published = 1;

  KOKKOS_FUNCTION static constexpr word pack(key_bits key, [[maybe_unused]] value_bits value) {
    if constexpr (!has_value)
      return key;
    else if constexpr (has_128_bit_key)
      return {key, {published, value}};
    else if constexpr (small)
      return static_cast<std::uint64_t>(value) << 32 | key;
    else
      return {key, value};
  }
  /// Returns a slot that no pair was stored in.
  KOKKOS_FUNCTION static constexpr word unused(key_bits key) {
    word w = pack(key, 0);
    if constexpr (has_value && has_128_bit_key) w.rest.lo = unpublished;
    return w;
  }
  KOKKOS_FUNCTION static constexpr bool is_published([[maybe_unused]] word w) {
    if constexpr (has_value && has_128_bit_key)
      return w.rest.lo == published;
    else
      return true;
  }
  KOKKOS_FUNCTION static constexpr key_bits key_of(word w) {
    if constexpr (has_halves)
      return *key_in(&w);
    else
      return static_cast<key_bits>(w);
  }
  /// These two return where the key of a slot with halves lies, and the pair that has the value.
  KOKKOS_FUNCTION static constexpr key_bits* key_in(word* slot)
    requires has_halves
  {
    if constexpr (has_128_bit_key)
      return &slot->key;
    else
      return &slot->lo;
  }
  KOKKOS_FUNCTION static constexpr device::word16* pair_in(word* slot)
    requires has_halves
  {
    if constexpr (has_128_bit_key)
      return &slot->rest;
    else
      return slot;
  }
  KOKKOS_FUNCTION static constexpr T value_of([[maybe_unused]] word w) {
    if constexpr (!has_value)
      return {};
    else if constexpr (small)
      return from_bits<T>(static_cast<value_bits>(w >> 32));
    else
      return from_bits<T>(pair_in(&w)->hi);
  }
  KOKKOS_FUNCTION static constexpr value_bits bits_of([[maybe_unused]] T const& value) {
    if constexpr (has_value && sizeof(T) <= sizeof(value_bits))
      return to_bits<value_bits>(value);
    else
      return 0;
  }
};

/// Predicate: a slot holds a certain key, compared as bits, and its value.
template <class Layout>
struct holds_key_bits {
  using key_bits = typename Layout::key_bits;
  key_bits key;
  KOKKOS_FUNCTION bool operator()(typename Layout::word w) const {
    return Layout::key_of(w) == key && Layout::is_published(w);
  }
  KOKKOS_FUNCTION key_bits wanted_key() const { return key; }
};

/// The sentinels: keys that mark slots and therefore cannot be stored.
template <class Bits>
struct sentinels {
  Bits empty, erased, busy;

  KOKKOS_FUNCTION constexpr bool contains(Bits key) const {
    return key == empty || key == erased || key == busy;
  }
};

/// Returns the i-th default sentinel. For integers that fill Bits: the maximum minus i. For other
/// types, and for narrower integers: the largest bit pattern minus i.
template <class Key, class Bits>
constexpr Bits default_sentinel(int i) {
  if constexpr (sizeof(Bits) == 16) {
    constexpr std::uint64_t all = ~std::uint64_t(0);
    constexpr bool is_signed = std::is_same_v<Key, int128>;
    return {{all - static_cast<std::uint64_t>(i), is_signed ? all >> 1 : all}};
  } else if constexpr (std::is_integral_v<Key> && sizeof(Key) == sizeof(Bits)) {
    return to_bits<Bits>(static_cast<Key>(std::numeric_limits<Key>::max() - static_cast<Key>(i)));
  } else {
    return static_cast<Bits>(std::numeric_limits<Bits>::max() - static_cast<Bits>(i));
  }
}

/// Merge operation that keeps the stored value.
struct keep_stored {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& /*value*/) const {
    return stored;
  }
};
/// Merge operation that takes the new value.
struct replace_stored {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& /*stored*/, T const& value) const {
    return value;
  }
};

/// The transitions of a slot: it is claimed for a pair, its value is merged, its key is erased.
/// Each transition is one compare-and-swap or one atomic operation on the slot, except that a
/// 32-byte slot, and a 16-byte slot without a 16-byte compare-and-swap, is claimed, then published.
/// docs/design/memory_model.md says why that is enough.
template <class Key, class T, bool OneStep, int MaxKeyBytes = 8>
class slot_protocol {
 public:
  using layout = slot_layout<Key, T, MaxKeyBytes>;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using value_bits = typename layout::value_bits;
  /// Whether a slot is claimed and published by one compare-and-swap.
  static constexpr bool one_step = OneStep || sizeof(word) <= 8;

  slot_protocol() = default;
  explicit slot_protocol(sentinels<key_bits> s) : m_sentinels(s) {}

  KOKKOS_FUNCTION sentinels<key_bits> reserved_keys() const { return m_sentinels; }
  /// Returns whether a query equals a sentinel. Queries of other types than the key's never do.
  template <class Query>
  KOKKOS_FUNCTION bool reserved(Query const& query) const {
    if constexpr (std::is_same_v<Query, Key>)
      return m_sentinels.contains(key_bits_of<key_bits>(query));
    else
      return false;
  }
  KOKKOS_FUNCTION bool live(word slot) const {
    return !m_sentinels.contains(layout::key_of(slot)) && layout::is_published(slot);
  }
  /// Returns whether a slot is claimed, and its pair not yet published.
  KOKKOS_FUNCTION bool busy(word slot) const {
    if constexpr (layout::has_128_bit_key)
      return layout::key_of(slot) != m_sentinels.empty && !layout::is_published(slot);
    else
      return layout::key_of(slot) == m_sentinels.busy;
  }
  /// Returns whether the slot is a tombstone.
  KOKKOS_FUNCTION bool erased(word slot) const {
    return layout::key_of(slot) == m_sentinels.erased;
  }
  KOKKOS_FUNCTION word empty_slot() const { return layout::unused(m_sentinels.empty); }
  /// Returns the word of a pair.
  KOKKOS_FUNCTION static word item(Key const& key, T const& value) {
    return layout::pack(key_bits_of<key_bits>(key), layout::bits_of(value));
  }

  /// Predicate: the slot was never used. Compares whole words if a word is both key and value: if
  /// ptxas sees that values do not matter, it splits a 16-byte load into loads of the keys (H200:
  /// inserts 10.0 instead of 14.6 G/s).
  struct is_unused {
    word empty;
    KOKKOS_FUNCTION bool operator()(word w) const {
      if constexpr (layout::has_halves)
        return layout::key_of(w) == layout::key_of(empty);
      else
        return w == empty;
    }
    KOKKOS_FUNCTION key_bits wanted_key() const { return layout::key_of(empty); }
  };
  using has_key = holds_key_bits<layout>;
  KOKKOS_FUNCTION is_unused is_empty() const { return {empty_slot()}; }

  /// Claims an empty slot, then publishes the item in it: for slots that one compare-and-swap
  /// cannot fill. Returns the slot's word before: empty if it was claimed. A key of 128 bits claims
  /// the slot itself; others claim it by a sentinel.
  KOKKOS_FUNCTION word claim_then_publish(word* slot, word item) const {
    key_bits const claim = layout::has_128_bit_key ? layout::key_of(item) : m_sentinels.busy;
    if (device::compare_and_swap(layout::key_in(slot), m_sentinels.empty, claim) ==
        m_sentinels.empty) {
      device::store_pair(layout::pair_in(slot), *layout::pair_in(&item));
      return empty_slot();
    }
    word seen = device::load_relaxed(slot);
    while (busy(seen)) seen = device::load_relaxed(slot);
    return seen;
  }

  /// Replaces a live slot by a tombstone, unless another thread does. Returns whether this call
  /// did. Retries only while other threads change the value of the same key.
  KOKKOS_FUNCTION bool erase(word* slot, word seen) const {
    key_bits const key = layout::key_of(seen);
    if constexpr (layout::has_halves) {
      return device::compare_and_swap(layout::key_in(slot), key, m_sentinels.erased) == key;
    } else {
      word const tombstone = layout::pack(m_sentinels.erased, 0);
      while (layout::key_of(seen) == key) {
        word const before = device::compare_and_swap(slot, seen, tombstone);
        if (before == seen) return true;
        seen = before;
      }
      return false;
    }
  }

  /// Merges a value into the slot of a key. If the key is erased meanwhile, the merge came first.
  template <class Combine>
  KOKKOS_FUNCTION void merge(word* slot, word seen, T const& value, Combine const& combine) const {
    constexpr bool adds = std::is_same_v<Combine, plus>;
    if constexpr (adds && std::is_integral_v<T>) {
      // The value is the high half: its carry leaves the word, and the key half stays as it is.
      if constexpr (has_halves)
        Kokkos::atomic_add(&layout::pair_in(slot)->hi, layout::bits_of(value));
      else
        Kokkos::atomic_add(slot, layout::pack(0, layout::bits_of(value)));
    } else if constexpr (adds && std::is_floating_point_v<T>) {
      KOKKOS_IF_ON_DEVICE((Kokkos::atomic_add(stored_value(slot), value);))
      KOKKOS_IF_ON_HOST((merge_by_cas(slot, seen, value, combine);))
    } else if constexpr (has_halves && std::is_same_v<Combine, replace_stored>) {
      device::store_relaxed(&layout::pair_in(slot)->hi, layout::bits_of(value));
    } else if constexpr (std::is_same_v<Combine, replace_stored> && sizeof(T) == 4 &&
                         sizeof(word) == 8) {
      // Stores half of a word that others compare and swap, so that rows of one key never retry.
      KOKKOS_IF_ON_DEVICE(
          (device::store_relaxed(reinterpret_cast<std::uint32_t*>(stored_value(slot)),
                                 static_cast<std::uint32_t>(layout::bits_of(value)));))
      KOKKOS_IF_ON_HOST((merge_by_cas(slot, seen, value, combine);))
    } else {
      merge_by_cas(slot, seen, value, combine);
    }
  }

 private:
  static constexpr bool has_halves = layout::has_halves;

  KOKKOS_FUNCTION static T* stored_value(word* slot) {
    static_assert(std::endian::native == std::endian::little);
    return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(slot) + sizeof(word) -
                                sizeof(value_bits));
  }
  /// Merges by compare-and-swap, until no other thread merges in between.
  template <class Combine>
  KOKKOS_FUNCTION void merge_by_cas(word* slot, word seen, T const& value,
                                    Combine const& combine) const {
    // CPUs may have read the two halves of `seen` at different times.
    if constexpr (has_halves) KOKKOS_IF_ON_HOST((seen = device::load_relaxed(slot);))
    key_bits const key = layout::key_of(seen);
    while (has_halves || layout::key_of(seen) == key) {
      T const merged = combine(layout::value_of(seen), value);
      word const item = layout::pack(key, layout::bits_of(merged));
      if (item == seen || exchange_value(slot, seen, item)) return;
    }
  }
  /// Returns whether it replaced the value in `seen`, which it otherwise updates.
  KOKKOS_FUNCTION static bool exchange_value(word* slot, word& seen, word item) {
    word before = seen;
    if constexpr (has_halves)
      layout::pair_in(&before)->hi = device::compare_and_swap(
          &layout::pair_in(slot)->hi, layout::pair_in(&seen)->hi, layout::pair_in(&item)->hi);
    else
      before = device::compare_and_swap(slot, seen, item);
    bool const done = before == seen;
    seen = before;
    return done;
  }

  sentinels<key_bits> m_sentinels{};
};

/// Predicate: the slot holds a key that the user's equality finds equal to the query.
template <class Key, class Protocol, class KeyEqual, class Query>
struct has_equal_key {
  Protocol const& slot;
  KeyEqual const& equal;
  Query const& query;
  KOKKOS_FUNCTION bool operator()(typename Protocol::word w) const {
    return slot.live(w) && equal(from_bits<Key>(Protocol::layout::key_of(w)), query);
  }
};

/// Returns the predicate: the slot holds a key equal to the query. Compares bits if equal keys have
/// the same, as the default hash requires.
template <class Key, class Hash, class Protocol, class KeyEqual, class Query>
KOKKOS_FUNCTION auto holds_key(Protocol const& slot, KeyEqual const& equal, Query const& query) {
  if constexpr (std::is_same_v<Query, Key> && std::is_same_v<KeyEqual, equal_to<Key>> &&
                (std::is_arithmetic_v<Key> || std::is_enum_v<Key> || is_int128<Key> ||
                 std::is_same_v<Hash, hash<Key>>))
    return holds_key_bits<typename Protocol::layout>{
        key_bits_of<typename Protocol::key_bits>(query)};
  else
    return has_equal_key<Key, Protocol, KeyEqual, Query>{slot, equal, query};
}

/// The types of a hash table, and what its kind can do; open_addressing::traits and others derive.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, int MaxKeyBytes = 8>
struct table_traits {
  using key_type = Key;
  using mapped_type = T;  ///< no_value: a set
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using hasher = Hash;
  using key_equal = KeyEqual;
  using layout = slot_layout<Key, T, MaxKeyBytes>;
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
  // Only segments keep an order of keys (open_addressing/storage.hpp).
  void invalidate_order() const {}
  void enable_order() {}
};

/// Whether tables of these types hold the same bytes, so that one can be copied to the other.
template <class Traits, class Other>
inline constexpr bool same_contents =
    std::is_same_v<typename Traits::key_type, typename Other::key_type> &&
    std::is_same_v<typename Traits::mapped_type, typename Other::mapped_type> &&
    std::is_same_v<typename Traits::hasher, typename Other::hasher> &&
    std::is_same_v<typename Traits::key_equal, typename Other::key_equal>;

}  // namespace karpos::detail
