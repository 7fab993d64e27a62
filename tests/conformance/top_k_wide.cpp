// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random ranked queries with 64-bit ids and double scores.
#include <doctest/doctest.h>

#include "top_k_suite.hpp"

using karpos_test::u64_double_subject;

TEST_CASE("small lists of 64-bit ids and double scores") {
  karpos_test::check_small<u64_double_subject>(500, karpos_test::all_distributions());
}

TEST_CASE("large lists of 64-bit ids and double scores") {
  karpos_test::check_large<u64_double_subject>(karpos_test::all_distributions(), 20000);
}
