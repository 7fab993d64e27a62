// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs built from edges equal those that std::multiset builds, whichever way their rows are
/// built.
#include <doctest/doctest.h>

#include <karpos/build_csr.hpp>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "support/check.hpp"
#include "support/invalid_graphs.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::csr_options;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

template <class Vertex = std::uint32_t, class Offset = std::uint64_t>
using graph_of = karpos::csr_graph<Vertex, Offset, space::memory_space>;

template <class Vertex>
struct edges {
  std::uint64_t vertices;
  std::vector<Vertex> sources, targets;

  void add(std::uint64_t source, std::uint64_t target) {
    sources.push_back(static_cast<Vertex>(source));
    targets.push_back(static_cast<Vertex>(target));
  }
};

template <class Vertex, class Offset>
struct arrays {
  std::vector<Offset> offsets;
  std::vector<Vertex> columns;
};

/// Builds the expected graph sequentially.
template <class Vertex, class Offset>
arrays<Vertex, Offset> expected(edges<Vertex> const& list, csr_options const& o) {
  std::multiset<std::pair<Vertex, Vertex>> pairs;
  auto const add = [&](Vertex source, Vertex target) {
    if (!o.remove_duplicates || pairs.count({source, target}) == 0) pairs.insert({source, target});
  };
  for (std::size_t i = 0; i < list.sources.size(); ++i) {
    Vertex const source = list.sources[i], target = list.targets[i];
    if (source == target && o.remove_self_loops) continue;
    add(source, target);
    if (o.symmetrise && source != target) add(target, source);
  }
  arrays<Vertex, Offset> a;
  a.offsets.assign(list.vertices + 1, 0);
  for (auto const& [source, target] : pairs) {
    ++a.offsets[static_cast<std::size_t>(source) + 1];
    a.columns.push_back(target);
  }
  for (std::size_t v = 0; v < list.vertices; ++v)
    a.offsets[v + 1] = static_cast<Offset>(a.offsets[v + 1] + a.offsets[v]);
  return a;
}

template <class Vertex, class Offset, class Memory>
void check_arrays(std::string const& what, karpos::csr_graph<Vertex, Offset, Memory> const& got,
                  arrays<Vertex, Offset> const& want) {
  same(what + ": vertices", got.vertices(), want.offsets.size() - 1);
  same(what + ": edges", got.edges(), want.columns.size());
  karpos_test::holds(what + ": offsets", to_host(got.row_offsets()) == want.offsets);
  karpos_test::holds(what + ": columns", to_host(got.column_indices()) == want.columns);
  got.validate(space());
}

template <class Vertex, class Offset>
arrays<Vertex, Offset> transposed(arrays<Vertex, Offset> const& a) {
  edges<Vertex> list{a.offsets.size() - 1, {}, {}};
  for (std::size_t v = 0; v < list.vertices; ++v)
    for (auto e = static_cast<std::size_t>(a.offsets[v]);
         e < static_cast<std::size_t>(a.offsets[v + 1]); ++e)
      list.add(static_cast<std::uint64_t>(a.columns[e]), v);
  return expected<Vertex, Offset>(list, {false, false, false});
}

/// Checks every combination of options, both ways of building rows, and the transpose.
template <class Offset, class Vertex>
void check(std::string const& name, edges<Vertex> const& list) {
  using graph = graph_of<Vertex, Offset>;
  auto const sources = to_space(list.sources), targets = to_space(list.targets);
  karpos::detail::build_csr::edges_in_views<view<Vertex>, view<Vertex>> const pairs{sources,
                                                                                    targets};
  for (unsigned bits = 0; bits < 8; ++bits) {
    csr_options const o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    std::string const what = name + ", options " + std::to_string(bits);
    auto const want = expected<Vertex, Offset>(list, o);
    graph const g = karpos::build_csr<Offset>(space(), list.vertices, sources, targets, o);
    check_arrays(what, g, want);
    karpos_test::holds(what + ": direction", g.is_undirected() == o.symmetrise);
    check_arrays(what + ", sorted",
                 karpos::detail::build_csr::csr_by_sorting<graph>(space(), list.vertices, pairs, o),
                 want);
    if (bits % 3 != 0) continue;
    graph const in = karpos::transpose(space(), g);
    check_arrays(what + ", transposed", in, transposed(want));
    karpos_test::holds(what + ": transpose", !in.has_transpose());
    g.with_transpose(in).validate(space());
    check_arrays(what + ", twice", karpos::transpose(space(), in), want);
  }
}

/// Returns random edges among the vertices from `first` on, with some hubs, self loops and
/// duplicates.
template <class Vertex>
edges<Vertex> random_edges(std::uint64_t vertices, std::uint64_t first, std::size_t n,
                           std::uint64_t seed) {
  karpos_test::random_numbers random(seed);
  edges<Vertex> list{vertices, {}, {}};
  std::uint64_t const span = vertices - first;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const x = random(), source = first + (x >> 8) % span;
    std::uint64_t const target = x % 16 == 0 ? source : first + (x >> 36) % span;
    list.add(x % 7 == 0 ? first : source, x % 11 == 0 ? vertices - 1 : target);
  }
  return list;
}

template <class Vertex, class Offset>
void check_random() {
  check<Offset>("dense", random_edges<Vertex>(17, 0, 3000, 1));
  check<Offset>("sparse", random_edges<Vertex>(5000, 0, 4000, 2));
  check<Offset>("long empty run", random_edges<Vertex>(100000, 99990, 300, 3));
  auto ends_early = random_edges<Vertex>(50, 10, 2000, 4);
  ends_early.vertices = 70000;
  check<Offset>("empty run at the end", ends_early);
}

template <class Vertex>
edges<Vertex> listed(std::uint64_t vertices,
                     std::vector<std::pair<std::uint64_t, std::uint64_t>> const& pairs) {
  edges<Vertex> list{vertices, {}, {}};
  for (auto const& [source, target] : pairs) list.add(source, target);
  return list;
}

template <class Offset = std::uint64_t, class Vertex>
auto build(edges<Vertex> const& list, csr_options const& o = {}) {
  return karpos::build_csr<Offset>(space(), list.vertices, to_space(list.sources),
                                   to_space(list.targets), o);
}

/// Returns a view of more elements than memory can hold: nothing may read it.
template <class Vertex>
auto endless(std::uint64_t n) {
  using view_type =
      Kokkos::View<Vertex const*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return view_type(reinterpret_cast<Vertex const*>(64), n);
}

using columns32 = std::vector<std::uint32_t>;
using offsets64 = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("tiny graphs") {
  check<std::uint64_t>("nothing", listed<std::uint32_t>(0, {}));
  check<std::uint64_t>("one vertex", listed<std::uint32_t>(1, {}));
  check<std::uint64_t>("one self loop", listed<std::uint32_t>(1, {{0, 0}}));
  check<std::uint64_t>("self loops", listed<std::uint32_t>(2, {{1, 1}, {1, 1}}));
  check<std::uint64_t>("no edges", listed<std::uint32_t>(1000, {}));
  check<std::uint64_t>("both directions", listed<std::uint32_t>(3, {{0, 2}, {2, 0}, {0, 2}}));
}

TEST_CASE("goldens") {
  auto const list = listed<std::uint32_t>(5, {{3, 1}, {1, 3}, {0, 4}, {3, 1}, {2, 2}, {3, 0}});
  auto const directed = build(list);
  CHECK(to_host(directed.row_offsets()) == offsets64{0, 1, 2, 2, 4, 4});
  CHECK(to_host(directed.column_indices()) == columns32{4, 3, 0, 1});
  auto const both = build(list, {.symmetrise = true});
  CHECK(to_host(both.row_offsets()) == offsets64{0, 2, 3, 3, 5, 6});
  CHECK(to_host(both.column_indices()) == columns32{3, 4, 3, 0, 1, 0});
  CHECK(both.is_undirected());
  // A self loop is its own reverse. Duplicates stay, and each appears in both directions.
  auto const all =
      build(list, {.symmetrise = true, .remove_self_loops = false, .remove_duplicates = false});
  CHECK(to_host(all.row_offsets()) == offsets64{0, 2, 5, 6, 10, 11});
  CHECK(to_host(all.column_indices()) == columns32{3, 4, 3, 3, 3, 2, 0, 1, 1, 1, 0});
  auto const in = karpos::transpose(space(), directed);
  CHECK(to_host(in.row_offsets()) == offsets64{0, 1, 2, 2, 3, 4});
  CHECK(to_host(in.column_indices()) == columns32{3, 3, 1, 0});
}

TEST_CASE("what is no graph has no transpose, and validate refuses it") {
  auto const transposes = [](auto const& g) { karpos::transpose(space(), g); };
  karpos_test::rejects_invalid_graphs<std::uint32_t, std::uint64_t>(transposes);
#if KARPOS_FULL_TESTS
  karpos_test::rejects_invalid_graphs<std::int64_t, std::int32_t>(transposes);
#endif
}

TEST_CASE("graphs that are trusted") {
  auto const list = listed<std::uint32_t>(3, {{0, 1}, {1, 2}});
  auto const built = build(list);
  CHECK(built.is_trusted());
  CHECK(build(list, {.symmetrise = true}).is_trusted());
  auto const own = graph_of<>(built.row_offsets(), built.column_indices());
  CHECK(!own.is_trusted());
  CHECK(own.trusted().is_trusted());
  CHECK(own.trusted().undirected().is_trusted());
  auto const in = karpos::transpose(space(), own);
  CHECK(in.is_trusted());
  CHECK(!own.with_transpose(in).is_trusted());
  CHECK(!in.with_transpose(own).is_trusted());
  CHECK(built.with_transpose(in).is_trusted());
}

TEST_CASE("a graph without vertices has a transpose") {
  CHECK(karpos::transpose(space(), graph_of<>()).vertices() == 0);
}

TEST_CASE("random graphs against the sequential ones") {
  SUBCASE("u32, u64") { check_random<std::uint32_t, std::uint64_t>(); }
  SUBCASE("u32, u32") { check_random<std::uint32_t, std::uint32_t>(); }
  SUBCASE("u64, u64") { check_random<std::uint64_t, std::uint64_t>(); }
  SUBCASE("i32, i32") { check_random<std::int32_t, std::int32_t>(); }
  SUBCASE("i64, u32") { check_random<std::int64_t, std::uint32_t>(); }
}

TEST_CASE("a larger graph") {
  check<std::uint32_t>("large", random_edges<std::uint32_t>(3000, 0, 60000, 5));
}

TEST_CASE("edges may lie in views that cannot be written and that lie in others") {
  auto const list = random_edges<std::uint32_t>(100, 0, 500, 6);
  auto const sources = to_space(list.sources), targets = to_space(list.targets);
  std::pair<std::size_t, std::size_t> const part{100, 400};
  Kokkos::View<std::uint32_t const*, space::memory_space> const s = sources, t = targets;
  auto const g =
      karpos::build_csr(space(), 100, Kokkos::subview(s, part), Kokkos::subview(t, part));
  edges<std::uint32_t> const middle{100,
                                    {list.sources.begin() + 100, list.sources.begin() + 400},
                                    {list.targets.begin() + 100, list.targets.begin() + 400}};
  check_arrays("part", g, expected<std::uint32_t, std::uint64_t>(middle, {}));
}

TEST_CASE("edges that are refused") {
  view<std::uint32_t> const two("two", 2), three("three", 3);
  throws<std::invalid_argument>([&] { karpos::build_csr(space(), 5, two, three); }, "sources",
                                "targets", "2 against 3");
  auto list = random_edges<std::uint32_t>(1000, 0, 5000, 7);
  list.targets[4321] = 1000;
  list.sources[4700] = 4000000000u;
  throws<std::invalid_argument>([&] { build(list); }, "edge 4321", "to 1000", "1000 vertices");
  throws<std::invalid_argument>(
      [&] {
        build(listed<std::int64_t>(9, {{0, 1}, {0, 1ull << 40}}));
      },
      "edge 1", "0 to 1099511627776");
  edges<std::int32_t> negative{9, {3, -2}, {4, 5}};
  throws<std::invalid_argument>([&] { build(negative); }, "edge 1", "-2 to 5", "9 vertices");
  throws<std::invalid_argument>([&] { build(listed<std::uint32_t>(0, {{0, 0}})); }, "edge 0");
}

TEST_CASE("sizes that are refused") {
  auto const none = to_space(std::vector<std::uint64_t>());
  auto const small = to_space(std::vector<std::int32_t>());
  std::uint64_t const words = std::uint64_t(1) << 32;
  throws<std::length_error>([&] { karpos::build_csr(space(), words, none, none); },
                            "4294967296, at most 4294967295");
  throws<std::length_error>([&] { karpos::build_csr(space(), words / 2, small, small); },
                            "2147483648, at most 2147483647");
  auto const many = endless<std::uint32_t>(words);
  throws<std::length_error>([&] { karpos::build_csr<std::uint32_t>(space(), 9, many, many); },
                            "edges (4294967296, at most 4294967295)", "EdgeOffset");
  auto const half = endless<std::uint32_t>(words / 4);
  throws<std::length_error>(
      [&] { karpos::build_csr<std::int32_t>(space(), 9, half, half, {.symmetrise = true}); },
      "edges (1073741824, at most 1073741823)", "EdgeOffset");
}

TEST_CASE("validate checks graphs of the user's own arrays") {
  auto const graph = [](offsets64 const& offsets, columns32 const& columns) {
    return graph_of<>(to_space(offsets), to_space(columns));
  };
  auto const refused = [&](graph_of<> const& g, auto const&... words) {
    throws<std::invalid_argument>([&] { g.validate(space()); }, words...);
  };
  graph({0}, {}).validate(space());
  graph({0, 2, 2, 4}, {2, 0, 1, 1}).validate(space());
  graph_of<>().validate(space());
  refused(graph({1, 2, 3}, {0, 1, 0}), "row offset 0 of the graph", "1 with 3 column indices");
  refused(graph({0, 2, 1, 3}, {0, 1, 2}), "row offset 2 of the graph",
          "vertex 1 has the edges from 2 to 1, of 3");
  refused(graph({0, 1, 5, 3}, {0, 1, 2}), "row offset 2 of the graph", "from 1 to 5, of 3");
  refused(graph({0, 1, ~std::uint64_t(0)}, {0, 1}), "row offset 2 of the graph");
  refused(graph({0, 1, 2, 3}, {0, 3, 2}), "edge 1 of the graph", "from vertex 1 to 3, with 3 ");
  refused(graph({0, 0, 1, 1, 3}, {0, 3, 9}), "edge 2 of the graph", "from vertex 3 to 9, with 4 ");
  refused(graph({0, 1, 1}, {0, 1}), "row offset 2 of the graph", "from 1 to 1, of 2");
  refused(graph({0}, {0}), "row offset 0 of the graph", "0 with 1 column indices");
  auto const good = graph({0, 1, 2}, {0, 1});
  refused(good.with_transpose(graph({0, 1, 2}, {0, 7})), "edge 1 of the transpose",
          "from vertex 1 to 7");
  refused(good.with_transpose(graph({0, 2, 1}, {0, 1})), "row offset 2 of the transpose");
  refused(good.trusted().with_transpose(good).with_transpose(graph({0, 1, 2}, {1, 0})),
          "the transpose of a graph has other edges");
  refused(graph({0, 1, 1}, {1}).undirected(), "other edges", "undirected()");
  graph({0, 1, 1}, {1}).with_transpose(graph({0, 0, 1}, {0})).validate(space());
  throws<std::invalid_argument>(
      [&] {
        good.with_transpose(graph({0, 2}, {0, 0}));
      },
      "row offsets", "transpose", "3 against 2");
  throws<std::invalid_argument>(
      [&] {
        good.with_transpose(graph({0, 1, 1}, {0}));
      },
      "column indices", "2 against 1");
  throws<std::invalid_argument>([&] { graph({}, {}); }, "no row offsets");
}

TEST_CASE("a graph takes its types from the views that it wraps") {
  auto const offsets = to_space(std::vector<int>{0, 1, 2});
  auto const columns = to_space(std::vector<int>{1, 0});
  karpos::csr_graph const graph = karpos::csr_graph(offsets, columns).undirected();
  static_assert(std::is_same_v<std::decay_t<decltype(graph)>, graph_of<int, int>>);
  graph.validate(space{});
  CHECK(graph.vertices() == 2);
  CHECK(graph.edges() == 2);
  Kokkos::View<std::int64_t const*, space> const wide = to_space(std::vector<std::int64_t>{0, 0});
  static_assert(
      std::is_same_v<decltype(karpos::csr_graph(wide, columns)), graph_of<int, std::int64_t>>);
}

TEST_CASE("what a graph says of itself") {
  auto const g = graph_of<>(to_space(offsets64{0, 1, 2}), to_space(columns32{1, 0}));
  CHECK(g.vertices() == 2);
  CHECK(g.edges() == 2);
  CHECK(!g.has_transpose());
  CHECK(!g.is_undirected());
  CHECK(g.undirected().is_undirected());
  CHECK(g.undirected().has_transpose());
  auto const other = graph_of<>(to_space(offsets64{0, 1, 2}), to_space(columns32{1, 0}));
  CHECK(g.with_transpose(other).has_transpose());
  CHECK(!g.with_transpose(other).is_undirected());
  CHECK(graph_of<>().vertices() == 0);
  CHECK(graph_of<>::bytes_for(2, 2) == 3 * 8 + 2 * 4);
}
