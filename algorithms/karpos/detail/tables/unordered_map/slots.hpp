// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/space.hpp"
#include "karpos/hash.hpp"
#include "karpos/lane_mask.hpp"

// The two kinds of slots, packed and wide.

namespace karpos::detail::unordered_map {

// Slots that are one word with key and value in it (slot_layout, slot.hpp), for integers of up to
// eight bytes as keys. The key half of a word says what the slot is: three keys mark an empty slot,
// an erased one, and one that is claimed. So that every key can be stored, each of these three has
// a reserved slot, behind all others. The value half of a free slot may be anything, for users
// write to values by index: the key half alone says whether a slot is free.

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

// Slots for keys and values of any size: a word of 32 bits, and a record with key and value at the
// same index of another array.
//
//   word     | tag : 30 | state : 2 |     tag: low bits of the hash; state: free, claimed or live
//   record   | key | value |               an erased slot is free, with a tag of 1
//
// An insertion claims a free slot for its tag, writes the record, and publishes it by storing the
// word as live, with release. Lookups only read records of live slots with their tag, so that they
// never see half a record. Another insertion with that tag spins until the record is published, for
// the record may hold its own key.

/// The strictest alignment of some types, and at least that of a word of four bytes. One constant,
/// because GCC takes the last of several alignas.
template <class... Types>
inline constexpr std::size_t record_alignment = Kokkos::max({std::size_t(4), alignof(Types)...});

/// Key and value, or the key of a set. Kernels read the key in words of four bytes.
template <class Key, class Value>
struct alignas(record_alignment<Key, Value>) record_of {
  Key key;
  Value value;
};
template <class Key>
struct alignas(record_alignment<Key>) record_of<Key, no_value> {
  Key key;
};

/// Whether a type is a pair with two members.
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<Kokkos::pair<A, B>> = !std::is_void_v<B>;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class Key, class Value>
class wide_slots {
 public:
  using word = std::uint32_t;
  using query = holds_key_bits<slot_layout<word, no_value>>;  ///< a slot with that word
  using record = record_of<Key, Value>;
  static constexpr bool has_records = true, has_values_in_words = false;
  static constexpr int bucket_slots = 8;
  static constexpr int reserved_slots = 0;

  wide_slots() = default;
  wide_slots(word* words, record* records, std::uint64_t slots)
      : m_words(words),
        m_records(records),
        m_slots(slots) {}

  KOKKOS_FUNCTION static word empty_word() { return 0; }
  KOKKOS_FUNCTION static word erased_word() { return 4; }
  KOKKOS_FUNCTION static query is_empty() { return {empty_word()}; }
  KOKKOS_FUNCTION static query is_erased() { return {erased_word()}; }
  KOKKOS_FUNCTION static bool is_live(word w) { return (w & 3) == live; }

  KOKKOS_FUNCTION word* words(std::uint64_t i = 0) const { return m_words + i; }
  KOKKOS_FUNCTION std::uint64_t slots() const { return m_slots; }
  KOKKOS_FUNCTION static bool is_reserved(Key const&) { return false; }
  KOKKOS_FUNCTION std::uint64_t reserved_slot(Key const&) const { return 0; }

  KOKKOS_FUNCTION static query make_query(Key const&, std::uint64_t hash) {
    return {static_cast<word>(hash << 2) | live};
  }
  KOKKOS_FUNCTION static query make_reserved_query() { return {0}; }
  template <class Window>
  KOKKOS_FUNCTION static auto match_pending(Window const& window, query const& q) {
    return window.match(query{claimed_for(q)});
  }
  /// Returns whether a slot holds the key. Requires: the slot was seen live, with the key's tag.
  template <device::access Access, class Equal>
  KOKKOS_FUNCTION bool holds(std::uint64_t i, Key const& key, Equal const& equal) const {
    return equal(key_at<Access>(i), key);
  }

  template <class T>
  KOKKOS_FUNCTION bool claim(std::uint64_t i, word free, query const& q, Key const& key,
                             [[maybe_unused]] T const& value) const {
    if (device::compare_and_swap(words(i), free, claimed_for(q)) != free) return false;
    assign<Key>(m_records[i].key, key);
    if constexpr (!std::is_same_v<Value, no_value>) assign<Value>(m_records[i].value, value);
    device::store_release(words(i), q.key);
    return true;
  }
  KOKKOS_FUNCTION bool erase(std::uint64_t i, word seen) const {
    return is_live(seen) && device::compare_and_swap(words(i), seen, erased_word()) == seen;
  }

  template <device::access Access>
  KOKKOS_FUNCTION Key key_at(std::uint64_t i) const {
    if constexpr (Access == device::access::frozen)
      return m_records[i].key;
    else
      return published_key(i);
  }
  KOKKOS_FUNCTION Value* value_at(std::uint64_t i) const { return &m_records[i].value; }

  // Slots without a key hold what default constructors make, or zero bytes.

  KOKKOS_FUNCTION void blank_key(std::uint64_t i) const { blank(m_records[i].key); }
  KOKKOS_FUNCTION void blank_record(std::uint64_t i) const {
    blank_key(i);
    if constexpr (!std::is_same_v<Value, no_value>) blank(m_records[i].value);
  }

  // On GPUs, std::pair has no functions but the trivial copy constructor.

  /// Sets x to what a default constructor makes, or to zero bytes.
  template <class T>
  KOKKOS_FUNCTION static void blank(T& x) {
    if constexpr (is_pair<T>) {
      blank(x.first);
      blank(x.second);
    } else if constexpr (std::is_default_constructible_v<T> &&
                         std::is_trivially_move_assignable_v<T>) {
      x = T();
    } else {
      auto* const bytes = reinterpret_cast<unsigned char*>(&x);
      for (std::size_t b = 0; b < sizeof(T); ++b) bytes[b] = 0;
      if constexpr (std::is_default_constructible_v<T> && std::is_move_assignable_v<T>)
        KOKKOS_IF_ON_HOST((x = T();))
    }
  }

 private:
  /// Assigns `from` to `to`; copies the bytes if the assignment is not trivial.
  template <class T>
  KOKKOS_FUNCTION static void assign(T& to, T const& from) {
    if constexpr (std::is_trivially_copy_assignable_v<T>)
      to = from;
    else
      copy<sizeof(T)>(from, to);
  }
  static constexpr word claimed = 1, live = 2;
  KOKKOS_FUNCTION static word claimed_for(query const& q) { return q.key ^ live ^ claimed; }

  struct boxed {
    Key key;
  };
  /// Storage of a key that no constructor initializes.
  union uninitialized_key {
    KOKKOS_FUNCTION uninitialized_key() {}
    Key key;
  };
  struct key_words {
    std::uint32_t word[(sizeof(Key) + 3) / 4];
  };
  /// Returns the key of a live slot while other threads write to other slots. GPUs read it past
  /// their L1 cache, which those writes do not reach.
  KOKKOS_FUNCTION Key published_key([[maybe_unused]] std::uint64_t i) const {
    key_words words{};
    KOKKOS_IF_ON_DEVICE((read_words(i, words);))
    KOKKOS_IF_ON_HOST((device::load_acquire(m_words + i); words = words_of_key(i);))
    if constexpr (std::is_trivially_copyable_v<Key>) {
      return from_bits<boxed>(words).key;
    } else {
      uninitialized_key made;  // a std::pair, which cannot be cast from bits
      copy<sizeof(Key)>(words, made.key);
      return made.key;
    }
  }
  KOKKOS_FUNCTION key_words words_of_key(std::uint64_t i) const {
    if constexpr (std::is_trivially_copyable_v<Key>) {
      return to_bits<key_words>(boxed{m_records[i].key});
    } else {
      key_words words{};
      copy<sizeof(Key)>(m_records[i].key, words);
      return words;
    }
  }
  template <std::size_t Bytes, class From, class To>
  KOKKOS_FUNCTION static void copy(From const& from, To& to) {
    auto const* const source = reinterpret_cast<unsigned char const*>(&from);
    auto* const target = reinterpret_cast<unsigned char*>(&to);
    for (std::size_t b = 0; b < Bytes; ++b) target[b] = source[b];
  }
  KOKKOS_FUNCTION void read_words(std::uint64_t i, key_words& words) const {
    device::order_used_reads();
    auto const* const from = reinterpret_cast<std::uint32_t const*>(&m_records[i].key);
    for (std::size_t w = 0; w < (sizeof(Key) + 3) / 4; ++w)
      words.word[w] = device::load_relaxed(from + w);
  }

  word* m_words = nullptr;
  record* m_records = nullptr;
  std::uint64_t m_slots = 0;
};

}  // namespace karpos::detail::unordered_map
