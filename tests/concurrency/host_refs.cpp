// SPDX-License-Identifier: Apache-2.0
/// \file
/// Refs driven from plain threads, for the thread sanitizer: histories of hot keys must be linearizable, and
/// nothing may be lost or doubled.
#include <doctest/doctest.h>

#include <chrono>

#include "concurrency/histories.hpp"

namespace {

using karpos_test::host_table;
using karpos_test::on_threads;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr bool one_step = true, two_steps = false;

#ifdef KARPOS_TEST_THREAD_SANITIZER
constexpr int rounds = 20;
#else
constexpr int rounds = 300;
#endif

template <class Key, class T, class Probing, int B, int W, bool OneStep>
void hot_keys_are_linearizable(std::uint64_t seed) {
  int explained = 0;
  for (int round = 0; round < rounds; ++round) {
    karpos_test::load_of_work work;
    work.threads = 2 + round % 3;
    work.keys = 1 + static_cast<std::size_t>(round % 4);
    explained = 0;
    // Erased slots are not used again: there must be room for every insertion.
    host_table<Key, T, Probing, B, OneStep> table(static_cast<u64>(work.threads * work.operations));
    auto const keys = karpos_test::unique_keys<Key>(work.keys, static_cast<u64>(round % 7));
    auto const histories =
        karpos_test::record<W, T>(table.ref(), keys, work, seed + static_cast<u64>(round));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      bool const good = karpos_test::is_linearizable(histories[k]);
      explained += good;
      if (!good) FAIL_CHECK("no order explains", karpos_test::print(histories[k]));
      CHECK(table.count(keys[k]) <= 1);
    }
    if (explained != static_cast<int>(work.keys)) break;
  }
}

TEST_CASE("histories of hot keys: 8-byte slots") {
  hot_keys_are_linearizable<u32, u32, karpos::linear_probing, 8, 1, one_step>(100);
  hot_keys_are_linearizable<u32, u32, karpos::double_hashing, 1, 1, one_step>(200);
  hot_keys_are_linearizable<u32, u32, karpos::double_hashing, 4, 4, one_step>(300);
}
TEST_CASE("histories of hot keys: 16-byte slots by one compare-and-swap") {
  if constexpr (karpos::host::has_compare_and_swap_16) {
    hot_keys_are_linearizable<u64, u64, karpos::linear_probing, 4, 1, one_step>(400);
    hot_keys_are_linearizable<u64, u64, karpos::double_hashing, 2, 2, one_step>(500);
  } else {
    MESSAGE("skipped: this processor has no compare-and-swap of 16 bytes");
  }
}
TEST_CASE("histories of hot keys: 16-byte slots, claimed and then published") {
  hot_keys_are_linearizable<u64, u64, karpos::linear_probing, 4, 1, two_steps>(600);
  hot_keys_are_linearizable<u64, u64, karpos::double_hashing, 2, 2, two_steps>(700);
}

/// All threads insert the same keys: each is inserted once, found by all at once, with the winner's value.
template <class Key, class T, bool OneStep>
void duplicates_are_inserted_once() {
  constexpr int threads = 4;
  for (int round = 0; round < rounds; ++round) {
    host_table<Key, T, karpos::double_hashing, 4, OneStep> table(200);
    auto const keys = karpos_test::unique_keys<Key>(150, static_cast<u64>(round));
    std::atomic<u64> inserted{0}, existing{0}, wrong{0};
    on_threads(threads, [&](int thread) {
      auto const ref = table.ref();
      karpos_test::random_numbers random(static_cast<u64>(thread));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        Key const key = keys[i];
        // The value follows from the key, so that half a slot cannot pass for a whole one.
        T const value = static_cast<T>(karpos::mix(key) % 1000003);
        auto const o = ref.insert(karpos::thread_tile{}, key, value);
        inserted += o == karpos::outcome::inserted;
        existing += o == karpos::outcome::existing;
        auto const f = ref.find(karpos::thread_tile{}, key);
        wrong += !f.present || f.value != value;
        Key const other = keys[random.below(keys.size())];
        auto const g = ref.find(karpos::thread_tile{}, other);
        wrong += g.present && g.value != static_cast<T>(karpos::mix(other) % 1000003);
      }
    });
    CHECK(inserted == keys.size());
    CHECK(existing == (threads - 1) * keys.size());
    CHECK(wrong == 0);
  }
}

TEST_CASE("duplicates from all threads are inserted once and found whole") {
  duplicates_are_inserted_once<u32, u32, one_step>();
  if constexpr (karpos::host::has_compare_and_swap_16)
    duplicates_are_inserted_once<u64, u64, one_step>();
  duplicates_are_inserted_once<u64, u64, two_steps>();
}

/// Two threads insert the same key at the same moment, and then erase it: one of them does.
template <class Key, class T, int B, bool OneStep>
void neck_and_neck() {
  constexpr u64 races = 40 * rounds;
  host_table<Key, T, karpos::linear_probing, B, OneStep> table(4 * races);
  auto const keys = karpos_test::unique_keys<Key>(races);
  std::vector<u64> inserted(2 * races), erased(2 * races);
  karpos_test::starting_line line(2);
  // Where other programs take the processors away, every start takes long: then fewer races must do.
  auto const begin = std::chrono::steady_clock::now();
  std::atomic<bool> enough{false};
  u64 run = 0;
  on_threads(2, [&](int thread) {
    auto const ref = table.ref();
    karpos::thread_tile const tile;
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
    wrong += table.ref().contains(karpos::thread_tile{}, keys[race]);
  }
  CHECK(wrong == 0);
  CHECK(run > 100);
}

TEST_CASE("two threads at the same slot at the same moment") {
  neck_and_neck<u32, u32, 8, one_step>();
  if constexpr (karpos::host::has_compare_and_swap_16) neck_and_neck<u64, u64, 4, one_step>();
  neck_and_neck<u64, u64, 4, two_steps>();
}

struct keep_larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <class Key, class T, bool OneStep>
void sums_are_exact() {
  constexpr int threads = 4, operations = 3000;
  host_table<Key, T, karpos::linear_probing, 4, OneStep> sums(40), largest(40);
  auto const keys = karpos_test::unique_keys<Key>(5);
  on_threads(threads, [&](int thread) {
    karpos_test::random_numbers random(static_cast<u64>(thread));
    for (int i = 0; i < operations; ++i) {
      Key const key = keys[random.below(5)];
      T const value = static_cast<T>(random.below(1000));
      sums.ref().insert_or_apply(karpos::thread_tile{}, key, value, karpos::plus{});
      largest.ref().insert_or_apply(karpos::thread_tile{}, key, value, keep_larger{});
    }
  });
  std::map<Key, T> sum, maximum;
  for (int thread = 0; thread < threads; ++thread) {
    karpos_test::random_numbers random(static_cast<u64>(thread));
    for (int i = 0; i < operations; ++i) {
      Key const key = keys[random.below(5)];
      T const value = static_cast<T>(random.below(1000));
      sum[key] += value;
      maximum[key] = std::max(maximum[key], value);
    }
  }
  for (Key const key : keys) {
    CHECK(sums.ref().find(karpos::thread_tile{}, key).value == sum[key]);
    CHECK(largest.ref().find(karpos::thread_tile{}, key).value == maximum[key]);
    CHECK(sums.count(key) == 1);
  }
}

TEST_CASE("reductions by key from all threads lose nothing") {
  sums_are_exact<u32, u32, one_step>();
  sums_are_exact<std::int32_t, float, one_step>();
  if constexpr (karpos::host::has_compare_and_swap_16) {
    sums_are_exact<u64, u64, one_step>();
    sums_are_exact<std::int64_t, double, one_step>();
  }
  sums_are_exact<u64, u64, two_steps>();
  sums_are_exact<std::int64_t, double, two_steps>();
}

/// More keys than fit, from all threads.
template <class Key, class T, bool OneStep>
void fills_up() {
  for (int round = 0; round < rounds; ++round) {
    host_table<Key, T, karpos::double_hashing, 2, OneStep> table(20);
    auto const keys = karpos_test::unique_keys<Key>(40, static_cast<u64>(round));
    std::atomic<u64> inserted{0}, full{0};
    on_threads(4, [&](int thread) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        Key const key = keys[(i + static_cast<std::size_t>(thread) * 10) % keys.size()];
        auto const ref = table.ref();
        auto const o = ref.insert(karpos::thread_tile{}, key, T(1));
        inserted += o == karpos::outcome::inserted;
        full += o == karpos::outcome::full;
      }
    });
    CHECK(inserted == table.slots());
    CHECK(full == 4 * (keys.size() - table.slots()));
    u64 there = 0;
    for (Key const key : keys) there += table.count(key);
    CHECK(there == table.slots());
  }
}

TEST_CASE("a table that is filled by all threads is full once") {
  fills_up<u32, u32, one_step>();
  if constexpr (karpos::host::has_compare_and_swap_16) fills_up<u64, u64, one_step>();
  fills_up<u64, u64, two_steps>();
}

/// What was written before store_release is seen after load_acquire.
TEST_CASE("a released word carries what was written before it") {
  constexpr u64 messages = 2000;
  std::vector<u64> payload(messages);
  u64 flag = 0, wrong = 0;
  on_threads(2, [&](int thread) {
    if (thread == 0) {
      for (u64 i = 0; i < messages; ++i) {
        payload[i] = karpos::mix(i);
        karpos::store_release(&flag, i + 1);
      }
    } else {
      for (u64 i = 0; i < messages; ++i) {
        while (karpos::load_acquire(&flag) <= i) std::this_thread::yield();
        wrong += payload[i] != karpos::mix(i);
      }
    }
  });
  CHECK(wrong == 0);
}

}  // namespace
