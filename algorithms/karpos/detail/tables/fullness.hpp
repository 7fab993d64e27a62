// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/lane_mask.hpp"

// A table's record of being full, which ends the search of each further key for a free slot early.
//
//   words     | full parts : 64 | next : 32 | unused : 32 | a bit for each part : 32, 32, … |
//             all zero in an empty table
//
// The table is cut into parts of 32 units, which are buckets or lines. An insertion whose search
// has become long inspects a few parts, round robin. A part without a free slot gets its bit, and
// is counted. Once all parts are counted, no slot of the table is free.

namespace karpos::detail {

class fullness {
  struct no_hook {
    KOKKOS_FUNCTION void operator()() const {}
  };

 public:
  static constexpr std::uint64_t part_units = 32;  ///< buckets or lines of a part

  /// Returns how many 32-bit words the record of `units` units takes: an even number. The first
  /// word is aligned to 8 bytes.
  KOKKOS_FUNCTION static constexpr std::uint64_t words_for(std::uint64_t units) {
    return units == 0 ? 0 : 4 + (bit_words_for(units) + 1) / 2 * 2;
  }
  /// Returns how many of these words contain the bits of parts.
  KOKKOS_FUNCTION static constexpr std::uint64_t bit_words_for(std::uint64_t units) {
    return (parts_of(units) + 31) / 32;
  }
  KOKKOS_FUNCTION fullness(std::uint32_t* words, std::uint64_t units)
      : m_words(words),
        m_units(units) {}

  /// Returns whether no slot is free. If so, everything is visible that the threads which took the
  /// last slots had released before.
  KOKKOS_FUNCTION bool is_full() const {
    return device::load_acquire(full_parts()) == parts_of(m_units);
  }

  /// Inspects the next n parts, or all if there are fewer; skips those that are known to be full.
  /// is_full(unit) returns true if no slot of the unit is free, and none can become free without a
  /// call of mark_free.
  template <class IsFull>
  KOKKOS_FUNCTION void inspect(std::uint32_t n, IsFull const& is_full) const {
    auto const parts = static_cast<std::uint32_t>(parts_of(m_units));
    std::uint32_t const first = device::fetch_add(m_words + 2, n);
    for (std::uint32_t i = 0; i < n && i < parts; ++i) inspect_part((first + i) % parts, is_full);
  }

  /// Notes that a slot of this unit is free. The calling thread has freed it before. `hook` runs
  /// in the middle of a change, so that tests can let other threads act there.
  template <class Hook = no_hook>
  KOKKOS_FUNCTION void mark_free(std::uint64_t unit, Hook const& hook = {}) const {
    device::fence_seq_cst();  // the slot is free before the bit is read; see inspect_part
    mark_part_free(unit / part_units, hook);
  }
  /// Does what `mark_free` does, if the calling thread has executed an atomic read-modify-write
  /// operation since it freed the slot. Costs no fence on x86.
  KOKKOS_FUNCTION void mark_free_after_update(std::uint64_t unit) const {
    device::fence_seq_cst_after_update();
    mark_part_free(unit / part_units, no_hook{});
  }
  /// Clears all bits in the i-th word of bits. Requires: erasures that did not call `mark_free`
  /// happened before; they ran in an earlier kernel.
  KOKKOS_FUNCTION void mark_parts_of_word_free(std::uint64_t i) const {
    device::fence_seq_cst();  // the slots are free before the bits are read; see inspect_part
    for (lane_mask<32> full(device::load_relaxed(bits_of(i * 32))); full;
         full = full.without_first())
      mark_part_free(i * 32 + static_cast<std::uint64_t>(full.first()), no_hook{});
  }

 private:
  KOKKOS_FUNCTION static constexpr std::uint64_t parts_of(std::uint64_t units) {
    return (units + part_units - 1) / part_units;
  }
  KOKKOS_FUNCTION std::uint64_t* full_parts() const {
    return reinterpret_cast<std::uint64_t*>(m_words);
  }
  KOKKOS_FUNCTION std::uint32_t* bits_of(std::uint64_t part) const {
    return m_words + 4 + part / 32;
  }
  KOKKOS_FUNCTION static std::uint32_t bit_of(std::uint64_t part) {
    return std::uint32_t(1) << part % 32;
  }

  template <class IsFull>
  KOKKOS_FUNCTION bool is_full_part(std::uint64_t part, IsFull const& is_full) const {
    std::uint64_t const begin = part * part_units, behind = begin + part_units,
                        end = behind < m_units ? behind : m_units;
    for (std::uint64_t unit = begin; unit < end; ++unit)
      if (!is_full(unit)) return false;
    return true;
  }
  /// Checks twice whether a part is full. The bit is set before the second check, and a slot is
  /// freed before `mark_free` reads the bit, each with a fence between. So either the second check
  /// sees the free slot, or `mark_free` sees the bit.
  template <class IsFull>
  KOKKOS_FUNCTION void inspect_part(std::uint64_t part, IsFull const& is_full) const {
    if ((device::load_relaxed(bits_of(part)) & bit_of(part)) != 0) return;
    if (!is_full_part(part, is_full)) return;
    device::acquire_fence();  // what was written before slots were taken is released with the count
    if ((device::fetch_or(bits_of(part), bit_of(part)) & bit_of(part)) != 0) return;
    device::fence_seq_cst();
    device::add_release(full_parts(), 1);
    if (!is_full_part(part, is_full)) mark_part_free(part, no_hook{});
  }
  template <class Hook>
  KOKKOS_FUNCTION void mark_part_free(std::uint64_t part, Hook const& hook) const {
    std::uint32_t const seen = device::load_relaxed(bits_of(part));
    if ((seen & bit_of(part)) != 0) clear(part, seen, hook);
  }
  /// Clears the bit of a part unless another thread does. A part is counted after its bit is set,
  /// and subtracted before its bit is cleared, so that the count is
  ///   set bits - (bits set, not counted yet) - (parts subtracted whose clear is not decided yet).
  /// It never exceeds the number of set bits: when all parts are counted, each has its bit. Below 0
  /// the count wraps around, and equals no number of parts.
  template <class Hook>
  KOKKOS_FUNCTION void clear(std::uint64_t part, std::uint32_t seen, Hook const& hook) const {
    device::add_release(full_parts(), ~std::uint64_t(0));
    device::release_fence();  // a thread that sets the bit again counts the part later
    hook();
    while ((seen & bit_of(part)) != 0) {
      std::uint32_t const before =
          device::compare_and_swap(bits_of(part), seen, seen & ~bit_of(part));
      if (before == seen) return;
      seen = before;
    }
    device::add_release(full_parts(), 1);  // another thread has cleared the bit
  }

  std::uint32_t* m_words;
  std::uint64_t m_units;
};

}  // namespace karpos::detail
