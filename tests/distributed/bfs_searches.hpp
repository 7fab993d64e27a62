// SPDX-License-Identifier: Apache-2.0
/// \file
/// Searches over ranks, each compared with the sequential search of the whole graph.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "karpos/build_csr.hpp"
#include "karpos/distributed/bfs.hpp"
#include "karpos/distributed/build_csr.hpp"
#include "karpos/distributed/validate_bfs.hpp"
#include "support/bfs_subject.hpp"
#include "support/host_graph.hpp"
#include "tests/distributed/edges_of_ranks.hpp"
#include "tests/distributed/ranks.hpp"

namespace karpos_test {

inline edge_list all_of(edge_pairs const& edges) {
  edge_list all;
  for (auto const& [u, v] : edges) {
    all.sources.push_back(id(u));
    all.targets.push_back(id(v));
  }
  return all;
}

/// Checks that the rows of this rank equal those of the graph on one device.
template <class Graph, class Whole>
void check_rows(Graph const& graph, Whole const& whole) {
  CHECK(graph.vertices() == whole.vertices());
  CHECK(graph.edges() == whole.edges());
  auto const offsets = to_vector(whole.row_offsets()),
             mine = to_vector(graph.local().row_offsets());
  auto const columns = to_vector(whole.column_indices());
  auto const own = to_vector(graph.local().column_indices());
  std::uint64_t const first = graph.first(), n = graph.local().vertices();
  REQUIRE(mine.size() == n + 1);
  bool equal = true;
  for (std::uint64_t v = 0; v <= n; ++v)
    equal = equal && mine[v] == offsets[first + v] - offsets[first];
  CHECK(equal);
  CHECK(std::equal(own.begin(), own.end(), columns.begin() + std::ptrdiff_t(offsets[first]),
                   columns.begin() + std::ptrdiff_t(offsets[first + n])));
}

inline host_graph host_of(std::uint64_t n, auto const& whole, sides kind = sides::undirected) {
  host_graph g;
  g.vertices = n;
  g.kind = kind;
  for (auto const o : to_vector(whole.row_offsets())) g.out.offsets.push_back(o);
  for (auto const c : to_vector(whole.column_indices())) g.out.columns.push_back(c);
  return g;
}

inline karpos::bfs_options options_of(karpos::bfs_direction d) {
  karpos::bfs_options o;
  o.direction = d;
  return o;
}

template <class Graph>
struct searched {
  communicator const& ranks;
  Graph const& graph;
  host_graph const& host;
  dist::bfs_workspace<space, Graph> workspace;

  searched(communicator const& r, Graph const& g, host_graph const& h)
      : ranks(r),
        graph(g),
        host(h),
        workspace(r, g) {}

  /// Compares a search with the sequential one. `source`: what this rank passes; `sources`: those
  /// of all ranks.
  template <class Source>
  void check(Source const& source, numbers const& sources, karpos::bfs_options const& o) const {
    auto const expected = serial_bfs(host, sources);
    std::string const what = host.name + " on " + std::to_string(ranks.size()) + " ranks, " +
                             print(sources) + ", " + print(o);
    std::uint64_t const n = graph.local().vertices();
    Kokkos::View<std::int32_t*, memory> const distances("distances", n);
    Kokkos::View<id*, memory> const parents("parents", n);
    Kokkos::deep_copy(distances, 77);  // shows what a search does not write
    auto const report = dist::bfs(workspace, source, distances, parents, o);
    bfs_answer answer{to_vector(graph.gather(ranks, distances)), {}, report, {}};
    for (id const p : to_vector(graph.gather(ranks, parents)))
      answer.parent.push_back(p == ~id(0) ? -1 : std::int64_t(p));
    answer.defects = dist::validate_bfs(ranks, graph, source, distances, parents);
    check_answer(what, host, sources, o, expected, answer);
    if (ranks.size() == 1) CHECK(report.lists + report.bitmaps == 0);
    std::uint64_t hubs = 0;
    for (std::uint64_t v = graph.first(); v < graph.first() + n; ++v)
      hubs += host.degree(v) > report.hub_degree ? 1 : 0;
    CHECK(ranks.all_reduce(hubs) == report.hubs);
    if (o.driver == karpos::launch_mode::automatic)
      CHECK(report.one_kernel ==
            (karpos::device::spans_devices<space> && ranks.has_device_of_its_own()));
    if (report.one_kernel) {  // one kernel ran; repeats with one kernel for each step
      auto launched = o;
      launched.driver = karpos::launch_mode::kernel_per_step;
      check(source, sources, launched);
    }
    if (o.direction != karpos::bfs_direction::top_down) return;
    dist::bfs(workspace, source, distances, Kokkos::View<id*, memory>{}, o);  // without parents
    holds(what + ", without parents", to_vector(graph.gather(ranks, distances)) == expected);
    CHECK(dist::validate_bfs(ranks, graph, source, distances).valid());
  }
};

}  // namespace karpos_test
