// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/lane_mask.hpp"

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

namespace karpos::detail::unordered_map {

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
