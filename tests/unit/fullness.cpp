// SPDX-License-Identifier: Apache-2.0
/// \file
/// The record of which parts of a table are full, and the marks that a stored key leaves on its
/// probe path.
#include <doctest/doctest.h>

#include <karpos/detail/tables/fullness.hpp>
#include <karpos/detail/tables/open_addressing/ref.hpp>
#include <karpos/probing.hpp>
#include <thread>
#include <vector>

#include "support/keys.hpp"

namespace {

using karpos::detail::fullness;

/// Buckets with and without a free slot, and their `fullness` record.
struct buckets {
  std::vector<char> full;
  std::vector<std::uint64_t> words;

  explicit buckets(std::uint64_t n) : full(n, 1), words((fullness::words_for(n) + 1) / 2) {}
  fullness state() { return {reinterpret_cast<std::uint32_t*>(words.data()), full.size()}; }
  /// Counts the inspections of n parts each until the table is known to be full, at most `most`.
  std::uint64_t inspections(std::uint32_t n, std::uint64_t most) {
    std::uint64_t count = 0;
    for (; count < most && !state().is_full(); ++count)
      state().inspect(n, [&](std::uint64_t b) { return full.at(b) != 0; });
    return count;
  }
};

TEST_CASE("a table is full once each of its parts was found to be") {
  for (std::uint64_t const n : {1, 31, 32, 33, 64, 65, 1023, 1024, 1025, 4097}) {
    CAPTURE(n);
    std::uint64_t const parts = (n + fullness::part_units - 1) / fullness::part_units;
    buckets one(n), many(n);
    CHECK(!one.state().is_full());
    CHECK(one.inspections(1, 10 * parts) == parts);
    CHECK(many.inspections(1'000, 2) == 1);
    for (std::uint64_t const hole : {std::uint64_t(0), n / 2, n - 1}) {
      one.state().mark_free(hole);
      one.state().mark_free(hole);
      one.full[hole] = 0;
      CHECK(one.inspections(3, 10 * parts) == 10 * parts);
      one.full[hole] = 1;
      CHECK(one.inspections(1, 10 * parts) <= parts);
    }
  }
}

TEST_CASE("parts that have free slots are marked free together") {
  for (std::uint64_t const n : {1, 33, 1024, 1056, 4097}) {
    CAPTURE(n);
    for (std::uint64_t const hole : {std::uint64_t(0), n / 2, n - 1}) {
      buckets some(n);
      some.inspections(1'000, 2);
      CHECK(some.state().is_full());
      some.full[hole] = 0;
      for (std::uint64_t i = 0; i < fullness::bit_words_for(n); ++i)
        some.state().mark_parts_of_word_free(i);
      CHECK(some.inspections(3, n) == n);
      some.full[hole] = 1;
      CHECK(some.inspections(1, n) <= n);
    }
  }
}

TEST_CASE("a slot that is freed beside an inspection keeps its part from being full") {
  buckets some(64);
  std::uint64_t calls = 0;
  auto const freed_at = [&](std::uint64_t call) {
    return [&calls, call](std::uint64_t) { return ++calls < call; };
  };
  for (std::uint64_t call = 1; call <= 64; ++call) {
    CAPTURE(call);
    calls = 0;
    some.state().inspect(1, freed_at(call));  // inspects the slots of the part twice
    some.state().inspect(1, [](std::uint64_t) { return true; });
    CHECK(!some.state().is_full());
    some.state().mark_free(0);
    some.state().mark_free(63);
  }
}

TEST_CASE("a table is not full while a slot is free, if the clearing of a bit is held up") {
  auto const always = [](std::uint64_t) { return true; };
  for (bool const forgotten : {false, true})
    for (bool const found_again : {false, true}) {
      CAPTURE(forgotten);
      CAPTURE(found_again);
      buckets some(2 * fullness::part_units);
      some.full.back() = 0;
      auto const inspect = [&] {
        some.state().inspect(2, [&](std::uint64_t b) { return some.full.at(b) != 0; });
        CHECK(!some.state().is_full());
      };
      inspect();
      int count = 0;
      some.state().mark_free(0, [&] {
        ++count;
        if (forgotten) some.state().mark_free(0);
        CHECK(!some.state().is_full());
        if (found_again) inspect();
      });
      CHECK(count == 1);
      inspect();
      CHECK(!some.state().is_full());
      some.state().inspect(2, always);
      CHECK(some.state().is_full());
      some.state().mark_free(0);
      CHECK(!some.state().is_full());
    }
}

TEST_CASE("threads that mark parts full and free agree in the end") {
  buckets some(320);
  auto const always = [](std::uint64_t) { return true; };
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        some.state().inspect(static_cast<std::uint32_t>(1 + i % 3), always);
        some.state().mark_free((i * 37 + t) % 320);
      }
    });
  for (auto& t : threads) t.join();
  for (std::uint64_t bucket = 0; bucket < 320; ++bucket) {
    some.state().inspect(10, always);
    CHECK(some.state().is_full());
    some.state().mark_free(bucket);
    CHECK(!some.state().is_full());
  }
}

/// Checks that for_each_mark() visits, for the tried-th bucket of a path, the same pairs as a walk
/// along the path up to this bucket.
template <class Probing>
void marks_as_a_walk_does(std::uint64_t at_least) {
  using path = karpos::detail::open_addressing::probe_path<Probing>;
  namespace oa = karpos::detail::open_addressing;
  std::uint64_t const pairs = Probing::pair_count_for(at_least);
  CAPTURE(pairs);
  karpos_test::random_numbers random(7);
  std::uint64_t wrong = 0;
  for (int i = 0; i < 200; ++i) {
    path const start(
        random(), karpos::detail::place_among(karpos::detail::hashed::open_addressing, 2 * pairs));
    std::uint64_t const last = 2 * pairs < 300 ? 2 * pairs : 300;
    path p = start;
    std::vector<std::uint64_t> walked, marked;
    for (std::uint32_t tried = 1; tried <= last; ++tried, p.advance(pairs)) {
      marked.clear();
      oa::for_each_mark(start, pairs, tried, [&](std::uint64_t pair) { marked.push_back(pair); });
      wrong += marked != walked;
      if (oa::at_mark(tried)) walked.push_back(p.pair());
    }
  }
  CHECK(wrong == 0);
}
TEST_CASE("a stored key leaves its marks where lookups test them") {
  for (std::uint64_t const pairs : {1, 2, 3, 5, 17, 100, 1'000, 1'000'000}) {
    marks_as_a_walk_does<karpos::linear_probing>(pairs);
    marks_as_a_walk_does<karpos::double_hashing>(pairs);
  }
}

}  // namespace
