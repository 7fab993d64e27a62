// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random ranked queries with aggregates other than sums.
#include <doctest/doctest.h>

#include "top_k_suite.hpp"

namespace {

using karpos_test::all_distributions;
using karpos_test::check_large;
using karpos_test::check_small;
using karpos_test::scores;

#if __cpp_deduction_guides >= 201907L
static_assert(std::is_same_v<decltype(karpos::top_k_options{.aggregate = karpos::min_score{}}),
                             karpos::top_k_options<karpos::min_score>>);
#endif

std::vector<scores> const four{scores::uniform, scores::correlated, scores::anticorrelated,
                               scores::zipf};

}  // namespace

TEST_CASE("the lowest score") {
  check_small<karpos_test::minimum_subject>(300, all_distributions());
  check_large<karpos_test::minimum_subject>(four, 5000);
}

TEST_CASE("the highest score") {
  check_small<karpos_test::maximum_subject>(300, all_distributions());
  check_large<karpos_test::maximum_subject>(four, 5000);
}

TEST_CASE("a functor that does not add: the median") {
  check_small<karpos_test::median_subject>(300, all_distributions());
  check_large<karpos_test::median_subject>(four, 5000);
}

TEST_CASE("a functor that is flat above a limit") {
  check_small<karpos_test::capped_subject>(300, all_distributions());
  check_large<karpos_test::capped_subject>(four, 5000);
}
