// SPDX-License-Identifier: Apache-2.0
/// \file
/// The multisplit alone: every valid item is in the region that is its target, in one pass and in two; the others are
/// counted.
#include <algorithm>
#include <cstdint>
#include <karpos/detail/arrays.hpp>
#include <karpos/detail/multisplit.hpp>
#include <karpos/hash.hpp>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::same;
using karpos_test::space;
using karpos_test::to_host;
using karpos_test::to_space;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class X>
using array = Kokkos::View<X*, space::memory_space>;
using karpos::detail::multisplit_plan;
using karpos::detail::multisplit_regions;
using karpos::detail::multisplit_report;

/// The target of an item is its upper half; items below 2^32 are not valid.
struct upper_half {
  int shift = 0;
  KOKKOS_FUNCTION static u64 padding() { return 0; }
  KOKKOS_FUNCTION static bool is_valid(u64 item) { return item >> 32 != 0; }
  upper_half coarsened(int bits) const { return {shift + bits}; }
  KOKKOS_FUNCTION u32 operator()(u64 item) const {
    return (static_cast<u32>(item >> 32) - 1) >> shift;
  }
};
u64 item_for(u64 region, u64 i) { return (region + 1) << 32 | i; }

struct items_of {
  array<u64 const> items;
  KOKKOS_FUNCTION u64 size() const { return items.extent(0); }
  KOKKOS_FUNCTION u64 item(u64 i) const { return items(i); }
};

struct split_items {
  std::vector<std::vector<u64>> regions;
  multisplit_report report;
};

split_items split(std::vector<u64> const& items, multisplit_plan const& p) {
  array<u64> const memory("regions", p.items() + p.coarse_items());
  array<u64> const fill("fill", p.regions + p.coarse_regions);
  Kokkos::View<multisplit_report, space::memory_space> const report("report");
  karpos::detail::multisplit<karpos::detail::multisplit_tuning<space>>(
      "karpos_test::multisplit", space{}, items_of{to_space(items)}, upper_half{}, p,
      multisplit_regions<u64>{memory.data() + p.items(), fill.data() + p.regions,
                              p.coarse_capacity},
      multisplit_regions<u64>{memory.data(), fill.data(), p.capacity}, report.data());
  split_items result;
  result.report = karpos::detail::read_back(space{}, report.data(), "karpos_test: the report");
  auto const all = to_host(memory);
  auto const counts = to_host(fill);
  for (u64 r = 0; r < p.regions; ++r) {
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(r * p.capacity);
    result.regions.emplace_back(
        first, first + static_cast<std::ptrdiff_t>(std::min(counts[r], p.capacity)));
  }
  return result;
}

/// Splits items and compares each region with what it should have.
void is_split(std::vector<u64> const& items, multisplit_plan const& p) {
  auto result = split(items, p);
  std::vector<std::vector<u64>> expected(p.regions);
  u64 invalid = 0;
  for (u64 const item : items)
    if (upper_half::is_valid(item))
      expected[upper_half{}(item)].push_back(item);
    else
      ++invalid;
  for (auto& region : result.regions) std::sort(region.begin(), region.end());
  for (auto& region : expected) std::sort(region.begin(), region.end());
  CHECK(result.regions == expected);
  same("invalid", result.report.invalid, invalid);
  same("overflowing", result.report.overflowing, 0);
}

std::vector<u64> random_items(u64 n, u64 regions) {
  std::vector<u64> items(n);
  for (u64 i = 0; i < n; ++i) items[i] = item_for(karpos::mix(i + 1) % regions, i);
  return items;
}
multisplit_plan plan_for(u64 n, u64 regions, u64 max_targets = 2048) {
  return multisplit_plan::of(n, regions, static_cast<double>(n) / static_cast<double>(regions),
                             max_targets);
}

TEST_CASE("multisplit: no items") {
  is_split({}, plan_for(0, 1));
  is_split({}, plan_for(0, 100));
  is_split({}, plan_for(0, 100, 16));
}

TEST_CASE("multisplit: one region takes every item") {
  for (u64 n : {1u, 2u, 4095u, 4096u, 4097u, 100000u}) is_split(random_items(n, 1), plan_for(n, 1));
}

TEST_CASE("multisplit: many regions, in one pass") {
  for (u64 regions : {2u, 33u, 1000u, 2048u})
    for (u64 n : {1u, 100u, 4097u, 100000u}) {
      INFO(n, " items, ", regions, " regions");
      auto const p = plan_for(n, regions);
      CHECK(p.coarse_regions == 0);
      is_split(random_items(n, regions), p);
    }
}

TEST_CASE("multisplit: more regions than a pass has targets take two passes") {
  for (u64 regions : {17u, 100u, 250u})
    for (u64 n : {1u, 100u, 4097u, 100000u}) {
      INFO(n, " items, ", regions, " regions");
      auto const p = plan_for(n, regions, 16);
      CHECK(p.coarse_regions > 0);
      CHECK(p.is_possible(16));
      is_split(random_items(n, regions), p);
    }
  is_split(random_items(100000, 5000), plan_for(100000, 5000));
  CHECK(!plan_for(100000, 257, 16).is_possible(16));
}

TEST_CASE("multisplit: invalid items are counted and left out, wherever they are") {
  for (u64 max_targets : {16, 2048}) {
    auto items = random_items(20000, 100);
    for (u64 i = 0; i < items.size(); ++i)
      if (i % 7 == 0 || i / 4096 == 1 || i + 1 == items.size()) items[i] = i % 100;
    is_split(items, plan_for(items.size(), 100, max_targets));
    is_split(std::vector<u64>(5000, 3), plan_for(5000, 100, max_targets));
  }
}

/// Items that are in a region are some of those sent there, each once.
TEST_CASE(
    "multisplit: a region that overflows keeps what it has room for, and the others are counted") {
  for (u64 max_targets : {16, 2048}) {
    std::vector<u64> items(20000);
    for (u64 i = 0; i < items.size(); ++i) items[i] = item_for(i < 1000 ? i % 100 : 42, i);
    auto const p = plan_for(items.size(), 100, max_targets);
    auto result = split(items, p);
    u64 in = 0;
    for (u64 r = 0; r < p.regions; ++r) {
      auto& region = result.regions[r];
      std::sort(region.begin(), region.end());
      CHECK(std::adjacent_find(region.begin(), region.end()) == region.end());
      for (u64 const item : region) {
        CHECK((item >> 32) == r + 1);
        CHECK(items[item & 0xffff'ffffu] == item);
      }
      in += region.size();
    }
    CHECK(result.regions[42].size() <= p.capacity);
    same("overflowing", result.report.overflowing, items.size() - in);
    same("invalid", result.report.invalid, 0);
    if (max_targets == 2048) {
      CHECK(result.regions[42].size() == p.capacity);
      CHECK(result.regions[41].size() == 10);
    }
  }
}

}  // namespace
