// SPDX-License-Identifier: Apache-2.0
//
// Points in cells (i, j, k) of a grid that is far too large to store: which cells have points,
// which points share a cell, and how many points are near each one?
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/row_index.hpp>

using column = Kokkos::View<std::int32_t*>;

/// Places points on a spiral. A point is in the cell of its coordinates rounded down.
struct place_points {
  column i, j, k;
  KOKKOS_FUNCTION void operator()(int p) const {
    double const t = 1e-3 * p, radius = 4 + t;
    i(p) = static_cast<std::int32_t>(Kokkos::floor(radius * Kokkos::cos(t)));
    j(p) = static_cast<std::int32_t>(Kokkos::floor(radius * Kokkos::sin(t)));
    k(p) = static_cast<std::int32_t>(Kokkos::floor(t));
  }
};

using cell_rows = decltype(karpos::rows(column(), column(), column()));
using cell_index = karpos::row_index<cell_rows, Kokkos::DefaultExecutionSpace>;

/// Counts the points in the cells around each point's cell, up to `reach` cells away in each
/// direction.
struct count_near {
  cell_index::ref_type cells;
  int reach;
  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& pairs) const {
    auto const cell = cells.rows()[p];
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j)
        for (int k = -reach; k <= reach; ++k)
          pairs += cells.count(
              karpos::row(cell.value<0>() + i, cell.value<1>() + j, cell.value<2>() + k));
  }
};
/// Counts the points of each cell.
struct count_points {
  Kokkos::View<std::uint32_t*> labels, points;
  KOKKOS_FUNCTION void operator()(int p) const { Kokkos::atomic_inc(&points(labels(p))); }
};
/// Counts the pairs of points that share a cell.
struct sum_squares {
  Kokkos::View<std::uint32_t*> points;
  KOKKOS_FUNCTION void operator()(int c, std::uint64_t& sum) const {
    sum += std::uint64_t(points(c)) * points(c);
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  int const n = 100'000;
  column const i("i", n), j("j", n), k("k", n);
  Kokkos::parallel_for(Kokkos::RangePolicy(exec, 0, n), place_points{i, j, k});

  cell_index const cells(exec, karpos::rows(i, j, k));
  auto const all = Kokkos::RangePolicy(exec, 0, n);
  std::uint64_t near = 0, same_cell = 0, squares = 0;
  Kokkos::parallel_reduce(all, count_near{cells.ref(), 1}, near);
  Kokkos::parallel_reduce(all, count_near{cells.ref(), 0}, same_cell);

  int const different = static_cast<int>(cells.groups());
  Kokkos::View<std::uint32_t*> const labels("labels", n), points("points", different),
      first("first", different);
  cells.label(exec, labels);    // the cell of each point: 0, 1, …, as they first occur
  cells.distinct(exec, first);  // one point of each cell
  Kokkos::parallel_for(all, count_points{labels, points});
  Kokkos::parallel_reduce(Kokkos::RangePolicy(exec, 0, different), sum_squares{points}, squares);

  std::printf("%d points in %d cells; %.1f in a point's cell, %.1f in it and the cells around\n", n,
              different, static_cast<double>(same_cell) / n, static_cast<double>(near) / n);
  return same_cell == squares && near > same_cell ? 0 : 1;
}
