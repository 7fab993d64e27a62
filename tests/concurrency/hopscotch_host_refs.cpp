// SPDX-License-Identifier: Apache-2.0
/// \file
/// Refs of hopscotch tables used by plain threads, for the thread sanitizer. The tables are so full
/// that insertions move other keys all the time. Histories of hot keys must be linearizable, keys
/// that stay are never missed, and the table is in order afterwards.
#include "concurrency/hopscotch_storms.hpp"
#include "concurrency/races.hpp"

namespace {

using karpos_test::hopscotch_host_table;
using karpos_test::mixture;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr mixture few_writes{20, 20, 60}, many_writes{40, 40, 20}, writes_mostly{45, 45, 10};

/// Runs storms of hot keys with tiles of W lanes.
template <int W>
void storms_of_hot_keys() {
  for (mixture const& mix : {few_writes, many_writes, writes_mostly}) {
    for (u64 const hot : {10, 100, 10000}) {
      karpos_test::storm_of_hot_keys<u32, u32, W>(hot, mix, 60);
      karpos_test::storm_of_hot_keys<u64, u64, W>(hot, mix, 60);
    }
  }
}

TEST_CASE("hopscotch: histories of hot keys in a nearly full table, one thread for each key") {
  storms_of_hot_keys<1>();
}
TEST_CASE("hopscotch: histories of hot keys in a nearly full table, tiles of 8") {
  storms_of_hot_keys<8>();
}
#if KARPOS_FULL_TESTS
TEST_CASE("hopscotch: histories of hot keys in a nearly full table, tiles of 4") {
  storms_of_hot_keys<4>();
}
TEST_CASE("hopscotch: histories of hot keys in a nearly full table, tiles of 32") {
  storms_of_hot_keys<32>();
}
#endif

TEST_CASE("hopscotch: keys are erased while they and their neighbours are moved on") {
  karpos_test::erasures_of_moving_keys<u32, u32, 8>(300);
  karpos_test::erasures_of_moving_keys<u64, u64, 1>(300);
#if KARPOS_FULL_TESTS
  karpos_test::erasures_of_moving_keys<u32, u32, 1>(300);
  karpos_test::erasures_of_moving_keys<u64, u64, 8>(300);
#endif
}

TEST_CASE("hopscotch: what is found is a pair that was stored, and nothing is lost or doubled") {
  karpos_test::storm_of_stamps<u32, u32, 4>(300);
  karpos_test::storm_of_stamps<u64, u64, 1>(500);
#if KARPOS_FULL_TESTS
  karpos_test::storm_of_stamps<u32, u32, 1>(300);
  karpos_test::storm_of_stamps<u64, u64, 4>(300);
  karpos_test::storm_of_stamps<u64, u64, 32>(300);
#endif
}

TEST_CASE("hopscotch: sums are exact while their keys are moved on") {
  karpos_test::sums_of_moving_keys<u32, u32, 1>(300);
  karpos_test::sums_of_moving_keys<u64, u64, 1>(300);
#if KARPOS_FULL_TESTS
  karpos_test::sums_of_moving_keys<u64, u64, 8>(300);
#endif
}

TEST_CASE("hopscotch: more keys than fit, from all threads") {
  karpos_test::more_than_fits<u32, u32>(300);
  karpos_test::more_than_fits<u64, u64>(300);
}

TEST_CASE("hopscotch: duplicates from all threads are inserted once and found whole") {
  karpos_test::duplicates_are_inserted_once<hopscotch_host_table<u32, u32>>();
  karpos_test::duplicates_are_inserted_once<hopscotch_host_table<u64, u64>>();
}
TEST_CASE("hopscotch: two threads at the same slot at the same moment") {
  karpos_test::race_for_equal_keys<hopscotch_host_table<u32, u32>>();
  karpos_test::race_for_equal_keys<hopscotch_host_table<u64, u64>>();
}
TEST_CASE("hopscotch: reductions by key from all threads lose nothing") {
  karpos_test::sums_are_exact<hopscotch_host_table<u32, u32>>();
  karpos_test::sums_are_exact<hopscotch_host_table<std::int32_t, float>>();
  karpos_test::sums_are_exact<hopscotch_host_table<u64, u64>>();
  karpos_test::sums_are_exact<hopscotch_host_table<std::int64_t, double>>();
}

}  // namespace
