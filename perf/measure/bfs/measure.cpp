// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/measure.hpp"

#include <utility>

#include "perf/measure/graph/memory_needed.hpp"

namespace karpos::perf {
namespace {

/// Returns whether 32-bit offsets suffice for a search, which also computes with offsets somewhat
/// above the number of edges.
bool fits_32_bits(std::uint64_t edges) {
  return edges < (std::uint64_t(1) << 32) - (std::uint64_t(1) << 22);
}

}  // namespace

int offset_bits_for(bfs_parameters const& p, graph_source const& source) {
  if (p.offset_bits > 0) return p.offset_bits;
  return fits_32_bits(max_edges(source, p.directed)) ? 32 : 64;
}

bfs_run run_bfs(bfs_parameters const& p, opened_graph g, reporter const& report) {
  int const bits = offset_bits_for(p, g.source);
  require_bfs_memory(g.source, p, bits);
  if (bits == 32) return measure_bfs<std::uint32_t>(p, std::move(g), report);
  return measure_bfs<std::uint64_t>(p, std::move(g), report);
}

}  // namespace karpos::perf
