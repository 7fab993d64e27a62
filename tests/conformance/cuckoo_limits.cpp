// SPDX-License-Identifier: Apache-2.0
/// \file
/// The smallest cuckoo maps, and bad arguments and the maps that they leave behind.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "conformance/cuckoo_suite.hpp"

namespace {

using karpos_test::both_layouts;
using karpos_test::check_answers;
using karpos_test::check_contents;
using karpos_test::check_empty_and_usable;
using karpos_test::name_of;
using karpos_test::numbered_values;
using karpos_test::oracle_of;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using karpos_test::view;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using keys = std::vector<u32>;
using map_type = karpos::cuckoo_map<u32, u32, space>;
constexpr u32 largest = std::numeric_limits<u32>::max();

map_type made(keys const& in, map_type::options const& o) {
  return map_type(space{}, to_space(in), to_space(numbered_values<u32>(in.size())), o);
}

TEST_CASE("cuckoo_map: the smallest maps, by hand") {
  for (auto const layout : both_layouts)
    for (u32 n = 0; n <= 5; ++n) {
      keys in, queries;
      for (u32 i = 0; i < n; ++i) in.push_back(1u << (7 * i));
      for (u32 i = 0; i < 12; ++i) queries.push_back(i < 6 ? 1u << (7 * i % 32) : i);
      auto const map = made(in, {.layout = layout});
      auto const what = name_of(layout) + ", " + std::to_string(n) + " keys";
      auto const expected = oracle_of(in, numbered_values<u32>(n));
      check_contents(what, map, expected, queries);
      karpos_test::ref_answers_as<1>(what, map, expected, queries);
      karpos_test::ref_answers_as<4>(what, map, expected, queries);
      auto const stats = map.stats(space{});
      CHECK(stats.keys == n);
      CHECK(stats.groups == 1);
      CHECK(stats.smallest_group == n);
      CHECK(stats.largest_group == n);
      CHECK(stats.restarts == 0);
      CHECK(stats.slots >= n);
    }
}

TEST_CASE("cuckoo_map: key 0, the largest key that is no sentinel, and no queries") {
  for (auto const layout : both_layouts) {
    keys const in{0, largest - 1, largest - 2};
    auto const map = made(in, {.layout = layout});
    check_contents(name_of(layout), map, oracle_of(in, numbered_values<u32>(3)),
                   keys{largest - 1, 5, 0, largest - 2, 0});
    check_answers(name_of(layout) + ", no queries", map, oracle_of(in, numbered_values<u32>(3)),
                  keys{});
  }
}

TEST_CASE("cuckoo_map: keys equal to the sentinel are refused, and the map is empty") {
  for (auto const layout : both_layouts) {
    map_type::options const o{.layout = layout};
    keys const bad{1, largest, 2, 3, largest};
    throws<std::invalid_argument>([&] { made(bad, o); }, "karpos::cuckoo_map", "sentinel", "2 of 5",
                                  "empty_key");
    throws<std::invalid_argument>([&] { made(keys{largest}, o); }, "sentinel", "1 of 1");
    auto map = made({1, 2, 3}, o);
    throws<std::invalid_argument>(
        [&] { map.build(space{}, to_space(bad), to_space(numbered_values<u32>(5))); }, "2 of 5");
    check_empty_and_usable(name_of(layout) + ", after sentinels", map);

    // Many sentinels, among duplicates.
    keys many(70000, largest);
    for (u32 i = 0; i < 7; ++i) many[10000 * i] = 5;
    throws<std::invalid_argument>(
        [&] { map.build(space{}, to_space(many), to_space(numbered_values<u32>(70000))); },
        "69993 of 70000");
    check_empty_and_usable(name_of(layout) + ", after many sentinels", map);
  }
}

TEST_CASE("cuckoo_map: the sentinel is looked up like any key that is not there") {
  for (auto const layout : both_layouts)
    for (u32 n : {0u, 3u}) {
      auto const in = karpos_test::slice(keys{4, 5, 6}, 0, n);
      auto const map = made(in, {.layout = layout});
      check_answers(name_of(layout), map, oracle_of(in, numbered_values<u32>(n)),
                    {largest, 4, largest});
    }
}

TEST_CASE("cuckoo_map: with a sentinel of the user's, the largest key can be stored") {
  for (auto const layout : both_layouts)
    for (u32 chosen : {0u, 77u}) {
      map_type::options o{.layout = layout};
      o.empty_key = chosen;
      keys in{1, largest, largest - 1, 2, 76, 78};
      if (chosen != 0) in.push_back(0);
      auto queries = in;
      queries.push_back(chosen);
      queries.push_back(3);
      auto map = made(in, o);
      auto const expected = oracle_of(in, numbered_values<u32>(in.size()));
      check_contents(name_of(layout), map, expected, queries);
      karpos_test::ref_answers_as<1>(name_of(layout), map, expected, in);
      in.push_back(chosen);
      throws<std::invalid_argument>(
          [&] { map.build(space{}, to_space(in), to_space(numbered_values<u32>(in.size()))); },
          "sentinel", "1 of " + std::to_string(in.size()));
      check_contents(name_of(layout), map, oracle_of(keys{}, keys{}), queries);
    }
}

TEST_CASE("cuckoo_map: views of different lengths are refused before anything changes") {
  view<u32> const three("three", 3), four("four", 4);
  for (auto const layout : both_layouts) {
    auto const refused = [](auto const& f) {
      throws<std::invalid_argument>(f, "karpos::cuckoo_map", "3", "4", "same length");
    };
    refused([&] { map_type(space{}, three, four, {.layout = layout}); });
    refused([&] { map_type(space{}, four, three, {.layout = layout}); });
    keys const in{1, 2, 3};
    auto map = made(in, {.layout = layout});
    auto const expected = oracle_of(in, numbered_values<u32>(3));
    refused([&] { map.build(space{}, three, four); });
    refused([&] { map.build(space{}, four, three); });
    refused([&] { map.find(space{}, three, four, 0u); });
    refused([&] { map.find_if(space{}, three, four, 0u, three); });
    refused([&] { map.find_if(space{}, three, three, 0u, four); });
    refused([&] { map.contains_if(space{}, four, three, four); });
    refused([&] { map.contains_if(space{}, four, four, three); });
    refused([&] { map.contains(space{}, four, three); });
    refused([&] { map.retrieve_all(space{}, three, four); });
    refused([&] { map.retrieve_all(space{}, four, three); });
    if (layout == karpos::cuckoo_layout::dense) refused([&] { map.insert(space{}, three, four); });
    check_contents(name_of(layout) + ", unchanged", map, expected, in);
    view<u32> const two("two", 2);
    throws<std::invalid_argument>([&] { map.retrieve_all(space{}, two, two); }, "retrieve_all",
                                  "2 elements", "3 keys", "at least 3");
    check_contents(name_of(layout) + ", unchanged", map, expected, in);
  }
}

TEST_CASE("cuckoo_map: loads outside (0, 0.98] are refused with their value") {
  auto const of_load = [](double load) {
    return [load] { made({1, 2, 3}, {.layout = karpos::cuckoo_layout::dense, .load = load}); };
  };
  throws<std::invalid_argument>(of_load(0.0), "load", "0.0");
  throws<std::invalid_argument>(of_load(-0.5), "load", "-0.5");
  throws<std::invalid_argument>(of_load(0.99), "load", "0.99", "0.98");
  throws<std::invalid_argument>(of_load(1.0), "load", "1.0");
  throws<std::invalid_argument>(of_load(std::nan("")), "load", "nan");
  throws<std::invalid_argument>(of_load(INFINITY), "load", "inf");
  throws<std::invalid_argument>(
      [] { map_type::bytes_for(10, {.layout = karpos::cuckoo_layout::dense, .load = 1.0}); },
      "load");
  of_load(0.98)();
  auto const map = made({1, 2, 3}, {.layout = karpos::cuckoo_layout::dense, .load = 0.001});
  check_contents("load 0.001", map, oracle_of(keys{1, 2, 3}, numbered_values<u32>(3)),
                 {0, 1, 2, 3});
  CHECK(map.stats(space{}).slots >= 3000);
}

TEST_CASE("cuckoo_map: two_level takes no insertions") {
  keys const in{1, 2, 3};
  auto map = made(in, {.layout = karpos::cuckoo_layout::two_level});
  throws<std::logic_error>([&] { map.insert(space{}, to_space(keys{4}), to_space(keys{4})); },
                           "karpos::cuckoo_map", "two_level", "dense");
  throws<std::logic_error>([&] { map.insert(space{}, to_space(keys{}), to_space(keys{})); },
                           "two_level");
  check_contents("unchanged", map, oracle_of(in, numbered_values<u32>(3)), {1, 2, 3, 4});
}

TEST_CASE("cuckoo_map: sizes beyond 32 bits are computed, not cut") {
  for (int exponent : {20, 31, 32, 33, 36}) {
    auto const n = static_cast<double>(u64(1) << exponent);
    auto const two_level = static_cast<double>(map_type::bytes_for(u64(1) << exponent));
    CHECK(two_level > 8 * 1.40 * n);
    CHECK(two_level < 8 * 1.50 * n);  // 1.42, but for more than 2^27 keys
    auto const dense = static_cast<double>(
        map_type::bytes_for(u64(1) << exponent, {.layout = karpos::cuckoo_layout::dense}));
    CHECK(dense > 8 * n / 0.95);
    CHECK(dense < 8.3 * n / 0.95);
  }
  for (int exponent : {20, 28, 31, 32}) {
    auto const n = static_cast<double>(u64(1) << exponent);
    auto const workspace = static_cast<double>(map_type::workspace_bytes_for(u64(1) << exponent));
    CHECK(workspace > 8 * n);
    CHECK(workspace < 2 * 1.2 * 8 * n);
  }
  CHECK(map_type::bytes_for(0) > 0);
}

}  // namespace
