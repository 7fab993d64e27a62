// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/csr_options.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/detail/graph/build_csr/plan.hpp"
#include "karpos/detail/graph/build_csr/run.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"
#include "karpos/distributed/csr_options.hpp"
#include "karpos/distributed/vertex_permutation.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"

// Sends edges to the ranks that own their sources.

namespace karpos::detail::distributed {

/// An edge from `key` to `value`. The source of a dropped edge is no_source.
template <class VertexId>
using edge_row = key_value<VertexId, VertexId>;
template <class VertexId>
inline constexpr VertexId no_source = static_cast<VertexId>(-1);

/// An edge with its weight.
template <class VertexId, class Weight>
struct weighted_edge_row {
  VertexId key, value;
  Weight weight;
};
template <class Row>
inline constexpr bool has_weight = requires(Row const& r) { r.weight; };

/// The rows of edges whose weights are in a view, or which have none (build_csr::no_weights).
template <class VertexId, class From>
struct edge_row_of {
  using type = weighted_edge_row<VertexId, typename From::non_const_value_type>;
};
template <class VertexId>
struct edge_row_of<VertexId, build_csr::no_weights> {
  using type = edge_row<VertexId>;
};

/// Returns the row of a directed edge of edge i.
template <class Row, class From>
KOKKOS_FUNCTION Row directed_edge(decltype(Row::key) source, decltype(Row::key) target,
                                  [[maybe_unused]] From const& weights,
                                  [[maybe_unused]] std::uint64_t i) {
  if constexpr (has_weight<Row>)
    return {source, target, static_cast<decltype(Row::weight)>(weights(i))};
  else
    return {source, target};
}

/// Writes the directed edges that edge i becomes under csr_options, or dropped edges. They are
/// neighbours, so that all ranks' edges stay in the order of the list.
template <class List, class From, class Row>
struct write_directed {
  List list;
  From weights;
  csr_options options;
  Row* to;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    using id = decltype(Row::key);
    build_csr::edge const e = list(i);
    bool const loop = e.source == e.target;
    auto const source = static_cast<id>(e.source), target = static_cast<id>(e.target);
    std::uint64_t const at = options.symmetrise ? 2 * i : i;
    to[at] = directed_edge<Row>(loop && options.remove_self_loops ? no_source<id> : source, target,
                                weights, i);
    if (options.symmetrise)
      to[at + 1] = directed_edge<Row>(loop ? no_source<id> : target, source, weights, i);
  }
};

/// Writes the edges of rows with their direction reversed.
template <class Row, class VertexId, class From>
struct reverse_edges {
  VertexId const* column;
  VertexId const* source;
  From weights;
  std::uint64_t first;
  Row* to;

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    to[e] = directed_edge<Row>(column[e],
                               static_cast<VertexId>(static_cast<std::uint64_t>(source[e]) + first),
                               weights, e);
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

/// The weights of the edges that a rank has received.
template <class Row>
struct received_weights {
  Row const* rows;
  KOKKOS_FUNCTION auto operator()(std::uint64_t i) const { return rows[i].weight; }
};
/// Returns the weights of received rows for build_csr, or no_weights.
template <class MemorySpace, class Row>
auto weights_of_received([[maybe_unused]] Row const* rows, [[maybe_unused]] merge_edges merge) {
  if constexpr (has_weight<Row>)
    return build_csr::edge_weights<received_weights<Row>, decltype(Row::weight), MemorySpace>{
        {rows}, merge};
  else
    return build_csr::no_weights{};
}

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

/// The source of an edge, and where the edge lies in the list.
template <class VertexId>
using numbered_edge = key_value<VertexId, std::uint64_t>;
template <class Row>
struct number_edges {
  Row const* rows;
  numbered_edge<decltype(Row::key)>* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = {rows[i].key, i}; }
};
template <class Row>
struct gather_edges {
  Row const* rows;
  numbered_edge<decltype(Row::key)> const* order;
  Row* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = rows[order[i].value]; }
};

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
/// begins. owners: number of ranks; one more if there are dropped edges, which come last. Edges
/// with weights keep their order.
template <class ExecSpace, class Rows>
auto split_by_source(ExecSpace const& exec, reusable_memory<ExecSpace>& memory,
                     std::vector<std::uint64_t> const& begins, int owners, Rows const& rows) {
  using row = typename Rows::value_type;
  auto const on_device =
      distributed::allocate<std::uint64_t>(exec, "karpos::distributed: blocks", begins.size());
  Kokkos::deep_copy(exec, on_device, unmanaged<Kokkos::HostSpace>(begins.data(), begins.size()));
  auto const split_edges = [&](auto const& edges, auto& to) {
    using edge = typename std::remove_cvref_t<decltype(edges)>::value_type;
    owner_of_source<edge> const owner{on_device.data(),
                                      static_cast<std::uint32_t>(begins.size() - 1)};
    return distributed::split<edge>(exec, to, owners, has_weight<row>, owner, edges);
  };
  if constexpr (partition::is_row<row>) {
    return split_edges(rows, memory);
  } else {  // a split does not move rows of such a size: it orders their numbers
    std::uint64_t const n = rows.extent(0);
    auto const numbers = distributed::allocate<numbered_edge<decltype(row::key)>>(
        exec, "karpos::distributed: numbers of edges", n);
    device::loop_over("karpos::distributed: number edges", exec, n,
                      number_edges<row>{rows.data(), numbers.data()});
    reusable_memory<ExecSpace> ordered;
    auto const order = split_edges(numbers, ordered);
    split_rows<ExecSpace, row> const split{
        memory.template reserve<row>(exec, "karpos::distributed: rows by owner", n), order.counts};
    device::loop_over("karpos::distributed: gather edges", exec, n,
                      gather_edges<row>{rows.data(), order.rows.data(), split.rows.data()});
    exec.fence("karpos::distributed: before the order of edges is freed");
    return split;
  }
}

/// Sends edges to the owners of their sources. Returns: the trusted graph of all edges, with their
/// weights if they have any. Collective.
template <class EdgeOffset, class ExecSpace, class Rows>
auto build_from_rows(karpos::distributed::communicator<ExecSpace> const& ranks, Rows const& rows,
                     std::vector<std::uint64_t> const& begins, csr_options const& options) {
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
  auto weights =
      weights_of_received<typename ExecSpace::memory_space>(received.data(), options.merge);
  csr_options const local_options{.remove_self_loops = false,
                                  .remove_duplicates = options.remove_duplicates};
  graph built(ranks, run_collectively(ranks, [&] {
                received_edges<row> const list{received.data(), received.extent(0), begins[me]};
                return build_csr::csr_of_edges<typename graph::local_type>(
                    exec, begins[me + 1] - begins[me], list, local_options, weights);
              }));
  built = (options.symmetrise ? built.undirected() : built).trusted();
  if constexpr (has_weight<row>)
    return weighted_csr_graph<graph, decltype(row::weight)>{built, weights.to};
  else
    return built;
}

/// Builds the graph of a list of ids below `vertices`, and the weights of its edges: `from` is
/// build_csr::no_weights, or a view of the weights of the list. begins: of blocks, or empty.
/// Collective.
template <class VertexId, class EdgeOffset, class ExecSpace, class List,
          class From = build_csr::no_weights>
auto build_from_list(karpos::distributed::communicator<ExecSpace> const& ranks,
                     std::uint64_t vertices, List const& list, csr_options const& options,
                     std::vector<std::uint64_t> const& begins, From const& from = {}) {
  using row = typename edge_row_of<VertexId, From>::type;
  std::uint64_t const n = list.size();
  auto const rows = run_collectively(ranks, [&] {
    auto const r = distributed::allocate<row>(ranks.exec(), "karpos::build_csr: edges to be sent",
                                              options.symmetrise ? 2 * n : n);
    using body = write_directed<device::held_by_loop<ExecSpace, List>,
                                device::held_by_loop<ExecSpace, From>, row>;
    device::loop_over("karpos::build_csr: directed edges", ranks.exec(), n,
                      body{device::for_loop<ExecSpace>(list), device::for_loop<ExecSpace>(from),
                           options, r.data()});
    return r;
  });
  auto const blocks_of = begins.empty() ? distributed::equal_blocks(ranks, vertices, rows) : begins;
  return distributed::build_from_rows<EdgeOffset>(ranks, rows, blocks_of, options);
}

/// Checks edges in views, and builds their graph and weights. The steps of distributed::build_csr.
template <class EdgeOffset, class ExecSpace, class Sources, class Targets, class From>
auto build_from_views(karpos::distributed::communicator<ExecSpace> const& ranks,
                      std::uint64_t vertices, Sources const& sources, Targets const& targets,
                      karpos::distributed::csr_options const& options, From const& from) {
  using vertex = typename Sources::non_const_value_type;
  static_assert(std::is_same_v<vertex, typename Targets::non_const_value_type>,
                "karpos: sources and targets of edges must be of the same type");
  require_reachable<ExecSpace, Sources, Targets>();
  using local = karpos::csr_graph<vertex, EdgeOffset, typename ExecSpace::memory_space>;
  using edges_list = build_csr::edges_in_views<Sources, Targets>;
  using karpos::distributed::require_same;
  edges_list const list{sources, targets};
  require_same(ranks, "the number of vertices", vertices);
  require_same(ranks, "csr_options::symmetrise", options.symmetrise);
  require_same(ranks, "csr_options::remove_self_loops", options.remove_self_loops);
  require_same(ranks, "csr_options::remove_duplicates", options.remove_duplicates);
  require_same(ranks, "csr_options::merge", static_cast<int>(options.merge));
  require_same(ranks, "whether csr_options::permutation is set", options.permutation.has_value());
  require_same(ranks, "the seed of a permutation of vertices", options.permutation.value_or(0));
  std::uint64_t hash = options.begins.size();
  for (std::uint64_t const b : options.begins) hash = mix(hash + b);
  require_same(ranks, "the hash of the begins of blocks", hash);
  run_collectively(ranks, [&] {
    require_same_extent("sources", sources.extent(0), "targets", targets.extent(0));
    require_enumerators(options.merge);
    if constexpr (!std::is_same_v<From, build_csr::no_weights>) {
      require_same_extent("sources", sources.extent(0), "weights", from.extent(0));
      build_csr::edge_weights<From, typename From::non_const_value_type,
                              typename ExecSpace::memory_space>{from, options.merge}
          .require_mergeable(options);
    }
    build_csr::require_graph_fits<local>(vertices, list.size(), options);
    build_csr::require_in_range(ranks.exec(), vertices, list);
    require_begins(options.begins, vertices, ranks.size());
  });
  using numbers = karpos::distributed::vertex_permutation;
  build_csr::renumbered_edges<edges_list, numbers> const numbered{list, options.numbers(vertices)};
  return build_from_list<vertex, EdgeOffset>(ranks, vertices, numbered, options, options.begins,
                                             from);
}

/// Reverses the edges of a graph. The steps of distributed::transpose.
template <class ExecSpace, class VertexId, class EdgeOffset, class MemorySpace, class From>
auto reverse_graph(karpos::distributed::communicator<ExecSpace> const& ranks,
                   karpos::distributed::csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                   From const& from) {
  using row = typename edge_row_of<VertexId, From>::type;
  auto const& local = graph.local();
  auto const rows = run_collectively(ranks, [&] {
    if constexpr (!std::is_same_v<From, build_csr::no_weights>)
      require_same_extent("edges of this rank", local.edges(), "weights", from.extent(0));
    graph.validate_unless_trusted(ranks.exec());
    auto const sources =
        distributed::allocate<VertexId>(ranks.exec(), "karpos::transpose: sources", local.edges());
    build_csr::write_sources(ranks.exec(), local.row_offsets(), sources);
    auto const reversed =
        distributed::allocate<row>(ranks.exec(), "karpos::transpose: edges", local.edges());
    using body = reverse_edges<row, VertexId, device::held_by_loop<ExecSpace, From>>;
    device::loop_over("karpos::transpose: reverse", ranks.exec(), local.edges(),
                      body{local.column_indices().data(), sources.data(),
                           device::for_loop<ExecSpace>(from), graph.first(), reversed.data()});
    ranks.exec().fence("karpos::transpose: before its sources are freed");
    return reversed;
  });
  return build_from_rows<EdgeOffset>(
      ranks, rows, graph.begins(),
      {.remove_self_loops = false, .remove_duplicates = false, .merge = merge_edges::first});
}

}  // namespace karpos::detail::distributed
