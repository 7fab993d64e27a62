// SPDX-License-Identifier: Apache-2.0
/// \file
/// The step that builds the buckets of a cuckoo table, run by one thread and by teams on the same
/// regions, also with keys that are equal, too many, or impossible to place.
#include <algorithm>
#include <cstddef>
#include <unordered_set>

#include "support/cuckoo.hpp"
#include "support/cuckoo_tables.hpp"
#include "support/emulated_team.hpp"

namespace {

using karpos_test::numbered_values;
using karpos_test::same;
using karpos_test::slice;
using karpos_test::unique_keys;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using host = Kokkos::DefaultHostExecutionSpace;
namespace cuckoo = karpos::detail::cuckoo;
template <class X>
using host_view = Kokkos::View<X*, Kokkos::HostSpace>;

/// A hash family in which all large keys have one hash.
template <class Key>
struct collides {
  KOKKOS_FUNCTION u64 operator()(Key key, u64 seed) const {
    return key >= (Key(1) << 30) ? seed : karpos::mix(key + seed);
  }
};

/// Slots, metadata and report of one step.
struct outcome_of_step {
  std::vector<unsigned char> slots, metadata;
  cuckoo::build_report report;
};

/// Splits keys into the regions of `groups` groups; either step then builds the buckets.
template <class Key, class T, class Hash = karpos::seeded_hash<Key>>
class split_keys {
 public:
  using view = cuckoo::table_view<cuckoo::traits<Key, T, host, Hash>>;
  using word = typename view::word;
  using in_bucket = cuckoo::bucket_geometry<word>;
  using step = cuckoo::build_buckets<host, view>;

  split_keys(std::vector<Key> const& keys, u64 groups, u64 seed) {
    int shift = 0;
    while ((1 << shift) < step::buckets) ++shift;
    m_plan = {keys.size(), groups, shift, ~u64(0), step::max_items};
    memory_type const sizes(host{}, m_plan, false);
    m_memory = host_view<std::byte>("memory", sizes.bytes);
    m_table.groups = static_cast<u32>(groups);
    m_table.seed = seed;
    auto const empty = karpos::detail::default_sentinel<Key, typename view::key_bits>(0);
    m_table.slot = typename view::protocol({empty, empty, empty});

    auto const d_keys = karpos_test::in_space<host>(keys);
    auto const d_values = karpos_test::in_space<host>(numbered_values<T>(keys.size()));
    cuckoo::split_by_region(host{}, m_table,
                            cuckoo::all_pairs<view, host_view<Key>, host_view<T>>(d_keys, d_values),
                            arrays(), nullptr);
    host{}.fence();
  }

  u64 items() const {
    u64 n = 0;
    for (u64 r = 0; r < m_plan.regions; ++r) n += regions().count(r);
    return n;
  }
  u64 largest_region() const {
    u64 most = 0;
    for (u64 r = 0; r < m_plan.regions; ++r) most = std::max(most, regions().count(r));
    return most;
  }

  /// Builds the buckets with teams of `Threads` threads, as on GPUs, or with one thread. Slots that
  /// the step does not write keep the byte `before`.
  template <int Threads>
  outcome_of_step built(unsigned char before) const {
    outcome_of_step result;
    result.slots.assign(m_table.groups * in_bucket::slots * sizeof(word), before);
    result.metadata.assign(m_table.groups, before);
    view table = m_table;
    host_view<word> const slots("slots", m_table.groups * in_bucket::slots);
    std::copy(result.slots.begin(), result.slots.end(),
              reinterpret_cast<unsigned char*>(slots.data()));
    table.slots = slots.data();
    table.metadata = result.metadata.data();
    cuckoo::build_buckets<host, view, Threads> const builds{table, regions(), &result.report};
    auto const league = static_cast<int>(m_plan.regions);
    if constexpr (Threads == 1) {
      karpos::device::for_each_in_league("karpos_test::build", host{}, league, builds);
      host{}.fence();
    } else {
      karpos_test::emulated_block block(Threads, before);
      for (int r = 0; r < league; ++r) block.run(builds, r, league);
    }
    result.slots = karpos_test::bytes_at<host>(slots.data(), result.slots.size());
    return result;
  }

 private:
  using memory_type = cuckoo::split_memory<host, word>;
  memory_type arrays() const { return {host{}, m_plan, false, m_memory.data()}; }
  auto regions() const { return arrays().regions(); }

  view m_table;
  cuckoo::region_plan<host, word> m_plan;
  host_view<std::byte> m_memory;
};

/// Totals of many comparisons.
struct tally {
  u64 compared = 0, restarted_buckets = 0, unplaced = 0, placed = 0;
};

/// Checks that teams and one thread give the same report and, if all keys were placed and none is a
/// duplicate, the same bytes.
template <int Threads, class Split>
void compare(Split const& split, tally& t, bool duplicates = false) {
  auto const team = split.template built<Threads>(0x11);
  auto const alone = split.template built<1>(0x22);
  same("unplaced", team.report.unplaced, alone.report.unplaced);
  same("invalid", team.report.invalid + alone.report.invalid, 0);
  ++t.compared;
  t.unplaced += team.report.unplaced;
  if (team.report.unplaced != 0) return;
  same("duplicates", team.report.duplicates, alone.report.duplicates);
  ++t.placed;
  CHECK(team.metadata == alone.metadata);
  if (!duplicates) CHECK(team.report.duplicates == 0);
  if (!duplicates) CHECK(team.slots == alone.slots);
  t.restarted_buckets += static_cast<u64>(
      std::count_if(team.metadata.begin(), team.metadata.end(), [](int m) { return m != 0; }));
}

template <class Key, class T>
u64 groups_for(u64 n) {
  return split_keys<Key, T>::in_bucket::count_for(n);
}

template <class Key, class T>
void steps_agree() {
  tally t;
  for (std::size_t n : {0u, 1u, 2u, 3u, 100u, 409u, 410u, 1000u, 3272u, 3273u, 10000u, 100000u})
    for (u64 seed : {1, 2, 3}) {
      INFO(n, " keys, seed ", seed);
      split_keys<Key, T> const d(unique_keys<Key>(n), groups_for<Key, T>(n), karpos::mix(seed));
      CHECK(d.items() == n);
      if (seed % 2 == 0)
        compare<512>(d, t);
      else
        compare<96>(d, t);
    }
  CHECK(t.unplaced == 0);
  CHECK(t.placed == t.compared);
  CHECK(t.restarted_buckets > 0);
}

TEST_CASE("cuckoo_map: teams and threads alone build the same buckets") {
  steps_agree<u32, u32>();
  steps_agree<u64, u64>();
}

/// Checks buckets with more keys than usual: they are restarted repeatedly, and some never succeed.
template <class Key, class T>
void steps_agree_in_full_buckets() {
  tally t;
  for (std::size_t keys : {450u, 490u, 505u, 512u, 513u, 530u})
    for (u64 groups : {1, 3})
      for (u64 seed = 0; seed < 3; ++seed) {
        INFO(keys, " keys a bucket, ", groups, " buckets, seed ", seed);
        split_keys<Key, T> const d(unique_keys<Key>(keys * groups, seed), groups,
                                   karpos::mix(seed));
        if (seed == 0)
          compare<64>(d, t);
        else
          compare<256>(d, t);
      }
  CHECK(t.restarted_buckets > 10);
  CHECK(t.unplaced > 3);
  CHECK(t.placed > 10);
}

TEST_CASE("cuckoo_map: teams and threads alone agree about buckets that are nearly full") {
  steps_agree_in_full_buckets<u32, u32>();
  steps_agree_in_full_buckets<u64, u64>();
}

template <class Key, class T>
void steps_agree_about_duplicates() {
  tally t;
  for (std::size_t n : {2u, 50u, 400u, 5000u, 100000u})
    for (u64 seed = 0; seed < 5; ++seed) {
      INFO(n, " keys, seed ", seed);
      auto const different = unique_keys<Key>(n / 2);
      auto draws =
          karpos_test::joined(different, karpos_test::skewed_draws(different, n / 2, seed));
      draws = karpos_test::shuffled(draws, seed);
      split_keys<Key, T> const d(draws, groups_for<Key, T>(n), karpos::mix(seed));
      u64 const before = t.placed;
      compare<64>(d, t, true);
      if (t.placed != before) {
        auto const team = d.template built<64>(0);
        CHECK(d.items() - team.report.duplicates == different.size());
      }
    }
  CHECK(t.placed > 10);
}

TEST_CASE("cuckoo_map: teams and threads alone count the same slots where keys are equal") {
  steps_agree_about_duplicates<u32, u32>();
  steps_agree_about_duplicates<u64, u64>();
}

template <class Key, class T>
void steps_agree_about_collisions() {
  auto const good = [](std::size_t n) {
    std::vector<Key> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(i);
    return keys;
  };
  for (std::size_t bad : {1u, 3u, 4u, 100u, 320u})
    for (std::size_t n : {0u, 1000u}) {
      INFO(bad, " of ", n + bad, " keys collide");
      auto keys = good(n);
      for (std::size_t i = 0; i < bad; ++i)
        keys.push_back(static_cast<Key>((Key(1) << 30) + static_cast<Key>(i)));
      tally t;
      split_keys<Key, T, collides<Key>> const d(karpos_test::shuffled(keys, bad),
                                                groups_for<Key, T>(keys.size()), karpos::mix(5));
      compare<64>(d, t);
      CHECK(t.unplaced == (bad > 3 ? 1 : 0));  // regions; a hash has three places
    }
}

TEST_CASE("cuckoo_map: teams and threads alone leave the same keys unplaced") {
  steps_agree_about_collisions<u32, u32>();
  steps_agree_about_collisions<u64, u64>();
}

/// Neither step touches a region with more keys than scratch memory holds.
TEST_CASE("cuckoo_map: regions that are too long are reported once") {
  std::vector<u32> keys(100000);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = (1u << 30) + i;
  split_keys<u32, u32, collides<u32>> const d(keys, groups_for<u32, u32>(keys.size()), 5);
  CHECK(d.items() == keys.size());
  CHECK(d.largest_region() == keys.size());
  CHECK(d.built<1>(0).report.unplaced == 1);
  CHECK(d.built<64>(0).report.unplaced == 1);
  CHECK(d.built<64>(0).report.duplicates == 0);
}

/// Sentinels are not placed; the caller of the step counts them.
TEST_CASE("cuckoo_map: a region with a sentinel is reported") {
  auto keys = unique_keys<u32>(2000);
  keys[1234] = ~u32(0);
  split_keys<u32, u32> const d(keys, groups_for<u32, u32>(keys.size()), 5);
  CHECK(d.built<1>(0).report.invalid == 1);
  CHECK(d.built<64>(0).report.invalid == 1);
}

}  // namespace
