// SPDX-License-Identifier: Apache-2.0
/// \file
/// One body of code for Kokkos::UnorderedMap and karpos::unordered_map: what works with one works
/// with the other.
#include <doctest/doctest.h>

#include <Kokkos_UnorderedMap.hpp>
#include <cstdint>
#include <karpos/unordered_map.hpp>
#include <string>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;

struct kokkos_maps {
  template <class Key, class Value>
  using map = Kokkos::UnorderedMap<Key, Value, space>;
};
struct karpos_maps {
  template <class Key, class Value>
  using map = karpos::unordered_map<Key, Value, space>;
};

struct tally {
  std::uint64_t success = 0, existing = 0, failed = 0;
  KOKKOS_FUNCTION tally& operator+=(tally const& t) {
    success += t.success;
    existing += t.existing;
    failed += t.failed;
    return *this;
  }
};

}  // namespace

template <>
struct Kokkos::reduction_identity<tally> {
  KOKKOS_FUNCTION static tally sum() { return {}; }
};

namespace {

template <class Map, class Op>
struct insert_each_number {
  Map map;
  std::uint32_t different;
  Op op;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, tally& t) const {
    auto const key = static_cast<typename Map::key_type>(i % different * 7);
    auto const r = put(key, i);
    t.success += r.success();
    t.existing += r.existing();
    t.failed += r.failed();
    if (!r.failed() && (map.find(key) != r.index() || !map.valid_at(r.index())))
      t.failed += 1'000'000;
  }
  KOKKOS_FUNCTION auto put(typename Map::key_type key, [[maybe_unused]] std::uint32_t i) const {
    if constexpr (Map::is_set)
      return map.insert(key);
    else
      return map.insert(key, static_cast<typename Map::value_type>(i), op);
  }
};
template <class Map, class Op = typename Map::default_op_type>
tally insert_repeated(Map const& map, std::uint32_t n, std::uint32_t different, Op const& op = {}) {
  tally t;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, n),
                          insert_each_number<Map, Op>{map, different, op}, Kokkos::Sum<tally>(t));
  return t;
}

/// Counts the right answers for keys 7 i, which are stored for i below n; no other keys are.
template <class Map>
struct count_right {
  Map map;
  std::uint32_t n;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint32_t& right) const {
    auto const at = map.find(i * 7);
    right += map.exists(i * 7) == (i < n) && map.valid_at(at) == (i < n) &&
             (i >= n || map.key_at(at) == i * 7) && !map.exists(i * 7 + 1);
  }
};
template <class Map>
std::uint32_t rights(Map const& map, std::uint32_t n, std::uint32_t in) {
  std::uint32_t right = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<typename Map::execution_space>(0, n),
                          count_right<Map>{map, in}, right);
  return right;
}

template <class Map>
struct erase_each {
  Map map;
  std::uint32_t from;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint32_t& erased) const {
    erased += map.erase((from + i) * 7);
  }
};
/// Sums values over indices, as programs do that walk through a map.
template <class Map>
struct sum_values {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint64_t& sum) const {
    if (map.valid_at(i)) sum += map.value_at(i);
  }
};
template <class Map>
std::uint64_t sum_of(Map const& map) {
  std::uint64_t sum = 0;
  auto const n = static_cast<std::uint32_t>(map.capacity());
  Kokkos::parallel_reduce(Kokkos::RangePolicy<typename Map::execution_space>(0, n),
                          sum_values<Map>{map}, sum);
  return sum;
}
template <class Map>
struct double_values {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint32_t i) const {
    if (map.valid_at(i)) map.value_at(i) *= 2;
  }
};

/// Inserts until no insertion fails, as Kokkos' users do.
template <class Map>
void insert_growing(Map& map, std::uint32_t n, std::uint32_t different) {
  while (insert_repeated(map, n, different).failed != 0) map.rehash(map.capacity() + n / 2);
}

template <class Maps>
void insert_find_erase() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  map_type map;
  holds("allocated by default", map.is_allocated() && map.size() == 0 && map.capacity() >= 1);
  map.rehash(3000, false);
  holds("capacity for what was asked for", map.capacity() >= 3000);
  tally const t = insert_repeated(map, 12'000, 3000);
  same("successes", t.success, 3000);
  same("existing", t.existing, 9000);
  same("failed", t.failed, 0);
  same("size", map.size(), 3000);
  holds("no failed insertion", !map.failed_insert());
  same("right answers", rights(map, 6000, 3000), 6000);

  typename map_type::const_map_type const frozen = map;
  same("right answers of a const map", rights(frozen, 6000, 3000), 6000);
  same("the size of a const map", frozen.size(), 3000);

  holds("begin_erase", map.begin_erase());
  holds("only once", !map.begin_erase());
  same("insertions fail meanwhile", insert_repeated(map, 10, 10).failed, 10);
  std::uint32_t erased = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, 1000), erase_each<map_type>{map, 2500},
                          erased);
  same("erased", erased, 500);
  holds("end_erase", map.end_erase() && !map.end_erase());
  same("size", map.size(), 2500);
  same("right answers after erasures", rights(map, 6000, 2500), 6000);
  map.clear();
  same("size of a cleared map", map.size(), 0);
  same("right answers of a cleared map", rights(map, 100, 0), 100);
}

template <class Maps>
void values_and_operations() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  using ops = Kokkos::UnorderedMapInsertOpTypes<Kokkos::View<std::uint32_t*, space>, std::uint32_t>;
  map_type map(500);
  insert_repeated(map, 4000, 400, typename ops::AtomicAdd{});
  std::uint64_t const all = 4000ull * 3999 / 2;
  same("sum of added values", sum_of(map), all);
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(0, static_cast<int>(map.capacity())),
                       double_values<map_type>{map});
  same("sum of doubled values", sum_of(map), 2 * all);
  insert_repeated(map, 4000, 400, typename ops::NoOp{});
  same("sum after nothing", sum_of(map), 2 * all);
  typename map_type::modifiable_map_type const values = map;
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(0, static_cast<int>(map.capacity())),
                       double_values<typename map_type::modifiable_map_type>{values});
  same("sum of values doubled twice", sum_of(typename map_type::const_map_type(values)), 4 * all);
  map.rehash(5000);
  holds("rehashed", map.capacity() >= 5000);
  same("sum after a rehash", sum_of(map), 4 * all);
}

template <class Maps>
void copies() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint64_t>;
  map_type map(1000), shallow = map;
  insert_repeated(shallow, 900, 900);
  same("shared by a copy", map.size(), 900);
  auto mirror = create_mirror(map);
  Kokkos::deep_copy(mirror, map);
  same("capacity of a mirror", mirror.capacity(), map.capacity());
  same("size of a mirror", mirror.size(), 900);
  same("sum of a mirror", sum_of(mirror), 900ull * 899 / 2);
  same("right answers of a mirror", rights(mirror, 2000, 900), 2000);
  mirror.clear();
  same("not shared by a mirror", map.size(), 900);
  Kokkos::deep_copy(mirror, map);
  map.clear();
  map_type back;
  back.create_copy_view(mirror);
  same("sum of a copy", sum_of(back), 900ull * 899 / 2);
  deep_copy(map, back);
  same("right answers of a copy", rights(map, 2000, 900), 2000);
}

template <class Maps>
void sets_and_growth() {
  using set_type = typename Maps::template map<std::uint64_t, void>;
  set_type set(Kokkos::view_alloc(space{}, "cells"), 150);
  holds("capacity", set.capacity() >= 150 && set.is_allocated());
  insert_growing(set, 20'000, 10'000);
  same("size of a set", set.size(), 10'000);
  same("right answers of a set", rights(set, 20'000, 10'000), 20'000);
  auto const n = static_cast<std::uint32_t>(2 * set.capacity());
  tally const t = insert_repeated(set, n, n);
  holds("more than the capacity does not go in", t.failed > 0 && set.failed_insert());
  same("all others do", t.success + 10'000, set.size());
  set.clear();
  holds("no failure in a cleared map", !set.failed_insert());
}

/// Erases key 49 and reads the value that was there.
template <class Map>
struct erase_and_read {
  Map map;
  KOKKOS_FUNCTION void operator()(std::uint32_t, std::uint64_t& value) const {
    auto const at = map.find(49u);
    value += map.erase(49u) && !map.valid_at(at) ? map.value_at(at) : 1'000'000;
  }
};
template <class Set>
struct insert_with_value {
  Set set;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint64_t& in) const {
    in += set.insert(i, 0).success();
  }
};

template <class Maps>
void erase_phase() {
  using map_type = typename Maps::template map<std::uint32_t, std::uint32_t>;
  map_type map(100);
  insert_repeated(map, 50, 50);  // the value of 49 is 7
  typename map_type::const_map_type frozen = map;
  holds("a const map begins, to no effect", frozen.begin_erase());
  same("insertions go on", insert_repeated(map, 50, 50).failed, 0);
  std::uint64_t const before = sum_of(map);
  map.begin_erase();
  std::uint64_t value = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, 1), erase_and_read<map_type>{map}, value);
  map.end_erase();
  same("the value of an erased key", value, 7);
  same("the sum of the others", sum_of(map), before - 7);
  using set_type = typename Maps::template map<std::uint32_t, void>;
  set_type const set(100);
  std::uint64_t in = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(0, 100), insert_with_value<set_type>{set}, in);
  same("a set ignores values", in, 100);
}

template <class Maps>
void everything() {
  insert_find_erase<Maps>();
  values_and_operations<Maps>();
  copies<Maps>();
  sets_and_growth<Maps>();
  erase_phase<Maps>();
}

}  // namespace

TEST_CASE("code for Kokkos::UnorderedMap works with it") { everything<kokkos_maps>(); }
TEST_CASE("the same code works with karpos::unordered_map") { everything<karpos_maps>(); }
