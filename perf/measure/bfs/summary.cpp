// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/bfs/summary.hpp"

#include <nlohmann/json.hpp>

#include "perf/measure/graph/opened_graph.hpp"
#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

json parameters_of(bfs_run const& run) {
  bfs_parameters const& p = run.parameters;
  bfs_options const& o = p.options;
  json j = {{"graph", run.graph},
            {"format", p.format},
            {"directed", p.directed},
            {"keep_duplicates", p.keep_duplicates},
            {"relabel", p.relabel}};
  if (p.sources > 0)
    j.update({{"sources", p.sources}, {"seed", p.seed}});
  else
    j["source"] = vertex_json(run.names, run.searches.front().source);
  j.update({{"repetitions", p.repetitions},
            {"parents", p.parents},
            {"validate", p.validate},
            {"direction", name_of(o.direction)},
            {"queue", o.queue == bfs_queue::scanned ? "scanned" : "collected"},
            {"degree_classes", o.degree_classes},
            {"hub_cache", o.hub_cache},
            {"unvisited_queue", o.unvisited_queue},
            {"launches", o.driver == launch_mode::kernel_per_step},
            {"gamma", o.gamma},
            {"alpha", o.alpha},
            {"beta", o.beta},
            {"window_hops", o.local_search_hops},
            {"pad_rows", run.parameters.pad_rows},
            {"offset_bits", run.offset_bits},
            {"timing", timer<space>::method()}});
  return j;
}

json levels_of(bfs_report const& report) {
  json levels = json::array();
  for (bfs_level const& l : report.level)
    levels.push_back({{"vertices", l.vertices},
                      {"edges", l.edges},
                      {"hubs", l.hubs},
                      {"direction", l.bottom_up ? "bottom-up" : "top-down"}});
  return levels;
}

json result_of(bfs_run const& run, bfs_result const& r) {
  json j = {{"source", vertex_json(run.names, r.source)},
            {"isolated", r.isolated()},
            {"reached", r.reach.vertices},
            {"reached_edges", r.reach.edges},
            {"levels", r.report.levels},
            {"depth", r.reach.depth},
            {"sum_distance", r.reach.sum_distance},
            {"seconds", r.time.median()},
            {"gteps", r.gteps(r.time)},
            {"all_seconds", r.time.seconds},
            {"edges_top_down", r.report.edges_top_down},
            {"edges_bottom_up", r.report.edges_bottom_up},
            {"turned_up", r.report.first_bottom_up},
            {"turned_down", r.report.first_top_down_again},
            {"hub_cache_hits", r.report.hub_cache_hits}};
  if (run.parameters.baseline) {
    j["baseline_seconds"] = r.baseline_time.median();
    j["over_baseline"] = r.baseline_time.median() / r.time.median();
  }
  if (!r.defect.empty()) j["defect"] = r.defect;
  return j;
}

json energy_json(bfs_run const& run, energy_use const& e) {
  json j = to_json(e);
  if (!e.is_measured()) return j;
  auto const searches = e.rounds * run.searches.size();
  j.update({{"searches", searches},
            {"joules_per_search", e.joules() / static_cast<double>(searches)},
            {"gteps_per_watt", gteps_per_watt(run, e)}});
  return j;
}

/// Returns the figures of each preset, with its gain over the one before.
json presets_of(bfs_run const& run) {
  json all = json::array();
  auto const figures = figures_of_presets(run);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    bfs_preset const& p = run.parameters.presets[i];
    preset_figures const& f = figures[i];
    json j = {{"preset", p.name},
              {"adds", p.adds},
              {"median_seconds", f.median_seconds},
              {"harmonic_mean_gteps", f.gteps},
              {"turned_up", run.searches.front().preset_report[i].first_bottom_up}};
    if (i > 0) j["over_previous"] = f.gain;
    if (p.options.hub_cache) j["status_loads_saved"] = loads_saved_by_hubs(run, i).value_or(0);
    if (run.energy) j["energy"] = energy_json(run, run.preset_energy[i]);
    all.push_back(j);
  }
  return all;
}

json timelines_of(bfs_run const& run) {
  json all = json::array();
  for (bfs_timeline const& t : run.timelines) {
    json steps = json::array();
    for (bfs_timeline::step const& s : t.steps)
      steps.push_back(
          {{"step", s.label}, {"level", s.level}, {"begin", s.begin}, {"seconds", s.seconds}});
    json j = {{"seconds", t.seconds}, {"steps", steps}};
    if (!t.preset.empty()) j["preset"] = t.preset;
    all.push_back(j);
  }
  return all;
}

json batch_of(bfs_run const& run, bfs_batch_result const& b) {
  return {{"seconds", b.time.median()},
          {"all_seconds", b.time.seconds},
          {"single_seconds", single_seconds(run)},
          {"over_single", single_seconds(run) / b.time.median()},
          {"distance_bits", b.distance_bits},
          {"levels", b.report.levels},
          {"pull_levels", b.report.pull_levels},
          {"edges_pushed", b.report.edges_pushed},
          {"one_by_one", b.report.one_by_one},
          {"prepare_seconds", b.prepare_seconds},
          {"workspace_bytes", b.workspace_bytes}};
}

json all_results_of(bfs_run const& run) {
  double const gteps = harmonic_mean_gteps(run, &bfs_result::time);
  samples const time = times_of(run, &bfs_result::time);
  json j = {{"sources", run.searches.size()},
            {"median_seconds", time.median()},
            {"low_seconds", time.low()},
            {"high_seconds", time.high()},
            {"harmonic_mean_gteps", gteps}};
  if (run.parameters.baseline) {
    double const baseline = harmonic_mean_gteps(run, &bfs_result::baseline_time);
    j["baseline_median_seconds"] = times_of(run, &bfs_result::baseline_time).median();
    j["baseline_harmonic_mean_gteps"] = baseline;
    j["over_baseline"] = gteps / baseline;
  }
  if (run.batch) j["batch"] = batch_of(run, *run.batch);
  json& searches = j["searches"] = json::array();
  for (bfs_result const& r : run.searches) searches.push_back(result_of(run, r));
  return j;
}

/// Returns the harmonic mean of the rates of all searches, or 0 if a source reaches no edge.
template <class Time>
double harmonic_mean(bfs_run const& run, Time const& time_of) {
  double sum = 0;
  for (bfs_result const& r : run.searches) {
    if (r.reach.edges == 0) return 0;
    sum += 1 / r.gteps(time_of(r));
  }
  return static_cast<double>(run.searches.size()) / sum;
}

}  // namespace

double single_seconds(bfs_run const& run) {
  double sum = 0;
  for (bfs_result const& r : run.searches) sum += r.time.median();
  return sum;
}

double gteps_per_watt(bfs_run const& run, energy_use const& e) {
  double edges = 0;
  for (bfs_result const& r : run.searches) edges += static_cast<double>(r.reach.edges);
  return 1e-9 * edges * static_cast<double>(e.rounds) / e.joules();
}

samples times_of(bfs_run const& run, samples bfs_result::*time) {
  samples all;
  for (bfs_result const& r : run.searches) all.seconds.push_back((r.*time).median());
  return all;
}

double harmonic_mean_gteps(bfs_run const& run, samples bfs_result::*time) {
  return harmonic_mean(run, [time](bfs_result const& r) -> samples const& { return r.*time; });
}

std::vector<preset_figures> figures_of_presets(bfs_run const& run) {
  std::vector<preset_figures> figures;
  for (std::size_t i = 0; i < run.parameters.presets.size(); ++i) {
    auto const time = [i](bfs_result const& r) -> samples const& { return r.preset_time[i]; };
    samples all;
    for (bfs_result const& r : run.searches) all.seconds.push_back(time(r).median());
    double const median = all.median();
    figures.push_back(
        {median, harmonic_mean(run, time), i == 0 ? 0 : figures[i - 1].median_seconds / median});
  }
  return figures;
}

std::optional<double> loads_saved_by_hubs(bfs_run const& run, std::size_t preset) {
  double hits = 0, lookups = 0;
  for (bfs_result const& r : run.searches) {
    hits += static_cast<double>(r.preset_report[preset].hub_cache_hits);
    lookups += static_cast<double>(r.preset_report[preset].edges_bottom_up);
  }
  if (lookups == 0) return std::nullopt;
  return hits / lookups;
}

char const* name_of(bfs_direction direction) {
  static char const* const names[] = {"auto", "top-down", "gamma", "beamer"};
  return names[static_cast<int>(direction)];
}

json to_json(bfs_run const& run) {
  bfs_report const& report = run.searches.front().report;
  json j = {{"format", "karpos-bfs-1"},
            {"context", context()},
            {"parameters", parameters_of(run)},
            {"vertices", run.vertices},
            {"edges", run.edges},
            {"undirected", run.undirected},
            {"without_edges", run.without_edges},
            {"hubs", report.hubs},
            {"hub_degree", report.hub_degree},
            {"load_seconds", run.load_seconds},
            {"prepare_seconds", run.prepare_seconds},
            {"workspace_bytes", run.workspace_bytes}};
  if (run.parameters.sources > 0) {
    j.update(all_results_of(run));
  } else {
    j.update(result_of(run, run.searches.front()));
    j["level"] = levels_of(report);
  }
  j.update(to_json(run.layout));
  if (run.energy) j["energy"] = energy_json(run, *run.energy);
  if (!run.parameters.presets.empty()) j["presets"] = presets_of(run);
  if (run.degrees) j["degrees"] = to_json(*run.degrees);
  if (!run.timelines.empty()) j["timelines"] = timelines_of(run);
  j["validated"] = run.parameters.validate;
  j["wrong"] = run.wrong();
  return j;
}

}  // namespace karpos::perf
