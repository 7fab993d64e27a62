// SPDX-License-Identifier: Apache-2.0
/// \file
/// Ranked queries with bad arguments.
#include <doctest/doctest.h>

#include <limits>

#include "support/top_k_checks.hpp"

namespace {

using karpos_test::host_lists;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::view;
using u32 = std::uint32_t;
using invalid = std::invalid_argument;
using lists_type = host_lists<u32, float>;
using options = karpos::top_k_options<>;

/// Returns three lists of 40 entries: object i has the score 100 - i in all of them.
lists_type plain() {
  lists_type l{"plain", {}, 40};
  l.list.resize(3);
  for (auto& list : l.list)
    for (u32 i = 0; i < 40; ++i) list.emplace_back(i, 100.f - static_cast<float>(i));
  return l;
}

options validated() {
  options o;
  o.validate = true;
  return o;
}
options unvalidated() {
  options o;
  o.validate = false;
  return o;
}

/// Checks that a query is rejected with and without the caller's workspace; afterwards the
/// workspace serves a correct query.
template <class... Words>
void refused(lists_type const& host, std::uint64_t k, std::size_t ids, std::size_t scores,
             options const& o, Words const&... words) {
  auto const lists = karpos_test::to_space(host);
  auto plain_too = plain();
  plain_too.dense_objects = host.dense_objects;
  auto const right = karpos_test::to_space(plain_too);
  view<u32> const out("ids", ids), first("first", 1);
  view<double> const out_scores("scores", scores), none;
  karpos::top_k_workspace<space, std::decay_t<decltype(lists)>> workspace(space(), lists, 50);
  auto const with_workspace = [&] {
    karpos::top_k(space(), workspace, lists, k, out, out_scores, o);
  };
  throws<invalid>(with_workspace, "karpos::top_k: ", words...);
  throws<invalid>([&] { karpos::top_k(space(), lists, k, out, out_scores, o); },
                  "karpos::top_k: ", words...);
  if (lists.lists() != 3) return;
  CHECK(karpos::top_k(space(), workspace, right, 1, first, none).found == 1);
  CHECK(karpos_test::to_host(first) == std::vector<u32>{0});
}

}  // namespace

TEST_CASE("views that are too short") {
  refused(plain(), 13, 12, 13, {}, "id", "12", "13");
  refused(plain(), 13, 0, 13, {}, "id", "13");
  refused(plain(), 13, 13, 12, {}, "score", "12", "13");
  options set;
  set.result = karpos::top_k_result::set;
  refused(plain(), 13, 12, 0, set, "id", "12", "13");
  // Rejected even if there are fewer than k objects.
  refused(plain(), 50, 40, 50, {}, "id", "40", "50");
}

TEST_CASE("weights of another number of lists") {
  options o;
  o.aggregate = karpos::weighted_sum({1, 1});
  refused(plain(), 1, 1, 1, o, "weight", "2", "3");
  o.aggregate = karpos::weighted_sum({1, 1, 0, 1});
  refused(plain(), 1, 1, 1, o, "weight", "4", "3");
}

TEST_CASE("invalid weights") {
  constexpr double inf = HUGE_VAL, nan = std::numeric_limits<double>::quiet_NaN();
  for (double const wrong : {-1.0, -1e-300, inf, -inf, nan})
    throws<invalid>([&] { karpos::weighted_sum({1, wrong}); }, "weight 1", "not negative");
  throws<invalid>([] { karpos::weighted_sum(std::vector<double>(33, 1)); }, "33", "32");
  CHECK(karpos::weighted_sum({1, -0.0}).count() == 2);
  CHECK(karpos::weighted_sum(std::vector<double>(32, 1)).count() == 32);
}

TEST_CASE("an invalid missing score") {
  for (double const wrong : {std::numeric_limits<double>::quiet_NaN(), double(HUGE_VAL)}) {
    options o;
    o.missing_score = wrong;
    refused(plain(), 1, 1, 1, o, "missing");
  }
}

TEST_CASE("a stride without levels") {
  throws<invalid>([] { karpos::stride_policy(karpos::stride_policy::fixed{0}); }, "fixed{0}");
}

TEST_CASE("a depth that does not grow") {
  for (double const wrong : {1.0, 0.5, -2.0, 1e300, std::numeric_limits<double>::quiet_NaN()})
    throws<invalid>(
        [&] {
          karpos::stride_policy(karpos::stride_policy::adaptive{wrong, 0, 0});
        },
        "grow");
}

TEST_CASE("a list that is not sorted") {
  auto l = plain();
  l.list[2][17].second = 88.5f;  // after 84
  refused(l, 1, 1, 1, validated(), "list 2", "17", "84", "88.5");
  l = plain();
  l.list[1][39].second = 62.25f;  // the last one, after 62
  refused(l, 1, 1, 1, validated(), "list 1", "39", "62", "62.25");
}

TEST_CASE("a score that is not a number") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t const at : {0, 23, 39}) {
    auto l = plain();
    l.list[1][at].second = nan;
    refused(l, 1, 1, 1, validated(), "list 1", std::to_string(at), "NaN");
  }
}

TEST_CASE("an id twice in a list") {
  auto l = plain();
  l.list[2][31].first = 5;
  refused(l, 1, 1, 1, validated(), "list 2", "31", "5");
  l.dense_objects = 0;
  refused(l, 1, 1, 1, validated(), "list 2", "31", "5");
  l.list[2][31].first = l.list[2][30].first = 0xffffffffu;
  refused(l, 1, 1, 1, validated(), "list 2", "31", "4294967295");
}

TEST_CASE("infinities and equal scores are sorted") {
  auto l = plain();
  for (auto& list : l.list) {
    list[0].second = list[1].second = static_cast<float>(HUGE_VAL);
    list[38].second = list[39].second = -static_cast<float>(HUGE_VAL);
  }
  auto const lists = karpos_test::to_space(l);
  view<u32> const ids("ids", 2);
  view<double> const scores("scores", 2);
  auto o = validated();
  o.ties = karpos::top_k_ties::smallest_id;
  CHECK(karpos::top_k(space(), lists, 2, ids, scores, o).found == 2);
  CHECK(karpos_test::to_host(ids) == std::vector<u32>{0, 1});
}

TEST_CASE("a dense id that is not below the number of objects") {
  for (u32 const wrong : {40u, 77u, 0xffffffffu}) {
    auto l = plain();
    l.list[1][0].first = wrong;
    refused(l, 1, 1, 1, validated(), "list 1", std::to_string(wrong), "40");
    refused(l, 1, 1, 1, unvalidated(), "not below 40");
    l = plain();
    l.list[1][39].first = wrong;  // where queries need not read
    refused(l, 1, 1, 1, validated(), "list 1", "39", std::to_string(wrong), "40");
  }
}

TEST_CASE("a negative dense id") {
  host_lists<std::int32_t, double> const l{"negative", {{{3, 2.0}, {-1, 1.0}}}, 10};
  auto const lists = karpos_test::to_space(l);
  view<std::int32_t> const ids("ids", 2);
  view<double> const scores("scores", 2);
  for (bool const validate : {false, true}) {
    options o;
    o.validate = validate;
    throws<invalid>([&] { karpos::top_k(space(), lists, 2, ids, scores, o); }, "10",
                    validate ? "-1" : "not below");
  }
}

TEST_CASE("a driver that the space does not have") {
  options o;
  o.driver = karpos::launch_mode::persistent_kernel;
  if (karpos::device::has_grid_barrier<space>) {
    auto const lists = karpos_test::to_space(plain());
    view<u32> const ids("ids", 1);
    CHECK(karpos::top_k(space(), lists, 1, ids, view<double>(), o).found == 1);
  } else {
    refused(plain(), 1, 1, 1, o, "persistent_kernel", "not available");
  }
}

TEST_CASE("a workspace that is too small") {
  auto const lists = karpos_test::to_space(plain());
  auto few = plain();
  few.dense_objects = 20;
  for (auto& list : few.list) list.resize(20);
  view<u32> const ids("ids", 40);
  view<double> const scores("scores", 40);
  using workspace = karpos::top_k_workspace<space, std::decay_t<decltype(lists)>>;
  workspace of_five(space(), lists, 5), of_few(space(), karpos_test::to_space(few), 40);
  throws<invalid>([&] { karpos::top_k(space(), of_five, lists, 6, ids, scores); }, "workspace", "5",
                  "6");
  throws<invalid>([&] { karpos::top_k(space(), of_few, lists, 3, ids, scores); }, "workspace", "20",
                  "40");
  CHECK(karpos::top_k(space(), of_five, lists, 5, ids, scores).found == 5);
}

TEST_CASE("invalid lists") {
  using memory = space::memory_space;
  Kokkos::View<u32**, Kokkos::LayoutRight, memory> const ids("ids", 33, 2), two("ids", 2, 2);
  Kokkos::View<float**, Kokkos::LayoutRight, memory> const scores("scores", 33, 2),
      longer("scores", 2, 3), more("scores", 3, 2);
  throws<invalid>([&] { karpos::sorted_lists(ids, scores); }, "33", "32");
  throws<invalid>([&] { karpos::sorted_lists(two, longer); }, "2 against 3");
  throws<invalid>([&] { karpos::sorted_lists(two, more); }, "2 against 3");
  Kokkos::View<u32**, Kokkos::LayoutLeft, memory> const columns("ids", 2, 2);
  throws<invalid>(
      [&] {
        karpos::sorted_lists(columns,
                             Kokkos::View<float**, Kokkos::LayoutLeft, memory>("scores", 2, 2));
      },
      "side by side", "LayoutRight");
  view<u32> const flat("ids", 5);
  view<float> const flat_scores("scores", 5), short_scores("scores", 4);
  using offsets = std::vector<std::uint64_t>;
  auto const made = [&](auto const& s, offsets const& o) {
    karpos::sorted_lists const l(flat, s, karpos_test::to_space(o));
    return l.lists();
  };
  CHECK(made(flat_scores, {0, 2, 2, 5}) == 3);
  throws<invalid>([&] { made(short_scores, {0, 2, 5}); }, "5 against 4");
  throws<invalid>([&] { made(flat_scores, {}); }, "offsets");
  throws<invalid>([&] { made(flat_scores, {1, 5}); }, "offset 0", "1");
  throws<invalid>([&] { made(flat_scores, {0, 4}); }, "offset 1", "4", "5");
  throws<invalid>([&] { made(flat_scores, {0, 3, 2, 5}); }, "offset 2", "2");
  throws<invalid>([&] { made(flat_scores, {0, 6, 5}); }, "offset 1", "6", "5");
  throws<invalid>([&] { karpos_test::to_space(plain()).dense(std::uint64_t(1) << 32); },
                  "4294967296");
}
