// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/cuckoo/items.hpp"
#include "karpos/detail/cuckoo/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"

namespace karpos::detail::cuckoo {

/// Phase 2 of the paper, parallel cuckoo hashing: a team builds the buckets of a region in its scratch, in rounds, and
/// writes them once.
///
///   every unplaced key claims its slot in subtable (round mod 3); of several claims one wins | barrier |
///   keys whose claim lost, and keys evicted by one, are unplaced in the next round
///
/// A round has one outcome, whatever the order of threads and items: equal seeds build equal tables everywhere.
/// A bucket with unplaced keys after `max_rounds` is restarted with the next constants.
///
/// Source: Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, "Real-time parallel hashing on the
/// GPU", SIGGRAPH Asia 2009. There the last writer wins a slot.
template <class ExecSpace, class View>
struct build_buckets {
  using word = typename View::word;
  using layout = typename View::layout;
  using key_bits = typename layout::key_bits;
  using in_bucket = bucket_geometry<word>;
  using tune = tuning<ExecSpace>;
  static constexpr int threads = tune::builder_threads, teams_at_once = tune::builders_at_once;
  static constexpr int buckets = tune::region_buckets, max_items = 1024;
  static constexpr std::uint32_t slots = buckets * in_bucket::slots;
  /// Rounds of the first attempt, twice as many in each later one up to a limit.
  static constexpr int first_max_rounds = 50, last_max_rounds = 200;
  static constexpr std::uint32_t max_attempts = 64;
  static constexpr int warp_lanes = tune::finishing_lanes;
  static constexpr auto max_in_warp = static_cast<std::uint32_t>(warp_lanes);

  /// Scratch holds whole items of 8 bytes; of larger ones their keys.
  static constexpr bool items_in_scratch = sizeof(word) <= 8;
  using scratch_item = std::conditional_t<items_in_scratch, word, key_bits>;

  /// What lies in a team's scratch.
  struct memory {
    scratch_item item[max_items];
    std::uint32_t candidates[max_items];   // of an item: see pack
    std::uint32_t slot[slots];             // the winning claim; 0: empty
    std::uint16_t unplaced[2][max_items];  // items, in this round and in the next
    std::uint32_t unplaced_count[3];       // lengths of these lists, by round mod 3
    std::uint32_t unplaced_in_warp;        // the last length, where a warp finished
    std::uint32_t attempt[buckets], count[buckets];
    std::uint32_t duplicates[buckets];  // keys that share a slot with an equal one
    std::uint32_t unfinished;           // bit b: bucket b has unplaced keys
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static_assert(buckets <= 32 && in_bucket::subtable_slots <= 512 && in_bucket::half_line <= 32 &&
                slots <= (1u << 13));  // see pack

  View table;
  multisplit_regions<word> from;
  build_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const r = static_cast<std::uint64_t>(t.league_rank());
    if (from.fill[r] > from.capacity) return;  // overflowing: reported by the multisplit
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const n = static_cast<std::uint32_t>(from.fill[r]);
    std::uint64_t const first = r * buckets;
    read(t, m, from.begin(r), n, first);
    bool const placed = place_all(t, m, n);
    if (placed) write(t, m, from.begin(r), first);
    if (t.rank() != 0) return;
    if (!placed) return device::add(&report->unplaced, std::uint64_t(1));
    for (std::uint32_t const n_equal : m.duplicates)
      if (n_equal != 0) device::add(&report->duplicates, std::uint64_t(n_equal));
  }

 private:
  // The candidate slots of an item:
  //   bucket : 5 | in subtable 3 : 9 | in subtable 2, of its half of a line : 5 | in subtable 1, of the region : 13
  KOKKOS_FUNCTION static std::uint32_t pack(std::uint32_t b, std::uint64_t places) {
    std::uint32_t const second = in_bucket::slot_of(places, 1) % in_bucket::half_line;
    std::uint32_t const third = in_bucket::slot_of(places, 2) - 2 * in_bucket::subtable_slots;
    return b << 27 | third << 18 | second << 13 |
           (b * in_bucket::slots + in_bucket::slot_of(places, 0));
  }
  KOKKOS_FUNCTION static std::uint32_t bucket_of(std::uint32_t candidates) {
    return candidates >> 27;
  }
  /// Returns: the candidate in a subtable, as a slot of the region.
  KOKKOS_FUNCTION static std::uint32_t slot_of(std::uint32_t candidates, int subtable) {
    std::uint32_t const first = candidates & 0x1fff;
    if (subtable == 0) return first;
    if (subtable == 1)
      return first / in_bucket::half_line * in_bucket::half_line + in_bucket::half_line +
             (candidates >> 13 & 0x1f);
    return bucket_of(candidates) * in_bucket::slots + 2 * in_bucket::subtable_slots +
           (candidates >> 18 & 0x1ff);
  }

  template <class Team>
  KOKKOS_FUNCTION void read(Team const& t, memory& m, word const* items, std::uint32_t n,
                            std::uint64_t first) const {
    for (std::uint32_t s = rank(t); s < slots; s += size(t)) m.slot[s] = 0;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) m.attempt[b] = m.duplicates[b] = 0;
    constexpr std::uint32_t batch = 4;  // loads that overlap
    for (std::uint32_t i = rank(t); i < n; i += batch * size(t)) {
      word item[batch]{};
      for (std::uint32_t j = 0; j < batch; ++j)
        if (i + j * size(t) < n) item[j] = items[i + j * size(t)];
      for (std::uint32_t j = 0; j < batch; ++j)
        if (i + j * size(t) < n) store(m, i + j * size(t), item[j], first);
    }
    if (t.rank() == 0) begin_rounds(m, n);
    t.barrier();
  }
  KOKKOS_FUNCTION void store(memory& m, std::uint32_t i, word item, std::uint64_t first) const {
    std::uint64_t const hash = table.hash_of_item(item);
    if constexpr (items_in_scratch)
      m.item[i] = item;
    else
      m.item[i] = layout::key_of(item);
    m.candidates[i] =
        pack(static_cast<std::uint32_t>(table.group_of(hash) - first), in_bucket::places(hash, 0));
    m.unplaced[0][i] = static_cast<std::uint16_t>(i);
  }
  KOKKOS_FUNCTION static void begin_rounds(memory& m, std::uint32_t unplaced) {
    m.unplaced_count[0] = unplaced;
    m.unplaced_count[1] = m.unplaced_count[2] = 0;
  }

  /// Returns: whether every key found a slot.
  template <class Team>
  KOKKOS_FUNCTION bool place_all(Team const& t, memory& m, std::uint32_t n) const {
    for (int max_rounds = first_max_rounds;;
         max_rounds = Kokkos::min(2 * max_rounds, int{last_max_rounds})) {
      int round = 0;
      for (; round < max_rounds && m.unplaced_count[round % 3] > max_in_warp; ++round) {
        run_round(t, m, round);
        t.barrier();
      }
      std::uint32_t unplaced = m.unplaced_count[round % 3];
      if (unplaced <= max_in_warp) {
        if (rank(t) < max_in_warp)
          finish_in_warp(t.template this_tile<warp_lanes>(), t.rank(), m, round, max_rounds);
        t.barrier();
        unplaced = m.unplaced_in_warp;
      }
      if (unplaced == 0) return true;
      if (!restart(t, m, n, m.unplaced[round % 2], unplaced)) return false;
    }
  }

  /// The remaining rounds, two in three: a warp has a lane for every unplaced key.
  template <class Tile>
  KOKKOS_FUNCTION void finish_in_warp(Tile const& tile, int lane, memory& m, int round,
                                      int max_rounds) const {
    std::uint16_t* const list = m.unplaced[round % 2];
    std::uint32_t item =
        static_cast<std::uint32_t>(lane) < m.unplaced_count[round % 3] ? list[lane] : no_item;
    auto const is_unplaced = [&](int) { return item != no_item; };
    auto mask = tile.ballot(is_unplaced);
    for (; round < max_rounds && mask; ++round) {
      if (item != no_item) item = claim_slot(m, item, round, round % 3);
      tile.sync();
      mask = tile.ballot(is_unplaced);
    }
    if (item != no_item) list[mask.rank(lane)] = static_cast<std::uint16_t>(item);
    if (lane == 0) m.unplaced_in_warp = static_cast<std::uint32_t>(mask.count());
  }

  /// One round: takes its unplaced items from one list and writes those of the next round to the other.
  template <class Team>
  KOKKOS_FUNCTION void run_round(Team const& t, memory& m, int round) const {
    int const subtable = round % 3, next = subtable == 2 ? 0 : subtable + 1;
    std::uint32_t const unplaced = m.unplaced_count[subtable];
    std::uint16_t const* const from_list = m.unplaced[round % 2];
    std::uint16_t* const to_list = m.unplaced[1 - round % 2];
    if (t.rank() == 0) m.unplaced_count[3 - subtable - next] = 0;
    for (std::uint32_t i = 0; i < unplaced; i += size(t)) {  // all threads: `append` is collective
      std::uint32_t item = no_item;
      if (i + rank(t) < unplaced) item = claim_slot(m, from_list[i + rank(t)], round, subtable);
      std::uint32_t const at = t.append(m.unplaced_count + next, item != no_item);
      if (item != no_item) to_list[at] = static_cast<std::uint16_t>(item);
    }
  }

  // A slot holds the largest claim made for it:
  //   round, from 1 on : 8 | priority : 14 | item : 10
  // The later round evicts; in one round the highest priority wins, and of equal priorities the largest key.
  static constexpr int item_bits = 10, priority_bits = 14;
  static_assert(max_items <= (1 << item_bits) && last_max_rounds < 255);
  KOKKOS_FUNCTION static std::uint32_t item_of(std::uint32_t claim) {
    return claim & ((1u << item_bits) - 1);
  }

  /// Claims an item's slot. Returns: the item that is unplaced then (itself, or the one that it evicted), or no_item.
  KOKKOS_FUNCTION std::uint32_t claim_slot(memory& m, std::uint32_t item, int round,
                                           int subtable) const {
    std::uint32_t const candidates = m.candidates[item];
    std::uint32_t const priority = (candidates * 0x9e37'79b1u) >> (32 - priority_bits);
    std::uint32_t const claim = static_cast<std::uint32_t>(round + 1)
                                    << (item_bits + priority_bits) |
                                priority << item_bits | item;
    std::uint32_t* const slot = m.slot + slot_of(candidates, subtable);
    std::uint32_t const before = device::fetch_max(device::scratch(slot), claim);
    if ((before ^ claim) >> item_bits == 0) return break_tie(m, slot, before, claim);
    return before > claim ? item : before == 0 ? no_item : item_of(before);
  }

  /// Two claims have one round and priority: the larger key has the slot, unless a third claim does; of equal keys one
  /// stays.
  KOKKOS_FUNCTION std::uint32_t break_tie(memory& m, std::uint32_t* slot, std::uint32_t one,
                                          std::uint32_t other) const {
    std::uint32_t const mine = Kokkos::min(one, other);
    for (;;) {
      std::uint32_t const winner = device::load_relaxed(device::scratch(slot));
      if ((winner ^ mine) >> item_bits != 0) return item_of(mine);
      key_bits const key = key_of(m, item_of(mine)), its_key = key_of(m, item_of(winner));
      if (key == its_key) {
        device::fetch_add(device::scratch(m.duplicates + bucket_of(m.candidates[item_of(mine)])),
                          1);
        return no_item;
      }
      if (key < its_key) return item_of(mine);
      if (device::compare_and_swap(device::scratch(slot), winner, mine) == winner)
        return item_of(winner);
    }
  }

  /// Empties the buckets that have unplaced keys and lists their keys again, with the next constants. Returns: false if
  /// one has more keys than a bucket may have, or no constants left.
  template <class Team>
  KOKKOS_FUNCTION bool restart(Team const& t, memory& m, std::uint32_t n,
                               std::uint16_t const* unplaced, std::uint32_t n_unplaced) const {
    find_unfinished(t, m, n, unplaced, n_unplaced);
    std::uint32_t const unfinished = m.unfinished;
    bool failed = false;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) {
      if ((unfinished >> b & 1) == 0) continue;
      m.duplicates[b] = 0;
      failed |= ++m.attempt[b] == max_attempts || m.count[b] > in_bucket::max_keys;
    }
    for (std::uint32_t s = rank(t); s < slots; s += size(t))
      if (unfinished >> s / in_bucket::slots & 1) m.slot[s] = 0;
    if (t.rank() == 0) begin_rounds(m, 0);
    if (t.any(failed)) return false;
    list_again(t, m, n, unfinished);
    t.barrier();
    return true;
  }
  /// Finds the buckets that have unplaced keys, and how many keys each has.
  template <class Team>
  KOKKOS_FUNCTION void find_unfinished(Team const& t, memory& m, std::uint32_t n,
                                       std::uint16_t const* unplaced,
                                       std::uint32_t n_unplaced) const {
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) m.count[b] = 0;
    if (t.rank() == 0) m.unfinished = 0;
    t.barrier();
    for (std::uint32_t i = rank(t); i < n_unplaced; i += size(t))
      device::set_bits(device::scratch(&m.unfinished), 1u << bucket_of(m.candidates[unplaced[i]]));
    for (std::uint32_t i = rank(t); i < n; i += size(t))
      device::fetch_add(device::scratch(m.count + bucket_of(m.candidates[i])), 1);
    t.barrier();
  }
  template <class Team>
  KOKKOS_FUNCTION void list_again(Team const& t, memory& m, std::uint32_t n,
                                  std::uint32_t unfinished) const {
    for (std::uint32_t i = 0; i < n; i += size(t)) {
      std::uint32_t const item = i + rank(t);
      std::uint32_t const b = item < n ? bucket_of(m.candidates[item]) : 0;
      bool const again = item < n && (unfinished >> b & 1);
      std::uint32_t const at = t.append(m.unplaced_count, again);
      if (!again) continue;
      m.unplaced[0][at] = static_cast<std::uint16_t>(item);
      std::uint64_t const hash = table.hash_of_item(layout::pack(key_of(m, item), 0));
      m.candidates[item] = pack(b, in_bucket::places(hash, m.attempt[b]));
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void write(Team const& t, memory const& m, word const* items,
                             std::uint64_t first) const {
    std::uint64_t const last = Kokkos::min<std::uint64_t>(first + buckets, table.groups);
    auto const here = static_cast<std::uint32_t>(last - first);
    for (std::uint32_t b = rank(t); b < here; b += size(t))
      table.metadata[first + b] = static_cast<std::uint8_t>(m.attempt[b]);
    word* const to = table.slots + first * in_bucket::slots;
    constexpr std::uint32_t batch = 3;
    std::uint32_t const all_slots = here * in_bucket::slots;
    for (std::uint32_t s = rank(t); s < all_slots; s += batch * size(t)) {
      word w[batch]{};
      for (std::uint32_t j = 0; j < batch; ++j)
        if (s + j * size(t) < all_slots) w[j] = word_at(m, items, s + j * size(t));
      for (std::uint32_t j = 0; j < batch; ++j)
        if (s + j * size(t) < all_slots) to[s + j * size(t)] = w[j];
    }
  }
  KOKKOS_FUNCTION word word_at(memory const& m, [[maybe_unused]] word const* items,
                               std::uint32_t slot) const {
    std::uint32_t const claim = m.slot[slot];
    if (claim == 0) return table.slot.empty_slot();
    if constexpr (items_in_scratch)
      return m.item[item_of(claim)];
    else
      return items[item_of(claim)];
  }

  static constexpr std::uint32_t no_item = ~std::uint32_t(0);
  KOKKOS_FUNCTION static key_bits key_of(memory const& m, std::uint32_t item) {
    if constexpr (items_in_scratch)
      return layout::key_of(m.item[item]);
    else
      return m.item[item];
  }
  template <class Team>
  KOKKOS_FUNCTION static std::uint32_t rank(Team const& t) {
    return static_cast<std::uint32_t>(t.rank());
  }
  template <class Team>
  KOKKOS_FUNCTION static std::uint32_t size(Team const& t) {
    return static_cast<std::uint32_t>(t.size());
  }
};

}  // namespace karpos::detail::cuckoo
