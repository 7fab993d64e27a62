// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shortest paths over ranks, compared with Dijkstra's algorithm on the host: every distance, bit
/// by bit, and every parent.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "karpos/distributed/build_csr.hpp"
#include "karpos/distributed/sssp.hpp"
#include "support/memory_limit.hpp"
#include "support/paths_oracle.hpp"
#include "support/random_shapes.hpp"
#include "support/shapes.hpp"
#include "tests/distributed/edges_of_ranks.hpp"

namespace {
using namespace karpos_test;
using karpos::sssp_options;

constexpr double endless = std::numeric_limits<double>::infinity();

/// Returns begins of blocks of about equally many vertices.
numbers equal_begins(communicator const& ranks, std::uint64_t n) {
  numbers begins{0};
  auto const p = static_cast<std::uint64_t>(ranks.size());
  for (std::uint64_t r = 1; r < p; ++r) begins.push_back(n * r / p / 32 * 32);
  begins.push_back(n);
  return begins;
}

/// The rows of a rank, and their weights.
template <class Weight, class Vertex, class Offset>
struct weighted_rows {
  dist::csr_graph<Vertex, Offset, memory> graph;
  Kokkos::View<Weight*, memory> weights;

  weighted_rows(communicator const& ranks, host_graph const& g, std::vector<Weight> const& of_all,
                numbers const& begins) {
    auto const me = static_cast<std::size_t>(ranks.rank());
    std::uint64_t const first = g.out.offsets[begins[me]], last = g.out.offsets[begins[me + 1]];
    std::vector<Offset> offsets;
    for (std::uint64_t v = begins[me]; v <= begins[me + 1]; ++v)
      offsets.push_back(static_cast<Offset>(g.out.offsets[v] - first));
    std::vector<Vertex> columns;
    std::vector<Weight> own;
    for (std::uint64_t e = first; e < last; ++e) {
      columns.push_back(static_cast<Vertex>(g.out.columns[e]));
      own.push_back(of_all[e]);
    }
    graph = dist::csr_graph<Vertex, Offset, memory>(ranks, {to_view(offsets), to_view(columns)});
    if (g.kind == sides::undirected) graph = graph.undirected();
    if (g.kind == sides::with_transpose)
      graph = graph.with_transpose(dist::transpose(ranks, graph));
    weights = to_view(own);
  }
};

/// Returns those of the sources that this rank passes.
template <class Vertex>
Kokkos::View<Vertex*, memory> own_sources(communicator const& ranks, numbers const& sources) {
  std::vector<Vertex> own;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (i * 3 % static_cast<std::size_t>(ranks.size()) == static_cast<std::size_t>(ranks.rank()))
      own.push_back(static_cast<Vertex>(sources[i]));
  return to_view(own);
}

template <class Weight, class View>
void check_distances(std::vector<Weight> const& expected, View const& own, std::uint64_t first) {
  auto const got = to_vector(own);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] == expected[first + i] ? 0 : 1;
  CHECK(wrong == 0);
}

/// Enables the steps of GPUs on CPUs, as in conformance/sssp.cpp.
template <class State>
struct state_as_on_gpus : State {
  struct tuned : State::tuned {
    static constexpr bool balances_lanes = true;
  };
};
template <class Workspace>
void check_steps_of_gpus(communicator const& ranks, Workspace const& workspace,
                         karpos::detail::frontier::source_list const& sources,
                         sssp_options const& o, auto const& check_result) {
  using access = karpos::detail::sssp::workspace_access;
  auto const s = access::rank_state(workspace, o);
  state_as_on_gpus<std::remove_const_t<decltype(s)>> as_on_gpus;
  static_cast<std::remove_const_t<decltype(s)>&>(as_on_gpus) = s;
  karpos::detail::distributed::run_sssp(ranks, as_on_gpus, sources,
                                        access::grid(access::local(workspace)),
                                        access::exchange_memory(workspace));
  check_result(s);
}

enum class steps { of_the_space, also_of_gpus };

/// Checks searches of a graph. weight(random) draws the weight of an edge.
template <class Weight, class Vertex = id, class Offset = std::uint64_t,
          steps Steps = steps::of_the_space, class F>
void check(communicator const& ranks, host_graph const& g, std::vector<numbers> const& all_sources,
           F const& weight, std::vector<sssp_options> const& options, numbers begins = {}) {
  if (begins.empty()) begins = equal_begins(ranks, g.vertices);
  auto const weights = draw_weights<Weight>(g, weight, weights_of::each_direction);
  weighted_rows<Weight, Vertex, Offset> const rows(ranks, g, weights, begins);
  dist::sssp_workspace const workspace(ranks, rows.graph, rows.weights);
  std::uint64_t const n = rows.graph.local().vertices(), first = rows.graph.first();
  Kokkos::View<Weight*, memory> const distances("distances", n);
  Kokkos::View<Vertex*, memory> const parents("parents", n), none;
  for (numbers const& sources : all_sources) {
    auto const expected = dijkstra(g, weights, sources);
    auto const from = own_sources<Vertex>(ranks, sources);
    for (sssp_options const& o : options) {
      INFO(g.name, ", ", sources.size(), " sources on ", ranks.size(), " ranks, delta ", o.delta,
           ", hops ", o.fusion_hops);
      Kokkos::deep_copy(distances, Weight(77));  // shows what is not written
      dist::sssp(workspace, from, distances, none, o);
      check_distances(expected, distances, first);
      Kokkos::deep_copy(distances, Weight(77));
      Kokkos::deep_copy(parents, Vertex(0));
      if (sources.size() == 1)
        dist::sssp(workspace, static_cast<Vertex>(sources[0]), distances, parents, o);
      else
        dist::sssp(workspace, from, distances, parents, o);
      check_distances(expected, distances, first);
      std::vector<std::int64_t> all_parents;
      for (Vertex const v : gathered(ranks, to_vector(parents)))
        all_parents.push_back(v == static_cast<Vertex>(-1) ? -1 : static_cast<std::int64_t>(v));
      CHECK(wrong_parents(g, weights, sources, expected, all_parents) == 0);
      if constexpr (Steps == steps::also_of_gpus)
        if (ranks.size() > 1) {
          auto const all = to_view(std::vector<Vertex>(sources.begin(), sources.end()));
          check_steps_of_gpus(ranks, workspace, {all.data(), all.extent(0), 0}, o,
                              [&](auto const& s) {
                                Kokkos::View<Weight*, memory> const got(
                                    reinterpret_cast<Weight*>(s.distance + first), n);
                                check_distances(expected, got, first);
                              });
        }
    }
  }
}

std::vector<sssp_options> all_options() {
  std::vector<sssp_options> all{{}, {.driver = karpos::launch_mode::kernel_per_step}};
  for (double const delta : {1.0, 50.0, 1e30})
    for (std::uint32_t const hops : {0u, 1u, 1000u})
      all.push_back({.delta = delta, .reach = endless, .fusion_hops = hops});
  return all;
}

/// Checks a graph with the given ids and with shuffled ids, and several kinds of weights.
void check_shape(communicator const& ranks, std::string const& name, std::uint64_t n,
                 edge_pairs const& edges, std::vector<numbers> const& sources,
                 std::vector<sssp_options> const& options, numbers const& begins = {}) {
  for (sides const kind : {sides::undirected, sides::directed}) {
    auto const g = make_graph(name, n, edges, kind);
    check<std::uint32_t, id, std::uint64_t, steps::also_of_gpus>(ranks, g, sources, one_to_255,
                                                                 options, begins);
    check<std::uint32_t>(ranks, g, sources, often_zero, {{}, {.delta = 1, .fusion_hops = 0}},
                         begins);
    check<std::uint32_t>(ranks, g, sources, zero, {{}}, begins);
    check<std::uint32_t>(ranks, make_graph(name + ", shuffled", n, shuffled(edges, n, 3), kind),
                         sources, one_to_255, {{}}, begins);
  }
}

TEST_CASE("shortest paths over ranks: by hand") {
  auto const ranks = world();
  // 0 -2- 1 -2- 40 -0- 70, 0 -5- 40, 70 -1- 100; 3 is alone.
  std::uint64_t const n = 101;
  host_graph const g =
      make_graph("by hand", n, {{0, 1}, {1, 40}, {40, 70}, {0, 40}, {70, 100}}, sides::directed);
  std::vector<float> const weights{2, 5, 2, 0, 1};  // by source: 0 1, 0 40, 1 40, 40 70, 70 100
  weighted_rows<float, id, std::uint64_t> const rows(ranks, g, weights, equal_begins(ranks, n));
  std::uint64_t const own = rows.graph.local().vertices();
  Kokkos::View<float*, memory> const distances("distances", own);
  Kokkos::View<id*, memory> const parents("parents", own);
  auto const r = dist::sssp(ranks, rows.graph, rows.weights, id(0), distances, parents);
  auto const d = gathered(ranks, to_vector(distances));
  auto const p = gathered(ranks, to_vector(parents));
  CHECK(d[0] == 0);
  CHECK(d[1] == 2);
  CHECK(d[40] == 4);
  CHECK(d[70] == 4);
  CHECK(d[100] == 5);
  CHECK(std::isinf(d[3]));
  CHECK(p[0] == 0);
  CHECK(p[1] == 0);
  CHECK(p[40] == 1);
  CHECK(p[70] == 40);
  CHECK(p[100] == 70);
  CHECK(p[3] == id(-1));
  CHECK(r.edges >= 5);
  CHECK(r.passes == 0);
  CHECK((r.exchanges > 0) == (ranks.size() > 1));
}

TEST_CASE("shortest paths over ranks: small graphs") {
  auto const ranks = world();
  auto const options = all_options();
  check<std::uint32_t>(ranks, make_graph("nothing", 0, {}), {{}}, one_to_255, options);
  check_shape(ranks, "one with a self loop", 1, {{0, 0}}, {{0}, {}, {0, 0}}, options);
  check_shape(ranks, "two parts", 7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}, {{0}, {0, 5, 6}},
              options);
  check_shape(ranks, "isolated vertices", 300, {{299, 0}}, {{0}, {7, 299, 150}}, options);
}

TEST_CASE("shortest paths over ranks: paths that cross the ranks again and again") {
  auto const ranks = world();
  std::uint64_t const n = 1000;
  std::vector<numbers> const sources{{0}, {n / 2, 7, n / 2}};
  std::vector<sssp_options> const options{{}, {.fusion_hops = 0}, {.delta = 1e9, .fusion_hops = 5}};
  check_shape(ranks, "path", n, path_edges(n), sources, options);
  check_shape(ranks, "comb", n, comb_edges(n), sources, options);
  check_shape(ranks, "ladder", n, ladder_edges(n), sources, options);
  check_shape(ranks, "star", n, star_edges(n), sources, options);
  check_shape(ranks, "grid", 32 * 32, grid_edges(32), sources, options);
  edge_pairs hops;  // every edge leads to another rank
  auto const p = static_cast<std::uint64_t>(ranks.size());
  for (std::uint64_t i = 1; i < 32 * p; ++i)
    hops.emplace_back((i - 1) % p * 32 + (i - 1) / p, i % p * 32 + i / p);
  numbers begins;
  for (std::uint64_t r = 0; r <= p; ++r) begins.push_back(32 * r);
  check_shape(ranks, "to and fro", 32 * p, hops, {{0}, {32 * p - 1}}, options, begins);
}

TEST_CASE("shortest paths over ranks: ranks without vertices, and blocks of unequal sizes") {
  auto const ranks = world();
  auto const g = hubs(sides::undirected);
  auto const p = static_cast<std::size_t>(ranks.size());
  numbers all_on_first(p + 1, g.vertices), all_on_last(p + 1, 0), unequal(p + 1, g.vertices);
  all_on_first[0] = unequal[0] = 0;
  all_on_last[p] = g.vertices;
  for (std::size_t r = 1; r < p; ++r) unequal[r] = r % 2 == 0 ? 64 * r : 64 * (r + 1);
  for (numbers const& begins : {all_on_first, all_on_last, unequal})
    check<std::uint32_t>(ranks, g, {{17}, {2999, 5}}, one_to_255, {{}, {.fusion_hops = 0}}, begins);
}

TEST_CASE("shortest paths over ranks: hubs, with every option") {
  auto const ranks = world();
  for (sides const kind : {sides::undirected, sides::directed}) {
    auto const g = hubs(kind);
    check<std::uint32_t, id, std::uint64_t, steps::also_of_gpus>(
        ranks, g, {{0}, {g.some_leaf(), 2999, 17}}, one_to_255, all_options());
    check<std::uint32_t>(ranks, g, {{5}}, often_zero, {{}, {.delta = 1, .fusion_hops = 0}});
  }
}

TEST_CASE("shortest paths over ranks: random shapes") {
  auto const ranks = world();
  random_numbers random(11);
  for (std::uint64_t shape = 0; shape < random_shapes; ++shape) {
    auto const drawn = draw_shape(shape, 1500, random);
    sides const kinds[] = {sides::undirected, sides::directed, sides::with_transpose};
    auto const kind = kinds[shape % 3];
    auto const g = make_graph(drawn.name, drawn.vertices, drawn.edges, kind);
    numbers begins{0};
    for (int r = 1; r < ranks.size(); ++r) begins.push_back(random.below(g.vertices / 32 + 1) * 32);
    std::sort(begins.begin(), begins.end());
    begins.push_back(g.vertices);
    check<std::uint32_t, id, std::uint64_t, steps::also_of_gpus>(
        ranks, g,
        {{random.below(g.vertices)}, {random.below(g.vertices), random.below(g.vertices)}},
        one_to_255, {{}, {.delta = 20, .fusion_hops = 0}, {.delta = 1e9}}, begins);
  }
}

TEST_CASE(
    "shortest paths over ranks: weights of other types, infinite ones and those over decades") {
  auto const ranks = world();
  auto const g = hubs(sides::undirected);
  auto const path = make_graph("path", 500, path_edges(500));
  auto const real = [](random_numbers& random) {
    return random.below(20) == 0 ? endless : static_cast<double>(random.below(1000000)) / 3e6;
  };
  auto const decades = [](random_numbers& random) {
    return std::pow(10.0, static_cast<double>(random.below(30)) - 15);
  };
  for (auto const* graph : {&g, &path}) {
    check<float>(ranks, *graph, {{0}, {3, 400}}, real, {{}, {.delta = 0.01}, {.delta = 1e300}});
    check<float>(ranks, *graph, {{0}}, decades, {{}});
    check<float>(ranks, *graph, {{0}},
                 [](random_numbers& random) { return random.below(3) == 0 ? -0.0 : 1.5; }, {{}});
    check<double, std::uint64_t, std::uint32_t>(ranks, *graph, {{0}}, real, {{}, {.delta = 0.01}});
    check<std::int64_t, std::int32_t, std::uint64_t>(
        ranks, *graph, {{0}},
        [](random_numbers& random) { return random.below(std::uint64_t(1) << 40); },
        {{}, {.delta = 1e10}});
  }
}

TEST_CASE("shortest paths over ranks: the width of a bucket is that of one device") {
  auto const ranks = world();
  auto const g = hubs(sides::directed);
  auto const weights = draw_weights<float>(g, one_to_255, weights_of::each_direction);
  auto const begins = equal_begins(ranks, g.vertices);
  weighted_rows<float, id, std::uint64_t> const rows(ranks, g, weights, begins);
  dist::sssp_workspace const workspace(ranks, rows.graph, rows.weights);
  karpos::csr_graph<id, std::uint64_t, memory> const whole(
      to_view(g.out.offsets), to_view(std::vector<id>(g.out.columns.begin(), g.out.columns.end())));
  karpos::sssp_workspace const alone(space{}, whole, to_view(weights));
  CHECK(workspace.delta() == doctest::Approx(alone.delta()));
}

TEST_CASE("shortest paths over ranks: distances that do not fit the type") {
  auto const ranks = world();
  std::uint64_t const n = 640;
  auto const g = make_graph("long path", n, path_edges(n), sides::directed);
  std::vector<std::uint32_t> weights(g.out.columns.size(), 10000000);
  weighted_rows<std::uint32_t, id, std::uint64_t> const rows(ranks, g, weights,
                                                             equal_begins(ranks, n));
  Kokkos::View<std::uint32_t*, memory> const distances("distances", rows.graph.local().vertices());
  CHECK_THROWS_WITH_AS(dist::sssp(ranks, rows.graph, rows.weights, id(0), distances),
                       doctest::Contains("a distance does not fit the type of the weights"),
                       dist::collective_error);
  dist::sssp(ranks, rows.graph, rows.weights, id(300), distances);
  check_distances(dijkstra(g, weights, {300}), distances, rows.graph.first());
  // An edge leads beyond the range, but its end is near by another way, which another rank knows.
  edge_pairs edges{{0, 1}, {1, n - 1}, {0, 320}, {320, n - 1}};
  auto const two_ways = make_graph("two ways", n, edges, sides::directed);
  weights = {4000000000u, 1, 4000000000u, 1};  // 0 1, 0 320, 1 n-1, 320 n-1
  weighted_rows<std::uint32_t, id, std::uint64_t> const ways(ranks, two_ways, weights,
                                                             equal_begins(ranks, n));
  dist::sssp(ranks, ways.graph, ways.weights, id(0), distances);
  check_distances(dijkstra(two_ways, weights, {0}), distances, ways.graph.first());
}

TEST_CASE("shortest paths over ranks: weights that have become negative since") {
  auto const ranks = world();
  std::uint64_t const n = 70;
  auto const g = make_graph("path", n, path_edges(n));
  auto const begins = equal_begins(ranks, n);
  std::vector<double> const positive(g.out.columns.size(), 1000);
  weighted_rows<double, std::uint64_t, std::uint32_t> const rows(ranks, g, positive, begins);
  dist::sssp_workspace const workspace(ranks, rows.graph, rows.weights);
  Kokkos::View<double*, memory> const distances("distances", rows.graph.local().vertices());
  // Distances become shorter for ever: on a rank by itself, or by two ranks in turns.
  for (std::uint64_t const at : {5, 31}) {
    auto weights = positive;
    for (std::uint64_t u = 0; u < n; ++u)
      for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e)
        if (std::min(u, g.out.columns[e]) == at) weights[e] = -1e-9;
    Kokkos::deep_copy(
        rows.weights,
        weighted_rows<double, std::uint64_t, std::uint32_t>(ranks, g, weights, begins).weights);
    for (std::uint32_t const hops : {0u, 32u}) {
      // Bucket fusion of GPUs follows no edge back at once, so that these searches end.
      if (karpos::device::is_device<space> && hops > 0) continue;
      CHECK_THROWS_WITH_AS(
          dist::sssp(workspace, std::uint64_t(0), distances, {}, {.fusion_hops = hops}),
          doctest::Contains("the search was stopped"), dist::collective_error);
    }
  }
  Kokkos::deep_copy(rows.weights, 1000);
  dist::sssp(workspace, std::uint64_t(0), distances);
  check_distances(dijkstra(g, positive, {0}), distances, rows.graph.first());
}

TEST_CASE("shortest paths over ranks: a rank without memory for rows") {
  auto const ranks = world();
  if (!can_exhaust_memory() || ranks.size() == 1) return;
  std::uint64_t const n = 400000;
  auto const g = make_graph("star", n, star_edges(n), sides::directed);
  std::vector<float> const weights(g.out.columns.size(), 1);
  weighted_rows<float, id, std::uint64_t> const rows(ranks, g, weights, equal_begins(ranks, n));
  dist::sssp_workspace const workspace(ranks, rows.graph, rows.weights);
  Kokkos::View<float*, memory> const distances("distances", rows.graph.local().vertices());
  for (int i = 0; i < 2; ++i) {
    std::optional<no_memory> none;
    if (ranks.rank() == ranks.size() - 1) none.emplace(std::size_t(1) << 17);
    CHECK_THROWS_WITH_AS(dist::sssp(workspace, id(0), distances),
                         doctest::Contains("out of memory"), dist::collective_error);
  }
  dist::sssp(workspace, id(0), distances);
  check_distances(dijkstra(g, weights, {0}), distances, rows.graph.first());
}

TEST_CASE("shortest paths over ranks: what is refused, on all ranks") {
  auto const ranks = world();
  std::uint64_t const n = 320;
  auto const g = make_graph("path", n, path_edges(n));
  std::vector<float> weights(g.out.columns.size(), 1);
  auto const begins = equal_begins(ranks, n);
  weighted_rows<float, id, std::uint64_t> const rows(ranks, g, weights, begins);
  std::uint64_t const own = rows.graph.local().vertices();
  bool const last = ranks.rank() == ranks.size() - 1, several = ranks.size() > 1;
  Kokkos::View<float*, memory> const distances("distances", own), more("more", own + 1);
  Kokkos::View<id*, memory> const parents("parents", own), none;
  auto const refused = [&](std::string const& message, auto const& call) {
    INFO(message);
    CHECK_THROWS_WITH_AS(call(), doctest::Contains(message.c_str()), dist::collective_error);
    CHECK_THROWS_WITH_AS(call(), doctest::Contains("karpos::distributed::sssp"),
                         dist::collective_error);
  };
  dist::sssp_workspace const workspace(ranks, rows.graph, rows.weights);
  refused("distances and vertices of this rank differ in extent",
          [&] { dist::sssp(workspace, id(0), last ? more : distances); });
  refused("1 of the sources of a search are no vertices",
          [&] { dist::sssp(workspace, id(n), distances); });
  refused("1 of the sources of a search are no vertices", [&] {
    dist::sssp(workspace, to_view(last ? std::vector<id>{id(n), 0} : std::vector<id>{}), distances);
  });
  refused("overlaps another view", [&] {  // sources are zeros
    dist::sssp(workspace, last ? parents : to_view(std::vector<id>{0}), distances, parents);
  });
  refused("delta -1", [&] { dist::sssp(workspace, id(0), distances, {}, {.delta = -1}); });
  refused("there is no such launch mode",
          [&] { dist::sssp(workspace, id(0), distances, {}, {.driver = karpos::launch_mode(9)}); });
  refused("reach -1", [&] { dist::sssp(workspace, id(0), distances, {}, {.reach = -1}); });
  if (several) {
    refused("the source is not the same on all ranks",
            [&] { dist::sssp(workspace, id(last ? 1 : 0), distances); });
    refused("delta of a search is not the same on all ranks",
            [&] { dist::sssp(workspace, id(0), distances, {}, {.delta = last ? 2.0 : 1.0}); });
    refused("some ranks ask for parents",
            [&] { dist::sssp(workspace, id(0), distances, last ? none : parents); });
    refused("a reach is not for several ranks",
            [&] { dist::sssp(workspace, id(0), distances, {}, {.reach = 3}); });
    refused("launch_mode::persistent_kernel is not for several ranks", [&] {
      dist::sssp(workspace, id(0), distances, {},
                 {.driver = karpos::launch_mode::persistent_kernel});
    });
  }
  refused("weights and edges differ in extent", [&] {
    dist::sssp(
        ranks, rows.graph,
        last ? Kokkos::View<float*, memory>("weights", rows.weights.extent(0) + 1) : rows.weights,
        id(0), distances);
  });
  auto const large = too_large_graph(ranks);
  Kokkos::View<float*, memory> const none_of_edges;
  refused(too_large, [&] { dist::sssp_workspace(ranks, large, none_of_edges); });
  if (last) Kokkos::deep_copy(rows.weights, -2);
  refused("weights are refused", [&] { dist::sssp_workspace(ranks, rows.graph, rows.weights); });
  Kokkos::deep_copy(rows.weights, 1);
  dist::sssp(workspace, id(0), distances);
  auto const after = gathered(ranks, to_vector(distances));
  CHECK(after[n - 1] == static_cast<float>(n - 1));
}

}  // namespace
