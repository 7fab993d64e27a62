// SPDX-License-Identifier: Apache-2.0
//
// Two surfaces of triangles, one of which moves: which of their triangles intersect? The cube is
// divided into 128^3 cells, most of them empty. A hash_multimap leads from each cell to the
// triangles of the moving surface whose boxes reach it. It is rebuilt in every frame. Then each
// triangle of the other surface looks up the cells that its own box reaches.
//
// The answers are exact. Vertices are integers in [0, 2^20), and a pair of triangles is judged by
// signs of integers that fit into 64 bits, so that nothing is rounded. Triangles are closed: those
// that only touch intersect. They may be degenerate: segments or points.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <karpos/hash_multimap.hpp>
#include <vector>

#if !defined(KARPOS_EXAMPLE_SPACE)
#define KARPOS_EXAMPLE_SPACE Kokkos::DefaultExecutionSpace
#endif

namespace intersecting_surfaces {

using space = KARPOS_EXAMPLE_SPACE;
constexpr int coordinate_bits = 20, cell_bits = 7;  // 128 cells along an edge of the cube

struct vector {
  std::int64_t x, y, z;
};
KOKKOS_INLINE_FUNCTION vector operator-(vector a, vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
KOKKOS_INLINE_FUNCTION vector cross(vector a, vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
KOKKOS_INLINE_FUNCTION std::int64_t dot(vector a, vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

KOKKOS_INLINE_FUNCTION vector minimum(vector a, vector b) {
  return {Kokkos::min(a.x, b.x), Kokkos::min(a.y, b.y), Kokkos::min(a.z, b.z)};
}
KOKKOS_INLINE_FUNCTION vector maximum(vector a, vector b) {
  return {Kokkos::max(a.x, b.x), Kokkos::max(a.y, b.y), Kokkos::max(a.z, b.z)};
}

struct triangle {
  vector corner[3];
};
/// A surface: the corners of triangle t are the vertices triangles(t, 0), (t, 1) and (t, 2). The
/// coordinates of a vertex lie side by side on GPUs, too, where they are read in no order.
struct surface {
  Kokkos::View<std::int32_t* [3], Kokkos::LayoutRight, space> vertices;
  Kokkos::View<std::uint32_t* [3], Kokkos::LayoutRight, space> triangles;
  KOKKOS_FUNCTION triangle operator()(std::uint64_t t) const {
    triangle all;
    for (int i = 0; i < 3; ++i) {
      std::uint32_t const v = triangles(t, i);
      all.corner[i] = {vertices(v, 0), vertices(v, 1), vertices(v, 2)};
    }
    return all;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(triangles.extent(0)); }
};

/// Returns whether a plane with this normal lies strictly between two triangles.
KOKKOS_INLINE_FUNCTION bool separates(vector normal, triangle const& a, triangle const& b) {
  std::int64_t low[2], high[2];
  for (int which = 0; which < 2; ++which)
    for (int i = 0; i < 3; ++i) {
      // At most three times 2^61: the normal is a product of two edges, and coordinates differ by
      // less than 2^20.
      std::int64_t const at = dot(normal, (which == 0 ? a : b).corner[i] - a.corner[0]);
      low[which] = i == 0 || at < low[which] ? at : low[which];
      high[which] = i == 0 || at > high[which] ? at : high[which];
    }
  return high[0] < low[1] || high[1] < low[0];
}
/// Returns whether two triangles have a point in common. If they have none, one of these planes
/// separates them (separating axis theorem): a plane of the box, of a triangle, or parallel to an
/// edge of each. If both lie in one plane, or one line, a plane through an edge and parallel to a
/// coordinate axis does.
KOKKOS_INLINE_FUNCTION bool intersect(triangle const& a, triangle const& b) {
  vector const axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (vector const& axis : axes)
    if (separates(axis, a, b)) return false;
  vector e[3], f[3];
  for (int i = 0; i < 3; ++i) {
    e[i] = a.corner[(i + 1) % 3] - a.corner[i];
    f[i] = b.corner[(i + 1) % 3] - b.corner[i];
  }
  if (separates(cross(e[0], e[1]), a, b) || separates(cross(f[0], f[1]), a, b)) return false;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (separates(cross(e[i], f[j]), a, b)) return false;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (separates(cross(e[i], axes[j]), a, b) || separates(cross(f[i], axes[j]), a, b))
        return false;
  return true;
}

/// The cells that the box of a triangle reaches.
struct cell_box {
  vector first, last;
};
KOKKOS_INLINE_FUNCTION cell_box cells_of(triangle const& t) {
  constexpr int shift = coordinate_bits - cell_bits;
  vector low = t.corner[0], high = low;
  for (vector const& v : t.corner) low = minimum(low, v), high = maximum(high, v);
  return {{low.x >> shift, low.y >> shift, low.z >> shift},
          {high.x >> shift, high.y >> shift, high.z >> shift}};
}
KOKKOS_INLINE_FUNCTION std::uint32_t cell_number(vector cell) {
  return static_cast<std::uint32_t>((cell.z << cell_bits | cell.y) << cell_bits | cell.x);
}
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_cell(cell_box const& box, F const& f) {
  for (std::int64_t z = box.first.z; z <= box.last.z; ++z)
    for (std::int64_t y = box.first.y; y <= box.last.y; ++y)
      for (std::int64_t x = box.first.x; x <= box.last.x; ++x) f(cell_number({x, y, z}));
}
/// Returns the first cell that two boxes share, if they share one. A pair is judged only there.
KOKKOS_INLINE_FUNCTION std::uint32_t first_common_cell(cell_box const& a, cell_box const& b) {
  return cell_number(maximum(a.first, b.first));
}

/// Pairs of triangles, in any order. A pair is a word: the fixed triangle in its upper half, the
/// moving one in the lower.
struct pair_list {
  Kokkos::View<std::uint64_t*, space> pairs{"pairs", 1024};
  Kokkos::View<std::uint64_t, space> count{"count"};

  KOKKOS_FUNCTION void append(std::uint64_t fixed, std::uint64_t moving) const {
    std::uint64_t const i = Kokkos::atomic_fetch_add(&count(), std::uint64_t(1));
    if (i < pairs.extent(0)) pairs(i) = fixed << 32 | moving;
  }
  /// Calls find(), which appends pairs, and again if the list was too short. Returns their number.
  template <class Find>
  std::uint64_t fill(Find const& find) {
    for (;;) {
      std::uint64_t n = 0;
      Kokkos::deep_copy(count, n);
      find();
      Kokkos::deep_copy(n, count);  // waits
      if (n <= pairs.extent(0)) return n;
      Kokkos::realloc(pairs, n + n / 4);
    }
  }
};

using cell_map = karpos::hash_multimap<std::uint32_t, std::uint32_t, space>;

struct insert_cells {
  surface moving;
  cell_map::ref_type grid;
  KOKKOS_FUNCTION void operator()(std::uint32_t t) const {
    for_each_cell(cells_of(moving(t)), [&](std::uint32_t cell) { grid.insert(cell, t); });
  }
};
struct judge_candidates {
  surface fixed, moving;
  cell_map::frozen_ref_type grid;
  pair_list found;
  KOKKOS_FUNCTION void operator()(std::uint32_t t) const {
    triangle const a = fixed(t);
    cell_box const box = cells_of(a);
    for_each_cell(box, [&](std::uint32_t cell) {
      grid.for_each_match(cell, [&](std::uint32_t candidate) {
        triangle const b = moving(candidate);
        if (first_common_cell(box, cells_of(b)) == cell && intersect(a, b))
          found.append(t, candidate);
      });
    });
  }
};

/// The grid of a surface that moves. `capacity` is how many pairs of a cell and a triangle kernels
/// may insert.
struct grid {
  std::uint64_t capacity = 1024;
  cell_map cells;

  explicit grid(space const& exec) : cells(exec, capacity, {.growth = karpos::growth::automatic}) {}

  /// Builds the grid anew, once more if the capacity was too small.
  void build(space const& exec, surface const& moving) {
    for (;;) {
      cells.clear(exec);
      Kokkos::parallel_for("cells", Kokkos::RangePolicy(exec, 0, moving.size()),
                           insert_cells{moving, cells.ref(exec, capacity)});
      karpos::insert_report const all = cells.consolidate(exec);
      if (all.rejected == 0) return;
      capacity = (all.inserted + all.rejected) * 5 / 4;
    }
  }
  /// Finds the pairs of triangles that intersect. Returns their number.
  std::uint64_t find(space const& exec, surface const& fixed, surface const& moving,
                     pair_list& found) const {
    return found.fill([&] {
      Kokkos::parallel_for("candidates", Kokkos::RangePolicy(exec, 0, fixed.size()),
                           judge_candidates{fixed, moving, cells.frozen_ref(), found});
    });
  }
};

struct judge_all {
  surface fixed, moving;
  std::uint64_t step, moving_size;
  pair_list found;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const a = i / moving_size * step, b = i % moving_size;
    if (intersect(fixed(a), moving(b))) found.append(a, b);
  }
};
/// Finds pairs without a grid: judges every step-th triangle of the fixed surface with each of the
/// other. Returns their number.
inline std::uint64_t find_without_grid(space const& exec, surface const& fixed,
                                       surface const& moving, std::uint32_t step,
                                       pair_list& found) {
  std::uint64_t const n = (std::uint64_t(fixed.size()) + step - 1) / step * moving.size();
  return found.fill([&] {
    Kokkos::parallel_for("all pairs",
                         Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>(exec, 0, n),
                         judge_all{fixed, moving, step, moving.size(), found});
  });
}

/// Connects the vertices of a torus, a grid of 3 n by n without borders, to 6 n^2 triangles.
struct connect_torus {
  surface torus;
  std::uint32_t n;
  KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
    std::uint32_t const i = p / n * n, j = p % n, k = (i + n) % (3 * n * n), l = (j + 1) % n;
    std::uint32_t const corners[6] = {p, k + j, i + l, k + l, i + l, k + j};
    for (std::uint32_t c = 0; c < 6; ++c) torus.triangles(2 * p + c / 3, c % 3) = corners[c];
  }
};
inline surface make_torus(space const& exec, std::uint32_t n) {
  surface const torus{decltype(surface::vertices)("vertices", 3 * n * n),
                      decltype(surface::triangles)("triangles", 6 * n * n)};
  Kokkos::parallel_for("connect", Kokkos::RangePolicy(exec, 0, 3 * n * n), connect_torus{torus, n});
  return torus;
}
/// Places the vertices of a torus with waves, which is turned around an axis.
struct move_vertices {
  surface torus;
  std::uint32_t n;
  double middle, turn, waves;
  KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
    double const u = 6.283185307179586 * (p / n) / (3 * n), v = 6.283185307179586 * (p % n) / n;
    double const thick = 0.08 + 0.02 * Kokkos::cos(7 * u + waves),
                 wide = 0.24 + thick * Kokkos::cos(v), y = wide * Kokkos::sin(u),
                 z = thick * Kokkos::sin(v), c = Kokkos::cos(turn), s = Kokkos::sin(turn);
    double const at[3] = {middle + wide * Kokkos::cos(u), 0.5 + y * c - z * s, 0.5 + y * s + z * c};
    for (int d = 0; d < 3; ++d)
      torus.vertices(p, d) = static_cast<std::int32_t>(at[d] * (1 << coordinate_bits));
  }
};
/// Makes a torus of 6 n^2 triangles that lies still.
inline surface make_fixed(space const& exec, std::uint32_t n) {
  surface const torus = make_torus(exec, n);
  Kokkos::parallel_for("place", Kokkos::RangePolicy(exec, 0, 3 * n * n),
                       move_vertices{torus, n, 0.4, 0, 0});
  return torus;
}
/// Moves another one: it swings, and its waves run around it.
inline void move_torus(space const& exec, surface const& torus, std::uint32_t n, int frame) {
  double const time = 0.05 * frame;
  Kokkos::parallel_for("move", Kokkos::RangePolicy(exec, 0, 3 * n * n),
                       move_vertices{torus, n, 0.6, 0.5 + 0.2 * Kokkos::sin(time), 5 * time});
}

/// Returns the pairs of every step-th fixed triangle among the first n of a list, sorted.
inline std::vector<std::uint64_t> sorted_pairs(pair_list const& list, std::uint64_t n,
                                               std::uint32_t step) {
  auto const pairs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.pairs);
  std::vector<std::uint64_t> sorted;
  for (std::uint64_t i = 0; i < n; ++i)
    if ((pairs(i) >> 32) % step == 0) sorted.push_back(pairs(i));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace intersecting_surfaces
