// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/tables/open_addressing/table_segment.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::open_addressing {

/// The part of the step that places rows as if all keys were distinct: a counter for each bucket
/// says which slot comes next, which takes a quarter of the instructions of row by row.
template <class ExecSpace, class Table>
class fill_segment : public table_segment<ExecSpace, Table> {
  using base = table_segment<ExecSpace, Table>;

 protected:
  using typename base::bucket_keys;
  using typename base::key_bits;
  using typename base::layout;
  using typename base::order;
  using typename base::row;
  using typename base::segment;
  using typename base::tally;
  using mapped = typename Table::mapped_type;
  using base::all_live;
  using base::append_deferred;
  using base::batch;
  using base::bucket_slots;
  using base::copy_segment;
  using base::count_bits;
  using base::count_mask;
  using base::index_of;
  using base::keys_of;
  using base::load;
  using base::m_rows;
  using base::m_state;
  using base::m_table;
  using base::max_claims;
  using base::table_segment;
  using base::width;
  static constexpr std::uint32_t pair_slots = 2 * bucket_slots;

  /// Whether keys are equal exactly if their bits are: then rows may be placed first, and compared
  /// afterwards.
  static constexpr bool has_bit_equality =
      std::is_same_v<decltype(std::declval<Table const&>().holds(
                         std::declval<typename Table::key_type const&>())),
                     typename Table::protocol::has_key>;

  /// Places the rows of a segment, then looks for equal keys. Returns, on all threads, whether
  /// there are none, and no bucket had too many claims. If not, the segment must be read again, the
  /// first batch of rows is loaded again, and nothing is counted.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION bool try_fill(Team const& t, segment const& p, row (&rows)[batch],
                                            tally& all) const {
    begin_filling(t, p);
    tally done;
    bool fails = false;
    std::uint64_t deferred = 0;
    std::uint32_t const size = static_cast<std::uint32_t>(t.size()) * batch;
    std::uint32_t const batches = p.rows / size + (p.rows % size != 0);
    for (std::uint32_t b = 0; b < batches; ++b) {
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        if (index_of(t, b, j) < p.rows && !fails && !try_place(p, rows[j], done, fails))
          deferred |= std::uint64_t(1) << (b * batch + static_cast<std::uint32_t>(j));
        load(t, p, b + 1, j, rows[j]);
        t.template this_tile<width>().sync();
      }
    }
    t.barrier();
    fails |= has_equal_keys(t, p);
    for (std::uint64_t rest = deferred; rest != 0; rest &= rest - 1)
      fails |= mark_overflow(p, m_rows[p.first_row + index_of(t, 0, Kokkos::countr_zero(rest))]);
    if (t.any(fails)) {
      load(t, p, 0, rows);
      return false;
    }
    append_deferred(t, p, 0, deferred);
    all.inserted += done.inserted;
    all.invalid += done.invalid;
    return true;
  }
  /// Reads the segment unless the table is empty, and counts the taken slots. Ends with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void begin_filling(Team const& t, segment const& p) const {
    if (!m_state.is_empty) {
      copy_segment(t, p);
      t.barrier();
    }
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.buckets / 2;
         i += static_cast<std::uint32_t>(t.size()))
      p.pair_states[i] =
          m_state.is_empty ? 0 : bucket_state(p, 2 * i) | bucket_state(p, 2 * i + 1) << 16;
    t.barrier();
  }
  /// Returns the number of taken slots of a bucket, and its marks in the bits above.
  KOKKOS_FUNCTION std::uint32_t bucket_state(segment const& p, std::uint32_t bucket) const {
    bucket_keys const keys = keys_of(p, bucket);
    key_bits const empty = layout::key_of(m_table.slot().empty_slot());
    std::uint32_t count = 0;
    for (std::uint32_t s = 0; s < bucket_slots; ++s) count += keys.key[s] != empty;
    if constexpr (order::classes != 0)
      if (m_state.has_order && all_live(keys))
        count |= order::marks([&](int i) { return keys.key[i]; }) << count_bits;
    return count;
  }
  /// Puts a row into the next slot of its first pair, unless it belongs to another segment. Returns
  /// false if the pair is full.
  KOKKOS_FORCEINLINE_FUNCTION bool try_place(segment const& p, row const& r, tally& done,
                                             bool& fails) const {
    auto const key = open_addressing::key_of(r);
    std::uint64_t const hash = m_table.hash(key);
    std::uint32_t const home = m_table.home().narrow(hash) - p.first_bucket;
    if (home >= p.buckets) return true;
    if (m_table.reserved(key)) {
      ++done.invalid;
      return true;
    }
    std::uint32_t bucket = home;
    std::uint32_t slot = p.claim_slot(bucket);
    if (slot >= bucket_slots) {
      fails |= slot >= max_claims;
      bucket ^= 1;
      slot = p.claim_slot(bucket);
    }
    if (slot >= bucket_slots) {
      fails |= slot >= max_claims;
      return false;
    }
    p.keys[bucket * bucket_slots + slot] = layout::key_of(Table::protocol::item(key, mapped{}));
    if constexpr (layout::has_value)
      p.values[bucket * bucket_slots + slot] = layout::bits_of(r.value);
    ++done.inserted;
    return true;
  }
  /// Returns whether keys of one pair are equal, among the pairs of this thread. Empties the slots
  /// that are not taken.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION bool has_equal_keys(Team const& t, segment const& p) const {
    key_bits const empty = layout::key_of(m_table.slot().empty_slot()),
                   erased = m_table.slot().reserved_keys().erased;
    bool equal = false;
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.buckets / 2;
         i += static_cast<std::uint32_t>(t.size())) {
      bucket_keys keys[2] = {keys_of(p, 2 * i), keys_of(p, 2 * i + 1)};
      std::uint32_t const counts = p.pair_states[i];
      KARPOS_UNROLL
      for (std::uint32_t s = 0; s < pair_slots; ++s) {
        key_bits& key = keys[s / bucket_slots].key[s % bucket_slots];
        if (s % bucket_slots >= (counts >> s / bucket_slots * 16 & count_mask)) key = empty;
        bool same = false;
        KARPOS_UNROLL
        for (std::uint32_t before = 0; before < s; ++before)
          same = same | (key == keys[before / bucket_slots].key[before % bucket_slots]);
        equal = equal | (same & (key != empty) & (key != erased));
      }
      reinterpret_cast<bucket_keys*>(p.keys)[2 * i] = keys[0];
      reinterpret_cast<bucket_keys*>(p.keys)[2 * i + 1] = keys[1];
    }
    return equal;
  }
  /// Marks the class of a row that found its pair full. Returns whether its key is in the pair.
  KOKKOS_FORCEINLINE_FUNCTION bool mark_overflow(segment const& p, row const& r) const {
    auto const key = open_addressing::key_of(r);
    std::uint64_t const hash = m_table.hash(key);
    std::uint32_t const home = m_table.home().narrow(hash) - p.first_bucket;
    if constexpr (order::classes != 0) p.mark(home ^ 1, 1u << order::class_of(hash));
    auto const bits = layout::key_of(Table::protocol::item(key, mapped{}));
    bool there = false;
    for (std::uint32_t b = 0; b < 2; ++b) {
      bucket_keys const keys = keys_of(p, home ^ b);
      for (std::uint32_t s = 0; s < bucket_slots; ++s) there = there | (keys.key[s] == bits);
    }
    return there;
  }
};

}  // namespace karpos::detail::open_addressing
