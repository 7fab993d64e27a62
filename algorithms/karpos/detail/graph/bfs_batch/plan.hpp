// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/csr_graph.hpp"
#include "karpos/detail/graph/bfs_batch/state.hpp"
#include "karpos/detail/graph/build_csr/run.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/loops.hpp"

// Numbers the vertices of a graph by falling degree, and copies the graph with these numbers; once
// for many batches. Decides how a pass goes on.

namespace karpos::detail::bfs_batch {

struct batch_plan {
  double pull_from, pull_until;  // edges of the frontier, as fractions of all edges
  std::int32_t max_distance;
  bool has_in_edges;
  /// Number of parts of a pass that cost about as much as running its searches one by one.
  std::int64_t break_even_parts;
  bool small;  // beginning and ending a level costs more than expanding all edges

  /// Returns whether the frontier is to be expanded by a pull level.
  KOKKOS_FUNCTION bool chooses_pull(progress const& p, std::uint64_t edges) const {
    double const limit = (p.pull ? pull_until : pull_from) * static_cast<double>(edges);
    return has_in_edges && static_cast<double>(p.frontier.edges) >= limit;
  }

  /// Returns whether, at the end of a part, the pass is left to searches one by one. It is if many
  /// levels may follow, and one of these holds: the first part has found little, or was the first
  /// part of a small graph; break_even_parts parts have passed since the frontier was wide.
  KOKKOS_FUNCTION bool chooses_one_by_one(progress const& p, std::uint64_t vertices,
                                          std::uint64_t edges) const {
    auto const last = Kokkos::min(std::int64_t(max_distance), static_cast<std::int64_t>(vertices));
    if ((last - p.level) / last_value < break_even_parts) return false;
    bool const is_narrow = p.pull_levels == 0 && p.edges_pushed < edges;
    return (p.base == 0 && (small || is_narrow)) ||
           (p.level - p.last_pull_level) / last_value >= break_even_parts;
  }
};

/// Maps vertex v to the pair (max_degree - degree(v), v); degrees above max_degree count as it. The
/// columns of a CSR graph built of these pairs list the vertices by falling degree.
template <class Rows>
struct vertices_by_degree {
  Rows rows;
  std::uint64_t vertices, max_degree;

  std::uint64_t size() const { return vertices; }
  KOKKOS_FUNCTION build_csr::edge operator()(std::uint64_t v) const {
    return {max_degree - Kokkos::min(std::uint64_t(rows.degree(v)), max_degree), v};
  }
};

template <class Rows>
struct largest_degree {
  Rows rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& most) const {
    most = Kokkos::max(most, rows.degree(v));
  }
};
template <class Rows>
struct count_degrees_above {
  Rows rows;
  std::uint64_t limit;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& count) const {
    count += rows.degree(v) > limit ? 1 : 0;
  }
};
template <class Order, class Rank>
struct invert_order {
  Order order;
  Rank rank;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    rank(order(i)) = static_cast<local_vertex>(i);
  }
};

/// A graph with vertices numbered by falling in-degree (if it has no in-edges, by falling degree).
template <class ExecSpace, class Graph>
class ordered_graph {
 public:
  using memory_space = typename Graph::memory_space;
  using graph_type = csr_graph<local_vertex, typename Graph::offset_type, memory_space>;
  using rank_view = Kokkos::View<local_vertex*, memory_space>;
  using rows = frontier::rows<local_vertex, typename Graph::offset_type>;

  ordered_graph() = default;
  ordered_graph(ExecSpace const& exec, Graph const& graph) {
    auto const& degrees = graph.has_transpose() ? graph.in_row_offsets() : graph.row_offsets();
    if (graph.vertices() == 0) return;
    make_ranks(exec, degrees);
    m_out = renumber(exec, graph.row_offsets(), graph.column_indices());
    if (graph.is_undirected())
      m_out = m_out.undirected();
    else if (graph.has_transpose())
      m_out =
          m_out.with_transpose(renumber(exec, graph.in_row_offsets(), graph.in_column_indices()));
  }
  graph_type const& graph() const { return m_out; }
  /// Returns the new number of each vertex.
  rank_view const& rank() const { return m_rank; }

  /// Returns the number of vertices whose degree is above a limit: they are the first ones.
  std::uint64_t rows_above(ExecSpace const& exec, std::uint64_t limit) const {
    auto const& offsets = m_out.has_transpose() ? m_out.in_row_offsets() : m_out.row_offsets();
    return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        "karpos::bfs_batch::rows_above", exec, m_out.vertices(),
        count_degrees_above<rows>{{offsets.data(), nullptr}, limit});
  }

 private:
  static constexpr csr_options keep_all{
      .symmetrise = false, .remove_self_loops = false, .remove_duplicates = false};

  template <class Offsets>
  void make_ranks(ExecSpace const& exec, Offsets const& offsets) {
    std::uint64_t const n = offsets.extent(0) - 1;
    rows const degrees{offsets.data(), nullptr};
    auto const largest = device::reduce_over<Kokkos::Max<std::uint64_t>>(
        "karpos::bfs_batch::largest_degree", exec, n, largest_degree<rows>{degrees});
    // Duplicate edges may make rows longer than n. Those that a team pulls for need no order.
    std::uint64_t const most =
        Kokkos::min(largest, Kokkos::max(n, tuning<ExecSpace>::team_degree + 1));
    using order_graph = csr_graph<local_vertex, std::uint64_t, memory_space>;
    auto const order =
        build_csr::csr_of_edges<order_graph>(exec, Kokkos::max(n, most + 1),
                                             vertices_by_degree<rows>{degrees, n, most}, keep_all)
            .column_indices();
    m_rank = build_csr::graph_array<rank_view>(exec, "ranks", n);
    Kokkos::parallel_for(
        "karpos::bfs_batch::ranks", index_range(exec, n),
        invert_order<typename order_graph::columns_view, rank_view>{order, m_rank});
  }
  template <class Offsets, class Columns>
  graph_type renumber(ExecSpace const& exec, Offsets const& offsets, Columns const& columns) const {
    auto const sources = build_csr::graph_array<rank_view>(exec, "sources", columns.extent(0));
    build_csr::write_sources(exec, offsets, sources);
    using list = build_csr::edges_in_views<rank_view, Columns>;
    return build_csr::csr_of_edges<graph_type>(
               exec, offsets.extent(0) - 1,
               build_csr::renumbered_edges<list, rank_view>{{sources, columns}, m_rank}, keep_all)
        .trusted();
  }

  graph_type m_out;
  rank_view m_rank;
};

}  // namespace karpos::detail::bfs_batch
