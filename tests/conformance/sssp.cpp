// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shortest paths compared with Dijkstra's algorithm on the host: every distance, bit by bit, and
/// every parent.
#include <doctest/doctest.h>

#include <cmath>
#include <karpos/sssp.hpp>
#include <limits>

#include "support/bfs_subject.hpp"
#include "support/invalid_graphs.hpp"
#include "support/memory_limit.hpp"
#include "support/paths_oracle.hpp"
#include "support/shapes.hpp"

namespace {

using karpos::sssp_options;
using karpos_test::dijkstra;
using karpos_test::draw_weights;
using karpos_test::edge_pairs;
using karpos_test::grid_edges;
using karpos_test::host_graph;
using karpos_test::hubs;
using karpos_test::infinity;
using karpos_test::make_graph;
using karpos_test::often_zero;
using karpos_test::one_to_255;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::sides;
using karpos_test::space;
using karpos_test::view;
using karpos_test::weights_of;
using karpos_test::wrong_parents;
using karpos_test::zero;
using numbers = std::vector<std::uint64_t>;

constexpr double endless = std::numeric_limits<double>::infinity();

/// Returns options: wide and narrow buckets, with and without bucket fusion (`fusion_hops`) and a
/// reach, with every driver.
std::vector<sssp_options> all_sssp_options() {
  std::vector<karpos::launch_mode> drivers{karpos::launch_mode::kernel_per_step};
  if (karpos::device::has_grid_barrier<space>)
    drivers.push_back(karpos::launch_mode::persistent_kernel);
  std::vector<sssp_options> all{{}};
  for (auto const driver : drivers)
    for (double const delta : {1.0, 50.0, 1e30})
      for (std::uint32_t const hops : {0u, 1u, 5u, 1000u})
        for (double const reach : {endless, 3.0})
          all.push_back({.delta = delta, .reach = reach, .fusion_hops = hops, .driver = driver});
  return all;
}

/// Returns the first finite reach among the options.
double reach_among(std::vector<sssp_options> const& options) {
  for (sssp_options const& o : options)
    if (o.reach > 0 && o.reach < endless) return o.reach;
  return 3;
}

/// Checks searches of a graph. weight(random) draws the weight of an edge.
template <class Weight, class Vertex = std::uint32_t, class Offset = std::uint64_t, class F>
void check(host_graph const& g, std::vector<numbers> const& all_sources, F const& weight,
           std::vector<sssp_options> const& options, weights_of way) {
  auto const weights = draw_weights<Weight>(g, weight, way);
  auto const graph = karpos_test::to_space<Vertex, Offset>(g);
  karpos::sssp_workspace const workspace(space(), graph, karpos_test::to_space(weights));
  auto by_weight = workspace;
  bool const is_sorted = by_weight.sort_rows(space(), reach_among(options));
  if (way == weights_of::each_pair) CHECK(is_sorted == !g.out.columns.empty());
  view<Weight> const distance("distance", g.vertices);
  view<Vertex> const parent("parent", g.vertices), none;
  for (numbers const& sources : all_sources) {
    auto const expected = dijkstra(g, weights, sources);
    auto const from = karpos_test::to_space(std::vector<Vertex>(sources.begin(), sources.end()));
    auto const search = [&](auto const& searched, sssp_options const& o, std::string const& what,
                            std::initializer_list<bool> ways) {
      for (bool const with_parents : ways) {
        Kokkos::deep_copy(distance, Weight(77));  // shows what is not written
        Kokkos::deep_copy(parent, Vertex(0));
        karpos::sssp(space(), searched, from, distance, with_parents ? parent : none, o);
        same(what + ": wrong distances",
             static_cast<std::uint64_t>(karpos_test::to_host(distance) != expected), 0);
      }
      std::vector<std::int64_t> parents;
      for (Vertex const v : karpos_test::to_host(parent))
        parents.push_back(v == static_cast<Vertex>(-1) ? -1 : static_cast<std::int64_t>(v));
      same(what + ": wrong parents", wrong_parents(g, weights, sources, expected, parents), 0);
    };
    for (sssp_options const& o : options) {
      std::string const what = g.name + ", " + std::to_string(sources.size()) + " sources, delta " +
                               std::to_string(o.delta) + ", reach " + std::to_string(o.reach) +
                               ", hops " + std::to_string(o.fusion_hops);
      search(workspace, o, what, {false, true});
      if (is_sorted) search(by_weight, o, what + ", rows in order of weight", {true});
    }
  }
}

template <class Weight, class Vertex = std::uint32_t, class Offset = std::uint64_t, class F>
void check(host_graph const& g, std::vector<numbers> const& sources, F const& weight,
           std::vector<sssp_options> const& options) {
  check<Weight, Vertex, Offset>(g, sources, weight, options, weights_of::each_direction);
  if (g.kind == sides::undirected)
    check<Weight, Vertex, Offset>(g, sources, weight, options, weights_of::each_pair);
}

/// Checks a graph with the given ids and with shuffled ids, and several kinds of weights.
void check_shape(std::string const& name, std::uint64_t vertices, edge_pairs const& edges,
                 std::vector<numbers> const& sources, std::vector<sssp_options> const& options) {
  for (sides const kind : {sides::undirected, sides::directed}) {
    auto const g = make_graph(name, vertices, edges, kind);
    check<std::uint32_t>(g, sources, one_to_255, options);
    check<std::uint32_t>(g, sources, often_zero,
                         {{}, {.delta = 1}, {.reach = 1, .fusion_hops = 0}});
    check<std::uint32_t>(g, sources, zero, {{}, {.reach = 1, .fusion_hops = 0}});
    check<std::uint32_t>(
        make_graph(name + ", shuffled", vertices, karpos_test::shuffled(edges, vertices, 3), kind),
        sources, one_to_255, {{}});
  }
}

/// Enables the steps of GPUs on CPUs: lanes share the edges of their rows, and bucket fusion sets
/// the distance of a vertex when it is popped from a queue.
template <class State>
struct state_as_on_gpus : State {
  struct tuned : State::tuned {
    static constexpr bool balances_lanes = true;
  };
};

template <class ExecSpace>
void check_steps_of_gpus(ExecSpace const& exec, host_graph const& g, numbers const& sources,
                         std::vector<sssp_options> const& options) {
  using access = karpos::detail::sssp::workspace_access;
  using Weight = std::uint32_t;
  for (weights_of const way : {weights_of::each_direction, weights_of::each_pair}) {
    auto const weights = draw_weights<Weight>(g, one_to_255, way);
    auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
    karpos::sssp_workspace const workspace(exec, graph, karpos_test::to_space(weights));
    view<Weight> const distance("distance", g.vertices);
    auto const from =
        karpos_test::to_space(std::vector<std::uint32_t>(sources.begin(), sources.end()));
    for (sssp_options const& o : options) {
      auto const s = access::state(exec, workspace, static_cast<Weight>(o.delta), o);
      state_as_on_gpus<std::remove_const_t<decltype(s)>> as_on_gpus;
      static_cast<std::remove_const_t<decltype(s)>&>(as_on_gpus) = s;
      as_on_gpus.distance = distance.data();
      Kokkos::deep_copy(distance, 77);
      auto const r = access::run(exec, workspace, as_on_gpus, {from.data(), from.extent(0), 0}, o);
      same(g.name + ", delta " + std::to_string(o.delta) + ", bucket fusion: ", r.fused_rounds > 0,
           true);
      same(g.name + ", hops " + std::to_string(o.fusion_hops) + ": wrong distances",
           karpos_test::to_host(distance) != dijkstra(g, weights, sources), false);
    }
  }
}

}  // namespace

TEST_CASE("shortest paths in small graphs") {
  auto const options = all_sssp_options();
  check<std::uint32_t>(make_graph("nothing", 0, {}), {{}}, one_to_255, options);
  check_shape("one", 1, {}, {{}, {0}, {0, 0, 0}}, options);
  check_shape("one with a self loop", 1, {{0, 0}}, {{0}}, options);
  check_shape("pair", 2, {{0, 1}}, {{0}, {1}, {0, 1}, {1, 1, 0}}, options);
  check_shape("edges thrice, and a loop", 3, {{0, 2}, {0, 2}, {1, 1}, {2, 0}, {0, 2}}, {{0}, {1}},
              options);
  check_shape("diamond", 4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, {{0}, {3, 1}}, options);
  check_shape("two parts", 7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}, {{0}, {0, 5, 6}}, options);
}

TEST_CASE("shortest paths along paths, combs, ladders and stars") {
  std::uint64_t const n = 2000;
  std::vector<numbers> const sources{{0}, {n / 2, 7, n / 2}};
  std::vector<sssp_options> const options{{},
                                          {.fusion_hops = 0},
                                          {.reach = 10, .fusion_hops = 0},
                                          {.delta = 300, .reach = 2000, .fusion_hops = 0},
                                          {.delta = 3000},
                                          {.delta = 1e9, .fusion_hops = 100}};
  check_shape("path", n, karpos_test::path_edges(n), sources, options);
  check_shape("comb", n, karpos_test::comb_edges(n), sources, options);
  check_shape("ladder", n, karpos_test::ladder_edges(n), sources, options);
  check_shape("star", n, karpos_test::star_edges(n), sources, options);
  edge_pairs hub_at_the_end = karpos_test::path_edges(n / 2);
  for (std::uint64_t v = n / 2; v < n; ++v) hub_at_the_end.emplace_back(n / 2 - 1, v);
  check_shape("path with a hub at its end", n, hub_at_the_end, sources, options);
}

TEST_CASE("shortest paths among hubs, with every option") {
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    auto const g = hubs(kind);
    check<std::uint32_t>(g, {{0}, {g.some_leaf(), 2999, 17}}, one_to_255, all_sssp_options());
    check<std::uint32_t>(g, {{5}}, often_zero, all_sssp_options());
  }
}

TEST_CASE("a vertex that the whole grid expands") {
  edge_pairs edges = karpos_test::star_edges(70001);
  for (std::uint64_t v = 1; v + 1 < 70001; v += 3) edges.emplace_back(v, v + 1);
  check<std::uint32_t>(
      make_graph("star with a rim", 70001, edges), {{0}, {70000}}, one_to_255,
      {{}, {.delta = 10}, {.delta = 10, .reach = 20}, {.reach = 1, .fusion_hops = 0}});
}

TEST_CASE("far vertices that pull their distances, beside isolated ones") {
  // A hub in every degree class, near and far, rows of every length, and ids without edges before,
  // between and after the others.
  edge_pairs edges;
  random_numbers random(7);
  std::uint64_t const n = 80000;
  for (std::uint64_t v = 200; v < n - 5000; ++v) {
    if (v % 3 == 0) continue;  // isolated
    edges.emplace_back(100, v);
    if (v % 2 == 0) edges.emplace_back(v, 200 + random.below(20) * 3 + 1);
    if (v < 12000) edges.emplace_back(101, v);
    if (v < 900) edges.emplace_back(102, v);
  }
  for (std::uint64_t k = 0; k < 50; ++k) edges.emplace_back(n - 1, n - 60 + k);  // unreachable
  auto const g = make_graph("hubs and isolated vertices", n, edges);
  check<std::uint32_t>(g, {{100}, {n - 5002, 102}, {n - 1}}, one_to_255,
                       {{},
                        {.delta = 4, .reach = 8},
                        {.delta = 50, .reach = 100},
                        {.delta = 4, .reach = 1, .fusion_hops = 0}});
  check<float>(g, {{201}}, one_to_255, {{.delta = 4, .reach = 0.5}, {.reach = 30}});
}

TEST_CASE("chains behind a hub, which would take a pass for each of their vertices") {
  edge_pairs edges = karpos_test::star_edges(4000);
  for (std::uint64_t v = 1000; v < 3000; ++v)
    if (v % 200 != 0) edges.emplace_back(v, v + 1);
  for (std::uint64_t v = 4000; v < 4060; ++v) edges.emplace_back(v - 1, v);
  check<std::uint32_t>(make_graph("chains behind a hub", 4060, edges), {{0}, {4059}}, one_to_255,
                       {{.delta = 50, .reach = 8}, {.delta = 300, .reach = 2, .fusion_hops = 0}});
}

TEST_CASE("a reach is used if weights are the same in both directions, and only then") {
  auto const g = hubs(sides::undirected);
  auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
  view<std::uint32_t> const distance("distance", g.vertices);
  auto const passes = [&](std::vector<std::uint32_t> const& weights, double reach) {
    return karpos::sssp(space(), graph, karpos_test::to_space(weights), 17u, distance, {},
                        {.delta = 4, .reach = reach, .fusion_hops = 0})
        .passes;
  };
  auto weights = draw_weights<std::uint32_t>(g, one_to_255, weights_of::each_pair);
  CHECK(passes(weights, 8) > 0);
  CHECK(passes(weights, endless) == 0);
  ++weights[weights.size() / 2];
  CHECK(passes(weights, 8) == 0);
}

TEST_CASE("rows are sorted by weight if there is a reach, once") {
  auto const sorted = [](host_graph const& g, std::vector<std::uint32_t> const& weights,
                         double reach) {
    karpos::sssp_workspace workspace(space(),
                                     karpos_test::to_space<std::uint32_t, std::uint64_t>(g),
                                     karpos_test::to_space(weights));
    std::size_t const before = workspace.bytes();
    bool const done = workspace.sort_rows(space(), reach);
    CHECK(workspace.sort_rows(space(), reach) == done);
    std::size_t const added = g.out.columns.size() * 8 + g.vertices * 16;
    CHECK(workspace.bytes() == before + (done ? added : 0));
    return done;
  };
  auto const g = hubs(sides::undirected);
  auto weights = draw_weights<std::uint32_t>(g, one_to_255, weights_of::each_pair);
  CHECK(sorted(g, weights, 8));
  CHECK(!sorted(g, weights, 0));  // five edges per vertex: no default reach
  CHECK(!sorted(g, weights, endless));
  ++weights[weights.size() / 2];
  CHECK(!sorted(g, weights, 8));
  auto const one_way = hubs(sides::directed);
  CHECK(!sorted(one_way, std::vector<std::uint32_t>(one_way.out.columns.size(), 1), 8));
}

TEST_CASE("rows of which few edges are light") {
  // By all edges, all vertices are in one degree class; by light edges alone, the first part is in
  // another class than the others.
  std::uint64_t const n = 2400, dense = 400;
  edge_pairs edges;
  for (std::uint64_t v = dense; v < n; ++v)
    for (std::uint64_t k = 0; k < 25; ++k) edges.emplace_back(v, dense + (v + k * k) % (n - dense));
  for (std::uint64_t v = 0; v < dense; ++v)
    for (std::uint64_t k = 1; k <= 180; ++k) edges.emplace_back(v, (v + k) % dense);
  for (std::uint64_t v = 0; v < dense; v += 40) edges.emplace_back(v, n - 1 - v);
  auto const often_heavy = [](random_numbers& random) {
    return random.below(5) == 0 ? 1 + random.below(8) : 200 + random.below(50);
  };
  check<std::uint32_t>(make_graph("mostly heavy", n, edges), {{0}, {1500, 7}}, often_heavy,
                       {{.delta = 4, .reach = 8, .fusion_hops = 0}, {.delta = 300}, {.delta = 1}});
}

TEST_CASE("rows that are not sorted for lack of memory") {
  if (!karpos_test::can_exhaust_memory()) return;
  auto const g = make_graph("star", 200001, karpos_test::star_edges(200001));
  auto const weights = draw_weights<std::uint32_t>(g, one_to_255, weights_of::each_pair);
  karpos::sssp_workspace workspace(space(), karpos_test::to_space<std::uint32_t, std::uint64_t>(g),
                                   karpos_test::to_space(weights));
  std::size_t const before = workspace.bytes();
  {
    karpos_test::no_memory const none(1 << 19);
    CHECK_THROWS_AS(workspace.sort_rows(space(), 8), karpos::allocation_error);
  }
  CHECK(workspace.bytes() == before);
  view<std::uint32_t> const distance("distance", g.vertices);
  karpos::sssp(space(), workspace, 5u, distance);
  CHECK(karpos_test::to_host(distance) == dijkstra(g, weights, {5}));
}

TEST_CASE("a reach that is refused") {
  auto const g = hubs(sides::undirected);
  auto const weights = draw_weights<std::uint32_t>(g, one_to_255, weights_of::each_pair);
  karpos::sssp_workspace workspace(space(), karpos_test::to_space<std::uint32_t, std::uint64_t>(g),
                                   karpos_test::to_space(weights));
  karpos_test::throws<std::invalid_argument>([&] { workspace.sort_rows(space(), -1); },
                                             "karpos::sssp_workspace::sort_rows", "reach -1");
  CHECK_THROWS_AS(workspace.sort_rows(space(), std::nan("")), std::invalid_argument);
}

TEST_CASE("more vertices than the queues of a team hold") {
  // One source leads to many short paths, so the queues of a team overflow.
  std::uint64_t const paths = 30000;
  edge_pairs edges;
  for (std::uint64_t i = 1; i <= paths; ++i) {
    edges.emplace_back((i - 1) / 6, i);  // a tree of degree six: no long row
    edges.emplace_back(i, paths + i);
  }
  for (sides const kind : {sides::undirected, sides::directed})
    check<std::uint32_t>(
        make_graph("tree", 2 * paths + 1, edges, kind), {{0}}, one_to_255,
        {{}, {.delta = 1e9, .fusion_hops = 1000}, {.delta = 1e9, .fusion_hops = 3}});
}

TEST_CASE("weights of other types") {
  auto const g = hubs(sides::undirected);
  auto const path = make_graph("path", 500, karpos_test::path_edges(500));
  auto const real = [](random_numbers& random) {
    return static_cast<double>(random.below(1000000)) / 3e6;
  };
  std::vector<sssp_options> const options{
      {}, {.delta = 0.01}, {.delta = 0.01, .reach = 0.02}, {.delta = 1e300}};
  for (auto const* graph : {&g, &path}) {
    check<float>(*graph, {{0}, {3, 400}}, real, options);
    check<double, std::uint64_t, std::uint32_t>(*graph, {{0}}, real, options);
    check<std::int32_t, std::int32_t, std::uint32_t>(*graph, {{0}}, one_to_255,
                                                     {{}, {.delta = 7}, {.delta = 7, .reach = 9}});
    check<float>(*graph, {{0}},
                 [](random_numbers& random) { return random.below(3) == 0 ? -0.0 : 1.5; },
                 {{.delta = 1, .reach = 2}});
    check<std::int64_t>(*graph, {{0}},
                        [](random_numbers& random) { return random.below(std::uint64_t(1) << 40); },
                        {{}, {.delta = 1e11}, {.delta = 1e10, .reach = 1e11}});
  }
}

TEST_CASE("distances that become shorter for ever, because weights have become negative since") {
  auto const g = make_graph("path", 3, karpos_test::path_edges(3));
  auto const graph = karpos_test::to_space<std::uint64_t, std::uint32_t>(g);
  auto const weights =
      karpos_test::to_space(std::vector<double>{1000, 1, 1000, 1});  // 0 1, 1 2, 1 0, 2 1
  karpos::sssp_workspace const workspace(space(), graph, weights);
  Kokkos::deep_copy(weights, karpos_test::to_space(std::vector<double>{1000, -1e-9, 1000, -1e-9}));
  view<double> const distance("distance", 3);
  for (sssp_options const& o : all_sssp_options()) {
    auto const search = [&] {
      karpos::sssp(space(), workspace, std::uint64_t(0), distance, {}, o);
    };
    std::string message = "ended";
    try {
      search();
    } catch (std::logic_error const& e) {
      message = e.what();
    }
    // Bucket fusion of GPUs expands no distance below its bucket, so that some searches end.
    if (karpos::device::is_device<space> && message == "ended") continue;
    for (char const* const words :
         {"karpos::sssp: the search was stopped", "a graph of 3 vertices", "none negative"})
      karpos_test::holds(message, message.find(words) != std::string::npos);
  }
  Kokkos::deep_copy(weights, karpos_test::to_space(std::vector<double>{1, 2, 1, 2}));
  karpos::sssp(space(), workspace, std::uint64_t(0), distance);
  CHECK(karpos_test::to_host(distance) == std::vector<double>{0, 1, 3});
}

TEST_CASE("zeros of both signs") {
  auto const zeros = [](random_numbers& random) {
    double const zero = random.below(2) == 0 ? -0.0 : 0.0;
    return random.below(4) == 0 ? static_cast<double>(1 + random.below(100)) : zero;
  };
  std::vector<sssp_options> const options{{}, {.delta = 1, .reach = 2}, {.delta = 8, .reach = 16}};
  for (auto const& g :
       {hubs(sides::undirected), make_graph("star", 300, karpos_test::star_edges(300))}) {
    check<float>(g, {{0}, {3, 200}}, zeros, options);
    check<double, std::uint64_t, std::uint32_t>(g, {{0}}, zeros, options);
  }
  // A zero weighs the same in both directions, whatever its signs.
  auto const pair = make_graph("pair", 2, {{0, 1}});
  karpos::sssp_workspace workspace(space(),
                                   karpos_test::to_space<std::uint32_t, std::uint64_t>(pair),
                                   karpos_test::to_space(std::vector<float>{0.0f, -0.0f}));
  CHECK(workspace.sort_rows(space(), 1));
}

TEST_CASE("floating-point weights that are tiny beside a distance, and infinite ones") {
  auto const ladder = make_graph("ladder", 600, karpos_test::ladder_edges(600));
  check<float>(ladder, {{0}, {300}},
               [](random_numbers& random) { return random.below(2) == 0 ? 1e-9 : 1e6; },
               {{}, {.delta = 1e-12}, {.delta = 1e30}});
  check<float>(ladder, {{0}},
               [](random_numbers& random) {
                 return random.below(4) == 0 ? std::numeric_limits<double>::infinity() : 1.0;
               },
               {{}, {.delta = 0.1}});
}

TEST_CASE("distances up to the end of their type, and beyond") {
  using u32 = std::uint32_t;
  auto const g = make_graph("triangle with a tail", 4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}},
                            sides::directed);  // columns: 1 2 | 2 | 3
  auto const graph = karpos_test::to_space<u32, std::uint64_t>(g);
  view<u32> const distance("distance", 4);
  auto const run = [&](std::vector<u32> const& weights) {
    karpos::sssp(space(), graph, karpos_test::to_space(weights), u32(0), distance);
    return karpos_test::to_host(distance);
  };
  u32 const most = std::numeric_limits<u32>::max();
  CHECK(run({most - 1, 5, 7, 1}) == std::vector<u32>{0, most - 1, 5, 6});  // 1 -> 2 overflows
  CHECK(run({1, most - 3, 5, 1}) == std::vector<u32>{0, 1, 6, 7});
  karpos_test::throws<std::range_error>(
      [&] {
        run({1, most - 1, 5, most - 5});
      },
      "does not fit", "64 bits");
  CHECK(run({1, 2, 5, most - 4}) == std::vector<u32>{0, 1, 2, most - 2});
}

TEST_CASE("pulled distances up to the end of their type, and beyond") {
  using u32 = std::uint32_t;
  auto const g = make_graph("star with tails", 6, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {4, 5}});
  auto const graph = karpos_test::to_space<u32, std::uint64_t>(g);
  view<u32> const distance("distance", 6);
  u32 const most = std::numeric_limits<u32>::max();
  auto const run = [&](u32 tail, u32 end, bool sorted) {
    std::vector<u32> const to{0, 1, 2, 3, tail, end};  // the weight of an edge, by its farther end
    std::vector<u32> weights;
    for (std::uint64_t u = 0; u < g.vertices; ++u)
      for (std::uint64_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e)
        weights.push_back(to[std::max(u, std::uint64_t(g.out.columns[e]))]);
    karpos::sssp_workspace workspace(space(), graph, karpos_test::to_space(weights));
    if (sorted) CHECK(workspace.sort_rows(space(), 1));
    auto const r = karpos::sssp(space(), workspace, u32(0), distance, {},
                                {.delta = 1, .reach = 1, .fusion_hops = 0});
    CHECK(r.passes > 0);
    return karpos_test::to_host(distance);
  };
  for (bool const sorted : {false, true}) {
    CHECK(run(most - 10, 6, sorted) == std::vector<u32>{0, 1, 2, 3, most - 7, most - 1});
    karpos_test::throws<std::range_error>([&] { run(most - 10, 7, sorted); }, "does not fit",
                                          "64 bits");
    karpos_test::throws<std::range_error>([&] { run(most, 7, sorted); }, "does not fit", "64 bits");
  }
}

TEST_CASE("distances beyond their type along rows in order of weight") {
  auto const g = make_graph("path", 3, karpos_test::path_edges(3));
  karpos::sssp_workspace workspace(space(), karpos_test::to_space<std::int32_t, std::uint64_t>(g),
                                   karpos_test::to_space(std::vector<std::int32_t>(4, 1 << 30)));
  CHECK(workspace.sort_rows(space(), 1 << 28));
  view<std::int32_t> const distance("distance", 3);
  for (double const reach : {0.0, double(1 << 28), endless})
    karpos_test::throws<std::range_error>(
        [&] {
          karpos::sssp(space(), workspace, std::int32_t(0), distance, {},
                       {.reach = reach, .fusion_hops = 0});
        },
        "does not fit", "64 bits");
}

TEST_CASE("shortest paths that are refused") {
  using u32 = std::uint32_t;
  using error = std::invalid_argument;
  auto const g = make_graph("path", 10, karpos_test::path_edges(10));
  auto const graph = karpos_test::to_space<u32, std::uint64_t>(g);
  auto const make = [&]<class W>(std::vector<W> const& weights) {
    return karpos::sssp_workspace(space(), graph, karpos_test::to_space(weights));
  };
  karpos_test::throws<error>([&] { make(std::vector<u32>(17, 1)); }, "weights", "17 against 18");
  std::vector<float> bad(18, 1);
  bad[3] = -1;
  karpos_test::throws<error>([&] { make(bad); }, "1 weights are refused", "negative");
  bad[5] = std::numeric_limits<float>::quiet_NaN();
  karpos_test::throws<error>([&] { make(bad); }, "2 weights are refused", "that of edge 3");
  karpos_test::throws<error>([&] { make(std::vector<std::int32_t>(18, -5)); }, "18 weights",
                             "that of edge 0");
  bad = std::vector<float>(18, 1);
  bad[17] = -std::numeric_limits<float>::infinity();
  karpos_test::throws<error>([&] { make(bad); }, "1 weights are refused", "that of edge 17");
  auto const w = make(std::vector<u32>(18, 1));
  view<u32> const distance("distance", 10), few("distance", 9), parent("parent", 10);
  auto const run = [&](auto const& source, view<u32> const& to, view<u32> const& p,
                       sssp_options const& o) { karpos::sssp(space(), w, source, to, p, o); };
  karpos_test::throws<error>([&] { run(u32(10), distance, parent, {}); }, "source 10", "10");
  karpos_test::throws<error>(
      [&] {
        run(karpos_test::to_space(std::vector<u32>{1, 10, 11}), distance, parent, {});
      },
      "2 sources");
  karpos_test::throws<error>([&] { run(u32(1), few, parent, {}); }, "distances");
  karpos_test::throws<error>([&] { run(u32(1), distance, few, {}); }, "parents");
  karpos_test::throws<error>([&] { run(u32(1), distance, parent, {.delta = -1}); }, "delta");
  karpos_test::throws<error>([&] { run(u32(1), distance, parent, {.delta = 0.5}); }, "below 1");
  karpos_test::throws<error>([&] { run(u32(1), distance, parent, {.reach = -1}); }, "reach -1");
  view<u32> const weights("weights", 18);
  karpos::sssp_workspace const other(space(), graph, weights);
  auto const apart = [&](view<u32> const& to, view<u32> const& p) {
    karpos_test::throws<error>([&] { karpos::sssp(space(), other, u32(1), to, p); }, "overlaps");
  };
  apart(distance, distance);
  apart(Kokkos::subview(weights, std::pair(2, 12)), {});
  apart(distance, view<u32>(const_cast<u32*>(graph.column_indices().data()), 10));
  auto const starts = karpos_test::to_space(std::vector<u32>{4, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  karpos_test::throws<error>([&] { karpos::sssp(space(), other, starts, distance, starts); },
                             "overlaps");
  Kokkos::View<u32**, Kokkos::LayoutRight, space::memory_space> const table("table", 18, 2);
  auto const column = Kokkos::subview(table, Kokkos::ALL, 0);
  karpos_test::throws<error>([&] { karpos::sssp_workspace(space(), graph, column); }, "weights",
                             "strided");
  karpos_test::throws<error>(
      [&] { karpos::sssp(space(), w, u32(1), Kokkos::subview(column, std::pair(0, 10))); },
      "distances", "strided");
  if (karpos::device::has_grid_barrier<space>) return;
  karpos_test::throws<error>(
      [&] { run(u32(1), distance, parent, {.driver = karpos::launch_mode::persistent_kernel}); },
      "persistent_kernel");
}

TEST_CASE("shortest paths in graphs that are none") {
  karpos_test::rejects_invalid_graphs<std::int32_t, std::uint64_t>([](auto const& g) {
    karpos::sssp(space(), g, view<std::uint32_t>("weights", g.edges()), 0,
                 view<std::uint32_t>("distances", g.vertices()));
  });
}

TEST_CASE("a workspace without memory is refused, and one can be made later") {
  if (!karpos_test::can_exhaust_memory()) return;
  auto const g = make_graph("path", 100000, karpos_test::path_edges(100000));
  auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
  auto const weights = karpos_test::to_space(std::vector<float>(g.out.columns.size(), 1));
  {
    karpos_test::no_memory const none(std::size_t(1) << 16);
    karpos_test::throws<karpos::allocation_error>(
        [&] { karpos::sssp_workspace(space(), graph, weights); }, "out of memory", "shortest paths",
        "smaller graph");
  }
  view<float> const distance("distance", g.vertices);
  karpos::sssp(space(), karpos::sssp_workspace(space(), graph, weights), 0u, distance);
  CHECK(karpos_test::to_host(distance).back() == 99999);
}

TEST_CASE("a delta for weights so small that their mean vanishes") {
  edge_pairs edges;
  for (std::uint64_t v = 0; v < 13; ++v)
    for (std::uint64_t u = 0; u < v; ++u) edges.emplace_back(u, v);
  check<double>(make_graph("complete", 13, edges), {{0}},
                [](random_numbers&) { return std::numeric_limits<double>::denorm_min(); }, {{}});
}

TEST_CASE("weights over many decades are not expanded again and again") {
  struct {
    char const* name;
    std::uint64_t vertices;
    edge_pairs edges;
  } const shapes[] = {{"grid", 14400, grid_edges(120)},
                      {"random, mean degree 4", 8192, karpos_test::random_edges(8192, 16384, 5)},
                      {"random, mean degree 32", 1024, karpos_test::random_edges(1024, 16384, 5)}};
  for (auto const& [name, vertices, edges] : shapes) {
    auto const g = make_graph(name, vertices, edges, sides::undirected);
    auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
    view<double> const distance("distance", g.vertices);
    struct {
      double decades;
      bool half_zeros;
      std::uint64_t most = 10;  // expansions of an edge, on CPUs
    } const kinds[] = {{2, false},   {6, false}, {30, false},
                       {300, false}, {30, true}, {1.5, true, 4}};
    for (auto const& [decades, half_zeros, most] : kinds) {
      auto const decimal = [decades = decades, half_zeros = half_zeros](random_numbers& random) {
        if (half_zeros && random.below(2) == 0) return 0.0;
        return std::pow(10,
                        decades * (static_cast<double>(random.below(1 << 30)) / (1 << 30) - .5));
      };
      auto const weights = draw_weights<double>(g, decimal, weights_of::each_pair);
      karpos::sssp_workspace const workspace(space(), graph, karpos_test::to_space(weights));
      auto const r = karpos::sssp(space(), workspace, 0u, distance);
      std::string const what = g.name + ", " + std::to_string(decades) +
                               (half_zeros ? " decades and zeros" : " decades");
      same(what + ": wrong distances", karpos_test::to_host(distance) != dijkstra(g, weights, {0}),
           false);
      INFO(what << ", delta " << r.delta << ", edges " << r.edges << ", buckets " << r.buckets
                << ", rounds " << r.rounds);
      // Devices use wider buckets for deep graphs: few rounds matter more than few edges.
      CHECK(r.edges < (karpos::device::is_device<space> ? 32 : most) * g.out.columns.size());
      CHECK(r.rounds < g.vertices);
    }
  }
}

TEST_CASE("a hub at the end of a path is left to all threads") {
  auto edges = karpos_test::path_edges(20);
  for (std::uint64_t v = 20; v < 50020; ++v) edges.emplace_back(19, v);
  auto const g = make_graph("path into a star", 50020, edges);
  auto const graph = karpos_test::to_space<std::uint32_t, std::uint64_t>(g);
  view<std::uint32_t> const distance("distance", g.vertices);
  auto const weights = karpos_test::to_space(std::vector<std::uint32_t>(g.out.columns.size(), 1));
  auto const r = karpos::sssp(space(), graph, weights, 0u, distance, {}, {.delta = 1000});
  CHECK(r.fused_rounds > 0);
  CHECK(r.rounds > r.fused_rounds);  // the hub's round fuses no buckets
  CHECK(r.edges >= g.out.columns.size());
}

TEST_CASE("bucket fusion as on GPUs") {
  if constexpr (!karpos::device::is_device<space>) {
    std::vector<sssp_options> const options{{.delta = 50},
                                            {.delta = 1000},
                                            {.delta = 1000, .fusion_hops = 3},
                                            {.delta = 100, .reach = 300}};
    auto const ladder = karpos_test::ladder_edges(4000);
    check_steps_of_gpus(space(), make_graph("ladder", 4000, ladder), {0, 2000}, options);
    auto const mixed = karpos_test::shuffled(karpos_test::comb_edges(5000), 5000, 4);
    check_steps_of_gpus(space(), make_graph("comb", 5000, mixed, sides::directed), {0}, options);
    check_steps_of_gpus(space(), hubs(sides::undirected), {3}, options);
    auto path = karpos_test::path_edges(3000);
    for (std::uint64_t v = 0; v < 90; ++v) path.emplace_back(1500, 3000 + v);
    check_steps_of_gpus(space(), make_graph("path with a star", 3090, path), {7}, options);
  } else {
    MESSAGE("not run: for CPUs alone");
  }
}
