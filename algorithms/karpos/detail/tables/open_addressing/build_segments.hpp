// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/tables/open_addressing/table_segment.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail::open_addressing {

/// Returns the first slot of a bucket whose key was read as `empty`, or N. (The number of taken
/// slots may be another one: keys are read one after the other, so a slot behind an empty one may
/// already be read as taken.) The empty slot may be taken by now, by another thread with the same
/// key.
template <class Key, std::size_t N>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t first_empty(Key const (&seen)[N], Key empty) {
  auto first = static_cast<std::uint32_t>(N);
  KARPOS_UNROLL
  for (std::uint32_t s = 0; s < N; ++s) first = seen[s] == empty ? Kokkos::min(first, s) : first;
  return first;
}

/// Step for GPUs: inserts rows that are split into partitions (run.hpp), each into its first pair
/// of buckets, or into its second if that is in the same segment. A row whose pairs are full is
/// deferred. If the table has_order, full buckets are written in the order of keys that says which
/// classes have rows beyond the pair (marks.hpp).
template <class ExecSpace, class Table, class Combine>
class build_segments : public table_segment<ExecSpace, Table> {
  using base = table_segment<ExecSpace, Table>;
  using typename base::bucket_keys, typename base::key_bits, typename base::layout,
      typename base::order, typename base::row, typename base::segment, typename base::tally,
      typename base::value_bits;
  using mapped = typename Table::mapped_type;
  using base::append_deferred, base::batch, base::bucket_slots, base::count_bits, base::count_mask,
      base::index_of, base::keys_of, base::load, base::m_counts, base::m_plan, base::m_rows,
      base::m_state, base::m_table, base::width;
  static constexpr std::uint32_t pair_slots = 2 * bucket_slots;

  /// Whether equal keys have equal bits: then rows may be placed first, and compared afterwards.
  static constexpr bool has_bit_equality =
      std::is_same_v<decltype(std::declval<Table const&>().holds(
                         std::declval<typename Table::key_type const&>())),
                     typename Table::protocol::has_key>;
  static constexpr bool merges = layout::has_value && !std::is_same_v<Combine, keep_stored>;
  static constexpr int rounds = 64 / batch;
  /// Value of `found` for a row whose key was not stored before.
  static constexpr std::uint32_t no_slot = ~std::uint32_t(0);

 public:
  build_segments(Table const& table, segment_plan const& plan,
                 partition::partitioned_rows<row const> const& rows,
                 deferred_rows<row> const& deferred, segment_counts* counts, table_state state,
                 Combine const& combine)
      : base(table, plan, rows, deferred, counts, state),
        m_combine(combine) {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (m_counts->skewed != 0) return;
    auto const segments =
        static_cast<std::uint64_t>(m_plan.passes.partitions * m_plan.segments_per_partition);
    tally all;
    row rows[batch];
    bool can_fill = has_bit_equality;
    segment p = this->segment_at(t, static_cast<std::uint64_t>(t.league_rank()));
    load(t, p, 0, rows);
    for (auto i = static_cast<std::uint64_t>(t.league_rank()); i < segments;) {
      can_fill = can_fill &&
                 p.rows <= base::max_deferred_rows * static_cast<std::uint32_t>(t.size()) &&
                 try_fill(t, p, rows, all);
      if (!can_fill) {
        this->read_segment(t, p);
        add_rows(t, p, rows, all);
      }
      i += static_cast<std::uint64_t>(t.league_size());
      this->sort_buckets(t, p);
      segment const next = this->segment_at(t, Kokkos::min(i, segments - 1));
      if (i < segments) load(t, next, 0, rows);  // overlaps with writing this segment
      this->write_segment(t, p);
      t.barrier();
      p = next;
    }
    this->add_counts(t, p, all);
  }

 private:
  // Filling: rows are placed as if all keys were distinct. A counter for each bucket says which
  // slot comes next, which takes a quarter of the instructions of row by row. Once all rows have
  // tried their first pair, those that found it full try their second.

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
    forget(rows);
    fails |= has_equal_keys(t, p);
    t.barrier();
    // The next row is loaded before one is placed.
    row next{};
    auto const load_next = [&](std::uint64_t bits) {
      if (bits != 0) next = m_rows[p.first_row + index_of(t, 0, Kokkos::countr_zero(bits))];
    };
    load_next(deferred);
    for (std::uint64_t rest = deferred; rest != 0;) {
      row const r = next;
      std::uint64_t const bit = rest & (~rest + 1);
      rest ^= bit;
      load_next(rest);
      outcome const o = place_beyond_first(p, r);
      fails |= o == outcome::existing;
      done.inserted += o == outcome::inserted;
      if (o == outcome::inserted) deferred ^= bit;
    }
    if (t.any(fails)) {
      load(t, p, 0, rows);
      return false;
    }
    append_deferred(t, p, 0, deferred);
    all.inserted += done.inserted;
    all.invalid += done.invalid;
    return true;
  }
  /// Overwrites rows that are not needed, which would lie in registers until they are loaded again.
  KOKKOS_FORCEINLINE_FUNCTION static void forget(row (&rows)[batch]) {
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) rows[j] = row{};
  }
  /// Reads the segment unless the table is empty, and counts the taken slots. Ends with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void begin_filling(Team const& t, segment const& p) const {
    if (!m_state.is_empty) {
      this->copy_segment(t, p);
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
      if (m_state.has_order && this->all_live(keys))
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
      fails |= slot >= base::max_claims;
      bucket ^= 1;
      slot = p.claim_slot(bucket);
    }
    if (slot >= bucket_slots) {
      fails |= slot >= base::max_claims;
      return false;
    }
    p.keys[bucket * bucket_slots + slot] = layout::key_of(Table::protocol::item(key, mapped{}));
    if constexpr (layout::has_value)
      p.values[bucket * bucket_slots + slot] = layout::bits_of(r.value);
    ++done.inserted;
    return true;
  }
  /// Returns whether a pair of this thread has equal keys. Empties the slots that are not taken.
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
  /// Puts a row that found its first pair full into its second, unless its key is in one of them.
  KOKKOS_FORCEINLINE_FUNCTION outcome place_beyond_first(segment const& p, row const& r) const {
    auto const key = open_addressing::key_of(r);
    std::uint64_t const hash = m_table.hash(key);
    std::uint32_t const home = m_table.home().narrow(hash) - p.first_bucket;
    auto const bits = layout::key_of(Table::protocol::item(key, mapped{}));
    bool there = false;
    for (std::uint32_t b = 0; b < 2; ++b) {
      bucket_keys const keys = keys_of(p, home ^ b);
      for (std::uint32_t s = 0; s < bucket_slots; ++s) there = there | (keys.key[s] == bits);
    }
    if (there) return outcome::existing;
    std::uint32_t found = no_slot;
    return place_in_second(p, r, hash, home, found);
  }

  // Row by row, if keys may be equal.

  /// Adds the rows of a segment, whose first batch is loaded, or defers them. Ends with a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(Team const& t, segment const& p, row (&rows)[batch],
                                            tally& done) const {
    std::uint32_t const size = static_cast<std::uint32_t>(t.size()) * batch;
    std::uint32_t const batches = p.rows / size + (p.rows % size != 0);
    std::uint64_t deferred = 0;
    for (std::uint32_t b = 0; b < batches; ++b) {
      std::uint32_t found[batch];
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        found[j] = no_slot;
        bool const there = index_of(t, b, j) < p.rows;
        if (there && !add(p, rows[j], found[j], done))
          deferred |= std::uint64_t(1) << (b % rounds * batch + static_cast<std::uint32_t>(j));
        if constexpr (!merges) load(t, p, b + 1, j, rows[j]);
        t.template this_tile<width>().sync();
      }
      if constexpr (merges) {
        t.barrier();  // threads that claimed a slot have stored its value
        KARPOS_UNROLL
        for (int j = 0; j < batch; ++j)
          if (found[j] != no_slot) merge(p, found[j], rows[j]);
        load(t, p, b + 1, rows);
      }
      if (b % rounds == rounds - 1 || b + 1 == batches) {
        append_deferred(t, p, b / rounds * rounds, deferred);
        deferred = 0;
      }
    }
  }
  /// Puts a row into its first pair or its second, unless it belongs to another segment. Returns
  /// false if it is deferred. `found` becomes the slot of a key that was stored before.
  KOKKOS_FORCEINLINE_FUNCTION bool add(segment const& p, row const& r, std::uint32_t& found,
                                       tally& done) const {
    auto const key = open_addressing::key_of(r);
    std::uint64_t const hash = m_table.hash(key);
    std::uint32_t const home = m_table.home().narrow(hash) - p.first_bucket;
    if (home >= p.buckets) return true;  // in another segment of the partition
    if (m_table.reserved(key)) {
      ++done.invalid;
      return true;
    }
    outcome o = place_in_pair(p, r, home, found);
    if (o == outcome::full) o = place_in_second(p, r, hash, home, found);
    if (o == outcome::full) return false;
    done.inserted += o == outcome::inserted;
    done.existing += o == outcome::existing;
    return true;
  }
  /// Puts a row that found its first pair full into its second, if that is in this segment. Sets
  /// the marks of the full pairs.
  KOKKOS_FORCEINLINE_FUNCTION outcome place_in_second(segment const& p, row const& r,
                                                      std::uint64_t hash, std::uint32_t home,
                                                      std::uint32_t& found) const {
    if constexpr (order::classes != 0) p.mark(home ^ 1, 1u << order::class_of(hash));
    std::uint64_t const first = (p.first_bucket + home) / 2,
                        second = m_table.second_pair(hash, first);
    if (!m_plan.are_near(first, second)) return outcome::full;
    auto const bucket = 2 * static_cast<std::uint32_t>(second) - p.first_bucket + (~home & 1);
    outcome const o = place_in_pair(p, r, bucket, found);
    if (o == outcome::full) m_table.set_mark(second, hash);
    return o;
  }
  KOKKOS_FORCEINLINE_FUNCTION outcome place_in_pair(segment const& p, row const& r,
                                                    std::uint32_t bucket,
                                                    std::uint32_t& found) const {
    outcome const o = place(p, r, bucket, found);
    return o == outcome::full ? place(p, r, bucket ^ 1, found) : o;
  }
  /// Claims the first empty slot of a bucket, unless the key is stored there. Compares all keys
  /// before it claims a slot, for otherwise threads of a warp would claim one after another.
  KOKKOS_FORCEINLINE_FUNCTION outcome place(segment const& p, row const& r, std::uint32_t bucket,
                                            std::uint32_t& found) const {
    auto const key = open_addressing::key_of(r);
    auto const holds = m_table.holds(key);
    auto const matches = [&](key_bits stored) { return holds(layout::pack(stored, 0)); };
    auto const bits = layout::key_of(Table::protocol::item(key, mapped{}));
    key_bits const empty = layout::key_of(m_table.slot().empty_slot());
    bucket_keys const seen = keys_of(p, bucket);
    std::uint32_t const first = bucket * bucket_slots;
    KARPOS_UNROLL
    for (std::uint32_t s = 0; s < bucket_slots; ++s)
      if (matches(seen.key[s])) found = first + s;
    if (found != no_slot) return outcome::existing;
    for (std::uint32_t at = first + first_empty(seen.key, empty); at < first + bucket_slots; ++at) {
      key_bits const stored = device::compare_and_swap(device::scratch(p.keys + at), empty, bits);
      if (stored == empty) {
        if constexpr (layout::has_value) p.values[at] = layout::bits_of(r.value);
        return outcome::inserted;
      }
      if (matches(stored)) {
        found = at;
        return outcome::existing;
      }
    }
    return outcome::full;
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge(segment const& p, std::uint32_t slot, row const& r) const {
    value_bits* const at = p.values + slot;
    if constexpr (std::is_same_v<Combine, replace_stored>) {
      *at = layout::bits_of(r.value);
    } else {
      merge_in_scratch(at, static_cast<mapped>(r.value), m_combine);
    }
  }

  Combine m_combine;
};

}  // namespace karpos::detail::open_addressing
