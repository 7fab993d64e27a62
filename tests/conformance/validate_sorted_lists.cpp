// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every defect of a sorted list is found and reported with its list, its position and its values.
#include <doctest/doctest.h>

#include <cstdint>
#include <karpos/validate_sorted_lists.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_space;
using memory = space::memory_space;

template <class Id, class Score>
struct host_lists {
  std::vector<Id> ids;
  std::vector<Score> scores;
  std::vector<std::uint64_t> offsets{0};

  void add(std::vector<Id> const& more_ids, std::vector<Score> const& more_scores) {
    ids.insert(ids.end(), more_ids.begin(), more_ids.end());
    scores.insert(scores.end(), more_scores.begin(), more_scores.end());
    offsets.push_back(ids.size());
  }
  auto lists() const {
    return karpos::sorted_lists<Id, Score, memory>(to_space(ids), to_space(scores),
                                                   to_space(offsets));
  }
};

/// Returns three lists, the last of them with these ids and scores.
template <class Id, class Score>
auto with_last(std::vector<Id> const& ids, std::vector<Score> const& scores) {
  host_lists<Id, Score> h;
  h.add({4, 0, 2}, {Score(9), Score(2), Score(2)});
  h.add({}, {});
  h.add(ids, scores);
  return h.lists();
}

template <class Lists>
void good(Lists const& lists) {
  CHECK_NOTHROW(karpos::validate_sorted_lists(space(), lists));
}
template <class Lists, class... Words>
void bad(Lists const& lists, Words const&... words) {
  throws<std::invalid_argument>([&] { karpos::validate_sorted_lists(space(), lists); }, words...);
}

template <class Id, class Score>
void check_defects() {
  using ids = std::vector<Id>;
  using scores = std::vector<Score>;
  Score const nan = std::numeric_limits<Score>::quiet_NaN();
  Score const inf = std::numeric_limits<Score>::infinity();
  for (bool const dense : {false, true}) {
    auto const made = [&](ids const& i, scores const& s) {
      auto const l = with_last(i, s);
      return dense ? l.dense(5) : l;
    };
    good(made({1, 0, 4, 2}, {inf, Score(0.5), Score(0.5), -inf}));
    good(made({1, 0, 4}, {Score(0), Score(-0.0), Score(0)}));
    good(made({1, 0, 4}, {inf, inf, inf}));
    bad(made({1, 0, 4, 3}, {Score(3), Score(0.25), Score(0.5), Score(7)}), "list 2 is not sorted",
        "score 0.5 at position 2", "after 0.25");
    bad(made({1, 0}, {-inf, inf}), "list 2", "score inf at position 1", "after -inf");
    bad(made({1, 0, 4}, {Score(3), nan, Score(5)}), "list 2", "not a number",
        "NaN at position 1, of id 0");
    bad(made({3, 0}, {nan, Score(1)}), "list 2", "NaN at position 0, of id 3");
    bad(made({1, 0, 4, 1, 0}, {Score(5), Score(4), Score(3), Score(2), Score(1)}),
        "twice in list 2", "id 0 at positions 1 and 4", "with scores 4 and 1");
    bad(made({2, 2, 2}, {Score(5), Score(4), Score(3)}), "list 2", "id 2 at positions 0 and 1");
  }
  auto const stray = with_last<Id, Score>({1, 5, 9}, {Score(3), Score(2), Score(1)});
  good(stray);
  good(stray.dense(10));
  bad(stray.dense(9), "an id of list 2", "id 9 at position 2, with 9 objects");
  bad(stray.dense(5), "an id of list 2", "id 5 at position 1, with 5 objects");
}

/// Returns lists of all objects, each in an order of its own.
template <class Id>
host_lists<Id, float> large(std::uint64_t n, int lists) {
  host_lists<Id, float> h;
  for (int i = 0; i < lists; ++i) {
    std::vector<Id> ids;
    std::vector<float> scores;
    for (std::uint64_t p = 0; p < n; ++p) {
      ids.push_back(static_cast<Id>((p * 7919 + static_cast<std::uint64_t>(i)) % n));
      scores.push_back(static_cast<float>(n - p));
    }
    h.add(ids, scores);
  }
  return h;
}

}  // namespace

TEST_CASE("each defect is found") {
  SUBCASE("u32, float") { check_defects<std::uint32_t, float>(); }
  SUBCASE("i32, double") { check_defects<std::int32_t, double>(); }
  SUBCASE("u64, double") { check_defects<std::uint64_t, double>(); }
  SUBCASE("i64, float") { check_defects<std::int64_t, float>(); }
}

TEST_CASE("negative ids are sparse") {
  auto const lists = with_last<std::int32_t, float>({1, -2, 3}, {3, 2, 1});
  good(lists);
  bad(lists.dense(5), "list 2", "id -2 at position 1");
  bad(with_last<std::int64_t, float>({-7, 1, -7}, {3, 2, 1}), "list 2",
      "id -7 at positions 0 and 2");
}

TEST_CASE("messages have all digits of scores and ids") {
  bad(with_last<std::uint64_t, double>({1, 2}, {0.1, 0.10000000000000002}), "0.10000000000000002",
      "after 0.10000000000000001");
  std::uint64_t const id = ~std::uint64_t(0);
  bad(with_last<std::uint64_t, float>({id, 2, id}, {1, 1, 1}), "id 18446744073709551615");
}

TEST_CASE("the message names the first list with a defect, and its first defect") {
  host_lists<std::uint32_t, float> h;
  h.add({0, 1}, {2, 1});
  h.add({0, 1, 1}, {3, 2, 1});
  h.add({0, 1, 2}, {1, 2, 3});
  bad(h.lists(), "list 1", "id 1 at positions 1 and 2");
  host_lists<std::uint32_t, float> l = large<std::uint32_t>(20000, 3);
  for (std::size_t const p : {39000u, 31000u, 25000u}) l.scores[p] = 1e9f;
  for (int i = 0; i < 3; ++i) bad(l.lists(), "list 1", "position 5000", "after 15001");
}

TEST_CASE("nothing to find") {
  good(karpos::sorted_lists<std::uint32_t, float, memory>());
  host_lists<std::uint32_t, float> h;
  h.add({}, {});
  h.add({3}, {1});
  good(h.lists());
  good(h.lists().dense(4));
  host_lists<std::uint32_t, float> e;
  e.add({}, {});
  good(e.lists().dense(0));
}

TEST_CASE("larger lists") {
  auto h = large<std::uint32_t>(50021, 4);
  good(h.lists());
  good(h.lists().dense(50021));
  h.ids[50021 * 3 + 777] = h.ids[50021 * 3 + 40000];
  h.ids[50021 * 3 + 99] = h.ids[50021 * 3 + 50000];
  bool const first = h.ids[50021 * 3 + 777] < h.ids[50021 * 3 + 99];
  std::string const told = first ? "positions 777 and 40000" : "positions 99 and 50000";
  bad(h.lists(), "list 3", told);
  bad(h.lists().dense(50021), "list 3", told);
}

TEST_CASE("one wrong entry anywhere is found") {
  karpos_test::random_numbers random(1);
  for (int i = 0; i < 60; ++i) {
    auto h = large<std::uint32_t>(2003, 2);
    std::uint64_t const p = 1 + random.below(2002);
    h.scores[2003 + p] = h.scores[2003 + p - 1] + 1;
    bad(i % 2 == 0 ? h.lists() : h.lists().dense(2003), "list 1",
        "at position " + std::to_string(p));
  }
}
