// SPDX-License-Identifier: Apache-2.0
/// \file
/// Races that every table on the host must survive. `Table` is a table with a constructor from a
/// number of slots: host_table or hopscotch_host_table.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "concurrency/histories.hpp"

namespace karpos_test {

#ifdef KARPOS_TEST_THREAD_SANITIZER
inline constexpr int rounds = 20;
#else
inline constexpr int rounds = 300;
#endif

/// Checks every history and prints the first that no order explains. Returns how many take more
/// than `most_steps` to check; all, if one is not explained.
inline std::size_t undecided_histories(std::vector<std::vector<event>> const& histories,
                                       std::uint64_t most_steps = ~std::uint64_t(0)) {
  std::size_t undecided = 0;
  for (auto const& history : histories) {
    auto const explained = is_linearizable_within(most_steps, history);
    undecided += !explained;
    if (explained.value_or(true)) continue;
    FAIL_CHECK("no order explains", print(history));
    return histories.size();
  }
  return undecided;
}
/// Checks every history and prints the first that no order explains. Returns: whether all are
/// explained.
inline bool all_linearizable(std::vector<std::vector<event>> const& histories) {
  return undecided_histories(histories) == 0;
}

/// Inserts equal keys from all threads: each is inserted once, and every thread finds it at once,
/// with the winner's value.
template <class Table>
void duplicates_are_inserted_once() {
  using Key = typename Table::key_type;
  using T = typename Table::mapped_type;
  using u64 = std::uint64_t;
  constexpr int threads = 4;
  for (int round = 0; round < rounds; ++round) {
    Table table(200);
    auto const keys = unique_keys<Key>(150, static_cast<u64>(round));
    std::atomic<u64> inserted{0}, existing{0}, wrong{0};
    on_threads(threads, [&](int thread) {
      auto const ref = table.ref();
      random_numbers random(static_cast<u64>(thread));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        Key const key = keys[i];
        // The value depends on the key, so a half-written slot is detected.
        auto const value_of = [](Key k) {
          return static_cast<T>(karpos::mix(static_cast<u64>(k)) % 1000003);
        };
        T const value = value_of(key);
        auto const o = ref.insert(karpos::device::host_tile<1>{}, key, value);
        inserted += o == karpos::outcome::inserted;
        existing += o == karpos::outcome::existing;
        auto const f = ref.find(karpos::device::host_tile<1>{}, key);
        wrong += !f.present || f.value != value;
        Key const other = keys[random.below(keys.size())];
        auto const g = ref.find(karpos::device::host_tile<1>{}, other);
        wrong += g.present && g.value != value_of(other);
      }
    });
    CHECK(inserted == keys.size());
    CHECK(existing == (threads - 1) * keys.size());
    CHECK(wrong == 0);
  }
}

/// Inserts and then erases the same key from two threads at the same moment: exactly one of them
/// succeeds each time.
template <class Table>
void race_for_equal_keys() {
  using Key = typename Table::key_type;
  using T = typename Table::mapped_type;
  using u64 = std::uint64_t;
  constexpr u64 races = 40 * rounds;
  Table table(4 * races);
  auto const keys = unique_keys<Key>(races);
  std::vector<u64> inserted(2 * races), erased(2 * races);
  starting_line line(2);
  // Every start takes long if other programs occupy the processors; then fewer races suffice.
  auto const begin = std::chrono::steady_clock::now();
  std::atomic<bool> enough{false};
  u64 run = 0;
  on_threads(2, [&](int thread) {
    auto const ref = table.ref();
    karpos::device::host_tile<1> const tile;
    for (u64 race = 0; race < races; ++race) {
      std::size_t const mine = 2 * race + static_cast<std::size_t>(thread);
      if (thread == 0) enough = std::chrono::steady_clock::now() - begin > std::chrono::seconds(5);
      line.wait(2 * race + 1);
      if (enough) return;
      if (thread == 0) run = race + 1;
      inserted[mine] = ref.insert(tile, keys[race], T(1)) == karpos::outcome::inserted;
      line.wait(2 * race + 2);
      erased[mine] = ref.erase(tile, keys[race]);
    }
  });
  u64 wrong = 0;
  for (u64 race = 0; race < run; ++race) {
    wrong += inserted[2 * race] + inserted[2 * race + 1] != 1;
    wrong += erased[2 * race] + erased[2 * race + 1] != 1;
    wrong += table.ref().contains(karpos::device::host_tile<1>{}, keys[race]);
  }
  CHECK(wrong == 0);
  CHECK(run > 100);
}

struct keep_larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class Table>
void sums_are_exact() {
  using Key = typename Table::key_type;
  using T = typename Table::mapped_type;
  using u64 = std::uint64_t;
  constexpr int threads = 4, operations = 3000;
  Table sums(40), largest(40);
  auto const keys = unique_keys<Key>(5);
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<u64>(thread));
    for (int i = 0; i < operations; ++i) {
      Key const key = keys[random.below(5)];
      T const value = static_cast<T>(random.below(1000));
      sums.ref().insert_or_apply(karpos::device::host_tile<1>{}, key, value, karpos::plus{});
      largest.ref().insert_or_apply(karpos::device::host_tile<1>{}, key, value, keep_larger{});
    }
  });
  std::map<Key, T> sum, maximum;
  for (int thread = 0; thread < threads; ++thread) {
    random_numbers random(static_cast<u64>(thread));
    for (int i = 0; i < operations; ++i) {
      Key const key = keys[random.below(5)];
      T const value = static_cast<T>(random.below(1000));
      sum[key] += value;
      maximum[key] = std::max(maximum[key], value);
    }
  }
  for (Key const key : keys) {
    CHECK(sums.ref().find(karpos::device::host_tile<1>{}, key).value == sum[key]);
    CHECK(largest.ref().find(karpos::device::host_tile<1>{}, key).value == maximum[key]);
    CHECK(sums.count(key) == 1);
  }
}

}  // namespace karpos_test
