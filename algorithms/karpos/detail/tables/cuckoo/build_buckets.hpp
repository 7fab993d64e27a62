// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/cuckoo/geometry.hpp"
#include "karpos/detail/tables/cuckoo/split.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos::detail::cuckoo {

/// Phase 2 of the paper, parallel cuckoo hashing: a team (CUDA: a block) builds the buckets of a
/// region in its scratch (shared memory), in rounds, and writes them once.
///
/// In a round, every unplaced key claims its slot in subtable (round mod 3). Of several claims one
/// wins. Keys whose claim lost, and keys evicted by one, are unplaced in the next round.
///
///   rounds 1, 2, 3   all threads of a GPU's team, each with the claims of its items in registers.
///                    No key is evicted, for the subtables were empty: an item is placed if its
///                    claim is in the slot after a barrier
///   later rounds     one warp for each bucket, with a list of its unplaced keys, which are six per
///                    cent
///
/// A round has one outcome, whatever the order of threads and items: equal seeds build equal tables
/// everywhere. If a bucket has unplaced keys after the last round of an attempt, its warp restarts
/// it with the next constants.
///
/// Source: Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, "Real-time
/// parallel hashing on the GPU", SIGGRAPH Asia 2009. There the last writer wins a slot.
template <class ExecSpace, class View, int Threads = tuning<ExecSpace>::builder_threads>
struct build_buckets {
  using word = typename View::word;
  using layout = typename View::layout;
  using key_bits = typename layout::key_bits;
  using in_bucket = bucket_geometry<word>;
  using tune = tuning<ExecSpace>;
  static constexpr int threads = Threads, teams_at_once = tune::builders_at_once;
  static constexpr int buckets = tune::region_buckets, max_items = tune::region_items;
  static constexpr std::uint32_t slots = buckets * in_bucket::slots;
  /// Maximum of rounds of the first attempt. Each later attempt has twice as many, up to a limit.
  static constexpr int first_max_rounds = 51, last_max_rounds = 201;
  static constexpr std::uint32_t max_attempts = 64, max_unplaced = in_bucket::slots;
  /// Rounds that all threads of a team take part in. A lone thread builds one bucket after the
  /// other.
  static constexpr int rounds_of_team = Threads > 1 ? in_bucket::subtables : 0;
  static constexpr int rows_each = (max_items + Threads - 1) / Threads;
  static constexpr int warp_lanes = tune::warp_lanes;
  static constexpr auto lanes = static_cast<std::uint32_t>(warp_lanes);
  static_assert(Threads % warp_lanes == 0 && (rounds_of_team == 0 || rows_each <= 64));

  /// Scratch holds whole items of up to 8 bytes; of larger ones their keys.
  static constexpr bool items_in_scratch = sizeof(word) <= 8;
  using scratch_item = std::conditional_t<items_in_scratch, word, key_bits>;

  /// The contents of a team's scratch.
  struct memory {
    scratch_item item[max_items];
    std::uint32_t candidates[max_items];  // of an item: see pack
    // Used if a warp makes all claims.
    std::uint32_t first_claim[rounds_of_team == 0 ? max_items : 1];
    std::uint32_t slot[slots];                      // the winning claim; 0: empty
    std::uint16_t unplaced[buckets][max_unplaced];  // items of a bucket
    std::uint32_t unplaced_count[buckets], attempt[buckets];
    std::uint32_t duplicates[buckets];  // keys that share a slot with an equal one
    std::uint32_t tied;                 // bit b: bucket b has claims that only keys tell apart
    std::uint32_t invalid, failed;      // items; buckets
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static_assert(buckets <= 32 && in_bucket::subtable_slots <= 512 && in_bucket::half_line <= 32 &&
                slots <= (1u << 13));  // see pack

  View table;
  partition::partitioned_rows<word> from;  ///< with a capacity of max_items at most
  build_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const r = static_cast<std::uint64_t>(t.league_rank());
    if (from.overflows(r)) return report_failure(t, &report->unplaced);
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const n = static_cast<std::uint32_t>(from.count(r));
    std::uint64_t const first = r * buckets;
    clear(t, m);
    t.barrier();
    if constexpr (rounds_of_team == 0)
      read(m, from.rows + from.begin(r), n, first);
    else
      run_team_rounds(t, m, from.rows + from.begin(r), n, first);
    t.barrier();
    if (m.invalid != 0) return report_failure(t, &report->invalid);
    finish_buckets(t, m, n);
    t.barrier();
    if (m.failed != 0) return report_failure(t, &report->unplaced);
    write(t, m, from.rows + from.begin(r), first);
    if (t.rank() != 0) return;
    for (std::uint32_t const n_equal : m.duplicates)
      if (n_equal != 0) device::add(&report->duplicates, std::uint64_t(n_equal));
  }

 private:
  // The candidate slots of an item:
  //   bucket : 5 | subtable 3 : 9 | subtable 2, in its half line : 5 | subtable 1, of region : 13
  KOKKOS_FUNCTION static std::uint32_t pack(std::uint32_t b, std::uint64_t places) {
    std::uint32_t const second = in_bucket::slot_of(places, 1) % in_bucket::half_line;
    std::uint32_t const third = in_bucket::slot_of(places, 2) - 2 * in_bucket::subtable_slots;
    return b << 27 | third << 18 | second << 13 |
           (b * in_bucket::slots + in_bucket::slot_of(places, 0));
  }
  KOKKOS_FUNCTION static std::uint32_t bucket_of(std::uint32_t candidates) {
    return candidates >> 27;
  }
  /// Returns the candidate in a subtable, as a slot of the region.
  KOKKOS_FUNCTION static std::uint32_t slot_of(std::uint32_t candidates, int subtable) {
    std::uint32_t const first = candidates & 0x1fff;
    if (subtable == 0) return first;
    if (subtable == 1)
      return first / in_bucket::half_line * in_bucket::half_line + in_bucket::half_line +
             (candidates >> 13 & 0x1f);
    return bucket_of(candidates) * in_bucket::slots + 2 * in_bucket::subtable_slots +
           (candidates >> 18 & 0x1ff);
  }

  // A slot holds the largest claim made for it:
  //   rounds 1, 2, 3   01 | priority : 18 | item : 12             each has a subtable of its own
  //   later rounds     1 | round : 8 | priority : 11 | item : 12  the later round evicts
  // In one round the highest priority wins, and of equal priorities the largest key.
  static constexpr int item_bits = 12, first_bits = 18, later_bits = 11;
  static_assert(max_items <= (1 << item_bits) && last_max_rounds < 256);
  KOKKOS_FUNCTION static std::uint32_t item_of(std::uint32_t claim) {
    return claim & ((1u << item_bits) - 1);
  }
  /// Returns a claim of the first three rounds. Its priority is bits of a hash that the candidates
  /// hardly depend on.
  KOKKOS_FUNCTION static std::uint32_t first_claim_of(std::uint64_t places, std::uint32_t item) {
    auto const bits = static_cast<std::uint32_t>(places >> 32);
    return 1u << 30 | (bits & ((1u << first_bits) - 1)) << item_bits | item;
  }
  KOKKOS_FUNCTION static std::uint32_t later_claim_of(std::uint32_t candidates, std::uint32_t item,
                                                      int round) {
    std::uint32_t const in_its_bucket =
        (candidates & 0x7ff'ffff) - bucket_of(candidates) * in_bucket::slots;
    std::uint32_t const priority = (in_its_bucket * 0x9e37'79b1u) >> (32 - later_bits);
    return 1u << 31 | static_cast<std::uint32_t>(round) << (item_bits + later_bits) |
           priority << item_bits | item;
  }
  KOKKOS_FUNCTION static bool are_tied(std::uint32_t one, std::uint32_t other) {
    return (one ^ other) >> item_bits == 0;
  }

  template <class Team>
  KOKKOS_FUNCTION static void clear(Team const& t, memory& m) {
    for (std::uint32_t s = rank(t); s < slots; s += size(t)) m.slot[s] = 0;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t))
      m.unplaced_count[b] = m.attempt[b] = m.duplicates[b] = 0;
    if (t.rank() == 0) m.tied = m.invalid = m.failed = 0;
  }

  /// Stores an item. Returns its first claim.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t store(memory& m, std::uint32_t i, word item,
                                                  std::uint64_t first) const {
    std::uint64_t const hash = table.hash_of_item(item), places = in_bucket::places(hash, 0);
    if constexpr (items_in_scratch)
      m.item[i] = item;
    else
      m.item[i] = layout::key_of(item);
    m.candidates[i] = pack(static_cast<std::uint32_t>(table.group_of(hash) - first), places);
    if (!table.slot.live(item)) device::add(device::scratch(&m.invalid), 1);
    return first_claim_of(places, i);
  }
  /// Lists an item as unplaced, unless the list is full: a bucket has no slots for more keys
  /// anyway.
  KOKKOS_FORCEINLINE_FUNCTION static void list(memory& m, std::uint32_t item) {
    std::uint32_t const b = bucket_of(m.candidates[item]);
    std::uint32_t const at = device::fetch_add(device::scratch(m.unplaced_count + b), 1);
    if (at < max_unplaced) m.unplaced[b][at] = static_cast<std::uint16_t>(item);
  }

  /// Stores all items, as unplaced ones. For a team of one thread.
  KOKKOS_FUNCTION void read(memory& m, word const* items, std::uint32_t n,
                            std::uint64_t first) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      m.first_claim[i] = store(m, i, items[i], first);
      list(m, i);
    }
  }

  /// Runs the first three rounds. A tie, which one in some thousand buckets has, is left to the
  /// bucket's warp, which restarts the bucket.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void run_team_rounds(Team const& t, memory& m, word const* items,
                                                   std::uint32_t n, std::uint64_t first) const {
    std::uint32_t claim[rows_each]{};
    std::uint64_t unplaced = read_rows(t, m, items, n, first, claim);
    t.barrier();
    KARPOS_UNROLL
    for (int round = 0; round < rounds_of_team; ++round)
      run_team_round(t, m, round, claim, unplaced);
    for_each_own_item(t, unplaced, [&](int, std::uint32_t i) { list(m, i); });
  }
  /// Runs one of the first three rounds. Removes the items that are placed from a thread's unplaced
  /// ones. Independent values are read before anything that might change them, for a compiler must
  /// assume that claims do.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void run_team_round(Team const& t, memory& m, int round,
                                                  std::uint32_t const (&claim)[rows_each],
                                                  std::uint64_t& unplaced) const {
    std::uint32_t slot[rows_each]{}, winner[rows_each]{};
    for_each_own_item(t, unplaced,
                      [&](int j, std::uint32_t i) { slot[j] = slot_of(m.candidates[i], round); });
    for_each_own_item(t, unplaced, [&](int j, std::uint32_t) {
      device::fetch_max(device::scratch(m.slot + slot[j]), claim[j]);
    });
    t.barrier();
    for_each_own_item(t, unplaced, [&](int j, std::uint32_t) { winner[j] = m.slot[slot[j]]; });
    for_each_own_item(t, unplaced, [&](int j, std::uint32_t) {
      if (winner[j] == claim[j])
        unplaced &= ~(std::uint64_t(1) << j);
      else if (are_tied(winner[j], claim[j]))
        device::set_bits(device::scratch(&m.tied), 1u << (slot[j] / in_bucket::slots));
    });
  }
  /// Stores the items of a thread. Returns which of its rows have an item, a bit for each.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t read_rows(Team const& t, memory& m, word const* items,
                                                      std::uint32_t n, std::uint64_t first,
                                                      std::uint32_t (&claim)[rows_each]) const {
    constexpr int batch = 4;  // loads that overlap
    std::uint64_t mine = 0;
    KARPOS_UNROLL
    for (int begin = 0; begin < rows_each; begin += batch) {
      word item[batch]{};
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j)
        if (index(t, begin + j) < n) item[j] = items[index(t, begin + j)];
      KARPOS_UNROLL
      for (int j = 0; j < batch; ++j) {
        if (begin + j >= rows_each || index(t, begin + j) >= n) continue;
        claim[begin + j] = store(m, index(t, begin + j), item[j], first);
        mine |= std::uint64_t(1) << (begin + j);
      }
    }
    return mine;
  }
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t index(Team const& t, int j) {
    return rank(t) + static_cast<std::uint32_t>(j) * size(t);
  }
  /// Calls f(j, index of the item) for each row of a thread whose bit is set.
  template <class Team, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_own_item(Team const& t, std::uint64_t rows,
                                                            F const& f) {
    KARPOS_UNROLL
    for (int j = 0; j < rows_each; ++j)
      if (rows >> j & 1) f(j, index(t, j));
  }

  /// Runs the remaining rounds: a warp has a bucket to itself.
  template <class Team>
  KOKKOS_FUNCTION void finish_buckets(Team const& t, memory& m, std::uint32_t n) const {
    auto const warp = t.template this_tile<warp_lanes>();
    std::uint32_t const lane = rank(t) % lanes;
    for (std::uint32_t b = rank(t) / lanes; b < buckets; b += size(t) / lanes)
      if (!finish_bucket(warp, lane, m, b, n) && lane == 0)
        device::add(device::scratch(&m.failed), 1);
  }
  /// Places the unplaced keys of a bucket. Returns whether every key found a slot.
  template <class Tile>
  KOKKOS_FUNCTION bool finish_bucket(Tile const& warp, std::uint32_t lane, memory& m,
                                     std::uint32_t b, std::uint32_t n) const {
    int round = rounds_of_team;
    if ((m.tied >> b & 1) != 0 || m.unplaced_count[b] > max_unplaced) {
      if (!restart_bucket(warp, lane, m, b, n, 0)) return false;
      round = 0;
    }
    int max_rounds = first_max_rounds;
    for (std::uint32_t attempt = 1; run_rounds(warp, lane, m, b, round, max_rounds); ++attempt) {
      if (attempt == max_attempts || !restart_bucket(warp, lane, m, b, n, attempt)) return false;
      round = 0;
      max_rounds = Kokkos::min(2 * max_rounds, int{last_max_rounds});
    }
    return true;
  }

  /// Runs rounds until no key is unplaced, max_rounds at most. Returns whether a key is unplaced
  /// then.
  template <class Tile>
  KARPOS_STEP_FUNCTION bool run_rounds(Tile const& warp, std::uint32_t lane, memory& m,
                                       std::uint32_t b, int round, int max_rounds) const {
    std::uint16_t* const list = m.unplaced[b];
    std::uint32_t count = m.unplaced_count[b];
    // Up to a round that begins with the first subtable again, so that the rounds below know their
    // subtable at compile time.
    for (; round < max_rounds && (count > lanes || round % 3 != 0); ++round)
      count = run_round(warp, lane, m, list, count, round);
    if (count > lanes) return true;
    // From here on each unplaced key has a lane.
    std::uint32_t item = lane < count ? list[lane] : no_item;
    auto const is_unplaced = [&](int) { return item != no_item; };
    auto mask = warp.ballot(is_unplaced);
    while (round < max_rounds && mask) {
      KARPOS_UNROLL
      for (int subtable = 0; subtable < 3; ++subtable) {
        if (item != no_item) item = claim_slot(m, item, round + subtable, subtable);
        warp.sync();
      }
      round += 3;
      mask = warp.ballot(is_unplaced);
    }
    return static_cast<bool>(mask);
  }
  /// Runs one round. Reads its unplaced items from a list, and writes those of the next round to
  /// it. Returns how many these are.
  template <class Tile>
  KARPOS_STEP_FUNCTION std::uint32_t run_round(Tile const& warp, std::uint32_t lane, memory& m,
                                               std::uint16_t* list, std::uint32_t count,
                                               int round) const {
    std::uint32_t unplaced = 0;
    for (std::uint32_t i = 0; i < count; i += lanes) {
      std::uint32_t item = no_item;
      if (i + lane < count) item = claim_slot(m, list[i + lane], round, round % 3);
      warp.sync();  // the lanes have read their items
      auto const mask = warp.ballot([&](int) { return item != no_item; });
      if (item != no_item)
        list[unplaced + static_cast<std::uint32_t>(mask.rank(static_cast<int>(lane)))] =
            static_cast<std::uint16_t>(item);
      unplaced += static_cast<std::uint32_t>(mask.count());
    }
    warp.sync();
    return unplaced;
  }

  /// Claims an item's slot. Returns the item that is unplaced then, this one or the one that it
  /// evicted, or no_item.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_slot(memory& m, std::uint32_t item, int round,
                                                       int subtable) const {
    std::uint32_t const candidates = m.candidates[item];
    std::uint32_t const claim = round < static_cast<int>(in_bucket::subtables)
                                    ? first_claim(m, item)
                                    : later_claim_of(candidates, item, round);
    std::uint32_t* const slot = m.slot + slot_of(candidates, subtable);
    std::uint32_t const before = device::fetch_max(device::scratch(slot), claim);
    if (are_tied(before, claim)) return break_tie(m, slot, before, claim);
    return before > claim ? item : before == 0 ? no_item : item_of(before);
  }
  KOKKOS_FUNCTION std::uint32_t first_claim(memory const& m, std::uint32_t item) const {
    if constexpr (rounds_of_team == 0)
      return m.first_claim[item];
    else
      return first_claim_of(places_of(m, item), item);
  }
  /// Returns the bits that an item's candidate slots are taken from, by the constants of its
  /// bucket.
  KOKKOS_FUNCTION std::uint64_t places_of(memory const& m, std::uint32_t item) const {
    return in_bucket::places(table.hash_of_item(layout::pack(key_of(m, item), 0)),
                             m.attempt[bucket_of(m.candidates[item])]);
  }

  /// Decides between two claims with one round and priority: the larger key has the slot, unless a
  /// third claim does; of equal keys one stays. Returns the item that is unplaced then, or no_item.
  KOKKOS_FUNCTION std::uint32_t break_tie(memory& m, std::uint32_t* slot, std::uint32_t one,
                                          std::uint32_t other) const {
    std::uint32_t const mine = Kokkos::min(one, other);
    for (;;) {
      std::uint32_t const winner = device::load_relaxed(device::scratch(slot));
      if (!are_tied(winner, mine)) return item_of(mine);
      key_bits const key = key_of(m, item_of(mine)), winner_key = key_of(m, item_of(winner));
      if (key == winner_key) {
        device::fetch_add(device::scratch(m.duplicates + bucket_of(m.candidates[item_of(mine)])),
                          1);
        return no_item;
      }
      if (key < winner_key) return item_of(mine);
      if (device::compare_and_swap(device::scratch(slot), winner, mine) == winner)
        return item_of(winner);
    }
  }

  /// Empties a bucket and lists its keys, with the constants of an attempt. Returns false if there
  /// are more keys than a bucket has slots or, in later attempts than the first, than max_keys.
  template <class Tile>
  KARPOS_STEP_FUNCTION bool restart_bucket(Tile const& warp, std::uint32_t lane, memory& m,
                                           std::uint32_t b, std::uint32_t n,
                                           std::uint32_t attempt) const {
    warp.sync();
    if (lane == 0) {
      m.duplicates[b] = 0;
      m.attempt[b] = attempt;
    }
    for (std::uint32_t s = lane; s < in_bucket::slots; s += lanes)
      m.slot[b * in_bucket::slots + s] = 0;
    warp.sync();
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < n; i += lanes) {
      std::uint32_t const item = i + lane;
      bool const is_here = item < n && bucket_of(m.candidates[item]) == b;
      auto const mask = warp.ballot([&](int) { return is_here; });
      if (is_here)
        list_again(m, b, count + static_cast<std::uint32_t>(mask.rank(static_cast<int>(lane))),
                   item);
      count += static_cast<std::uint32_t>(mask.count());
    }
    if (lane == 0) m.unplaced_count[b] = count;
    warp.sync();
    return count <= (attempt == 0 ? max_unplaced : in_bucket::max_keys);
  }
  KOKKOS_FUNCTION void list_again(memory& m, std::uint32_t b, std::uint32_t at,
                                  std::uint32_t item) const {
    std::uint64_t const places = places_of(m, item);
    m.candidates[item] = pack(b, places);
    if constexpr (rounds_of_team == 0) m.first_claim[item] = first_claim_of(places, item);
    if (at < max_unplaced) m.unplaced[b][at] = static_cast<std::uint16_t>(item);
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
};

}  // namespace karpos::detail::cuckoo
