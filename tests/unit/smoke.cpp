// SPDX-License-Identifier: Apache-2.0
/// \file
/// The build itself: the version header, and one kernel on the execution space under test.
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/version.hpp>
#include <string>

namespace {

struct sum_of_indices {
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += i; }
};

}  // namespace

TEST_CASE("the version is text and number alike") {
  CHECK(std::string(karpos::version_string) == std::to_string(KARPOS_VERSION / 10000) + "." +
                                                   std::to_string(KARPOS_VERSION / 100 % 100) +
                                                   "." + std::to_string(KARPOS_VERSION % 100));
}

TEST_CASE("a kernel runs on " KARPOS_TEST_SPACE_NAME) {
  std::int64_t sum = 0;
  Kokkos::parallel_reduce("karpos::smoke", Kokkos::RangePolicy<KARPOS_TEST_SPACE>(0, 1000),
                          sum_of_indices{}, sum);
  CHECK(sum == 499500);
}
