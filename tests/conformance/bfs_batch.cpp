// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of breadth-first searches compared with sequential ones: every distance, and the report
/// of every source.
#include <doctest/doctest.h>

#include <karpos/bfs_batch.hpp>
#include <limits>

#include "support/bfs_subject.hpp"
#include "support/invalid_graphs.hpp"
#include "support/memory_limit.hpp"

namespace {

using karpos::bfs_batch_options;
using karpos_test::edge_pairs;
using karpos_test::holds;
using karpos_test::host_graph;
using karpos_test::make_graph;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::sides;
using karpos_test::space;
using numbers = std::vector<std::uint64_t>;
using rows = std::vector<std::vector<std::int32_t>>;

template <class Value, class Layout>
using table = Kokkos::View<Value**, Layout, space::memory_space>;

/// Returns every way of expanding levels, with every driver.
std::vector<bfs_batch_options> all_batch_options() {
  std::vector<karpos::launch_mode> drivers{karpos::launch_mode::kernel_per_step};
  if (karpos::device::has_grid_barrier<space>)
    drivers.push_back(karpos::launch_mode::persistent_kernel);
  std::vector<bfs_batch_options> all{{}};
  for (auto const driver : drivers)
    for (auto const& [from, until] : {std::pair{0.125, 1. / 60}, std::pair{2., 2.},
                                      std::pair{0., 0.}, std::pair{0., 2.}, std::pair{0.01, 0.05}})
      all.push_back({.pull_from = from, .pull_until = until, .driver = driver});
  return all;
}

rows expected_of(host_graph const& g, numbers const& sources) {
  rows all;
  for (auto const s : sources) all.push_back(serial_bfs(g, {s}));
  return all;
}
/// Returns the distances with those above max_distance replaced by -1.
rows limited(rows all, std::int32_t max_distance) {
  for (auto& r : all)
    for (auto& d : r) d = d > max_distance ? -1 : d;
  return all;
}

void check_reports(std::string const& what, rows const& expected,
                   karpos::bfs_batch_report const& report) {
  same(what + ": reports", report.source.size(), expected.size());
  std::int32_t levels = 0, of_pass = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::uint64_t visited = 0, sum = 0;
    std::int32_t last = -1;
    for (auto const d : expected[i]) {
      visited += d >= 0 ? 1 : 0;
      sum += d > 0 ? static_cast<std::uint64_t>(d) : 0;
      last = std::max(last, d);
    }
    auto const& r = report.source[i];
    holds(what + ", search " + std::to_string(i) + ": report",
          r.visited == visited && r.sum_distances == sum && r.levels == last + 1);
    of_pass = i % 64 == 0 ? last + 1 : std::max(of_pass, last + 1);
    if (i % 64 == 63 || i + 1 == expected.size()) levels += of_pass;
  }
  holds(what + ": levels of all passes", report.levels == levels);
}

template <class Value, class Layout>
std::uint64_t wrong_distances(table<Value, Layout> const& distances, rows const& expected) {
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, distances);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t v = 0; v < expected[i].size(); ++v)
      wrong += got(i, v) != static_cast<Value>(expected[i][v]) ? 1 : 0;
  return wrong;
}

template <class Vertex, class Offset>
class batch_subject {
 public:
  using graph_type = karpos::csr_graph<Vertex, Offset, space::memory_space>;

  explicit batch_subject(host_graph const& g)
      : m_name(g.name),
        m_graph(karpos_test::to_space<Vertex, Offset>(g)),
        m_workspace(space(), m_graph) {}

  template <class Value, class Layout>
  void check(numbers const& sources, bfs_batch_options const& o, rows const& expected) const {
    std::string const what = m_name + ", " + std::to_string(sources.size()) + " sources, " +
                             std::to_string(sizeof(Value)) + " bytes, pull from " +
                             std::to_string(o.pull_from) + " until " + std::to_string(o.pull_until);
    auto const from = karpos_test::to_space(std::vector<Vertex>(sources.begin(), sources.end()));
    table<Value, Layout> const d("distances", sources.size(), m_graph.vertices());
    Kokkos::deep_copy(d, Value(77));  // shows what a batch does not write
    auto const report = karpos::bfs_batch(space(), m_workspace, from, d, o);
    same(what + ": wrong distances", wrong_distances(d, expected), 0);
    check_reports(what, expected, report);
    check_directions(what, o, report);
    m_one_by_one = report.one_by_one;
    check_reports(what + ", no distances", expected,
                  karpos::bfs_batch(space(), m_workspace, from, o));
  }
  auto const& workspace() const { return m_workspace; }
  /// Returns how many searches of the last check ran one by one.
  std::uint64_t one_by_one() const { return m_one_by_one; }

 private:
  /// Checks that levels are pulled if the options say always, and pushed if they say never.
  void check_directions(std::string const& what, bfs_batch_options const& o,
                        karpos::bfs_batch_report const& report) const {
    bool const pulls = m_graph.has_transpose();
    bool const never = o.pull_from > 1 && m_graph.edges() > 0;  // 0 of 0 edges are all edges
    if (never || !pulls) holds(what + ": no pull level", report.pull_levels == 0);
    bool const whole = o.max_distance == bfs_batch_options{}.max_distance;
    if (o.pull_from != 0 || o.pull_until != 0 || !pulls || !whole) return;
    holds(
        what + ": all levels pull",
        (report.pull_levels == report.levels || report.one_by_one > 0) && report.edges_pushed == 0);
  }

  std::string m_name;
  graph_type m_graph;
  karpos::bfs_batch_workspace<space, graph_type> m_workspace;
  mutable std::uint64_t m_one_by_one = 0;
};

void check_batches(host_graph const& g, std::vector<numbers> const& all_sources) {
  batch_subject<std::uint32_t, std::uint64_t> const subject(g);
  for (auto const& sources : all_sources) {
    rows const expected = expected_of(g, sources);
    for (auto const& o : all_batch_options())
      subject.check<std::int32_t, Kokkos::LayoutLeft>(sources, o, expected);
    subject.check<std::int32_t, Kokkos::LayoutRight>(sources, {}, expected);
    std::int32_t deepest = 0;
    for (auto const& r : expected)
      for (auto const d : r) deepest = std::max(deepest, d);
    if (deepest > 254) continue;
    subject.check<std::uint8_t, Kokkos::LayoutLeft>(sources, {}, expected);
    subject.check<std::uint8_t, Kokkos::LayoutRight>(sources, {}, expected);
  }
}

numbers random_sources(std::uint64_t vertices, std::size_t count, std::uint64_t seed) {
  random_numbers random(seed);
  numbers sources(count);
  for (auto& s : sources) s = random.below(vertices);
  return sources;
}

/// Returns a random graph with a few hubs and some isolated vertices.
host_graph hubs(sides kind, std::uint64_t n = 3000) {
  auto edges = karpos_test::random_edges(n - 100, 2 * n, 5);
  for (std::uint64_t v = 0; v < n - 200; ++v) edges.emplace_back(v % 7 == 0 ? 17 : v % 3, v);
  return make_graph("hubs", n, edges, kind);
}

}  // namespace

TEST_CASE("batches of small graphs") {
  check_batches(make_graph("nothing", 0, {}), {{}});
  check_batches(make_graph("one", 1, {}), {{}, {0}, {0, 0, 0}});
  check_batches(make_graph("one with a self loop", 1, {{0, 0}}), {{0}});
  check_batches(make_graph("pair", 2, {{0, 1}}), {{0}, {1}, {0, 1}, {1, 1, 0}});
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    check_batches(make_graph("diamond", 4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, kind),
                  {{0}, {3, 1}, {0, 1, 2, 3}});
    check_batches(make_graph("star", 70, karpos_test::star_edges(70), kind), {{0}, {5, 69, 0, 5}});
    check_batches(make_graph("two parts", 7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}, kind),
                  {{0, 5, 6}, {6}, {6, 6, 2}});
  }
}

TEST_CASE("numbers of sources around those of a pass") {
  auto const g = hubs(sides::undirected, 700);
  std::vector<numbers> all;
  for (std::size_t const count : {1, 2, 7, 8, 9, 63, 64, 65, 128, 130})
    all.push_back(random_sources(g.vertices, count, count));
  check_batches(g, all);
}

TEST_CASE("sources that are equal, neighbours, hubs, isolated") {
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose}) {
    auto const g = hubs(kind);
    numbers isolated(64), mixed;
    for (std::uint64_t i = 0; i < 64; ++i) isolated[i] = g.vertices - 1 - i;
    for (std::uint64_t i = 0; i < 40; ++i) mixed.push_back(i % 3 == 0 ? 17 : g.vertices - 1 - i);
    check_batches(g, {numbers(64, 17), numbers(64, g.some_leaf()), isolated, mixed,
                      random_sources(g.vertices, 64, 3)});
  }
}

TEST_CASE("rows that a team pulls for, of many items") {
  // The two hubs have more neighbours than the degree from which a team expands a row.
  edge_pairs edges = karpos_test::random_edges(30000, 20000, 7);
  for (std::uint64_t v = 1; v < 30000; ++v) edges.emplace_back(v % 2, v);
  for (sides const kind : {sides::undirected, sides::with_transpose})
    check_batches(make_graph("two large hubs", 30001, edges, kind),
                  {{0}, random_sources(30001, 10, 9)});
  edge_pairs repeated;
  for (std::uint64_t i = 0; i < 50000; ++i) repeated.emplace_back(40 + i % 5 % 2, i % 50);
  check_batches(
      make_graph("rows far longer than there are vertices", 60, repeated, sides::undirected),
      {{0, 40, 59}});
}

TEST_CASE("searches of more levels than the planes hold") {
  for (std::uint64_t const n : {14, 15, 16, 17, 29, 30, 31, 32, 255, 256})
    check_batches(make_graph("path", n, karpos_test::path_edges(n)), {{0, n - 1, n / 2}});
  check_batches(make_graph("path", 40, karpos_test::path_edges(40)), {random_sources(40, 65, 1)});
  edge_pairs ladder;  // and a component that ends early
  for (std::uint64_t v = 0; v < 500; ++v) {
    if (v + 2 < 500) ladder.emplace_back(v, v + 2);
    if (v % 2 == 0) ladder.emplace_back(v, v + 1);
  }
  for (std::uint64_t v = 500; v < 520; ++v) ladder.emplace_back(v, v + 1);
  for (sides const kind : {sides::undirected, sides::with_transpose})
    check_batches(make_graph("ladder", 530, ladder, kind), {{0, 500, 499, 510, 525, 70}});
}

TEST_CASE("deep graphs are searched one by one") {
  edge_pairs comb, grid, tail;
  for (std::uint64_t v = 0; v < 1200; ++v) {  // teeth of three vertices each
    if (v % 4 != 3 && v + 1 < 1200) comb.emplace_back(v, v + 1);
    if (v % 4 == 0 && v + 4 < 1200) comb.emplace_back(v, v + 4);
  }
  for (std::uint64_t v = 0; v < 1600; ++v) {
    if (v % 40 < 39) grid.emplace_back(v, v + 1);
    if (v + 40 < 1600) grid.emplace_back(v, v + 40);
  }
  for (auto const& e : comb) tail.emplace_back(e.first + 1200, e.second + 1200);
  for (auto const& e : hubs(sides::undirected, 1200).out.columns) tail.emplace_back(e % 2, e);
  tail.emplace_back(2, 1200);
  using tuned = karpos::detail::bfs_batch::tuning<space>;
  for (sides const kind : {sides::undirected, sides::directed, sides::with_transpose})
    for (auto const& g :
         {make_graph("path", 1200, karpos_test::path_edges(1200), kind),
          make_graph("comb", 1200, comb, kind), make_graph("grid", 1600, grid, kind),
          make_graph("hubs with a tail", 2400, tail, kind)}) {
      batch_subject<std::uint32_t, std::uint64_t> const subject(g);
      for (std::size_t const count : {1, 2, 64, 70}) {
        // Sources in shallow components, one in the tail of the last graph, and most of them in its
        // hubs.
        numbers sources = random_sources(1000, count, count);
        if (count > 1) sources[1] = g.vertices - 2;
        rows const expected = expected_of(g, sources);
        subject.check<std::int32_t, Kokkos::LayoutLeft>(sources, {}, expected);
        bool const pays = tuned::is_one_by_one_faster(g.vertices, static_cast<int>(count));
        if (g.name == "path, undirected" && pays) same("all", subject.one_by_one(), count);
        subject.check<std::int32_t, Kokkos::LayoutRight>(sources, {.max_distance = 100},
                                                         limited(expected, 100));
        subject.check<std::uint8_t, Kokkos::LayoutLeft>(sources, {.max_distance = 200},
                                                        limited(expected, 200));
      }
    }
}

TEST_CASE("a pass that was wide first is given up later") {
  edge_pairs edges = karpos_test::random_edges(500, 14000, 3);
  for (std::uint64_t v = 0; v < 4000; ++v) edges.emplace_back(v == 0 ? 7 : 499 + v, 500 + v);
  auto const g = make_graph("random with a tail", 4500, edges);
  batch_subject<std::uint32_t, std::uint64_t> const subject(g);
  for (std::size_t const count : {1, 64}) {
    numbers const sources = random_sources(500, count, 8);
    subject.check<std::int32_t, Kokkos::LayoutLeft>(
        sources, {.pull_from = 0.01, .pull_until = 0.01}, expected_of(g, sources));
    if (karpos::detail::bfs_batch::tuning<space>::is_one_by_one_faster(4500,
                                                                       static_cast<int>(count)))
      same("given up", subject.one_by_one(), count);
  }
}

TEST_CASE("a deep graph without memory for searches one by one") {
  if (!karpos_test::can_exhaust_memory()) return;
  // Only the queue of such a search (800 kB) is large.
  auto const g = make_graph("path among isolated vertices", 200000, karpos_test::path_edges(300));
  batch_subject<std::uint32_t, std::uint64_t> const subject(g);
  table<std::int32_t, Kokkos::LayoutLeft> const d("distances", 2, g.vertices);
  auto const from = karpos_test::to_space(std::vector<std::uint32_t>{0, 200});
  auto const checked = [&](karpos::bfs_batch_report const& report, std::uint64_t one_by_one) {
    rows const expected = expected_of(g, {0, 200});
    check_reports(g.name, expected, report);
    same("wrong distances", wrong_distances(d, expected), 0);
    same("one by one", report.one_by_one, one_by_one);
  };
  karpos::bfs_batch_report report;
  {
    karpos_test::no_memory const none(std::size_t(1) << 18);
    report = karpos::bfs_batch(space(), subject.workspace(), from, d);
  }
  checked(report, 0);
  checked(karpos::bfs_batch(space(), subject.workspace(), from, d), 2);
}

TEST_CASE("batches that stop at a distance") {
  auto const path = make_graph("path", 100, karpos_test::path_edges(100));
  auto const g = hubs(sides::undirected);
  for (std::int32_t const most : {0, 1, 2, 13, 14, 15, 50, 300})
    for (auto const* graph : {&path, &g}) {
      numbers const sources = random_sources(graph->vertices, 20, 1);
      rows const expected = limited(expected_of(*graph, sources), most);
      batch_subject<std::uint32_t, std::uint64_t> const subject(*graph);
      subject.check<std::int32_t, Kokkos::LayoutLeft>(sources, {.max_distance = most}, expected);
      subject.check<std::uint8_t, Kokkos::LayoutRight>(sources, {.max_distance = most}, expected);
    }
}

TEST_CASE("edges that a batch pushes") {
  auto const path = make_graph("path", 40, karpos_test::path_edges(40));
  batch_subject<std::uint32_t, std::uint64_t> const subject(path);
  auto const report_of = [&](std::vector<std::uint32_t> const& sources, std::int32_t most) {
    return karpos::bfs_batch(space(), subject.workspace(), karpos_test::to_space(sources),
                             {.max_distance = most, .pull_from = 2, .pull_until = 2});
  };
  same("of one search", report_of({0}, 100).edges_pushed, 78);
  same("of equal searches, in step", report_of({0, 0}, 100).edges_pushed, 78);
  same("of two from the ends", report_of({0, 39}, 100).edges_pushed, 156);
  same("of one with a limit", report_of({0}, 20).edges_pushed, 39);  // 1 of vertex 0, 19 times 2
  same("of two passes", report_of(std::vector<std::uint32_t>(65, 0), 100).edges_pushed, 156);
  CHECK(report_of(std::vector<std::uint32_t>(65, 0), 20).levels == 42);
}

TEST_CASE("sums of so many distances that a tile must pass them on in between") {
  // All searches reach nearly all vertices at the largest distance that the bit planes of a pass
  // represent.
  std::uint64_t const teams = 16 * std::min<std::uint64_t>(karpos::device::processors(space()), 16);
  std::uint64_t const leaves = teams * 20 * 256, arms = 3, length = 13;
  edge_pairs edges;
  for (std::uint64_t i = 1; i <= arms * length; ++i)
    edges.emplace_back(i % length == 1 ? 0 : i - 1, i);
  for (std::uint64_t v = 0; v < leaves; ++v) edges.emplace_back(0, arms * length + 1 + v);
  auto const g = make_graph("leaves far from three sources", arms * length + 1 + leaves, edges);
  batch_subject<std::uint32_t, std::uint64_t> const subject(g);
  numbers const sources{length, 2 * length, 3 * length};
  subject.check<std::int32_t, Kokkos::LayoutLeft>(sources, {.max_distance = 14},
                                                  limited(expected_of(g, sources), 14));
}

TEST_CASE("distances of 8 bits that are not enough") {
  auto const longest = make_graph("path", 256, karpos_test::path_edges(256));
  batch_subject<std::uint32_t, std::uint64_t> const subject(longest);
  table<std::uint8_t, Kokkos::LayoutLeft> const d("distances", 1, 256);
  auto const run = [&](std::uint32_t source, bfs_batch_options const& o) {
    karpos::bfs_batch(space(), subject.workspace(),
                      karpos_test::to_space(std::vector<std::uint32_t>{source}), d, o);
  };
  run(1, {});  // 254 edges to the last vertex
  karpos_test::throws<std::range_error>([&] { run(0, {}); }, "search 0", "254", "std::int32_t",
                                        "max_distance");
  run(0, {.max_distance = 254});
}

TEST_CASE("batches of graphs that are none") {
  karpos_test::rejects_invalid_graphs<std::uint32_t, std::uint64_t>(
      [](auto const& g) { karpos::bfs_batch_workspace(space(), g); });
}

TEST_CASE("batches that are refused") {
  auto const g = make_graph("path", 10, karpos_test::path_edges(10));
  batch_subject<std::uint32_t, std::uint64_t> const subject(g);
  auto const run = [&](std::vector<std::uint32_t> const& sources, std::size_t r, std::size_t c) {
    karpos::bfs_batch(space(), subject.workspace(), karpos_test::to_space(sources),
                      table<std::int32_t, Kokkos::LayoutLeft>("distances", r, c));
  };
  karpos_test::throws<std::invalid_argument>([&] { run({1, 10, 11}, 3, 10); }, "2 sources", "10");
  table<std::uint32_t, Kokkos::LayoutLeft> const both("sources and distances", 1, 10);
  karpos_test::throws<std::invalid_argument>(
      [&] {
        karpos::bfs_batch(space(), subject.workspace(),
                          karpos_test::view<std::uint32_t>(both.data() + 9, 1),
                          table<std::int32_t, Kokkos::LayoutLeft>(
                              reinterpret_cast<std::int32_t*>(both.data()), 1, 10));
      },
      "the view of distances", "overlaps");
  karpos_test::throws<std::invalid_argument>([&] { run({1}, 2, 10); }, "rows of distances");
  karpos_test::throws<std::invalid_argument>([&] { run({1}, 1, 11); }, "columns of distances");
  karpos_test::throws<std::invalid_argument>(
      [&] {
        karpos::bfs_batch(space(), subject.workspace(),
                          karpos_test::to_space(std::vector<std::uint32_t>{1}),
                          {.max_distance = -1});
      },
      "max_distance", "-1");
  if (karpos::device::has_grid_barrier<space>) return;
  karpos_test::throws<std::invalid_argument>(
      [&] {
        karpos::bfs_batch(space(), subject.workspace(),
                          karpos_test::to_space(std::vector<std::uint32_t>{1}),
                          {.driver = karpos::launch_mode::persistent_kernel});
      },
      "persistent_kernel");
}

TEST_CASE("graphs that are too large") {
  using wide = karpos::csr_graph<std::uint32_t, std::uint64_t, space::memory_space>;
  using narrow = karpos::csr_graph<std::uint32_t, std::uint32_t, space::memory_space>;
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  // Only the three offsets of the last graph are read; the other arrays are not.
  auto const some = karpos_test::to_space(std::vector<std::uint64_t>{0, 1ull << 31, 1ull << 31});
  auto* const ids = reinterpret_cast<std::uint32_t*>(some.data());
  auto const offsets = [&](std::uint64_t n) {
    return Kokkos::View<std::uint64_t const*, space::memory_space, unmanaged>(some.data(), n);
  };
  auto const columns = [&](std::uint64_t n) {
    return Kokkos::View<std::uint32_t const*, space::memory_space, unmanaged>(ids, n);
  };
  std::uint64_t const most = (1ull << 32) - 64;
  wide const vertices(offsets(most + 2), columns(0));
  karpos_test::throws<std::length_error>([&] { karpos::bfs_workspace(space(), vertices); },
                                         "a graph has 4294967233 vertices", "at most 4294967232",
                                         "leave out vertices without edges");
  karpos_test::throws<std::length_error>([&] { karpos::bfs_batch_workspace(space(), vertices); },
                                         "a graph has 4294967233 vertices");
  narrow const edges(Kokkos::View<std::uint32_t const*, space::memory_space, unmanaged>(ids, 2),
                     columns(1ull << 32));
  karpos_test::throws<std::length_error>([&] { karpos::bfs_workspace(space(), edges); },
                                         "4294967296 edges", "offsets of 64 bits");
#if !defined(KARPOS_CONTRACTS)  // which check trusted graphs, too
  auto const row = wide(offsets(3), columns(1ull << 31)).trusted();
  karpos_test::throws<std::length_error>([&] { karpos::bfs_workspace(space(), row); },
                                         "a graph has vertices of 2^31 edges or more (1 of them)",
                                         "remove duplicate edges");
#endif
}

TEST_CASE("batches of graphs of other types, and one workspace for many") {
  auto const g = hubs(sides::with_transpose);
  batch_subject<std::uint64_t, std::uint32_t> const subject(g);
  auto const options = all_batch_options();
  random_numbers random(11);
  for (std::uint64_t i = 0; i < 20; ++i) {
    numbers const sources = random_sources(g.vertices, 1 + random.below(70), i);
    subject.check<std::int32_t, Kokkos::LayoutLeft>(sources, options[random.below(options.size())],
                                                    expected_of(g, sources));
  }
}
