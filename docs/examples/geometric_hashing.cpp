// SPDX-License-Identifier: Apache-2.0
//
// Finds models of random points in scenes, where they are turned, scaled and shifted, with noise,
// by geometric hashing. All votes are checked by comparison with every basis of every model.
//
//   geometric_hashing [models] [scenes] [points] [noise] [picture.svg]
//                      40       20       12       1 by default; a model is 1,000 wide
#include "geometric_hashing.hpp"

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace geometric_hashing;
using complex = std::complex<double>;

/// Draws a scene: its points, the basis of its match as a line, and circles where the points of
/// the model should be.
void write_picture(char const* file, input const& all, std::uint64_t scene_basis,
                   std::uint64_t model_basis) {
  auto const models = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all.models);
  auto const scenes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all.scenes);
  std::uint64_t const n = models.extent(1), scene = scene_basis / n / n,
                      model = model_basis / n / n;
  auto const seen = [&](std::uint64_t p) {
    return complex(scenes(scene, p, 0), scenes(scene, p, 1));
  };
  auto const known = [&](std::uint64_t p) {
    return complex(models(model, p, 0), models(model, p, 1));
  };
  complex const a = seen(scene_basis / n % n), b = seen(scene_basis % n),
                from = known(model_basis / n % n), turn = (b - a) / (known(model_basis % n) - from);
  auto const expected = [&](std::uint64_t p) { return a + turn * (known(p) - from); };
  complex low = a, high = a;
  for (std::uint64_t p = 0; p < 2 * n; ++p) {
    complex const at = p < n ? seen(p) : expected(p - n);
    low = {std::min(low.real(), at.real()), std::min(low.imag(), at.imag())};
    high = {std::max(high.real(), at.real()), std::max(high.imag(), at.imag())};
  }
  complex const size = high - low;
  double const r = std::abs(size) / 100;
  std::ofstream out(file);
  auto const circle = [&](complex at, double radius, char const* style) {
    out << "<circle cx='" << at.real() << "' cy='" << at.imag() << "' r='" << radius << "' "
        << style << "/>\n";
  };
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='500' viewBox='" << low.real() - 5 * r
      << ' ' << low.imag() - 5 * r << ' ' << size.real() + 10 * r << ' ' << size.imag() + 10 * r
      << "'>\n"
      << "<path d='M" << a.real() << ' ' << a.imag() << 'L' << b.real() << ' ' << b.imag()
      << "' stroke='steelblue' stroke-width='" << r / 2 << "'/>\n";
  for (std::uint64_t p = 0; p < n; ++p) {
    circle(seen(p), r, "fill='black'");
    circle(expected(p), 2 * r, "fill='none' stroke='orangered' stroke-width='3'");
  }
  out << "</svg>\n";
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  space const exec;
  auto const argument = [&](int i, double otherwise) {
    return argc > i ? std::atof(argv[i]) : otherwise;
  };
  auto const models = static_cast<int>(argument(1, 40)), scenes = static_cast<int>(argument(2, 20)),
             points = static_cast<int>(argument(3, 12));
  if (models < 1 || scenes < 1 || points < 4 || points > 1000) {
    std::fprintf(
        stderr, "geometric_hashing [models] [scenes] [points, 4 to 1,000] [noise] [picture.svg]\n");
    return 2;
  }
  input const all =
      make_input(static_cast<std::uint32_t>(models), static_cast<std::uint32_t>(scenes),
                 static_cast<std::uint32_t>(points), argument(4, 1));
  exec.fence();
  Kokkos::Timer timer;
  matcher const table(exec, all.models);
  exec.fence();
  double const building = timer.seconds();

  trials const tried{{all.scenes}, static_cast<std::uint64_t>(2 * points)};
  std::vector<match> found;
  numbers votes;
  double seconds = 0;
  for (int run = 0; run < 2; ++run) {  // the first run warms up
    exec.fence();
    timer.reset();
    votes = table.votes(exec, tried);
    found = table.matches(exec, tried, votes);
    seconds = timer.seconds();
  }
  std::uint64_t cast = 0, wrong = 0, right = 0;
  Kokkos::parallel_reduce("count", range(exec, votes.extent(0)),
                          count_votes{votes, table.votes(exec, tried, false)}, cast, wrong);
  auto const basis_size = static_cast<std::uint64_t>(points * points);
  for (std::size_t s = 0; s < found.size(); ++s)
    right += found[s].basis / basis_size == all.shown[s];
  std::printf(
      "%d models of %d points, %lu cells listed in %.1f ms; %.3f ms a scene (%.0f scenes/s, %.0f "
      "million votes/s); %lu of %d models found\n",
      models, points, static_cast<unsigned long>(table.table_size()), building * 1e3,
      seconds * 1e3 / scenes, scenes / seconds, static_cast<double>(cast) / seconds * 1e-6,
      static_cast<unsigned long>(right), scenes);
  if (argc > 5) write_picture(argv[5], all, tried.basis(found[0].trial), found[0].basis);
  if (wrong > 0)
    std::printf("%lu votes differ from those by comparison\n", static_cast<unsigned long>(wrong));
  // A scene may have hidden too much of its model; few do.
  return wrong == 0 && 10 * right >= 9 * found.size() ? 0 : 1;
}
