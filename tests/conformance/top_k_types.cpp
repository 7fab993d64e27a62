// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random ranked queries with types other than the default ones.
#include <doctest/doctest.h>

#include "top_k_suite.hpp"

namespace {

using karpos_test::all_distributions;
using karpos_test::check_large;
using karpos_test::check_small;
using karpos_test::scores;

std::vector<scores> const some{scores::uniform, scores::anticorrelated, scores::zipf,
                               scores::mixed_signs, scores::close};

}  // namespace

TEST_CASE("signed ids, double scores") {
  check_small<karpos_test::i32_double_subject>(400, all_distributions());
  check_large<karpos_test::i32_double_subject>(some, 10000);
}

TEST_CASE("64-bit ids, float scores, which also come back as float") {
  check_small<karpos_test::u64_float_subject>(400, all_distributions());
  check_large<karpos_test::u64_float_subject>(some, 10000);
}
