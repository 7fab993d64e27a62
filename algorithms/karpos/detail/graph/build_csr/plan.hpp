// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/operations.hpp"

// Edge lists and weights of edges: what they are, and checks of ids and sizes.

namespace karpos::detail::build_csr {

struct edge {
  std::uint64_t source, target;
};

/// An edge list that reads two views. Every edge list is a function: list(i) is edge i.
template <class Sources, class Targets>
struct edges_in_views {
  Sources sources;
  Targets targets;

  std::uint64_t size() const { return sources.extent(0); }
  KOKKOS_FUNCTION edge operator()(std::uint64_t i) const {
    return {static_cast<std::uint64_t>(sources(i)), static_cast<std::uint64_t>(targets(i))};
  }
  template <class F>
  auto transformed(F const& f) const {
    return edges_in_views<decltype(f(sources)), decltype(f(targets))>{f(sources), f(targets)};
  }
};

/// The edges of a list, with the new numbers of their ends: number(v) for vertex v.
template <class List, class Numbers>
struct renumbered_edges {
  List list;
  Numbers number;

  std::uint64_t size() const { return list.size(); }
  KOKKOS_FUNCTION edge operator()(std::uint64_t i) const {
    edge const e = list(i);
    return {number(e.source), number(e.target)};
  }
};

/// Returns an array with unspecified contents. Throws: allocation_error.
template <class View, class ExecSpace>
View graph_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  return allocate_array<View>(exec, "karpos::build_csr: " + label, label,
                              "build the graph of fewer edges", n);
}

template <class View, class ExecSpace>
View zeroed_graph_array(ExecSpace const& exec, std::string const& label, std::uint64_t n) {
  View const array = graph_array<View>(exec, label, n);
  Kokkos::deep_copy(exec, array, typename View::value_type(0));
  return array;
}

/// The weights of edges that have none.
struct no_weights {
  static constexpr bool has_weights = false;
  template <class ExecSpace>
  void allocate(ExecSpace const& /*exec*/, std::uint64_t /*edges*/) {}
};

/// Weights that travel with the edges of a list: from(i) is the weight of edge i, and to(e) becomes
/// the weight of edge e of the graph. `from` is a view or a function.
template <class From, class Weight, class MemorySpace>
struct edge_weights {
  static constexpr bool has_weights = true;
  using weights_view = Kokkos::View<Weight*, MemorySpace>;
  static_assert(std::is_trivially_copyable_v<Weight>,
                "karpos: weights of edges are trivially copyable");
  static constexpr bool has_minimum = requires(Weight const& a, Weight const& b) { a < b; };
  static constexpr bool has_sum = requires(Weight const& a, Weight const& b) { a + b; };

  From from;
  merge_edges merge = merge_edges::minimum;
  weights_view to = {};

  /// Throws std::invalid_argument if duplicates are to be merged by an operation that the type of
  /// the weights lacks.
  void require_mergeable(csr_options const& options) const {
    bool const is_able =
        merge == merge_edges::first || (merge == merge_edges::minimum ? has_minimum : has_sum);
    if (options.remove_duplicates && !is_able)
      reject("weights of duplicate edges cannot be merged",
             merge == merge_edges::sum ? "their type has no +" : "their type has no <",
             "choose merge_edges::first, or keep duplicates");
  }
  template <class ExecSpace>
  void allocate(ExecSpace const& exec, std::uint64_t edges) {
    to = graph_array<weights_view>(exec, "weights", edges);
  }
  /// Writes the merged weight of `count` duplicates, in the order of the list: edge_at(k) is the
  /// index of the k-th.
  template <class EdgeAt>
  KOKKOS_FUNCTION void write(std::uint64_t at, std::uint64_t count, EdgeAt const& edge_at) const {
    auto merged = static_cast<Weight>(from(edge_at(0)));
    if (merge == merge_edges::first) count = 1;
    for (std::uint64_t k = 1; k < count; ++k) {
      [[maybe_unused]] auto const w = static_cast<Weight>(from(edge_at(k)));
      if constexpr (has_sum)
        if (merge == merge_edges::sum) merged = plus{}(merged, w);
      if constexpr (has_minimum)
        if (merge == merge_edges::minimum) merged = minimum{}(merged, w);
    }
    to(at) = merged;
  }
};

inline void require_at_most(std::uint64_t max, std::string const& what, std::uint64_t asked,
                            char const* suggestion) {
  if (asked > max)
    reject<std::length_error>("a graph has too many " + what,
                              std::to_string(asked) + ", at most " + std::to_string(max),
                              suggestion);
}

/// Throws std::length_error unless the types of a graph can hold it, before edges are removed.
template <class Graph>
void require_graph_fits(std::uint64_t vertices, std::uint64_t edges, csr_options const& options) {
  // Edges are sorted as one word of two ids; the largest word stands for dropped edges.
  std::uint64_t const packed = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t const ids = std::numeric_limits<typename Graph::vertex_type>::max();
  std::uint64_t const offsets = std::numeric_limits<typename Graph::offset_type>::max();
  require_at_most(Kokkos::min(ids, packed), "vertices", vertices,
                  "unsigned ids of 32 bits hold the most that can be built");
  require_at_most(options.symmetrise ? offsets / 2 : offsets, "edges", edges,
                  "choose a wider EdgeOffset; duplicates count, and symmetrise doubles the edges");
}

template <class List>
struct find_out_of_range {
  List list;
  std::uint64_t vertices;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    edge const e = list(i);
    if ((e.source >= vertices || e.target >= vertices) && i < first) first = i;
  }
};

/// Throws std::invalid_argument, which names the first edge with an id not below `vertices`.
template <class ExecSpace, class Sources, class Targets>
void require_in_range(ExecSpace const& exec, std::uint64_t vertices,
                      edges_in_views<Sources, Targets> const& list) {
  using held = device::held_by_loop<ExecSpace, edges_in_views<Sources, Targets>>;
  auto const first = device::reduce_over<Kokkos::Min<std::uint64_t>>(
      "karpos::build_csr: check", exec, list.size(),
      find_out_of_range<held>{device::for_loop<ExecSpace>(list), vertices});
  if (first >= list.size()) return;
  char const* const why = "karpos::build_csr: the edge out of range";
  auto const source = read_back(exec, list.sources.data() + first * list.sources.stride(0), why);
  auto const target = read_back(exec, list.targets.data() + first * list.targets.stride(0), why);
  reject("edge " + std::to_string(first) + " names a vertex that does not exist",
         std::to_string(source) + " to " + std::to_string(target) + " among " +
             std::to_string(vertices) + " vertices",
         "ids are 0 to one less than the number of vertices");
}

}  // namespace karpos::detail::build_csr
