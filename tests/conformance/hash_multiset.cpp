// SPDX-License-Identifier: Apache-2.0
/// \file
/// A hash_multiset counts as a map from keys to numbers does.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/hash_multiset.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using set_type = karpos::hash_multiset<u32, space>;
using counts_type = std::unordered_map<u32, u64>;

template <class Table>
constexpr bool has_chains = requires(Table const& table) { table.longest_chain(); };
static_assert(!has_chains<set_type>, "a set has no blocks");

struct tally_set_queries {
  view<u64> calls;
  KOKKOS_FUNCTION void operator()(u64 query) const { Kokkos::atomic_add(&calls(query), u64(1)); }
};
struct tally_set_keys {
  view<u64> calls;  // by key
  KOKKOS_FUNCTION void operator()(u32 key) const { Kokkos::atomic_add(&calls(key), u64(1)); }
};
struct query_set {
  set_type::frozen_ref_type ref;
  view<u32> queries;
  view<u64> calls;
  KOKKOS_FUNCTION void operator()(u64 i, u64& wrong) const {
    u64 n = 0;
    ref.for_each_match(queries(i), [&] { ++n; });
    calls(i) = n;
    wrong += ref.count(queries(i)) != n || ref.contains(queries(i)) != (n > 0);
  }
};

/// Checks a set against the oracle. Keys and queries are below 1,000.
void check(std::string const& what, set_type const& set, counts_type const& o) {
  u64 size = 0;
  std::vector<u32> queries(1'000);
  std::vector<u64> expected(1'000);
  for (u32 i = 0; i < 1'000; ++i) {
    queries[i] = i;
    if (auto const at = o.find(i); at != o.end()) expected[i] = at->second;
    size += expected[i];
  }
  auto const q = to_space(queries);
  same(what + ": size", set.size(), size);
  view<u64> const counts("counts", 1'000), calls("calls", 1'000), visits("visits", 1'000),
      by_ref("by_ref", 1'000);
  set.count(space(), q, counts);
  set.for_each_match(space(), q, tally_set_queries{calls});
  set.for_each(space(), tally_set_keys{visits});
  u64 wrong = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<space>(space(), 0, 1'000),
                          query_set{set.frozen_ref(), q, by_ref}, wrong);
  same(what + ": answers of a ref that contradict each other", wrong, 0);
  holds(what + ": counts", to_host(counts) == expected);
  holds(what + ": matches", to_host(calls) == expected);
  holds(what + ": visits", to_host(visits) == expected);
  holds(what + ": by a ref", to_host(by_ref) == expected);

  view<u32> const numbers("numbers", size + 1'000), keys("keys", size);
  std::vector<u32> inner, outer;
  for (u32 i = 0; i < 1'000; ++i) {
    inner.insert(inner.end(), expected[i], i);
    outer.insert(outer.end(), std::max(u64(1), expected[i]), i);
  }
  same(what + ": retrieved", set.retrieve(space(), q, numbers), size);
  holds(what + ": retrieve", to_host(numbers, size) == inner);
  same(what + ": outer", set.retrieve_outer(space(), q, numbers), outer.size());
  holds(what + ": retrieve_outer", to_host(numbers, outer.size()) == outer);
  same(what + ": retrieve_all", set.retrieve_all(space(), keys), size);
  auto all = to_host(keys);
  std::sort(all.begin(), all.end());
  holds(what + ": all", all == inner);
}

void count(counts_type& o, std::vector<u32> const& keys) {
  for (u32 const key : keys) ++o[key];
}

struct insert_keys {
  set_type::ref_type ref;
  KOKKOS_FUNCTION void operator()(u64 i) const { ref.insert(static_cast<u32>(i % 7)); }
};

}  // namespace

TEST_CASE("a multiset counts, whatever the multiplicities are") {
  set_type set(space(), 1'000);
  counts_type o;
  check("empty", set, o);
  karpos_test::random_numbers random(3);
  for (std::size_t n : {1u, 4u, 20'000u}) {
    std::vector<u32> keys(n);
    for (std::size_t i = 0; i < n; ++i)
      keys[i] = static_cast<u32>(i % 3 == 0 ? 77 : random.below(900));
    holds("report", set.insert(space(), to_space(keys)) == karpos::insert_report{n, 0, 0, 0});
    count(o, keys);
    check(std::to_string(n) + " more", set, o);
  }
  u64 const many = o[77] + o[3];
  CHECK(set.erase(space(), to_space<u32>({77, 3, 950, 77})) == many);
  o.erase(77);
  o.erase(3);
  check("erased", set, o);
  Kokkos::parallel_for(Kokkos::RangePolicy<space>(space(), 0, 70),
                       insert_keys{set.ref(space(), 70)});
  set.insert_async(space(), to_space<u32>({77, 77}));
  for (u32 key = 0; key < 7; ++key) o[key] += 10;
  o[77] = 2;
  CHECK(set.consolidate(space()) == karpos::insert_report{72, 0, 0, 0});
  check("pending ones inserted", set, o);
  set_type copy;
  deep_copy(space(), copy, set);
  set.clear(space());
  check("cleared", set, {});
  copy.rehash(space(), 3'000);
  check("copied and rehashed", copy, o);
}

TEST_CASE("a million equal keys take one slot; keys that find none are rejected, all of them") {
  set_type set(space(), 10);
  std::vector<u32> keys(1'000'000, 5);
  CHECK(set.insert(space(), to_space(keys)).inserted == 1'000'000);
  CHECK(set.different_keys(space()) == 1);
  auto different = unique_keys<u32>(1'000);
  auto twice = different;
  twice.insert(twice.end(), different.begin(), different.end());
  auto const r = set.insert(space(), to_space(twice));
  CHECK(r.inserted == 2 * (set.different_keys(space()) - 1));
  CHECK(r.inserted + r.rejected == 2'000);
  CHECK(set.size() == 1'000'000 + r.inserted);
  throws<std::invalid_argument>(
      [&] {
        set.insert(space(), to_space<u32>({~u32(0), 5}));
      },
      "sentinel", "1 of 2", "1 inserted");
  CHECK(set.size() == 1'000'001 + r.inserted);
  view<u32> const numbers("numbers", 5);
  throws<std::invalid_argument>([&] { set.retrieve(space(), to_space<u32>({5}), numbers); },
                                "5 elements", "1000001 rows");
}

#if KARPOS_FULL_TESTS
namespace {
/// A hash that crowds all keys into the first 64th of its range, with strides of double hashing
/// that are all alike.
struct crowded_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION u64 operator()(u32 key) const { return karpos::hash<u32>{}(key) >> 32 << 26; }
};
}  // namespace

TEST_CASE("crowded keys do not end the growth of a multiset") {
  karpos::hash_multiset<u32, space, crowded_hash> set(space(), 0,
                                                      {.growth = karpos::growth::automatic});
  auto const keys = unique_keys<u32>(20'000);
  for (std::size_t i = 0; i < keys.size(); i += 2'000) {
    auto const first = keys.begin() + static_cast<std::ptrdiff_t>(i);
    auto const some = to_space(std::vector<u32>(first, first + 2'000));
    CHECK(set.insert(space(), some) == karpos::insert_report{2'000, 0, 0, 0});
  }
  CHECK(set.different_keys(space()) == keys.size());
}
#endif
