// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <karpos/distributed/bfs.hpp>
#include <karpos/distributed/build_csr.hpp>
#include <karpos/distributed/validate_bfs.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "perf/measure/bfs/reach.hpp"
#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/graph/draw_sources.hpp"
#include "perf/measure/graph/edge_generators.hpp"
#include "perf/measure/graph/graph_source.hpp"
#include "perf/measure/support/progress.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/on_ranks.hpp"
#include "perf/tool/distributed/searches_over_ranks.hpp"

// The part of `karpos bfs --distributed` that depends on the width of offsets. Each width has a
// source of its own, since the kernels of a search take long to compile.

namespace karpos::perf {
namespace search_measurement {

template <class Offset>
using rank_graph = distributed::csr_graph<std::uint32_t, Offset, memory>;

/// A slice of a generated edge list: `count` edges from edge number `first` on.
template <class List>
struct list_slice {
  List list;
  std::uint64_t first, count;
  std::uint64_t size() const { return count; }
  KOKKOS_FUNCTION detail::build_csr::edge operator()(std::uint64_t i) const {
    return list(first + i);
  }
};

/// Returns how the edges of a graph are treated, and how its vertices are numbered.
inline distributed::csr_options options_of(bfs_parameters const& p, bool is_directed) {
  distributed::csr_options o{p.clean()};
  o.symmetrise = !is_directed;
  constexpr std::uint64_t seed = 1;
  if (p.permute) o.permutation = seed;
  return o;
}

template <class Offset, class List>
rank_graph<Offset> graph_of_part(rank_communicator const& ranks, generator_spec const& spec,
                                 List const& list, distributed::csr_options const& options) {
  rank_range const part(ranks, list.size());
  using edges = list_slice<List>;
  auto const numbers = options.numbers(spec.vertices());
  detail::build_csr::renumbered_edges<edges, std::decay_t<decltype(numbers)>> const mine{
      {list, part.first, part.size()}, numbers};
  return detail::distributed::build_from_list<std::uint32_t, Offset>(ranks, spec.vertices(), mine,
                                                                     options, {});
}

template <class Offset>
rank_graph<Offset> graph_of(rank_communicator const& ranks, generator_spec const& spec,
                            bfs_parameters const& p) {
  auto const options = options_of(p, false);
  return with_edges_of(
      spec, [&](auto const& list) { return graph_of_part<Offset>(ranks, spec, list, options); });
}
/// Copies a rank's slice of an array of the file into the memory of its device.
inline array<std::uint32_t> copy_range(std::vector<std::uint32_t> const& all,
                                       rank_range const& part) {
  auto const copy = make_array<std::uint32_t>("edges of a file", part.size());
  Kokkos::deep_copy(copy,
                    Kokkos::View<std::uint32_t const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        all.data() + part.first, part.size()));
  return copy;
}
template <class Offset>
rank_graph<Offset> graph_of(rank_communicator const& ranks, edge_list const& list,
                            bfs_parameters const& p) {
  rank_range const part(ranks, list.sources.size());
  bool const is_directed = p.directed && !list.undirected;
  auto const graph =
      distributed::build_csr<Offset>(ranks, list.vertices, copy_range(list.sources, part),
                                     copy_range(list.targets, part), options_of(p, is_directed));
  return is_directed ? graph.with_transpose(distributed::transpose(ranks, graph)) : graph;
}
template <class Offset>
rank_graph<Offset> graph_of(rank_communicator const&, csr_arrays const&, bfs_parameters const&) {
  throw bad_input("--distributed does not read .sg files: take a list of edges, or a generator");
}

/// Marks which of the vertices order(first), order(first + 1), … belong to this rank and have an
/// edge.
template <class Offsets>
struct mark_own_eligible {
  Offsets offsets;
  permutation order;
  distributed::vertex_permutation number;
  std::uint64_t first, first_vertex, vertices;
  array<std::uint8_t> eligible;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const v = number(order(first + i)) - first_vertex;
    eligible(i) = v < vertices && offsets(v + 1) != offsets(v);
  }
};

/// Draws the same sources as draw_sources; each rank contributes which of its own vertices have an
/// edge.
template <class Graph>
std::vector<std::uint64_t> draw_over_ranks(rank_communicator const& ranks, Graph const& graph,
                                           distributed::vertex_permutation const& number,
                                           std::uint64_t count, std::uint64_t seed) {
  std::uint64_t const n = graph.vertices(), batch = std::min<std::uint64_t>(n, 1 << 16);
  permutation const order = permutation::of(n, scramble(seed) ^ 0x736f757263657321u);
  std::vector<std::uint64_t> sources;
  for (std::uint64_t first = 0; first < n && sources.size() < count; first += batch) {
    auto const eligible = make_array<std::uint8_t>("eligible sources", std::min(batch, n - first));
    Kokkos::parallel_for("karpos::perf::eligible sources", range(ranks.exec(), eligible.extent(0)),
                         mark_own_eligible<typename Graph::offsets_view>{
                             graph.local().row_offsets(), order, number, first, graph.first(),
                             graph.local().vertices(), eligible});
    ranks.all_reduce(eligible, distributed::bit_or{});
    auto const seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), eligible);
    for (std::uint64_t i = 0; i < seen.extent(0) && sources.size() < count; ++i)
      if (seen(i) != 0) sources.push_back(order(first + i));
  }
  if (sources.size() < count) throw bad_input(too_few_sources("--sources", count, sources.size()));
  return sources;
}

/// Finds the smallest id, before renumbering, of this rank's vertices that have an edge.
template <class Offsets>
struct find_own_first {
  Offsets offsets;
  distributed::vertex_permutation number;
  std::uint64_t first_vertex;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& first) const {
    if (offsets(v + 1) == offsets(v)) return;
    first = Kokkos::min(first, number.inverse(first_vertex + v));
  }
};
/// Returns the smallest vertex with an outgoing edge, or vertices() if there is none.
template <class Graph>
std::uint64_t first_of_ranks(rank_communicator const& ranks, Graph const& graph,
                             distributed::vertex_permutation const& number) {
  std::uint64_t first = graph.vertices();
  Kokkos::parallel_reduce("karpos::perf::first with edges",
                          range(ranks.exec(), graph.local().vertices()),
                          find_own_first<typename Graph::offsets_view>{graph.local().row_offsets(),
                                                                       number, graph.first()},
                          Kokkos::Min<std::uint64_t>(first));
  return ranks.all_reduce(std::min(first, graph.vertices()), minimum{});
}

template <class Graph>
std::vector<std::uint64_t> chosen_sources(rank_communicator const& ranks, Graph const& graph,
                                          distributed::vertex_permutation const& number,
                                          bfs_parameters const& p, std::uint64_t first) {
  if (p.sources > 0) return draw_over_ranks(ranks, graph, number, p.sources, p.seed);
  if (p.source) return {parse_count(*p.source)};
  return {first < graph.vertices() ? first : 0};
}

/// Measures searches over ranks from one source after the other. The results that are equal on all
/// ranks are in a bfs_run.
template <class Offset>
class measurement {
  using graph_type = rank_graph<Offset>;

 public:
  measurement(rank_communicator const& ranks, bfs_parameters const& p) : m_ranks(ranks) {
    run.parameters = p;
    run.graph = p.graph;
    run.offset_bits = 8 * sizeof(Offset);
  }

  /// clock: since the source is opened.
  void operator()(graph_source const& source, Kokkos::Timer& clock, progress* bar) {
    if (auto const* const spec = std::get_if<generator_spec>(&source)) run.graph = to_string(*spec);
    m_graph = std::visit(
        [&](auto const& s) { return graph_of<Offset>(m_ranks, s, run.parameters); }, source);
    run.load_seconds = m_ranks.all_reduce(clock.seconds(), maximum{});
    if (m_graph.vertices() == 0) throw bad_input(run.graph + " has no vertex to start from");
    run.vertices = m_graph.vertices();
    run.edges = m_graph.edges();
    auto const* const list = std::get_if<edge_list>(&source);
    if (list != nullptr) run.layout = list->layout;
    run.undirected = list == nullptr || list->undirected || !run.parameters.directed;
    run.without_edges = m_ranks.all_reduce(count_without_edges(m_ranks.exec(), m_graph.local()));
    m_number = options_of(run.parameters, false).numbers(m_graph.vertices());
    run.first_with_edges = first_of_ranks(m_ranks, m_graph, m_number);
    m_edges_of_rank = m_ranks.all_gather(std::uint64_t(m_graph.local().edges()));
    auto const sources =
        chosen_sources(m_ranks, m_graph, m_number, run.parameters, run.first_with_edges);
    clock.reset();
    m_workspace = std::make_unique<distributed::bfs_workspace<space, graph_type>>(m_ranks, m_graph);
    run.prepare_seconds = m_ranks.all_reduce(clock.seconds(), maximum{});
    run.workspace_bytes = m_ranks.all_reduce(m_workspace->bytes(run.parameters.parents));
    m_distance = make_array<std::int32_t>("distances", m_graph.local().vertices());
    if (run.parameters.parents)
      m_parent = make_array<std::uint32_t>("parents", m_graph.local().vertices());
    search(sources.front());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      show(bar, double(i + 1) / double(sources.size() + 1), "searches");
      search_from(sources[i]);
    }
  }

  json ranks_json() const {
    return {{"count", m_ranks.size()},
            {"engine", m_ranks.engine()},
            {"permuted", run.parameters.permute},
            {"vertices", m_graph.counts()},
            {"hub_degrees", m_hub_degrees},
            {"edges", m_edges_of_rank},
            {"searches", m_searches}};
  }
  bfs_run run;

 private:
  std::uint64_t numbered(std::uint64_t source) const {
    // Out of range, which is refused later.
    return source < m_graph.vertices() ? m_number(source) : source;
  }
  distributed::bfs_report search(std::uint64_t source) const {
    return distributed::bfs(*m_workspace, numbered(source), m_distance, m_parent,
                            run.parameters.options);
  }
  void search_from(std::uint64_t source) {
    bfs_result r;
    r.source = source;
    distributed::bfs_report report;
    json seconds = json::array();
    for (int i = 0; i < run.parameters.repetitions; ++i) {
      auto const all = seconds_of_ranks(m_ranks, [&] { report = search(source); });
      r.time.seconds.push_back(*std::max_element(all.begin(), all.end()));
      seconds.push_back(all);
    }
    r.report = report;
    r.report.hub_degree = 0;  // each rank has its own
    m_hub_degrees = m_ranks.all_gather(report.hub_degree);
    r.reach = reach();
    r.defect = defect_of(r);
    run.searches.push_back(std::move(r));
    m_searches.push_back({{"source", source},
                          {"seconds", seconds},
                          {"bytes_sent", m_ranks.all_gather(report.bytes_sent)},
                          {"lists", report.lists},
                          {"bitmaps", report.bitmaps},
                          {"one_kernel", report.one_kernel}});
  }
  bfs_reach reach() const {
    bfs_reach sum;
    for (bfs_reach const& r :
         m_ranks.all_gather(reach_of(m_ranks.exec(), m_graph.local(), m_distance)))
      count_reached<graph_type>{}.join(sum, r);
    return sum;
  }
  std::string defect_of(bfs_result const& r) const {
    if (r.report.visited != r.reach.vertices || r.report.levels != r.reach.depth + 1)
      return "the report and the distances differ";
    if (!run.parameters.validate) return {};
    auto const defects =
        distributed::validate_bfs(m_ranks, m_graph, numbered(r.source), m_distance, m_parent);
    return defects.valid() ? "" : defects.to_string();
  }

  rank_communicator const& m_ranks;
  graph_type m_graph;
  distributed::vertex_permutation m_number;
  std::unique_ptr<distributed::bfs_workspace<space, graph_type>> m_workspace;
  array<std::int32_t> m_distance;
  array<std::uint32_t> m_parent;
  std::vector<std::uint64_t> m_edges_of_rank, m_hub_degrees;
  std::vector<json> m_searches;
};

}  // namespace search_measurement

template <class Offset>
searches_over_ranks measure_searches(rank_communicator const& ranks, bfs_parameters const& p,
                                     graph_source const& source, Kokkos::Timer& clock,
                                     progress* bar) {
  search_measurement::measurement<Offset> measurement(ranks, p);
  measurement(source, clock, bar);
  json of_ranks = measurement.ranks_json();
  return {std::move(measurement.run), std::move(of_ranks)};
}

}  // namespace karpos::perf
