// SPDX-License-Identifier: Apache-2.0
#include "karpos/distributed/bfs.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "karpos/bfs.hpp"
#include "support/random_shapes.hpp"
#include "tests/distributed/bfs_searches.hpp"

namespace {
using namespace karpos_test;
using dist::collective_error;

/// All directions, or those by which local searches may find levels.
enum class directions { all, of_local_searches };

void check_graph(std::uint64_t n, edge_pairs const& edges, karpos::csr_options const& csr,
                 placement where, numbers const& begins = {}, directions which = directions::all) {
  auto const ranks = world();
  auto const mine = part_of(ranks, edges, where);
  auto const all = all_of(edges);
  auto const whole = karpos::build_csr(space{}, n, to_view(all.sources), to_view(all.targets), csr);
  auto graph =
      dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets), {csr, begins});
  check_rows(graph, whole);
  if (!begins.empty()) CHECK(graph.begins() == begins);
  if (!csr.symmetrise) {
    auto const in = dist::transpose(ranks, graph);
    check_rows(in, karpos::transpose(space{}, whole));
    graph = graph.with_transpose(in);
  }
  auto const host = host_of(n, whole, csr.symmetrise ? sides::undirected : sides::with_transpose);
  searched const s(ranks, graph, host);
  using karpos::bfs_direction;
  std::uint64_t hub = 0;
  for (std::uint64_t v = 0; v < n; ++v)
    if (host.degree(v) > host.degree(hub)) hub = v;
  for (auto const d : {bfs_direction::automatic, bfs_direction::top_down, bfs_direction::gamma,
                       bfs_direction::beamer})
    if (which == directions::all || d == bfs_direction::automatic || d == bfs_direction::top_down)
      s.check(id(hub), {hub}, options_of(d));
  for (std::uint64_t const v : {std::uint64_t(0), n / 2, n - 1}) s.check(id(v), {v}, {});
}

/// Compares rows of this rank, and their weights bit by bit, with those of the whole graph.
template <class Graph, class Weights, class Whole>
void check_weighted_rows(Graph const& graph, Weights const& weights, Whole const& whole) {
  check_rows(graph, whole.graph);
  auto const offsets = to_vector(whole.graph.row_offsets());
  auto const all = to_vector(whole.weights), own = to_vector(weights);
  std::size_t const first = offsets[graph.first()];
  std::size_t const last = offsets[graph.first() + graph.local().vertices()];
  CHECK(own == std::vector(all.begin() + static_cast<std::ptrdiff_t>(first),
                           all.begin() + static_cast<std::ptrdiff_t>(last)));
}

/// Edges of 12, 16 and 24 bytes, by their types.
template <class Id, class Weight>
void check_weights_travel() {
  auto const ranks = world();
  std::uint64_t const n = 300;
  karpos_test::random_numbers random(17 + std::uint64_t(ranks.rank()));
  std::vector<Id> own_sources, own_targets;
  std::vector<Weight> weights;
  std::size_t const count = ranks.rank() == 1 ? 0 : 900;  // a rank may have no edge
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t const x = random();
    own_sources.push_back(Id(x % n));
    own_targets.push_back(Id(x % 8 == 0 ? x % n : x >> 20 & 31));
    weights.push_back(static_cast<Weight>(x >> 40) / 3);
  }
  auto const s = to_view(own_sources), t = to_view(own_targets);
  auto const w = to_view(weights);
  auto const sources = to_view(gathered(ranks, own_sources)),
             targets = to_view(gathered(ranks, own_targets));
  auto const all = to_view(gathered(ranks, weights));
  for (unsigned bits = 0; bits < 24; ++bits) {
    karpos::csr_options const csr{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                                  static_cast<karpos::merge_edges>(bits / 8)};
    auto const whole = karpos::build_csr(space{}, n, sources, targets, all, csr);
    auto const [graph, own] = dist::build_csr(ranks, n, s, t, w, {csr});
    CHECK(graph.is_trusted());
    CHECK(graph.has_transpose() == csr.symmetrise);
    check_weighted_rows(graph, own, whole);
    if (bits % 5 != 0) continue;
    auto const [in, in_weights] = dist::transpose(ranks, graph, own);
    auto const reversed = karpos::transpose(space{}, whole.graph, whole.weights);
    // Duplicates are in the order of the ranks' rows, as in the whole graph.
    check_weighted_rows(in, in_weights, reversed);
  }
  Kokkos::View<Weight*, memory> const less("less", ranks.rank() == 0 ? 1 : weights.size());
  CHECK(refused_by([&] { dist::build_csr(ranks, n, s, t, less); }) == "build_csr");
  auto const graph = dist::build_csr(ranks, n, s, t);
  CHECK(refused_by([&] { dist::transpose(ranks, graph, less); }) == "transpose");
  auto const merge = static_cast<karpos::merge_edges>(3 * int(ranks.rank() == 0));
  CHECK(refused_by([&] { dist::build_csr(ranks, n, s, t, w, {{.merge = merge}}); }) == "build_csr");
}

TEST_CASE("weights travel with edges") {
  check_weights_travel<std::uint32_t, double>();
  check_weights_travel<std::uint64_t, float>();
#if KARPOS_FULL_TESTS
  check_weights_travel<std::uint32_t, float>();
  check_weights_travel<std::uint32_t, std::uint32_t>();
  check_weights_travel<std::uint64_t, double>();
#endif
}

TEST_CASE("graphs of few vertices") {
  karpos::csr_options const undirected{.symmetrise = true};
  for (auto const where : {placement::spread, placement::on_last}) {
    check_graph(1, {}, undirected, where);
    check_graph(1, {{0, 0}}, {.remove_self_loops = false}, where);
    check_graph(4, {{0, 1}, {1, 2}, {2, 3}, {3, 3}}, undirected, where);
    check_graph(40, path_edges(40), undirected, where);
    check_graph(70, star_edges(70), {}, where);
    check_graph(65, clique_edges(65), undirected, where);
    check_graph(33, {{32, 32}, {32, 0}, {0, 32}, {32, 0}},
                {.symmetrise = true, .remove_self_loops = false, .remove_duplicates = false},
                where);
  }
}

TEST_CASE("random graphs, with isolated vertices") {
  karpos::csr_options const undirected{.symmetrise = true};
  check_graph(3000, random_edges(3000, 2000, 1), undirected, placement::spread);
  check_graph(3000, random_edges(3000, 30000, 2), undirected, placement::spread);
  check_graph(3001, random_edges(3001, 9000, 3), {}, placement::spread);
  // All edges lead from the first vertices to the last: a rank has out-edges or in-edges only.
  auto to_last = random_edges(300, 3000, 7);
  for (auto& [u, v] : to_last) v += 2700;
  for (std::uint64_t v = 2700; v < 2704; ++v) to_last.emplace_back(v, v - 2700);
  check_graph(3000, to_last, {}, placement::spread);
  check_graph(2000, random_edges(2000, 40000, 4), undirected, placement::on_last);
  edge_pairs only_low = random_edges(200, 3000, 5);  // most ranks have no edges
  check_graph(5000, only_low, undirected, placement::spread);
}

TEST_CASE("blocks of the user's, also empty ones") {
  auto const p = std::size_t(world().size());
  auto const edges = random_edges(1000, 8000, 6);
  numbers all_on_last(p, 0), all_on_first(p + 1, 1000), steps;
  all_on_last.push_back(1000);
  all_on_first[0] = 0;
  for (std::size_t r = 0; r < p; ++r) steps.push_back(32 * r * r / 2 / 32 * 32);
  steps.push_back(1000);
  for (auto const& begins : {all_on_last, all_on_first, steps})
    check_graph(1000, edges, {.symmetrise = true}, placement::spread, begins);
}

TEST_CASE("a permutation of vertices is one, and its inverse leads back") {
  for (std::uint64_t const n :
       {std::uint64_t(0), std::uint64_t(1), std::uint64_t(2), std::uint64_t(3), std::uint64_t(31),
        std::uint64_t(32), std::uint64_t(33), std::uint64_t(1000), std::uint64_t(65537)}) {
    dist::vertex_permutation const number(n, 5), other(n, 6);
    numbers hit(n);
    std::uint64_t moved = 0, differ = 0;
    for (std::uint64_t v = 0; v < n; ++v) {
      std::uint64_t const to = number(v);
      REQUIRE(to < n);
      ++hit[to];
      CHECK(number.inverse(to) == v);
      moved += to != v;
      differ += to != other(v);
    }
    CHECK(std::count(hit.begin(), hit.end(), 1) == std::ptrdiff_t(n));
    if (n > 100) CHECK(std::min(moved, differ) > n - n / 10);
  }
  std::uint64_t const large = (std::uint64_t(1) << 63) + 12345;
  for (std::uint64_t v = large - 100; v < large; ++v)
    CHECK(dist::vertex_permutation(large, 1).inverse(dist::vertex_permutation(large, 1)(v)) == v);
  CHECK(dist::vertex_permutation()(7) == 7);
  CHECK(dist::vertex_permutation().inverse(7) == 7);
}

TEST_CASE("vertices that are numbered at random") {
  auto const ranks = world();
  std::uint64_t const n = 3000;
  auto const edges =
      random_edges(300, 4000, 9);  // without a permutation the first rank would have all edges
  auto const mine = part_of(ranks, edges, placement::spread);
  dist::csr_options options{{.symmetrise = true}};
  options.permutation = 42;
  auto const number = options.numbers(n);
  auto const graph =
      dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets), options);
  edge_pairs renamed;
  for (auto const& [u, v] : edges) renamed.emplace_back(number(u), number(v));
  auto const all = all_of(renamed), original = all_of(edges);
  auto const whole = karpos::build_csr(space{}, n, to_view(all.sources), to_view(all.targets),
                                       {.symmetrise = true});
  check_rows(graph, whole);
  auto const host = host_of(n, whole);
  searched const s(ranks, graph, host);
  s.check(id(number(7)), {number(7)}, {});
  auto const expected =
      serial_bfs(host_of(n, karpos::build_csr(space{}, n, to_view(original.sources),
                                              to_view(original.targets), {.symmetrise = true})),
                 {7});
  Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
  dist::bfs(s.workspace, id(number(7)), distances);
  auto const found = to_vector(graph.gather(ranks, distances));
  for (std::uint64_t v = 0; v < n; ++v) CHECK(found[number(v)] == expected[v]);
  // Each rank has its share of the vertices that have edges.
  std::uint64_t own = 0;
  for (std::uint64_t v = 0; v < 300; ++v) own += graph.owner(number(v)) == ranks.rank();
  CHECK(own > 100 / std::uint64_t(ranks.size()));
  if (ranks.size() == 1) return;
  options.permutation = ranks.rank() == 0 ? 42 : 43;
  CHECK_THROWS_WITH_AS(
      dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets), options),
      doctest::Contains("the seed of a permutation of vertices is not the same"), collective_error);
  if (ranks.rank() == 0) options.permutation.reset();
  CHECK_THROWS_WITH_AS(
      dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets), options),
      doctest::Contains("csr_options::permutation is set is not the same"), collective_error);
}

TEST_CASE("several sources, of all ranks together") {
  auto const ranks = world();
  auto const edges = path_edges(96);
  auto const mine = part_of(ranks, edges, placement::spread);
  auto const all = all_of(edges);
  auto const graph = dist::build_csr(ranks, 96, to_view(mine.sources), to_view(mine.targets),
                                     {{.symmetrise = true}});
  auto const whole = karpos::build_csr(space{}, 96, to_view(all.sources), to_view(all.targets),
                                       {.symmetrise = true});
  auto const host = host_of(96, whole);
  searched const s(ranks, graph, host);
  std::vector<id> own;  // none on odd ranks; vertex 7 at least twice
  numbers sources;
  for (int r = 0; r < ranks.size(); r += 2)
    for (std::uint64_t const v : {std::uint64_t(7), std::uint64_t(13 * r + 5)}) {
      sources.push_back(v);
      if (r == ranks.rank()) own.push_back(id(v));
    }
  s.check(to_view(own), sources, {});
  s.check(to_view(std::vector<id>(ranks.rank() == 0 ? 1 : 0, 95)), {95}, {});
  auto const nothing = to_view(std::vector<id>{});
  Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
  auto const report = dist::bfs(s.workspace, nothing, distances);
  CHECK(report.visited == 0);
  for (auto const d : to_vector(distances)) CHECK(d == -1);
}

struct skip_multiples {
  KOKKOS_FUNCTION bool operator()(id, id v) const { return v % 5 != 0; }
};
struct stop_at_3000 {
  KOKKOS_FUNCTION bool operator()(id, id v) const { return v != 3000; }
};
struct count_found {
  Kokkos::View<std::uint64_t, memory> count;
  KOKKOS_FUNCTION void operator()(id, std::int32_t) const { Kokkos::atomic_inc(&count()); }
};

TEST_CASE("hooks are called on one rank for each vertex") {
  auto const ranks = world();
  auto const edges = random_edges(1500, 12000, 8);
  auto const mine = part_of(ranks, edges, placement::spread);
  auto const all = all_of(edges);
  auto const graph = dist::build_csr(ranks, 1500, to_view(mine.sources), to_view(mine.targets),
                                     {{.symmetrise = true}});
  auto const host = host_of(1500, karpos::build_csr(space{}, 1500, to_view(all.sources),
                                                    to_view(all.targets), {.symmetrise = true}));
  auto const follow = [](std::uint64_t, std::uint64_t v) { return v % 5 != 0; };
  auto const expected = serial_bfs(host, {3}, follow);
  Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
  Kokkos::View<std::uint64_t, memory> const count("count");
  karpos::bfs_hooks<skip_multiples, count_found> const hooks{{}, {count}};
  auto const report =
      dist::bfs(ranks, graph, id(3), distances, Kokkos::View<id*, memory>{}, {}, hooks);
  CHECK(to_vector(graph.gather(ranks, distances)) == expected);
  std::uint64_t mine_found = 0;
  Kokkos::deep_copy(mine_found, count);
  CHECK(ranks.all_reduce(mine_found) == report.visited);
}

TEST_CASE("wide levels are exchanged as bits, narrow ones as lists") {
  auto const ranks = world();
  if (ranks.size() == 1) return;
  auto const search = [&](std::uint64_t n, edge_pairs const& edges) {
    auto const mine = part_of(ranks, edges, placement::spread);
    auto const graph = dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets),
                                       {{.symmetrise = true}});
    Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
    karpos::bfs_options o;
    o.driver = karpos::launch_mode::kernel_per_step;
    return dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{}, o);
  };
  auto const path = search(100, path_edges(100));
  CHECK(path.bitmaps == 0);
  CHECK(path.lists == 100);  // the last level finds nothing
  CHECK(search(3000, star_edges(3000)).bitmaps == 1);
}

/// Returns paths of several lengths, which start from `width` children of each of `hubs` neighbours
/// of the last vertex of a path. Vertices of a path have adjacent numbers.
edge_pairs broom_edges(std::uint64_t path, std::uint64_t hubs, std::uint64_t width) {
  edge_pairs edges = path_edges(path);
  std::uint64_t next = path;
  for (std::uint64_t h = 0; h < hubs; ++h) {
    std::uint64_t const hub = next++;
    edges.emplace_back(path - 1, hub);
    for (std::uint64_t i = 0; i < width; ++i) {
      edges.emplace_back(hub, next);
      for (std::uint64_t k = 0; k < 10 + 7 * (h % 3) + 40 * (h % 7 == 0); ++k, ++next)
        edges.emplace_back(next, next + 1);
      ++next;
    }
  }
  return edges;
}

TEST_CASE("narrow levels of deep graphs are found by local searches") {
  auto const p = std::uint64_t(world().size());
  auto const check = [](std::uint64_t n, edge_pairs const& edges, numbers const& begins = {}) {
    check_graph(n, edges, {.symmetrise = true}, placement::spread, begins,
                directions::of_local_searches);
  };
  // A rank of a GPU has some thousand vertices: fewer are not searched locally.
  numbers first_is_empty(p > 1 ? 2 : 1, 0), first_has_most(p, 8032);
  for (std::uint64_t r = 2; r < p; ++r) first_is_empty.push_back(r * (8000 / p / 32) * 32);
  first_is_empty.push_back(8000);
  first_has_most[0] = 0;
  first_has_most.push_back(9000);
  edge_pairs ring = path_edges(8000), band, corrected = path_edges(9000), leaves = path_edges(1200);
  check(8000, path_edges(8000));
  check(8000, path_edges(8000), first_is_empty);
  ring.emplace_back(7999, 0);
  check(8000, ring);
  for (std::uint64_t v = 0; v + 4 < 12000; ++v) {
    band.emplace_back(v, v + 4);
    if (v % 4 != 3) band.emplace_back(v, v + 1);
  }
  check(12000, band);
  // Shortcuts lead to vertices that their own ranks have reached, by longer paths.
  random_numbers random(11);
  for (int i = 0; i < 14; ++i) corrected.emplace_back(random.below(9000), random.below(9000));
  check(9000, corrected);
  check_graph(9000, corrected, {}, placement::on_last, {}, directions::of_local_searches);
  // A wide frontier ends a series of local searches; narrow ones follow.
  check(9000, broom_edges(1000, 30, 5));
  // That frontier is wide on the first rank when its claims are still on their way.
  check(9000, broom_edges(1000, 40, 5), first_has_most);
  // A vertex of many edges overflows a queue.
  for (std::uint64_t v = 1200; v < 1300; ++v) leaves.emplace_back(1199, v);
  for (std::uint64_t v = 1300; v < 9000; ++v) leaves.emplace_back(v - 1, v);
  check(9000, leaves);
}

/// Returns a path of vertices 0 to `path` - 1, whose end leads to 8 vertices, each of which leads
/// to 9 of 72 hubs. Each hub is adjacent to all others, and the first 20 to a leaf each, from
/// vertex `leaves` on.
edge_pairs hubs_at_end_of_path(std::uint64_t path, std::uint64_t leaves) {
  edge_pairs edges = path_edges(path);
  std::uint64_t const hubs = path + 8;
  for (std::uint64_t i = 0; i < 8; ++i) edges.emplace_back(path - 1, path + i);
  for (std::uint64_t h = 0; h < 72; ++h) {
    edges.emplace_back(path + h / 9, hubs + h);
    for (std::uint64_t other = 0; other < h; ++other) edges.emplace_back(hubs + other, hubs + h);
    if (h < 20) edges.emplace_back(hubs + h, leaves + h);
  }
  return edges;
}

TEST_CASE("a bottom-up level finds what other ranks have found by local searches") {
  auto const ranks = world();
  // The first rank has the hubs, the last one the leaves. Local searches end at the hubs, whose
  // rows are long. If the last one began with the hubs, they are the frontier of the next level,
  // which is bottom-up. That depends on the distance between source and hubs.
  std::uint64_t const n = 12000;
  std::uint64_t const each = n / std::uint64_t(ranks.size()) / 32 * 32;
  numbers begins;
  for (int r = 0; r < ranks.size(); ++r) begins.push_back(std::uint64_t(r) * each);
  begins.push_back(n);
  auto const edges = hubs_at_end_of_path(115, n - 20);
  auto const mine = part_of(ranks, edges, placement::spread);
  auto const all = all_of(edges);
  auto const whole = karpos::build_csr(space{}, n, to_view(all.sources), to_view(all.targets),
                                       {.symmetrise = true});
  auto const graph = dist::build_csr(ranks, n, to_view(mine.sources), to_view(mine.targets),
                                     {{.symmetrise = true}, begins});
  auto const host = host_of(n, whole);
  searched const s(ranks, graph, host);
  for (std::uint64_t source = 0; source < 16; ++source) s.check(id(source), {source}, {});
}

TEST_CASE("local searches replace an exchange for each level, and call hooks once") {
  auto const ranks = world();
  if (ranks.size() == 1) return;
  auto const mine = part_of(ranks, path_edges(24000), placement::spread);
  auto const graph = dist::build_csr(ranks, 24000, to_view(mine.sources), to_view(mine.targets),
                                     {{.symmetrise = true}});
  Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
  Kokkos::View<std::uint64_t, memory> const count("count");
  karpos::bfs_hooks<stop_at_3000, count_found> const hooks{{}, {count}};
  karpos::bfs_options o;
  o.driver = karpos::launch_mode::kernel_per_step;
  Kokkos::View<id*, memory> const none;
  auto const report = dist::bfs(ranks, graph, id(5), distances, none, o, hooks);
  CHECK(report.visited == 3000);
  CHECK(report.levels == 2995);
  CHECK(report.lists + report.bitmaps < 200);
  CHECK(report.level.at(900).vertices == 1);
  CHECK(report.level.at(900).edges == 2);
  std::uint64_t found = 0;
  Kokkos::deep_copy(found, count);
  CHECK(ranks.all_reduce(found) == 3000);
  o.local_search_hops = 0;
  CHECK(dist::bfs(ranks, graph, id(5), distances, none, o, hooks).lists == report.levels);
}

TEST_CASE("defects are found, on whatever rank") {
  auto const ranks = world();
  auto const edges = path_edges(96);
  auto const mine = part_of(ranks, edges, placement::spread);
  auto const graph = dist::build_csr(ranks, 96, to_view(mine.sources), to_view(mine.targets),
                                     {{.symmetrise = true}});
  std::uint64_t const first = graph.first(), n = graph.local().vertices();
  Kokkos::View<std::int32_t*, memory> const distances("distances", n);
  Kokkos::View<id*, memory> const parents("parents", n);
  dist::bfs(ranks, graph, id(0), distances, parents);
  for (std::uint64_t const bad :
       {std::uint64_t(0), std::uint64_t(1), std::uint64_t(50), std::uint64_t(95)}) {
    auto d = to_vector(distances);
    auto p = to_vector(parents);
    if (bad >= first && bad - first < n) d[bad - first] += 1;
    auto defects = dist::validate_bfs(ranks, graph, id(0), to_view(d), to_view(p));
    CHECK(!defects.valid());
    CHECK(defects.first_vertex <= bad);
    d = to_vector(distances);
    if (bad >= first && bad - first < n) p[bad - first] = id((bad + 2) % 96);
    defects = dist::validate_bfs(ranks, graph, id(0), to_view(d), to_view(p));
    CHECK(defects.first_vertex == bad);
  }
}

TEST_CASE("a graph without vertices has no hubs") {
  auto const ranks = world();
  auto const nothing = to_view(std::vector<id>{});
  auto const graph = dist::build_csr(ranks, 0, nothing, nothing, {{.symmetrise = true}});
  auto const report = dist::bfs(ranks, graph, nothing, Kokkos::View<std::int32_t*, memory>{});
  CHECK(report.levels == 0);
  CHECK(report.hubs == 0);
  CHECK(report.hub_degree == 0);
}

TEST_CASE("one memory for distances and parents is refused, and a view on some ranks alone") {
  auto const ranks = world();
  auto const ids = to_view(std::vector<std::int32_t>{0, 1});
  auto const graph = dist::build_csr(ranks, 50, ids, ids, {{.symmetrise = true}});
  Kokkos::View<std::int32_t*, memory> const both("both", graph.local().vertices());
  CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, std::int32_t(0), both, both),
                       doctest::Contains("overlaps another view"), collective_error);
  // Sources may lie in no result either.
  Kokkos::View<std::int32_t*, memory> const apart("apart", both.extent(0));
  CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, both, both),
                       doctest::Contains("overlaps another view"), collective_error);
  CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, both, apart, both),
                       doctest::Contains("overlaps another view"), collective_error);
  for (auto const& unchanged : {both, apart})
    CHECK(to_vector(unchanged) == std::vector<std::int32_t>(both.extent(0), 0));
  if (ranks.size() == 1) return;
  auto const search = [&] {
    if (ranks.rank() == 0)
      dist::bfs(ranks, graph, std::int32_t(0), both);
    else
      dist::bfs(ranks, graph, ids, both);
  };
  CHECK_THROWS_WITH_AS(search(), doctest::Contains("a view of sources is not the same"),
                       collective_error);
}

TEST_CASE("results in the memory of a graph or of its transpose, on one rank, are refused on all") {
  auto const ranks = world();
  auto const p = std::uint64_t(ranks.size()), n = 32 * p, first = 32 * std::uint64_t(ranks.rank());
  bool const is_last = first + 32 == n;
  std::vector<std::uint64_t> offsets(33);
  std::vector<id> next(32), before(32);
  for (std::uint64_t v = 0; v < 32; ++v) {
    offsets[v + 1] = v + 1;
    next[v] = static_cast<id>((first + v + 1) % n);
    before[v] = static_cast<id>((first + v + n - 1) % n);
  }
  auto const columns = to_view(next), in_columns = to_view(before);
  auto const graph_of = [&](auto const& c) {
    return dist::csr_graph(ranks, karpos::csr_graph(to_view(offsets), c));
  };
  auto const ring = graph_of(columns).with_transpose(graph_of(in_columns));
  Kokkos::View<std::int32_t*, memory> const apart("apart", 32);
  for (auto const& of_graph : {columns, in_columns}) {
    Kokkos::View<std::int32_t*, memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const over(
        reinterpret_cast<std::int32_t*>(of_graph.data()), 32);
    auto const search = [&] {
      if (is_last)
        dist::bfs(ranks, ring, id(0), over);
      else
        dist::bfs(ranks, ring, id(0), apart);
    };
    CHECK_THROWS_WITH_AS(search(), doctest::Contains("overlaps another view"), collective_error);
  }
  CHECK(to_vector(columns) == next);
  CHECK(to_vector(in_columns) == before);
}

TEST_CASE("sources with gaps, on one rank, are refused on all") {
  auto const ranks = world();
  auto const ids = to_view(std::vector<std::int32_t>{0, 1});
  auto const graph = dist::build_csr(ranks, 50, ids, ids, {{.symmetrise = true}});
  Kokkos::View<std::int32_t*, memory> const distances("distances", graph.local().vertices());
  using strided = Kokkos::View<std::int32_t*, Kokkos::LayoutStride, memory>;
  Kokkos::View<std::int32_t* [2], Kokkos::LayoutRight, memory> const table("sources", 3);
  strided const gaps = Kokkos::subview(table, Kokkos::ALL, 0), whole = ids;
  CHECK_THROWS_WITH_AS(
      dist::bfs(ranks, graph, ranks.rank() + 1 == ranks.size() ? gaps : whole, distances),
      doctest::Contains("sources of a search"), collective_error);
}

TEST_CASE("rows that are none, of whatever rank, are refused on all") {
  auto const ranks = world();
  auto const p = std::uint64_t(ranks.size()), n = 32 * p, first = 32 * std::uint64_t(ranks.rank());
  // A ring; change(offsets, columns) changes the rows of the last rank alone.
  auto const graph_of = [&](auto const& change) {
    std::vector<std::uint64_t> offsets(33);
    std::vector<id> columns(32);
    for (std::uint64_t v = 0; v < 32; ++v) {
      offsets[v + 1] = v + 1;
      columns[v] = static_cast<id>((first + v + 1) % n);
    }
    if (first + 32 == n) change(offsets, columns);
    return dist::csr_graph(ranks, karpos::csr_graph(to_view(offsets), to_view(columns)));
  };
  using graph_type = dist::csr_graph<id, std::uint64_t, memory>;
  Kokkos::View<std::int32_t*, memory> const distances("distances", 32);
  auto const refused = [&](graph_type const& g, std::string const& words) {
    auto const text = doctest::Contains(words.c_str());
    CHECK_THROWS_WITH_AS(g.validate(ranks), text, collective_error);
    CHECK_THROWS_WITH_AS(dist::bfs(ranks, g, id(0), distances), text, collective_error);
    CHECK_THROWS_WITH_AS(dist::validate_bfs(ranks, g, id(0), distances), text, collective_error);
    CHECK_THROWS_WITH_AS(dist::transpose(ranks, g), text, collective_error);
    CHECK(refused_by([&] { g.validate(ranks); }) == "csr_graph::validate");
    CHECK(refused_by([&] { dist::bfs_workspace(ranks, g); }) == "bfs_workspace");
    CHECK(refused_by([&] { dist::bfs(ranks, g, id(0), distances); }) == "bfs");
  };
  auto const good = graph_of([](auto&, auto&) {});
  good.validate(ranks);
  CHECK(dist::bfs(ranks, good, id(0), distances).visited == n);
  auto const last = std::to_string(n - 32 + 5), all = std::to_string(n);
  auto const wrong_column = graph_of([&](auto&, auto& columns) {
    columns[9] = static_cast<id>(-1);
    columns[5] = static_cast<id>(n);
  });
  std::string const edge =
      " leads to no vertex (from vertex " + last + " to " + all + ", with " + all;
  refused(wrong_column, "edge 5 of the graph" + edge);
  refused(wrong_column.undirected(), "edge 5 of the graph" + edge);
  refused(good.with_transpose(wrong_column), "edge 5 of the transpose" + edge);
  refused(good.trusted().with_transpose(wrong_column), "edge 5 of the transpose" + edge);
  refused(
      graph_of([](auto& offsets, auto&) { offsets[6] = 4; }),
      "row offset 6 of the graph is wrong (vertex " + last + " has the edges from 5 to 4, of 32");
  // Columns that belong to no row do no harm, so that trusted() can be tested.
  auto const longer = graph_of([](auto& offsets, auto&) { offsets[32] = 31; });
  refused(longer, "row offset 32 of the graph");
  if (first + 32 == n)
    CHECK(refused_by([&] { longer.validate_unless_trusted(space{}); }) ==
          "csr_graph::validate_unless_trusted");
  CHECK(refused_by([&] { (void)good.with_transpose({}); }) == "csr_graph::with_transpose");
  auto const fewer = graph_of([](auto& offsets, auto& columns) {
    offsets[32] = 31;
    columns.resize(31);
  });
  CHECK_THROWS_WITH_AS((void)good.with_transpose(fewer),  // on all ranks, by the sum of their edges
                       doctest::Contains("edges of a graph over ranks"), std::invalid_argument);
  CHECK(refused_by([&] { good.gather(ranks, Kokkos::View<int*, memory>("few", 31)); }) ==
        "csr_graph::gather");
  Kokkos::View<std::uint64_t*, memory> const offsets("offsets", 6);
  if (p > 1)
    CHECK(refused_by([&] {
            graph_type(ranks, karpos::csr_graph(offsets, Kokkos::View<id*, memory>()));
          }) == "csr_graph");
  if (!karpos::detail::checks_always) {
    dist::bfs(ranks, longer.trusted(), id(0), distances);
    CHECK(dist::build_csr(ranks, n, to_view(std::vector<id>{0}), to_view(std::vector<id>{1}))
              .is_trusted());
  }
}

TEST_CASE("bad arguments are refused on all ranks") {
  auto const ranks = world();
  auto const large = too_large_graph(ranks);
  CHECK_THROWS_WITH_AS(dist::bfs_workspace(ranks, large), doctest::Contains(too_large),
                       collective_error);
  bool const is_last = ranks.rank() == ranks.size() - 1;
  std::string const last = "rank " + std::to_string(ranks.size() - 1);
  std::vector<id> const good{0, 1}, bad{0, is_last ? 50u : 1u};
  CHECK_THROWS_WITH_AS(dist::build_csr(ranks, 50, to_view(good), to_view(bad)),
                       doctest::Contains((last + " of").c_str()), collective_error);
  numbers odd(std::size_t(ranks.size()), 5);
  odd[0] = 0;
  odd.push_back(50);
  if (ranks.size() > 1) {
    CHECK_THROWS_WITH_AS(dist::build_csr(ranks, 50, to_view(good), to_view(good), {{}, odd}),
                         doctest::Contains("in multiples of 32"), collective_error);
    CHECK_THROWS_WITH_AS(
        dist::build_csr(ranks, is_last ? 51 : 50, to_view(good), to_view(good)),
        doctest::Contains("(rank 0 has 50, " + doctest::String(last.c_str()) + " has 51)"),
        collective_error);
  }
  auto const graph =
      dist::build_csr(ranks, 50, to_view(good), to_view(good), {{.symmetrise = true}});
  std::uint64_t const n = graph.local().vertices();
  Kokkos::View<std::int32_t*, memory> const distances("distances", n), other("other", n + 1);
  CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, id(50), distances),
                       doctest::Contains("the graph has 50"), collective_error);
  CHECK_THROWS_AS(dist::bfs(ranks, graph, id(0), is_last ? other : distances), collective_error);
  CHECK_THROWS_WITH_AS(graph.gather(ranks, is_last ? other : distances),
                       doctest::Contains((last + " of").c_str()), collective_error);
  CHECK_THROWS_AS(dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                            karpos::bfs_options{.hub_cache = true}),
                  collective_error);
  CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                                 karpos::bfs_options{.queue = karpos::bfs_queue::scanned}),
                       doctest::Contains("a scanned queue"), collective_error);
  auto const option_refused = [&](karpos::bfs_options const& o, char const* words) {
    CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{}, o),
                         doctest::Contains(words), collective_error);
  };
  option_refused({.direction = karpos::bfs_direction(9)}, "there is no such direction of a search");
  option_refused({.queue = karpos::bfs_queue(9)}, "there is no such frontier queue");
  option_refused({.driver = karpos::launch_mode(9)}, "there is no such launch mode");
  if (!ranks.has_device_of_its_own())
    CHECK_THROWS_WITH_AS(
        dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                  karpos::bfs_options{.driver = karpos::launch_mode::persistent_kernel}),
        doctest::Contains("their devices do not address each other"), collective_error);
  if (ranks.size() > 1) {
    CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, id(is_last ? 1 : 0), distances),
                         doctest::Contains("the source is not the same on all ranks"),
                         collective_error);
    CHECK_THROWS_WITH_AS(
        dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                  karpos::bfs_options{.gamma = is_last ? 0.5 : 0.25}),
        doctest::Contains("gamma of a search is not the same on all ranks (rank 0 has 0.25"),
        collective_error);
    CHECK_THROWS_WITH_AS(dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                                   karpos::bfs_options{.local_search_hops = is_last ? 0u : 64u}),
                         doctest::Contains("local_search_hops of a search is not the same"),
                         collective_error);
  }
  // All ranks pass NaN and agree, though NaN equals nothing.
  CHECK(dist::bfs(ranks, graph, id(0), distances, Kokkos::View<id*, memory>{},
                  karpos::bfs_options{.gamma = std::numeric_limits<double>::quiet_NaN()})
            .visited == 1);
  CHECK(dist::bfs(ranks, graph, id(0), distances).visited == 1);  // later searches work
}

}  // namespace
