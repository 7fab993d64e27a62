// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "perf/graph/edge_list.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// Gives the ids that edges name the numbers 0, 1, … in ascending order, so that no number is without an edge.
/// Returns: the id that each number stands for.
/// Memory: a hash map of 16-byte slots with twice as many slots as there are ids.
std::vector<std::uint32_t> relabel(space const& exec, edge_list& list);

}  // namespace karpos::perf
