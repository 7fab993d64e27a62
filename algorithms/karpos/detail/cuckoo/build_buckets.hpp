// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/cuckoo/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"

namespace karpos::detail::cuckoo {

/// Phase 2 of the paper: one team builds the buckets of a region in its scratch, in rounds, and writes them once.
///
///   every homeless key goes to its slot in the round's subtable; of several, one stays | barrier |
///   whoever lost, or was there before the round, is homeless and goes to the next subtable
///
/// A round has one outcome, whatever the order of threads and items: equal seeds build equal tables everywhere. Buckets
/// with homeless keys after `limit` rounds start again with the next constants and more rounds.
///
/// Source: Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, "Real-time parallel hashing on the
/// GPU", SIGGRAPH Asia 2009. There all keys write, and whoever writes last stays.
template <class ExecSpace, class View>
struct build_buckets {
  using word = typename View::word;
  using layout = typename View::layout;
  using key_bits = typename layout::key_bits;
  using in_bucket = bucket_geometry<word>;
  using tune = tuning<ExecSpace>;
  static constexpr int threads = tune::threads_of_builders, teams_at_once = tune::builders_at_once;
  /// Two buckets: more would wait for the slowest of them, one has too few keys for the divisions before.
  static constexpr int buckets = 2, max_items = 1024;
  static constexpr std::uint32_t slots = buckets * in_bucket::slots;
  static constexpr int first_limit = 50, last_limit = 200;
  static constexpr std::uint32_t max_attempts = 64;
  static constexpr int tile_width = tune::tile_width;
  static constexpr auto few = static_cast<std::uint32_t>(tile_width);

  /// Of an item that is too large for scratch there is the key alone.
  static constexpr bool keeps_items = sizeof(word) <= 8;
  using kept = std::conditional_t<keeps_items, word, key_bits>;

  /// What lies in a team's scratch.
  struct memory {
    kept item[max_items];
    std::uint32_t place[max_items];  // of items: see pack
    std::uint32_t slot[slots];       // the claim that holds; 0: empty
    std::uint16_t homeless[2][max_items];
    std::uint32_t left[3];    // lengths of these lists, for three rounds in turn
    std::uint32_t unsettled;  // the last length, where few were left
    std::uint32_t attempt[buckets], count[buckets];
    std::uint32_t repeated[buckets];  // keys that share a slot with an equal one
    std::uint32_t unfinished;         // bit b: bucket b
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static_assert(buckets <= 32 && in_bucket::subtable_slots <= 512 && in_bucket::half_line <= 32 &&
                slots <= (1u << 13));  // see pack

  View table;
  regions<word> from;
  build_report* report;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& t) const {
    auto const r = static_cast<std::uint64_t>(t.league_rank());
    if (from.fill[r] > from.capacity) return;  // reported by whoever divided
    auto& m = *reinterpret_cast<memory*>(t.scratch());
    auto const n = static_cast<std::uint32_t>(from.fill[r]);
    std::uint64_t const first = r * buckets;
    read(t, m, from.begin(r), n, first);
    bool const placed = place_all(t, m, n);
    if (placed) write(t, m, from.begin(r), first);
    if (t.rank() != 0) return;
    if (!placed) return device::add(&report->homeless, std::uint64_t(1));
    for (std::uint32_t const repeated : m.repeated)
      if (repeated != 0) device::add(&report->repeated, std::uint64_t(repeated));
  }

 private:
  // The places of an item: bucket : 5 | slot of the bucket in subtable 3, less its first : 9 | in subtable 2, of its
  // half of the line : 5 | slot of the region in subtable 1 : 13.
  KOKKOS_FUNCTION static std::uint32_t pack(std::uint32_t b, std::uint64_t places) {
    std::uint32_t const second = in_bucket::slot_of(places, 1) % in_bucket::half_line;
    std::uint32_t const third = in_bucket::slot_of(places, 2) - 2 * in_bucket::subtable_slots;
    return b << 27 | third << 18 | second << 13 |
           (b * in_bucket::slots + in_bucket::slot_of(places, 0));
  }
  KOKKOS_FUNCTION static std::uint32_t bucket_of(std::uint32_t place) { return place >> 27; }
  KOKKOS_FUNCTION static std::uint32_t slot_of(std::uint32_t place, int subtable) {
    std::uint32_t const first = place & 0x1fff;
    if (subtable == 0) return first;
    if (subtable == 1)
      return first / in_bucket::half_line * in_bucket::half_line + in_bucket::half_line +
             (place >> 13 & 0x1f);
    return bucket_of(place) * in_bucket::slots + 2 * in_bucket::subtable_slots +
           (place >> 18 & 0x1ff);
  }

  template <class Team>
  KOKKOS_FUNCTION void read(Team const& t, memory& m, word const* items, std::uint32_t n,
                            std::uint64_t first) const {
    for (std::uint32_t s = rank(t); s < slots; s += size(t)) m.slot[s] = 0;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) m.attempt[b] = m.repeated[b] = 0;
    constexpr std::uint32_t batch = 4;  // so many loads overlap
    for (std::uint32_t i = rank(t); i < n; i += batch * size(t)) {
      word item[batch]{};
      for (std::uint32_t j = 0; j < batch; ++j)
        if (i + j * size(t) < n) item[j] = items[i + j * size(t)];
      for (std::uint32_t j = 0; j < batch; ++j)
        if (i + j * size(t) < n) keep(m, i + j * size(t), item[j], first);
    }
    if (t.rank() == 0) start(m, n);
    t.barrier();
  }
  KOKKOS_FUNCTION void keep(memory& m, std::uint32_t i, word item, std::uint64_t first) const {
    std::uint64_t const hash = table.hash_of_item(item);
    if constexpr (keeps_items)
      m.item[i] = item;
    else
      m.item[i] = layout::key_of(item);
    m.place[i] =
        pack(static_cast<std::uint32_t>(table.group_of(hash) - first), in_bucket::places(hash, 0));
    m.homeless[0][i] = static_cast<std::uint16_t>(i);
  }
  KOKKOS_FUNCTION static void start(memory& m, std::uint32_t homeless) {
    m.left[0] = homeless;
    m.left[1] = m.left[2] = 0;
  }

  /// Returns: whether every key found a slot.
  template <class Team>
  KOKKOS_FUNCTION bool place_all(Team const& t, memory& m, std::uint32_t n) const {
    for (int limit = first_limit;; limit = 2 * limit < last_limit ? 2 * limit : last_limit) {
      int round = 0;
      for (; round < limit && m.left[round % 3] > few; ++round) {
        play(t, m, round);
        t.barrier();
      }
      std::uint32_t left = m.left[round % 3];
      if (left <= few) {
        if (rank(t) < few) settle(t.template this_tile<tile_width>(), t.rank(), m, round, limit);
        t.barrier();
        left = m.unsettled;
      }
      if (left == 0) return true;
      if (!start_again(t, m, n, m.homeless[round % 2], left)) return false;
    }
  }

  /// The other rounds, two in three: each thread of a tile keeps one of the few that are homeless.
  template <class Tile>
  KOKKOS_FUNCTION void settle(Tile const& tile, int lane, memory& m, int round, int limit) const {
    std::uint16_t* const list = m.homeless[round % 2];
    std::uint32_t item = static_cast<std::uint32_t>(lane) < m.left[round % 3] ? list[lane] : nobody;
    auto const is_homeless = [&](int) { return item != nobody; };
    auto mask = tile.ballot(is_homeless);
    for (; round < limit && mask; ++round) {
      if (item != nobody) item = take(m, item, round, round % 3);
      tile.sync();
      mask = tile.ballot(is_homeless);
    }
    if (item != nobody) list[mask.rank(lane)] = static_cast<std::uint16_t>(item);
    if (lane == 0) m.unsettled = static_cast<std::uint32_t>(mask.count());
  }

  /// One round. Its homeless items are listed in homeless[round % 2], those of the next in the other list.
  template <class Team>
  KOKKOS_FUNCTION void play(Team const& t, memory& m, int round) const {
    int const subtable = round % 3, next = subtable == 2 ? 0 : subtable + 1;
    std::uint32_t const homeless = m.left[subtable];
    std::uint16_t const* const from_list = m.homeless[round % 2];
    std::uint16_t* const to_list = m.homeless[1 - round % 2];
    if (t.rank() == 0) m.left[3 - subtable - next] = 0;
    for (std::uint32_t i = 0; i < homeless; i += size(t)) {  // together, for `append`
      std::uint32_t item = nobody;
      if (i + rank(t) < homeless) item = take(m, from_list[i + rank(t)], round, subtable);
      std::uint32_t const at = t.append(m.left + next, item != nobody);
      if (item != nobody) to_list[at] = static_cast<std::uint16_t>(item);
    }
  }

  // A slot holds the largest claim made for it:  round, from 1 on : 8 | priority : 14 | item : 10.  In a round the item of
  // the highest priority stays, whoever comes first; of those with the same, the one with the largest key.
  static constexpr int item_bits = 10, priority_bits = 14;
  static_assert(max_items <= (1 << item_bits) && last_limit < 255);
  KOKKOS_FUNCTION static std::uint32_t item_of(std::uint32_t claim) {
    return claim & ((1u << item_bits) - 1);
  }

  /// Claims an item's slot. Returns: who is homeless then.
  KOKKOS_FUNCTION std::uint32_t take(memory& m, std::uint32_t item, int round, int subtable) const {
    std::uint32_t const place = m.place[item];
    std::uint32_t const priority = (place * 0x9e37'79b1u) >> (32 - priority_bits);
    std::uint32_t const claim = static_cast<std::uint32_t>(round + 1)
                                    << (item_bits + priority_bits) |
                                priority << item_bits | item;
    std::uint32_t* const slot = m.slot + slot_of(place, subtable);
    std::uint32_t const before = device::fetch_max(device::scratch(slot), claim);
    if ((before ^ claim) >> item_bits == 0) return break_tie(m, slot, before, claim);
    return before > claim ? item : before == 0 ? nobody : item_of(before);
  }

  /// Two claims of a round have the same priority; the larger has the slot, unless a third one does. Equal keys share it.
  KOKKOS_FUNCTION std::uint32_t break_tie(memory& m, std::uint32_t* slot, std::uint32_t one,
                                          std::uint32_t other) const {
    std::uint32_t const mine = one < other ? one : other;
    for (;;) {
      std::uint32_t const taken = device::load_relaxed(device::scratch(slot));
      if ((taken ^ mine) >> item_bits != 0) return item_of(mine);
      key_bits const key = key_of(m, item_of(mine)), its_key = key_of(m, item_of(taken));
      if (key == its_key) {
        device::fetch_add(device::scratch(m.repeated + bucket_of(m.place[item_of(mine)])), 1);
        return nobody;
      }
      if (key < its_key) return item_of(mine);
      if (device::compare_and_swap(device::scratch(slot), taken, mine) == taken)
        return item_of(taken);
    }
  }

  /// Empties the buckets that have homeless keys, and lists their keys again. Returns: whether all of them may be
  /// tried: none has more keys than a bucket may have, and there are constants left.
  template <class Team>
  KOKKOS_FUNCTION bool start_again(Team const& t, memory& m, std::uint32_t n,
                                   std::uint16_t const* homeless, std::uint32_t left) const {
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) m.count[b] = 0;
    if (t.rank() == 0) m.unfinished = 0;
    t.barrier();
    for (std::uint32_t i = rank(t); i < left; i += size(t))
      device::set_bits(device::scratch(&m.unfinished), 1u << bucket_of(m.place[homeless[i]]));
    for (std::uint32_t i = rank(t); i < n; i += size(t))
      device::fetch_add(device::scratch(m.count + bucket_of(m.place[i])), 1);
    t.barrier();
    std::uint32_t const unfinished = m.unfinished;
    bool gave_up = false;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) {
      if ((unfinished >> b & 1) == 0) continue;
      m.repeated[b] = 0;
      gave_up |= ++m.attempt[b] == max_attempts || m.count[b] > in_bucket::max_keys;
    }
    for (std::uint32_t s = rank(t); s < slots; s += size(t))
      if (unfinished >> s / in_bucket::slots & 1) m.slot[s] = 0;
    if (t.rank() == 0) start(m, 0);
    if (t.any(gave_up)) return false;
    list_again(t, m, n, unfinished);
    t.barrier();
    return true;
  }
  template <class Team>
  KOKKOS_FUNCTION void list_again(Team const& t, memory& m, std::uint32_t n,
                                  std::uint32_t unfinished) const {
    for (std::uint32_t i = 0; i < n; i += size(t)) {
      std::uint32_t const item = i + rank(t);
      std::uint32_t const b = item < n ? bucket_of(m.place[item]) : 0;
      bool const again = item < n && (unfinished >> b & 1);
      std::uint32_t const at = t.append(m.left, again);
      if (!again) continue;
      m.homeless[0][at] = static_cast<std::uint16_t>(item);
      std::uint64_t const hash = table.hash_of_item(layout::pack(key_of(m, item), 0));
      m.place[item] = pack(b, in_bucket::places(hash, m.attempt[b]));
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void write(Team const& t, memory const& m, word const* items,
                             std::uint64_t first) const {
    std::uint64_t const last = first + buckets, all = table.groups;
    auto const here = static_cast<std::uint32_t>((last < all ? last : all) - first);
    for (std::uint32_t b = rank(t); b < here; b += size(t))
      table.marks[first + b] = static_cast<std::uint8_t>(m.attempt[b]);
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
    if constexpr (keeps_items)
      return m.item[item_of(claim)];
    else
      return items[item_of(claim)];
  }

  static constexpr std::uint32_t nobody = ~std::uint32_t(0);
  KOKKOS_FUNCTION static key_bits key_of(memory const& m, std::uint32_t item) {
    if constexpr (keeps_items)
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
