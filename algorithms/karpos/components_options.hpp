// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/table_options.hpp"

// Options and report of connected_components (connected_components.hpp).

namespace karpos {

/// Options of connected_components. Results do not depend on them.
struct components_options {
  /// Number of neighbours of each vertex that are linked first. If the graph is undirected or has
  /// its transpose, a sample of vertices then shows the largest component, and its vertices skip
  /// their other edges. 0: no sample is taken, and every edge is inspected.
  std::uint32_t sampled_neighbours = 2;
  /// Memory that the caller owns: connected_components_bytes, aligned to 64 bytes. If it is null or
  /// has 0 bytes, memory is allocated, and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

/// Result of connected_components, without the component ids.
struct components_report {
  std::uint64_t components = 0;  ///< number of components; isolated vertices are components, too
};

}  // namespace karpos
