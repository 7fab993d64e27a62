// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"

// A hash table of keys in the scratch (shared memory) of a team (block) of a GPU: open addressing
// with linear probing. Values and counts of keys lie in other arrays, by slot
// (reduce_by_key/group_table.hpp, key_sampler.hpp, multi_table/group_partitions.hpp). Keys are
// mixed: every bit of a key depends on all bits of the user's.
//
//   keys   | . | k | . | k | k | . | k | . | … | . |       the last slot: for the key whose bits
//           bucket: 16 bytes                                equal the mark of an empty slot
//
// A probe reads a bucket. In a sparse table, which has few keys for its size, a search first probes
// one slot, which nearly always decides. Reads of 4 bytes per thread have half the bank conflicts.
// Nothing is erased while threads search, and every search has a limit of probes.

namespace karpos::detail {

/// Maps x to [0, n) by its high bits.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_high_bits(std::uint32_t x, std::uint32_t n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(x) * n >> 32);
}
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_high_bits(std::uint64_t x, std::uint32_t n) {
  return by_high_bits(static_cast<std::uint32_t>(x >> 32), n);
}
inline constexpr std::uint32_t golden_ratio = 0x9e3779b1;  // times 2^32

/// Maps x to [0, n) by its low bits, because the high ones chose the partition. 32-bit keys have
/// few bits besides those, so they are multiplied first (reduce_by_key/rows.hpp).
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_low_bits(std::uint32_t x, std::uint32_t n) {
  return by_high_bits(x * golden_ratio, n);
}
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t by_low_bits(std::uint64_t x, std::uint32_t n) {
  return by_high_bits(static_cast<std::uint32_t>(x), n);
}

/// Result of a search: the key's slot, unless the limit of probes was reached; whether the search
/// has claimed it.
struct scratch_slot {
  std::uint32_t index;
  bool present, claimed;
};

struct ignore_claim {
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint32_t) const {}
};

/// Merges a value into the one whose bits are a word of a team's scratch (a block's shared memory),
/// while other threads of the team do so, too.
template <class Word, class T, class Op>
KARPOS_STEP_FUNCTION void merge_in_scratch(Word* at, T const& value, Op const& op) {
  if constexpr (std::is_same_v<Op, plus> && std::is_integral_v<T>) {
    device::add(device::scratch(at), to_bits<Word>(value));
  } else {
    Word old = device::load_relaxed(device::scratch(at));
    for (;;) {
      Word const merged = to_bits<Word>(static_cast<T>(op(from_bits<T>(old), value)));
      if (merged == old) return;
      Word const found = device::compare_and_swap(device::scratch(at), old, merged);
      if (found == old) return;
      old = found;
    }
  }
}

/// A table of keys. If it has very few, the threads of a warp wait for each other at its slots. So
/// a sparse table may have columns, up to one per thread of a warp: slot i * columns + c is in
/// column c, and so in a memory bank of its own. Each thread has its home slots in one column. A
/// key may then have a slot in every column until merge_columns() is called.
template <class Bits, bool Sparse = false>
class scratch_table {
 public:
  static constexpr Bits empty = static_cast<Bits>(~Bits(0));
  /// Slots of a bucket, which are read at once.
  static constexpr int width = 16 / static_cast<int>(sizeof(Bits));

  /// Returns the bytes of a table, a multiple of 8, with a slot more for the key `empty`.
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return (std::size_t(slots + 1) + 1) / 2 * 2 * sizeof(Bits);
  }
  /// Returns a limit of probes that only a search for an absent key in a full table reaches: a
  /// probe either moves on to the next bucket, or has found a slot that another key took meanwhile.
  KOKKOS_FUNCTION static constexpr std::uint32_t max_probes(std::uint32_t slots) {
    return 2 * slots;
  }
  /// Requires: memory is aligned to 16 bytes, slots to a bucket.
  KOKKOS_FUNCTION scratch_table(std::byte* memory, std::uint32_t slots)
      : m_keys(reinterpret_cast<Bits*>(memory)),
        m_slots(slots) {}

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear(Team const& t) const {
    for (std::uint32_t i = device::rank(t); i <= m_slots; i += device::size(t)) m_keys[i] = empty;
  }

  /// Returns the slot of a key, or an empty slot that it claims, within `probes` probes of a slot
  /// or bucket. Calls on_claim(slot) if it claims one.
  template <class OnClaim = ignore_claim>
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot find_or_claim(Bits key, std::uint32_t probes,
                                                         OnClaim const& on_claim = {}) const {
    if (key == empty) return probe_slot(m_slots, 0, on_claim);
    if constexpr (Sparse)
      return find_or_claim_past_home(key, probe_home(key), probes, on_claim);
    else
      return find_or_claim_in_buckets(key, by_low_bits(key, m_slots / width), probes, on_claim);
  }

  /// The home slot of a key in a sparse table, and the bits found there.
  struct home_slot {
    std::uint32_t index;
    Bits stored;
  };
  KOKKOS_FORCEINLINE_FUNCTION home_slot probe_home(Bits key) const {
    std::uint32_t const i = by_low_bits(key, m_rows) * m_columns + m_column;
    return {i, device::load_relaxed(device::scratch(m_keys + i))};
  }
  /// Returns whether the home slot has the key. Never true for the key that equals `empty`.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_found(home_slot const& h, Bits key) {
    return h.stored == key && key != empty;
  }
  /// Finds or claims as above, after the home slot was read: a separate path, because it is rare
  /// and would part the threads of a warp.
  template <class OnClaim = ignore_claim>
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot find_or_claim_past_home(
      Bits key, home_slot const& h, std::uint32_t probes, OnClaim const& on_claim = {}) const {
    if (key == empty) return probe_slot(m_slots, 0, on_claim);
    if (h.stored == key) return {h.index, true, false};
    if (h.stored == empty) {
      scratch_slot const slot = claim(h.index, key, on_claim);
      if (slot.present) return slot;
    }
    return find_or_claim_in_buckets(key, h.index / width, probes, on_claim);
  }

  /// Divides the slots into columns. Requires: `columns` is a power of two that divides the number
  /// of slots; the table is empty.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void set_columns(Team const& t, std::uint32_t columns) {
    m_rows = m_slots / columns;
    m_columns = columns;
    m_column = device::rank(t) % columns;
  }
  /// Merges the slots of a key in neighbouring columns, pair by pair: calls merge(to, from), and
  /// empties slot `from`. Returns the number of slots that the thread has emptied. Has barriers.
  template <class Team, class Merge>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t merge_columns(Team const& t, Merge const& merge) const {
    std::uint32_t merged = 0;
    for (std::uint32_t apart = m_columns / 2; apart > 0; apart /= 2) {
      t.barrier();
      for (std::uint32_t i = device::rank(t); i < m_slots / 2; i += device::size(t)) {
        std::uint32_t const to = i / apart * 2 * apart + i % apart, from = to + apart;
        if (m_keys[from] == empty || m_keys[from] != m_keys[to]) continue;
        merge(to, from);
        m_keys[from] = empty;
        ++merged;
      }
    }
    return merged;
  }

  /// Returns the end of the slots' indices, [0, end()).
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t end() const { return m_slots + 1; }
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::uint32_t i) const {
    return i <= m_slots && m_keys[i] != empty;
  }
  /// Returns the key of a slot that has one.
  KOKKOS_FORCEINLINE_FUNCTION Bits key(std::uint32_t i) const {
    return i == m_slots ? empty : m_keys[i];
  }

 private:
  /// Searches from bucket b on. The slots of a bucket are claimed in order. A search that loses a
  /// slot to another key probes the bucket again.
  template <class OnClaim>
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot find_or_claim_in_buckets(Bits key, std::uint32_t b,
                                                                    std::uint32_t probes,
                                                                    OnClaim const& on_claim) const {
    for (std::uint32_t k = 0; k < probes; ++k) {
      Bits stored[width];
      device::load_relaxed(device::scratch(m_keys + b * width), stored);
      std::uint32_t s = first_of(stored, key);
      if (s < width) return {b * width + s, true, false};
      s = first_of(stored, empty);
      if (s < width) {
        scratch_slot const slot = claim(b * width + s, key, on_claim);
        if (slot.present) return slot;
      } else if (++b == m_slots / width) {
        b = 0;
      }
    }
    return {0, false, false};
  }
  /// Probes one slot, which holds `mark` if it is the key's slot.
  template <class OnClaim>
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot probe_slot(std::uint32_t i, Bits mark,
                                                      OnClaim const& on_claim) const {
    Bits const stored = device::load_relaxed(device::scratch(m_keys + i));
    if (stored == empty) return claim(i, mark, on_claim);
    return {i, stored == mark, false};
  }
  /// Claims an empty slot, unless another thread has claimed it.
  template <class OnClaim>
  KOKKOS_FORCEINLINE_FUNCTION scratch_slot claim(std::uint32_t i, Bits mark,
                                                 OnClaim const& on_claim) const {
    Bits const found = device::compare_and_swap(device::scratch(m_keys + i), empty, mark);
    if (found == empty) on_claim(i);
    return {i, found == empty || found == mark, found == empty};
  }
  /// Returns the first slot of a bucket that holds x, or `width`.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t first_of(Bits const (&stored)[width], Bits x) {
    std::uint32_t first = width;
    KARPOS_UNROLL
    for (int i = width - 1; i >= 0; --i)
      if (stored[i] == x) first = static_cast<std::uint32_t>(i);
    return first;
  }

  Bits* m_keys;
  std::uint32_t m_slots, m_rows = m_slots, m_columns = 1, m_column = 0;
};

}  // namespace karpos::detail
