// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/applications_run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "perf/measure/support/space.hpp"
#include "perf/measure/support/timer.hpp"
#define KARPOS_EXAMPLE_SPACE KARPOS_DRIVER_SPACE
#include "docs/examples/geometric_hashing.hpp"
#include "docs/examples/intersecting_surfaces.hpp"

namespace karpos::perf {

matching_run run_matching(matching_parameters const& p) {
  namespace matching = geometric_hashing;
  space const exec;
  timer<space> clock(exec);
  matching::input const all = matching::make_input(p.models, p.scenes, p.points, 1);
  matching::trials const tried{{all.scenes},
                               std::min<std::uint64_t>(24, p.points * (p.points - 1))};
  matching_run run;
  run.build = clock.repeat(
      p.repetitions, [] {}, [&] { matching::matcher(exec, all.models); });
  matching::matcher const table(exec, all.models);
  run.listed = table.table_size();
  matching::numbers votes, expected;
  std::vector<matching::match> found;
  auto const match = [&](matching::numbers& by, bool by_table) {
    by = {};  // frees the votes of the run before
    by = table.votes(exec, tried, by_table);
    found = table.matches(exec, tried, by);
  };
  run.by_comparison.seconds = {clock.once([] {}, [&] { match(expected, false); })};
  run.by_table = clock.repeat(
      p.repetitions, [] {}, [&] { match(votes, true); });
  Kokkos::parallel_reduce("count", matching::range(exec, votes.extent(0)),
                          matching::count_votes{votes, expected}, run.votes, run.wrong);
  for (std::size_t s = 0; s < found.size(); ++s)
    run.found += found[s].basis / p.points / p.points == all.shown[s];
  return run;
}

surfaces_run run_surfaces(surfaces_parameters const& p) {
  namespace surfaces = intersecting_surfaces;
  space const exec;
  timer<space> clock(exec);
  auto const n = static_cast<std::uint32_t>(std::lround(std::sqrt(p.triangles / 6.0)));
  surfaces::surface const fixed = surfaces::make_fixed(exec, n),
                          moving = surfaces::make_torus(exec, n);
  surfaces::grid grid(exec);
  surfaces::pair_list found, expected;
  surfaces_run run;
  run.triangles = fixed.size();
  int frame = 0;
  run.frame = clock.repeat(
      p.frames, [&] { surfaces::move_torus(exec, moving, n, frame++); },
      [&] {
        grid.build(exec, moving);
        run.pairs = grid.find(exec, fixed, moving, found);
      });

  std::uint64_t const most = on_host ? 200'000'000 : 50'000'000'000;
  auto const step = static_cast<std::uint32_t>(run.triangles * run.triangles / most + 1);
  std::uint64_t judged = 0;
  double const seconds = clock.once(
      [] {}, [&] { judged = surfaces::find_without_grid(exec, fixed, moving, step, expected); });
  if (step == 1) run.without_grid.seconds = {seconds};
  auto const a = surfaces::sorted_pairs(found, run.pairs, step),
             b = surfaces::sorted_pairs(expected, judged, step);
  std::vector<std::uint64_t> differ;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(differ));
  run.wrong = differ.size();
  return run;
}

}  // namespace karpos::perf
