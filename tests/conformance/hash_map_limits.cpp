// SPDX-License-Identifier: Apache-2.0
/// \file
/// Full tables, bad arguments, and the maps that they leave behind.
#include <karpos/hash_map.hpp>
#include <unordered_set>

#include "conformance/limits_suite.hpp"
#include "support/probe_counter.hpp"

namespace {

using karpos_test::keys_in;
using karpos_test::part;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct maps {
  template <class Key, class T>
  using map = karpos::hash_map<Key, T, space>;
};

/// Fills a table to the last slot, and inserts more keys.
template <class Key, class T, class Probing, int B>
void fills_to_the_last_slot(u64 max_keys) {
  karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B> map(
      space{}, max_keys);
  std::size_t const slots = map.capacity();
  INFO("slots: ", slots, " in buckets of ", B);
  auto const keys = unique_keys<Key>(3 * slots);
  auto const exact = part(keys, 0, slots);
  auto const more = part(keys, slots, 3 * slots);
  CHECK(bool(map.insert(space{}, to_space(exact), T(1)) == karpos::insert_report{slots, 0, 0, 0}));
  CHECK(
      bool(map.insert(space{}, to_space(more), T(2)) == karpos::insert_report{0, 0, 2 * slots, 0}));
  CHECK(bool(map.insert_or_apply(space{}, to_space(keys), T(2), karpos::plus{}) ==
             karpos::insert_report{0, slots, 2 * slots, 0}));
  view<T> const out("out", 3 * slots);
  map.find(space{}, to_space(keys), out, T(7));
  std::vector<T> expected(3 * slots, T(7));
  for (std::size_t i = 0; i < slots; ++i) expected[i] = T(3);
  CHECK(bool(to_host(out) == expected));

  // A blocking insertion compacts the table and reuses erased slots; insert_async does not.
  std::size_t const half = slots / 2;
  CHECK(map.erase(space{}, to_space(part(keys, 0, half))) == half);
  Kokkos::View<karpos::insert_report, space::memory_space> const report("report");
  map.insert_async(space{}, to_space(more), T(2), report);
  CHECK(karpos_test::to_host_scalar(report).rejected == 2 * slots);
  CHECK(map.tombstones(space{}) == half);
  CHECK(bool(map.insert(space{}, to_space(more), T(2)) ==
             karpos::insert_report{half, 0, 2 * slots - half, 0}));
  CHECK(map.size(space{}) == slots);
}

TEST_CASE("a table is filled to its last slot, and says when it is full") {
  fills_to_the_last_slot<u32, u32, karpos::linear_probing, 1>(1);
  fills_to_the_last_slot<u32, u32, karpos::linear_probing, 8>(2000);
  fills_to_the_last_slot<u64, u64, karpos::double_hashing, 2>(1000);
#if KARPOS_FULL_TESTS
  fills_to_the_last_slot<u32, u32, karpos::double_hashing, 4>(2000);
  fills_to_the_last_slot<u64, u64, karpos::linear_probing, 4>(1000);
#endif
}

/// Inserts, from all threads, more keys than the table holds.
template <class Key, class T, class Probing, int B>
void overfills_small_table(u64 max_keys) {
  karpos::hash_map<Key, T, space, karpos::hash<Key>, karpos::equal_to<Key>, Probing, B> map(
      space{}, max_keys);
  u64 const slots = map.capacity();
  auto const keys = unique_keys<Key>(2 * slots, 1);
  auto draws = karpos_test::skewed_draws(keys, 5 * slots, 61);
  draws.insert(draws.end(), keys.begin(), keys.end());
  auto const r = map.insert(space{}, to_space(draws), T(1));
  INFO("slots: ", slots, " in buckets of ", B);
  CHECK(r.inserted + r.existing + r.rejected == draws.size());
  CHECK(r.rejected > 0);
  auto const in = keys_in(map);
  CHECK(r.inserted == in.size());
  if (map.bucket_count() <= Probing::probe_limit) CHECK(in.size() == slots);
  std::unordered_set<Key> const offered(draws.begin(), draws.end());
  u64 foreign = 0, draws_of_accepted = 0;
  for (Key const& key : in) foreign += offered.count(key) == 0;
  for (Key const& key : draws) draws_of_accepted += in.count(key);
  CHECK(foreign == 0);
  // A key is accepted or rejected for good: every other draw of an accepted key is told `existing`.
  CHECK(r.existing == draws_of_accepted - in.size());
  CHECK(r.rejected == draws.size() - draws_of_accepted);

  view<bool> const flags("flags", keys.size());
  map.contains(space{}, to_space(keys), flags);
  auto const h_flags = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += h_flags(i) != (in.count(keys[i]) != 0);
  CHECK(wrong == 0);
}

TEST_CASE(
    "more keys than fit, from all threads: nothing accepted is lost, and there is an end to it") {
  for (int round = 0; round < 20; ++round) {
    overfills_small_table<u32, u32, karpos::double_hashing, 4>(1 + static_cast<u64>(round) * 10);
    overfills_small_table<u64, u64, karpos::linear_probing, 2>(1 + static_cast<u64>(round) * 10);
  }
  // With linear probing, keys are rejected after a probe of every bucket, until the table is known
  // to be full.
  overfills_small_table<u32, u32, karpos::linear_probing, 8>(2000);
  overfills_small_table<u64, u64, karpos::linear_probing, 2>(1000);
  // More buckets than double hashing probes at most.
  overfills_small_table<u32, u32, karpos::double_hashing, 1>(5000);
}

template <class Ref>
struct insert_each {
  Ref map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(int i, u64& full) const {
    full += map.insert(keys(i), 1u) == karpos::outcome::full;
  }
};
template <class Ref>
struct contains_each {
  Ref map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(int i, u64& found) const { found += map.contains(keys(i)); }
};
template <class Body>
u64 sum_of(view<u32> const& keys, Body const& body) {
  u64 sum = 0;
  Kokkos::parallel_reduce("karpos_test::sum_of", Kokkos::RangePolicy<space>(0, keys.extent(0)),
                          body, sum);
  return sum;
}
/// Key comparisons per absent key: in lookups, in erasures, and in insertions into a full table.
struct probes_of_absent {
  double found, found_in_kernel, erased, inserted = 0, inserted_in_kernel = 0;
};

/// Checks that a full table costs at most ten times what a nearly full one costs, and so do its
/// copies and the table after erasures. After erasures it accepts as many keys as were erased; once
/// cleared, nearly as many as it has slots.
template <class Probing, int B>
void check_speed_when_full(u64 max_keys) {
  using map_type = karpos::hash_map<u32, u32, space, karpos::hash<u32>,
                                    karpos_test::counting_equal<u32>, Probing, B>;
  using report = karpos::insert_report;
  constexpr u64 n = 500;
  karpos_test::probe_counter const probe_counter;
  map_type map(space{}, max_keys, {.load = 0.98}, {}, {probe_counter.at()});
  u64 const slots = map.capacity(), last = slots / 50;
  CAPTURE(slots);
  CAPTURE(B);
  auto const keys = unique_keys<u32>(2 * slots + n);
  auto const at = [&](u64 first, u64 end) { return to_space(part(keys, first, end)); };
  auto const absent = at(2 * slots, 2 * slots + n);
  view<bool> const out("out", n);
  auto const lookups = [&](map_type& m) {
    probes_of_absent c{};
    u64 there = 0;
    c.found = probe_counter.per_key(n, [&] { m.contains(space{}, absent, out); });
    c.found_in_kernel = probe_counter.per_key(n, [&] {
      there +=
          sum_of(absent, contains_each<typename map_type::frozen_ref_type>{m.frozen_ref(), absent});
      there += sum_of(absent, contains_each<typename map_type::ref_type>{m.ref(), absent});
    });
    c.erased = probe_counter.per_key(n, [&] { there += m.erase(space{}, absent); });
    CHECK(there == 0);
    return c;
  };
  CHECK(map.insert(space{}, at(0, slots - 2 * last), 1u).rejected == 0);
  double const insertion = probe_counter.per_key(
      last, [&] { map.insert(space{}, at(slots - 2 * last, slots - last), 1u); });
  auto const near = lookups(map);
  auto const check_full = [&](map_type& m, u64 there) {
    auto c = lookups(m);
    u64 full = 0;
    typename map_type::report_view const r("report");
    c.inserted = probe_counter.per_key(n, [&] { m.insert_async(space{}, absent, 1u, r); });
    CHECK(bool(karpos_test::to_host_scalar(r) == report{0, 0, n, 0}));
    c.inserted_in_kernel = probe_counter.per_key(n, [&] {
      full = sum_of(absent, insert_each<typename map_type::ref_type>{m.ref(), absent});
    });
    CHECK(full == n);
    CHECK(c.found <= 10 * near.found);
    CHECK(c.found_in_kernel <= 10 * near.found_in_kernel);
    CHECK(c.erased <= 10 * near.erased);
    CHECK(c.inserted <= 10 * insertion);
    CHECK(c.inserted_in_kernel <= 10 * insertion);
    CHECK(m.size(space{}) == there);
  };
  // If a path visits all buckets, it is known which keys are stored.
  bool const visits_all = map.bucket_count() <= Probing::probe_limit;
  auto const in = map.insert(space{}, at(slots - last, slots), 1u).inserted;
  CHECK((in == last || !visits_all));
  CHECK(map.insert(space{}, at(slots, 2 * slots), 1u).rejected == slots + in - last);
  check_full(map, slots);
  map_type copy;
  deep_copy(space{}, copy, map);
  check_full(copy, slots);

  // Erased slots stay occupied until the table is compacted. Then it accepts as many keys, and is
  // full again.
  CHECK(map.erase(space{}, at(0, last)) == last);
  check_full(map, slots - last);
  map.compact(space{});
  auto const others = at(slots, 2 * slots);
  u64 const full = sum_of(others, insert_each<typename map_type::ref_type>{map.ref(), others});
  CHECK((full == slots - last || !visits_all));
  CHECK(map.size(space{}) == slots);
  map.clear(space{});
  CHECK(map.insert(space{}, others, 1u).inserted + 20 >= slots);
  CHECK(map.insert(space{}, at(0, slots), 1u).rejected + 20 >= slots);
  check_full(map, slots);
  map.rehash(space{}, 2 * slots);
  CHECK(map.insert(space{}, others, 1u).rejected == 0);
  CHECK(map.insert(space{}, at(0, slots), 1u).rejected == 0);
  CHECK(map.count(space{}, at(0, 2 * slots)) == 2 * slots);
}
TEST_CASE(
    "a full table is no slower than one that is nearly full, and knows when it is no longer full") {
  if (karpos::detail::open_addressing::tuning<space>::eager_marks) {
    MESSAGE("skipped: kernels leave marks of refused keys here; the next case tests what calls do");
    return;
  }
  check_speed_when_full<karpos::double_hashing, 8>(6'000);
  check_speed_when_full<karpos::linear_probing, 4>(6'000);
  check_speed_when_full<karpos::double_hashing, 4>(20'000);
#if KARPOS_FULL_TESTS
  check_speed_when_full<karpos::double_hashing, 1>(3'000);
  check_speed_when_full<karpos::linear_probing, 16>(20'000);
#endif
}

/// A hash_map whose insertions set marks while they probe, as on GPUs.
template <class Probing, int B>
struct eager_marks_traits
    : karpos::detail::open_addressing::traits<u32, u32, space, karpos::hash<u32>,
                                              karpos_test::counting_equal<u32>, Probing, B> {
  static constexpr bool eager_marks = true;
};
template <class Probing, int B>
class eager_marks_map
    : public karpos::hash_table<
          karpos::detail::open_addressing::storage<eager_marks_traits<Probing, B>>> {
  using base = typename eager_marks_map::hash_table;

 public:
  eager_marks_map(u64 max_keys, karpos_test::probe_counter const& probe_counter)
      : base(space{}, max_keys, {.load = 0.98}, {}, {probe_counter.at()}) {}
};

template <class Ref>
struct offer_keys {
  Ref map;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i) const { map.insert(keys(i), 1u); }
};

/// Checks that marks of rejected keys slow a full table down only until a blocking call rejects
/// keys.
template <class Probing, int B>
void check_speed_after_erasure(u64 max_keys) {
  using map_type = eager_marks_map<Probing, B>;
  constexpr u64 n = 500;
  karpos_test::probe_counter const probe_counter;
  map_type map(max_keys, probe_counter);
  u64 const slots = map.capacity(), last = slots / 50;
  CAPTURE(slots);
  auto const keys = unique_keys<u32>(3 * slots + n);
  auto const at = [&](u64 first, u64 end) { return to_space(part(keys, first, end)); };
  auto const absent = at(3 * slots, 3 * slots + n), too_many = at(slots, 3 * slots);
  view<bool> const out("out", n);
  typename map_type::report_view const r("report");
  auto const lookups = [&] {
    return probe_counter.per_key(n, [&] { map.contains(space{}, absent, out); });
  };
  auto const erasures = [&] {
    return probe_counter.per_key(n, [&] { CHECK(map.erase(space{}, absent) == 0); });
  };
  auto const some_refused = at(slots, slots + 5);
  double near_lookup = 0, near_erasure = 0, near_insertion = 0;
  auto const check_full = [&](u64 there, std::string const& when) {
    CAPTURE(when);
    CHECK(map.insert(space{}, some_refused, 1u).rejected == 5);
    CHECK(lookups() <= 10 * near_lookup);
    CHECK(erasures() <= 10 * near_erasure);
    CHECK(probe_counter.per_key(n, [&] { map.insert_async(space{}, absent, 1u, r); }) <=
          10 * near_insertion);
    CHECK(bool(karpos_test::to_host_scalar(r) == karpos::insert_report{0, 0, n, 0}));
    CHECK(map.size(space{}) == there);
    CHECK(map.count(space{}, at(0, slots)) == there);
  };
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(map.insert(space{}, at(0, slots - 2 * last), 1u).rejected == 0);
    near_insertion = probe_counter.per_key(
        last, [&] { map.insert(space{}, at(slots - 2 * last, slots - last), 1u); });
    near_lookup = lookups();
    near_erasure = erasures();
    CHECK(map.insert(space{}, at(slots - last, slots), 1u).inserted == last);
    CHECK(map.insert(space{}, too_many, 1u).rejected == 2 * slots);
    check_full(slots, "after a call that waits");
    Kokkos::View<karpos::map_operation<u32, u32>*, space> const operations("operations", 2 * slots);
    Kokkos::View<karpos::map_result<u32>*, space> const results("results", 2 * slots);
    auto const host = Kokkos::create_mirror_view(operations);
    for (u64 i = 0; i < 2 * slots; ++i) host(i) = {karpos::map_op::insert, keys[slots + i], 1u};
    Kokkos::deep_copy(operations, host);
    map.apply(space{}, operations, results);
    check_full(slots, "after mixed operations");
    CHECK(map.erase(space{}, at(0, last)) == last);
    CHECK(lookups() <= 10 * near_lookup);
    CHECK(map.insert(space{}, at(0, slots), 1u).inserted == last);  // compacts the table
    CHECK(map.insert(space{}, too_many, 1u).rejected == 2 * slots);
    check_full(slots, "once it was compacted");
    if (round == 0) map.clear(space{});
  }
  CHECK(sum_of(too_many, insert_each<typename map_type::ref_type>{map.ref(), too_many}) ==
        2 * slots);
  check_full(slots, "after kernels");
  // A copy rebuilds its marks if refs may have left some in the source.
  map.clear(space{});
  CHECK(map.insert(space{}, at(0, slots), 1u).inserted == slots);
  CHECK(map.insert(space{}, too_many, 1u).rejected == 2 * slots);
  using offer_type = offer_keys<typename map_type::ref_type>;
  Kokkos::parallel_for("offer", Kokkos::RangePolicy<space>(0, 2 * slots),
                       offer_type{map.ref(), too_many});
  map_type copy(max_keys, probe_counter);
  deep_copy(space{}, copy, map);
  CHECK(copy.insert(space{}, some_refused, 1u).rejected == 5);
  CHECK(probe_counter.per_key(n, [&] { copy.contains(space{}, absent, out); }) <= 10 * near_lookup);
}
TEST_CASE("marks that refused keys left are removed from a full table") {
  check_speed_after_erasure<karpos::double_hashing, 4>(1'200);
  check_speed_after_erasure<karpos::linear_probing, 8>(1'200);
}

TEST_CASE("insert_or_throw names what was asked, what was found and what will do") {
  karpos::hash_map<u32, u32, space> map(space{}, 100);
  std::size_t const slots = map.capacity();
  auto const keys = to_space(unique_keys<u32>(slots + 50));
  std::string const asked = std::to_string(slots + 50), found = std::to_string(slots);
  throws<karpos::capacity_error>([&] { map.insert_or_throw(space{}, keys, 1u); },
                                 "asked for " + asked, "found space for " + found,
                                 "max_keys >= " + asked);
  CHECK(map.size(space{}) == slots);
  u64 would_do = 0;
  try {
    map.insert_or_throw(space{}, keys, 1u);
  } catch (karpos::capacity_error const& e) {
    CHECK(e.found() == slots);
    would_do = e.would_do();
  }
  map.rehash(space{}, would_do);
  CHECK(map.insert_or_throw(space{}, keys, 1u).existing == slots);
  CHECK(map.size(space{}) == slots + 50);
}

TEST_CASE("a rehash that would not hold the keys throws before anything changes") {
  karpos_test::a_rehash_that_would_not_hold_the_keys<maps>();
}
TEST_CASE("keys equal to a sentinel are refused; the others are handled") {
  karpos_test::keys_equal_to_a_sentinel<maps>();
}
TEST_CASE("views of different lengths are refused before anything changes") {
  karpos_test::views_of_different_lengths<maps>();
}
TEST_CASE("loads outside (0, 0.98] are refused with their value") {
  karpos_test::loads_out_of_range<maps>();
}
TEST_CASE("tables that no memory can hold are refused with their size") {
  karpos_test::tables_that_no_memory_can_hold<maps>();
}

}  // namespace
