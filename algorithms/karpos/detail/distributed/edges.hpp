// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/build_csr/plan.hpp"
#include "karpos/detail/graph/build_csr/run.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/key_value.hpp"

// Sends edges to the ranks that own their sources.

namespace karpos::detail::distributed {

/// An edge from `key` to `value`. The source of a dropped edge is no_source.
template <class VertexId>
using edge_row = key_value<VertexId, VertexId>;
template <class VertexId>
inline constexpr VertexId no_source = static_cast<VertexId>(-1);

/// Writes the directed edges that edge i becomes under csr_options, or dropped edges.
template <class List, class Row>
struct write_directed {
  List list;
  csr_options options;
  std::uint64_t edges;
  Row* to;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    using id = decltype(Row::key);
    build_csr::edge const e = list(i);
    bool const loop = e.source == e.target;
    auto const source = static_cast<id>(e.source), target = static_cast<id>(e.target);
    to[i] = {loop && options.remove_self_loops ? no_source<id> : source, target};
    if (options.symmetrise) to[edges + i] = {loop ? no_source<id> : target, source};
  }
};

/// Writes the edges of rows with their direction reversed.
template <class Row, class VertexId>
struct reverse_edges {
  VertexId const* column;
  VertexId const* source;
  std::uint64_t first;
  Row* to;

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    to[e] = {column[e], static_cast<VertexId>(static_cast<std::uint64_t>(source[e]) + first)};
  }
};

/// Counts the edges of each group of vertices.
template <class Row>
struct count_groups {
  Row const* rows;
  std::uint64_t* counts;
  std::uint64_t group;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    if (rows[i].key != no_source<decltype(Row::key)>)
      Kokkos::atomic_inc(counts + static_cast<std::uint64_t>(rows[i].key) / group);
  }
};

/// Returns the owner of an edge's source, or `ranks` for a dropped edge.
template <class Row>
struct owner_of_source {
  std::uint64_t const* begin;  // of the blocks of all ranks
  std::uint32_t ranks;

  KOKKOS_FUNCTION std::uint32_t operator()(Row const& r) const {
    if (r.key == no_source<decltype(Row::key)>) return ranks;
    auto const v = static_cast<std::uint64_t>(r.key);
    std::uint32_t low = 0, high = ranks;  // begin[low] <= v < begin[high]
    while (high - low > 1) {
      std::uint32_t const middle = (low + high) / 2;
      (begin[middle] <= v ? low : high) = middle;
    }
    return low;
  }
};

/// The edges that a rank has received, for build_csr: sources count from the rank's first vertex.
template <class Row>
struct received_edges {
  Row const* rows;
  std::uint64_t count, first;

  std::uint64_t size() const { return count; }
  KOKKOS_FUNCTION build_csr::edge operator()(std::uint64_t i) const {
    return {static_cast<std::uint64_t>(rows[i].key) - first,
            static_cast<std::uint64_t>(rows[i].value)};
  }
};

/// Throws unless `begins` is empty or begins of blocks for `ranks` ranks.
inline void require_begins(std::vector<std::uint64_t> const& begins, std::uint64_t vertices,
                           int ranks) {
  if (begins.empty()) return;
  require_same_extent("begins of blocks", begins.size(), "ranks + 1",
                      static_cast<std::uint64_t>(ranks) + 1);
  for (std::size_t r = 0; r < begins.size(); ++r) {
    bool const ascends = r == 0 ? begins[r] == 0 : begins[r] >= begins[r - 1];
    bool const ends = r + 1 < begins.size() || begins[r] == vertices;
    if (!ascends || !ends || (begins[r] % 32 != 0 && begins[r] != vertices))
      reject("begin " + std::to_string(r) + " of the blocks of vertices is wrong",
             std::to_string(begins[r]),
             "begins ascend from 0 to the number of vertices, in multiples of 32");
  }
}

/// Returns begins of blocks that are multiples of 32, with about equally many edges in each block.
/// Counts edges by groups of vertices, so that the counts have 8 MiB at most. Collective.
template <class ExecSpace, class Rows>
std::vector<std::uint64_t> equal_blocks(karpos::distributed::communicator<ExecSpace> const& ranks,
                                        std::uint64_t vertices, Rows const& rows) {
  std::uint64_t const words = (vertices + 31) / 32;
  std::uint64_t const group = 32 * (words / (std::uint64_t(1) << 20) + 1);
  std::uint64_t const groups = (vertices + group - 1) / group;
  auto const counts = run_collectively(ranks, [&] {
    auto const c =
        distributed::allocate<std::uint64_t>(ranks.exec(), "karpos::build_csr: edges", groups);
    // Groups without edges are divided among ranks, too.
    Kokkos::deep_copy(ranks.exec(), c, std::uint64_t(1));
    device::loop_over("karpos::build_csr: edges of groups", ranks.exec(), rows.extent(0),
                      count_groups<typename Rows::value_type>{rows.data(), c.data(), group});
    return c;
  });
  ranks.all_reduce(counts);
  auto const all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, counts);
  std::uint64_t total = 0, sum = 0;
  for (std::uint64_t g = 0; g < groups; ++g) total += all(g);
  auto const p = static_cast<std::uint64_t>(ranks.size());
  std::vector<std::uint64_t> begins{0};
  for (std::uint64_t g = 0; g < groups; ++g) {
    // A block ends when its share is nearly full: at the nearer border of a group.
    while (begins.size() < p && sum + all(g) / 2 >= total / p * begins.size())
      begins.push_back(g * group);
    sum += all(g);
  }
  begins.resize(p, vertices);
  begins.push_back(vertices);
  return begins;
}

/// Splits edges into `memory` by the owners of their sources, whose blocks of vertices have these
/// begins. owners: number of ranks; one more if there are dropped edges, which come last.
template <class ExecSpace, class Rows>
auto split_by_source(ExecSpace const& exec, reusable_memory<ExecSpace>& memory,
                     std::vector<std::uint64_t> const& begins, int owners, Rows const& rows) {
  using row = typename Rows::value_type;
  auto const on_device =
      distributed::allocate<std::uint64_t>(exec, "karpos::distributed: blocks", begins.size());
  Kokkos::deep_copy(exec, on_device, unmanaged<Kokkos::HostSpace>(begins.data(), begins.size()));
  owner_of_source<row> const owner{on_device.data(), static_cast<std::uint32_t>(begins.size() - 1)};
  return distributed::split<row>(exec, memory, owners, false, owner, rows);
}

/// Sends edges to the owners of their sources. Returns: the graph of all edges. Collective.
template <class EdgeOffset, class ExecSpace, class Rows>
auto build_from_rows(karpos::distributed::communicator<ExecSpace> const& ranks, Rows const& rows,
                     std::vector<std::uint64_t> const& begins, bool remove_duplicates) {
  using row = typename Rows::value_type;
  using id = decltype(row::key);
  using graph = karpos::distributed::csr_graph<id, EdgeOffset, typename ExecSpace::memory_space>;
  auto const& exec = ranks.exec();
  reusable_memory<ExecSpace> sent, received_memory;
  auto split = run_collectively(
      ranks, [&] { return split_by_source(exec, sent, begins, ranks.size() + 1, rows); });
  std::uint64_t const kept = rows.extent(0) - split.counts.back();
  split.counts.pop_back();
  split.rows = Kokkos::subview(split.rows, Kokkos::make_pair(std::uint64_t(0), kept));
  auto const received = send_to_owners(ranks, split, received_memory);
  auto const me = static_cast<std::size_t>(ranks.rank());
  return graph(ranks, run_collectively(ranks, [&] {
                 received_edges<row> const list{received.data(), received.extent(0), begins[me]};
                 return build_csr::csr_of_edges<typename graph::local_type>(
                     exec, begins[me + 1] - begins[me], list,
                     {.remove_self_loops = false, .remove_duplicates = remove_duplicates});
               }));
}

/// Builds the graph of a list of ids below `vertices`. begins: of blocks, or empty. Collective.
template <class VertexId, class EdgeOffset, class ExecSpace, class List>
auto build_from_list(karpos::distributed::communicator<ExecSpace> const& ranks,
                     std::uint64_t vertices, List const& list, csr_options const& options,
                     std::vector<std::uint64_t> const& begins) {
  using row = edge_row<VertexId>;
  std::uint64_t const n = list.size();
  auto const rows = run_collectively(ranks, [&] {
    auto const r = distributed::allocate<row>(ranks.exec(), "karpos::build_csr: edges to be sent",
                                              options.symmetrise ? 2 * n : n);
    device::loop_over("karpos::build_csr: directed edges", ranks.exec(), n,
                      write_directed<device::held_by_loop<ExecSpace, List>, row>{
                          device::for_loop<ExecSpace>(list), options, n, r.data()});
    return r;
  });
  auto const blocks_of = begins.empty() ? distributed::equal_blocks(ranks, vertices, rows) : begins;
  auto const graph =
      distributed::build_from_rows<EdgeOffset>(ranks, rows, blocks_of, options.remove_duplicates);
  return options.symmetrise ? graph.undirected() : graph;
}

}  // namespace karpos::detail::distributed
