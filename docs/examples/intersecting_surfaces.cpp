// SPDX-License-Identifier: Apache-2.0
//
// Intersects two tori, one of which swings and has waves, in a spatial hash that is rebuilt in
// every frame. The pairs of the last frame are checked without a grid, those of a sample if all are
// too many.
//
//   intersecting_surfaces [triangles of a torus] [frames] [picture.ppm]     10,000 and 5 by default
#include "intersecting_surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

using namespace intersecting_surfaces;

/// Draws surfaces from above, lit from there. Triangles that intersect are red, and never hidden.
struct picture {
  static constexpr int size = 512, shift = coordinate_bits - 9;
  std::vector<std::int64_t> height = std::vector<std::int64_t>(size * size, -1);
  std::vector<char> colours = std::vector<char>(3 * size * size);

  void draw(surface const& s, std::vector<bool> const& is_red, double blue) {
    auto const vertices = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.vertices);
    auto const triangles = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.triangles);
    for (std::uint32_t t = 0; t < s.size(); ++t) {
      vector p[3];
      for (int i = 0; i < 3; ++i) {
        std::uint32_t const v = triangles(t, i);
        p[i] = {vertices(v, 0), vertices(v, 1), vertices(v, 2)};
      }
      vector const e = p[1] - p[0], f = p[2] - p[0], up = cross(e, f);
      double const x = static_cast<double>(up.x), y = static_cast<double>(up.y),
                   z = static_cast<double>(up.z),
                   light = 255 * std::abs(z) / std::max(1.0, std::hypot(x, y, z));
      double const rgb[3] = {is_red[t] ? 255 : light * (1 - blue), is_red[t] ? 0 : light * 0.7,
                             is_red[t] ? 0 : light * blue};
      // Points of the triangle, at most half a pixel apart.
      std::int64_t const n =
          (std::max({std::abs(e.x), std::abs(e.y), std::abs(f.x), std::abs(f.y)}) >> shift) * 2 + 2;
      for (std::int64_t j = 0; j <= n; ++j)
        for (std::int64_t k = 0; j + k <= n; ++k) {
          auto const pixel =
              static_cast<std::size_t>((p[0].y + (j * e.y + k * f.y) / n) >> shift) * size +
              static_cast<std::size_t>((p[0].x + (j * e.x + k * f.x) / n) >> shift);
          std::int64_t const at =
              is_red[t] ? 1 << coordinate_bits : p[0].z + (j * e.z + k * f.z) / n;
          if (at <= height[pixel]) continue;
          height[pixel] = at;
          for (std::size_t c = 0; c < 3; ++c)
            colours[3 * pixel + c] = static_cast<char>(static_cast<int>(rgb[c]));
        }
    }
  }
  void write(char const* file) const {
    std::ofstream out(file, std::ios::binary);
    out << "P6 " << size << ' ' << size << " 255\n";
    out.write(colours.data(), static_cast<std::streamsize>(colours.size()));
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  space const exec;
  int const triangles = argc > 1 ? std::atoi(argv[1]) : 10'000,
            frames = argc > 2 ? std::atoi(argv[2]) : 5;
  if (triangles < 600 || frames < 1) {
    std::fprintf(stderr,
                 "intersecting_surfaces [triangles, at least 600] [frames] [picture.ppm]\n");
    return 2;
  }
  auto const n = static_cast<std::uint32_t>(std::sqrt(triangles / 6.0));
  surface const fixed = make_fixed(exec, n), moving = make_torus(exec, n);
  grid cells(exec);
  pair_list found;
  std::uint64_t pairs = 0;
  double seconds = 0;
  for (int frame = -1; frame < frames; ++frame) {  // the first frame warms up
    move_torus(exec, moving, n, frame);
    exec.fence();
    Kokkos::Timer const timer;
    cells.build(exec, moving);
    pairs = cells.find(exec, fixed, moving, found);
    if (frame >= 0) seconds += timer.seconds();
  }
  std::printf("%u and %u triangles: %.1f frames a second, %lu pairs intersect in the last one\n",
              fixed.size(), moving.size(), frames / seconds, static_cast<unsigned long>(pairs));

  auto const step =
      static_cast<std::uint32_t>(std::uint64_t(fixed.size()) * moving.size() / 20'000'000 + 1);
  pair_list expected;
  std::uint64_t const judged = find_without_grid(exec, fixed, moving, step, expected);
  auto const seen = sorted_pairs(found, pairs, step);
  if (argc > 3) {
    std::vector<bool> red(fixed.size()), red_too(moving.size());
    for (std::uint64_t const pair : sorted_pairs(found, pairs, 1))
      red[pair >> 32] = red_too[pair & 0xffffffff] = true;
    picture all;
    all.draw(fixed, red, 0.2);
    all.draw(moving, red_too, 0.9);
    all.write(argv[3]);
  }
  bool const right = pairs > 0 && seen == sorted_pairs(expected, judged, step);
  if (!right) std::printf("the pairs are not those that are found without a grid\n");
  return right ? 0 : 1;
}
