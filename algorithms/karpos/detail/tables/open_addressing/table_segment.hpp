// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/tables/open_addressing/plan.hpp"
#include "karpos/detail/tables/open_addressing/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/outcome.hpp"

// A segment of an open-addressing table in a team's scratch (CUDA: a block's shared memory), and
// the rows that are inserted into it.
//
//   scratch   | counters | keys of bucket 0, 1, … | values likewise | states of pairs |
//   state     | bucket 1: classes beyond the pair, number of claims | bucket 0: likewise |  32 bits
//
// This file reads a segment, orders its keys and writes it back; build_segments.hpp inserts rows.

namespace karpos::detail::open_addressing {

/// Facts about a table before an insertion.
struct table_state {
  bool is_empty;  // no slot was ever used
  /// The order of keys marks what lies beyond pairs, and shall go on to do so (marks.hpp).
  bool has_order;
};

/// The part of the step that knows how segments lie in the table and in scratch.
template <class ExecSpace, class Table>
class table_segment {
 protected:
  using tuned = tuning<ExecSpace>;
  using row = row_of<Table>;
  using layout = typename Table::layout;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using value_bits = typename layout::value_bits;
  using order = typename Table::order;
  static constexpr std::uint32_t bucket_slots = Table::bucket_slots;
  static constexpr int batch = tuned::segment_batch(sizeof(row));
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));

 public:
  static constexpr int threads = tuned::segment_threads, teams_at_once = tuned::segment_teams;
  static constexpr std::size_t scratch_bytes = tuned::segment_scratch_bytes;

 protected:
  struct alignas(bucket_slots * sizeof(key_bits) % 16 == 0 ? 16 : sizeof(key_bits)) bucket_keys {
    key_bits key[bucket_slots];
  };
  /// Slots that a thread reads and writes at once: 16 bytes of them, or one.
  static constexpr std::uint32_t group_slots =
      bucket_slots * sizeof(word) % 16 == 0 ? 16 / sizeof(word) : 1;
  struct alignas(group_slots * sizeof(word)) slot_group {
    word slot[group_slots];
  };
  struct alignas(group_slots * sizeof(key_bits)) key_group {
    key_bits key[group_slots];
  };
  struct alignas(group_slots * sizeof(value_bits)) value_group {
    value_bits value[group_slots];
  };
  /// A team's segment, and the rows of its partition.
  struct segment {
    std::uint64_t first_row;
    std::uint32_t rows, first_bucket, buckets;
    std::uint32_t* counts;
    /// 16 bits for each bucket: slots taken, and the other bucket's classes beyond the pair.
    std::uint32_t* pair_states;
    key_bits* keys;
    value_bits* values;

    KOKKOS_FUNCTION std::uint32_t slots() const { return buckets * bucket_slots; }
    KOKKOS_FUNCTION std::uint32_t marks(std::uint32_t bucket) const {
      return pair_states[bucket / 2] >> (bucket % 2 * 16 + count_bits) &
             ((1u << order::classes) - 1);
    }
    KOKKOS_FUNCTION void mark(std::uint32_t bucket, std::uint32_t classes) const {
      device::set_bits(device::scratch(pair_states + bucket / 2),
                       classes << (bucket % 2 * 16 + count_bits));
    }
    /// Claims a slot. Returns the number of earlier claims: the slot, unless the bucket is full.
    KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_slot(std::uint32_t bucket) const {
      std::uint32_t const shift = bucket % 2 * 16;
      return device::fetch_add(device::scratch(pair_states + bucket / 2), 1u << shift) >> shift &
             count_mask;
    }
  };
  static constexpr int count_bits = 11;
  static constexpr std::uint32_t count_mask = (1u << count_bits) - 1;
  /// Claims in one bucket before filling fails. Each thread of a team may then claim once more.
  static constexpr std::uint32_t max_claims = 512;
  static_assert(max_claims + threads <= (1 << count_bits) && order::classes <= 16 - count_bits);
  /// Rows of a thread that one word has bits for.
  static constexpr std::uint32_t max_deferred_rows = 64;
  /// The counters of a thread.
  struct tally {
    std::uint32_t inserted = 0, existing = 0, invalid = 0;
  };

  table_segment(Table const& table, segment_plan const& plan,
                partition::partitioned_rows<row const> const& rows,
                deferred_rows<row> const& deferred, segment_counts* counts, table_state state)
      : m_table(table),
        m_plan(plan),
        m_split(rows),
        m_rows(rows.rows),
        m_deferred(deferred),
        m_counts(counts),
        m_state(state) {}

  template <class Team>
  KOKKOS_FUNCTION segment segment_at(Team const& t, std::uint64_t index) const {
    std::uint64_t const partition = index / m_plan.segments_per_partition;
    std::uint64_t const begin = partition * m_plan.partition_pairs,
                        end = Kokkos::min(begin + m_plan.partition_pairs, m_plan.pairs);
    std::uint64_t const first =
        Kokkos::min(begin + index % m_plan.segments_per_partition * m_plan.segment_pairs, end);
    auto* const keys = reinterpret_cast<key_bits*>(t.scratch() + segment_front_bytes);
    std::uint64_t const slots = m_plan.segment_pairs * 2 * bucket_slots;
    auto* const values = reinterpret_cast<value_bits*>(keys + slots);
    std::uint64_t const pairs = Kokkos::min(m_plan.segment_pairs, end - first);
    return {m_split.begin(partition),
            pairs == 0 ? 0 : static_cast<std::uint32_t>(m_split.count(partition)),
            static_cast<std::uint32_t>(2 * first),
            static_cast<std::uint32_t>(2 * pairs),
            reinterpret_cast<std::uint32_t*>(t.scratch()),
            reinterpret_cast<std::uint32_t*>(values + (layout::has_value ? slots : 0)),
            keys,
            values};
  }
  KOKKOS_FUNCTION word* slots_of(segment const& p) const {
    return m_table.slot_at(static_cast<std::uint64_t>(p.first_bucket) * bucket_slots);
  }
  KOKKOS_FUNCTION bucket_keys const& keys_of(segment const& p, std::uint32_t bucket) const {
    return *reinterpret_cast<bucket_keys const*>(p.keys + bucket * bucket_slots);
  }
  /// Reads the slots of a segment into scratch, or makes them empty. Ends with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void read_segment(Team const& t, segment const& p) const {
    auto const size = static_cast<std::uint32_t>(t.size()),
               rank = static_cast<std::uint32_t>(t.rank());
    for (std::uint32_t i = rank; i < p.buckets / 2; i += size) p.pair_states[i] = 0;
    if (m_state.is_empty) {
      bucket_keys empty;
      for (auto& key : empty.key) key = layout::key_of(m_table.slot().empty_slot());
      for (std::uint32_t b = rank; b < p.buckets; b += size)
        reinterpret_cast<bucket_keys*>(p.keys)[b] = empty;
      t.barrier();
      return;
    }
    copy_segment(t, p);
    t.barrier();
    if (m_state.has_order) read_marks(t, p);
  }
  template <class Team>
  KOKKOS_FUNCTION void copy_segment(Team const& t, segment const& p) const {
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.slots() / group_slots;
         i += static_cast<std::uint32_t>(t.size())) {
      slot_group const g = reinterpret_cast<slot_group const*>(slots_of(p))[i];
      KARPOS_UNROLL
      for (std::uint32_t s = 0; s < group_slots; ++s) {
        p.keys[i * group_slots + s] = layout::key_of(g.slot[s]);
        if constexpr (layout::has_value)
          p.values[i * group_slots + s] = layout::bits_of(layout::value_of(g.slot[s]));
      }
    }
  }
  /// Reads the marks from the order of the keys. Ends with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void read_marks(Team const& t, segment const& p) const {
    if constexpr (order::classes != 0) {
      for (auto b = static_cast<std::uint32_t>(t.rank()); b < p.buckets;
           b += static_cast<std::uint32_t>(t.size())) {
        bucket_keys const keys = keys_of(p, b);
        if (!all_live(keys)) continue;
        std::uint32_t const marks = order::marks([&](int i) { return keys.key[i]; });
        if (marks != 0) p.mark(b, marks);
      }
      t.barrier();
    }
  }
  /// Returns whether a bucket has neither a hole nor a tombstone, so that its order is a mark.
  KOKKOS_FORCEINLINE_FUNCTION bool all_live(bucket_keys const& keys) const {
    return !has_key(keys, layout::key_of(m_table.slot().empty_slot())) &&
           !has_key(keys, m_table.slot().reserved_keys().erased);
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool has_key(bucket_keys const& keys, key_bits key) {
    bool has = false;
    for (std::uint32_t s = 0; s < bucket_slots; ++s) has = has | (keys.key[s] == key);
    return has;
  }
  /// Puts the keys of each bucket into the order that marks classes. Ends with a barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sort_buckets(Team const& t, segment const& p) const {
    if constexpr (order::classes != 0) {
      if (!m_state.has_order) return;
      key_bits const empty = layout::key_of(m_table.slot().empty_slot()),
                     erased = m_table.slot().reserved_keys().erased;
      for (auto b = static_cast<std::uint32_t>(t.rank()); b < p.buckets;
           b += static_cast<std::uint32_t>(t.size())) {
        bucket_keys const keys = keys_of(p, b);
        if (keys.key[1] == empty || has_key(keys, erased)) continue;
        std::uint32_t const marks = has_key(keys, empty) ? 0 : p.marks(b);
        std::uint32_t const to = order::permutation([&](int i) { return keys.key[i]; }, marks);
        if (to != order::identity) permute_slots(p, b * bucket_slots, keys, to);
      }
      t.barrier();
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void permute_slots(segment const& p, std::uint32_t first,
                                                 bucket_keys const& keys, std::uint32_t to) const {
    value_bits values[order::keys] = {};
    if constexpr (layout::has_value)
      for (std::uint32_t s = 0; s < order::keys; ++s) values[s] = p.values[first + s];
    for (std::uint32_t s = 0; s < order::keys; ++s) {
      std::uint32_t const at = first + (to >> 2 * s & 3);
      p.keys[at] = keys.key[s];
      if constexpr (layout::has_value) p.values[at] = values[s];
    }
  }
  template <class Team>
  KOKKOS_FUNCTION void write_segment(Team const& t, segment const& p) const {
    word const empty = m_table.slot().empty_slot();
    auto* const to = reinterpret_cast<slot_group*>(slots_of(p));
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.slots() / group_slots;
         i += static_cast<std::uint32_t>(t.size())) {
      auto const keys = reinterpret_cast<key_group const*>(p.keys)[i];
      value_group values{};
      if constexpr (layout::has_value) values = reinterpret_cast<value_group const*>(p.values)[i];
      slot_group g;
      KARPOS_UNROLL
      for (std::uint32_t s = 0; s < group_slots; ++s)
        g.slot[s] = keys.key[s] == layout::key_of(empty)
                        ? empty
                        : layout::pack(keys.key[s], values.value[s]);
      to[i] = g;
    }
  }

  /// Returns the index in the partition of the j-th row of a thread's batch.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t index_of(Team const& t,
                                                            std::uint32_t batch_index, int j) {
    return (batch_index * batch + static_cast<std::uint32_t>(j)) *
               static_cast<std::uint32_t>(t.size()) +
           static_cast<std::uint32_t>(t.rank());
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void load(Team const& t, segment const& p, std::uint32_t batch_index,
                                        row (&rows)[batch]) const {
    KARPOS_UNROLL
    for (int j = 0; j < batch; ++j) load(t, p, batch_index, j, rows[j]);
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void load(Team const& t, segment const& p, std::uint32_t batch_index,
                                        int j, row& r) const {
    std::uint32_t const i = index_of(t, batch_index, j);
    if (i < p.rows) r = m_rows[p.first_row + i];
  }
  /// Appends a thread's deferred rows, of the batches from `first` on. Ends with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void append_deferred(Team const& t, segment const& p, std::uint32_t first,
                                       std::uint64_t deferred) const {
    std::uint64_t total = 0;
    auto const count = static_cast<std::uint64_t>(Kokkos::popcount(deferred));
    std::uint64_t at = t.prefix_sum(count, total);
    if (total == 0) return;
    auto* const base = reinterpret_cast<std::uint64_t*>(p.counts + insert_report::counters);
    if (t.rank() == 0) *base = device::fetch_add(&m_counts->deferred, total);
    t.barrier();
    at += *base;
    for (; deferred != 0; deferred &= deferred - 1) {
      std::uint64_t const i = p.first_row + index_of(t, first, Kokkos::countr_zero(deferred));
      if (at < m_deferred.capacity)
        m_deferred.rows[at++] = m_rows[i];
      else
        device::set_bits(m_deferred.bits + i / 32, std::uint32_t(1) << (i % 32));
    }
    t.barrier();
  }
  /// Adds the counters of a team's threads to the report.
  template <class Team>
  KOKKOS_FUNCTION void add_counts(Team const& t, segment const& p, tally const& done) const {
    for (int c = t.rank(); c < insert_report::counters; c += t.size()) p.counts[c] = 0;
    t.barrier();
    auto const add = [&](outcome o, std::uint32_t n) {
      if (n != 0) device::add(device::scratch(p.counts + insert_report::counter_of(o)), n);
    };
    add(outcome::inserted, done.inserted);
    add(outcome::existing, done.existing);
    add(outcome::invalid, done.invalid);
    t.barrier();
    for (int c = t.rank(); c < insert_report::counters; c += t.size())
      if (p.counts[c] != 0) device::add(&m_counts->report[c], std::uint64_t(p.counts[c]));
  }

  Table m_table;
  segment_plan m_plan;
  partition::partitioned_rows<row const> m_split;
  row const* m_rows;
  deferred_rows<row> m_deferred;
  segment_counts* m_counts;
  table_state m_state;
};

}  // namespace karpos::detail::open_addressing
