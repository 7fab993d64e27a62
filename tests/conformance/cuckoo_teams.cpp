// SPDX-License-Identifier: Apache-2.0
/// \file
/// The steps of a build on emulated teams of many threads, as on GPUs, give the same bytes as on
/// one thread.
#include "support/emulated_space.hpp"

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
using karpos_test::emulated_space;
using karpos_test::same;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using host = Kokkos::DefaultHostExecutionSpace;

/// A hash for 3,000 consecutive keys: groups of even number get 500 keys each, the others 250.
struct crowding {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION u64 operator()(u64 key, u64 seed) const {
    u64 const r = key % 6, group = r < 4 ? 2 * r : 4 * (r - 4) + 1 + 2 * (key / 6 % 2);
    return group << 61 | karpos::mix(key + seed) >> 3;
  }
};

/// Items in regions of fixed capacity, as a GPU's steps on emulated teams leave them, after one
/// pass or two.
template <class View>
struct emulated_split {
  using word = typename View::word;
  using plan_type = cuckoo::region_plan<emulated_space, word>;
  using memory_type = cuckoo::split_memory<emulated_space, word>;

  std::vector<std::byte> bytes;
  memory_type memory;

  template <class Source>
  emulated_split(View const& table, Source const& source, plan_type const& p)
      : bytes(memory_type({}, p, true).bytes),
        memory({}, p, true, bytes.data()) {
    cuckoo::split_by_region(emulated_space{}, table, source, memory, memory.coarse_items);
  }
  u32 overflowed() const { return memory.report->overflowed; }
};

template <class Key, class Hash>
using table_of = cuckoo::table<cuckoo::traits<Key, Key, host, Hash>>;
template <class Key>
using keys_view = Kokkos::View<Key*, host::memory_space>;

/// A table built by steps on emulated teams.
template <class Key, class Hash, int Threads>
struct emulated_build {
  using table = table_of<Key, Hash>;
  using view = typename table::view_type;
  using word = typename view::word;
  using source = cuckoo::all_pairs<view, keys_view<Key>, keys_view<Key>>;
  using step = cuckoo::build_buckets<host, view, Threads>;

  std::vector<word> slots;
  std::vector<std::uint8_t> metadata;
  cuckoo::build_report report;
  typename emulated_split<view>::plan_type plan;

  emulated_build(table const& like, keys_view<Key> const& keys, u64 max_regions)
      : slots(like.shape().slots),
        metadata(like.shape().metadata) {
    view here = like.view();
    here.slots = slots.data();
    here.metadata = metadata.data();
    plan = {keys.extent(0), like.shape().groups,
            std::countr_zero(static_cast<unsigned>(step::buckets)), max_regions, step::max_items};
    emulated_split<view> split(here, source(keys, keys), plan);
    report.overflowed = split.overflowed();
    emulated_block block(Threads, 7);
    step const build{here, split.memory.regions(), &report};
    for (u64 r = 0; r < plan.regions; ++r)
      block.run(build, static_cast<int>(r), static_cast<int>(plan.regions));
  }
};

template <class Key>
keys_view<Key> viewed(std::vector<Key> const& list) {
  keys_view<Key> const keys("keys", list.size());
  std::copy(list.begin(), list.end(), keys.data());
  return keys;
}

/// Checks that emulated teams build the same table as one thread. Returns: how often buckets were
/// restarted.
template <int Threads, class Key, class Hash = karpos::seeded_hash<Key>>
u64 builds_the_same(std::vector<Key> const& list, u64 max_regions = 4096) {
  INFO("keys: ", list.size(), ", threads: ", Threads, ", regions of a pass: ", max_regions);
  auto const keys = viewed(list);
  table_of<Key, Hash> reference({}, Hash{});
  reference.build(host{}, keys, keys);
  same("the reference was built with the first seed", reference.restarts(), 0);
  emulated_build<Key, Hash, Threads> const built(reference, keys, max_regions);
  CHECK(built.report.is_complete());
  CHECK(built.plan.split.has_coarse() == (built.plan.regions > std::max(max_regions, u64(1))));
  auto const expected = reference.view();
  CHECK(bool(std::equal(built.slots.begin(), built.slots.end(), expected.slots)));
  CHECK(bool(std::equal(built.metadata.begin(), built.metadata.end(), expected.metadata)));
  return reference.stats(host{}).group_restarts;
}

using karpos_test::unique_keys;

template <int Threads>
void build_the_same() {
  for (std::size_t const n : {1, 2, 409, 3000, 20000}) {
    builds_the_same<Threads>(unique_keys<u32>(n));
    builds_the_same<Threads>(unique_keys<u64>(n));
  }
}

TEST_CASE("a team of many threads builds what one thread builds") {
  build_the_same<64>();
  build_the_same<512>();
}

TEST_CASE("so does one whose rows were split in two passes") {
  for (u64 const max_regions : {1, 4, 16}) {
    builds_the_same<64>(unique_keys<u32>(60000), max_regions);
    builds_the_same<64>(unique_keys<u64>(60000), max_regions);
  }
}

TEST_CASE("and one whose buckets start again") {
  std::vector<u32> keys(3000);
  std::iota(keys.begin(), keys.end(), 0);
  CHECK(builds_the_same<64, u32, crowding>(keys) > 3);
  CHECK(builds_the_same<512, u32, crowding>(keys) > 3);
}

/// Equal keys overflow their region's capacity: they are counted, and the stored rows are among the
/// rows that were split.
TEST_CASE("regions that overflow, in the first pass or the second, are reported") {
  using view = table_of<u32, karpos::seeded_hash<u32>>::view_type;
  using source = cuckoo::all_pairs<view, keys_view<u32>, keys_view<u32>>;
  auto list = unique_keys<u32>(40000);
  std::fill(list.begin() + 1000, list.begin() + 30000, list[0]);
  auto const keys = viewed(list);
  view table;
  table.groups = 100;
  for (u64 const max_regions : {4096, 8}) {
    emulated_split<view>::plan_type const plan(list.size(), table.groups, 1, max_regions, ~u64(0));
    emulated_split<view> split(table, source(keys, keys), plan);
    auto const regions = split.memory.regions();
    u64 in = 0, overflowing = 0;
    for (u64 r = 0; r < plan.regions; ++r) {
      overflowing += regions.overflows(r);
      in += regions.count(r);
    }
    CHECK(overflowing == 1);
    CHECK(split.overflowed() > 0);
    CHECK(plan.split.has_coarse() == (max_regions == 8));
    CHECK(in + split.overflowed() == list.size());
  }
}

/// A dense table whose keys an emulated team places in scratch memory.
template <class Key>
struct emulated_dense {
  using table = table_of<Key, karpos::seeded_hash<Key>>;
  using view = typename table::view_type;
  using word = typename view::word;
  static constexpr int threads = 64;
  using step = cuckoo::place_in_scratch<host, view, threads>;

  karpos::cuckoo_map_options<Key> options{.layout = karpos::cuckoo_layout::dense, .load = 0.95};
  table like{options, {}};
  std::vector<word> slots;
  std::vector<std::uint8_t> metadata;
  cuckoo::build_report report;

  explicit emulated_dense(std::vector<Key> const& list, double load = 0.95) {
    options.load = load;
    like = table(options, {});
    auto const shape = table::shape_type::of(list.size(), 0, options);
    slots.assign(shape.slots, word{});
    metadata.assign(shape.metadata, 0x5a);
    auto const keys = viewed(list);
    view const here = view_of(shape);
    typename emulated_split<view>::plan_type const plan(list.size(), shape.groups, 0, 4096,
                                                        ~u64(0));
    using source = cuckoo::all_pairs<view, keys_view<Key>, keys_view<Key>>;
    emulated_split<view> split(here, source(keys, keys), plan);
    emulated_block block(threads, 7);
    step const place{here, split.memory.regions(), &report};
    CHECK(shape.windows <= step::max_windows);
    for (u64 r = 0; r < plan.regions; ++r)
      block.run(place, static_cast<int>(r), static_cast<int>(plan.regions));
    m_view = here;
  }
  bool finds(Key key) const {
    cuckoo::dense_ref<cuckoo::traits<Key, Key, host, karpos::seeded_hash<Key>>> const ref(m_view);
    auto const found = karpos::detail::find_in<karpos::device::access::frozen>(
        ref, karpos::detail::one_thread<decltype(ref)>{}, key);
    return found.present && found.value == key;
  }

 private:
  view view_of(typename table::shape_type const& shape) {
    view v = like.view();
    v.slots = slots.data();
    v.metadata = metadata.data();
    v.groups = static_cast<std::uint32_t>(shape.groups);
    v.windows = shape.windows;
    return v;
  }
  view m_view;
};

TEST_CASE("a team places a dense partition in its scratch: every key is found, and no other") {
  for (std::size_t const n : {1, 7, 9, 1000, 23000, 60000})
    for (double const load : {0.5, 0.95}) {
      INFO(n, " keys, load ", load);
      auto const all = unique_keys<u32>(2 * n);
      std::vector<u32> const keys(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
      emulated_dense<u32> const dense(keys, load);
      CHECK(dense.report.is_complete());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < all.size(); ++i) wrong += dense.finds(all[i]) != (i < n);
      CHECK(wrong == 0);
    }
}

TEST_CASE("it counts equal keys, sentinels and keys without a place") {
  auto keys = unique_keys<u32>(5000);
  for (std::size_t i = 0; i < 10; ++i) keys[2000 + i] = keys[i];
  CHECK(emulated_dense<u32>(keys).report.duplicates == 10);
  keys = unique_keys<u32>(5000);
  keys[17] = keys[4711] = ~u32(0);
  CHECK(emulated_dense<u32>(keys).report.invalid == 2);
  // First 25 equal keys in windows of eight slots; then nearly all keys equal, more than the list
  // holds.
  keys = unique_keys<u32>(5000);
  std::fill(keys.begin(), keys.begin() + 25, keys[0]);
  CHECK(emulated_dense<u32>(keys).report.unplaced > 0);
  std::fill(keys.begin(), keys.end(), keys[0]);
  CHECK(emulated_dense<u32>(keys).report.unplaced > 0);
}

}  // namespace
