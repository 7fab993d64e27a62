// SPDX-License-Identifier: Apache-2.0
/// \file
/// Threads that work on a few hot keys of one table and record each answer and its time.
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <karpos/detail/tables/open_addressing/ref.hpp>
#include <karpos/map_ref.hpp>
#include <karpos/probing.hpp>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/history.hpp"
#include "support/keys.hpp"

#if defined(__SANITIZE_THREAD__)
#define KARPOS_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KARPOS_TEST_THREAD_SANITIZER 1
#endif
#endif

namespace karpos_test {

/// One clock for all threads. Under the thread sanitizer its increments are relaxed, so that they
/// order nothing else and hide no race.
class instants {
 public:
  std::uint64_t now() {
#ifdef KARPOS_TEST_THREAD_SANITIZER
    return m_now.fetch_add(1, std::memory_order_relaxed);
#else
    return m_now.fetch_add(1, std::memory_order_seq_cst);
#endif
  }

 private:
  std::atomic<std::uint64_t> m_now{1};
};

/// A table on the host that owns its memory and works without Kokkos running.
template <class Key, class T, class Probing, int B, bool OneStep>
class host_table {
 public:
  using key_type = Key;
  using mapped_type = T;
  using ref_type =
      karpos::detail::open_addressing::table_ref<karpos::detail::open_addressing::traits<
          Key, T, Kokkos::DefaultHostExecutionSpace, karpos::hash<Key>, karpos::equal_to<Key>,
          Probing, B, OneStep>>;
  using layout = typename ref_type::layout;
  using word = typename layout::word;
  using key_bits = typename layout::key_bits;

  explicit host_table(std::uint64_t slots)
      : m_pairs(Probing::pair_count_for((slots + 2 * B - 1) / (2 * B))),
        m_memory(2 * m_pairs * B + 64 / sizeof(word)),
        m_marks(karpos::detail::open_addressing::words_behind_slots(m_pairs)) {
    auto const address = reinterpret_cast<std::uintptr_t>(m_memory.data());
    m_slots = m_memory.data() + (64 - address % 64) % 64 / sizeof(word);
    for (std::uint64_t i = 0; i < this->slots(); ++i) m_slots[i] = table().slot().empty_slot();
  }
  ref_type table() {
    using karpos::detail::default_sentinel;
    return ref_type(m_slots, m_marks.data(), m_pairs,
                    {default_sentinel<Key, key_bits>(0), default_sentinel<Key, key_bits>(1),
                     default_sentinel<Key, key_bits>(2)},
                    {}, {});
  }
  karpos::table_ref<ref_type> ref() { return karpos::table_ref<ref_type>(table()); }
  std::uint64_t slots() const { return 2 * m_pairs * B; }
  /// Returns how many slots hold a key.
  std::uint64_t count(Key key) {
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < slots(); ++i)
      n += table().slot().live(m_slots[i]) &&
           layout::key_of(m_slots[i]) == karpos::to_bits<key_bits>(key);
    return n;
  }

 private:
  std::uint64_t m_pairs;
  std::vector<word> m_memory;
  std::vector<std::uint32_t> m_marks;
  word* m_slots = nullptr;
};

/// Runs f(thread) on `threads` threads that start together.
template <class F>
void on_threads(int threads, F const& f) {
  std::atomic<int> ready{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      f(t);
    });
  for (std::thread& t : all) t.join();
}

/// Releases threads together, as simultaneously as the machine allows.
class starting_line {
 public:
  explicit starting_line(int threads) : m_threads(static_cast<std::uint64_t>(threads)) {}
  /// Blocks until all threads have called wait() as often as the caller.
  void wait(std::uint64_t times) {
    m_here.fetch_add(1, std::memory_order_acq_rel);
    for (int spins = 0; m_here.load(std::memory_order_acquire) < times * m_threads; ++spins)
      if (spins > 2000) std::this_thread::yield();
  }

 private:
  std::uint64_t m_threads;
  std::atomic<std::uint64_t> m_here{0};
};

/// Percentages of operations: insert (in turn insert, assign and add), erase and find.
struct mixture {
  std::uint64_t insert = 60, erase = 20, find = 20;
};

struct load_of_work {
  int threads = 4;
  int operations = 150;  ///< per thread
  std::size_t keys = 3;
  mixture mix = {};
  bool may_be_full = false;  ///< else a failed insertion ends the test
};

inline action draw_action(mixture const& mix, random_numbers& random) {
  std::uint64_t const drawn = random.below(100);
  if (drawn < mix.insert) return static_cast<action>(random.below(3));
  return drawn < mix.insert + mix.erase ? action::erase : action::find;
}

/// Performs an event with a tile. Returns: the event with its answer, but not its instants.
template <class T, class Tile, class Ref, class Key>
event perform(Ref const& ref, Tile const& tile, Key const& key, event e, bool may_be_full) {
  auto const v = static_cast<T>(e.value);
  karpos::outcome o = karpos::outcome::existing;
  switch (e.what) {
    case action::insert:
      o = ref.insert(tile, key, v);
      break;
    case action::assign:
      o = ref.insert_or_assign(tile, key, v);
      break;
    case action::add:
      o = ref.insert_or_apply(tile, key, v, karpos::plus{});
      break;
    case action::erase:
      e.answer = ref.erase(tile, key);
      return e;
    case action::find: {
      auto const f = ref.find(tile, key);
      e.answer = f.present;
      e.value = f.present ? static_cast<std::uint64_t>(f.value) : 0;
      return e;
    }
  }
  e.answer = o == karpos::outcome::inserted;
  if (o == karpos::outcome::full) {
    if (!may_be_full) throw std::logic_error("the table of the test is too small");
    // It changed nothing, and has seen that the key is absent.
    e.what = action::find;
    e.value = 0;
  }
  return e;
}

struct nothing_beside {
  void operator()(random_numbers&) const {}
};

/// Runs a random mixture of all operations with tiles of W lanes, and beside(random) after each
/// operation. Returns: the history of each key.
template <int W, class T, class Ref, class Key, class Beside = nothing_beside>
std::vector<std::vector<event>> record(Ref const& ref, std::vector<Key> const& keys,
                                       load_of_work const& work, std::uint64_t seed,
                                       Beside const& beside = {}) {
  karpos::device::host_tile<W> const tile;
  instants clock;
  std::vector<std::vector<std::vector<event>>> by_thread(static_cast<std::size_t>(work.threads));
  on_threads(work.threads, [&](int thread) {
    auto& mine = by_thread[static_cast<std::size_t>(thread)];
    mine.resize(keys.size());
    random_numbers random(seed * 1000 + static_cast<std::uint64_t>(thread));
    for (int i = 0; i < work.operations; ++i) {
      std::size_t const k = random.below(keys.size());
      // A value names its writer, so no order can explain a torn or invented value.
      std::uint64_t const value =
          (static_cast<std::uint64_t>(thread) + 1) * 1000000 + static_cast<std::uint64_t>(i);
      event e{draw_action(work.mix, random), value, false, clock.now(), 0};
      e = perform<T>(ref, tile, keys[k], e, work.may_be_full);
      e.responded = clock.now();
      mine[k].push_back(e);
      if (random.below(16) == 0) std::this_thread::yield();
      beside(random);
    }
  });
  std::vector<std::vector<event>> histories(keys.size());
  for (auto const& mine : by_thread)
    for (std::size_t k = 0; k < keys.size(); ++k)
      histories[k].insert(histories[k].end(), mine[k].begin(), mine[k].end());
  return histories;
}

}  // namespace karpos_test
