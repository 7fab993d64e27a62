// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/backend/launch.hpp"
#include "karpos/backend/league.hpp"
#include "karpos/backend/memory.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/cuckoo/refs.hpp"

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
  static constexpr bool at_once =
      is_cuda<ExecSpace> && is_lock_free<static_cast<int>(sizeof(word)), ExecSpace>;
  static constexpr int threads = at_once ? 256 : is_cuda<ExecSpace> ? 32 : 1, teams_at_once = 4;
  static constexpr std::size_t scratch_bytes = 16;
  static constexpr int most_moves = 500;
  /// Lost items after which the others are left alone: the table must be built anew in any case.
  static constexpr std::uint64_t most_homeless = 256;

  View table;
  regions<word> from;
  build_report* report;

  /// Teams for one region.
  KOKKOS_FUNCTION std::uint64_t teams_each() const {
    return at_once ? (from.capacity + threads - 1) / threads : 1;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    std::uint64_t const each = teams_each();
    auto const league_rank = static_cast<std::uint64_t>(t.league_rank());
    std::uint64_t const r = league_rank / each, n = from.size(r);
    word const* const items = from.begin(r);
    if constexpr (at_once) {
      std::uint64_t const i = league_rank % each * threads + static_cast<std::uint64_t>(t.rank());
      if (i < n) place_one(items[i]);
    } else if (t.rank() == 0) {
      constexpr std::uint64_t ahead = 8;
      for (std::uint64_t i = 0; i < n; ++i) {
        if (i + ahead < n)
          prefetch(windows(table, table.hash_of_item(items[i + ahead])).slots(table, 0));
        place_one(items[i]);
      }
    }
  }

 private:
  KOKKOS_FUNCTION void place_one(word item) const {
    if (!place(item)) add(&report->homeless, std::uint64_t(1));
  }

  /// Returns: whether all found a place.
  KOKKOS_FUNCTION bool place(word item) const {
    for (int moves = 0; moves < most_moves; ++moves) {
      // Not too often: all threads read this word.
      bool const look = moves != 0 && (moves & (moves - 1)) == 0;
      if (look && load_relaxed(&report->homeless) >= most_homeless) return false;
      windows const choices(table, table.hash_of_item(item));
      for (int c = 0; c < in_district::choices; ++c)
        if (take_empty(choices, c, item)) return true;
      evict(choices, rehashed(choices.places(), static_cast<std::uint32_t>(moves) + 1), item);
    }
    return false;
  }

  KOKKOS_FUNCTION bool take_empty(windows const& choices, int c, word item) const {
    word* const slots = choices.slots(table, c);
    auto const window = load_window<window_slots, access::shared>(thread_tile{}, slots);
    for (auto m = window.match(table.slot.is_empty()); m; m = m.without_first()) {
      if (!swap(slots + m.first(), table.slot.empty_slot(), item)) continue;
      if (c > 0) mark(choices);
      return true;
    }
    return false;
  }

  /// Takes the slot of another item of one of the windows; that item is in hand afterwards.
  KOKKOS_FUNCTION void evict(windows const& choices, std::uint64_t random, word& item) const {
    int const c = static_cast<int>(scale(static_cast<std::uint32_t>(random), in_district::choices));
    word* const slot = choices.slots(table, c) + (random >> 32) % window_slots;
    word const victim = load_relaxed(slot);
    if (!swap(slot, victim, item)) return;  // another thread's item has moved there: try again
    if (c > 0) mark(choices);
    item = victim;
  }

  KOKKOS_FUNCTION bool swap(word* slot, word expected, word item) const {
    if constexpr (at_once) {
      return compare_and_swap(slot, expected, item) == expected;
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
    if ((load_relaxed(words + w / 4) & bit) == 0) set_bits(words + w / 4, bit);
  }
};

/// Counts the slots in use, and those that hold a key which is also in another slot where a lookup would see it first.
template <class View>
struct count_twins {
  using word = typename View::word;
  using layout = typename View::layout;
  using in_district = district_geometry<word>;
  static constexpr int window_slots = in_district::window_slots;
  struct counts {
    std::uint64_t stored = 0, twins = 0;
    KOKKOS_FUNCTION counts& operator+=(counts const& other) {
      stored += other.stored;
      twins += other.twins;
      return *this;
    }
  };
  using value_type = counts;

  View table;

  KOKKOS_FUNCTION void operator()(std::uint64_t w, counts& sum) const {
    word const* const slots = table.slots + w * window_slots;
    for (int i = 0; i < window_slots; ++i) {
      if (!table.slot.live(slots[i])) continue;
      ++sum.stored;
      sum.twins += is_twin(slots, i);
    }
  }
  KOKKOS_FUNCTION void init(counts& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(counts& sum, counts const& other) const { sum += other; }

 private:
  KOKKOS_FUNCTION bool is_twin(word const* slots, int i) const {
    auto const key = layout::key_of(slots[i]);
    bool twin = false;
    for (int j = 0; j < i; ++j) twin |= layout::key_of(slots[j]) == key;
    key_windows<View> const choices(table, table.hash_of_item(slots[i]));
    for (int c = 0; c < in_district::choices; ++c) {
      word const* const earlier = choices.slots(table, c);
      if (earlier == slots) break;
      for (int j = 0; j < window_slots; ++j) twin |= layout::key_of(earlier[j]) == key;
    }
    return twin;
  }
};

}  // namespace karpos::detail::cuckoo
