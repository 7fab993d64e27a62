// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <string_view>
#include <vector>

#include "karpos/string_column.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Texts as strings that kernels compare. On hosts they are the caller's, which are not copied and
/// must outlive the column; on a device their bytes are.
struct text_column {
  text_column(space const& exec, std::vector<std::string_view> const& texts);

  array<char const> bytes;  ///< of all texts, on a device
  array<string_ref> strings;
};

}  // namespace karpos::perf
