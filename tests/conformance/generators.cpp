// SPDX-License-Identifier: Apache-2.0
/// \file
/// The graphs that the driver generates: as their spec says, and equal on every backend.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "perf/measure/graph/generate_on.hpp"
#include "support/check.hpp"
#include "support/space.hpp"

namespace {

using karpos::perf::generator_spec;
using karpos::perf::grid_edges;
using karpos::perf::parse_generator;
using karpos::perf::powerlaw_edges;
using karpos::perf::rmat_edges;
using karpos::perf::uniform_edges;
using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;

using pairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

struct host_graph {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> columns;

  std::uint64_t vertices() const { return offsets.size() - 1; }
  std::uint64_t degree(std::uint64_t v) const { return offsets[v + 1] - offsets[v]; }
  std::uint64_t largest_degree() const {
    std::uint64_t most = 0;
    for (std::uint64_t v = 0; v < vertices(); ++v) most = std::max(most, degree(v));
    return most;
  }
  std::uint64_t checksum() const {
    std::uint64_t sum = columns.size();
    for (std::uint64_t const x : offsets) sum = karpos::mix(sum ^ x);
    for (std::uint64_t const x : columns) sum = karpos::mix(sum ^ x);
    return sum;
  }
};

host_graph generated(std::string const& text) {
  auto const g = karpos::perf::generate_on<std::uint64_t>(space(), parse_generator(text));
  holds(text + " is undirected", g.is_undirected());
  g.validate(space());
  return {to_host(g.row_offsets()), to_host(g.column_indices())};
}

/// Returns both directions of every edge of a list without self loops, drawn on the host.
template <class List>
pairs drawn(List const& list) {
  pairs edges;
  for (std::uint64_t i = 0; i < list.size(); ++i) {
    karpos::detail::build_csr::edge const e = list(i);
    if (e.source == e.target) continue;
    edges.emplace(e.source, e.target);
    edges.emplace(e.target, e.source);
  }
  return edges;
}

template <class List>
void check_against(std::string const& text) {
  generator_spec const spec = parse_generator(text);
  host_graph const g = generated(text);
  pairs const edges = drawn(List::of(spec));
  same(text + ": vertices", g.vertices(), spec.vertices());
  same(text + ": edges", g.columns.size(), edges.size());
  holds(text + ": candidates", edges.size() <= 2 * spec.candidates());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows;
  for (std::uint64_t v = 0; v < g.vertices(); ++v)
    for (std::uint64_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e)
      rows.emplace_back(v, g.columns[e]);
  holds(text + ": rows", std::equal(rows.begin(), rows.end(), edges.begin(), edges.end()));
}

void check_renaming(std::string const& text) {
  generator_spec const spec = parse_generator(text);
  auto const renumber = karpos::perf::renumbering::of(spec);
  std::vector<bool> hit(spec.vertices());
  std::uint64_t moved = 0;
  for (std::uint64_t v = 0; v < spec.vertices(); ++v) {
    std::uint64_t const name = renumber(v);
    REQUIRE(name < spec.vertices());
    hit[name] = true;
    moved += name != v;
  }
  holds(text + ": every name once", std::find(hit.begin(), hit.end(), false) == hit.end());
  if (spec.vertices() > 100) holds(text + ": is random", moved > spec.vertices() * 9 / 10);
}

}  // namespace

TEST_CASE("graphs are what their generators draw") {
  check_against<rmat_edges>("kron:scale=9,ef=16,seed=1");
  check_against<rmat_edges>("kron:scale=10,ef=3,seed=18446744073709551615,permute=0");
  check_against<rmat_edges>("rmat:scale=11,ef=8,seed=5");
  check_against<rmat_edges>("rmat:scale=1,ef=1");
  check_against<rmat_edges>("rmat:scale=5,ef=100,a=0,b=0,c=0");
  check_against<rmat_edges>("rmat:scale=5,a=1,b=0,c=0");
  check_against<uniform_edges>("uniform:scale=1,ef=1");
  check_against<uniform_edges>("uniform:scale=12,ef=4,seed=0");
  check_against<grid_edges>("grid:1x1");
  check_against<grid_edges>("grid:1x70,seed=2");
  check_against<grid_edges>("grid:70x1,drop=0.5");
  check_against<grid_edges>("grid:41x57,drop=0.3,seed=3");
  check_against<grid_edges>("grid:41x57,drop=0.3,seed=3,permute=1");
  check_against<powerlaw_edges>("powerlaw:vertices=1,edges=3");
  check_against<powerlaw_edges>("powerlaw:vertices=900,edges=300,seed=4");
  check_against<powerlaw_edges>("powerlaw:vertices=1000,edges=9000,skew=1,top=300");
  check_against<powerlaw_edges>("powerlaw:vertices=1000,edges=9000,skew=0,permute=0");
}

TEST_CASE("graphs are the same everywhere, today and tomorrow") {
  CHECK(generated("kron:scale=12,ef=16,seed=1").checksum() == 15188075279442098430u);
  CHECK(generated("rmat:scale=12,ef=16,seed=1").checksum() == 15444159104725201440u);
  CHECK(generated("uniform:scale=12,ef=16,seed=1").checksum() == 1780918838789233222u);
  CHECK(generated("powerlaw:vertices=4000,edges=60000,seed=1").checksum() == 3581130166714707579u);
  CHECK(generated("grid:50x60,drop=0.3,seed=1").checksum() == 7516271535743132765u);
  CHECK(generated("grid:50x60,drop=0.3,seed=1,permute=1").checksum() == 14165791194822264315u);
}

TEST_CASE("seeds give other graphs") {
  for (std::string const text : {"kron:scale=8", "rmat:scale=8", "uniform:scale=8",
                                 "grid:50x60,drop=0.3", "powerlaw:vertices=300,edges=2000"}) {
    std::set<std::uint64_t> sums;
    for (int seed = 0; seed < 8; ++seed)
      sums.insert(generated(text + ",seed=" + std::to_string(seed)).checksum());
    same(text, sums.size(), 8);
  }
}

TEST_CASE("names are bijections") {
  for (int scale = 1; scale <= 16; ++scale)
    check_renaming("kron:scale=" + std::to_string(scale) + ",seed=" + std::to_string(scale));
  check_renaming("grid:1x1,permute=1");
  check_renaming("grid:37x41,permute=1,seed=9");
  check_renaming("grid:1000x3,permute=1");
}

TEST_CASE("kron is skewed, rmat less, uniform not") {
  std::uint64_t const kron = generated("kron:scale=14,ef=16").largest_degree();
  std::uint64_t const rmat = generated("rmat:scale=14,ef=16").largest_degree();
  std::uint64_t const uniform = generated("uniform:scale=14,ef=16").largest_degree();
  CHECK(kron > 1500);
  CHECK(rmat > 100);
  CHECK(rmat < kron / 2);
  CHECK(uniform < 80);
}

TEST_CASE("quadrants have their chances") {
  generator_spec const spec = parse_generator("rmat:scale=7,ef=2048,a=0.4,b=0.3,c=0.2,permute=0");
  rmat_edges const list = rmat_edges::of(spec);
  for (int bit = 0; bit < 7; ++bit) {
    double part[4] = {0, 0, 0, 0};
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      karpos::detail::build_csr::edge const e = list(i);
      part[2 * (e.source >> bit & 1) + (e.target >> bit & 1)] +=
          1 / static_cast<double>(list.size());
    }
    CHECK(part[0] == doctest::Approx(0.4).epsilon(0.02));
    CHECK(part[1] == doctest::Approx(0.3).epsilon(0.02));
    CHECK(part[2] == doctest::Approx(0.2).epsilon(0.02));
    CHECK(part[3] == doctest::Approx(0.1).epsilon(0.02));
  }
}

TEST_CASE("grids have the edges of a grid") {
  host_graph const whole = generated("grid:30x40");
  CHECK(whole.columns.size() == 2 * (30 * 39 + 29 * 40));
  CHECK(whole.degree(0) == 2);
  CHECK(whole.degree(1) == 3);
  CHECK(whole.degree(41) == 4);
  CHECK(std::vector<std::uint32_t>(whole.columns.begin(), whole.columns.begin() + 5) ==
        std::vector<std::uint32_t>{1, 40, 0, 2, 41});
  CHECK(generated("grid:30x40,drop=1").columns.empty());
  std::size_t const all = 2 * (300 * 399 + 299 * 400);
  std::size_t const kept = generated("grid:300x400,drop=0.3").columns.size();
  CHECK(static_cast<double>(kept) == doctest::Approx(0.7 * static_cast<double>(all)).epsilon(0.01));
  CHECK(generated("grid:300x400,drop=0.3,permute=1").columns.size() == kept);
}

TEST_CASE("power laws have the degrees of their ranks") {
  std::string const text = "powerlaw:vertices=20000,edges=200000,permute=0,";
  auto const degrees = [&](std::string const& settings) {
    std::vector<std::uint64_t> degree(20000);
    powerlaw_edges const list = powerlaw_edges::of(parse_generator(text + settings));
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      karpos::detail::build_csr::edge const e = list(i);
      ++degree[e.source];
      ++degree[e.target];
    }
    return degree;
  };
  for (std::string const settings : {"skew=0.6,top=2000", "skew=1,top=2000", "skew=1.2,top=2000"}) {
    auto const degree = degrees(settings);
    same(settings + ": ends", std::accumulate(degree.begin(), degree.end(), std::uint64_t(0)),
         400000);
    holds(settings + ": no vertex is isolated",
          std::find(degree.begin(), degree.end(), 0) == degree.end());
    CHECK(degree[0] <= 2200);
    // Ranks 100 to 199 are a sixteenth of ranks 1600 to 3199: their vertices have 16^skew times as
    // many ends of edges, beside the edge that every vertex has.
    auto const sum = [&](std::size_t from, std::size_t to) {
      return static_cast<double>(std::accumulate(degree.begin() + static_cast<std::ptrdiff_t>(from),
                                                 degree.begin() + static_cast<std::ptrdiff_t>(to),
                                                 std::uint64_t(0))) /
                 static_cast<double>(to - from) -
             1;
    };
    auto const list = powerlaw_edges::of(parse_generator(text + settings)).rank_of;
    double const expected = std::pow((150 + list.shift) / (2400 + list.shift), -list.exponent);
    CHECK(sum(100, 200) / sum(1600, 3200) == doctest::Approx(expected).epsilon(0.1));
  }
  CHECK(degrees("skew=1,top=2000")[0] > 1800);
  CHECK(degrees("skew=0")[0] < 60);
}

TEST_CASE("offsets that are too narrow are refused") {
  auto const spec = parse_generator("uniform:scale=31,ef=2");
  throws<std::length_error>([&] { karpos::perf::generate_on<std::uint32_t>(space(), spec); },
                            "4294967296", "2147483647", "EdgeOffset");
}

TEST_CASE("progress is told") {
  double last = -1;
  karpos::perf::generate_on<std::uint64_t>(space(), parse_generator("kron:scale=5"),
                                           [&](double part, std::string const& what) {
                                             CHECK(part > last);
                                             CHECK(part <= 1);
                                             CHECK(!what.empty());
                                             last = part;
                                           });
  CHECK(last >= 0);
}

TEST_CASE("specs are read") {
  generator_spec const kron = parse_generator("kron:scale=22,ef=32,seed=7");
  CHECK(to_string(parse_generator("kron:scale=2.2e1,ef=2^5,seed=7")) == to_string(kron));
  CHECK(kron.family == generator_spec::families::kron);
  CHECK(kron.vertices() == 1u << 22);
  CHECK(kron.candidates() == 32u << 22);
  CHECK(kron.seed == 7);
  CHECK(kron.a == 0.57);
  CHECK(parse_generator("rmat:").a == 0.45);
  CHECK(parse_generator("rmat:a=0.5").a == 0.5);
  generator_spec const grid = parse_generator("grid:5x7,drop=0.25");
  CHECK(grid.rows == 5);
  CHECK(grid.columns == 7);
  CHECK(grid.drop == 0.25);
  CHECK(grid.candidates() == 70);
  for (std::string const text : {"kron:scale=22,ef=32,seed=7,permute=0",
                                 "rmat:scale=9,ef=1,seed=0,permute=1,a=0.1,b=0.2,c=0.3",
                                 "uniform:scale=1,ef=1048576,seed=18446744073709551615",
                                 "grid:4294967295x1,drop=0.3,seed=1,permute=1",
                                 "powerlaw:vertices=7,edges=20,skew=0.7,top=9,seed=1,permute=1"})
    CHECK(to_string(parse_generator(text)) == text);
}

TEST_CASE("words that name a generator, and words that name a file") {
  using karpos::perf::is_generator;
  for (std::string const text : {"kron:scale=3", "grid:4x4", "krun:scale=3", "uniform:"})
    CHECK(is_generator(text));
  for (std::string const text : {"kron", "graph.mtx", "./kron:scale=3", "a/b:c", "", ":", "r2:x"})
    CHECK(!is_generator(text));
}

TEST_CASE("specs that are refused say what there is") {
  auto const refused = [](std::string const& text, auto const&... words) {
    throws<std::invalid_argument>([&] { parse_generator(text); }, "karpos: ", words...);
  };
  refused("krun:scale=3", "'krun'", "kron:scale=20", "rmat:", "uniform:", "grid:4096x4096");
  refused("uniform:edges=3", "uniform has no setting 'edges'", "scale=, ef=, seed=");
  refused("uniform:permute=1", "no setting 'permute'");
  refused("kron:a=0.5", "no setting 'a'");
  refused("grid:4x4,scale=3", "no setting 'scale'", "drop=");
  refused("kron:scale", "scale", "from 1 to 31");
  refused("kron:scale=", "scale", "''");
  refused("kron:scale=0", "'0'", "from 1 to 31");
  refused("kron:scale=32", "'32'");
  refused("kron:scale=-1", "'-1'");
  refused("kron:scale=1.5", "'1.5'");
  refused("kron:scale=3,ef=2,scale=3", "scale of a generator is given twice", "'scale=3'");
  refused("kron:ef=0", "ef", "from 1 to 1048576");
  refused("kron:seed=18446744073709551616", "seed");
  refused("kron:permute=2", "permute", "from 0 to 1");
  refused("kron:scale=3,,ef=2", "no setting ''");
  refused("rmat:a=0.5,b=0.4,c=0.2", "sum is 1.1");
  refused("rmat:a=nan", "'nan'", "from 0 to 1");
  refused("grid:", "without its size", "4096x4096");
  refused("grid:4", "without its size");
  refused("grid:0x4", "rows", "'0'");
  refused("grid:4x", "columns", "''");
  refused("grid:65536x65536", "too many vertices", "4294967295");
  refused("grid:4x4,drop=1.5", "drop", "'1.5'");
  refused("powerlaw:vertices=0", "vertices", "'0'");
  refused("powerlaw:skew=2.1", "skew", "from 0 to 2");
  refused("powerlaw:scale=3", "no setting 'scale'", "vertices=, edges=, skew=, top=");
}
