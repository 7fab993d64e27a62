// SPDX-License-Identifier: Apache-2.0
/// \file
/// The steps of a build on emulated teams of many threads, as GPUs have them: the same bytes as on one thread.
#include <algorithm>
#include <karpos/cuckoo_map.hpp>
#include <numeric>

#include "support/check.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

namespace {

namespace cuckoo = karpos::detail::cuckoo;
using karpos_test::emulated_block;
using karpos_test::same;
using u64 = std::uint64_t;
using host = Kokkos::DefaultHostExecutionSpace;

/// Of 3,000 keys in a row, the groups of even number get 500 each, the others 250.
struct crowding {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION u64 operator()(u64 key, u64 seed) const {
    u64 const r = key % 6, group = r < 4 ? 2 * r : 4 * (r - 4) + 1 + 2 * (key / 6 % 2);
    return group << 61 | karpos::mix(key + seed) >> 3;
  }
};

/// A table and what a build needs, filled by steps on emulated teams.
template <class Key, class Hash>
struct emulated_build {
  using table = cuckoo::table<Key, Key, host, Hash>;
  using view = typename table::view;
  using word = typename view::word;
  using keys_view = Kokkos::View<Key*, host::memory_space>;
  using source = cuckoo::all_pairs<view, keys_view, keys_view>;

  std::vector<word> slots, items, coarse_items;
  std::vector<std::uint8_t> marks;
  std::vector<u64> fill, coarse_fill;
  cuckoo::build_report report;

  emulated_build(table const& like, keys_view const& keys, int threads, int max_targets)
      : slots(like.extent().slots),
        marks(like.extent().marks) {
    view seen = like.seen();
    seen.slots = slots.data();
    seen.marks = marks.data();
    auto d = table::division_for(keys.extent(0), like.extent(), like.chosen().layout);
    if (d.regions > static_cast<u64>(max_targets))
      d = cuckoo::division::of(keys.extent(0), like.extent().groups, d.shift,
                               static_cast<u64>(max_targets));
    emulated_block block(threads, 7);
    divide(block, seen, source{keys, keys}, d);
    cuckoo::build_buckets<host, view> const step{seen, regions(d), &report};
    for (u64 r = 0; r < d.regions; ++r)
      block.run(step, static_cast<int>(r), static_cast<int>(d.regions));
  }

 private:
  cuckoo::regions<word> regions(cuckoo::division const& d) {
    return {items.data(), fill.data(), d.capacity};
  }
  void divide(emulated_block& block, view const& seen, source const& from,
              cuckoo::division const& d) {
    items.resize(d.items());
    fill.assign(d.regions, 0);
    coarse_items.resize(d.coarse_items());
    coarse_fill.assign(d.coarse_regions, 0);
    bool const twice = d.coarse_regions != 0;
    cuckoo::regions<word> const coarse{coarse_items.data(), coarse_fill.data(), d.coarse_capacity};
    using step = cuckoo::divide_tile<host, view, cuckoo::whole_source<source>>;
    step const first{seen,
                     {from},
                     twice ? coarse : regions(d),
                     static_cast<int>(twice ? d.coarse_regions : d.regions),
                     d.shift + d.coarse_bits,
                     &report};
    u64 const tiles = (from.size() + step::tile_items - 1) / step::tile_items;
    for (u64 i = 0; i < tiles; ++i) block.run(first, static_cast<int>(i), static_cast<int>(tiles));
    if (!twice) return;
    u64 const each = (d.coarse_capacity + step::tile_items - 1) / step::tile_items;
    int const targets = 1 << d.coarse_bits;
    cuckoo::divide_tile<host, view, cuckoo::coarse_source<word>> const second{
        seen,   {coarse, static_cast<std::uint32_t>(each), targets}, regions(d), targets, d.shift,
        &report};
    for (u64 i = 0; i < d.coarse_regions * each; ++i)
      block.run(second, static_cast<int>(i), static_cast<int>(d.coarse_regions * each));
  }
};

/// Returns: how often buckets were started again.
template <class Key, class Hash = karpos::seeded_hash<Key>>
u64 builds_the_same(std::vector<Key> const& list, int threads, int max_targets = 4096) {
  std::size_t const n = list.size();
  INFO("keys: ", n, ", threads: ", threads, ", targets: ", max_targets);
  Kokkos::View<Key*, host::memory_space> const keys("keys", n);
  std::copy(list.begin(), list.end(), keys.data());
  cuckoo::table<Key, Key, host, Hash> reference({}, Hash{});
  reference.build(host{}, keys, keys);
  same("the reference was built with the first seed", reference.restarts(), 0);
  emulated_build<Key, Hash> const built(reference, keys, threads, max_targets);
  same("repeated", built.report.repeated, 0);
  same("left out, homeless or invalid",
       built.report.overflowing + built.report.homeless + built.report.invalid, 0);
  auto const seen = reference.seen();
  CHECK(bool(std::equal(built.slots.begin(), built.slots.end(), seen.slots)));
  CHECK(bool(std::equal(built.marks.begin(), built.marks.end(), seen.marks)));
  return cuckoo::statistics(host{}, reference).group_restarts;
}

using karpos_test::unique_keys;
using u32 = std::uint32_t;

TEST_CASE("a team of many threads builds what one thread builds") {
  for (int const threads : {1, 32, 64, 512})
    for (std::size_t const n : {1, 2, 409, 3000, 20000}) {
      builds_the_same(unique_keys<u32>(n), threads);
      builds_the_same(unique_keys<u64>(n), threads);
    }
}

TEST_CASE("so does one that divides in two passes") {
  builds_the_same(unique_keys<u32>(60000), 64, 8);
  builds_the_same(unique_keys<u64>(60000), 64, 8);
}

TEST_CASE("and one whose buckets start again") {
  std::vector<u32> keys(3000);
  std::iota(keys.begin(), keys.end(), 0);
  for (int const threads : {1, 64, 512}) CHECK(builds_the_same<u32, crowding>(keys, threads) > 3);
}

}  // namespace
