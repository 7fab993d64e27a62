// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <karpos/detail/tables/open_addressing/marks.hpp>
#include <karpos/probing.hpp>
#include <vector>

#include "perf/measure/subjects/probe_paths.hpp"
#include "support/keys.hpp"
#include "support/places.hpp"

namespace {

using karpos::detail::next_prime;

TEST_CASE("next_prime finds the smallest prime that is not below") {
  static_assert(next_prime(0) == 2 && next_prime(1) == 2 && next_prime(2) == 2);
  static_assert(next_prime(3) == 3 && next_prime(4) == 5 && next_prime(90) == 97);
  std::vector<bool> composite(5000, false);
  for (std::size_t i = 2; i < 5000; ++i)
    for (std::size_t j = 2 * i; j < 5000; j += i) composite[j] = true;
  std::size_t prime = 4999;
  for (std::size_t n = 4999; n >= 2; --n) {
    if (!composite[n]) prime = n;
    CHECK(next_prime(n) == prime);
  }
  CHECK(next_prime((1u << 16) + 1) == 65537);
  CHECK(next_prime(65537 + 1) == 65539);
  CHECK(next_prime(std::uint64_t(1) << 31) == 2147483659);
  CHECK(next_prime((std::uint64_t(1) << 31) - 1) == 2147483647);
  CHECK(next_prime(std::uint64_t(1) << 32) == 4294967311);
  CHECK(next_prime(std::uint64_t(1) << 40) == 1099511627791);
  CHECK(next_prime(std::uint64_t(65537) * 65537) ==
        4295098403);  // the square of a prime is no prime
}

using karpos::detail::hashed;
using karpos::detail::place_among;
place_among buckets_of(std::uint64_t pairs) { return {hashed::open_addressing, 2 * pairs}; }
/// Returns the hash of a position between the first bucket and the last.
std::uint64_t hash_at(std::uint64_t position, std::uint64_t pairs) {
  return karpos_test::hash_of_place(hashed::open_addressing, 2 * pairs)(position);
}

/// Returns whether a path visits every bucket exactly once, and a bucket's neighbour right after
/// it.
template <class Probing>
bool visits_all(std::uint64_t hash, std::uint64_t pairs) {
  std::vector<bool> visited(2 * pairs, false);
  karpos::detail::open_addressing::probe_path<Probing> path(hash, buckets_of(pairs));
  if (path.bucket() != buckets_of(pairs)(hash)) return false;
  std::uint64_t last = 0;
  for (std::uint64_t i = 1; i <= 2 * pairs; ++i) {
    std::uint64_t const bucket = path.bucket();
    if (path.tried() != i || bucket >= 2 * pairs || path.pair() != bucket / 2) return false;
    if (visited[bucket] || (i % 2 == 0 && bucket != (last ^ 1))) return false;
    visited[bucket] = true;
    last = bucket;
    path.advance(pairs);
  }
  return true;
}

template <class Probing>
void visits_all_at_every_size() {
  karpos_test::random_numbers random(4);
  std::uint64_t last = 0;
  for (std::uint64_t n = 0; n < 600; ++n) {
    std::uint64_t const pairs = Probing::pair_count_for(n);
    CHECK(pairs >= n);
    CHECK(pairs >= 1);
    if (pairs == last) continue;
    last = pairs;
    bool good = visits_all<Probing>(0, pairs) && visits_all<Probing>(~std::uint64_t(0), pairs) &&
                visits_all<Probing>(hash_at(~std::uint64_t(0), pairs), pairs) &&
                visits_all<Probing>(0xffffffffu, pairs) &&
                visits_all<Probing>(~std::uint64_t(0xffffffffu), pairs);
    for (int i = 0; i < 30; ++i) good = good && visits_all<Probing>(random(), pairs);
    INFO("pairs = ", pairs);
    CHECK(good);
  }
}

TEST_CASE("every probe path visits every bucket of a small table exactly once") {
  visits_all_at_every_size<karpos::linear_probing>();
  visits_all_at_every_size<karpos::double_hashing>();
}

/// Returns whether a path of a measured peer visits every slot once.
template <class Path>
bool path_visits_all(std::uint64_t slots, std::uint64_t home) {
  std::vector<bool> visited(slots, false);
  Path path(slots, home);
  bool good = path.at == home;
  for (std::uint64_t i = 0; i < slots; ++i, path.advance()) {
    good = good && path.at < slots && !visited[path.at];
    if (good) visited[path.at] = true;
  }
  return good;
}

TEST_CASE("probe paths of measured peers visit every slot exactly once") {
  using karpos::perf::linear_path, karpos::perf::quadratic_path;
  for (std::uint64_t n = 1; n < 200; ++n)
    for (std::uint64_t const place : {std::uint64_t(0), n / 3, n - 1}) {
      INFO("slots = ", n, ", home = ", place);
      CHECK(path_visits_all<linear_path>(linear_path::slots_for(n), place));
      CHECK(path_visits_all<quadratic_path>(quadratic_path::slots_for(n), place));
    }
  CHECK(quadratic_path::slots_for(100) == 103);
  CHECK(quadratic_path::slots_for(8) == 11);
}

template <class Probing>
void stays_inside(std::uint64_t at_least) {
  std::uint64_t const pairs = Probing::pair_count_for(at_least);
  CHECK(pairs >= at_least);
  karpos_test::random_numbers random(5);
  std::uint64_t highest = 0;
  bool inside = true, moves = true;
  for (int key = 0; key < 300; ++key) {
    std::uint64_t const position = key == 0 ? 0 : key == 1 ? ~std::uint64_t(0) : random();
    karpos::detail::open_addressing::probe_path<Probing> path(hash_at(position, pairs),
                                                              buckets_of(pairs));
    for (int i = 0; i < 100; ++i) {
      std::uint64_t const bucket = path.bucket();
      inside = inside && bucket < 2 * pairs;
      highest = bucket > highest ? bucket : highest;
      path.advance(pairs);
      moves = moves && path.bucket() != bucket;
    }
  }
  CHECK(inside);
  CHECK(moves);
  CHECK(highest > 2 * (pairs / 100) * 99);  // beyond 32 bits: nothing is truncated
}

TEST_CASE("tables of more than 2^32 buckets are walked in 64 bits") {
  for (int exponent : {31, 32, 33, 40}) {
    stays_inside<karpos::linear_probing>(std::uint64_t(1) << exponent);
    stays_inside<karpos::double_hashing>(std::uint64_t(1) << exponent);
  }
  stays_inside<karpos::linear_probing>(std::uint64_t(1) << 56);
}

TEST_CASE("strides of double hashing span the whole table, however large") {
  using karpos::double_hashing;
  for (std::uint64_t const pairs :
       {double_hashing::pair_count_for(1 << 10), double_hashing::pair_count_for(1 << 20),
        double_hashing::pair_count_for(std::uint64_t(1) << 33)}) {
    std::uint64_t const longest = pairs - 1;
    karpos_test::random_numbers random(6);
    std::uint64_t least = pairs, most = 0;
    for (int key = 0; key < 100'000; ++key) {
      std::uint64_t const stride = double_hashing::stride(random(), pairs);
      least = stride < least ? stride : least;
      most = stride > most ? stride : most;
    }
    CHECK(least >= 1);
    CHECK(least <= 1 + longest / 1000);
    CHECK(most <= longest);
    CHECK(most >= longest - longest / 1000);
  }
}

TEST_CASE("in large tables the second and the third pair of double hashing are near the first") {
  using karpos::double_hashing;
  karpos_test::random_numbers random(7);
  constexpr std::uint64_t near = double_hashing::near_pairs, limit = 1 << 15;
  for (std::uint64_t const pairs : {double_hashing::pair_count_for(3), std::uint64_t(32'749),
                                    double_hashing::pair_count_for(limit + 1),
                                    double_hashing::pair_count_for(std::uint64_t(1) << 33)}) {
    INFO("pairs = ", pairs);
    bool const is_large = pairs > limit;
    std::uint64_t unlike = 0, outside = 0, same = 0, too_far = 0;
    std::vector<std::uint64_t> seconds(near, 0), thirds(limit / near, 0);
    for (int key = 0; key < 100'000; ++key) {
      std::uint64_t const hash = random(), any = double_hashing::stride(hash, pairs);
      // Every eighth first pair is one of the last, from which a path may lead away.
      bool const is_last = key % 8 == 0;
      std::uint64_t const first = is_last
                                      ? pairs - 1 - random() % near % pairs
                                      : random() % (pairs < limit ? pairs : pairs / limit * limit),
                          second = double_hashing::next(hash, first, pairs, 1),
                          third = double_hashing::next(hash, second, pairs, 2),
                          fourth = double_hashing::next(hash, third, pairs, 3);
      outside += second >= pairs || third >= pairs;
      CHECK(fourth == (third + any) % pairs);
      unlike += second != (first + any) % pairs || third != (second + any) % pairs;
      same += first == second || second == third || (!is_last && first == third);
      if (is_last) continue;
      too_far += second / near != first / near || third / limit != first / limit;
      ++seconds[second % near];
      ++thirds[third % limit / near];
    }
    CHECK(outside == 0);
    CHECK((unlike == 0) == !is_large);
    if (!is_large) continue;
    CHECK(same == 0);
    CHECK(too_far == 0);
    for (std::uint64_t const n : seconds) CHECK(n > 87'500 / near / 2);
    for (std::uint64_t const n : thirds) CHECK(n > 87'500 / (limit / near) / 2);
  }
}

TEST_CASE("marks are set at the pairs that a path comes to after 4, 8, 16 … buckets") {
  using karpos::detail::open_addressing::probe_path;
  std::uint64_t const pairs = karpos::double_hashing::pair_count_for(100'000);
  karpos_test::random_numbers random(9);
  for (int key = 0; key < 300; ++key) {
    probe_path<karpos::double_hashing> const start(random(), buckets_of(pairs));
    for (std::uint32_t const tried : {1u, 4u, 5u, 8u, 9u, 17u, 33u, 65u, 300u}) {
      std::vector<std::uint64_t> expected, marked;
      auto path = start;
      for (; path.tried() < tried; path.advance(pairs))
        if (karpos::detail::open_addressing::at_mark(path.tried())) expected.push_back(path.pair());
      karpos::detail::open_addressing::for_each_mark(
          start, pairs, tried, [&](std::uint64_t pair) { marked.push_back(pair); });
      CHECK(marked == expected);
    }
  }
}

TEST_CASE("paths that may be as long as the table visit every pair of a large table") {
  std::uint64_t const pairs = karpos::double_hashing::pair_count_for((1 << 15) + 1);
  karpos_test::random_numbers random(8);
  for (int key = 0; key < 20; ++key)
    CHECK(visits_all<karpos::detail::double_hashing_of_whole_paths>(random(), pairs));
}

TEST_CASE("keys with the same home part ways under double hashing, not under linear probing") {
  std::uint64_t const pairs = 1009;
  place_among const home = buckets_of(pairs);
  std::uint64_t const a = hash_at(0x8000000000000001ULL, pairs),
                      b = hash_at(0x80000000f0000000ULL, pairs);
  auto const third = [pairs](auto path) {
    path.advance(pairs);
    path.advance(pairs);
    return path.bucket();
  };
  using karpos::double_hashing;
  using karpos::linear_probing;
  using karpos::detail::open_addressing::probe_path;
  REQUIRE(probe_path<double_hashing>(a, home).bucket() ==
          probe_path<double_hashing>(b, home).bucket());
  CHECK(third(probe_path<double_hashing>(a, home)) != third(probe_path<double_hashing>(b, home)));
  CHECK(third(probe_path<linear_probing>(a, home)) == third(probe_path<linear_probing>(b, home)));
}

}  // namespace
