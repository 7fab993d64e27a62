// SPDX-License-Identifier: Apache-2.0
/// \file
/// Graphs built from edges equal those that std::multiset builds, whichever way their rows are
/// built. Their weights equal those that std::map gathers edge by edge.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <karpos/build_csr.hpp>
#include <limits>
#include <map>
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
  karpos::detail::build_csr::no_weights none;
  for (unsigned bits = 0; bits < 8; ++bits) {
    csr_options const o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    std::string const what = name + ", options " + std::to_string(bits);
    auto const want = expected<Vertex, Offset>(list, o);
    graph const g = karpos::build_csr<Offset>(space(), list.vertices, sources, targets, o);
    check_arrays(what, g, want);
    karpos_test::holds(what + ": direction", g.is_undirected() == o.symmetrise);
    check_arrays(
        what + ", sorted",
        karpos::detail::build_csr::csr_by_sorting<graph>(space(), list.vertices, pairs, o, none),
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

/// A payload without < and +.
struct road {
  std::uint32_t name, lanes, speed;
};

/// Merges the weights of duplicates, in the order of the list.
template <class Weight>
Weight merged(std::vector<Weight> const& weights, karpos::merge_edges merge) {
  Weight m = weights.front();
  for (std::size_t k = 1; k < weights.size(); ++k) {
    if constexpr (std::is_arithmetic_v<Weight>) {
      if (merge == karpos::merge_edges::minimum && weights[k] < m) m = weights[k];
      if constexpr (std::is_floating_point_v<Weight>) {
        if (merge == karpos::merge_edges::sum) m += weights[k];
      } else {
        if (merge == karpos::merge_edges::sum)
          m = static_cast<Weight>(static_cast<std::uint64_t>(m) +
                                  static_cast<std::uint64_t>(weights[k]));
      }
    }
  }
  return m;
}

/// Returns the expected weights in the order of the graph's edges.
template <class Vertex, class Weight>
std::vector<Weight> expected_weights(edges<Vertex> const& list, std::vector<Weight> const& weights,
                                     csr_options const& o) {
  std::map<std::pair<Vertex, Vertex>, std::vector<Weight>> all;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Vertex const source = list.sources[i], target = list.targets[i];
    if (source == target && o.remove_self_loops) continue;
    all[{source, target}].push_back(weights[i]);
    if (o.symmetrise && source != target) all[{target, source}].push_back(weights[i]);
  }
  std::vector<Weight> w;
  for (auto const& [ends, of_edge] : all)
    if (o.remove_duplicates)
      w.push_back(merged(of_edge, o.merge));
    else
      w.insert(w.end(), of_edge.begin(), of_edge.end());
  return w;
}

/// Returns weights with ties; floating-point ones also with zeros of both signs, infinity, NaN, and
/// such magnitudes that a sum depends on the order of its terms.
template <class Weight>
std::vector<Weight> random_weights(std::size_t n, std::uint64_t seed) {
  karpos_test::random_numbers random(seed);
  std::vector<Weight> w(n);
  for (Weight& x : w) {
    std::uint64_t const r = random();
    if constexpr (std::is_same_v<Weight, road>) {
      x = {static_cast<std::uint32_t>(r), 2, static_cast<std::uint32_t>(r >> 32)};
    } else if constexpr (std::is_floating_point_v<Weight>) {
      Weight const some[] = {0, -Weight(0), -1, std::numeric_limits<Weight>::infinity(),
                             std::numeric_limits<Weight>::quiet_NaN()};
      x = r % 64 < 5 ? some[r % 64]
                     : std::ldexp(static_cast<Weight>(r >> 40), static_cast<int>(r >> 8 & 31));
    } else {
      x = static_cast<Weight>(r % 4 == 0 ? r >> 8 : r >> 60);
    }
  }
  return w;
}

/// Makes all NaNs one: machines differ in the bits of a NaN that an addition returns.
template <class Weight>
void unify_nans(std::vector<Weight>& weights) {
  if constexpr (std::is_floating_point_v<Weight>)
    for (Weight& x : weights)
      if (std::isnan(x)) x = std::numeric_limits<Weight>::quiet_NaN();
}
/// Compares bytes, so that zeros of different signs differ; all NaNs are equal.
template <class View, class Weight>
void check_weights(std::string const& what, View const& got, std::vector<Weight> want) {
  auto w = to_host(got);
  unify_nans(w);
  unify_nans(want);
  same(what + ": weights", w.size(), want.size());
  karpos_test::holds(
      what + ": the weights",
      w.size() == want.size() &&
          (w.empty() || std::memcmp(w.data(), want.data(), w.size() * sizeof(Weight)) == 0));
}

/// Checks weights with every combination of options, both ways of building rows, and transposed.
template <class Weight, class Offset, class Vertex>
void check_weighted(std::string const& name, edges<Vertex> const& list, std::uint64_t seed) {
  namespace inner = karpos::detail::build_csr;
  using graph = graph_of<Vertex, Offset>;
  auto const sources = to_space(list.sources), targets = to_space(list.targets);
  auto const values = random_weights<Weight>(list.sources.size(), seed);
  auto const weights = to_space(values);
  inner::edges_in_views<view<Vertex>, view<Vertex>> const pairs{sources, targets};
  for (unsigned bits = 0; bits < 24; ++bits) {
    csr_options const o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                        static_cast<karpos::merge_edges>(bits / 8)};
    using merge = karpos::merge_edges;
    if (!std::is_arithmetic_v<Weight> && o.merge != merge::first) continue;
    if (!o.remove_duplicates && o.merge == merge::minimum) continue;  // as sum: not merged
    std::string const what = name + ", options " + std::to_string(bits);
    auto const want = expected<Vertex, Offset>(list, o);
    auto const want_weights = expected_weights(list, values, o);
    auto const [g, w] =
        karpos::build_csr<Offset>(space(), list.vertices, sources, targets, weights, o);
    check_arrays(what, g, want);
    check_weights(what, w, want_weights);
    karpos_test::holds(what + ": direction", g.is_undirected() == o.symmetrise && g.is_trusted());
    inner::edge_weights<view<Weight>, Weight, space::memory_space> column{weights, o.merge};
    check_arrays(what + ", sorted",
                 inner::csr_by_sorting<graph>(space(), list.vertices, pairs, o, column), want);
    check_weights(what + ", sorted", column.to, want_weights);
    if (bits % 5 != 0) continue;
    edges<Vertex> rows{list.vertices, {}, want.columns};
    for (std::size_t v = 0; v < rows.vertices; ++v)
      rows.sources.resize(static_cast<std::size_t>(want.offsets[v + 1]), static_cast<Vertex>(v));
    std::swap(rows.sources, rows.targets);
    auto const [in, in_weights] = karpos::transpose(space(), g, w);
    check_arrays(what + ", transposed", in, transposed(want));
    check_weights(what + ", transposed", in_weights,
                  expected_weights(rows, want_weights, {false, false, false}));
  }
}

template <class Weight, class Vertex, class Offset>
void check_random_weighted() {
  check_weighted<Weight, Offset>("dense", random_edges<Vertex>(17, 0, 3000, 11), 1);
  check_weighted<Weight, Offset>("sparse", random_edges<Vertex>(5000, 0, 4000, 12), 2);
  auto ends_early = random_edges<Vertex>(50, 10, 2000, 13);
  ends_early.vertices = 70000;
  check_weighted<Weight, Offset>("empty run at the end", ends_early, 3);
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

TEST_CASE("weights of tiny graphs") {
  auto const check_tiny = [](std::string const& name, std::uint64_t vertices, auto const& pairs) {
    check_weighted<double, std::uint64_t>(name, listed<std::uint32_t>(vertices, pairs), 4);
  };
  using pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  check_tiny("nothing", 0, pairs{});
  check_tiny("one vertex", 1, pairs{});
  check_tiny("one self loop", 1, pairs{{0, 0}});
  check_tiny("self loops", 2, pairs{{1, 1}, {1, 1}});
  check_tiny("no edges", 1000, pairs{});
  check_tiny("both directions", 3, pairs{{0, 2}, {2, 0}, {0, 2}});
}

TEST_CASE("goldens with weights") {
  auto const list = listed<std::uint32_t>(4, {{3, 1}, {1, 3}, {0, 2}, {3, 1}, {2, 2}, {3, 0}});
  auto const weights = to_space(std::vector<int>{5, 3, 7, 4, 9, 1});
  auto const sources = to_space(list.sources), targets = to_space(list.targets);
  using ints = std::vector<int>;
  auto const built = [&](csr_options const& o) {
    return to_host(karpos::build_csr(space(), 4, sources, targets, weights, o).weights);
  };
  // Edges: 0 to 2, 1 to 3, 3 to 0, 3 to 1.
  using merge = karpos::merge_edges;
  CHECK(to_host(karpos::build_csr(space(), 4, sources, targets, weights).weights) ==
        ints{7, 3, 1, 4});
  CHECK(built({.merge = merge::first}) == ints{7, 3, 1, 5});
  CHECK(built({.merge = merge::sum}) == ints{7, 3, 1, 9});
  // 0 to 2 and 3, 1 to 3, 2 to 0, 3 to 0 and 1.
  CHECK(built({.symmetrise = true}) == ints{7, 1, 3, 7, 1, 3});
  CHECK(built({.symmetrise = true, .merge = merge::first}) == ints{7, 1, 5, 7, 1, 5});
  CHECK(built({.symmetrise = true, .merge = merge::sum}) == ints{7, 1, 12, 7, 1, 12});
  CHECK(built({.remove_self_loops = false, .remove_duplicates = false}) == ints{7, 3, 9, 1, 5, 4});
}

TEST_CASE("weights against those of a map") {
  SUBCASE("double") { check_random_weighted<double, std::uint32_t, std::uint64_t>(); }
  SUBCASE("a structure") { check_random_weighted<road, std::int64_t, std::uint32_t>(); }
#if KARPOS_FULL_TESTS
  SUBCASE("float") { check_random_weighted<float, std::uint32_t, std::uint32_t>(); }
  SUBCASE("u32") { check_random_weighted<std::uint32_t, std::uint32_t, std::uint64_t>(); }
  SUBCASE("i8") { check_random_weighted<std::int8_t, std::int32_t, std::int32_t>(); }
  SUBCASE("i64") { check_random_weighted<std::int64_t, std::uint64_t, std::uint64_t>(); }
  SUBCASE("u64") { check_random_weighted<std::uint64_t, std::int64_t, std::int64_t>(); }
#endif
}

TEST_CASE("one edge with very many duplicates keeps their order") {
  std::uint64_t const n = 20000;
  edges<std::uint32_t> list{3, {}, {}};
  for (std::uint64_t i = 0; i < n; ++i) list.add(i % 3 == 0 ? 2 : 1, i % 3 == 0 ? 1 : 2);
  check_weighted<double, std::uint64_t>("duplicates", list, 5);
  std::vector<std::uint32_t> a(1000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint32_t>(i * 7919 % 1009);
  auto sorted = a;
  std::sort(sorted.begin(), sorted.end());
  karpos::detail::build_csr::heap_sort(a.data(), a.size());
  CHECK(a == sorted);
}

TEST_CASE("weights that are refused") {
  auto const list = listed<std::uint32_t>(3, {{0, 1}, {1, 2}});
  auto const s = to_space(list.sources), t = to_space(list.targets);
  auto const roads = to_space(std::vector<road>(2));
  using merge = karpos::merge_edges;
  view<double> const three("three", 3);
  throws<std::invalid_argument>([&] { karpos::build_csr(space(), 3, s, t, three); }, "build_csr",
                                "sources and weights", "2 against 3");
  throws<std::invalid_argument>([&] { karpos::transpose(space(), build(list), three); },
                                "transpose", "edges of the graph and weights", "2 against 3");
  throws<std::invalid_argument>([&] { karpos::build_csr(space(), 3, s, t, roads); }, "no <",
                                "merge_edges::first");
  throws<std::invalid_argument>(
      [&] { karpos::build_csr(space(), 3, s, t, roads, {.merge = merge::sum}); }, "no +");
  throws<std::invalid_argument>(
      [&] { karpos::build_csr(space(), 3, s, t, {.merge = static_cast<merge>(3)}); },
      "no such way to merge duplicate edges", "number 3; valid are 0 to 2");
  auto const kept = karpos::build_csr(space(), 3, s, t, roads, {.remove_duplicates = false});
  same("kept", kept.weights.extent(0), 2);
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
