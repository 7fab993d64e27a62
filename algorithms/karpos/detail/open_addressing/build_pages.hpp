// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/merge.hpp"
#include "karpos/detail/open_addressing/page_rows.hpp"
#include "karpos/detail/open_addressing/tuning.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/lane_mask.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail::open_addressing {

/// What the teams of build_pages count.
struct page_counts {
  insert_report report;
  std::uint64_t left;    // rows whose first pair of buckets is full
  std::uint32_t uneven;  // not 0: some part has so many rows that no page is to be built
};

/// Where rows go that a page has no place for: into an array as far as it has room, beyond that into bits, one for each row.
template <class Row>
struct rows_left {
  Row* rows;
  std::uint64_t room;
  std::uint32_t* bits;
};

/// A step for GPUs: inserts rows that lie part by part. A team holds a page of the table in scratch, keys and values in
/// arrays of their own, puts each row of the page into its first pair of buckets, as insertions one by one do, and writes the
/// page back. Rows that find the pair full are left to those.
template <class ExecSpace, class Table, class Combine>
class build_pages {
  using tuned = tuning<ExecSpace>;
  using row = row_of<Table>;
  using layout = typename Table::layout;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;
  using value_bits = typename layout::value_bits;
  using mapped = typename Table::mapped_type;
  static constexpr int bucket_slots = Table::bucket_slots;
  static constexpr bool merges = layout::has_value && !std::is_same_v<Combine, keep_stored>;
  static constexpr int batch = tuned::page_batch, rounds = 32 / batch;
  static constexpr std::size_t slot_bytes =
      sizeof(key_bits) + (layout::has_value ? sizeof(value_bits) : 0);
  static constexpr std::size_t front_bytes = 64;
  static constexpr int width = Kokkos::min(32, int(device::warp_width<ExecSpace>));

 public:
  static constexpr int threads = tuned::page_threads, teams_at_once = 1;
  static constexpr std::size_t scratch_bytes = tuned::page_scratch_bytes;
  /// Pairs of buckets that a team's scratch holds.
  static constexpr std::uint64_t max_page_pairs =
      (scratch_bytes - front_bytes) / (slot_bytes * 2 * bucket_slots);

  build_pages(Table const& table, page_plan const& plan, row const* rows,
              std::uint64_t const* begins, rows_left<row> const& left, page_counts* counts,
              bool is_empty, Combine const& combine)
      : m_table(table),
        m_plan(plan),
        m_rows(rows),
        m_begins(begins),
        m_left(left),
        m_counts(counts),
        m_is_empty(is_empty),
        m_combine(combine) {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    if (m_counts->uneven != 0) return;
    page const p = page_of(t);
    if (p.pairs == 0) return;
    read_page(t, p);
    for (int c = t.rank(); c < insert_report::counters; c += t.size()) p.counts[c] = 0;
    t.barrier();
    std::uint32_t done[insert_report::counters] = {};
    auto const step = static_cast<std::uint64_t>(batch * rounds * t.size());
    for (std::uint64_t i = p.first_row; i < p.last_row; i += step) add_rows(t, p, i, done);
    for (int c = 0; c < insert_report::counters; ++c)
      if (done[c] != 0) device::add(device::scratch(p.counts + c), done[c]);
    t.barrier();
    for (int c = t.rank(); c < insert_report::counters; c += t.size())
      if (p.counts[c] != 0) device::add(&m_counts->report[c], std::uint64_t(p.counts[c]));
    write_page(t, p);
  }

 private:
  struct alignas(bucket_slots * sizeof(key_bits) % 16 == 0 ? 16 : sizeof(key_bits)) bucket_keys {
    key_bits key[bucket_slots];
  };
  /// A page of a team, and the rows of its part.
  struct page {
    std::uint64_t first_pair, pairs, first_row, last_row;
    std::uint32_t* counts;
    key_bits* keys;
    value_bits* values;

    KOKKOS_FUNCTION std::uint32_t slots() const {
      return static_cast<std::uint32_t>(pairs) * 2 * bucket_slots;
    }
  };
  /// Where a row of a batch has gone: a slot that had its key before, or none of those.
  static constexpr std::uint32_t no_slot = ~std::uint32_t(0);

  template <class Team>
  KOKKOS_FUNCTION page page_of(Team const& t) const {
    auto const index = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const part = index / m_plan.pages_per_part;
    std::uint64_t const begin = part * m_plan.part_pairs,
                        end = Kokkos::min(begin + m_plan.part_pairs, m_plan.pairs);
    std::uint64_t const first =
        Kokkos::min(begin + index % m_plan.pages_per_part * m_plan.page_pairs, end);
    auto* const keys = reinterpret_cast<key_bits*>(t.scratch() + front_bytes);
    std::uint64_t const slots = m_plan.page_pairs * 2 * bucket_slots;
    return {first,
            Kokkos::min(m_plan.page_pairs, end - first),
            m_begins[part],
            m_begins[part + 1],
            reinterpret_cast<std::uint32_t*>(t.scratch()),
            keys,
            reinterpret_cast<value_bits*>(keys + slots)};
  }
  KOKKOS_FUNCTION word* slots_of(page const& p) const {
    return m_table.slot_at(p.first_pair * 2 * bucket_slots);
  }
  template <class Team>
  KOKKOS_FUNCTION void read_page(Team const& t, page const& p) const {
    auto const size = static_cast<std::uint32_t>(t.size());
    key_bits const empty = layout::key_of(m_table.slot().empty_slot());
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.slots(); i += size) {
      if (m_is_empty) {
        p.keys[i] = empty;
      } else {
        word const w = slots_of(p)[i];
        p.keys[i] = layout::key_of(w);
        if constexpr (layout::has_value) p.values[i] = layout::bits_of(layout::value_of(w));
      }
    }
  }
  template <class Team>
  KOKKOS_FUNCTION void write_page(Team const& t, page const& p) const {
    auto const size = static_cast<std::uint32_t>(t.size());
    word const empty = m_table.slot().empty_slot();
    for (auto i = static_cast<std::uint32_t>(t.rank()); i < p.slots(); i += size) {
      key_bits const key = p.keys[i];
      value_bits value = 0;
      if constexpr (layout::has_value) value = p.values[i];
      slots_of(p)[i] = key == layout::key_of(empty) ? empty : layout::pack(key, value);
    }
  }

  /// Adds the rows of a few batches, then hands on those that found no place.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(Team const& t, page const& p, std::uint64_t first,
                                            std::uint32_t (&done)[insert_report::counters]) const {
    auto const size = static_cast<std::uint64_t>(t.size());
    std::uint64_t const mine = first + static_cast<std::uint64_t>(t.rank());
    std::uint32_t left = 0;
    for (int b = 0; b < rounds; ++b) {
      std::uint64_t const at = mine + static_cast<std::uint64_t>(b * batch) * size;
      if (first + static_cast<std::uint64_t>(b * batch) * size >= p.last_row) break;
      row rows[batch];
      std::uint32_t found[batch];
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        std::uint64_t const i = at + static_cast<std::uint64_t>(j) * size;
        if (i < p.last_row) rows[j] = m_rows[i];
      }
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        std::uint64_t const i = at + static_cast<std::uint64_t>(j) * size;
        found[j] = no_slot;
        if (i < p.last_row && !add(p, rows[j], found[j], done))
          left |= std::uint32_t(1) << (b * batch + j);
        t.template this_tile<width>().sync();
      }
      if constexpr (merges) {
        t.barrier();  // who took a slot has stored its value
        KARPOS_UNROLL
        for (int j = 0; j < batch; ++j)
          if (found[j] != no_slot) merge(p, found[j], rows[j]);
      }
    }
    hand_on(t, p, mine, left);
  }
  /// Puts a row into its first pair, unless it is not of this page. Returns: whether it need not go on.
  KOKKOS_FORCEINLINE_FUNCTION bool add(page const& p, row const& r, std::uint32_t& found,
                                       std::uint32_t (&done)[insert_report::counters]) const {
    auto const key = open_addressing::key_of(r);
    std::uint64_t const home = m_table.home_of(m_table.hash(key));
    std::uint64_t const local = home - 2 * p.first_pair;
    if (local >= 2 * p.pairs) return true;  // of another page of the part
    if (m_table.reserved(key)) {
      ++done[insert_report::counter_of(outcome::invalid)];
      return true;
    }
    outcome const o = place(p, r, static_cast<std::uint32_t>(local), found);
    if (o == outcome::full) return false;
    ++done[insert_report::counter_of(o)];
    return true;
  }
  static constexpr std::uint32_t pair_slots = 2 * bucket_slots;
  using pair_mask = lane_mask<static_cast<int>(pair_slots)>;
  /// The slot of a page that is number s on the path of a key: of its home bucket, or of the one beside it.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t slot_on_path(std::uint32_t home, int s) {
    return (s < bucket_slots ? home : (home ^ 1) - 1) * bucket_slots +
           static_cast<std::uint32_t>(s);
  }
  /// Which slots of a pair are empty, and which hold a key that `is` the one.
  template <class Is>
  KOKKOS_FORCEINLINE_FUNCTION void look(page const& p, std::uint32_t home, Is const& is,
                                        pair_mask& holes, pair_mask& hits) const {
    key_bits const empty = layout::key_of(m_table.slot().empty_slot());
    KARPOS_UNROLL
    for (std::uint32_t b = 0; b < 2; ++b) {
      bucket_keys const seen =
          *reinterpret_cast<bucket_keys const*>(p.keys + (home ^ b) * bucket_slots);
      KARPOS_UNROLL
      for (int s = 0; s < bucket_slots; ++s) {
        auto const at = pair_mask::of(static_cast<int>(b) * bucket_slots + s);
        if (seen.key[s] == empty) holes = holes | at;
        if (is(seen.key[s])) hits = hits | at;
      }
    }
  }
  /// Takes the first empty slot of a pair of buckets, the home bucket first, unless the key is there. All keys are looked at
  /// before any slot is claimed: threads of a warp would claim one after another.
  KOKKOS_FORCEINLINE_FUNCTION outcome place(page const& p, row const& r, std::uint32_t home,
                                            std::uint32_t& found) const {
    auto const key = open_addressing::key_of(r);
    auto const holds = m_table.holds(key);
    auto const is = [&](key_bits stored) { return holds(layout::pack(stored, 0)); };
    auto const bits = layout::key_of(Table::protocol::item(key, mapped{}));
    key_bits const empty = layout::key_of(m_table.slot().empty_slot());
    pair_mask holes, hits;
    look(p, home, is, holes, hits);
    if (hits) {
      found = slot_on_path(home, hits.first());
      return outcome::existing;
    }
    for (; holes; holes = holes.without_first()) {
      std::uint32_t const at = slot_on_path(home, holes.first());
      key_bits const stored = device::compare_and_swap(device::scratch(p.keys + at), empty, bits);
      if (stored == empty) {
        if constexpr (layout::has_value) p.values[at] = layout::bits_of(r.value);
        return outcome::inserted;
      }
      if (is(stored)) {
        found = at;
        return outcome::existing;
      }
    }
    return outcome::full;
  }
  KOKKOS_FORCEINLINE_FUNCTION void merge(page const& p, std::uint32_t slot, row const& r) const {
    value_bits* const at = p.values + slot;
    if constexpr (std::is_same_v<Combine, take_new>) {
      *at = layout::bits_of(r.value);
    } else {
      merge_in_scratch(at, static_cast<mapped>(r.value), m_combine);
    }
  }

  /// Hands on the rows of a thread whose bit is set. A barrier.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void hand_on(Team const& t, page const& p, std::uint64_t mine,
                                           std::uint32_t left) const {
    std::uint64_t total = 0;
    auto const count = static_cast<std::uint64_t>(Kokkos::popcount(left));
    std::uint64_t at = t.prefix_sum(count, total);
    if (total == 0) return;
    auto* const base = reinterpret_cast<std::uint64_t*>(p.counts + insert_report::counters);
    if (t.rank() == 0) *base = device::fetch_add(&m_counts->left, total);
    t.barrier();
    at += *base;
    for (; left != 0; left &= left - 1) {
      auto const j = static_cast<std::uint64_t>(Kokkos::countr_zero(left));
      std::uint64_t const i = mine + j * static_cast<std::uint64_t>(t.size());
      if (at < m_left.room)
        m_left.rows[at++] = m_rows[i];
      else
        device::set_bits(m_left.bits + i / 32, std::uint32_t(1) << (i % 32));
    }
    t.barrier();
  }

  Table m_table;
  page_plan m_plan;
  row const* m_rows;
  std::uint64_t const* m_begins;
  rows_left<row> m_left;
  page_counts* m_counts;
  bool m_is_empty;
  Combine m_combine;
};

}  // namespace karpos::detail::open_addressing
