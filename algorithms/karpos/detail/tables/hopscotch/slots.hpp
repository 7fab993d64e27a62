// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::hopscotch {

/// The states of the slots of a line. A slot is empty; busy, that is reserved by one thread; or
/// holds a pair, and then only the thread that holds the lock of the key changes it.
///
///   8 bytes    | value | key |       filled, changed and emptied by writing the word
///   16 bytes   hi: value, lo: key    reserved, then hi and lo are written in this order; the
///                                    line's version grows before a removed pair's slot is used
///                                    again
///
/// Every write of a slot is a release by a thread that has acquired all earlier writes of the slot.
/// So a reader that sees a later value of a slot that a pair was moved out of, and then executes an
/// acquire fence, sees the pair's new bit and copy.
template <class Key, class T>
class slot_states : public slot_protocol<Key, T, false> {
  using base = slot_protocol<Key, T, false>;

 public:
  using layout = typename base::layout;
  using word = typename base::word;
  using key_bits = typename base::key_bits;
  static constexpr bool wide = std::is_same_v<word, device::word16>;

  slot_states() = default;
  explicit slot_states(sentinels<key_bits> s) : base(s) {}

  /// Returns the part of a word that says the state of a slot: the word, or its low half.
  KOKKOS_FUNCTION static std::uint64_t* state(word* slot) {
    if constexpr (wide)
      return &slot->lo;
    else
      return slot;
  }
  KOKKOS_FUNCTION static std::uint64_t state_of(word slot) {
    if constexpr (wide)
      return slot.lo;
    else
      return slot;
  }
  KOKKOS_FUNCTION static std::uint64_t* hop_word(word* line) { return state(line); }
  KOKKOS_FUNCTION static std::uint64_t hop_word_of(word head) { return state_of(head); }
  /// Returns the head of a line: a hop word, and in wide lines a version.
  KOKKOS_FUNCTION static word head(std::uint64_t hop_word) {
    if constexpr (wide)
      return {hop_word, 0};
    else
      return hop_word;
  }
  /// Returns the version of a wide line, which grows when a pair leaves one of its slots.
  KOKKOS_FUNCTION static std::uint64_t* version(word* line) { return hop_word(line) + 1; }

  KOKKOS_FUNCTION word busy_slot() const { return layout::pack(this->reserved_keys().busy, 0); }

  /// Reserves an empty slot for this thread. Returns whether it was empty.
  KOKKOS_FUNCTION bool reserve(word* slot) const {
    std::uint64_t const empty = state_of(this->empty_slot());
    return device::compare_and_swap_acquire(state(slot), empty, state_of(busy_slot())) == empty;
  }
  /// Puts a pair into a slot that this thread has reserved: from here on readers see the pair.
  KOKKOS_FUNCTION void fill(word* slot, word pair) const {
    if constexpr (wide) device::store_release(&slot->hi, pair.hi);
    device::store_release(state(slot), state_of(pair));
  }
  /// Reserves and fills a slot of the home line. Returns whether it was empty.
  KOKKOS_FUNCTION bool try_fill(word* slot, word pair) const {
    if constexpr (wide) {
      if (!reserve(slot)) return false;
      fill(slot, pair);
      return true;
    } else {
      return device::compare_and_swap_after_reads(slot, this->empty_slot(), pair) ==
             this->empty_slot();
    }
  }
  /// Removes a pair and keeps its slot reserved, unless the slot does not hold the key of `seen`.
  /// Returns whether it did. Requires: this thread holds the lock of the key.
  KOKKOS_FUNCTION bool reserve_full(word* slot, word seen, word* line) const {
    if constexpr (wide) {
      if (device::compare_and_swap_acquire(&slot->lo, seen.lo, this->reserved_keys().busy) !=
          seen.lo)
        return false;
      device::add_release(version(line), 1);
      return true;
    } else {
      return exchange(slot, seen, busy_slot());
    }
  }
  /// Puts a pair into an empty slot, or empties the slot of a pair. Returns whether the slot was as
  /// seen. Requires: the slot is of the home line, and this thread holds the lock of the key.
  KOKKOS_FUNCTION bool replace(word* slot, word seen, word by, word* line) const {
    if constexpr (!wide) {
      return device::compare_and_swap_after_reads(slot, seen, by) == seen;
    } else {
      if (seen == this->empty_slot()) return try_fill(slot, by);
      if (!reserve_full(slot, seen, line)) return false;
      release(slot);
      return true;
    }
  }
  /// Empties a slot that this thread has reserved.
  KOKKOS_FUNCTION void release(word* slot) const {
    device::store_release(state(slot), state_of(this->empty_slot()));
  }
  /// Reserves the slot of a pair that was copied to another. Requires: this thread holds its lock.
  KOKKOS_FUNCTION void vacate(word* slot, [[maybe_unused]] word* line) const {
    device::store_release(state(slot), state_of(busy_slot()));
    if constexpr (wide) device::add_release(version(line), 1);
  }
  /// Replaces the value of a pair. Requires: this thread holds the lock of the key.
  KOKKOS_FUNCTION void assign(word* slot, word pair) const {
    if constexpr (wide)
      device::store_release(&slot->hi, pair.hi);
    else
      device::store_release(slot, pair);
  }

 private:
  /// Replaces the word of a slot if its key, not its value, is as seen. Returns whether it did.
  KOKKOS_FUNCTION static bool exchange(word* slot, word seen, word to) {
    auto const key = layout::key_of(seen);
    while (layout::key_of(seen) == key) {
      word const before = device::compare_and_swap_acquire(slot, seen, to);
      if (before == seen) return true;
      seen = before;
    }
    return false;
  }
};

}  // namespace karpos::detail::hopscotch
