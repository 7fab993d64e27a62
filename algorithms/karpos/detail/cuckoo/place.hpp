// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/cuckoo/refs.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/device/league.hpp"

// Insertion into the dense layout, district by district.

namespace karpos::detail::cuckoo {

/// Puts items into the windows of their district: the first of their choices that has an empty slot, or in the place of
/// another item, which goes on in the same way. Where a chain of evictions has no end the item in hand is lost and
/// counted: whoever calls has a copy of everything.
///
/// Where slots can be swapped by one instruction, a GPU's threads insert at once; else one thread has a district.
///
/// Source: Pagh, Rodler, "Cuckoo hashing", 2004; Dietzfelbinger, Weidling, "Balanced allocation and dictionaries with
/// tightly packed constant size bins", 2007; Awad et al., "Better GPU hash tables" (BGHT), 2021.
template <class ExecSpace, class View>
struct place_items {
  using word = typename View::word;
  using in_district = district_geometry<word>;
  using windows = key_windows<View>;
  static constexpr int window_slots = in_district::window_slots;
  static constexpr bool at_once = device::is_device<ExecSpace> &&
                                  device::is_lock_free<static_cast<int>(sizeof(word)), ExecSpace>;
  static constexpr int threads = at_once                        ? 256
                                 : device::is_device<ExecSpace> ? 32
                                                                : 1,
                       teams_at_once = 6;
  static constexpr int tile_width = at_once ? Kokkos::min(32, device::warp_width<ExecSpace>) : 1;
  static constexpr std::uint64_t items_of_a_team = at_once ? 16384 / sizeof(word) : 1;
  static constexpr int max_moves = 500;
  /// Lost items after which the others are left alone: the table must be built anew in any case.
  static constexpr std::uint64_t max_homeless = 256;

  /// What lies in a team's scratch.
  struct memory {
    word left[items_of_a_team];
    std::uint32_t lefts, taken;
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);

  View table;
  regions<word> from;
  build_report* report;

  /// Teams for one region.
  KOKKOS_FUNCTION std::uint64_t teams_each() const {
    return at_once ? (from.capacity + items_of_a_team - 1) / items_of_a_team : 1;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    std::uint64_t const each = teams_each();
    auto const league_rank = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const r = league_rank / each, n = from.size(r);
    if constexpr (at_once) {
      std::uint64_t const first = league_rank % each * items_of_a_team;
      if (first >= n) return;
      std::uint64_t const here = n - first < items_of_a_team ? n - first : items_of_a_team;
      place_at_once(t, from.begin(r) + first, static_cast<std::uint32_t>(here));
    } else if (t.rank() == 0) {
      place_in_turn(from.begin(r), n);
    }
  }

 private:
  static constexpr std::uint64_t no_window = ~std::uint64_t(0);

  /// An item on its way to a slot.
  struct traveller {
    word item;
    windows choices;
    int choice = 0, moves = 0;
    std::uint64_t full = no_window;  // where it has been evicted
  };

  KOKKOS_FUNCTION traveller started(word item) const {
    return {item, windows(table, table.hash_of_item(item))};
  }

  // First every item tries its first choice, so that as many as possible are where lookups look first; then those that
  // are left set out, and the threads of a tile take them from a list: some go a long way.

  template <class Team>
  KOKKOS_FUNCTION void place_at_once(Team const& t, word const* items, std::uint32_t n) const {
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const rank = static_cast<std::uint32_t>(t.rank());
    auto const size = static_cast<std::uint32_t>(t.size());
    if (rank == 0) m.lefts = m.taken = 0;
    t.barrier();
    for (std::uint32_t i = 0; i < n; i += size) {  // together, for `append`
      bool left = false;
      word item{};
      if (i + rank < n) {
        item = items[i + rank];
        left = !settles(started(item));
      }
      std::uint32_t const at = t.append(&m.lefts, left);
      if (left) m.left[at] = item;
    }
    t.barrier();
    auto const tile = t.template this_tile<tile_width>();
    traveller traveling{};
    for (bool on_the_way = false;;) {
      std::uint32_t const at = t.append(&m.taken, !on_the_way);
      if (!on_the_way && at < m.lefts) {
        traveling = started(m.left[at]);
        on_the_way = true;
      }
      if (!tile.ballot([&](int) { return on_the_way; })) return;
      if (on_the_way) on_the_way = goes_on(traveling);
    }
  }

  /// The items that are left move to the front.
  KOKKOS_FUNCTION void place_in_turn(word* items, std::uint64_t n) const {
    constexpr std::uint64_t ahead = 8;
    std::uint64_t lefts = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i + ahead < n)
        device::prefetch(windows(table, table.hash_of_item(items[i + ahead])).slots(table, 0));
      word const item = items[i];
      if (!settles(started(item))) items[lefts++] = item;
    }
    for (std::uint64_t i = 0; i < lefts; ++i) {
      traveller t = started(items[i]);
      while (goes_on(t)) {
      }
    }
  }

  /// Returns: whether there was an empty slot in the chosen window.
  KOKKOS_FUNCTION bool settles(traveller const& t) const {
    word* const slots = t.choices.slots(table, t.choice);
    for (;;) {
      auto const window =
          device::load_window<window_slots, device::access::shared>(device::thread_tile{}, slots);
      auto const m = window.match(table.slot.is_empty());
      if (!m) return false;
      if (swap(slots + m.first(), table.slot.empty_slot(), t.item)) return true;
    }
  }

  /// Looks for an empty slot in one window; where there is none in any, another item moves. Returns: whether there is an
  /// item in hand.
  KOKKOS_FUNCTION bool goes_on(traveller& t) const {
    if (t.choices.window(table, t.choice) != t.full && settles(t)) {
      if (t.choice > 0) mark(t.choices);
      return false;
    }
    if (++t.choice < in_district::choices) return true;
    // The others' losses are looked at now and then: all threads read this word.
    int const moves = ++t.moves;
    bool const hopeless = (moves & (moves - 1)) == 0 && moves > 1 &&
                          device::load_relaxed(&report->homeless) >= max_homeless;
    if (moves == max_moves || hopeless) {
      device::add(&report->homeless, std::uint64_t(1));
      return false;
    }
    evict(t);
    return true;
  }

  /// Takes the slot of another item, in one of the windows, but not where the item has been evicted itself if there are
  /// others. The other item is in hand afterwards.
  KOKKOS_FUNCTION void evict(traveller& t) const {
    constexpr auto n = static_cast<std::uint32_t>(in_district::choices);
    std::uint64_t const random = rehashed(t.choices.places(), static_cast<std::uint32_t>(t.moves));
    int c = static_cast<int>(scale(static_cast<std::uint32_t>(random), n));
    for (std::uint32_t other = 1; other < n && t.choices.window(table, c) == t.full; ++other)
      c = c + 1 < in_district::choices ? c + 1 : 0;
    word* const slot = t.choices.slots(table, c) + (random >> 32) % window_slots;
    word const victim = device::load_relaxed(slot);
    t.choice = 0;
    if (!swap(slot, victim, t.item)) return;  // another thread's item has moved there: try again
    if (c > 0) mark(t.choices);
    t = {victim, windows(table, table.hash_of_item(victim)), 0, t.moves,
         t.choices.window(table, c)};
  }

  KOKKOS_FUNCTION bool swap(word* slot, word expected, word item) const {
    if constexpr (at_once) {
      return device::compare_and_swap(slot, expected, item) == expected;
    } else {
      *slot = item;
      return true;
    }
  }

  /// Says of a key's first window that it is elsewhere.
  KOKKOS_FUNCTION void mark(windows const& choices) const {
    std::uint64_t const w = choices.window(table, 0);
    auto* const words = reinterpret_cast<std::uint32_t*>(table.marks);
    std::uint32_t const bit = in_district::mark_of(choices.places()) << (w % 4 * 8);
    if (at_once || (device::load_relaxed(words + w / 4) & bit) == 0)
      device::set_bits(words + w / 4, bit);
  }
};

/// Counts the slots that hold a key which is also in another slot where a lookup would see it first.
template <class View>
struct count_twins {
  using word = typename View::word;
  using layout = typename View::layout;
  using in_district = district_geometry<word>;
  static constexpr int window_slots = in_district::window_slots;

  View table;

  KOKKOS_FUNCTION void operator()(std::uint64_t at, std::uint64_t& sum) const {
    word const item = table.slots[at];
    if (table.slot.live(item)) sum += is_twin(item, at / window_slots, at);
  }

 private:
  KOKKOS_FUNCTION bool is_twin(word item, std::uint64_t window, std::uint64_t at) const {
    key_windows<View> const choices(table, table.hash_of_item(item));
    bool twin = false;
    for (int c = 0; c < in_district::choices && choices.window(table, c) != window; ++c)
      twin |= is_among(choices.slots(table, c), window_slots, item);
    return twin || is_among(table.slots + window * window_slots, at % window_slots, item);
  }
  KOKKOS_FUNCTION static bool is_among(word const* slots, std::uint64_t n, word item) {
    bool there = false;
    for (std::uint64_t j = 0; j < n; ++j) there |= layout::key_of(slots[j]) == layout::key_of(item);
    return there;
  }
};

}  // namespace karpos::detail::cuckoo
