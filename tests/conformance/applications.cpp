// SPDX-License-Identifier: Apache-2.0
/// \file
/// The applications of docs/examples, which karpos paper measures too: pairs of triangles are those
/// whose hulls have a point in common, and votes are those of comparisons, also for degenerate
/// input.
#include <doctest/doctest.h>

#define KARPOS_EXAMPLE_SPACE KARPOS_TEST_SPACE
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "docs/examples/geometric_hashing.hpp"
#include "docs/examples/intersecting_surfaces.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::random_numbers;
using karpos_test::space;
namespace matching = geometric_hashing;
namespace surfaces = intersecting_surfaces;
using surfaces::triangle;

// The hulls of two triangles intersect if 0 is in the hull of the differences of their corners: in
// a simplex of at most four of the nine, which has a volume (Caratheodory).
__extension__ using int128 = __int128;
struct vector128 {
  int128 x, y, z;
};
vector128 cross(vector128 a, vector128 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
int128 dot(vector128 a, vector128 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
int128 det(vector128 a, vector128 b, vector128 c) { return dot(cross(a, b), c); }

bool holds_zero(std::vector<vector128> const& s) {
  if (s.size() == 1) return s[0].x == 0 && s[0].y == 0 && s[0].z == 0;
  if (s.size() == 2) return holds_zero({cross(s[0], s[1])}) && dot(s[0], s[1]) <= 0;
  if (s.size() == 3) {
    vector128 const a = cross(s[0], s[1]), b = cross(s[1], s[2]), c = cross(s[2], s[0]),
                    n = {a.x + b.x + c.x, a.y + b.y + c.y, a.z + b.z + c.z};
    return !holds_zero({n}) && det(s[0], s[1], s[2]) == 0 && dot(a, n) >= 0 && dot(b, n) >= 0 &&
           dot(c, n) >= 0;
  }
  int128 const volumes[4] = {det(s[1], s[2], s[3]), -det(s[0], s[2], s[3]), det(s[0], s[1], s[3]),
                             -det(s[0], s[1], s[2])};
  auto const [low, high] = std::minmax_element(volumes, volumes + 4);
  return (*low >= 0 && *high > 0) || (*high <= 0 && *low < 0);
}
bool hulls_intersect(triangle const& a, triangle const& b) {
  std::vector<vector128> all, chosen;
  for (auto const& p : a.corner)
    for (auto const& q : b.corner) all.push_back({p.x - q.x, p.y - q.y, p.z - q.z});
  std::function<bool(std::size_t)> const search = [&](std::size_t first) {
    if (!chosen.empty() && holds_zero(chosen)) return true;
    for (std::size_t i = first; i < all.size() && chosen.size() < 4; ++i) {
      chosen.push_back(all[i]);
      bool const found = search(i + 1);
      chosen.pop_back();
      if (found) return true;
    }
    return false;
  };
  return search(0);
}

/// Returns a triangle whose coordinates are drawn.
template <class Draw>
triangle draw_triangle(Draw const& draw) {
  triangle t;
  for (auto& corner : t.corner) corner = {draw(), draw(), draw()};
  return t;
}

TEST_CASE("triangles intersect if their hulls do, touching and degenerate ones too") {
  random_numbers random(1);
  constexpr std::int64_t last = (1 << surfaces::coordinate_bits) - 1;
  for (std::int64_t const range : {2, 4, 6}) {
    // Small numbers, and the smallest and largest of all, whose products nearly overflow.
    auto const small = [&] {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(range)));
    };
    auto const large = [&] { return random.below(2) == 0 ? small() : last - small(); };
    int found[2] = {0, 0};
    for (int i = 0; i < 4000; ++i) {
      bool const is_small = i % 2 == 0;
      triangle const a = is_small ? draw_triangle(small) : draw_triangle(large),
                     b = is_small ? draw_triangle(small) : draw_triangle(large);
      bool const expected = hulls_intersect(a, b);
      CHECK(surfaces::intersect(a, b) == expected);
      CHECK(surfaces::intersect(b, a) == expected);
      ++found[expected];
    }
    CHECK(std::min(found[0], found[1]) > 400);
  }
}

surfaces::surface surface_of(std::vector<triangle> const& triangles) {
  surfaces::surface const s{decltype(surfaces::surface::vertices)("vertices", 3 * triangles.size()),
                            decltype(surfaces::surface::triangles)("triangles", triangles.size())};
  auto const vertices = Kokkos::create_mirror_view(s.vertices);
  auto const corners = Kokkos::create_mirror_view(s.triangles);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t i = 0; i < 3; ++i) {
      auto const& [x, y, z] = triangles[t].corner[i];
      corners(t, i) = static_cast<std::uint32_t>(3 * t + i);
      vertices(3 * t + i, 0) = static_cast<std::int32_t>(x);
      vertices(3 * t + i, 1) = static_cast<std::int32_t>(y);
      vertices(3 * t + i, 2) = static_cast<std::int32_t>(z);
    }
  Kokkos::deep_copy(s.vertices, vertices);
  Kokkos::deep_copy(s.triangles, corners);
  return s;
}

/// Finds all pairs by the grid, and compares them with those that the host finds without it.
void check_pairs(surfaces::grid& grid, std::vector<triangle> const& fixed,
                 std::vector<triangle> const& moving, std::size_t at_least) {
  space const exec;
  surfaces::surface const a = surface_of(fixed), b = surface_of(moving);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < fixed.size(); ++i)
    for (std::uint64_t j = 0; j < moving.size(); ++j)
      if (surfaces::intersect(fixed[i], moving[j])) expected.push_back(i << 32 | j);
  surfaces::pair_list found;
  grid.build(exec, b);
  std::uint64_t const n = grid.find(exec, a, b, found);
  CHECK(surfaces::sorted_pairs(found, n, 1) == expected);
  CHECK(n >= at_least);
  std::uint64_t const m = surfaces::find_without_grid(exec, a, b, 1, found);
  CHECK(surfaces::sorted_pairs(found, m, 1) == expected);
}

TEST_CASE("a spatial hash finds each pair of triangles once") {
  surfaces::grid grid{space()};
  random_numbers random(2);
  constexpr std::int64_t cell = 1 << (surfaces::coordinate_bits - surfaces::cell_bits);
  // Triangles of up to four cells; many corners are at the corners of cells.
  auto const draw = [&] {
    auto const n = static_cast<std::int64_t>(random.below(5 * cell));
    return 60 * cell + (random.below(2) == 0 ? n : n / cell * cell);
  };
  auto const triangles = [&](int n) {
    std::vector<triangle> all;
    for (int i = 0; i < n; ++i) all.push_back(draw_triangle(draw));
    return all;
  };
  check_pairs(grid, {}, {}, 0);
  check_pairs(grid, triangles(5), {}, 0);
  check_pairs(grid, triangles(100), triangles(80), 100);
  check_pairs(grid, {}, triangles(5), 0);
  check_pairs(grid, triangles(20), triangles(40), 10);
  auto const one = triangles(1);
  check_pairs(grid, std::vector(50, one[0]), std::vector(50, one[0]), 2500);
  triangle const point{{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}};
  check_pairs(grid, {point, one[0]}, {one[0], point, point}, 3);
}

TEST_CASE("tori that move are intersected as without a grid") {
  space const exec;
  constexpr std::uint32_t n = 7;
  surfaces::surface const fixed = surfaces::make_fixed(exec, n),
                          moving = surfaces::make_torus(exec, n);
  surfaces::grid grid(exec);
  surfaces::pair_list found, expected;
  for (int const frame : {0, 30, 90}) {
    surfaces::move_torus(exec, moving, n, frame);
    grid.build(exec, moving);
    std::uint64_t const seen = grid.find(exec, fixed, moving, found);
    CHECK(seen > 0);
    for (std::uint32_t const step : {1, 5})
      CHECK(surfaces::sorted_pairs(found, seen, step) ==
            surfaces::sorted_pairs(
                expected, surfaces::find_without_grid(exec, fixed, moving, step, expected), step));
  }
}

TEST_CASE("cells of frames: rounded down, and independent of quarter turns, scale and shift") {
  using matching::cell_in_frame, matching::none;
  matching::point const a{-16, 0}, b{16, 0};  // a cell is two wide
  std::uint32_t const middle = cell_in_frame(a, b, {0, 0}), step = 1 << 15;
  CHECK(cell_in_frame(a, b, {1, 1}) == middle);
  CHECK(cell_in_frame(a, b, {2, 0}) == middle + step);
  CHECK(cell_in_frame(a, b, {-1, 0}) == middle - step);
  CHECK(cell_in_frame(a, b, {-2, 0}) == middle - step);
  CHECK(cell_in_frame(a, b, {0, -3}) == middle - 2);
  CHECK(cell_in_frame(b, a, {4, 0}) == middle - 2 * step);
  CHECK(cell_in_frame(a, a, b) == none);
  CHECK(cell_in_frame(a, b, {40000, 0}) == none);
  CHECK(cell_in_frame(a, b, {0, -40000}) == none);
  random_numbers random(3);
  auto const draw = [&] { return static_cast<std::int64_t>(random.below(1000)); };
  for (int i = 0; i < 1000; ++i) {
    matching::point const p[3] = {{draw(), draw()}, {draw(), draw()}, {draw(), draw()}};
    std::int64_t const scale = draw() + 1, x = draw(), y = draw();
    auto const turned = [&](matching::point c) {
      return matching::point{x - scale * c.y, y + scale * c.x};
    };
    CHECK(cell_in_frame(p[0], p[1], p[2]) ==
          cell_in_frame(turned(p[0]), turned(p[1]), turned(p[2])));
  }
}

/// Checks the votes of a table against those by comparison. Returns the matches.
std::vector<matching::match> check_votes(matching::input const& all, std::uint64_t of_each) {
  space const exec;
  matching::matcher const table(exec, all.models);
  matching::trials const tried{{all.scenes}, of_each};
  auto const votes = table.votes(exec, tried);
  std::uint64_t cast = 0, wrong = 0, most = 0;
  Kokkos::parallel_reduce("count", matching::range(exec, votes.extent(0)),
                          matching::count_votes{votes, table.votes(exec, tried, false)}, cast,
                          wrong);
  CHECK(wrong == 0);
  auto const matches = table.matches(exec, tried, votes);
  CHECK(matches.size() == all.scenes.extent(0));
  // The match of a scene is the first of those with most votes.
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), votes);
  std::uint64_t const bases = all.models.extent(0) * all.models.extent(1) * all.models.extent(1);
  for (std::size_t s = 0; s < matches.size() && host.extent(0) > 0; ++s) {
    auto const* const first = host.data() + s * of_each * bases;
    auto const* const best = std::max_element(first, first + of_each * bases);
    CHECK(matches[s].votes == *best);
    CHECK(matches[s].trial * bases + matches[s].basis ==
          static_cast<std::uint64_t>(best - host.data()));
    most = std::max<std::uint64_t>(most, *best);
  }
  CHECK((cast == 0) == (most == 0));
  return matches;
}

TEST_CASE("geometric hashing finds models that are turned, scaled and shifted, with noise") {
  for (double const noise : {0.0, 2.0}) {
    matching::input const all = matching::make_input(10, 6, 12, noise);
    auto const matches = check_votes(all, 24);
    for (std::size_t s = 0; s < matches.size(); ++s) CHECK(matches[s].basis / 144 == all.shown[s]);
  }
  matching::input same = matching::make_input(3, 3, 8, 0);
  same.scenes = same.models;  // a basis finds itself by all other points
  for (auto const& m : check_votes(same, 56)) CHECK(m.votes == 6);
}

TEST_CASE("geometric hashing of sets without points, with few, and with points at one place") {
  struct {
    std::uint32_t models, scenes, points, trials;
  } const cases[] = {{0, 2, 5, 20}, {2, 0, 5, 20}, {2, 2, 0, 0}, {2, 2, 1, 0},
                     {2, 2, 2, 2},  {1, 1, 3, 6},  {2, 2, 5, 0}};
  for (auto const& c : cases) {
    INFO(c.points, " points");
    check_votes({matching::point_sets("models", c.models, c.points),
                 matching::point_sets("scenes", c.scenes, c.points),
                 {}},
                c.trials);
    if (c.models > 0) check_votes(matching::make_input(c.models, c.scenes, c.points, 0), c.trials);
  }
}

}  // namespace
