// SPDX-License-Identifier: Apache-2.0
/// \file
/// Equal seeds and keys give equal two-level tables in every space; tables are copied between
/// spaces.
#include <algorithm>

#include "conformance/cuckoo_suite.hpp"
#include "support/cuckoo_tables.hpp"

namespace {

using karpos_test::both_layouts;
using karpos_test::built_on;
using karpos_test::check_contents;
using karpos_test::in_space;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::same_bytes;
using karpos_test::shuffled;
using karpos_test::slice;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using host = Kokkos::DefaultHostExecutionSpace;

template <class Key, class T>
void are_equal(std::size_t n) {
  INFO(n, " keys");
  auto const keys = unique_keys<Key>(n);
  auto const values = numbered_values<T>(n);
  auto const once = built_on(space{}, keys, values, 1);
  CHECK(once.size == n);
  CHECK(std::count_if(once.slots.begin(), once.slots.end(), [](int b) { return b != 0xff; }) > 0);
  same_bytes("again", built_on(space{}, keys, values, 1), once);
  same_bytes("on the host", built_on(host{}, keys, values, 1), once);
#ifdef KOKKOS_ENABLE_SERIAL
  same_bytes("in series", built_on(Kokkos::Serial{}, keys, values, 1), once);
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  for (int threads : {1, 2, 3}) {
    Kokkos::OpenMP const exec(threads);
    CHECK(exec.concurrency() == threads);
    same_bytes(std::to_string(threads) + " threads", built_on(exec, keys, values, 1), once);
  }
#endif
  for (u64 order : {1, 2}) {
    auto const other = shuffled(keys, order);
    auto const other_values = shuffled(values, order);  // the same permutation
    CHECK(other != keys);
    same_bytes("in another order", built_on(space{}, other, other_values, 1), once);
  }
  auto const reseeded = built_on(space{}, keys, values, 2);
  CHECK(reseeded.size == n);
  CHECK(reseeded.slots != once.slots);
}

TEST_CASE("cuckoo_map: equal seeds and keys make equal two-level tables") {
  for (std::size_t n : {10u, 409u, 1000u, 4097u, 50000u, 300000u}) {
    are_equal<u32, u32>(n);
    are_equal<u64, u64>(n);
  }
  are_equal<std::int32_t, float>(20000);
}

TEST_CASE("cuckoo_map: equal keys make no difference, but for the first of them") {
  auto const keys = unique_keys<u32>(30000);
  auto const values = numbered_values<u32>(30000);
  auto twice = keys, twice_values = values;
  auto const draws = karpos_test::skewed_draws(keys, 50000, 3);
  twice.insert(twice.end(), draws.begin(), draws.end());
  twice_values.resize(twice.size(), 7);
  same_bytes("with duplicates", built_on(space{}, twice, twice_values, 1),
             built_on(space{}, keys, values, 1));
}

TEST_CASE("cuckoo_map: maps without a seed have different tables, and copies keep theirs") {
  using map_type = karpos::cuckoo_map<u64, u64, space>;
  constexpr std::size_t n = 5000;
  auto const keys = to_space(unique_keys<u64>(n));
  auto const order = [&](map_type const& map) {
    karpos_test::view<u64> const out("keys", n), values("values", n);
    CHECK(map.retrieve_all(space{}, out, values) == n);
    return karpos_test::to_host(out);
  };
  map_type a(space{}, keys, keys), b(space{}, keys, keys);
  map_type const c(space{}, keys, keys, {.seed = 3}), d(space{}, keys, keys, {.seed = 3});
  CHECK(order(a) != order(b));
  CHECK(order(c) == order(d));
  auto const of_a = order(a);
  a.build(space{}, keys, keys);
  CHECK(order(a) == of_a);
  deep_copy(space{}, b, a);
  b.build(space{}, keys, keys);
  CHECK(order(b) == of_a);
}

/// Enough keys for GPUs to split them in two passes.
TEST_CASE("cuckoo_map: tables split in two passes are equal, and hold their keys") {
  constexpr std::size_t n = karpos::device::is_device<space> ? 14'000'000 : 3'000'000;
  using table = karpos::detail::cuckoo::table<
      karpos::detail::cuckoo::traits<u64, u64, space, karpos::seeded_hash<u64>>>;
  karpos::cuckoo_map_options<u64> const o;
  CHECK(table::plan_type::of(n, table::shape_type::of(n, 0, o)).split.has_coarse() ==
        karpos::device::is_device<space>);
  auto const keys = unique_keys<u64>(n);
  auto const values = numbered_values<u64>(n);
  same_bytes("in another order", built_on(space{}, shuffled(keys, 1), shuffled(values, 1), 1),
             built_on(space{}, keys, values, 1));

  karpos::cuckoo_map<u64, u64, space> const map(space{}, to_space(keys), to_space(values));
  CHECK(map.stats(space{}).largest_group <= 512);
  karpos_test::view<u64> const out("out", n);
  map.find(space{}, to_space(keys), out, u64(0));
  CHECK(karpos_test::to_host(out) == values);
  auto const strangers = to_space(unique_keys<u64>(n, 1));
  map.find(space{}, strangers, out, u64(0));
  CHECK(karpos_test::to_host(out) == std::vector<u64>(n, 0));
}

template <class Key, class T>
void copies(karpos::cuckoo_layout layout, std::size_t n) {
  auto const what = name_of(layout) + ", " + std::to_string(n) + " keys";
  auto const all = unique_keys<Key>(2 * n + 10);
  auto const keys = slice(all, 0, n);
  auto const values = numbered_values<T>(n);
  auto const expected = oracle_of(keys, values);
  karpos::cuckoo_map_options<Key> o;
  o.layout = layout;
  o.seed = 12345;
  o.empty_key = all[2 * n + 1];
  auto const queries = slice(all, 0, 2 * n);
  karpos::cuckoo_map<Key, T, host> on_host(host{}, in_space<host>(keys), in_space<host>(values), o);

  // Copies to a map with other options and another size, which is in use.
  auto const other = slice(all, n / 2, 2 * n);
  karpos::cuckoo_map<Key, T, space> map(space{}, to_space(other),
                                        to_space(numbered_values<T>(other.size())),
                                        {.layout = both_layouts[n % 2], .seed = 7});
  deep_copy(space{}, map, on_host);
  CHECK(map.layout() == layout);
  CHECK(map.bytes() == on_host.bytes());
  check_contents(what + ", copied", map, expected, queries);
  karpos_test::ref_answers_as<1>(what, map, expected, queries);
  karpos_test::ref_answers_as<8>(what, map, expected, queries);

  // Copies back; the two tables are independent then.
  karpos::cuckoo_map<Key, T, host> back(host{}, in_space<host>(other),
                                        in_space<host>(numbered_values<T>(other.size())));
  deep_copy(host{}, back, map);
  map.build(space{}, to_space(other), to_space(numbered_values<T>(other.size())));
  std::uint64_t wrong = 0;
  auto const ref = back.ref();
  for (Key const& key : queries) {
    auto const f = ref.find(key);
    wrong +=
        f.present != expected.contains(key) || (f.present && f.value != expected.find(key, T{}));
  }
  CHECK(wrong == 0);
  CHECK(back.size() == n);
  CHECK(on_host.size() == n);
  auto const twice = oracle_of(other, numbered_values<T>(other.size()));
  check_contents(what + ", built after a copy", map, twice, queries);
}

TEST_CASE("cuckoo_map: deep_copy between the host and the space under test") {
  for (auto const layout : both_layouts)
    for (std::size_t n : {1u, 1000u, 30001u}) {
      copies<u32, u32>(layout, n);
      copies<u64, u64>(layout, n);
    }
}

TEST_CASE("cuckoo_map: insertions into a copy leave the original alone") {
  karpos::cuckoo_map_options<u32> const o{.layout = karpos::cuckoo_layout::dense, .capacity = 5000};
  auto const all = unique_keys<u32>(20000);
  auto const keys = slice(all, 0, 3000);
  auto const values = numbered_values<u32>(3000);
  karpos::cuckoo_map<u32, u32, host> const on_host(host{}, in_space<host>(keys),
                                                   in_space<host>(values), o);
  karpos::cuckoo_map<u32, u32, space> map(space{}, to_space(all), to_space(all), {}), second = [&] {
    return karpos::cuckoo_map<u32, u32, space>(space{}, to_space(keys), to_space(keys), o);
  }();
  deep_copy(space{}, map, on_host);
  deep_copy(space{}, second, map);
  CHECK(map.insert(space{}, to_space(all), to_space(numbered_values<u32>(20000))).inserted ==
        17000);
  check_contents("the copy", map, oracle_of(all, numbered_values<u32>(20000)), all);
  check_contents("the other copy", second, oracle_of(keys, values), all);
  CHECK(on_host.size() == 3000);
}

}  // namespace
