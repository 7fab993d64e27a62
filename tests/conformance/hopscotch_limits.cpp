// SPDX-License-Identifier: Apache-2.0
/// \file
/// Full hopscotch maps, maps that grow, maps whose slots are reused repeatedly, and bad arguments.
#include <karpos/hopscotch_map.hpp>
#include <unordered_set>

#include "conformance/limits_suite.hpp"
#include "support/hopscotch_inspect_map.hpp"
#include "support/probe_counter.hpp"

namespace {

using karpos_test::check_map_in_order;
using karpos_test::keys_in;
using karpos_test::part;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_host_scalar;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct maps {
  template <class Key, class T>
  using map = karpos::hopscotch_map<Key, T, space>;
};

TEST_CASE("hopscotch_map: a rehash that would not hold the keys throws before anything changes") {
  karpos_test::a_rehash_that_would_not_hold_the_keys<maps>();
}
TEST_CASE("hopscotch_map: keys equal to a sentinel are refused; the others are handled") {
  karpos_test::keys_equal_to_a_sentinel<maps>();
}
TEST_CASE("hopscotch_map: views of different lengths are refused before anything changes") {
  karpos_test::views_of_different_lengths<maps>();
}
TEST_CASE("hopscotch_map: loads outside (0, 0.98] are refused with their value") {
  karpos_test::loads_out_of_range<maps>();
}
TEST_CASE("hopscotch_map: tables that no memory can hold are refused with their size") {
  karpos_test::tables_that_no_memory_can_hold<maps>();
}

/// Counts the lines that moves can reach from the first line, in either direction.
u64 lines_reached(karpos::detail::hopscotch::line_geometry const& g) {
  std::vector<std::vector<u64>> next(g.lines());
  for (u64 home = 0; home < g.lines(); ++home)
    for (int j = 1; j < karpos::detail::hopscotch::neighbourhood_lines; ++j) {
      next[home].push_back(g.line(home, j));
      next[g.line(home, j)].push_back(home);
    }
  std::vector<bool> seen(g.lines());
  std::vector<u64> found{0};
  seen[0] = true;
  for (u64 i = 0; i < found.size(); ++i)
    for (u64 const l : next[found[i]])
      if (!seen[l]) {
        seen[l] = true;
        found.push_back(l);
      }
  return found.size();
}
TEST_CASE("hopscotch_map: in tables of all sizes moves lead from every line to every other one") {
  using karpos::detail::hopscotch::line_geometry;
  u64 parted = 0, wasted = 0;
  auto const check_lines = [&](u64 slots) {
    line_geometry const g(line_geometry::lines_for(slots));
    parted += lines_reached(g) != g.lines();
    wasted += g.lines() > line_geometry::min_lines && g.lines() * 7 > slots + 5 * 14;
    CHECK(g.lines() * 7 >= slots);
  };
  for (u64 slots = 1; slots < 4000; slots += 7) check_lines(slots);
  for (u64 slots = 4000; slots < 1'000'000; slots += slots / 5 + 1) check_lines(slots);
  CHECK(parted == 0);
  CHECK(wasted == 0);
}

TEST_CASE("hopscotch_map: small maps of fixed size take the keys that they are made for") {
  u64 seed = 0;
  for (double const load : {0.8, 0.9})
    for (u64 slots = 56; slots < 420; slots += 14) {
      auto const n = static_cast<u64>(static_cast<double>(slots) * load);
      u64 rejected = 0;
      for (int i = 0; i < 20; ++i) {
        maps::map<u32, u32> map(space{}, n, {.load = load, .growth = karpos::growth::fixed});
        rejected += map.insert(space{}, to_space(unique_keys<u32>(n, ++seed)), 1u).rejected;
      }
      INFO(n, " keys at load ", load);
      CHECK(rejected == 0);
    }
}

/// Inserts more keys than fit without growth: those that fit stay, and are stored once.
template <class Key, class T>
void fills_up(u64 max_keys, double load) {
  using map_type = karpos::hopscotch_map<Key, T, space>;
  map_type map(space{}, max_keys, {.load = load});
  u64 const slots = map.capacity();
  INFO("max_keys: ", max_keys, ", load: ", load, ", slots: ", slots);
  CHECK(slots >= max_keys);
  auto const keys = unique_keys<Key>(2 * slots, 1);
  auto draws = karpos_test::skewed_draws(keys, slots, 61);
  draws.insert(draws.end(), keys.begin(), keys.end());
  typename map_type::report_view const report("report");
  map.insert_async(space{}, to_space(draws), T(1), report);
  auto const r = to_host_scalar(report);
  CHECK(r.inserted + r.existing + r.rejected == draws.size());
  CHECK(r.rejected >= slots);
  CHECK(r.inserted >= slots * 95 / 100);
  CHECK(map.capacity() == slots);  // it has not grown
  auto const in = keys_in(map);
  CHECK(in.size() == r.inserted);
  check_map_in_order("full", map, r.inserted);

  // Exactly the stored keys are found. insert_or_apply also rejects keys, and does not merge twice.
  view<T> const out("out", keys.size());
  map.insert_or_apply(space{}, to_space(keys), T(2), karpos::plus{});
  map.find(space{}, to_space(keys), out, T(0));
  auto const found = to_host(out);
  auto const later = keys_in(map);
  u64 wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i)
    wrong += found[i] != (in.count(keys[i]) != 0 ? T(3) : later.count(keys[i]) != 0 ? T(2) : T(0));
  CHECK(wrong == 0);

  // Erased slots are reused at once.
  u64 const size = map.size(space{});
  std::vector<Key> const all(later.begin(), later.end());
  auto const half = part(all, 0, all.size() / 2);
  CHECK(map.erase(space{}, to_space(half)) == half.size());
  check_map_in_order("half erased", map, size - half.size());
  map.insert_async(space{}, to_space(half), T(4), report);
  auto const again = to_host_scalar(report);
  CHECK(again.inserted + again.rejected == half.size());
  CHECK(again.inserted >= half.size() * 9 / 10);
  check_map_in_order("filled again", map, size - half.size() + again.inserted);
}

TEST_CASE("hopscotch_map: more keys than fit, from all threads, without growing") {
  for (u64 const max_keys : {0, 1, 48, 57, 150}) {
    fills_up<u32, u32>(max_keys, 0.8);
    fills_up<u64, u64>(max_keys, 0.98);
  }
  fills_up<u32, u32>(1000, 0.98);
  fills_up<u64, u64>(100, 0.5);
}

template <class Ref, class Key>
struct change_one {
  Ref map;
  Key key;
  bool erases;
  KOKKOS_FUNCTION void operator()(int, u64& changed) const {
    changed += erases ? map.erase(key) : map.insert(key, 1) == karpos::outcome::inserted;
  }
};
template <class Key>
struct is_key {
  Key wanted;
  template <class T>
  KOKKOS_FUNCTION bool operator()(Key key, T) const {
    return key == wanted;
  }
};
/// Checks that a table without a free slot rejects keys after a few probes, until a key is erased.
template <class Key, class T>
void remembers_being_full(u64 max_keys) {
  using map_type = karpos::hopscotch_map<Key, T, space, karpos_test::counting_hash<Key>>;
  using ref_type = typename map_type::ref_type;
  karpos_test::probe_counter const probe_counter;
  map_type map(space{}, max_keys, {.load = 0.98, .growth = karpos::growth::fixed},
               {probe_counter.at()});
  u64 const slots = map.capacity(), n = 300;
  CAPTURE(slots);
  auto const keys = unique_keys<Key>(40 * slots + n);
  auto const many = to_space(part(keys, 0, 40 * slots)),
             others = to_space(part(keys, 40 * slots, 40 * slots + n));
  auto const refuses_early = [&](map_type& m) {
    u64 rejected = 0;
    CHECK(probe_counter.per_key(n, [&] { rejected = m.insert(space{}, others, T(1)).rejected; }) <
          64);
    CHECK(rejected == n);
  };
  auto const change = [&](Key key, bool erases) {
    u64 changed = 0;
    Kokkos::parallel_reduce("karpos_test::change_one", Kokkos::RangePolicy<space>(0, 1),
                            change_one<ref_type, Key>{map.ref(), key, erases}, changed);
    return changed == 1;
  };
  map.insert(space{}, many, T(1));
  CHECK(map.size(space{}) == slots);
  refuses_early(map);
  map_type copy;
  deep_copy(space{}, copy, map);
  refuses_early(copy);

  constexpr u64 min_batched_erasures =
      2 * karpos::detail::hopscotch::tuning<space>::min_batched_erasures;
  typename map_type::erase_view const report("report");
  auto const in = keys_in(map);
  u64 round = 0, forgotten = 0, inserted = 0;
  for (Key const key : in) {
    if (++round > 40) break;
    map.insert(space{}, others, T(1));  // detects again that the table is full
    bool erased = false, taken = false;
    switch (round % 5) {
      case 0:
        erased = map.erase(space{}, to_space(std::vector<Key>{key})) == 1;
        break;
      case 1:
        erased = map.erase_if(space{}, is_key<Key>{key}) == 1;
        break;
      case 2:
        erased = change(key, true);
        break;
      case 3:
        erased = map.erase(space{}, to_space(std::vector<Key>(min_batched_erasures, key))) == 1;
        break;
      default:
        map.erase_async(space{}, to_space(std::vector<Key>(min_batched_erasures, key)), report);
        erased = to_host_scalar(report).erased == 1;
    }
    CHECK(erased);
    double const calls =
        probe_counter.per_key(1, [&] { taken = change(keys[40 * slots + round], false); });
    forgotten += !taken && calls < 100;
    inserted += taken;
    if (!taken) CHECK(change(key, false));
  }
  CHECK(forgotten == 0);
  CHECK(inserted > 0);
  CHECK(map.size(space{}) == slots);
  map.clear(space{});
  map.insert(space{}, many, T(1));
  CHECK(map.size(space{}) == slots);
}
TEST_CASE(
    "hopscotch_map: a full table refuses keys at once, and searches again once one is erased") {
  remembers_being_full<u32, u32>(1'000);
#if KARPOS_FULL_TESTS
  remembers_being_full<u64, u64>(1'000);
#endif
}

/// Inserts ten times the keys that the map was made for, with duplicates and a stencil.
template <class Key, class T>
void grows(u64 max_keys) {
  karpos::hopscotch_map<Key, T, space> map(space{}, max_keys);
  INFO("max_keys: ", max_keys);
  auto const keys = unique_keys<Key>(10 * max_keys + 100);
  std::size_t const n = keys.size();
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i + 1);
  std::vector<int> stencil(2 * n);
  std::vector<Key> twice(keys);
  twice.insert(twice.end(), keys.begin(), keys.end());
  std::vector<T> twice_values(values);
  twice_values.insert(twice_values.end(), values.begin(), values.end());
  // Both copies of the first third are selected, one of the second third, and none of the others.
  u64 chosen = 0, different = 0;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    std::size_t const key = i % n;
    stencil[i] = key < n / 3 || (key < n / 3 * 2 && i >= n);
    chosen += static_cast<u64>(stencil[i]);
    different += i >= n && stencil[i] != 0;
  }
  auto const d_keys = to_space(keys), d_twice = to_space(twice);
  CHECK(bool(map.insert_if(space{}, d_twice, to_space(twice_values), to_space(stencil)) ==
             karpos::insert_report{different, chosen - different, 0, 0}));
  check_map_in_order("after insert_if", map, different);
  CHECK(bool(map.insert(space{}, d_twice, to_space(twice_values)) ==
             karpos::insert_report{n - different, n + different, 0, 0}));
  check_map_in_order("after insert", map, n);
  CHECK(map.capacity() >= n);
  CHECK(map.max_keys() > max_keys);
  view<T> const out("out", n);
  map.find(space{}, d_keys, out, T(0));
  CHECK(to_host(out) == values);

  // Assignment grows the map as well, and every value is the new one.
  karpos::hopscotch_map<Key, T, space> assigned(space{}, max_keys);
  std::size_t const third = n / 3;
  CHECK(assigned.insert(space{}, to_space(part(keys, 0, third)), T(7)).inserted == third);
  CHECK(bool(assigned.insert_or_assign(space{}, d_keys, to_space(values)) ==
             karpos::insert_report{n - third, third, 0, 0}));
  assigned.find(space{}, d_keys, out, T(0));
  CHECK(to_host(out) == values);
  check_map_in_order("after insert_or_assign", assigned, n);

  karpos::hopscotch_map<Key, T, space> thrown(space{}, max_keys);
  CHECK(bool(thrown.insert_or_throw(space{}, d_twice, T(1)) == karpos::insert_report{n, n, 0, 0}));
  check_map_in_order("after insert_or_throw", thrown, n);
}

TEST_CASE("hopscotch_map: bulk insertions grow, lose nothing and count exactly") {
  for (u64 const max_keys : {0, 1, 48}) {
    grows<u32, u32>(max_keys);
    grows<u64, u64>(max_keys);
  }
  grows<u32, u32>(150);
}

/// insert_or_apply does not grow the map: merged values must not be merged again.
TEST_CASE("hopscotch_map: insert_or_apply rejects, merges once and does not grow") {
  karpos::hopscotch_map<u32, u32, space> map(space{}, 40);
  u64 const slots = map.capacity();
  auto const keys = unique_keys<u32>(1000);
  auto const r = map.insert_or_apply(space{}, to_space(keys), 1u, karpos::plus{});
  CHECK(map.capacity() == slots);
  CHECK(r.rejected >= 1000 - slots);
  CHECK(r.inserted + r.rejected == 1000);
  check_map_in_order("after insert_or_apply", map, r.inserted);
}

/// Erases the oldest keys and inserts as many others, round after round, in a table that does not
/// grow.
template <class Key, class T>
void churns(u64 max_keys, double load, int rounds) {
  using map_type = karpos::hopscotch_map<Key, T, space>;
  map_type map(space{}, max_keys, {.load = load});
  u64 const slots = map.capacity(), step = max_keys / 8;
  u64 const n = static_cast<u64>(static_cast<double>(slots) * load);
  INFO("slots: ", slots);
  auto const keys = unique_keys<Key>(n + step * static_cast<u64>(rounds));
  auto const d_keys = to_space(keys);
  auto const range = [&](u64 first, u64 last) {
    return Kokkos::subview(d_keys, std::pair<u64, u64>(first, last));
  };
  typename map_type::report_view const report("report");
  typename map_type::erase_view const erased("erased");
  u64 rejected = 0, not_erased = 0, wrong_size = 0;
  map.insert_async(space{}, range(0, n), T(1), report);
  rejected += to_host_scalar(report).rejected;
  for (int round = 0; round < rounds; ++round) {
    u64 const first = step * static_cast<u64>(round);
    map.erase_async(space{}, range(first, first + step), erased);
    map.insert_async(space{}, range(first + n, first + n + step), T(1), report);
    not_erased += step - to_host_scalar(erased).erased;
    rejected += to_host_scalar(report).rejected;
    if (round % 100 == 0) wrong_size += map.size(space{}) != n;
  }
  CHECK(rejected == 0);
  CHECK(not_erased == 0);
  CHECK(wrong_size == 0);
  CHECK(map.capacity() == slots);
  check_map_in_order("after all rounds", map, n);
  u64 const first = step * static_cast<u64>(rounds);
  view<bool> const flags("flags", n);
  map.contains(space{}, range(first, first + n), flags);
  auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, flags);
  u64 missing = 0;
  for (u64 i = 0; i < n; ++i) missing += !there(i);
  CHECK(missing == 0);
}

TEST_CASE("hopscotch_map: erased slots are used again, a thousand rounds without a rejection") {
  churns<u32, u32>(4000, 0.9, 1000);
  churns<u64, u64>(4000, 0.9, 1000);
  churns<u32, u32>(100000, 0.85, 40);
}

}  // namespace
