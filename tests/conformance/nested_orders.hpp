// SPDX-License-Identifier: Apache-2.0
/// \file
/// Orders of keys as structures return them, and ways to take keys from these orders.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace karpos_test::nested {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct order {
  std::string name;
  std::vector<u32> keys;
};

/// Returns the keys between two fractions of an order.
inline std::vector<u32> share_of(std::vector<u32> const& keys, double first, double last) {
  auto const at = [&](double x) {
    return keys.begin() + static_cast<std::ptrdiff_t>(x * static_cast<double>(keys.size()));
  };
  return std::vector<u32>(at(first), last < 1 ? at(last) : keys.end());
}

/// Sums the buckets that lookups probe until they find their keys.
template <class Table>
struct count_buckets {
  Table table;
  view<u32> keys;
  KOKKOS_FUNCTION void operator()(u64 i, u64& sum) const {
    auto const holds = table.holds(keys(i));
    for (auto p = table.start(keys(i)); !table.past_end(p); table.advance(p)) {
      ++sum;
      for (int s = 0; s < Table::bucket_slots; ++s)
        if (holds(table.bucket(p)[s])) return;
    }
  }
};

/// Returns an order forwards, backwards, and by a stride.
inline std::vector<order> ways_through(std::vector<u32> const& keys) {
  std::vector<u32> by_stride;
  constexpr std::size_t stride = 8;
  for (std::size_t first = 0; first < stride; ++first)
    for (std::size_t i = first; i < keys.size(); i += stride) by_stride.push_back(keys[i]);
  return {{"forwards", keys},
          {"backwards", std::vector<u32>(keys.rbegin(), keys.rend())},
          {"by stride", by_stride}};
}

}  // namespace karpos_test::nested
