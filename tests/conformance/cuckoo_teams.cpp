// SPDX-License-Identifier: Apache-2.0
/// \file
/// The steps of a build on emulated teams of many threads, as GPUs have them: the same bytes as on one thread.
#include <algorithm>
#include <bit>
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
  using table = cuckoo::table<cuckoo::traits<Key, Key, host, Hash>>;
  using view = typename table::view_type;
  using word = typename view::word;
  using keys_view = Kokkos::View<Key*, host::memory_space>;
  using source = cuckoo::all_pairs<view, keys_view, keys_view>;

  std::vector<word> slots, items, coarse_items;
  std::vector<std::uint8_t> metadata;
  std::vector<u64> fill, coarse_fill;
  cuckoo::build_report report;

  emulated_build(table const& like, keys_view const& keys, int threads, int max_targets)
      : slots(like.shape().slots),
        metadata(like.shape().metadata) {
    view table_here = like.view();
    table_here.slots = slots.data();
    table_here.metadata = metadata.data();
    auto p = table::plan_for(keys.extent(0), like.shape());
    if (p.regions > static_cast<u64>(max_targets))
      p = cuckoo::plan_for_groups(keys.extent(0), like.shape().groups, shift,
                                  static_cast<u64>(max_targets));
    emulated_block block(threads, 7);
    split(block, {table_here, shift}, source{keys, keys}, p);
    cuckoo::build_buckets<host, view> const step{table_here, regions(p), &report};
    for (u64 r = 0; r < p.regions; ++r)
      block.run(step, static_cast<int>(r), static_cast<int>(p.regions));
  }

 private:
  using target = cuckoo::region_of_item<view>;
  static constexpr int shift =
      std::countr_zero(static_cast<unsigned>(cuckoo::build_buckets<host, view>::buckets));

  karpos::detail::multisplit_regions<word> regions(karpos::detail::multisplit_plan const& p) {
    return {items.data(), fill.data(), p.capacity};
  }
  void split(emulated_block& block, target const& to, source const& from,
             karpos::detail::multisplit_plan const& p) {
    items.resize(p.items());
    fill.assign(p.regions, 0);
    coarse_items.resize(p.coarse_items());
    coarse_fill.assign(p.coarse_regions, 0);
    bool const twice = p.coarse_regions != 0;
    karpos::detail::multisplit_regions<word> const coarse{coarse_items.data(), coarse_fill.data(),
                                                          p.coarse_capacity};
    using tiles_of_source = karpos::detail::tiles_of_source<source>;
    using step = karpos::detail::multisplit_tile<host, word, tiles_of_source, target>;
    step const first{{from},
                     to.coarsened(p.coarse_bits),
                     twice ? coarse : regions(p),
                     static_cast<int>(twice ? p.coarse_regions : p.regions),
                     &report.split};
    u64 const tiles = (from.size() + step::tile_items - 1) / step::tile_items;
    for (u64 i = 0; i < tiles; ++i) block.run(first, static_cast<int>(i), static_cast<int>(tiles));
    if (!twice) return;
    u64 const each = (p.coarse_capacity + step::tile_items - 1) / step::tile_items;
    int const targets = 1 << p.coarse_bits;
    using tiles_of_coarse = karpos::detail::tiles_of_coarse<word>;
    karpos::detail::multisplit_tile<host, word, tiles_of_coarse, target> const second{
        {coarse, static_cast<std::uint32_t>(each), targets},
        to,
        regions(p),
        targets,
        &report.split};
    for (u64 i = 0; i < p.coarse_regions * each; ++i)
      block.run(second, static_cast<int>(i), static_cast<int>(p.coarse_regions * each));
  }
};

/// Returns: how often buckets were restarted.
template <class Key, class Hash = karpos::seeded_hash<Key>>
u64 builds_the_same(std::vector<Key> const& list, int threads, int max_targets = 4096) {
  std::size_t const n = list.size();
  INFO("keys: ", n, ", threads: ", threads, ", targets: ", max_targets);
  Kokkos::View<Key*, host::memory_space> const keys("keys", n);
  std::copy(list.begin(), list.end(), keys.data());
  cuckoo::table<cuckoo::traits<Key, Key, host, Hash>> reference({}, Hash{});
  reference.build(host{}, keys, keys);
  same("the reference was built with the first seed", reference.restarts(), 0);
  emulated_build<Key, Hash> const built(reference, keys, threads, max_targets);
  same("duplicates", built.report.duplicates, 0);
  same("overflowing, unplaced or invalid",
       built.report.split.overflowing + built.report.unplaced + built.report.split.invalid, 0);
  auto const expected = reference.view();
  CHECK(bool(std::equal(built.slots.begin(), built.slots.end(), expected.slots)));
  CHECK(bool(std::equal(built.metadata.begin(), built.metadata.end(), expected.metadata)));
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

TEST_CASE("so does one that splits in two passes") {
  builds_the_same(unique_keys<u32>(60000), 64, 8);
  builds_the_same(unique_keys<u64>(60000), 64, 8);
}

TEST_CASE("and one whose buckets start again") {
  std::vector<u32> keys(3000);
  std::iota(keys.begin(), keys.end(), 0);
  for (int const threads : {1, 64, 512}) CHECK(builds_the_same<u32, crowding>(keys, threads) > 3);
}

}  // namespace
