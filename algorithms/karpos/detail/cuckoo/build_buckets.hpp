// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/backend/league.hpp"
#include "karpos/backend/memory.hpp"
#include "karpos/backend/tuning.hpp"
#include "karpos/detail/cuckoo/build_alone.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"

namespace karpos::detail::cuckoo {

/// Phase 2 of the paper: one team builds the buckets of a region in its scratch, in rounds, and writes them once.
///
///   all homeless keys take their slots in subtable s; of several, the largest wins | barrier |
///   whoever is not there (any more) becomes homeless, empties its slot in subtable s + 1 | barrier | s + 1
///
/// A round has one outcome, whatever the order of threads and items: equal seeds build equal tables everywhere. Buckets
/// with homeless keys after `limit` rounds start again with the next constants and more rounds.
///
/// Source: Alcantara, Sharf, Abbasinejad, Sengupta, Mitzenmacher, Owens, Amenta, "Real-time parallel hashing on the
/// GPU", SIGGRAPH Asia 2009. There the winner of a round is whoever writes last.
///
/// Teams: whether to build as a team does. A team of one thread has a faster step with the same outcome.
template <class ExecSpace, class View,
          bool Teams = (tuning<ExecSpace, cuckoo_hashing>::threads > 1)>
struct build_buckets {
  using word = typename View::word;
  using layout = typename View::layout;
  using key_bits = typename layout::key_bits;
  using value_bits = typename layout::value_bits;
  using in_bucket = bucket_geometry<word>;
  using tune = tuning<ExecSpace, cuckoo_hashing>;
  static constexpr int threads = tune::threads, teams_at_once = 2;
  static constexpr int each = tune::item_bytes / static_cast<int>(sizeof(word));
  static constexpr int buckets = threads * each / static_cast<int>(in_bucket::most_keys);
  static constexpr std::uint32_t slots = buckets * in_bucket::slots;
  /// Rounds of a bucket's first attempt and, doubled from attempt to attempt, of its last ones.
  struct rules {
    static constexpr int first_limit = 25, last_limit = 200;
    static constexpr std::uint32_t most_attempts = 64;
  };
  using alone = build_alone<View, buckets, threads * each, rules>;
  static constexpr bool in_teams = Teams;
  static constexpr std::size_t scratch_bytes =
      in_teams ? slots * (sizeof(key_bits) + sizeof(value_bits)) +
                     (2 * buckets + 1) * sizeof(std::uint32_t)
               : sizeof(typename alone::memory);

  View table;
  regions<word> from;
  build_report* report;

  KOKKOS_FUNCTION void operator()(team<ExecSpace>& t) const {
    auto const r = static_cast<std::uint64_t>(t.league_rank());
    if (from.fill[r] > from.capacity) return;  // reported by whoever divided
    bool placed = false;
    std::uint64_t stored = 0;
    if constexpr (in_teams) {
      work w(*this, t);
      placed = w.place_all();
      if (placed) stored = w.write();
    } else {
      auto& memory = *reinterpret_cast<typename alone::memory*>(t.scratch());
      alone build(table, from.begin(r), static_cast<int>(from.size(r)), r * buckets, memory);
      placed = build(stored);
    }
    if (t.rank() != 0) return;
    if (stored != 0) add(&report->stored, stored);
    if (!placed) add(&report->homeless, std::uint64_t(1));
  }

 private:
  /// One region's buckets while they are built.
  class work {
   public:
    KOKKOS_FUNCTION work(build_buckets const& all, team<ExecSpace>& t)
        : m_all(all),
          m_team(t),
          m_keys(reinterpret_cast<key_bits*>(t.scratch())),
          m_values(reinterpret_cast<value_bits*>(m_keys + slots)),
          m_attempts(reinterpret_cast<std::uint32_t*>(m_values + slots)),
          m_counts(m_attempts + buckets),
          m_unfinished(m_counts + buckets),
          m_first(static_cast<std::uint64_t>(t.league_rank()) * buckets) {
      auto const r = static_cast<std::uint64_t>(t.league_rank());
      auto const n = static_cast<int>(all.from.size(r));
      m_items = all.from.begin(r);
      for (std::uint32_t i = rank(); i < slots; i += size()) m_keys[i] = 0;
      for (std::uint32_t b = rank(); b < buckets; b += size()) m_attempts[b] = 0;
      for (int j = 0; j < each; ++j) {
        int const i = j * t.size() + t.rank();
        m_where[j] = nowhere;
        if (i >= n) continue;
        m_key[j] = layout::key_of(m_items[i]);
        m_where[j] = seek(m_key[j], 0, 0);
      }
      t.barrier();
    }

    /// Returns: whether every key found a slot.
    KOKKOS_FUNCTION bool place_all() {
      int subtable = 0, round = 0, limit = rules::first_limit;
      while (play(subtable)) {
        subtable = subtable == 2 ? 0 : subtable + 1;
        if (++round < limit) continue;
        if (!start_again()) return false;
        subtable = round = 0;
        limit = 2 * limit < rules::last_limit ? 2 * limit : rules::last_limit;
      }
      return true;
    }

    /// Returns: slots in use.
    KOKKOS_FUNCTION std::uint64_t write() const {
      for (int j = 0; j < each; ++j)
        if (m_where[j] != nowhere)
          m_values[slot(m_where[j])] =
              layout::bits_of(layout::value_of(m_items[j * m_team.size() + m_team.rank()]));
      std::uint64_t const last = m_first + buckets, all = m_all.table.groups;
      auto const here = static_cast<std::uint32_t>((last < all ? last : all) - m_first);
      for (std::uint32_t b = rank(); b < here; b += size())
        m_all.table.marks[m_first + b] = static_cast<std::uint8_t>(m_attempts[b]);
      m_team.barrier();
      word* const to = m_all.table.slots + m_first * in_bucket::slots;
      std::uint64_t stored = 0, total = 0;
      for (std::uint32_t i = rank(); i < here * in_bucket::slots; i += size()) {
        bool const used = m_keys[i] != 0;
        to[i] =
            used ? layout::pack(m_keys[i] ^ empty(), m_values[i]) : m_all.table.slot.empty_slot();
        stored += used;
      }
      m_team.prefix_sum(stored, total);
      return total;
    }

   private:
    // Where an item is: homeless : 1 | subtable : 2 | slot : 29. Slots hold keys as they differ from the empty key.
    static constexpr std::uint32_t nowhere = ~std::uint32_t(0), homeless = std::uint32_t(1) << 31;
    KOKKOS_FUNCTION static std::uint32_t slot(std::uint32_t where) { return where & 0x1fff'ffffu; }
    KOKKOS_FUNCTION static int subtable_of(std::uint32_t where) {
      return static_cast<int>((where >> 29) & 3);
    }
    KOKKOS_FUNCTION key_bits empty() const { return m_all.table.slot.reserved_keys().empty; }
    KOKKOS_FUNCTION std::uint32_t rank() const { return static_cast<std::uint32_t>(m_team.rank()); }
    KOKKOS_FUNCTION std::uint32_t size() const { return static_cast<std::uint32_t>(m_team.size()); }

    /// A homeless key's next place, given the attempt of its bucket; the bucket, if that is not known yet.
    KOKKOS_FUNCTION std::uint32_t seek(key_bits key, int subtable, std::uint32_t attempt) const {
      std::uint64_t const hash = m_all.table.hash_of_item(layout::pack(key, 0));
      auto const b = static_cast<std::uint32_t>(m_all.table.group_of(hash) - m_first);
      std::uint32_t const s = in_bucket::slot_of(in_bucket::places(hash, attempt), subtable);
      return homeless | static_cast<std::uint32_t>(subtable) << 29 | (b * in_bucket::slots + s);
    }

    /// One round in a subtable, the one that all homeless keys look at. Returns: whether there are any afterwards.
    KOKKOS_FUNCTION bool play(int subtable) {
      for (int j = 0; j < each; ++j)
        if (m_where[j] != nowhere && (m_where[j] & homeless) != 0)
          raise_in_scratch(m_keys + slot(m_where[j]), static_cast<key_bits>(m_key[j] ^ empty()));
      m_team.barrier();
      bool some = false;
      for (int j = 0; j < each; ++j) {
        if (subtable_of(m_where[j]) != subtable) continue;
        std::uint32_t const s = slot(m_where[j]);
        if (m_keys[s] == (m_key[j] ^ empty())) {
          m_where[j] &= ~homeless;
        } else {
          m_where[j] =
              seek(m_key[j], subtable == 2 ? 0 : subtable + 1, m_attempts[s / in_bucket::slots]);
          m_keys[slot(m_where[j])] = 0;
          some = true;
        }
      }
      return m_team.any(some);
    }

    /// Empties the buckets that have homeless keys. Returns: whether all of them may be tried again: none has more keys
    /// than a bucket may have, and there are constants left.
    KOKKOS_FUNCTION bool start_again() {
      std::uint32_t const unfinished = count_unfinished();
      bool gave_up = false;
      for (std::uint32_t b = rank(); b < buckets; b += size())
        if (unfinished >> b & 1)
          gave_up |= ++m_attempts[b] == rules::most_attempts || m_counts[b] > in_bucket::most_keys;
      for (std::uint32_t i = rank(); i < slots; i += size())
        if (unfinished >> i / in_bucket::slots & 1) m_keys[i] = 0;
      gave_up = m_team.any(gave_up);
      for (int j = 0; j < each; ++j) {
        if (m_where[j] == nowhere) continue;
        std::uint32_t const b = slot(m_where[j]) / in_bucket::slots;
        if (unfinished >> b & 1) m_where[j] = seek(m_key[j], 0, m_attempts[b]);
      }
      return !gave_up;
    }
    /// Counts the keys of every bucket. Returns: bit b: bucket b has homeless ones.
    KOKKOS_FUNCTION std::uint32_t count_unfinished() {
      for (std::uint32_t b = rank(); b < buckets; b += size()) m_counts[b] = 0;
      if (m_team.rank() == 0) *m_unfinished = 0;
      m_team.barrier();
      for (int j = 0; j < each; ++j) {
        if (m_where[j] == nowhere) continue;
        std::uint32_t const b = slot(m_where[j]) / in_bucket::slots;
        fetch_add_in_scratch(m_counts + b, 1);
        if ((m_where[j] & homeless) != 0) set_bits_in_scratch(m_unfinished, 1u << b);
      }
      m_team.barrier();
      return *m_unfinished;
    }

    build_buckets const& m_all;
    team<ExecSpace>& m_team;
    key_bits* m_keys;
    value_bits* m_values;
    std::uint32_t* m_attempts;
    std::uint32_t* m_counts;
    std::uint32_t* m_unfinished;
    std::uint64_t m_first;  // bucket
    word const* m_items;
    key_bits m_key[each];
    std::uint32_t m_where[each];
  };
};

}  // namespace karpos::detail::cuckoo
