// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every public header in one unit, and in another in reverse order, must mean the same.
#include <doctest/doctest.h>

#include "forwards.hpp"
#include "headers/instances.hpp"
//
#include "headers/use_all.hpp"

TEST_CASE("public headers mean the same in every order") {
  using karpos_test::answers;
  answers const expected{2, 3, 5, 2, 3, 5};
  CHECK(bool(karpos_test::seen_forwards() == expected));
  CHECK(bool(karpos_test::seen_backwards() == expected));
  CHECK(karpos_test::size_forwards() == karpos_test::size_backwards());
}
