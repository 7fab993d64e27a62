// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/backend/league.hpp"
#include "karpos/backend/memory.hpp"
#include "karpos/backend/tuning.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"

namespace karpos::detail::cuckoo {

/// Phase 2 of the paper: one team builds the buckets of a region in its scratch, in rounds, and writes them once.
///
///   every homeless key goes to its slot in the round's subtable; of several, the largest stays | barrier |
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
  using tune = tuning<ExecSpace, cuckoo_hashing>;
  static constexpr int threads = tune::threads, teams_at_once = 3;
  static constexpr int most_items = region_items<word>;
  static constexpr int buckets = most_items / static_cast<int>(in_bucket::most_keys);
  static constexpr std::uint32_t slots = buckets * in_bucket::slots;
  static constexpr int first_limit = 50, last_limit = 200;
  static constexpr std::uint32_t most_attempts = 64;

  /// What lies in a team's scratch.
  struct memory {
    key_bits key[most_items];         // of items, as it differs from the empty key: never 0
    std::uint32_t place[most_items];  // of items: see pack
    std::uint32_t slot[slots];        // round it was taken in, from 1 on : 16 | item : 16; 0: empty
    std::uint16_t homeless[2][most_items];
    std::uint32_t left[3];  // lengths of these lists, for three rounds in turn
    std::uint32_t attempt[buckets], count[buckets];
    std::uint32_t unfinished;  // bit b: bucket b
  };
  static constexpr std::size_t scratch_bytes = sizeof(memory);
  static_assert(most_items <= 65536 && buckets <= 32 && slots <= (1u << 13));

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
    std::uint64_t const stored = placed ? write(t, m, from.begin(r), first) : 0;
    if (t.rank() != 0) return;
    if (!placed) return add(&report->homeless, std::uint64_t(1));
    add(&report->placed, std::uint64_t(n));
    add(&report->stored, stored);
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
    for (std::uint32_t b = rank(t); b < buckets; b += size(t)) m.attempt[b] = 0;
    for (std::uint32_t i = rank(t); i < n; i += size(t)) {
      key_bits const key = layout::key_of(items[i]);
      std::uint64_t const hash = table.hash_of_item(layout::pack(key, 0));
      m.key[i] = key ^ empty();
      m.place[i] = pack(static_cast<std::uint32_t>(table.group_of(hash) - first),
                        in_bucket::places(hash, 0));
      m.homeless[0][i] = static_cast<std::uint16_t>(i);
    }
    if (t.rank() == 0) start(m, n);
    t.barrier();
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
      for (; round < limit && m.left[round % 3] != 0; ++round) {
        play(t, m, round);
        t.barrier();
      }
      std::uint32_t const left = m.left[round % 3];
      if (left == 0) return true;
      if (!start_again(t, m, n, m.homeless[round % 2], left)) return false;
    }
  }

  /// One round. Its homeless items are listed in homeless[round % 2], those of the next in the other list.
  template <class Team>
  KOKKOS_FUNCTION void play(Team const& t, memory& m, int round) const {
    std::uint32_t const homeless = m.left[round % 3];
    std::uint32_t* const next = m.left + (round + 1) % 3;
    if (t.rank() == 0) m.left[(round + 2) % 3] = 0;
    for (std::uint32_t i = 0; i < homeless; i += size(t)) {  // together, for `append`
      std::uint32_t item = nobody;
      if (i + rank(t) < homeless) item = take(m, m.homeless[round % 2][i + rank(t)], round);
      std::uint32_t const at = t.append(next, item != nobody);
      if (item != nobody) m.homeless[1 - round % 2][at] = static_cast<std::uint16_t>(item);
    }
  }

  /// Gives an item its slot, unless a larger one has come there in the same round. Returns: who is homeless then.
  KOKKOS_FUNCTION std::uint32_t take(memory& m, std::uint32_t item, int round) const {
    std::uint32_t const now = static_cast<std::uint32_t>(round + 1) << 16;
    std::uint32_t* const slot = m.slot + slot_of(m.place[item], round % 3);
    for (std::uint32_t seen = load_in_scratch(slot);;) {
      if ((seen & 0xffff'0000u) == now) {
        std::uint32_t const other = seen & 0xffff;
        if (m.key[other] == m.key[item]) return nobody;  // equal keys share a slot: `stored` tells
        if (m.key[other] > m.key[item]) return item;
      }
      std::uint32_t const before = compare_and_swap_in_scratch(slot, seen, now | item);
      if (before == seen) return seen == 0 ? nobody : seen & 0xffff;
      seen = before;
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
      set_bits_in_scratch(&m.unfinished, 1u << bucket_of(m.place[homeless[i]]));
    for (std::uint32_t i = rank(t); i < n; i += size(t))
      fetch_add_in_scratch(m.count + bucket_of(m.place[i]), 1);
    t.barrier();
    std::uint32_t const unfinished = m.unfinished;
    bool gave_up = false;
    for (std::uint32_t b = rank(t); b < buckets; b += size(t))
      if (unfinished >> b & 1)
        gave_up |= ++m.attempt[b] == most_attempts || m.count[b] > in_bucket::most_keys;
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
      std::uint64_t const hash = table.hash_of_item(layout::pack(m.key[item] ^ empty(), 0));
      m.place[item] = pack(b, in_bucket::places(hash, m.attempt[b]));
    }
  }

  /// Returns: slots in use.
  template <class Team>
  KOKKOS_FUNCTION std::uint64_t write(Team const& t, memory const& m, word const* items,
                                      std::uint64_t first) const {
    std::uint64_t const last = first + buckets, all = table.groups;
    auto const here = static_cast<std::uint32_t>((last < all ? last : all) - first);
    for (std::uint32_t b = rank(t); b < here; b += size(t))
      table.marks[first + b] = static_cast<std::uint8_t>(m.attempt[b]);
    word* const to = table.slots + first * in_bucket::slots;
    std::uint64_t stored = 0, total = 0;
    for (std::uint32_t s = rank(t); s < here * in_bucket::slots; s += size(t)) {
      bool const used = m.slot[s] != 0;
      to[s] = used ? items[m.slot[s] & 0xffff] : table.slot.empty_slot();
      stored += used;
    }
    t.prefix_sum(stored, total);
    return total;
  }

  static constexpr std::uint32_t nobody = ~std::uint32_t(0);
  KOKKOS_FUNCTION key_bits empty() const { return table.slot.reserved_keys().empty; }
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
