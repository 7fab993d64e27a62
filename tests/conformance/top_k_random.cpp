// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random ranked queries by weighted sums, of 32-bit ids and float scores.
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
