// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random ranked queries by weighted sums, with 32-bit ids and float scores.
#include <doctest/doctest.h>

#include "top_k_suite.hpp"

namespace {

using karpos_test::draw_spec;
using karpos_test::scores;
using subject = karpos_test::u32_float_subject;

}  // namespace

TEST_CASE("small lists") {
  karpos_test::check_small<subject>(700, karpos_test::all_distributions());
}

TEST_CASE("small lists of ties and of infinities") {
  karpos_test::check_small<subject>(300, {scores::few, scores::all_equal, scores::with_infinities});
}

TEST_CASE("large lists") {
  karpos_test::check_large<subject>(karpos_test::all_distributions(), 20000);
}

TEST_CASE("a winner whose last score lies far below where the search ended") {
  // Object 0 wins at once, so far does it lead the first list. Its other score is the very last
  // one.
  std::uint32_t const n = 10000;
  karpos_test::host_lists<std::uint32_t, float> lists{"a deep score", {}, n};
  lists.list.resize(2);
  for (std::uint32_t i = 0; i < n; ++i) {
    float const low = static_cast<float>(n - i) / static_cast<float>(n);
    lists.list[0].emplace_back(i, i == 0 ? 8 : low);
    lists.list[1].emplace_back((i + 1) % n, 1 + low);
  }
  for (std::uint64_t const dense_objects : {std::uint64_t(n), std::uint64_t(0)}) {
    lists.dense_objects = dense_objects;
    subject of(lists, 1);
    auto const right = karpos_test::rank_all(lists, karpos::weighted_sum(), 0);
    for (auto const bail_out : {karpos::top_k_bail_out::automatic, karpos::top_k_bail_out::never}) {
      karpos::top_k_options<> o;
      o.bail_out = bail_out;
      o.result = karpos::top_k_result::exact;
      karpos_test::check_query(lists.name, of, right, 1, o);
    }
  }
}

TEST_CASE("every choice, of the four distributions") {
  for (scores const s :
       {scores::uniform, scores::correlated, scores::zipf, scores::anticorrelated}) {
    draw_spec spec;
    spec.distribution = s;
    spec.lists = 4;
    spec.objects = 500;
    auto const lists = karpos_test::draw_lists<std::uint32_t, float>(spec);
    subject of(lists, 10);
    auto const right = karpos_test::rank_all(lists, karpos::weighted_sum(), 0);
    for (auto const& o : karpos_test::every_option())
      karpos_test::check_query(lists.name, of, right, 10, o);
  }
}
