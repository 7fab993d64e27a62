// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/bfs/timeline.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

std::string gteps(double rate) { return three_digits(rate) + " GTEPS"; }

void print_heading(bfs_run const& run) {
  double const vertices = static_cast<double>(run.vertices);
  print_graph(run.graph, run.vertices, run.edges, run.undirected);
  print_layout(run.layout, false);
  if (run.parameters.relabel) {
    print_relabelling(run.names);
  } else if (!is_generator(run.parameters.graph) && run.undirected &&
             2 * run.without_edges > run.vertices) {
    std::printf("%s without an edge (--relabel leaves out ids that a file does not name)\n",
                counted(run.without_edges, "vertex is", "vertices are").c_str());
  }
  std::printf("%s\n", run_description(run.parameters.repetitions).c_str());
  std::printf("loaded in %s; workspace of %s made in %s: %s bytes a vertex\n\n",
              human_seconds(run.load_seconds).c_str(),
              human_bytes(static_cast<double>(run.workspace_bytes)).c_str(),
              human_seconds(run.prepare_seconds).c_str(),
              three_digits(static_cast<double>(run.workspace_bytes) / vertices).c_str());
}

/// Returns the percentage of all hubs that are in a level, by which --direction gamma switches;
/// empty if no hub was counted.
std::string hub_share(bfs_report const& report, bfs_level const& level) {
  return level.hubs == 0 ? "" : three_digits(100.0 * level.hubs / report.hubs) + " %";
}

void print_levels(bfs_report const& report, bool with_hubs) {
  constexpr std::int32_t max_shown = 20;
  std::string hubs = "   of " + counted(report.hubs, "hub", "hubs");
  if (report.hub_degree > 0) hubs += " (degree above " + grouped(report.hub_degree) + ")";
  std::printf("  level       vertices   edges inspected   direction%s\n",
              with_hubs ? hubs.c_str() : "");
  std::int32_t const shown = report.levels <= max_shown ? report.levels : max_shown - 1;
  for (std::int32_t l = 0; l < shown; ++l) {
    bfs_level const& level = report.level[static_cast<std::size_t>(l)];
    char const* const direction = level.edges == 0  ? "-"
                                  : level.bottom_up ? "bottom-up"
                                                    : "top-down";
    std::string const share = with_hubs ? hub_share(report, level) : "";
    std::printf("  %s %s %s   %s%s\n", right(std::to_string(l), 5).c_str(),
                right(grouped(level.vertices), 14).c_str(), right(grouped(level.edges), 17).c_str(),
                left(direction, share.empty() ? 0 : 12).c_str(), share.c_str());
  }
  if (shown < report.levels)
    std::printf("    ...  and %s more\n",
                grouped(static_cast<std::uint64_t>(report.levels - shown)).c_str());
}

void print_one(bfs_run const& run) {
  bfs_result const& r = run.searches.front();
  bfs_reach const& reach = r.reach;
  std::printf("source %s: reached %s with %s in %s (depth %s)\n",
              shown(run.names, r.source).c_str(),
              counted(reach.vertices, "vertex", "vertices").c_str(),
              counted(reach.edges, "edge", "edges").c_str(),
              counted(static_cast<std::uint64_t>(r.report.levels), "level", "levels").c_str(),
              grouped(static_cast<std::uint64_t>(reach.depth)).c_str());
  if (r.isolated())
    std::printf(
        "vertex %s is isolated, no edge leads out of it: %s\n", shown(run.names, r.source).c_str(),
        run.first_with_edges < run.vertices
            ? ("the first vertex with edges is " + shown(run.names, run.first_with_edges)).c_str()
            : "the graph has no edge");
  std::printf("sum of distances %s\n\n", grouped(reach.sum_distance).c_str());
  print_levels(r.report, run.parameters.options.direction == bfs_direction::gamma);
  std::printf("\n%s, %s\n", human_seconds(r.time.median()).c_str(), gteps(r.gteps(r.time)).c_str());
  if (run.parameters.baseline)
    std::printf("baseline %s, %s: karpos is %sx as fast\n",
                human_seconds(r.baseline_time.median()).c_str(),
                gteps(r.gteps(r.baseline_time)).c_str(),
                three_digits(r.baseline_time.median() / r.time.median()).c_str());
}

void print_time(char const* what, bfs_run const& run, samples bfs_result::*time) {
  samples const t = times_of(run, time);
  std::printf("  %s %s %s %s   %s\n", left(what, 10).c_str(),
              right(human_seconds(t.median()), 10).c_str(),
              right(human_seconds(t.low()), 10).c_str(), right(human_seconds(t.high()), 10).c_str(),
              gteps(harmonic_mean_gteps(run, time)).c_str());
}

void print_energy(bfs_run const& run, energy_use const& e) {
  std::uint64_t const searches = e.rounds * run.searches.size();
  print(e, "search", static_cast<double>(searches));
  if (e.is_measured())
    std::printf("%s GTEPS a watt, over %s searches\n", three_digits(gteps_per_watt(run, e)).c_str(),
                grouped(searches).c_str());
}

void print_presets(bfs_run const& run) {
  auto const figures = figures_of_presets(run);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    bfs_preset const& p = run.parameters.presets[i];
    preset_figures const& f = figures[i];
    std::string const gain =
        i > 0 ? ", " + three_digits(f.gain) + "x as fast as the one before" : "";
    std::printf("  %s %s   %s%s (%s%s)\n", left(p.name, 10).c_str(),
                right(human_seconds(f.median_seconds), 10).c_str(), gteps(f.gteps).c_str(),
                gain.c_str(), i > 0 ? "with " : "", p.adds.c_str());
    if (p.options.hub_cache)
      std::printf("             the hub cache saves %s %% of the status loads\n",
                  three_digits(100 * loads_saved_by_hubs(run, i).value_or(0)).c_str());
    if (run.energy && run.preset_energy[i].is_measured()) {
      energy_use const& e = run.preset_energy[i];
      std::printf("             %s W, %s GTEPS a watt\n",
                  three_digits(e.joules() / e.seconds).c_str(),
                  three_digits(gteps_per_watt(run, e)).c_str());
    }
  }
}

void print_batch(bfs_run const& run, bfs_batch_result const& b) {
  std::printf("all at once %s (%zu-bit distances), one after another %s: %sx as fast\n",
              human_seconds(b.time.median()).c_str(), b.distance_bits,
              human_seconds(single_seconds(run)).c_str(),
              three_digits(single_seconds(run) / b.time.median()).c_str());
  std::printf("  workspace of %s made in %s; %d of %d levels pulled\n",
              human_bytes(static_cast<double>(b.workspace_bytes)).c_str(),
              human_seconds(b.prepare_seconds).c_str(), b.report.pull_levels, b.report.levels);
  if (b.report.one_by_one > 0)
    std::printf("  %s one by one, since many levels have few vertices\n",
                counted(b.report.one_by_one, "search was made", "searches were made").c_str());
}

void print_all(bfs_run const& run) {
  std::printf("%s (seed %llu)\n",
              counted(run.searches.size(), "random source", "random sources").c_str(),
              static_cast<unsigned long long>(run.parameters.seed));
  std::printf("                 median        min        max   harmonic mean\n");
  print_time("karpos", run, &bfs_result::time);
  if (run.batch) print_batch(run, *run.batch);
  if (!run.parameters.baseline) return;
  print_time("baseline", run, &bfs_result::baseline_time);
  double const ratio = harmonic_mean_gteps(run, &bfs_result::time) /
                       harmonic_mean_gteps(run, &bfs_result::baseline_time);
  std::printf("karpos is %sx as fast\n", three_digits(ratio).c_str());
}

}  // namespace

void print(bfs_run const& run) {
  print_heading(run);
  if (run.searches.size() == 1 && !run.batch)
    print_one(run);
  else
    print_all(run);
  if (run.energy) {
    std::printf("\n");
    print_energy(run, *run.energy);
  }
  if (!run.parameters.presets.empty()) {
    std::printf("\npresets: median time, harmonic mean of the rates, gain of the medians\n");
    print_presets(run);
  }
  for (bfs_timeline const& t : run.timelines) print(t);
  if (run.degrees) {
    std::printf("\n");
    print(*run.degrees);
  }
  if (run.wrong() == 0 && run.parameters.validate)
    std::printf("valid: every distance %s\n",
                run.parameters.parents ? "and every parent are proved" : "is exact");
}

}  // namespace karpos::perf
