// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Numbers texts in the order of their first occurrence: equal texts, and only these, have equal
/// numbers. Runs on the device, by karpos::label.
/// Throws: allocation_error; std::invalid_argument for more than 2^31 - 8 texts.
Kokkos::View<std::uint32_t*, Kokkos::HostSpace> label_words(
    space const& exec, std::vector<std::string_view> const& words);

}  // namespace karpos::perf
