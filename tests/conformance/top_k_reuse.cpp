// SPDX-License-Identifier: Apache-2.0
/// \file
/// One workspace for many queries, and the reports of these queries.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "top_k_suite.hpp"

namespace {

using karpos_test::check_query;
using karpos_test::draw_lists;
using karpos_test::draw_options;
using karpos_test::draw_spec;
using karpos_test::id_kind;
using karpos_test::pick;
using karpos_test::random_numbers;
using karpos_test::rank_all;
using karpos_test::scores;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Queries lists that are at most as large as the first ones, with all options in random order.
template <class Subject>
void reuse(id_kind ids, int queries) {
  using id_type = typename Subject::id_type;
  using score_type = typename Subject::score_type;
  using options_type = typename Subject::options_type;
  constexpr u64 most = 4000, largest_k = 300;
  draw_spec spec;
  spec.lists = 4;
  spec.objects = most;
  spec.ids = ids;
  Subject subject(draw_lists<id_type, score_type>(spec), largest_k);
  random_numbers random(karpos_test::test_seed() + 13);
  for (int q = 0; q < queries; ++q) {
    spec.distribution = pick(random, karpos_test::every_distribution);
    spec.objects = random.below(3) == 0 ? most : 1 + random.below(random.below(2) == 0 ? 50 : most);
    spec.lists = 1 + static_cast<int>(random.below(4));
    spec.keep = pick(random, {1.0, 0.8, 0.3});
    spec.seed = random() >> 40;
    auto const lists = draw_lists<id_type, score_type>(spec);
    subject.replace(lists);
    auto o = draw_options<options_type>(random, spec.lists, spec.objects);
    o.missing_score = pick(random, {0.0, -2.0, -HUGE_VAL});
    auto const right = rank_all(lists, o.aggregate, o.missing_score);
    for (u64 const k : {u64(10), 1 + random.below(largest_k), largest_k})
      check_query("query " + std::to_string(q) + ", " + lists.name, subject, right, k, o);
  }
}

/// Checks that queries of one call give what single calls give.
template <class Subject>
void check_batch(id_kind ids, int batches) {
  random_numbers random(karpos_test::test_seed() + 17);
  for (int b = 0; b < batches; ++b) {
    draw_spec spec;
    spec.distribution = pick(random, karpos_test::every_distribution);
    spec.lists = 3;
    spec.objects = 1 + random.below(pick(random, {u64(2000), u64(6000)}));
    spec.keep = pick(random, {1.0, 0.5});
    spec.ids = ids;
    spec.seed = random() >> 40;
    auto const lists = draw_lists<typename Subject::id_type, typename Subject::score_type>(spec);
    u64 const k = pick(random, {u64(0), u64(1), u64(30), u64(1500)});
    Subject of(lists, k);
    auto o = draw_options<typename Subject::options_type>(random, spec.lists, spec.objects);
    o.missing_score = pick(random, {0.0, -HUGE_VAL});
    o.ties = karpos::top_k_ties::smallest_id;
    std::vector<karpos::weighted_sum> aggregates;
    for (u64 q = random.below(6); q > 0; --q)
      aggregates.push_back(karpos_test::draw_weights(random, spec.lists));
    auto const all = of.query_all(k, aggregates, o);
    karpos_test::same("answers", all.size(), aggregates.size());
    for (std::size_t q = 0; q < all.size(); ++q) {
      o.aggregate = aggregates[q];
      auto one = of.query(k, o);
      auto ids_of_batch = all[q].ids;
      auto const found = std::ptrdiff_t(one.report.found);
      if (o.result == karpos::top_k_result::set)
        for (auto* const set : {&one.ids, &ids_of_batch})
          std::sort(set->begin(), set->begin() + found);
      karpos_test::holds("batch " + std::to_string(b) + ", query " + std::to_string(q) + " of " +
                             lists.name + ", k " + std::to_string(k),
                         ids_of_batch == one.ids && all[q].scores == one.scores &&
                             all[q].report.found == one.report.found &&
                             all[q].report.depth == one.report.depth);
    }
  }
}

using subject = karpos_test::u32_float_subject;

draw_spec uniform_of(u64 objects, int lists) {
  draw_spec spec;
  spec.lists = lists;
  spec.objects = objects;
  spec.seed = 3;
  return spec;
}

subject::options_type asked_for(karpos::top_k_result result) {
  subject::options_type o;
  o.result = result;
  o.validate = false;
  return o;
}

}  // namespace

TEST_CASE("a workspace is clean after every query, dense ids") {
  reuse<subject>(id_kind::dense, 120);
}

TEST_CASE("a workspace is clean after every query, sparse ids") {
  reuse<karpos_test::u64_double_subject>(id_kind::sparse, 120);
}

TEST_CASE("queries of one call give what single calls give") {
  check_batch<subject>(id_kind::dense, 60);
  check_batch<karpos_test::u64_double_subject>(id_kind::sparse, 40);
}

TEST_CASE("the same query again gives the same answer") {
  auto const lists = draw_lists<u32, float>(uniform_of(3000, 3));
  subject of(lists, 50);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  auto const first = check_query(lists.name, of, right, 50, {});
  for (int i = 0; i < 20; ++i) {
    auto const a = check_query(lists.name, of, right, 50, {});
    CHECK(a.ids == first.ids);
    CHECK(a.report.entries == first.report.entries);
    CHECK(a.report.depth == first.report.depth);
  }
}

TEST_CASE("top_k_workspace_bytes grows with the number of objects and with k") {
  auto const lists = karpos_test::to_space(draw_lists<u32, float>(uniform_of(100000, 2)));
  std::size_t const said = karpos::top_k_workspace_bytes(karpos_test::space(), lists, 100);
  CHECK(said >= 100000 * sizeof(u32));  // some bytes for each object
  CHECK(said >= karpos::top_k_workspace_bytes(karpos_test::space(), lists, 10));
}

TEST_CASE("a query of uniform scores reads a small fraction of the lists") {
  constexpr u64 m = 200000, k = 10;
  auto const spec = uniform_of(m, 2);
  auto const lists = draw_lists<u32, float>(spec);
  subject of(lists, k);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  for (auto const result : {karpos::top_k_result::exact, karpos::top_k_result::set}) {
    auto o = asked_for(result);
    auto r = check_query(lists.name, of, right, k, o).report;
    CHECK(r.depth < m / 5);
    CHECK(r.depth > 0);
    CHECK(!r.bailed_out);
    CHECK(r.strides > 0);
    CHECK(r.candidates >= k);
    CHECK(r.entries >= 2 * r.depth);
    if (result == karpos::top_k_result::set) {
      CHECK(r.depth_completing == 0);
      CHECK(r.entries < 2 * m / 5);
    } else {
      CHECK(r.finalists >= k);
    }
    // The model: the phase ends when k objects have been seen in both lists.
    using tuned = karpos::detail::top_k::tuning<karpos_test::space>;
    double const model = std::sqrt(double(k) / m) * m;
    for (auto const& strides :
         {karpos::stride_policy(karpos::stride_policy::adaptive{1.05, 1.05, 64}),
          karpos::stride_policy(karpos::stride_policy::fixed{100})}) {
      o.stride = strides;
      r = check_query(lists.name, of, right, k, o).report;
      CHECK(static_cast<double>(r.depth_growing) >= model / 2);
      // On GPUs, two adaptive batches of levels (`stride`) can be longer than this phase, and then
      // end it.
      double const two_strides = strides.is_fixed() ? 0 : 64 + double(tuned::min_stride);
      CHECK(static_cast<double>(r.depth_growing) <= Kokkos::max(model * 2, two_strides));
      CHECK(r.depth < m / 5);
    }
  }
}

TEST_CASE("fixed strides are of the length that was asked for") {
  auto const lists = draw_lists<u32, float>(uniform_of(20000, 2));
  subject of(lists, 5);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  auto o = asked_for(karpos::top_k_result::set);
  o.bail_out = karpos::top_k_bail_out::never;
  o.stride = karpos::stride_policy::fixed{50};
  auto const r = check_query(lists.name, of, right, 5, o).report;
  CHECK(r.depth_growing % 50 == 0);
  CHECK(r.depth % 50 == 0);
  CHECK(r.strides == r.depth / 50);
  CHECK(r.candidates > 5);  // as of the end of the growing phase
}

TEST_CASE("a query that bails out at once reads everything") {
  auto const lists = draw_lists<u32, float>(uniform_of(200000, 2));
  subject of(lists, 10);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  for (auto const result : {karpos::top_k_result::exact, karpos::top_k_result::set}) {
    auto o = asked_for(result);
    o.bail_out = karpos::top_k_bail_out::at_once;
    auto const r = check_query(lists.name, of, right, 10, o).report;
    CHECK(r.bailed_out);
    CHECK(r.entries >= 400000);
  }
}

TEST_CASE("lists with low agreement are aggregated fully, others are not") {
  for (auto const s : {scores::anticorrelated, scores::uniform}) {
    auto spec = uniform_of(100000, 3);
    spec.distribution = s;
    auto const lists = draw_lists<u32, float>(spec);
    subject of(lists, 100);
    auto const right = rank_all(lists, karpos::weighted_sum(), 0);
    for (auto const result : {karpos::top_k_result::exact, karpos::top_k_result::set}) {
      auto const r = check_query(lists.name, of, right, 100, asked_for(result)).report;
      bool const disagree = s == scores::anticorrelated;
      CHECK(r.bailed_out == disagree);
      if (disagree && !karpos::device::is_device<karpos_test::space>) CHECK(r.strides <= 4);
    }
  }
}

TEST_CASE("a sample of the slots may not represent the other slots") {
  // The objects with the lowest numbers of their lists have the lowest scores, so a threshold from
  // them leaves nearly all as candidates.
  std::uint32_t const n = 100000, few = n / 16;
  karpos_test::host_lists<u32, float> lists{"low scores first", {}, n};
  lists.list.resize(2);
  for (auto& list : lists.list)
    for (std::uint32_t i = 0; i < n; ++i)
      list.emplace_back(n - 1 - i, static_cast<float>(i < n - few ? 2 * n - i : n - i));
  subject of(lists, 10);
  auto const right = rank_all(lists, karpos::weighted_sum(), 0);
  for (auto const result : {karpos::top_k_result::exact, karpos::top_k_result::set}) {
    auto o = asked_for(result);
    o.bail_out = karpos::top_k_bail_out::at_once;
    CHECK(check_query(lists.name, of, right, 10, o).report.bailed_out);  // no fallback
  }
}
