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
#include "karpos/device/launch.hpp"
#include "karpos/device/team.hpp"

// Insertion into the dense layout, partition by partition: bucketed cuckoo insertion. An item goes
// into the first of its candidate windows that has an empty slot. If none has, it evicts an item of
// one of these windows, which goes on in the same way. An eviction chain ends after max_evictions:
// the item in hand stays unplaced and is counted. The caller, which has a copy of everything, then
// builds the table anew.
//
// Source: Pagh, Rodler, "Cuckoo hashing", 2004; Dietzfelbinger, Weidling, "Balanced allocation and
// dictionaries with tightly packed constant size bins", 2007; Awad et al., "Better GPU hash
// tables" (BGHT), 2021.

namespace karpos::detail::cuckoo {

inline constexpr int max_evictions = 500;

/// Returns a candidate window at random, to evict an item from, but not the window that the item in
/// hand was evicted from if there are others.
template <class Window, class Index>
KOKKOS_FORCEINLINE_FUNCTION int choose_eviction(std::uint64_t random, int choices,
                                                Window const& window, Index evicted_from) {
  int choice = static_cast<int>(
      scale(static_cast<std::uint32_t>(random), static_cast<std::uint32_t>(choices)));
  for (int other = 1; other < choices && window(choice) == evicted_from; ++other)
    choice = choice + 1 < choices ? choice + 1 : 0;
  return choice;
}

/// Places the items of a region in memory. If slots can be swapped by one instruction, a GPU's
/// threads insert concurrently; otherwise one thread has a partition to itself.
template <class ExecSpace, class View>
struct place_items {
  using word = typename View::word;
  using in_partition = partition_geometry<word>;
  using windows = key_windows<View>;
  using tune = tuning<ExecSpace>;
  static constexpr int window_slots = in_partition::window_slots;
  static constexpr bool concurrent = tune::template places_concurrently<word>;
  static constexpr int threads = concurrent ? tune::placer_threads : tune::lone_placer_threads;
  static constexpr int teams_at_once = tune::placers_at_once;
  static constexpr int tile_width = concurrent ? tune::warp_lanes : 1;
  static constexpr std::uint64_t items_of_a_team =
      concurrent ? tune::placer_bytes / sizeof(word) : 1;
  /// Number of failed items from which on other chains end early: the table must be built anew in
  /// any case.
  static constexpr std::uint64_t max_failed = 256;

  /// The contents of a team's scratch (CUDA: a block's shared memory): the items whose first window
  /// was full.
  struct memory {
    word unplaced[items_of_a_team];
    std::uint32_t unplaced_count, next;  // next: index of the first item that no thread has taken
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);

  View table;
  partition::partitioned_rows<word> from;
  std::uint64_t region_items;  ///< the most items of a region
  build_report* report;

  /// Returns the number of teams for one region.
  KOKKOS_FUNCTION std::uint64_t teams_each() const {
    return concurrent ? (region_items + items_of_a_team - 1) / items_of_a_team : 1;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    std::uint64_t const each = teams_each();
    auto const league_rank = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const r = league_rank / each, n = from.count(r);
    if constexpr (concurrent) {
      std::uint64_t const first = league_rank % each * items_of_a_team;
      if (first >= n) return;
      std::uint64_t const here = Kokkos::min(n - first, std::uint64_t{items_of_a_team});
      place_concurrently(t, from.rows + from.begin(r) + first, static_cast<std::uint32_t>(here));
    } else if (t.rank() == 0) {
      place_sequentially(from.rows + from.begin(r), n);
    }
  }

 private:
  static constexpr std::uint64_t no_window = ~std::uint64_t(0);

  /// The item in hand on its way to a slot, and the number of evictions on this way.
  struct eviction_chain {
    word item;
    windows candidates;
    int choice = 0, evictions = 0;
    std::uint64_t evicted_from = no_window;
  };

  KOKKOS_FUNCTION eviction_chain chain_of(word item) const {
    return {item, windows(table, table.hash_of_item(item))};
  }

  // Two passes: first every item tries its first window, so that as many as possible are where
  // lookups read first; then the unplaced items start eviction chains. Chains differ in length: a
  // lane whose chain has ended takes the next item from the team's list.

  template <class Team>
  KOKKOS_FUNCTION void place_concurrently(Team const& t, word const* items, std::uint32_t n) const {
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    std::uint32_t const rank = device::rank(t), size = device::size(t);
    if (rank == 0) m.unplaced_count = m.next = 0;
    t.barrier();
    for (std::uint32_t i = 0; i < n; i += size) {  // all threads: `append` is collective
      bool unplaced = false;
      word item{};
      if (i + rank < n) {
        item = items[i + rank];
        unplaced = check_item(item) && !try_place(chain_of(item));
      }
      std::uint32_t const at = t.append(&m.unplaced_count, unplaced);
      if (unplaced) m.unplaced[at] = item;
    }
    t.barrier();
    follow_chains(t, m);
  }
  template <class Team>
  KOKKOS_FUNCTION void follow_chains(Team const& t, memory& m) const {
    auto const tile = t.template this_tile<tile_width>();
    eviction_chain chain{};
    for (bool has_item = false;;) {
      std::uint32_t const at = t.append(&m.next, !has_item);
      if (!has_item && at < m.unplaced_count) {
        chain = chain_of(m.unplaced[at]);
        has_item = true;
      }
      if (!tile.ballot([&](int) { return has_item; })) return;
      if (has_item) has_item = advance(chain);
    }
  }

  /// Places the items of a region by one thread. Moves unplaced items to the front of the region.
  KOKKOS_FUNCTION void place_sequentially(word* items, std::uint64_t n) const {
    constexpr std::uint64_t prefetch_distance = 8;
    std::uint64_t unplaced = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i + prefetch_distance < n)
        device::prefetch(
            windows(table, table.hash_of_item(items[i + prefetch_distance])).slots(table, 0));
      word const item = items[i];
      if (check_item(item) && !try_place(chain_of(item))) items[unplaced++] = item;
    }
    for (std::uint64_t i = 0; i < unplaced; ++i) {
      eviction_chain chain = chain_of(items[i]);
      while (advance(chain)) {
      }
    }
  }

  KOKKOS_FUNCTION bool check_item(word item) const {
    bool const valid = table.slot.live(item);
    if (!valid) device::add(&report->invalid, std::uint64_t(1));
    return valid;
  }
  /// Puts the item into its current candidate window. Returns whether this had an empty slot.
  KOKKOS_FUNCTION bool try_place(eviction_chain const& c) const {
    word* const slots = c.candidates.slots(table, c.choice);
    device::thread_tile const t;
    for (;;) {
      auto const window = device::load_window<window_slots, device::access::shared>(t, slots);
      auto const m = window.match(table.slot.is_empty());
      if (!m) return false;
      if (swap(slots + m.first(), table.slot.empty_slot(), c.item)) return true;
    }
  }

  /// Tries one candidate window, and evicts an item once all were full. Returns whether there is an
  /// item in hand.
  KARPOS_STEP_FUNCTION bool advance(eviction_chain& c) const {
    if (c.candidates.window(table, c.choice) != c.evicted_from && try_place(c)) {
      if (c.choice > 0) set_overflow_bit(c.candidates);
      return false;
    }
    if (++c.choice < in_partition::choices) return true;
    // All threads load the same word: only after 2, 4, 8, … evictions.
    int const evictions = ++c.evictions;
    bool const has_failed = (evictions & (evictions - 1)) == 0 && evictions > 1 &&
                            device::load_relaxed(&report->unplaced) >= max_failed;
    if (evictions == max_evictions || has_failed) {
      device::add(&report->unplaced, std::uint64_t(1));
      return false;
    }
    evict(c);
    return true;
  }

  /// Takes the slot of another item, at random, which is in hand afterwards.
  KARPOS_STEP_FUNCTION void evict(eviction_chain& c) const {
    std::uint64_t const random =
        rehashed(c.candidates.places(), static_cast<std::uint32_t>(c.evictions));
    int const choice = choose_eviction(
        random, in_partition::choices, [&](int i) { return c.candidates.window(table, i); },
        c.evicted_from);
    word* const slot = c.candidates.slots(table, choice) + (random >> 32) % window_slots;
    word const victim = device::load_relaxed(slot);
    c.choice = 0;
    if (!swap(slot, victim, c.item)) return;  // another thread has changed the slot: try again
    if (choice > 0) set_overflow_bit(c.candidates);
    c = {victim, windows(table, table.hash_of_item(victim)), 0, c.evictions,
         c.candidates.window(table, choice)};
  }

  KOKKOS_FUNCTION bool swap(word* slot, word expected, word item) const {
    if constexpr (concurrent) {
      return device::compare_and_swap(slot, expected, item) == expected;
    } else {
      *slot = item;
      return true;
    }
  }

  /// Sets the overflow bit of a key that lies in another window than its first.
  KOKKOS_FUNCTION void set_overflow_bit(windows const& candidates) const {
    std::uint64_t const w = candidates.window(table, 0);
    auto* const words = reinterpret_cast<std::uint32_t*>(table.metadata);
    std::uint32_t const bit = in_partition::overflow_bit(candidates.places()) << (w % 4 * 8);
    if (concurrent || (device::load_relaxed(words + w / 4) & bit) == 0)
      device::set_bits(words + w / 4, bit);
  }
};

template <class View>
struct count_shadowed_duplicates {
  View table;
  KOKKOS_FUNCTION void operator()(std::uint64_t at, std::uint64_t& sum) const {
    std::uint64_t const slots =
        std::uint64_t{table.windows} * partition_geometry<typename View::word>::window_slots;
    auto const* const partition = table.slots + at / slots * slots;
    auto const item = table.slots[at];
    if (table.slot.live(item))
      sum += is_shadowed(table, partition, item, static_cast<std::uint32_t>(at % slots));
  }
};

/// Places the items of a partition in a team's scratch (CUDA: a block's shared memory), looks for
/// equal keys, and writes the windows once.
///
///   windows     | 8 slots | 8 slots | …    A window is filled from slot 0 on. An item adds 1 to
///   taken       | 8       | 5       | …    `taken`, and gets the slot of the number before. From 8
///                                          on, the window is full, and stays full.
///
/// First every item takes a slot of its first window. Items that found it full then try their other
/// windows, and evict.
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
  /// Number of failed items from which on other chains end early: the table must be built anew in
  /// any case.
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
  /// Takes the slot of another item, at random, which is in hand afterwards.
  KOKKOS_FUNCTION void evict(memory& m, eviction_chain& c) const {
    std::uint64_t const random = rehashed(c.places, static_cast<std::uint32_t>(c.evictions));
    int const choice = choose_eviction(
        random, in_partition::choices, [&](int i) { return window(c.places, i); }, c.evicted_from);
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
