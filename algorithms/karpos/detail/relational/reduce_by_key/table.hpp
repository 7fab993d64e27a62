// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/relational/reduce_by_key/mixed_bits.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/slot_values.hpp"
#include "karpos/device/atomics.hpp"

// A hash table of groups in the scratch (shared memory) of a team (block) of a GPU: open addressing
// with linear probing, keys and values in separate arrays. A probe reads a bucket: 16 bytes of
// keys. In a sparse table, which has few groups for its size, a row first probes one slot, which
// nearly always decides. Reads of 4 bytes per thread have half the bank conflicts.

namespace karpos::detail::reduce_by_key {

/// Result of a row's search: the slot of its key, or none. `claimed`: whether this row has claimed
/// the slot.
struct slot_of_row {
  std::uint32_t index;
  bool present, claimed;
};
/// Stands for no slot.
inline constexpr std::uint32_t no_slot = ~std::uint32_t(0);

/// A table of groups. If it has very few keys, the threads of a warp wait for each other at its
/// slots. So a sparse table may have columns, up to one per thread of a warp: slot i * columns + c
/// is in column c, and so in a memory bank of its own. Each thread has its home slots in one
/// column. A key may then have a slot in every column until merge_columns() is called.
template <class ExecSpace, class Row, bool Sparse = false>
class group_table {
  using bits = decltype(reduce_by_key::key_of(Row{}));
  using value = value_type<Row>;
  using values = slot_values<ExecSpace, value>;
  static constexpr bits empty = static_cast<bits>(~bits(0));
  /// Slots of a bucket, which are read at once.
  static constexpr int width = 16 / static_cast<int>(sizeof(bits));

 public:
  /// Returns the bytes of a table. The slot behind the last one is for the key whose bits equal
  /// `empty`.
  KOKKOS_FUNCTION static constexpr std::size_t bytes(std::uint32_t slots) {
    return key_bytes(slots) + value_bytes(slots);
  }
  /// Requires: memory is aligned to 16 bytes, slots to a bucket.
  KOKKOS_FUNCTION group_table(std::byte* memory, std::uint32_t slots)
      : m_values(memory + key_bytes(slots), slots + 1),
        m_keys(reinterpret_cast<bits*>(memory)),
        m_slots(slots) {}

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear(Team const& t) const {
    for (auto i = static_cast<std::uint32_t>(t.rank()); i <= m_slots;
         i += static_cast<std::uint32_t>(t.size()))
      m_keys[i] = empty;
  }
  /// Empties the table, and sets all values to the operation's identity. Then a row that claims a
  /// slot merges its value like every other row.
  template <class Op, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void clear_to_identity(Team const& t) const {
    clear(t);
    if constexpr (has_value<Row>)
      for (auto i = static_cast<std::uint32_t>(t.rank()); i <= m_slots;
           i += static_cast<std::uint32_t>(t.size()))
        m_values.store(i, identity_of<Op, value>::get());
  }

  /// Returns the slot of the row's key, or an empty slot that it claims, within `probes` probes of
  /// a slot or bucket. The row that claims a slot stores its value if Stores is true. Other rows
  /// merge theirs after a barrier.
  template <bool Stores = true>
  KOKKOS_FORCEINLINE_FUNCTION slot_of_row find_or_claim(Row const& r, std::uint32_t probes) const {
    bits const key = reduce_by_key::key_of(r);
    if (key == empty) return probe_slot<Stores>(r, m_slots, 0);
    if constexpr (Sparse)
      return find_or_claim_past_home<Stores>(r, probe_home(r), probes);
    else
      return find_or_claim_in_buckets<Stores>(r, home(key, m_slots / width), probes);
  }

  /// The home slot of a row's key in a sparse table, and the bits found there.
  struct home_slot {
    std::uint32_t index;
    bits stored;
  };
  KOKKOS_FORCEINLINE_FUNCTION home_slot probe_home(Row const& r) const {
    std::uint32_t const i = home(reduce_by_key::key_of(r), m_rows) * m_columns + m_column;
    return {i, device::load_relaxed(device::scratch(m_keys + i))};
  }
  /// Returns whether the home slot has the row's key. Never true for the key whose bits equal
  /// `empty`.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_found(home_slot const& h, Row const& r) {
    bits const key = reduce_by_key::key_of(r);
    return h.stored == key && key != empty;
  }
  /// Does what find_or_claim does for a row whose home slot has been read. This rare path is
  /// separate, so that the threads of a warp stay together.
  template <bool Stores>
  KOKKOS_FORCEINLINE_FUNCTION slot_of_row find_or_claim_past_home(Row const& r, home_slot const& h,
                                                                  std::uint32_t probes) const {
    bits const key = reduce_by_key::key_of(r);
    if (key == empty) return probe_slot<Stores>(r, m_slots, 0);
    if (h.stored == key) return {h.index, true, false};
    if (h.stored == empty) {
      slot_of_row const slot = claim<Stores>(r, h.index, key);
      if (slot.present) return slot;
    }
    return find_or_claim_in_buckets<Stores>(r, h.index / width, probes);
  }

  /// Merges a value into the value of a slot.
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::uint32_t i, value const& v, Op const& op) const {
    m_values.merge(i, v, op);
  }

  /// Divides the slots into columns. Requires: `columns` is a power of two that divides the number
  /// of slots; the table is empty.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void set_columns(Team const& t, std::uint32_t columns) {
    m_rows = m_slots / columns;
    m_columns = columns;
    m_column = static_cast<std::uint32_t>(t.rank()) % columns;
  }
  /// Merges the groups of a key in neighbouring columns, pair by pair. Returns the number of slots
  /// that the thread has emptied. Has barriers.
  template <class Team, class Op>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t merge_columns(Team const& t, Op const& op) const {
    std::uint32_t merged = 0;
    for (std::uint32_t apart = m_columns / 2; apart > 0; apart /= 2) {
      t.barrier();
      for (auto i = static_cast<std::uint32_t>(t.rank()); i < m_slots / 2;
           i += static_cast<std::uint32_t>(t.size())) {
        std::uint32_t const to = i / apart * 2 * apart + i % apart, from = to + apart;
        if (m_keys[from] == empty || m_keys[from] != m_keys[to]) continue;
        if constexpr (has_value<Row>) merge(to, m_values.get(from), op);
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
  KOKKOS_FORCEINLINE_FUNCTION Row get(std::uint32_t i) const {
    bits const key = i == m_slots ? empty : m_keys[i];
    if constexpr (has_value<Row>)
      return {key, m_values.get(i)};
    else
      return key;
  }

 private:
  /// Returns the key's home slot, or home bucket, among n. Not by the bits that chose the
  /// partition.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t home(bits key, std::uint32_t n) {
    return by_low_bits(key, n);
  }
  /// Searches from bucket b on. The slots of a bucket are claimed in order. A row that loses a slot
  /// to another key probes the bucket again.
  template <bool Stores>
  KOKKOS_FORCEINLINE_FUNCTION slot_of_row find_or_claim_in_buckets(Row const& r, std::uint32_t b,
                                                                   std::uint32_t probes) const {
    bits const key = reduce_by_key::key_of(r);
    for (std::uint32_t k = 0; k < probes; ++k) {
      bits stored[width];
      device::load_relaxed(device::scratch(m_keys + b * width), stored);
      std::uint32_t s = first_of(stored, key);
      if (s < width) return {b * width + s, true, false};
      s = first_of(stored, empty);
      if (s < width) {
        slot_of_row const slot = claim<Stores>(r, b * width + s, key);
        if (slot.present) return slot;
      } else if (++b == m_slots / width) {
        b = 0;
      }
    }
    return {0, false, false};
  }
  /// Probes one slot, which holds `mark` if it is the row's slot.
  template <bool Stores>
  KOKKOS_FORCEINLINE_FUNCTION slot_of_row probe_slot(Row const& r, std::uint32_t i,
                                                     bits mark) const {
    bits const stored = device::load_relaxed(device::scratch(m_keys + i));
    if (stored == empty) return claim<Stores>(r, i, mark);
    return {i, stored == mark, false};
  }
  /// Claims an empty slot for the row, unless another row has claimed it.
  template <bool Stores>
  KOKKOS_FORCEINLINE_FUNCTION slot_of_row claim(Row const& r, std::uint32_t i, bits mark) const {
    bits const found = device::compare_and_swap(device::scratch(m_keys + i), empty, mark);
    if constexpr (Stores && has_value<Row>)
      if (found == empty) m_values.store(i, r.value);
    return {i, found == empty || found == mark, found == empty};
  }
  /// Returns the first slot of a bucket that holds x, or `width`.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t first_of(bits const (&stored)[width], bits x) {
    std::uint32_t first = width;
    KARPOS_UNROLL
    for (int i = width - 1; i >= 0; --i)
      if (stored[i] == x) first = static_cast<std::uint32_t>(i);
    return first;
  }

  KOKKOS_FUNCTION static constexpr std::size_t key_bytes(std::uint32_t slots) {
    return round_up_to_even(slots + 1) * sizeof(bits);
  }
  KOKKOS_FUNCTION static constexpr std::size_t value_bytes(std::uint32_t slots) {
    return has_value<Row> ? values::bytes(slots + 1) : 0;
  }

  values m_values;
  bits* m_keys;
  std::uint32_t m_slots, m_rows = m_slots, m_columns = 1, m_column = 0;
};

}  // namespace karpos::detail::reduce_by_key
