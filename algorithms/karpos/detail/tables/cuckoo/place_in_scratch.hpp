// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/tables/cuckoo/geometry.hpp"
#include "karpos/detail/tables/cuckoo/refs.hpp"
#include "karpos/detail/tables/cuckoo/split.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"

namespace karpos::detail::cuckoo {

/// Bucketed cuckoo insertion (see place.hpp) into partitions that a team's scratch holds: a team
/// (CUDA: a block) of a GPU places all items of a partition in its scratch (shared memory), looks
/// for equal keys, and writes the windows once.
///
///   windows     | 8 slots | 8 slots | …    A window is filled from slot 0 on. An item adds 1 to
///   taken       | 8       | 5       | …    `taken`, and gets the slot of the number before. From 8
///                                          on, the window is full, and stays full.
///
/// First every item takes a slot of its first window. Items that found it full then try their other
/// windows, and evict.
///
/// Source: that of place.hpp.
template <class ExecSpace, class View, int Threads = tuning<ExecSpace>::scratch_placer_threads>
struct place_in_scratch {
  using word = typename View::word;
  using layout = typename View::layout;
  using in_partition = partition_geometry<word>;
  using tune = tuning<ExecSpace>;
  static constexpr int threads = Threads, teams_at_once = 1;
  static constexpr int tile_width = tune::warp_lanes;
  static constexpr std::uint32_t window_slots = in_partition::window_slots,
                                 max_windows = in_partition::small_windows;
  /// Items whose first window is full, at most: a fifth of a partition's items are such at load
  /// 0.95.
  static constexpr std::uint32_t max_unplaced = max_windows * window_slots / 4;
  static constexpr int max_evictions = 500;
  /// Failed items after which other chains end early: the table must be built anew in any case.
  static constexpr std::uint32_t max_failed = 64;

  /// The contents of a team's scratch.
  struct memory {
    word slot[max_windows * window_slots];
    std::uint32_t taken[max_windows];         // items that claimed a slot of a window
    std::uint32_t overflow[max_windows / 4];  // the overflow bits of four windows
    std::uint16_t unplaced[max_unplaced];     // items whose first window was full
    std::uint32_t unplaced_count, next;       // next: index of the first one not taken by a thread
    std::uint32_t invalid, failed;
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static_assert(max_windows * window_slots <= (1u << 15), "an item of a region has 16 bits");

  View table;
  partition::partitioned_rows<word> from;
  build_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const r = static_cast<std::uint64_t>(t.league_rank());
    if (from.overflows(r)) return report_failure(t, &report->unplaced);
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    clear(t, m);
    t.barrier();
    word const* const items = from.rows + from.begin(r);
    fill_first_windows(t, m, items, static_cast<std::uint32_t>(from.count(r)));
    t.barrier();
    if (m.unplaced_count <= max_unplaced) follow_chains(t, m, items);
    t.barrier();
    if (m.invalid != 0) return report_failure(t, &report->invalid, m.invalid);
    if (m.unplaced_count > max_unplaced)
      return report_failure(t, &report->unplaced, m.unplaced_count);
    if (m.failed != 0) return report_failure(t, &report->unplaced, m.failed);
    write(t, m, r);
  }

 private:
  static constexpr std::uint32_t no_window = ~std::uint32_t(0);

  /// The item in hand on its way to a slot, and the number of evictions on this way.
  struct eviction_chain {
    word item{};
    std::uint64_t places = 0;
    int choice = 0, evictions = 0;
    std::uint32_t evicted_from = no_window;
  };

  template <class Team>
  KOKKOS_FUNCTION void clear(Team const& t, memory& m) const {
    for (std::uint32_t s = rank(t); s < table.windows * window_slots; s += size(t))
      m.slot[s] = table.slot.empty_slot();
    for (std::uint32_t w = rank(t); w < table.windows; w += size(t)) m.taken[w] = 0;
    for (std::uint32_t w = rank(t); w < (table.windows + 3) / 4; w += size(t)) m.overflow[w] = 0;
    if (t.rank() == 0) m.unplaced_count = m.next = m.invalid = m.failed = 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t places_of(word item) const {
    return in_partition::places(table.hash_of_item(item));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t window(std::uint64_t places, int choice) const {
    return in_partition::window_of(places, choice, table.windows);
  }

  template <class Team>
  KOKKOS_FUNCTION void fill_first_windows(Team const& t, memory& m, word const* items,
                                          std::uint32_t n) const {
    constexpr int batch = 4;                                  // loads that overlap
    for (std::uint32_t i = 0; i < n; i += batch * size(t)) {  // all threads: `append` is collective
      word item[batch]{};
      auto const index = [&](int j) {
        return i + rank(t) + static_cast<std::uint32_t>(j) * size(t);
      };
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j)
        if (index(j) < n) item[j] = items[index(j)];
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        bool const unplaced = index(j) < n && !fill_first_window(m, item[j]);
        std::uint32_t const at = t.append(&m.unplaced_count, unplaced);
        if (unplaced && at < max_unplaced) m.unplaced[at] = static_cast<std::uint16_t>(index(j));
      }
    }
  }
  /// Puts an item into its first window. Returns false if it needs another window.
  KOKKOS_FORCEINLINE_FUNCTION bool fill_first_window(memory& m, word item) const {
    if (!table.slot.live(item)) {
      device::add(device::scratch(&m.invalid), 1);
      return true;
    }
    std::uint32_t const w = window(places_of(item), 0);
    std::uint32_t const at = device::fetch_add(device::scratch(m.taken + w), 1);
    if (at < window_slots) m.slot[w * window_slots + at] = item;
    return at < window_slots;
  }

  /// Follows eviction chains, which differ in length: a lane whose chain has ended takes the next
  /// item from the team's list.
  template <class Team>
  KOKKOS_FUNCTION void follow_chains(Team const& t, memory& m, word const* items) const {
    auto const tile = t.template this_tile<tile_width>();
    eviction_chain chain;
    for (bool has_item = false;;) {
      std::uint32_t const at =
          claim_next(tile, m, static_cast<int>(rank(t)) % tile_width, !has_item);
      if (!has_item && at < m.unplaced_count) {
        word const item = items[m.unplaced[at]];
        chain = {item, places_of(item), 1, 0, no_window};
        has_item = true;
      }
      if (!tile.ballot([&](int) { return has_item; })) return;
      if (has_item) has_item = advance(m, chain);
    }
  }
  /// Returns, to each lane that needs an item, the next index of the list.
  template <class Tile>
  KOKKOS_FUNCTION static std::uint32_t claim_next(Tile const& tile, memory& m, int lane,
                                                  bool needs_item) {
    auto const mask = tile.ballot([&](int) { return needs_item; });
    std::uint32_t first = 0;
    if (mask)
      first = tile.once([&] {
        return device::fetch_add(device::scratch(&m.next),
                                 static_cast<std::uint32_t>(mask.count()));
      });
    return first + static_cast<std::uint32_t>(mask.rank(lane));
  }
  /// Tries one candidate window, and evicts an item once all were full. Returns whether there is an
  /// item in hand.
  KOKKOS_FUNCTION bool advance(memory& m, eviction_chain& c) const {
    std::uint32_t const w = window(c.places, c.choice);
    if (w != c.evicted_from && try_place(m, w, c.item)) {
      if (c.choice > 0) set_overflow_bit(m, c.places);
      return false;
    }
    if (++c.choice < in_partition::choices) return true;
    if (++c.evictions == max_evictions ||
        device::load_relaxed(device::scratch(&m.failed)) >= max_failed) {
      device::add(device::scratch(&m.failed), 1);
      return false;
    }
    evict(m, c);
    return true;
  }
  /// Puts an item into a window. Returns whether the window had an empty slot.
  KOKKOS_FUNCTION bool try_place(memory& m, std::uint32_t w, word item) const {
    auto const taken = device::scratch(m.taken + w);
    if (device::load_relaxed(taken) >= window_slots) return false;
    std::uint32_t const at = device::fetch_add(taken, 1);
    if (at >= window_slots) return false;
    // No thread evicts from a slot that is still empty.
    device::compare_and_swap(device::scratch(m.slot + w * window_slots + at),
                             table.slot.empty_slot(), item);
    return true;
  }
  /// Takes the slot of another item, at random, but not in the window that the item in hand was
  /// evicted from if it has others. The other item is in hand afterwards.
  KOKKOS_FUNCTION void evict(memory& m, eviction_chain& c) const {
    constexpr auto n = static_cast<std::uint32_t>(in_partition::choices);
    std::uint64_t const random = rehashed(c.places, static_cast<std::uint32_t>(c.evictions));
    int choice = static_cast<int>(scale(static_cast<std::uint32_t>(random), n));
    for (std::uint32_t other = 1; other < n && window(c.places, choice) == c.evicted_from; ++other)
      choice = choice + 1 < in_partition::choices ? choice + 1 : 0;
    std::uint32_t const w = window(c.places, choice);
    auto const slot = device::scratch(m.slot + w * window_slots + (random >> 32) % window_slots);
    word const victim = device::load_relaxed(slot);
    c.choice = 0;
    // The other item is yet to come, or has gone: try again.
    if (!table.slot.live(victim) || device::compare_and_swap(slot, victim, c.item) != victim)
      return;
    if (choice > 0) set_overflow_bit(m, c.places);
    c = {victim, places_of(victim), 0, c.evictions, w};
  }
  /// Sets the overflow bit of a key that lies in another window than its first.
  KOKKOS_FUNCTION void set_overflow_bit(memory& m, std::uint64_t places) const {
    std::uint32_t const w = window(places, 0);
    device::set_bits(device::scratch(m.overflow + w / 4), in_partition::overflow_bit(places)
                                                              << (w % 4 * 8));
  }

  template <class Team>
  KOKKOS_FUNCTION void write(Team const& t, memory const& m, std::uint64_t r) const {
    std::uint64_t const first = r * table.windows;
    for (std::uint32_t w = rank(t); w < table.windows; w += size(t))
      table.metadata[first + w] = static_cast<std::uint8_t>(m.overflow[w / 4] >> (w % 4 * 8));
    word* const to = table.slots + first * window_slots;
    std::uint64_t duplicates = 0;
    for (std::uint32_t s = rank(t); s < table.windows * window_slots; s += size(t)) {
      word const item = m.slot[s];
      to[s] = item;
      duplicates += table.slot.live(item) && is_shadowed(table, m.slot, item, s);
    }
    if (duplicates != 0) device::add(&report->duplicates, duplicates);
  }
};

}  // namespace karpos::detail::cuckoo
