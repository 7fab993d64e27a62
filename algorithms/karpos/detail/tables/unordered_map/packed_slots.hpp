// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/lane_mask.hpp"

// Slots that are one word with key and value in it (slot_layout, slot.hpp), for integers of up to
// eight bytes as keys. The key half of a word says what the slot is: three keys mark an empty slot,
// an erased one, and one that is claimed. So that every key can be stored, each of these three has
// a reserved slot, behind all others. The value half of a free slot may be anything, for users
// write to values by index: the key half alone says whether a slot is free.

namespace karpos::detail::unordered_map {

template <class Key, class Value, class ExecSpace>
class packed_slots {
 public:
  using layout = slot_layout<Key, Value>;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using query = holds_key_bits<layout>;
  struct record {};  // packed slots have none
  static constexpr bool has_records = false, has_values_in_words = layout::has_value;
  static constexpr int bucket_slots = 32 / static_cast<int>(sizeof(word));
  /// Reserved slots of the three keys that mark slots. If keys are narrower than key_bits, no key
  /// is equal to a mark, and none is needed.
  static constexpr int reserved_slots = sizeof(Key) == sizeof(key_bits) ? 3 : 0;

  packed_slots() = default;
  packed_slots(word* words, record*, std::uint64_t slots) : m_words(words), m_slots(slots) {}

  /// Returns the word of an empty slot in a new map, with a default-constructed value.
  KOKKOS_FUNCTION static word empty_word() { return layout::pack(empty, blank_value()); }
  KOKKOS_FUNCTION static word erased_word() { return layout::pack(erased, blank_value()); }
  KOKKOS_FUNCTION static bool is_live(word w) { return !is_mark(layout::key_of(w)); }
  KOKKOS_FUNCTION static query is_empty() { return {empty}; }
  KOKKOS_FUNCTION static query is_erased() { return {erased}; }

  KOKKOS_FUNCTION word* words(std::uint64_t i = 0) const { return m_words + i; }
  KOKKOS_FUNCTION std::uint64_t slots() const { return m_slots; }
  /// Returns whether a key has a reserved slot.
  KOKKOS_FUNCTION static bool is_reserved(Key const& key) {
    return reserved_slots != 0 && is_mark(key_bits_of<key_bits>(key));
  }
  KOKKOS_FUNCTION std::uint64_t reserved_slot(Key const& key) const {
    return m_slots + static_cast<key_bits>(key_bits_of<key_bits>(key) - busy);
  }

  KOKKOS_FUNCTION static query make_query(Key const& key, std::uint64_t /*hash*/) {
    return {key_bits_of<key_bits>(key)};
  }
  /// Returns the query for a reserved slot, which stores 0 as key once it is filled.
  KOKKOS_FUNCTION static query make_reserved_query() { return {0}; }

  /// Returns the slots that other threads are about to fill with what may be the key.
  template <class Window>
  KOKKOS_FUNCTION static lane_mask<bucket_slots> match_pending(Window const& window, query const&) {
    if constexpr (one_step)
      return lane_mask<bucket_slots>();
    else
      return window.match(query{busy});
  }
  template <device::access Access, class Equal>
  KOKKOS_FUNCTION static bool holds(std::uint64_t, Key const&, Equal const&) {
    return true;  // the query has matched all bits of the key
  }

  /// Fills a free slot with a pair. Returns whether the slot still held `free`.
  template <class T>
  KOKKOS_FUNCTION bool claim(std::uint64_t i, word free, query const& q, Key const&,
                             [[maybe_unused]] T const& value) const {
    word item{};
    if constexpr (layout::has_value)
      item = layout::pack(q.key, layout::bits_of(value));
    else
      item = layout::pack(q.key, 0);
    if constexpr (one_step) {
      return device::compare_and_swap(words(i), free, item) == free;
    } else {
      word* const at = words(i);
      if (device::compare_and_swap(&at->lo, free.lo, std::uint64_t(busy)) != free.lo) return false;
      device::store_relaxed(&at->hi, item.hi);
      device::store_release(&at->lo, item.lo);
      return true;
    }
  }
  /// Erases the key alone: threads that know the index can read the value until end_erase. Returns
  /// whether this call erased the key.
  KOKKOS_FUNCTION bool erase(std::uint64_t i, word seen) const {
    key_bits const key = layout::key_of(seen);
    while (is_live(seen) && layout::key_of(seen) == key) {
      if constexpr (std::is_same_v<word, device::word16>) {
        return device::compare_and_swap(&words(i)->lo, key, std::uint64_t(erased)) == key;
      } else {
        word const erased_pair = static_cast<word>(seen ^ key ^ erased);
        word const before = device::compare_and_swap(words(i), seen, erased_pair);
        if (before == seen) return true;
        seen = before;  // the value has changed, or the key is erased
      }
    }
    return false;
  }

  /// Returns the key of a slot, or 0 if the slot has none.
  template <device::access>
  KOKKOS_FUNCTION Key key_at(std::uint64_t i) const {
    key_bits const key = layout::key_of(device::load_relaxed(words(i)));
    if (is_mark(key)) return from_bits<Key>(key_bits(0));
    return from_bits<Key>(i < m_slots ? key : static_cast<key_bits>(busy + (i - m_slots)));
  }
  KOKKOS_FUNCTION Value* value_at(std::uint64_t i) const {
    static_assert(std::endian::native == std::endian::little, "the value is the high half");
    return reinterpret_cast<Value*>(reinterpret_cast<unsigned char*>(words(i)) + sizeof(word) / 2);
  }

 private:
  static constexpr bool one_step = device::is_lock_free<sizeof(word), ExecSpace>;
  static constexpr key_bits empty = default_sentinel<Key, key_bits>(0),
                            erased = default_sentinel<Key, key_bits>(1),
                            busy = default_sentinel<Key, key_bits>(2);
  KOKKOS_FUNCTION static bool is_mark(key_bits key) {
    return static_cast<key_bits>(key - busy) <= 2;  // the three are consecutive
  }
  KOKKOS_FUNCTION static typename layout::value_bits blank_value() {
    if constexpr (layout::has_value && std::is_default_constructible_v<Value>)
      return layout::bits_of(Value());
    else
      return 0;
  }

  word* m_words = nullptr;
  std::uint64_t m_slots = 0;
};

}  // namespace karpos::detail::unordered_map
