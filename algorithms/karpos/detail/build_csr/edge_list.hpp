// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/arrays.hpp"

namespace karpos::detail::build_csr {

struct edge {
  std::uint64_t source, target;
};

/// An edge list is a function of the position: edge list(i), i < list.size(). This one reads two views.
template <class Sources, class Targets>
struct edges_in_views {
  Sources sources;
  Targets targets;

  std::uint64_t size() const { return sources.extent(0); }
  KOKKOS_FUNCTION edge operator()(std::uint64_t i) const {
    return {static_cast<std::uint64_t>(sources(i)), static_cast<std::uint64_t>(targets(i))};
  }
};

/// Memory for n elements that hold anything; in huge pages on hosts that have them.
template <class View, class ExecSpace>
View graph_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  return allocate_or_explain<typename View::memory_space>(
      n * sizeof(typename View::value_type), label, "build the graph of fewer edges",
      [&] { return uninitialized_array<View>(exec, "karpos::build_csr: " + label, n); });
}

template <class View, class ExecSpace>
View zeroed_graph_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  View const array = graph_array<View>(exec, label, n);
  Kokkos::deep_copy(exec, array, typename View::value_type(0));
  return array;
}

inline void require_at_most(std::uint64_t most, std::string const& what, std::uint64_t asked,
                            char const* suggestion) {
  if (asked > most)
    throw std::length_error("karpos: a graph has too many " + what + " (" + std::to_string(asked) +
                            ", at most " + std::to_string(most) + "): " + suggestion);
}

/// Throws std::length_error unless the types of a graph hold it, with every edge before any is removed.
template <class Graph>
void require_graph_fits(std::uint64_t vertices, std::uint64_t edges, csr_options const& options) {
  // Edges are sorted as one word of two ids, and the largest word marks those that are dropped.
  std::uint64_t const packed = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t const ids = std::numeric_limits<typename Graph::vertex_type>::max();
  std::uint64_t const offsets = std::numeric_limits<typename Graph::offset_type>::max();
  require_at_most(ids < packed ? ids : packed, "vertices", vertices,
                  "unsigned ids of 32 bits hold the most that can be built");
  require_at_most(options.symmetrise ? offsets / 2 : offsets, "edges", edges,
                  "choose a wider EdgeOffset; duplicates count, and symmetrise doubles the edges");
}

}  // namespace karpos::detail::build_csr
