// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/enterprise_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "perf/measure/bfs/measure.hpp"
#include "perf/measure/bfs/rank_searches.hpp"
#include "perf/measure/bfs/summary.hpp"
#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/paper/enterprise_graphs.hpp"
#include "perf/measure/support/profiler.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

std::vector<std::string> enterprise_ladder() {
  std::vector<std::string> names;
  for (bfs_preset const& p : bfs_presets()) names.push_back(p.name);
  return names;
}

/// Returns whether a step resets the state of a search.
bool enterprise_resets(std::string const& step) {
  return step == "seed" || step == "reset" || step.rfind("ViewFill", 0) == 0;
}
/// Returns whether a step generates a queue, or counts a level, in place of expanding it.
bool enterprise_makes_queue(std::string const& step) {
  return step.rfind("scan", 0) == 0 || step == "set_status_bits" ||
         step == "status_array_bfs: level";
}

constexpr double enterprise_any = std::numeric_limits<double>::infinity();

std::string enterprise_times(double x) { return three_digits(x) + "x"; }

}  // namespace

figure enterprise_timeline(scale const& s, reporter const& report) {
  figure f;
  f.title = "timeline of a search of Facebook (stand-in), a kernel for each step";
  f.x = {"level"};
  f.y = {"ms", true};
  std::string const queue_pays = "a queue costs less (23.6 ms) than it saves (490 to 419 ms)",
                    classes_cut = "classes of degrees cut the expansion from 419 to 76.5 ms";
  enterprise_searches const& g = searches_of("Facebook", s, report);
  if (!g.run) {
    f.lines = {{"expansion", origin::ours, {}, {}, g.obstacle}};
    f.claims = {judge(queue_pays, {{{}, 1, enterprise_any, {}, g.obstacle}}),
                judge(classes_cut, {{{}, 1, enterprise_any, {}, g.obstacle}})};
    return f;
  }
  f.wrong = g.run->wrong();
  f.table = {{"technique", "level", "step", "begins (ms)", "takes (ms)"}};
  std::map<std::string, double> expansion, queue;
  for (bfs_timeline const& t : g.run->timelines) {
    bool const known = t.preset == "baseline" || t.preset == "queue" || t.preset == "classes";
    if (!known) continue;
    series expands{t.preset + ": expansion"}, fills{t.preset + ": queue"};
    std::map<std::int32_t, double> of_expansion, of_queue;
    for (bfs_timeline::step const& step : t.steps) {
      if (!enterprise_resets(step.label))
        (enterprise_makes_queue(step.label) ? of_queue : of_expansion)[step.level] +=
            1e3 * step.seconds;
      f.table.push_back({t.preset, std::to_string(step.level), step.label,
                         three_digits(1e3 * step.begin), three_digits(1e3 * step.seconds)});
    }
    for (auto const& [level, ms] : of_expansion) {
      expands.points.push_back({static_cast<double>(level), ms});
      expansion[t.preset] += ms;
    }
    for (auto const& [level, ms] : of_queue) {
      fills.points.push_back({static_cast<double>(level), ms});
      queue[t.preset] += ms;
    }
    f.lines.push_back(expands);
    f.lines.push_back(fills);
  }
  auto const over = [](double a, double b) {
    return b > 0 ? std::vector<point>{{0, a / b}} : std::vector<point>{};
  };
  auto const sum = [&](std::string const& preset) {
    return preset + " " + three_digits(expansion[preset]) + " ms";
  };
  f.claims = {
      judge(queue_pays, {{over(expansion["baseline"] - expansion["queue"], queue["queue"]), 1,
                          enterprise_any, " times its cost is saved"}}),
      judge(classes_cut, {{over(expansion["queue"], expansion["classes"]), 0.75 * 419 / 76.5,
                           enterprise_any, " times as fast as without them"}})};
  f.notes = {"expansion in all: " + sum("baseline") + ", " + sum("queue") + " and " +
             three_digits(queue["queue"]) + " ms to make it, " + sum("classes")};
  f.notes.push_back("times include the launch of each kernel, as Kokkos waits before and after it");
  f.notes.push_back("what the baseline does beside expansion is to count a level");
  return f;
}

figure enterprise_techniques(scale const& s, reporter const& report) {
  auto const& all = searches_of_all(s, report);
  figure f = figure_of_graphs(all);
  f.title = "traversed edges a second, each technique added to those before";
  f.y = {"GTEPS", true};
  for (std::string const& name : enterprise_ladder()) f.lines.push_back({name});
  f.lines.push_back({"karpos::bfs, default options"});
  f.lines[0].missing = missing_graphs(all);
  // On the paper's graphs: of a technique over those before, and of all.
  std::vector<series> gain(3);
  series whole, rate;
  for_each_searched(all, [&](double x, enterprise_searches const& g) {
    auto const names = enterprise_ladder();
    for (std::size_t i = 0; i < names.size(); ++i)
      f.lines[i].points.push_back({x, g.gteps(names[i])});
    f.lines.back().points.push_back({x, g.gteps("")});
    if (g.graph.is_users) return;
    for (std::size_t i = 1; i < names.size(); ++i)
      gain[i - 1].points.push_back({x, g.seconds(names[i - 1]) / g.seconds(names[i])});
    whole.points.push_back({x, g.seconds("baseline") / g.seconds("hubs")});
    rate.points.push_back({x, g.gteps("hubs")});
  });
  auto const at = [&](char const* name) { return place_of(name, all); };
  f.lines.push_back({"baseline", origin::published, {{at("Twitter"), 0.04}}});
  f.lines.push_back({"queue",
                     origin::published,
                     {{at("Kron-20-512"), 34}, {at("Twitter"), 1.5}, {at("LiveJournal"), 0.9}}});
  f.lines.push_back({"classes", origin::published, {{at("LiveJournal"), 3.7}}});
  f.lines.push_back(
      {"hubs", origin::published, {{at("Kron-20-512"), 76}, {at("Friendster"), 3.1}}});
  double product = 1;
  for (point const& p : gain[1].points)
    product *= std::pow(p.y, 1 / static_cast<double>(gain[1].points.size()));
  auto const one = [](std::optional<double> const& y) {
    return y ? std::vector<point>{{0, *y}} : std::vector<point>{};
  };
  // The rate of a graph over an end of the rates of all.
  auto const over = [&](char const* name, std::optional<double> const& end) {
    auto const y = value_at(rate, at(name));
    return y && end ? std::vector<point>{{0, *y / *end}} : std::vector<point>{};
  };
  std::string const missing = missing_graphs(all);
  f.claims = {
      judge("queues gain 2x to 37.5x on all graphs",
            {{gain[0].points, 2, enterprise_any, " times as fast", missing}}),
      judge("classes of degrees gain more than 2x on all graphs, 2.8x on average",
            {{gain[1].points, 2, enterprise_any, " times as fast", missing},
             {gain[1].points.empty() ? std::vector<point>{} : std::vector<point>{{0, product}},
              0.75 * 2.8, enterprise_any, " by the geometric mean", missing}}),
      judge("the hub cache and gamma gain up to 55 %, on no graph do they lose",
            {{gain[2].points, 1, enterprise_any, " times as fast", missing},
             {one(largest(gain[2])), 1.1, enterprise_any, " at best", missing}}),
      judge("all techniques gain 3.3x to 105.5x over a status array",
            {{whole.points, 3.3, enterprise_any, " times as fast", missing}}),
      judge("Kron-20-512 is the fastest graph (76 GTEPS)",
            {{over("Kron-20-512", largest(rate)), 1, enterprise_any, " of the highest rate",
              missing}}),
      judge("Friendster is the slowest graph (3.1 GTEPS)",
            {{over("Friendster", least(rate)), 0, 1, " of the lowest rate", missing}})};
  f.notes = {"means over " + std::to_string(enterprise_parameters(s).sources) +
                 " random sources, the paper's over 64",
             "gains are of median times; edges are counted as published, with duplicates",
             "classes have four kernels at once in the paper, one here"};
  return f;
}

figure enterprise_peers(scale const& s, reporter const& report) {
  struct graph_of_figure {
    std::string name, spec, what;
  };
  std::vector<graph_of_figure> graphs = {
      {"Facebook", enterprise_graph_of("Facebook", s).spec, "stand-in"},
      {"Twitter", enterprise_graph_of("Twitter", s).spec, "stand-in"},
      {"Kron-21-128", fitted("kron:scale=21,ef=128", s), ""},
      {"roadCA", fitted("grid:1402x1402,drop=0.296", s), "grid of as many vertices and edges"},
      {"europe.osm", fitted("grid:7136x7136,drop=0.4", s),
       "grid of as many vertices, 2.4 edges each"}};
  for (std::string const& file : s.graphs) graphs.push_back({file, file, "yours"});
  figure f;
  f.title = "beside a plain search, on power laws and on graphs of high diameter";
  f.x.label = "graph";
  f.y = {"GTEPS", true};
  f.lines = {{"karpos::bfs"},
             {"all of Enterprise's techniques"},
             {"plain search: top-down, one atomic queue", origin::peer},
             {"status array", origin::peer}};
  f.table = {{"graph", "searched", "levels", "ours over the plain search"}};
  std::string missing;  // of the graphs that do not fit in memory
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    graph_of_figure const& g = graphs[i];
    f.x.categories.push_back(g.name + (g.what.empty() || g.what == "yours" ? "" : " (stand-in)"));
    bfs_parameters p = enterprise_parameters(s);
    p.graph = g.spec;
    p.baseline = true;
    p.presets = {bfs_presets().back()};
    bool const is_grid = g.spec.rfind("grid:", 0) == 0;
    if (is_grid) {
      p.sources = std::min<std::uint64_t>(p.sources, 2);
      p.repetitions = 1;
    }
    bool const has_status_array = !is_grid || parse_generator(g.spec).vertices() < 1u << 24;
    if (has_status_array) p.presets.push_back(bfs_presets().front());
    auto const part_of = [&](double part, std::string const& what) {
      report((static_cast<double>(i) + part) / static_cast<double>(graphs.size()),
             g.name + ", " + what);
    };
    std::string obstacle;
    auto const searched = try_search(p, s, part_of, obstacle);
    if (!searched) {
      missing += (missing.empty() ? "" : "; ") + g.name + ": " + obstacle;
      continue;
    }
    bfs_run const& run = *searched;
    f.wrong += run.wrong();
    auto const x = static_cast<double>(i);
    auto const presets = figures_of_presets(run);
    double const ours = harmonic_mean_gteps(run, &bfs_result::time),
                 plain = harmonic_mean_gteps(run, &bfs_result::baseline_time);
    std::vector<double> rates = {ours, presets[0].gteps, plain};
    if (has_status_array) rates.push_back(presets[1].gteps);
    for (std::size_t k = 0; k < rates.size(); ++k) f.lines[k].points.push_back({x, rates[k]});
    f.table.push_back({g.name, g.what.empty() ? run.graph : g.what + ": " + run.graph,
                       grouped(static_cast<std::uint64_t>(run.searches.front().report.levels)),
                       enterprise_times(ours / plain)});
  }
  for (std::size_t k = 0; k < 4; ++k) f.lines[k].missing = missing;

  std::vector<point> const deep = {{3, 1.41}, {4, 1.41}};
  f.lines.push_back({"Enterprise, mean of high diameters", origin::published, deep});
  f.lines.push_back({"Gunrock, mean", origin::published, {{3, 0.72}, {4, 0.72}}});
  f.lines.push_back({"MapGraph, mean", origin::published, {{3, 0.25}, {4, 0.25}}});
  f.lines.push_back({"GraphBIG, mean", origin::published, {{3, 0.03}, {4, 0.03}}});
  f.lines.push_back({"audikw1",
                     origin::ours,
                     {},
                     {},
                     "no stand-in: a mesh of solids; --graph audikw_1.mtx measures it"});
  std::vector<point> mean_of_grids;
  auto const road = value_at(f.lines[0], 3), europe = value_at(f.lines[0], 4);
  if (road && europe) mean_of_grids = {{0, (*road + *europe) / 2}};
  f.claims = {{"4x, 5x, 9x and 74x as fast as B40C, Gunrock, MapGraph and GraphBIG on power laws",
               std::nullopt, "these are not built here; ours over a plain search is in the table"},
              judge("faster than a queue with atomics on power laws",
                    {{between(ratio(f.lines[0], f.lines[2]), 0, 2), 1, enterprise_any,
                      " times as fast", missing}}),
              judge("1.41 GTEPS on average on graphs of high diameter",
                    {{mean_of_grids, 1.41, enterprise_any, " GTEPS on two grids", missing}})};
  f.notes = {"the library explores several narrow levels at once (local search), Enterprise none",
             "grids are searched from two sources, once each; a status array searches no grid of "
             "2^24 vertices or more: it would read them all in each of 12,000 levels"};
  return f;
}

namespace {

/// The graphs of one curve of Figure 15: which graph one rank searches, and whether its vertices or
/// its edges grow with the number of ranks.
struct enterprise_curve {
  std::string name;
  std::string spec;
  bool grows_vertices, grows_edges;

  std::string graph_on(int ranks) const {
    generator_spec g = parse_generator(spec);
    if (grows_vertices) g.scale += static_cast<std::uint64_t>(std::lround(std::log2(ranks)));
    if (grows_edges) g.edge_factor *= static_cast<std::uint64_t>(ranks);
    return to_string(g);
  }
};

std::vector<enterprise_curve> enterprise_curves(scale const& s) {
  std::string const largest = fitted("kron:scale=24,ef=32", s),
                    base = s.pick<std::string>("kron:scale=12,ef=16", "kron:scale=18,ef=32",
                                               "kron:scale=22,ef=32");
  return {{"strong scaling", largest, false, false},
          {"weak scaling by vertices", base, true, false},
          {"weak scaling by edges", base, false, true}};
}

}  // namespace

figure enterprise_scaling(scale const& s, reporter const& report) {
  figure f;
  f.title = "searches over ranks: rate over that of one rank";
  f.x = {"ranks"};
  f.y = {"times the rate of one rank"};
  auto const curves = enterprise_curves(s);
  for (enterprise_curve const& c : curves) f.lines.push_back({c.name});
  f.lines.push_back(
      {"Enterprise: strong", origin::published, {{1, 1}, {2, 1.43}, {4, 1.71}, {8, 1.75}}});
  f.lines.push_back({"Enterprise: weak by edges", origin::published, {{1, 1}, {8, 9.1}}});
  std::string const strong = "Kron-24-32 gains 43, 71 and 75 % on 2, 4 and 8 GPUs",
                    weak = "weak scaling by edges is better than by vertices, and superlinear";
  if (started_ranks() < 2 || !s.search_over_ranks) {
    std::string const why =
        "one rank: mpirun -n 2 karpos paper enterprise --figure 15 measures it, on as many GPUs";
    for (std::size_t i = 0; i < curves.size(); ++i) f.lines[i].missing = why;
    f.claims = {{strong, std::nullopt, "one rank"}, {weak, std::nullopt, "one rank"}};
    return f;
  }
  bfs_parameters p = enterprise_parameters(s);
  p.permute = true;
  std::map<std::pair<std::string, int>, double> rate;
  f.table = {{"curve", "ranks", "graph", "GTEPS"}};
  int most = 1;
  auto const plan = [&](int ranks) {
    std::vector<rank_search> searches;
    for (int r = 1; r <= ranks; r *= 2) {
      most = r;
      for (enterprise_curve const& c : curves) {
        rank_search const search = {c.graph_on(r), r};
        if (std::none_of(searches.begin(), searches.end(), [&](rank_search const& other) {
              return other.graph == search.graph && other.ranks == r;
            }))
          searches.push_back(search);
      }
    }
    report(0, std::to_string(searches.size()) + " graphs over " + std::to_string(ranks) + " ranks");
    return searches;
  };
  for (rank_search_result const& result : s.search_over_ranks(plan, p)) {
    if (!result.obstacle.empty()) {
      f.notes.push_back(result.of.graph + " over " + std::to_string(result.of.ranks) +
                        " ranks: " + result.obstacle);
      continue;
    }
    f.wrong += result.run.wrong();
    rate[{result.of.graph, result.of.ranks}] = harmonic_mean_gteps(result.run, &bfs_result::time);
  }
  for (std::size_t i = 0; i < curves.size(); ++i)
    for (int r = 1; r <= most; r *= 2) {
      auto const one = rate.find({curves[i].graph_on(1), 1}),
                 here = rate.find({curves[i].graph_on(r), r});
      if (one == rate.end() || here == rate.end()) continue;
      f.lines[i].points.push_back({static_cast<double>(r), here->second / one->second});
      f.table.push_back(
          {curves[i].name, std::to_string(r), here->first.first, three_digits(here->second)});
    }
  std::string const on = " times the rate of one rank, on " + std::to_string(most) + " ranks";
  std::string const one_rank = most < 2 ? "one rank" : "";
  auto const at_most = [&](std::vector<point> const& points) {
    return between(points, static_cast<double>(most), static_cast<double>(most));
  };
  f.claims = {judge(strong, {{at_most(f.lines[0].points),
                              most >= 8   ? 1.75
                              : most >= 4 ? 1.71
                                          : 1.43,
                              enterprise_any, on, one_rank}}),
              judge(weak, {{at_most(f.lines[2].points), static_cast<double>(most), enterprise_any,
                            on, one_rank},
                           {at_most(ratio(f.lines[2], f.lines[1])), 1, enterprise_any,
                            " times weak scaling by vertices", one_rank}})};
  f.claims[0].about_gpu = true;
  f.notes.push_back("vertices are dealt out to the ranks at random (--permute)");
  if (on_host) f.notes.push_back("ranks of one host share its memory and processors");
  return f;
}

namespace {

/// Counters of Figure 16, by the profiler's names, and what the paper calls them.
struct enterprise_metric {
  std::string metric, name;
};
std::vector<enterprise_metric> enterprise_metrics() {
  return {{"smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
           "load/store units busy (%)"},
          {"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct",
           "warps stalled by data requests (%)"},
          {"sm__inst_executed.avg.per_cycle_active", "instructions per cycle"}};
}

}  // namespace

figure enterprise_counters(scale const& s, reporter const& report) {
  std::vector<std::string> const names =
      s.quick ? std::vector<std::string>{"Twitter"}
              : std::vector<std::string>{"Kron-20-512", "Hollywood", "Twitter"};
  auto const ladder = enterprise_ladder();
  figure f;
  f.title = "power and counters by technique, " +
            (s.quick ? names.front() : "means of Kron-20-512, Hollywood and Twitter");
  f.x.label = "technique";
  f.x.categories = ladder;
  f.y = {"W, %, or a number", true};
  f.table = {{"graph", "technique", "W", "GTEPS a watt"}};
  std::vector<std::string> wanted;
  for (enterprise_metric const& m : enterprise_metrics()) {
    f.table[0].push_back(m.name);
    f.lines.push_back({m.name});
    wanted.push_back(m.metric);
  }
  std::size_t const watts = f.lines.size();
  f.lines.push_back({"watts"});
  std::vector<std::vector<std::vector<double>>> values(  // by line, technique and graph
      f.lines.size(), std::vector<std::vector<double>>(ladder.size()));
  std::size_t searched = 0;
  std::string missing;  // of the graphs that do not fit in memory
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string const& name = names[i];
    bfs_parameters p = enterprise_parameters(s);
    p.graph = enterprise_graph_of(name, s).spec;
    p.presets = bfs_presets();
    p.energy = true;
    p.energy_seconds = s.pick(0.05, 2.0);
    auto const part_of = [&](double part, std::string const& what) {
      report((static_cast<double>(i) + 0.5 * part) / static_cast<double>(names.size()),
             name + ", " + what);
    };
    std::string obstacle;
    auto const run = try_search(p, s, part_of, obstacle);
    if (!run) {
      missing += (missing.empty() ? "" : "; ") + name + ": " + obstacle;
      continue;
    }
    ++searched;
    f.wrong += run->wrong();
    for (std::size_t k = 0; k < ladder.size(); ++k) {
      part_of(1 + static_cast<double>(k) / static_cast<double>(ladder.size()), "profiler");
      energy_use e = run->preset_energy[k];
      if (!on_host) e.host_joules.reset();  // the paper's power is the GPU's
      auto& row = f.table.emplace_back();
      row = {name, ladder[k], e.is_measured() ? three_digits(e.joules() / e.seconds) : "-",
             e.is_measured() ? three_digits(gteps_per_watt(*run, e)) : "-"};
      if (e.is_measured())
        values[watts][k].push_back(e.joules() / e.seconds);
      else
        f.lines[watts].missing = on_host ? e.host_obstacle : e.device_obstacle;
      kernel_counters const counters =
          profile_driver({"bfs", p.graph, "--keep-duplicates", "--sources", "1", "--reps", "1",
                          "--preset", ladder[k]},
                         wanted, ".*(team_kernel|expand_status|count_level).*");
      for (std::size_t m = 0; m < wanted.size(); ++m) {
        auto const value = counters.of_metric.find(wanted[m]);
        bool const counted_here = value != counters.of_metric.end();
        row.push_back(counted_here ? three_digits(value->second) : "-");
        if (counted_here)
          values[m][k].push_back(value->second);
        else
          f.lines[m].missing =
              counters.obstacle.empty() ? "the profiler does not count it" : counters.obstacle;
      }
    }
  }
  for (std::size_t line = 0; line < values.size(); ++line) {
    std::string& why = f.lines[line].missing;
    if (!missing.empty()) why = missing + (why.empty() ? "" : "; ") + why;
    for (std::size_t k = 0; k < ladder.size(); ++k) {
      auto const& of_graphs = values[line][k];
      if (of_graphs.empty() || of_graphs.size() < searched) continue;
      double sum = 0;
      for (double const v : of_graphs) sum += v;
      f.lines[line].points.push_back(
          {static_cast<double>(k), sum / static_cast<double>(of_graphs.size())});
    }
  }
  // Expects the value with a technique, over that with an earlier one, to lie in [low, high].
  auto const change = [&](std::size_t line, double before, double after, double low, double high,
                          std::string const& text) {
    auto const first = value_at(f.lines[line], before), last = value_at(f.lines[line], after);
    expectation e{{}, low, high, {}, f.lines[line].missing};
    e.what = " times that by " + ladder[static_cast<std::size_t>(before)] + ", mean of " +
             std::to_string(searched) + (searched == 1 ? " graph" : " graphs");
    if (first && last && *first > 0) e.values = {{after, *last / *first}};
    f.claims.push_back(judge(text, {e}));
  };
  change(0, 0, 3, 1, enterprise_any, "the techniques keep the load/store units busier");
  change(1, 2, 3, 0, 1, "stalls by data requests fall by the cache, from 4.8 to 2.9 %");
  change(2, 0, 3, 1.8, enterprise_any, "instructions per cycle double");
  change(watts, 0, 3, 0, 1, "the GPU's power falls, from 86 to 78 W");
  for (claim& c : f.claims) c.about_gpu = true;
  series const published[] = {
      {"Enterprise: W, mean of all graphs", origin::published, {{0, 86}, {1, 81}, {3, 78}}},
      {"Enterprise: IPC on Hollywood", origin::published, {{3, 1.32}}},
      {"Enterprise: load/store units on Hollywood (%)", origin::published, {{3, 50}}}};
  f.lines.insert(f.lines.end(), std::begin(published), std::end(published));
  f.notes = {"published: at best 0.446 GTEPS a watt",
             "counters are means over the kernels of a search, weighted by their durations"};
  return f;
}

}  // namespace karpos::perf::paper
