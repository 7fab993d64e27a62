// SPDX-License-Identifier: Apache-2.0
/// \file
/// hopscotch_set and cuckoo_set: tests that keys alone work, of every size. The tests of the maps
/// cover what sets share with them.
#include <karpos/cuckoo_set.hpp>
#include <karpos/hopscotch_set.hpp>
#include <set>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::unique_keys;
using karpos_test::view;
using u64 = std::uint64_t;

template <class Set>
std::set<typename Set::key_type> contents(Set const& set, u64 slots) {
  view<typename Set::key_type> const keys("keys", slots);
  u64 const n = set.retrieve_all(space{}, keys);
  auto const all = to_host(keys, n);
  std::set<typename Set::key_type> distinct(all.begin(), all.end());
  same("each key is retrieved once", distinct.size(), n);
  return distinct;
}

template <class Key>
struct is_odd {
  KOKKOS_FUNCTION bool operator()(Key key) const { return key % 2 != 0; }
};
template <class Key>
struct count_keys {
  KOKKOS_FUNCTION void operator()(Key, u64& n) const { ++n; }
};
template <class Set>
struct churn {
  typename Set::ref_type set;
  view<typename Set::key_type> keys;
  KOKKOS_FUNCTION void operator()(int i) const {
    set.insert(keys(i));
    if (i % 3 == 0) set.erase(keys(i));
  }
};

template <class Key>
void hopscotch(u64 n) {
  using set_type = karpos::hopscotch_set<Key, space>;
  auto const keys = unique_keys<Key>(n), others = unique_keys<Key>(2 * n);
  set_type set(space{}, 10);
  auto doubled = keys;
  doubled.insert(doubled.end(), keys.begin(), keys.end());
  holds("insert", set.insert(space{}, to_space(doubled)) == karpos::insert_report{n, n, 0, 0});
  std::set<Key> expected(keys.begin(), keys.end());
  holds("contents", contents(set, set.capacity()) == expected);
  same("count", set.count(space{}, to_space(others)), n);
  u64 seen = 0;
  set.reduce(space{}, count_keys<Key>{}, Kokkos::Sum<u64>(seen));
  same("reduce", seen, n);
  u64 const odd = std::erase_if(expected, [](Key k) { return k % 2 != 0; });
  same("erase_if", set.erase_if(space{}, is_odd<Key>{}), odd);
  holds("contents after erase_if", contents(set, set.capacity()) == expected);
  auto const mirror = create_host_mirror(space{}, set);
  holds("a mirror", std::set<Key>(mirror.begin(), mirror.end()) == expected);
  set.clear(space{});
  auto const in = to_space(keys);
  set.rehash(space{}, n);
  Kokkos::parallel_for("karpos_test::churn", Kokkos::RangePolicy<space>(0, static_cast<int>(n)),
                       churn<set_type>{set.ref(), in});
  expected.clear();
  for (u64 i = 0; i < n; ++i)
    if (i % 3 != 0) expected.insert(keys[i]);
  holds("in kernels", contents(set, set.capacity()) == expected);
}

template <class Key>
void cuckoo(u64 n, karpos::cuckoo_layout layout) {
  auto const keys = unique_keys<Key>(n), others = unique_keys<Key>(2 * n);
  auto doubled = keys;
  doubled.insert(doubled.end(), keys.begin(), keys.end());
  karpos::cuckoo_set<Key, space> set(space{}, to_space(doubled), {.layout = layout});
  std::set<Key> expected(keys.begin(), keys.end());
  same("size", set.size(), n);
  holds("contents", contents(set, 4 * n + 2000) == expected);
  same("count", set.count(space{}, to_space(others)), n);
  auto const mirror = create_host_mirror(space{}, set);
  holds("a mirror", std::set<Key>(mirror.begin(), mirror.end()) == expected);
  if (layout == karpos::cuckoo_layout::dense) {
    auto const r = set.insert(space{}, to_space(others));
    holds("insert", r == karpos::insert_report{n, n, 0, 0});
    same("all are in", set.count(space{}, to_space(others)), 2 * n);
  } else {
    throws<std::logic_error>([&] { set.insert(space{}, to_space(others)); }, "two_level", "dense");
  }
  set.build(space{}, to_space(keys));
  same("built again", set.size(), n);
}

TEST_CASE("hopscotch_set") {
  hopscotch<std::uint16_t>(2000);
  hopscotch<std::uint32_t>(5000);
#if KARPOS_FULL_TESTS
  hopscotch<std::int32_t>(5000);
  hopscotch<std::uint64_t>(5000);
#endif
}

TEST_CASE("cuckoo_set") {
  for (auto const layout : {karpos::cuckoo_layout::two_level, karpos::cuckoo_layout::dense}) {
    cuckoo<std::uint16_t>(2000, layout);
    cuckoo<std::uint32_t>(20000, layout);
#if KARPOS_FULL_TESTS
    cuckoo<std::int32_t>(5000, layout);
    cuckoo<std::uint64_t>(5000, layout);
#endif
  }
}

}  // namespace
