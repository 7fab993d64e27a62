// SPDX-License-Identifier: Apache-2.0
#include "karpos/distributed/hash_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "karpos/detail/distributed/window_split.hpp"
#include "karpos/distributed/hash_set.hpp"
#include "karpos/distributed/reduce_by_key.hpp"
#include "tests/distributed/limits.hpp"
#include "tests/distributed/ranks.hpp"

/// Many queries are split in several batches.
template <>
struct karpos::detail::distributed::window_tuning<karpos_test::space>
    : default_window_tuning<karpos_test::space> {
  static constexpr std::uint64_t max_batch = min_rows + 900;
};
/// Few rows with different keys are sent without being reduced.
template <>
struct karpos::detail::distributed::reduction_tuning<karpos_test::space>
    : default_reduction_tuning<karpos_test::space> {
  static constexpr std::uint64_t min_unreduced = 5000;
};

namespace {
using namespace karpos_test;
using key = std::uint64_t;
using map = karpos::distributed::hash_map<key, std::int64_t, space>;
using set = karpos::distributed::hash_set<std::uint32_t, space>;
using oracle = std::map<key, std::int64_t>;

/// Rows of one rank. rows_of() returns the n rows of any rank, with keys below `max_key`, equal on
/// every rank that calls it.
struct rows {
  std::vector<key> keys;
  std::vector<std::int64_t> values;
};
rows rows_of(int rank, std::size_t n, key max_key, unsigned seed = 1) {
  std::mt19937_64 random(seed * 1000 + unsigned(rank));
  rows r;
  for (std::size_t i = 0; i < n; ++i) {
    r.keys.push_back(random() % max_key);
    r.values.push_back(std::int64_t(random() % 1000) - 500);
  }
  return r;
}

/// Returns the contents of the map on all ranks.
oracle contents(communicator const& ranks, map const& m) {
  auto const n = m.local().size(ranks.exec());
  Kokkos::View<key*, memory> const keys("keys", n);
  Kokkos::View<std::int64_t*, memory> const values("values", n);
  REQUIRE(m.retrieve_all(keys, values) == n);
  for (key const k : to_vector(keys)) CHECK(m.owner(k) == ranks.rank());
  auto const all_keys = gathered(ranks, to_vector(keys));
  auto const all_values = gathered(ranks, to_vector(values));
  oracle all;
  for (std::size_t i = 0; i < all_keys.size(); ++i)
    CHECK(all.emplace(all_keys[i], all_values[i]).second);  // each key is on one rank only
  return all;
}

void check_answers(communicator const& ranks, map const& m, oracle const& expected, key max_key) {
  auto const queries =
      rows_of(ranks.rank(), std::size_t(200 * (ranks.rank() % 3)), max_key, 77).keys;
  Kokkos::View<std::int64_t*, memory> const out("out", queries.size());
  Kokkos::View<std::uint8_t*, memory> const there("there", queries.size());
  m.find(to_view(queries), out, 12345);
  m.contains(to_view(queries), there);
  auto const found = to_vector(out);
  auto const is_there = to_vector(there);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto const at = expected.find(queries[i]);
    CHECK(found[i] == (at == expected.end() ? 12345 : at->second));
    CHECK((is_there[i] != 0) == (at != expected.end()));
  }
}

TEST_CASE("insertions, lookups and erasures against an oracle") {
  auto const ranks = world();
  for (std::size_t const n : {0, 1, 4, 3000}) {
    key const max_key = n + 1;
    map m(ranks, max_key);
    oracle expected;
    std::map<key, std::set<std::int64_t>> possible;
    std::uint64_t offered = 0;
    for (int r = 0; r < ranks.size(); ++r) {
      auto const all = rows_of(r, r % 2 == 0 ? n : 0, max_key);
      offered += all.keys.size();
      for (std::size_t i = 0; i < all.keys.size(); ++i) possible[all.keys[i]].insert(all.values[i]);
    }
    auto const mine = rows_of(ranks.rank(), ranks.rank() % 2 == 0 ? n : 0, max_key);
    auto const report = m.insert(to_view(mine.keys), to_view(mine.values));
    CHECK(report.inserted == possible.size());
    CHECK(report.inserted + report.existing == offered);
    CHECK(report.rejected_by_rank.empty());
    CHECK(m.size() == possible.size());
    auto const all = contents(ranks, m);
    CHECK(all.size() == possible.size());
    for (auto const& [k, v] : all) CHECK(possible[k].count(v) == 1);
    check_answers(ranks, m, all, 2 * max_key);
    m.release_memory();  // no data is lost
    check_answers(ranks, m, all, 2 * max_key);

    auto const erased = rows_of(ranks.rank(), n / 3, max_key, 5).keys;
    std::set<key> gone;
    for (int r = 0; r < ranks.size(); ++r)
      for (key const k : rows_of(r, n / 3, max_key, 5).keys)
        if (possible.count(k) != 0) gone.insert(k);
    CHECK(m.erase(to_view(erased)) == gone.size());
    CHECK(m.size() == possible.size() - gone.size());
    m.clear();
    CHECK(m.size() == 0);
  }
}

TEST_CASE("values are merged, whether or not equal keys are combined before they travel") {
  auto const ranks = world();
  for (auto const strategy : {karpos::bulk_strategy::direct, karpos::bulk_strategy::reduced,
                              karpos::bulk_strategy::automatic})
    for (key const max_key : {key(1), key(50), key(100000)}) {
      map m(ranks, max_key + 10);
      oracle expected;
      std::uint64_t offered = 0;
      for (unsigned seed = 1; seed < 3; ++seed) {
        for (int r = 0; r < ranks.size(); ++r) {
          auto const all = rows_of(r, 2000, max_key, seed);
          for (std::size_t i = 0; i < all.keys.size(); ++i) expected[all.keys[i]] += all.values[i];
        }
        auto const mine = rows_of(ranks.rank(), 2000, max_key, seed);
        auto const report =
            m.insert_or_apply(to_view(mine.keys), to_view(mine.values), karpos::plus{}, strategy);
        offered += report.inserted + report.existing;
      }
      CHECK(offered == std::uint64_t(ranks.size()) * 4000);
      CHECK(contents(ranks, m) == expected);
    }
}

TEST_CASE("frequent keys are found by a sample, and combined") {
  auto const ranks = world();
  // Enough rows for the map to take a sample, also on GPUs.
  std::size_t const n = std::size_t(1) << (karpos::device::is_device<space> ? 20 : 17);
  map m(ranks, 1000);
  std::vector<key> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = i % 10;
  auto const before = ranks.bytes_sent();
  auto const report =
      m.insert_or_apply(to_view(keys), to_view(std::vector<std::int64_t>(n, 1)), karpos::plus{});
  CHECK(report.inserted == 10);
  CHECK(report.existing == n * std::uint64_t(ranks.size()) - 10);
  CHECK(ranks.bytes_sent() - before < 10000);
  for (auto const& [k, v] : contents(ranks, m))
    CHECK(v == std::int64_t(ranks.size()) * std::int64_t(n / 10 + (k < n % 10 ? 1 : 0)));
}

TEST_CASE("assignments overwrite") {
  auto const ranks = world();
  map m(ranks, 100);
  std::vector<key> keys(50);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  auto const view = to_view(keys);
  m.insert(view, to_view(std::vector<std::int64_t>(50, 1)));
  auto const r = m.insert_or_assign(view, to_view(std::vector<std::int64_t>(50, 2)));
  CHECK(r.inserted == 0);
  CHECK(r.existing == 50 * std::uint64_t(ranks.size()));
  for (auto const& [k, v] : contents(ranks, m)) CHECK(v == 2);
}

struct add_one {
  KOKKOS_FUNCTION void operator()(key, std::int64_t& value) const { ++value; }
};

TEST_CASE("values are visited where they are") {
  auto const ranks = world();
  map m(ranks, 100);
  m.insert(to_view(std::vector<key>{1, 2, 3, key(ranks.rank()) + 10}),
           to_view(std::vector<std::int64_t>{7, 7, 7, 7}));
  m.for_each(add_one{});
  ranks.barrier();
  auto const all = contents(ranks, m);
  CHECK(all.size() == 3 + std::size_t(ranks.size()));
  for (auto const& [k, v] : all) CHECK(v == 8);
}

TEST_CASE("a full rank rejects keys and is named; rehash raises the capacity") {
  auto const ranks = world();
  map m(ranks, 64);
  int const victim = ranks.size() / 2;
  std::vector<key> keys;  // all ranks' keys belong to one owner
  for (key k = key(ranks.rank()); keys.size() < 1000; k += key(ranks.size()))
    if (m.owner(k) == victim) keys.push_back(k);
  auto const n = keys.size() * std::size_t(ranks.size());
  auto const view = to_view(keys);
  auto const values = to_view(std::vector<std::int64_t>(keys.size(), 3));
  auto const report = m.insert(view, values);
  CHECK(report.inserted + report.rejected == n);
  REQUIRE(report.rejected > 0);
  REQUIRE(report.rejected_by_rank.size() == std::size_t(ranks.size()));
  CHECK(report.rejected_by_rank[std::size_t(victim)] == report.rejected);
  CHECK(m.size() == report.inserted);
  CHECK_THROWS_WITH_AS(m.insert_or_throw(view, values),
                       doctest::Contains((" on rank " + std::to_string(victim)).c_str()),
                       karpos::distributed::collective_error);
  m.rehash(2 * n * std::size_t(ranks.size()));
  CHECK(m.insert_or_throw(view, values).inserted == report.rejected);
  CHECK(m.size() == n);
  CHECK_THROWS_AS(m.rehash(1), karpos::distributed::collective_error);
  CHECK(m.size() == n);
}

TEST_CASE("a table that may grow takes every key") {
  auto const ranks = world();
  map m(ranks, 10, {.growth = karpos::growth::automatic});
  std::vector<key> keys(5000);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = i * std::size_t(ranks.size()) + std::size_t(ranks.rank());
  m.insert_or_throw(to_view(keys), to_view(std::vector<std::int64_t>(keys.size(), 0)));
  CHECK(m.size() == keys.size() * std::size_t(ranks.size()));
}

TEST_CASE("bad arguments are refused on all ranks") {
  using karpos::distributed::collective_error;
  auto const ranks = world();
  std::string const last = std::to_string(ranks.size() - 1);
  bool const is_last = ranks.rank() == ranks.size() - 1;
  if (ranks.size() > 1)
    CHECK_THROWS_WITH_AS(map(ranks, is_last ? 11 : 10),
                         doctest::Contains(("max_keys is not the same on all ranks (rank 0 has 10, "
                                            "rank " +
                                            last + " has 11)")
                                               .c_str()),
                         collective_error);
  CHECK_THROWS_AS(map(ranks, 10, {.load = 3}), collective_error);
  map m(ranks, 100);
  auto const two = to_view(std::vector<key>{1, 2});
  Kokkos::View<std::int64_t*, memory> const values("values", is_last ? 3 : 2);
  CHECK_THROWS_WITH_AS(m.insert(two, values), doctest::Contains(("rank " + last + " of").c_str()),
                       collective_error);
  CHECK_THROWS_AS(m.find(two, values, 0), collective_error);
  // Answers over queries that are still to be sent would be looked up in their place.
  Kokkos::View<std::int64_t*, memory> const answers("answers", 2);
  Kokkos::View<key*, memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const over(
      reinterpret_cast<key*>(answers.data()), 2);
  CHECK_THROWS_WITH_AS(m.find(over, answers, 0), doctest::Contains("overlaps another view"),
                       collective_error);
  if (ranks.size() > 1) {
    Kokkos::View<std::int64_t*, memory> const out("out", 2);
    CHECK_THROWS_WITH_AS(m.find(two, out, is_last ? -1 : 0),
                         doctest::Contains(("the value for missing keys is not the same on all "
                                            "ranks (rank 0 has 0, rank " +
                                            last + " has -1)")
                                               .c_str()),
                         collective_error);
    CHECK_THROWS_WITH_AS(map(ranks, 10, {.empty_key = is_last ? key(8) : key(7)}),
                         doctest::Contains("the key for empty slots is not the same"),
                         collective_error);
    map::options some;
    if (is_last) some.erased_key = 7;
    CHECK_THROWS_WITH_AS(map(ranks, 10, some),
                         doctest::Contains("whether there is the key for erased slots is not"),
                         collective_error);
  }
  auto const sentinel = to_view(std::vector<key>{5, is_last ? ~key(0) : 6});
  CHECK_THROWS_WITH_AS(m.insert(sentinel, to_view(std::vector<std::int64_t>{1, 1})),
                       doctest::Contains("sentinel"), collective_error);
  CHECK(m.size() == (ranks.size() > 1 ? 2 : 1));
}

TEST_CASE("a set") {
  auto const ranks = world();
  set s(ranks, 1000);
  std::vector<std::uint32_t> keys;
  for (int i = 0; i < 300; ++i) keys.push_back(std::uint32_t(i + 100 * ranks.rank()));
  auto const n = std::uint64_t(200 + 100 * ranks.size());
  auto const report = s.insert_or_throw(to_view(keys));
  CHECK(report.inserted == n);
  CHECK(report.existing == std::uint64_t(ranks.size()) * 300 - n);
  Kokkos::View<bool*, memory> const there("there", 300);
  s.contains(to_view(keys), there);
  auto const found = to_vector(there);
  CHECK(std::count(found.begin(), found.end(), true) == 300);
  CHECK(s.erase(to_view(std::vector<std::uint32_t>{0, 1, 5000})) == 2);
  CHECK(s.size() == n - 2);
}

/// A key of `stored` stored ones, or another. Stored keys are even.
key numbered_key(std::uint64_t i, std::uint64_t stored) {
  return i < stored ? 2 * (i * 0x9e3779b97f4a7c15ull >> 2)
                    : 2 * (i * 0x9e3779b97f4a7c15ull >> 2) + 1;
}

using tuned = karpos::detail::distributed::window_tuning<space>;
/// Bytes that a rank sends at most beside rows, in one operation.
constexpr std::uint64_t few_bytes = 1000;

/// Returns whether many rows are sent in windows for sure.
bool have_windows(communicator const& ranks) {
  return !karpos::device::is_device<space> && ranks.size() > 1 &&
         karpos::detail::distributed::may_open_windows<space>(ranks);
}
/// Returns how many of this rank's keys other ranks own.
std::uint64_t keys_of_others(map const& m, std::vector<key> const& keys) {
  auto const n = std::count_if(keys.begin(), keys.end(),
                               [&](key k) { return m.owner(k) != m.ranks().rank(); });
  return static_cast<std::uint64_t>(n);
}

TEST_CASE("few rows are sent in messages") {
  auto const ranks = world();
  auto const keys = rows_of(ranks.rank(), tuned::min_rows - 1, ~key(0)).keys;
  map m(ranks, 2 * keys.size() * std::size_t(ranks.size()));
  auto const sent = keys_of_others(m, keys);
  auto before = ranks.bytes_sent();
  m.insert(to_view(keys), to_view(std::vector<std::int64_t>(keys.size(), 3)));
  CHECK(ranks.bytes_sent() - before >= 16 * sent);
  before = ranks.bytes_sent();
  CHECK(m.erase(to_view(keys)) > 0);
  CHECK(ranks.bytes_sent() - before >= 8 * sent);
}

TEST_CASE("queries for which windows have too little memory are sent in messages, at once") {
  auto const ranks = world();
  if (!have_windows(ranks)) return;
  map m(ranks, 1000);
  std::vector<key> queries(40 * tuned::min_rows);
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = (i * 7919) % 1000;
  std::vector<key> const keys(queries.begin(), queries.begin() + 500);
  std::vector<std::int64_t> values;
  std::set<key> const stored(keys.begin(), keys.end());
  for (key const k : keys) values.push_back(std::int64_t(3 * k));
  m.insert(to_view(keys), to_view(values));
  std::uint64_t const sent = keys_of_others(m, queries),
                      answered = (queries.size() - sent) * std::uint64_t(ranks.size() - 1);
  // Windows of max_batch queries take 84 KB, those of half as many 45 KB.
  for (rlim_t const most : {1 << 14, 1 << 16}) {
    m.release_memory();
    Kokkos::View<std::int64_t*, memory> const out("out", queries.size());
    auto const before = ranks.bytes_sent();
    {
      lower_limit const last(RLIMIT_FSIZE, most, ranks.rank() == ranks.size() - 1);
      m.find(to_view(queries), out, -1);
    }
    auto const bytes = ranks.bytes_sent() - before, rows = 8 * (sent + answered);
    if (most == 1 << 14) {
      CHECK(bytes >= rows);
      CHECK(bytes < rows + few_bytes);
    } else {
      CHECK(bytes < rows / 4);
    }
    auto const found = to_vector(out);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < queries.size(); ++i)
      wrong += found[i] != (stored.count(queries[i]) != 0 ? std::int64_t(3 * queries[i]) : -1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("batches that are split into windows") {
  auto const ranks = world();
  auto const p = std::uint64_t(ranks.size()), r = std::uint64_t(ranks.rank());
  // Rank 1 of several passes nothing. Ranks have unequal numbers of rows, and keys in common.
  std::uint64_t const least = tuned::min_rows + 1000, mine = r == 1 ? 0 : least + 777 * r,
                      stored = least * p;
  map m(ranks, stored + least);
  set s(ranks, stored + least);
  std::vector<key> keys(mine);
  std::vector<std::int64_t> values(mine);
  std::vector<std::uint32_t> members(mine);
  std::set<std::uint64_t> expected;
  for (std::uint64_t q = 0; q < p; ++q)
    for (std::uint64_t i = 0; i < (q == 1 ? 0 : least + 777 * q); ++i)
      expected.insert((q * least / 2 + i) % stored);
  for (std::uint64_t i = 0; i < mine; ++i) {
    std::uint64_t const k = (r * least / 2 + i) % stored;
    keys[i] = numbered_key(k, stored);
    values[i] = std::int64_t(3 * k);
    members[i] = std::uint32_t(k);
  }
  // Only small facts are sent in messages.
  auto last = ranks.bytes_sent();
  bool const expects_windows = have_windows(ranks);
  auto const check_bytes = [&] {
    auto const bytes = ranks.bytes_sent() - std::exchange(last, ranks.bytes_sent());
    CHECK((!expects_windows || bytes < few_bytes));
  };
  for (int again = 0; again < 2; ++again) {
    last = ranks.bytes_sent();
    auto const report = m.insert(to_view(keys), to_view(values));
    check_bytes();
    CHECK(report.inserted == (again == 0 ? expected.size() : 0));
    CHECK(report.inserted + report.existing == ranks.all_reduce(mine));
    CHECK(s.insert(to_view(members)).inserted == report.inserted);
  }
  CHECK(m.size() == expected.size());

  for (bool const is_skewed : {false, true}) {
    INFO("skewed: ", is_skewed);
    std::uint64_t const n = r == 2 ? 0 : (is_skewed ? tuned::min_rows : least) + 31 * r;
    auto const number = [&](std::uint64_t i) {
      return is_skewed && i % 3 != 0 ? 5 : (i * 7919 + r) % (2 * stored);
    };
    // Queries and answers with a stride.
    Kokkos::View<key* [2], Kokkos::LayoutRight, memory> const two("queries", n);
    Kokkos::View<std::int64_t* [2], Kokkos::LayoutRight, memory> const found("found", n);
    auto const queries = Kokkos::create_mirror_view(two);
    Kokkos::View<std::uint32_t*, memory> const of_set("of set", n);
    auto const of_set_here = Kokkos::create_mirror_view(of_set);
    for (std::uint64_t i = 0; i < n; ++i) {
      queries(i, 1) = i == 17 ? ~key(0) : numbered_key(number(i), stored);
      of_set_here(i) = std::uint32_t(number(i));
    }
    Kokkos::deep_copy(two, queries);
    Kokkos::deep_copy(of_set, of_set_here);
    Kokkos::View<bool*, memory> const there("there", n);
    last = ranks.bytes_sent();
    m.find(Kokkos::subview(two, Kokkos::ALL, 1), Kokkos::subview(found, Kokkos::ALL, 0), -1);
    s.contains(of_set, there);
    check_bytes();
    auto const answers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, found);
    auto const is_there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, there);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      bool const is_stored = expected.count(number(i)) != 0;
      wrong += is_there(i) != is_stored;
      wrong += answers(i, 0) != (is_stored && i != 17 ? std::int64_t(3 * number(i)) : -1);
    }
    CHECK(wrong == 0);
    m.release_memory();
  }
  last = ranks.bytes_sent();
  CHECK(m.erase(to_view(keys)) == expected.size());
  check_bytes();
  CHECK(m.size() == 0);
}

template <class Op>
void check_reduction(communicator const& ranks, std::size_t n, key max_key, Op op,
                     karpos::distributed::reduction_memory<space>& kept) {
  oracle expected;
  for (int r = 0; r < ranks.size(); ++r) {
    auto const all = rows_of(r, r == 1 ? 0 : n, max_key);
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
      auto const [at, is_new] = expected.emplace(all.keys[i], all.values[i]);
      if (!is_new) at->second = op(at->second, all.values[i]);
    }
  }
  auto const mine = rows_of(ranks.rank(), ranks.rank() == 1 ? 0 : n, max_key);
  auto const check = [&](auto const& groups) {
    CHECK(groups.total == expected.size());
    auto const keys = gathered(ranks, to_vector(groups.keys));
    auto const values = gathered(ranks, to_vector(groups.values));
    REQUIRE(keys.size() == expected.size());
    for (std::size_t i = 0; i < keys.size(); ++i) CHECK(expected[keys[i]] == values[i]);
  };
  auto const keys = to_view(mine.keys);
  auto const values = to_view(mine.values);
  check(karpos::distributed::reduce_by_key(ranks, keys, values, op));
  check(karpos::distributed::reduce_by_key(ranks, keys, values, op, kept));
}

TEST_CASE("rows of all ranks are reduced by key") {
  auto const ranks = world();
  karpos::distributed::reduction_memory<space>
      kept;  // reused by smaller and larger reductions, in turn
  check_reduction(ranks, 0, 10, karpos::plus{}, kept);
  check_reduction(ranks, 1, 10, karpos::plus{}, kept);
  check_reduction(ranks, 4, 3, karpos::maximum{}, kept);
  check_reduction(ranks, 5000, 1, karpos::plus{}, kept);
  check_reduction(ranks, 5000, 700, karpos::minimum{}, kept);
  check_reduction(ranks, 5000, ~key(0), karpos::plus{}, kept);
  check_reduction(ranks, 100, 7, karpos::plus{}, kept);
  kept.release();
  check_reduction(ranks, 200, 7, karpos::plus{}, kept);
}

TEST_CASE("groups lie in the memory that is kept") {
  auto const ranks = world();
  auto const mine = rows_of(ranks.rank(), 3000, 1000);
  karpos::distributed::reduction_memory<space> kept;
  auto const keys = to_view(mine.keys);
  auto const values = to_view(mine.values);
  auto const first = karpos::distributed::reduce_by_key(ranks, keys, values, karpos::plus{}, kept);
  auto const second = karpos::distributed::reduce_by_key(ranks, keys, values, karpos::plus{}, kept);
  CHECK(first.keys.data() == second.keys.data());
  CHECK(first.values.data() == second.values.data());
  auto const own = karpos::distributed::reduce_by_key(ranks, keys, values);
  CHECK(own.total == second.total);
  CHECK((own.keys.use_count() > 0));
}

/// Rows with different keys that are sent through windows.
rows rows_for_windows(communicator const& ranks) {
  return rows_of(ranks.rank(), tuned::min_rows + 2000, ~key(0));
}
TEST_CASE("memory of reductions serves several communicators, which may end before it") {
  auto const ranks = world();
  karpos::distributed::reduction_memory<space> kept;
  auto const check = [&](communicator const& some, karpos::plus op) {
    check_reduction(some, tuned::min_rows + 2000, ~key(0), op, kept);
  };
  check(ranks, {});
  {
    auto const part = all_but_first();
    check(part, {});
  }
  int const windows = addressed_windows();
  check(world(), {});
  CHECK(addressed_windows() == windows);  // equal ranks share windows
}
TEST_CASE("memory of reductions that was moved from is as new") {
  auto const ranks = world();
  auto const mine = rows_for_windows(ranks);
  auto const keys = to_view(mine.keys);
  auto const values = to_view(mine.values);
  karpos::distributed::reduction_memory<space> a;
  auto const reduce = [&](auto& memory) {
    return karpos::distributed::reduce_by_key(ranks, keys, values, karpos::plus{}, memory);
  };
  auto const first = reduce(a);
  auto b = std::move(a);
  auto const second = reduce(a);
  CHECK(second.total == first.total);
  CHECK(second.keys.data() != first.keys.data());
  CHECK(reduce(b).keys.data() == first.keys.data());
  b = std::move(a);
  CHECK(reduce(a).total == reduce(b).total);
}
TEST_CASE("groups of the last reduction are reduced with its memory") {
  auto const ranks = world();
  for (key const max_key : {key(1000), ~key(0)}) {
    auto const mine = rows_of(ranks.rank(), tuned::min_rows + 2000, max_key);
    karpos::distributed::reduction_memory<space> kept;
    auto groups = karpos::distributed::reduce_by_key(ranks, to_view(mine.keys),
                                                     to_view(mine.values), karpos::plus{}, kept);
    auto const contents = [&] {
      auto const keys = to_vector(groups.keys);
      auto const values = to_vector(groups.values);
      oracle all;
      for (std::size_t i = 0; i < keys.size(); ++i) CHECK(all.emplace(keys[i], values[i]).second);
      return all;
    };
    auto const expected = contents();
    for (int again = 0; again < 3; ++again) {
      groups = karpos::distributed::reduce_by_key(ranks, groups.keys, groups.values, karpos::plus{},
                                                  kept);
      CHECK((contents() == expected));
    }
  }
}
TEST_CASE("an error of all ranks closes the windows of a reduction") {
  auto const ranks = world();
  auto const mine = rows_for_windows(ranks);
  auto const keys = to_view(mine.keys);
  karpos::distributed::reduction_memory<space> kept;
  int const before = addressed_windows();
  auto const reduce = [&](auto const& values) {
    return karpos::distributed::reduce_by_key(ranks, keys, values, karpos::plus{}, kept);
  };
  auto const total = reduce(keys).total;
  CHECK((addressed_windows() > before) == have_windows(ranks));
  CHECK_THROWS_AS(reduce(to_view(std::vector<key>(5))), karpos::distributed::collective_error);
  CHECK(addressed_windows() == before);
  CHECK(reduce(keys).total == total);
}
template <class Space>
void check_windows_of_one_call() {
  if constexpr (!karpos::device::is_device<Space>) {
    auto const ranks = world({.max_kept_bytes = 0});
    auto const mine = rows_of(0, tuned::min_rows + 2000, ~key(0));  // equal on all ranks
    int windows = -1;
    auto const add_and_look = [seen = &windows](std::int64_t x, std::int64_t y) {
      if (*seen < 0) *seen = addressed_windows();
      return x + y;
    };
    karpos::distributed::reduce_by_key(ranks, to_view(mine.keys), to_view(mine.values),
                                       add_and_look);
    CHECK(windows == (ranks.size() == 1 ? -1 : addressed_windows()));
  }
}
TEST_CASE("a reduction closes windows that are not kept before it reduces received rows") {
  check_windows_of_one_call<space>();
}

}  // namespace
