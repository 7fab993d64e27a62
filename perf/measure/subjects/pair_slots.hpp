// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/outcome.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Slots that hold a pair or are empty, for tables written from published descriptions: pairs of
/// 4 + 4 bytes in one word, of 8 + 8 bytes in two. No key is all ones (key_sequence). A kernel that
/// reads values starts after the one that stored them has ended.
template <class Key>
class pair_slots {
  static constexpr int slot_words = sizeof(Key) == 4 ? 1 : 2;
  static constexpr std::uint64_t empty = ~std::uint64_t(0);

 public:
  pair_slots() = default;
  explicit pair_slots(std::uint64_t n)
      : m_words(make_array<std::uint64_t>("slots", n * slot_words)) {}

  KOKKOS_FUNCTION std::uint64_t count() const { return m_words.extent(0) / slot_words; }
  std::size_t bytes() const { return m_words.extent(0) * sizeof(std::uint64_t); }
  void clear(space const& exec) const { Kokkos::deep_copy(exec, m_words, empty); }

  /// Stores the pair if the slot is empty. Returns inserted; existing, if the slot holds the key;
  /// full, if it holds another key.
  KOKKOS_FUNCTION outcome insert(std::uint64_t slot, Key key, Key value) const {
    std::uint64_t* const word = &m_words(slot * slot_words);
    std::uint64_t before = device::load_relaxed(word);
    if (before == empty) before = device::compare_and_swap(word, empty, first_word(key, value));
    if (before != empty) return key_in(before) == key ? outcome::existing : outcome::full;
    if constexpr (slot_words == 2) word[1] = value;
    return outcome::inserted;
  }
  KOKKOS_FUNCTION bool is_empty(std::uint64_t slot) const {
    return m_words(slot * slot_words) == empty;
  }
  /// Returns whether the slot holds the key, and then writes its value.
  KOKKOS_FUNCTION bool find(std::uint64_t slot, Key key, Key& value) const {
    std::uint64_t const word = m_words(slot * slot_words);
    if (word == empty || key_in(word) != key) return false;
    if constexpr (slot_words == 2)
      value = m_words(slot * slot_words + 1);
    else
      value = static_cast<Key>(word);
    return true;
  }
  KOKKOS_FUNCTION void erase(std::uint64_t slot) const { m_words(slot * slot_words) = empty; }

 private:
  KOKKOS_FUNCTION static std::uint64_t first_word(Key key, Key value) {
    return slot_words == 2 ? key : static_cast<std::uint64_t>(key) << 32 | value;
  }
  KOKKOS_FUNCTION static Key key_in(std::uint64_t word) {
    return static_cast<Key>(slot_words == 2 ? word : word >> 32);
  }

  array<std::uint64_t> m_words;
};

template <class Key>
struct count_used_slots {
  pair_slots<Key> slots;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& used) const {
    used += !slots.is_empty(i);
  }
};
template <class Key>
std::uint64_t used_slots(space const& exec, pair_slots<Key> const& slots) {
  std::uint64_t used = 0;
  Kokkos::parallel_reduce("karpos::perf::used_slots", range(exec, slots.count()),
                          count_used_slots<Key>{slots}, used);
  return used;
}

}  // namespace karpos::perf
