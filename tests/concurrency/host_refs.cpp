// SPDX-License-Identifier: Apache-2.0
/// \file
/// Refs used by plain threads, for the thread sanitizer: histories of hot keys must be
/// linearizable, and no operation may be lost or doubled.
#include <karpos/detail/tables/fullness.hpp>

#include "concurrency/races.hpp"
#include "support/uuid.hpp"

namespace {

using karpos_test::host_table;
using karpos_test::on_threads;
using karpos_test::rounds;
using karpos_test::uuid;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr bool one_step = true, two_steps = false;

template <class Key, class T, class Probing, int B, int W, bool OneStep>
void hot_keys_are_linearizable(std::uint64_t seed) {
  for (int round = 0; round < rounds; ++round) {
    karpos_test::load_of_work work;
    work.threads = 2 + round % 3;
    work.keys = 1 + static_cast<std::size_t>(round % 4);
    // Erased slots are not used again, so the table needs a slot for every insertion.
    host_table<Key, T, Probing, B, OneStep> table(static_cast<u64>(work.threads * work.operations));
    auto const keys = karpos_test::unique_keys<Key>(work.keys, static_cast<u64>(round % 7));
    auto const histories =
        karpos_test::record<W, T>(table.ref(), keys, work, seed + static_cast<u64>(round));
    if (!karpos_test::all_linearizable(histories)) break;
    for (Key const key : keys) CHECK(table.count(key) <= 1);
  }
}

TEST_CASE("histories of hot keys: 8-byte slots") {
  hot_keys_are_linearizable<u32, u32, karpos::linear_probing, 8, 1, one_step>(100);
  hot_keys_are_linearizable<u32, u32, karpos::double_hashing, 1, 1, one_step>(200);
  hot_keys_are_linearizable<u32, u32, karpos::double_hashing, 4, 4, one_step>(300);
}
TEST_CASE("histories of hot keys: 16-byte slots by one compare-and-swap") {
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
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

TEST_CASE("histories of hot keys: 32-byte slots") {
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
    hot_keys_are_linearizable<uuid, u64, karpos::linear_probing, 1, 1, two_steps>(800);
    hot_keys_are_linearizable<uuid, u64, karpos::double_hashing, 2, 1, two_steps>(900);
    hot_keys_are_linearizable<uuid, u64, karpos::double_hashing, 2, 2, two_steps>(950);
  }
}

template <class Key, class T, bool OneStep, int B = 4, class Probing = karpos::linear_probing>
using table_of = host_table<Key, T, Probing, B, OneStep>;

TEST_CASE("duplicates from all threads are inserted once and found whole") {
  using karpos::double_hashing;
  using karpos_test::duplicates_are_inserted_once;
  duplicates_are_inserted_once<table_of<u32, u32, one_step, 4, double_hashing>>();
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
    duplicates_are_inserted_once<table_of<u64, u64, one_step, 4, double_hashing>>();
    duplicates_are_inserted_once<table_of<uuid, u64, two_steps, 2, double_hashing>>();
  }
  duplicates_are_inserted_once<table_of<u64, u64, two_steps, 4, double_hashing>>();
}

TEST_CASE("two threads at the same slot at the same moment") {
  using karpos_test::race_for_equal_keys;
  race_for_equal_keys<table_of<u32, u32, one_step, 8>>();
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
    race_for_equal_keys<table_of<u64, u64, one_step>>();
    race_for_equal_keys<table_of<uuid, u64, two_steps, 2>>();
  }
  race_for_equal_keys<table_of<u64, u64, two_steps>>();
}

TEST_CASE("reductions by key from all threads lose nothing") {
  using karpos_test::sums_are_exact;
  sums_are_exact<table_of<u32, u32, one_step>>();
  sums_are_exact<table_of<std::int32_t, float, one_step>>();
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
    sums_are_exact<table_of<u64, u64, one_step>>();
    sums_are_exact<table_of<std::int64_t, double, one_step>>();
    sums_are_exact<table_of<uuid, u64, two_steps>>();
  }
  sums_are_exact<table_of<u64, u64, two_steps>>();
  sums_are_exact<table_of<std::int64_t, double, two_steps>>();
}

/// Inserts more keys than fit, from all threads.
template <class Key, class T, bool OneStep>
void fills_up(u64 slots, int some_rounds) {
  for (int round = 0; round < some_rounds; ++round) {
    host_table<Key, T, karpos::double_hashing, 2, OneStep> table(slots);
    auto const keys = karpos_test::unique_keys<Key>(2 * slots, static_cast<u64>(round));
    std::atomic<u64> inserted{0}, full{0};
    on_threads(4, [&](int thread) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        Key const key = keys[(i + static_cast<std::size_t>(thread) * slots / 2) % keys.size()];
        auto const ref = table.ref();
        auto const o = ref.insert(karpos::device::host_tile<1>{}, key, T(1));
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
  fills_up<u32, u32, one_step>(20, rounds);
  if constexpr (karpos::device::host::has_compare_and_swap_16) {
    fills_up<u64, u64, one_step>(20, rounds);
    fills_up<uuid, u64, two_steps>(20, rounds);
  }
  fills_up<u64, u64, two_steps>(20, rounds);
  // With this many buckets insertions detect that no bucket has a free slot.
  fills_up<u32, u32, one_step>(600, rounds / 10 + 1);
  fills_up<u64, u64, two_steps>(600, rounds / 10 + 1);
}

/// Uses tables of one part, each with a slot that one thread frees while another inspects the part.
TEST_CASE("a part with a slot that was freed beside its inspection is not full") {
  using karpos::detail::fullness;
  struct alignas(64) table {
    u64 slot;
    alignas(64) u64 words[fullness::words_for(1) / 2];
  };
  constexpr u64 n = 100;
  std::vector<table> tables(n);
  auto const state = [&](u64 i) {
    return fullness(reinterpret_cast<std::uint32_t*>(tables[i].words), 1);
  };
  std::atomic<u64> at[2] = {0, 0};
  karpos_test::starting_line line(2);
  auto const begin = std::chrono::steady_clock::now();
  std::atomic<bool> enough{false};
  std::atomic<u64> wrong{0};
  on_threads(2, [&](int thread) {
    bool const frees = thread == 0;
    for (u64 round = 0;; ++round) {
      if (frees) {
        for (u64 i = 0; round > 0 && i < n; ++i) wrong += state(i).is_full();
        for (auto& each : tables) each = {1, {}};
        enough = std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(400);
      }
      line.wait(2 * round + 1);
      if (enough) return;
      for (u64 i = 0; i < n; ++i) {
        at[thread] = round * n + i;  // both threads reach a table together
        for (int spins = 0; at[1 - thread] < round * n + i; ++spins)
          if (spins > 300'000) std::this_thread::yield();
        u64& slot = tables[i].slot;
        if (frees) {
          karpos::device::store_release(&slot, u64(0));
          state(i).mark_free(0);
        } else {
          state(i).inspect(1, [&](u64) { return karpos::device::load_relaxed(&slot) != 0; });
        }
      }
      line.wait(2 * round + 2);
    }
  });
  CHECK(wrong == 0);
}

/// Writes before store_release must be visible after load_acquire.
TEST_CASE("a released word carries what was written before it") {
  constexpr u64 messages = 2000;
  std::vector<u64> payload(messages);
  u64 flag = 0, wrong = 0;
  on_threads(2, [&](int thread) {
    if (thread == 0) {
      for (u64 i = 0; i < messages; ++i) {
        payload[i] = karpos::mix(i);
        karpos::device::store_release(&flag, i + 1);
      }
    } else {
      for (u64 i = 0; i < messages; ++i) {
        while (karpos::device::load_acquire(&flag) <= i) std::this_thread::yield();
        wrong += payload[i] != karpos::mix(i);
      }
    }
  });
  CHECK(wrong == 0);
}

}  // namespace
