// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lookups by partitions on a device that a CPU emulates. Include emulated_space.hpp first.
#pragma once

#include "karpos/detail/tables/partitioned_lookup.hpp"
#include "support/emulated_restore.hpp"
#include "support/emulated_space.hpp"

namespace karpos::detail {

/// Teams of as many threads as the emulated device has.
template <>
struct lookup_tuning<karpos_test::emulated_space> {
  static constexpr int threads = karpos_test::emulated_space::threads, teams_at_once = 1;
  static constexpr std::uint32_t each(std::size_t query_bytes) { return query_bytes == 4 ? 2 : 1; }
};

}  // namespace karpos::detail
