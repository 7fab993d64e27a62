// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/backend/memory.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"

namespace karpos::detail::cuckoo {

/// The step of build_buckets for teams of one thread: the same rounds with the same outcome, bucket by bucket and with
/// lists of homeless keys, so that a round costs what its homeless keys cost (10^6 keys, two CPU threads: 11 M keys/s
/// with the step of a team).
template <class View, int Buckets, int MostItems, class Rules>
class build_alone {
 public:
  using word = typename View::word;
  using layout = typename View::layout;
  using in_bucket = bucket_geometry<word>;
  using index = std::uint16_t;
  static_assert(MostItems < 65535);

  /// What lies in a team's scratch.
  struct memory {
    std::uint64_t hash[MostItems];
    index sorted[MostItems];  // items, bucket by bucket
    index homeless[2][MostItems];
    index begin[Buckets + 1];
    index occupant[in_bucket::slots];
    std::uint8_t came_in[in_bucket::slots];  // round, from 1 on; 0: nobody there
  };

  KOKKOS_FUNCTION build_alone(View const& table, word const* items, int n, std::uint64_t first,
                              memory& scratch)
      : m_table(table),
        m_items(items),
        m_n(n),
        m_first(first),
        m(scratch) {}

  /// Builds and writes the buckets. Returns: whether every key found a slot. stored: slots in use.
  KOKKOS_FUNCTION bool operator()(std::uint64_t& stored) {
    sort_by_bucket();
    for (int b = 0; b < Buckets && m_first + static_cast<std::uint64_t>(b) < m_table.groups; ++b) {
      int const attempt = build(b);
      if (attempt < 0) return false;
      stored += write(m_first + static_cast<std::uint64_t>(b), attempt);
    }
    return true;
  }

 private:
  KOKKOS_FUNCTION void sort_by_bucket() {
    for (int b = 0; b <= Buckets; ++b) m.begin[b] = 0;
    for (int i = 0; i < m_n; ++i) {
      m.hash[i] = m_table.hash_of_item(m_items[i]);
      ++m.begin[bucket_of(i)];
    }
    index before = 0;
    for (int b = 0; b <= Buckets; ++b) {
      index const count = m.begin[b];
      m.begin[b] = before;
      before = static_cast<index>(before + count);
    }
    for (int i = 0; i < m_n; ++i) m.sorted[m.begin[bucket_of(i)]++] = static_cast<index>(i);
    for (int b = Buckets; b > 0; --b) m.begin[b] = m.begin[b - 1];
    m.begin[0] = 0;
  }
  KOKKOS_FUNCTION int bucket_of(int i) const {
    return static_cast<int>(m_table.group_of(m.hash[i]) - m_first);
  }

  /// Returns: the attempt that succeeded, or -1.
  KOKKOS_FUNCTION int build(int b) {
    int const count = m.begin[b + 1] - m.begin[b];
    int limit = Rules::first_limit;
    for (int attempt = 0; attempt < static_cast<int>(Rules::most_attempts); ++attempt) {
      if (attempt > 0 && count > static_cast<int>(in_bucket::most_keys)) return -1;
      for (std::uint32_t s = 0; s < in_bucket::slots; ++s) m.came_in[s] = 0;
      for (int i = 0; i < count; ++i) m.homeless[0][i] = m.sorted[m.begin[b] + i];
      int left = count;
      for (int round = 0; round < limit && left > 0; ++round)
        left = play(m.homeless[round % 2], left, m.homeless[1 - round % 2], round, attempt);
      if (left == 0) return attempt;
      limit = 2 * limit < Rules::last_limit ? 2 * limit : Rules::last_limit;
    }
    return -1;
  }

  /// One round. Returns: how many keys are homeless afterwards; they are in `next`.
  KOKKOS_FUNCTION int play(index const* homeless, int n, index* next, int round, int attempt) {
    auto const now = static_cast<std::uint8_t>(round + 1);
    int left = 0;
    for (int j = 0; j < n; ++j) {
      index loser = homeless[j];
      std::uint64_t const places =
          in_bucket::places(m.hash[loser], static_cast<std::uint32_t>(attempt));
      std::uint32_t const s = in_bucket::slot_of(places, round % 3);
      bool const taken = m.came_in[s] != 0;
      if (m.came_in[s] == now) {
        auto const mine = rank(loser), other = rank(m.occupant[s]);
        if (mine == other) continue;  // the same key: they share the slot
        if (mine < other) {
          next[left++] = loser;
          continue;
        }
      }
      index const occupant = m.occupant[s];
      m.occupant[s] = loser;
      m.came_in[s] = now;
      if (taken) next[left++] = occupant;
    }
    return left;
  }
  /// Of several keys in a round the largest wins.
  KOKKOS_FUNCTION auto rank(index i) const {
    return static_cast<typename layout::key_bits>(layout::key_of(m_items[i]) ^
                                                  m_table.slot.reserved_keys().empty);
  }

  KOKKOS_FUNCTION std::uint64_t write(std::uint64_t b, int attempt) const {
    m_table.marks[b] = static_cast<std::uint8_t>(attempt);
    word* const to = m_table.slots + b * in_bucket::slots;
    std::uint64_t stored = 0;
    for (std::uint32_t s = 0; s < in_bucket::slots; ++s) {
      bool const used = m.came_in[s] != 0;
      to[s] = used ? m_items[m.occupant[s]] : m_table.slot.empty_slot();
      stored += used;
    }
    return stored;
  }

  View const& m_table;
  word const* m_items;
  int m_n;
  std::uint64_t m_first;
  memory& m;
};

}  // namespace karpos::detail::cuckoo
