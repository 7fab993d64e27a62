// SPDX-License-Identifier: Apache-2.0
/// \file
/// The plain delta-stepping that sssp is measured against: buckets that hold a vertex more often
/// than the graph has edges, and lengths that exceed 32 bits.
#include <doctest/doctest.h>

#include <limits>

#include "perf/measure/sssp/delta_stepping.hpp"

namespace {

using numbers = std::vector<std::uint32_t>;

numbers distances(numbers const& offsets, numbers const& columns, numbers const& weights,
                  std::uint32_t delta) {
  karpos::perf::delta_stepping<std::uint32_t> search(offsets.size() - 1, offsets.data(),
                                                     columns.data(), weights.data());
  search(0, delta);
  return search.distance();
}

TEST_CASE("a bucket longer than the graph has edges") {
  // Vertex 1 is reached from 0 (distance 10) and through 2 (1 + 1): its distance is lowered twice,
  // and so are those of the vertices behind it.
  std::uint32_t const behind = 2000;
  numbers offsets{0, 2, 2 + behind, 3 + behind}, columns{1, 2}, weights{10, 1};
  numbers expected{0, 2, 1};
  for (std::uint32_t i = 0; i < behind; ++i) {
    columns.push_back(3 + i);
    weights.push_back(1000);
    offsets.push_back(3 + behind);
    expected.push_back(1002);
  }
  columns.push_back(1);
  weights.push_back(1);
  for (std::uint32_t const delta : {1u, 100u, 100000u})
    CHECK(distances(offsets, columns, weights, delta) == expected);
}

TEST_CASE("lengths that 32 bits do not hold") {
  std::uint32_t const far = 4000000000u, none = std::numeric_limits<std::uint32_t>::max();
  CHECK(distances({0, 1, 2, 2}, {1, 2}, {far, far}, 1000000) == numbers{0, far, none});
}

}  // namespace
