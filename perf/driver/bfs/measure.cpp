// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/bfs/measure.hpp"

#include <stdexcept>
#include <utility>

#include "perf/driver/bfs/memory_needed.hpp"
#include "perf/driver/bfs/vertex_numbers.hpp"

namespace karpos::perf {
namespace {

/// A search needs some room above the offsets of 32 bits that it computes with.
bool fits_32_bits(std::uint64_t edges) {
  return edges < (std::uint64_t(1) << 32) - (std::uint64_t(1) << 22);
}

/// Opens the graph with vertices numbered without gaps, whatever the file calls them.
graph_source open_relabelled(bfs_parameters const& p, load_progress const& report,
                             vertex_names& names) {
  vertex_numbers numbers{space()};
  graph_source source =
      open_graph(p.graph, p.directed, report,
                 [&](auto const& words, std::uint32_t* out) { numbers.number(words, out); });
  auto* const list = std::get_if<edge_list>(&source);
  if (list == nullptr)
    throw std::invalid_argument("karpos: --relabel does not apply to " + p.graph +
                                " (its vertices have no gaps): leave it out");
  if (numbers.size() == 0) {  // a format whose ids are numbers
    numbers.replace(list->sources);
    numbers.replace(list->targets);
  }
  names = numbers.finish(*list);
  return source;
}

}  // namespace

bfs_run run_bfs(bfs_parameters const& p, load_progress const& report) {
  Kokkos::Timer const clock;
  auto const first_half = [&](double part, std::string const& w) { report(0.5 * part, w); };
  vertex_names names;
  graph_source source = p.relabel ? open_relabelled(p, first_half, names)
                                  : open_graph(p.graph, p.directed, first_half);
  int const bits = p.offset_bits > 0                             ? p.offset_bits
                   : fits_32_bits(max_edges(source, p.directed)) ? 32
                                                                 : 64;
  require_bfs_memory(source, p, bits);
  if (bits == 32)
    return measure_bfs<std::uint32_t>(p, std::move(source), std::move(names), clock, report);
  return measure_bfs<std::uint64_t>(p, std::move(source), std::move(names), clock, report);
}

}  // namespace karpos::perf
