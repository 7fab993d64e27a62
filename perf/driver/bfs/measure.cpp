// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/measure.hpp"

#include <stdexcept>
#include <utility>

#include "perf/driver/bfs/memory_needed.hpp"
#include "perf/driver/bfs/relabel.hpp"

namespace karpos::perf {
namespace {

/// A search needs some room above the offsets of 32 bits that it computes with.
bool fits_32_bits(std::uint64_t edges) {
  return edges < (std::uint64_t(1) << 32) - (std::uint64_t(1) << 22);
}

std::vector<std::uint32_t> ids_without_gaps(bfs_parameters const& p, graph_source& source) {
  if (!p.relabel) return {};
  if (auto* const list = std::get_if<edge_list>(&source)) return relabel(space(), *list);
  throw std::invalid_argument("karpos: --relabel does not apply to " + p.graph +
                              " (its vertices have no gaps): leave it out");
}

}  // namespace

bfs_run run_bfs(bfs_parameters const& p, load_progress const& report) {
  Kokkos::Timer const clock;
  graph_source source = open_graph(
      p.graph, p.directed, [&](double part, std::string const& w) { report(0.5 * part, w); });
  auto ids = ids_without_gaps(p, source);
  int const bits = p.offset_bits > 0                             ? p.offset_bits
                   : fits_32_bits(max_edges(source, p.directed)) ? 32
                                                                 : 64;
  require_bfs_memory(source, p, bits);
  if (bits == 32)
    return measure_bfs<std::uint32_t>(p, std::move(source), std::move(ids), clock, report);
  return measure_bfs<std::uint64_t>(p, std::move(source), std::move(ids), clock, report);
}

}  // namespace karpos::perf
