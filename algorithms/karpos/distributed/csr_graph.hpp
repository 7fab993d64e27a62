// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/distributed/communicator.hpp"

// A graph over ranks: each has the rows of a block of vertices. Columns are global vertex numbers.
//
//   rank 0   vertices 0 … 95      row_offsets(v), column_indices     begins: 0 | 96 | 224 | n
//   rank 1   vertices 96 … 223    row_offsets(v - 96), …             multiples of 32, or n

namespace karpos::distributed {

/// A rank's block of a graph, and where all blocks begin. It shares the views that it is made of.
template <class VertexId = std::uint32_t, class EdgeOffset = std::uint64_t,
          class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
class csr_graph {
 public:
  /// Rows of this rank's vertices, counted from 0. Columns are vertices of the whole graph.
  using local_type = karpos::csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using vertex_type = VertexId;
  using offset_type = EdgeOffset;
  using memory_space = MemorySpace;
  using offsets_view = typename local_type::offsets_view;
  using columns_view = typename local_type::columns_view;

  csr_graph() = default;

  /// Takes the rows of a rank, whose vertices follow those of the ranks before it. Collective.
  /// Searches check offsets and columns unless the graph is trusted. This graph is not trusted and
  /// has no transpose, even if `rows` is trusted or has one.
  ///
  /// Throws: collective_error unless every block begins at a multiple of 32 or at the number of
  ///   vertices.
  template <execution_space ExecSpace>
  csr_graph(communicator<ExecSpace> const& ranks, local_type const& rows)
      : m_out(rows),
        m_rank(static_cast<std::size_t>(ranks.rank())) {
    detail::user_call const call(name);
    m_begin.push_back(0);
    for (std::uint64_t const n : ranks.all_gather(rows.vertices()))
      m_begin.push_back(m_begin.back() + n);
    for (std::size_t r = 1; r + 1 < m_begin.size(); ++r)
      if (m_begin[r] % 32 != 0 && m_begin[r] != vertices())
        detail::distributed::throw_on_all(ranks, "the vertices of rank " + std::to_string(r) +
                                                     " begin at " + std::to_string(m_begin[r]) +
                                                     " (status words have 32 bits, and one owner): "
                                                     "let blocks begin at multiples of 32");
    m_edges = ranks.all_reduce(std::uint64_t(rows.edges()));
  }

  /// Returns this graph, declared undirected (not checked): every edge occurs in both directions.
  csr_graph undirected() const { return with_transpose(*this); }
  /// Returns this graph together with its reversed edges, which transpose makes; trusted if both
  /// graphs are.
  ///
  /// Throws: std::invalid_argument, on every rank, if blocks or the number of edges differ.
  csr_graph with_transpose(csr_graph const& in) const {
    detail::user_call const call(name, "with_transpose");
    if (in.m_begin != m_begin)
      detail::reject(
          "a graph over ranks and its transpose have different blocks of vertices",
          std::to_string(vertices()) + " and " + std::to_string(in.vertices()) + " vertices",
          "make it by karpos::distributed::transpose");
    detail::require_same_extent("edges of a graph over ranks", m_edges, "of its transpose",
                                in.m_edges);
    csr_graph g = *this;
    g.m_in = in.m_out;
    g.m_has_transpose = true;
    g.m_trusted = m_trusted && in.m_trusted;
    return g;
  }
  /// Returns this graph, marked as valid: searches do not check it, unless the CMake option
  /// KARPOS_CONTRACTS (contract.hpp) is on.
  ///
  /// Requires: all ranks call it, or none.
  csr_graph trusted() const {
    csr_graph g = *this;
    g.m_trusted = true;
    return g;
  }

  /// Returns the size of the whole graph. An undirected edge counts as two edges.
  std::uint64_t vertices() const { return m_begin.empty() ? 0 : m_begin.back(); }
  std::uint64_t edges() const { return m_edges; }
  bool has_transpose() const { return m_has_transpose; }
  bool is_trusted() const { return m_trusted; }
  /// Returns whether the transpose has the arrays of the graph itself, on this rank.
  bool is_undirected() const {
    return m_has_transpose && m_in.row_offsets().data() == m_out.row_offsets().data() &&
           m_in.column_indices().data() == m_out.column_indices().data();
  }

  /// Returns where the blocks of the ranks begin, and at the end the number of vertices.
  std::vector<std::uint64_t> const& begins() const { return m_begin; }
  /// Returns the first of this rank's vertices, [first(), first() + local().vertices()).
  std::uint64_t first() const { return m_begin.empty() ? 0 : m_begin[m_rank]; }
  local_type const& local() const { return m_out; }
  /// Returns the rows of the transpose; empty without one.
  local_type const& local_in() const { return m_in; }
  /// Returns the rank that owns a vertex; the number of ranks if there is no such vertex; -1 for a
  /// default-constructed graph.
  int owner(std::uint64_t vertex) const {
    auto const at = std::upper_bound(m_begin.begin(), m_begin.end(), vertex);
    return static_cast<int>(at - m_begin.begin()) - 1;
  }
  /// Returns the number of vertices of each rank.
  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> counts;
    for (std::size_t r = 0; r + 1 < m_begin.size(); ++r)
      counts.push_back(m_begin[r + 1] - m_begin[r]);
    return counts;
  }

  /// Checks every offset and column of all ranks' rows and of the transpose, but does not compare
  /// the two. Collective. Blocks.
  ///
  /// Complexity: a pass over the rows, and over those of a transpose with arrays of its own.
  /// Throws: collective_error on every rank, which names the first wrong offset of the lowest such
  ///   rank, or the first of its edges whose column is out of range.
  template <execution_space ExecSpace>
  void validate(communicator<ExecSpace> const& ranks) const {
    detail::user_call const call(name, "validate");
    detail::distributed::run_collectively(ranks, [&] { validate_rows(ranks.exec()); });
  }
  /// Checks this rank's rows, and those of the transpose, unless the graph is trusted. Not
  /// collective. Throws: std::invalid_argument.
  template <execution_space ExecSpace>
  void validate_unless_trusted(ExecSpace const& exec) const {
    detail::user_call const call(name, "validate_unless_trusted");
    if (detail::checks_always || !m_trusted) validate_rows(exec);
  }

  /// Gathers views with an element for each vertex of a rank. Returns the elements of the whole
  /// graph on every rank. Collective. Waits until every rank has called it. If a vendor's library
  /// moves the data (communicator::engine), the rest is asynchronous: fence ranks.exec() before
  /// another execution space instance reads the result. Else blocks.
  ///
  /// Requires: `own` exists, and is not written, until ranks.exec() is fenced.
  /// Memory: an element for each vertex of the graph.
  /// Throws: collective_error on every rank if a view does not have one element for each vertex of
  ///   its rank or is strided, or for lack of memory.
  template <execution_space ExecSpace, view_1d View>
  auto gather(communicator<ExecSpace> const& ranks, View const& own) const {
    detail::user_call const call(name, "gather");
    auto const all = detail::distributed::run_collectively(ranks, [&] {
      detail::require_same_extent("what is gathered", own.extent(0), "vertices of this rank",
                                  m_out.vertices());
      detail::require_contiguous("what is gathered", own);
      return detail::distributed::allocate<typename View::non_const_value_type>(
          ranks.exec(), "karpos::distributed: gathered", vertices());
    });
    ranks.all_gather(own, all, counts());
    return all;
  }

 private:
  static constexpr char name[] = "distributed::csr_graph";

  template <class ExecSpace>
  void validate_rows(ExecSpace const& exec) const {
    auto const check = [&](local_type const& rows, char const* what) {
      detail::require_rows(exec, rows.row_offsets(), rows.column_indices(),
                           {what, vertices(), first()});
    };
    check(m_out, "the graph");
    if (m_has_transpose && !is_undirected()) check(m_in, "the transpose");
  }

  local_type m_out, m_in;
  bool m_has_transpose = false, m_trusted = false;
  std::size_t m_rank = 0;
  std::vector<std::uint64_t> m_begin;
  std::uint64_t m_edges = 0;
};

}  // namespace karpos::distributed
