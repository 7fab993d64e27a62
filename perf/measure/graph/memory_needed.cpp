// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/memory_needed.hpp"

#include <algorithm>
#include <cmath>

#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

constexpr double id_bytes = sizeof(std::uint32_t);

struct graph_sizes {
  double vertices = 0;
  double columns = 0;      ///< directed edges, before duplicates are removed
  double list_bytes = 0;   ///< of the source, which is freed before a search
  double drawn_bytes = 0;  ///< of generated edges
};

/// Returns the expected fraction of the drawn edges that are self loops, which are removed.
double self_loop_fraction(generator_spec const& s) {
  auto const scale = static_cast<double>(s.scale);
  if (s.family == generator_spec::families::powerlaw) return 0;  // few
  bool const uniform = s.family == generator_spec::families::uniform;
  return std::pow(uniform ? 0.5 : 1 - s.b - s.c, scale);
}

struct estimate_sizes {
  bool directed;

  graph_sizes operator()(generator_spec const& s) const {
    auto const drawn = static_cast<double>(s.candidates());
    bool const grid = s.family == generator_spec::families::grid;
    double const border = static_cast<double>(s.rows) + static_cast<double>(s.columns);
    double const edges =
        grid ? (drawn - border) * (1 - s.drop) : drawn * (1 - self_loop_fraction(s));
    return {static_cast<double>(s.vertices()), 2 * edges, 0, drawn * 2 * id_bytes};
  }
  graph_sizes operator()(csr_arrays const& g) const {
    auto const columns = static_cast<double>(g.columns.size());
    double const arrays =
        static_cast<double>(g.offsets.size()) * sizeof(std::uint64_t) + columns * id_bytes;
    return {static_cast<double>(g.vertices), columns, g.directed ? 2 * arrays : arrays, 0};
  }
  graph_sizes operator()(edge_list const& list) const {
    auto const edges = static_cast<double>(list.sources.size());
    bool const both_ways = list.undirected || !directed;
    return {static_cast<double>(list.vertices), both_ways ? 2 * edges : edges, edges * 2 * id_bytes,
            0};
  }
};

/// Returns the bytes that a search keeps for each vertex: distance, queue with its degrees, three
/// bits of status, and what the parameters add.
double search_bytes(bfs_parameters const& p) {
  double const parent = p.parents ? id_bytes : 0, baseline = p.baseline ? 3 * id_bytes : 0;
  double const preset = p.presets.empty() ? 0 : id_bytes;
  return id_bytes + 3 * id_bytes + 3.0 / 8 + parent + baseline + preset;
}

/// Returns the bytes of a batch: 8-bit distances, words and numbers of each vertex, the state of a
/// single search, and a copy of the graph while it is sorted.
double batch_bytes(bfs_parameters const& p, graph_sizes const& s, double rows) {
  if (!p.batch) return 0;
  return s.vertices * (static_cast<double>(p.sources) + 7 * 8 + 5.1 * id_bytes) + rows +
         s.columns * 3 * id_bytes;
}

std::string suggest_fix(graph_source const& source, graph_sizes const& sizes) {
  bool const few_edges = sizes.columns < sizes.vertices;
  if (std::holds_alternative<generator_spec>(source)) return "choose a smaller graph";
  if (few_edges && std::holds_alternative<edge_list>(source))
    return "ids reach " + grouped(static_cast<std::uint64_t>(sizes.vertices) - 1) +
           ", but few of them have an edge; `--relabel` numbers those without gaps";
  return "choose a smaller graph, or free memory";
}

}  // namespace

double bfs_bytes(graph_source const& source, bfs_parameters const& p, int offset_bits,
                 extra_memory const& extra) {
  graph_sizes const s = std::visit(estimate_sizes{p.directed}, source);
  double const rows = s.vertices * offset_bits / 8;
  double const building = s.drawn_bytes + 2 * rows + s.columns * (id_bytes + extra.per_edge_built);
  double const searching = rows + s.vertices * (search_bytes(p) + extra.per_vertex) +
                           s.columns * extra.per_edge + batch_bytes(p, s, rows) - s.list_bytes;
  return std::max(building, searching);
}

void require_bfs_memory(graph_source const& source, bfs_parameters const& p, int offset_bits,
                        extra_memory const& extra) {
  graph_sizes const s = std::visit(estimate_sizes{p.directed}, source);
  if constexpr (on_host)
    require_memory(
        bfs_bytes(source, p, offset_bits, extra),
        "a search among " + counted(static_cast<std::uint64_t>(s.vertices), "vertex", "vertices"),
        suggest_fix(source, s));
}

}  // namespace karpos::perf
