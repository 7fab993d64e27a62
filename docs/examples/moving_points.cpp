// SPDX-License-Identifier: Apache-2.0
//
// A spatial hash of moving points, rebuilt in every frame: which points are nearer to each other
// than the width of a cell, in a grid of 128^3 cells? Four ways to find the points of a cell:
//
//   - points sorted by cell, and a binary search;
//   - points sorted by cell, and a map from each nonempty cell to its first point, as in the
//     application of the paper on two-level cuckoo hashing: cuckoo_map, hash_map, hopscotch_map;
//   - a map from each cell to one of its points, which links to the next: one body of code for
//     Kokkos::UnorderedMap and karpos::unordered_map;
//   - a hash_multimap from cells to points.
//
// All must count the same pairs. A sample of the points is checked without a grid.
//
//   moving_points [points] [frames] [picture.ppm]        20,000 points and 3 frames by default
#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/unordered_map.hpp>
#include <utility>
#include <vector>

using space = Kokkos::DefaultExecutionSpace;
using vectors = Kokkos::View<float* [3], space>;
using numbers = Kokkos::View<std::uint32_t*, space>;
constexpr int side = 128;                   // cells along an edge of the unit cube
constexpr float near = 1.0f / side;         // points nearer than this touch
constexpr std::uint32_t none = 0xffffffff;  // no point

/// Returns the cell of a point, or a neighbour of this cell; `none` outside the cube.
KOKKOS_FUNCTION std::uint32_t cell_of(vectors const& x, std::uint32_t p, int di = 0, int dj = 0,
                                      int dk = 0) {
  int const c[3] = {static_cast<int>(x(p, 0) * side) + di, static_cast<int>(x(p, 1) * side) + dj,
                    static_cast<int>(x(p, 2) * side) + dk};
  for (int const i : c)
    if (i < 0 || i >= side) return none;
  return static_cast<std::uint32_t>((c[2] * side + c[1]) * side + c[0]);
}
KOKKOS_FUNCTION bool touch(vectors const& x, std::uint32_t p, std::uint32_t q) {
  float d = 0;
  for (int i = 0; i < 3; ++i) d += (x(p, i) - x(q, i)) * (x(p, i) - x(q, i));
  return p != q && d < near * near;
}

/// A map from each nonempty cell to one of its points; each point links to the next in its cell.
/// Only the type of the map differs between Kokkos' and ours.
template <class Map>
struct map_grid {
  struct link_point {
    Map cells;
    numbers next;
    vectors x;
    KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
      auto const cell = cells.insert(cell_of(x, p), std::uint32_t(none));
      if (cell.failed()) {  // the point is missing: the grids disagree
        next(p) = none;
        return;
      }
      next(p) = Kokkos::atomic_exchange(&cells.value_at(cell.index()), p);
    }
  };
  struct reader {
    typename Map::const_map_type cells;
    numbers next;
    template <class F>
    KOKKOS_FUNCTION void for_each_in(std::uint32_t cell, F const& f) const {
      auto const at = cells.find(cell);
      if (!cells.valid_at(at)) return;
      for (std::uint32_t p = cells.value_at(at); p != none; p = next(p)) f(p);
    }
  };
  Map cells;
  numbers next;

  explicit map_grid(std::uint32_t points) : cells(points), next("next", points) {}
  void build(space const& exec, vectors const& x) {
    cells.clear();
    Kokkos::parallel_for("link", Kokkos::RangePolicy(exec, 0, x.extent(0)),
                         link_point{cells, next, x});
  }
  reader read() const { return {cells, next}; }
};

struct write_cells {
  vectors x;
  numbers cells, points;
  KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
    cells(p) = cell_of(x, p);
    points(p) = p;
  }
};
/// A multimap from cells to their points.
struct multimap_grid {
  using map_type = karpos::hash_multimap<std::uint32_t, std::uint32_t, space>;
  struct reader {
    map_type::frozen_ref_type map;
    template <class F>
    KOKKOS_FUNCTION void for_each_in(std::uint32_t cell, F const& f) const {
      map.for_each_match(cell, f);
    }
  };
  map_type map;
  numbers cells, points;

  explicit multimap_grid(std::uint32_t n)
      : map(space(), n),
        cells("cells", n),
        points("points", n) {}
  void build(space const& exec, vectors const& x) {
    Kokkos::parallel_for("cells", Kokkos::RangePolicy(exec, 0, x.extent(0)),
                         write_cells{x, cells, points});
    map.clear(exec);
    map.insert(exec, cells, points);
  }
  reader read() const { return {map.frozen_ref()}; }
};

/// The points sorted by their cells.
struct sorted_grid {
  using words = Kokkos::View<std::uint64_t*, space>;
  struct write_words {
    vectors x;
    words order;
    KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
      order(p) = std::uint64_t(cell_of(x, p)) << 32 | p;
    }
  };
  struct reader {
    words order;
    template <class F>
    KOKKOS_FUNCTION void for_each_in(std::uint32_t cell, F const& f) const {
      std::uint64_t const wanted = std::uint64_t(cell) << 32;
      std::size_t first = 0, n = order.extent(0);
      for (; n > 0;) {
        std::size_t const half = n / 2;
        bool const right = order(first + half) < wanted;
        first = right ? first + half + 1 : first;
        n = right ? n - half - 1 : half;
      }
      for (; first < order.extent(0) && order(first) >> 32 == cell; ++first)
        f(static_cast<std::uint32_t>(order(first)));
    }
  };
  words order;

  explicit sorted_grid(std::uint32_t n) : order("order", n) {}
  void build(space const& exec, vectors const& x) {
    Kokkos::parallel_for("cells", Kokkos::RangePolicy(exec, 0, x.extent(0)), write_words{x, order});
    Kokkos::sort(exec, order);
  }
  reader read() const { return {order}; }
};

/// Whether a map can only be built as a whole, by build().
template <class Map>
constexpr bool builds_at_once =
    requires(Map& m, space const& exec, numbers const& x) { m.build(exec, x, x); };
/// Returns a ref for lookups in kernels, valid while no thread changes the map.
template <class Map>
auto reading_ref(Map const& m) {
  if constexpr (builds_at_once<Map>)
    return m.ref();
  else
    return m.frozen_ref();
}

/// The points sorted by their cells, and a map from each nonempty cell to the first of its points.
/// Works with any of our maps.
template <class Map>
struct indexed_grid {
  struct is_first {
    sorted_grid::words order;
    numbers cells, firsts;
    KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint32_t& n, bool last) const {
      auto const cell = static_cast<std::uint32_t>(order(i) >> 32);
      if (i != 0 && order(i - 1) >> 32 == cell) return;
      if (last) {
        cells(n) = cell;
        firsts(n) = i;
      }
      ++n;
    }
  };
  struct reader {
    decltype(reading_ref(std::declval<Map const&>())) map;
    sorted_grid::words order;
    template <class F>
    KOKKOS_FUNCTION void for_each_in(std::uint32_t cell, F const& f) const {
      auto const first = map.find(cell);
      if (!first) return;
      for (std::size_t i = *first; i < order.extent(0) && order(i) >> 32 == cell; ++i)
        f(static_cast<std::uint32_t>(order(i)));
    }
  };
  sorted_grid points;
  numbers cells, firsts;
  Map map;

  explicit indexed_grid(std::uint32_t n) : points(n), cells("cells", n), firsts("firsts", n) {
    if constexpr (!builds_at_once<Map>) map = Map(space(), n);
  }
  void build(space const& exec, vectors const& x) {
    points.build(exec, x);
    std::uint32_t n = 0;
    Kokkos::parallel_scan("firsts", Kokkos::RangePolicy(exec, 0, x.extent(0)),
                          is_first{points.order, cells, firsts}, n);
    auto const keys = Kokkos::subview(cells, Kokkos::pair(0u, n));
    auto const values = Kokkos::subview(firsts, Kokkos::pair(0u, n));
    if constexpr (builds_at_once<Map>) {
      map.build(exec, keys, values);
    } else {
      map.clear(exec);
      map.insert(exec, keys, values);
    }
  }
  reader read() const { return {reading_ref(map), points.order}; }
};

/// Counts the points that each point touches.
template <class Reader>
struct count_touching {
  Reader grid;
  vectors x;
  numbers touching;
  KOKKOS_FUNCTION void operator()(std::uint32_t p, std::uint64_t& all) const {
    std::uint32_t n = 0;
    for (int c = 0; c < 27; ++c) {
      std::uint32_t const cell = cell_of(x, p, c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1);
      if (cell != none) grid.for_each_in(cell, [&](std::uint32_t q) { n += touch(x, p, q); });
    }
    touching(p) = n;
    all += n;
  }
};
/// Counts the same for every step-th point without a grid, and reports how many counts are wrong.
struct check_sample {
  vectors x;
  numbers touching;
  std::uint32_t step;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint64_t& wrong) const {
    std::uint32_t const p = i * step;
    std::uint32_t n = 0;
    for (std::uint32_t q = 0; q < x.extent(0); ++q) n += touch(x, p, q);
    wrong += n != touching(p);
  }
};

/// Moves points around the axis of the cube, on paths of their own; they sink to its middle.
struct move_points {
  vectors x;
  float time;
  KOKKOS_FUNCTION void operator()(std::uint32_t p) const {
    auto const random = [&](std::uint64_t i) {
      return static_cast<float>(karpos::mix(3 * std::uint64_t(p) + i) >> 40) * 0x1p-24f;
    };
    float const r = 0.49f * Kokkos::sqrt(random(1)),
                angle = 6.2831853f * random(2) + time / (r + 0.1f);
    x(p, 0) = 0.5f + r * Kokkos::cos(angle);
    x(p, 1) = 0.5f + r * Kokkos::sin(angle);
    x(p, 2) = 0.5f + (random(3) - 0.5f) *
                         (0.3f + 0.6f * Kokkos::cos(9 * r + time) * Kokkos::cos(9 * r + time));
  }
};

struct result {
  double seconds = 0;
  std::uint64_t pairs = 0, wrong = 0;
};
/// Builds the grid of every frame and counts the touching points. The time excludes the moves.
template <class Grid>
result run(space const& exec, vectors const& x, numbers const& touching, int frames) {
  auto const n = static_cast<std::uint32_t>(x.extent(0));
  Grid grid(n);
  result r;
  for (int frame = -1; frame < frames; ++frame) {  // the first frame warms up
    Kokkos::parallel_for("move", Kokkos::RangePolicy(exec, 0, n),
                         move_points{x, 0.05f * static_cast<float>(frame)});
    exec.fence();
    Kokkos::Timer const timer;
    grid.build(exec, x);
    std::uint64_t pairs = 0;
    using count = count_touching<decltype(grid.read())>;
    Kokkos::parallel_reduce("touch", Kokkos::RangePolicy(exec, 0, n),
                            count{grid.read(), x, touching}, pairs);
    if (frame < 0) continue;
    r.seconds += timer.seconds();
    r.pairs += pairs;
  }
  std::uint32_t const sample = n < 200 ? n : 200;
  Kokkos::parallel_reduce("check", Kokkos::RangePolicy(exec, 0, sample),
                          check_sample{x, touching, n / sample}, r.wrong);
  return r;
}

/// Draws the points from the side: brighter where more points are, red where they touch.
void write_picture(char const* file, vectors const& x, numbers const& touching) {
  constexpr int size = 512;
  auto const at = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  auto const touches = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), touching);
  std::vector<int> light(3 * size * size);
  int const unit = Kokkos::clamp(8 * size * size / static_cast<int>(at.extent(0) + 1), 1, 50);
  for (std::size_t p = 0; p < at.extent(0); ++p) {
    int const i = static_cast<int>(at(p, 0) * size), j = static_cast<int>(at(p, 2) * size);
    for (int c = 0; c < 3; ++c)
      light[static_cast<std::size_t>(3 * (j * size + i) + c)] +=
          touches(p) == 0 || c == 0 ? 5 * unit : unit;
  }
  std::ofstream out(file, std::ios::binary);
  out << "P6 " << size << ' ' << size << " 255\n";
  for (int const l : light) out.put(static_cast<char>(l < 255 ? l : 255));
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  space const exec;
  int const points = argc > 1 ? std::atoi(argv[1]) : 20'000,
            frames = argc > 2 ? std::atoi(argv[2]) : 3;
  if (points < 1 || frames < 1) {
    std::fprintf(stderr, "moving_points [points] [frames] [picture.ppm]: one of each at least\n");
    return 2;
  }
  auto const n = static_cast<std::uint32_t>(points);
  vectors const x("x", n);
  numbers const touching("touching", n);

  using kokkos_map = Kokkos::UnorderedMap<std::uint32_t, std::uint32_t, space>;
  using karpos_map = karpos::unordered_map<std::uint32_t, std::uint32_t, space>;
  using cuckoo = karpos::cuckoo_map<std::uint32_t, std::uint32_t, space>;
  using hash = karpos::hash_map<std::uint32_t, std::uint32_t, space>;
  using hopscotch = karpos::hopscotch_map<std::uint32_t, std::uint32_t, space>;
  struct row {
    char const* name;
    result r;
  };
  row const rows[] = {
      {"sort + search", run<sorted_grid>(exec, x, touching, frames)},
      {"sort + cuckoo_map", run<indexed_grid<cuckoo>>(exec, x, touching, frames)},
      {"sort + hash_map", run<indexed_grid<hash>>(exec, x, touching, frames)},
      {"sort + hopscotch_map", run<indexed_grid<hopscotch>>(exec, x, touching, frames)},
      {"Kokkos::UnorderedMap", run<map_grid<kokkos_map>>(exec, x, touching, frames)},
      {"karpos::hash_multimap", run<multimap_grid>(exec, x, touching, frames)},
      {"karpos::unordered_map", run<map_grid<karpos_map>>(exec, x, touching, frames)},
  };
  bool right = true;
  for (auto const& [name, r] : rows) {
    std::printf("%-22s %8.1f frames a second, %.2f touching points a point\n", name,
                frames / r.seconds, static_cast<double>(r.pairs) / n / frames);
    right = right && r.wrong == 0 && r.pairs == rows[0].r.pairs;
  }
  if (argc > 3) write_picture(argv[3], x, touching);
  if (!right) std::printf("grids disagree\n");
  return right ? 0 : 1;
}
