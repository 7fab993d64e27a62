// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <karpos/build_csr.hpp>
#include <karpos/csr_graph.hpp>
#include <string>

#include "perf/measure/graph/edge_generators.hpp"

namespace karpos::perf {

/// Called with the fraction of the work that is done, in [0, 1], and the name of what comes next.
using generator_progress = std::function<void(double, std::string const&)>;

template <class List, class Keys>
struct store_edges {
  List list;
  Keys keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = detail::build_csr::pack(list(i));
  }
};

template <class Keys>
struct stored_edges {
  Keys keys;
  std::uint64_t size() const { return keys.extent(0); }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    return {detail::build_csr::source_of(keys(i)), detail::build_csr::target_of(keys(i))};
  }
};

template <class Graph, class Space, class List>
Graph graph_of_generated(Space const& exec, std::uint64_t vertices, List const& list,
                         generator_progress const& report, csr_options options) {
  options.symmetrise = true;
  detail::build_csr::require_graph_fits<Graph>(vertices, list.size(), options);
  if constexpr (detail::build_csr::sorts_edges<Space>) {
    if (report) report(0, "edges and rows");
    return detail::build_csr::csr_of_edges<Graph>(exec, vertices, list, options).trusted();
  } else {
    // CPUs read the edges twice, and drawing them twice would take longer than storing them.
    using keys_view = Kokkos::View<std::uint64_t*, typename Space::memory_space>;
    if (report) report(0, "edges");
    auto const keys =
        detail::build_csr::graph_array<keys_view>(exec, "generated edges", list.size());
    Kokkos::parallel_for("karpos::perf::generate", detail::index_range(exec, list.size()),
                         store_edges<List, keys_view>{list, keys});
    exec.fence("karpos::perf::generate");
    if (report) report(0.5, "rows");
    return detail::build_csr::csr_of_edges<Graph>(exec, vertices, stored_edges<keys_view>{keys},
                                                  options)
        .trusted();
  }
}

/// Generates the undirected graph of a spec, in the memory of any execution space. The options say
/// which edges are removed.
/// Throws: std::length_error if Offset is too narrow for twice spec.candidates(); allocation_error.
template <class Offset, class Space>
csr_graph<std::uint32_t, Offset, typename Space::memory_space> generate_on(
    Space const& exec, generator_spec const& spec, generator_progress const& report = {},
    csr_options const& options = {}) {
  using graph = csr_graph<std::uint32_t, Offset, typename Space::memory_space>;
  return with_edges_of(spec, [&](auto const& list) {
    return graph_of_generated<graph>(exec, spec.vertices(), list, report, options);
  });
}

}  // namespace karpos::perf
