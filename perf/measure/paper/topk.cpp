// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "perf/measure/paper/papers.hpp"
#include "perf/measure/support/energy.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/topk/measure.hpp"

// The paper ranks by the sum of four uniform scores and finds the best 100. Its text has two
// numbers: ten million objects take less than 2 s, and queries of all sizes take 2.7 to 3.8 times
// less than one thread of a CPU, whose algorithm it does not name.

namespace karpos::perf::paper {
namespace {

constexpr char const* topk_scheme = "the paper's scheme, here";
constexpr char const* topk_ours = "karpos::top_k";
constexpr double topk_published_seconds = 2, topk_published_objects = 1e7;
constexpr std::uint64_t topk_stride = 100;

std::string topk_peer_name(std::string const& peer) {
  static std::map<std::string, std::string> const names = {{"published", topk_scheme},
                                                           {"full", "full aggregation"},
                                                           {"nra", "NRA, one thread"},
                                                           {"sc", "SC, one thread"},
                                                           {"lara", "LARA, one thread"}};
  return names.at(peer);
}

/// Returns the paper's numbers of objects, or smaller ones. CPUs begin below a million, since the
/// paper's scheme may take minutes for a million objects there.
std::vector<double> topk_objects(scale const& s) {
  return s.pick<std::vector<double>>({1e4, 3e4, 1e5}, {1e5, 1e6, 2e6, 4e6, 6e6, 8e6, 1e7},
                                     {1e6, 2e6, 4e6, 6e6, 8e6, 1e7});
}

topk_parameters topk_query(scale const& s, double objects) {
  topk_parameters p;
  p.scores = "uniform:m=" + std::to_string(std::llround(objects)) + ",n=4";
  p.repetitions = s.repetitions();
  p.peers = topk_peer_names();
  p.published_stride = topk_stride;
  return p;
}

topk_peer const* topk_find(topk_run const& run, std::string const& peer) {
  for (topk_peer const& p : run.peers)
    if (p.name == peer) return &p;
  return nullptr;
}

/// The runs of all sizes, which Figures 1 and 2 share.
struct topk_sweep {
  std::vector<std::pair<double, topk_run>> runs;
  std::string left_out;  ///< why the paper's scheme was not run for the larger sizes
  std::uint64_t wrong = 0;
};

topk_sweep topk_measure_sizes(scale const& s, reporter const& report) {
  double const most_seconds = s.pick(2.0, 45.0);
  topk_sweep sweep;
  std::vector<double> const sizes = topk_objects(s);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto const count = static_cast<double>(sizes.size());
    topk_parameters p = topk_query(s, sizes[i]);
    if (!sweep.runs.empty())
      if (topk_peer const* const last = topk_find(sweep.runs.back().second, "published")) {
        // Strides and candidates both grow as the objects to the power of three quarters.
        double const next = last->time.median() * std::pow(sizes[i] / sweep.runs.back().first, 1.5);
        if (next > most_seconds)
          sweep.left_out = "a query of " + grouped(static_cast<std::uint64_t>(sizes[i])) +
                           " objects would take about " + human_seconds(next) + " here";
      }
    if (!sweep.left_out.empty()) p.published_stride = 0;
    sweep.runs.emplace_back(
        sizes[i], run_topk(p, generated_scores(p), [&](double part, std::string const& what) {
          report((static_cast<double>(i) + part) / count,
                 grouped(static_cast<std::uint64_t>(sizes[i])) + " objects, " + what);
        }));
    sweep.wrong += sweep.runs.back().second.wrong();
  }
  return sweep;
}

topk_sweep const& topk_sizes(scale const& s, reporter const& report) {
  static std::map<bool, topk_sweep> measured;
  auto const found = measured.find(s.quick);
  if (found != measured.end()) return found->second;
  return measured[s.quick] = topk_measure_sizes(s, report);
}

/// Returns the milliseconds of a peer, or of karpos::top_k if `peer` is empty.
series topk_times(topk_sweep const& sweep, std::string const& peer) {
  series line{peer.empty() ? topk_ours : topk_peer_name(peer),
              peer.empty() ? origin::ours : origin::peer};
  for (auto const& [objects, run] : sweep.runs) {
    topk_peer const* const p = peer.empty() ? nullptr : topk_find(run, peer);
    if (peer.empty() || p != nullptr)
      line.points.push_back({objects, 1e3 * (p == nullptr ? run.time : p->time).median()});
  }
  if (peer == "published") line.missing = sweep.left_out;
  return line;
}

figure topk_time_of_query(scale const& s, reporter const& report) {
  topk_sweep const& sweep = topk_sizes(s, report);
  figure f;
  f.title = "time of a query, the best 100 of objects with four uniform scores";
  f.x = {"objects", true};
  f.y = {"time of a query (ms)", true};
  f.wrong = sweep.wrong;
  series const scheme = topk_times(sweep, "published"), ours = topk_times(sweep, "");
  f.lines = {
      {"less than", origin::published, {{topk_published_objects, 1e3 * topk_published_seconds}}},
      ours,
      scheme,
      topk_times(sweep, "full")};
  expectation in_time{between(scheme.points, topk_published_objects, topk_published_objects), 0,
                      1e3 * topk_published_seconds};
  in_time.what = " ms by its scheme";
  in_time.missing = scheme.missing;
  f.claims = {judge("the best 100 of ten million objects in less than 2 s", {in_time})};
  f.notes = {
      "its scheme reads strides of 100 levels and stops when 100 objects are known in every "
      "list; every answer is checked against brute force",
      "what its text leaves open: no candidate is dropped early, and known objects leave "
      "the candidates whenever there are 100 more of them"};
  return f;
}

figure topk_ratios(scale const& s, reporter const& report) {
  topk_sweep const& sweep = topk_sizes(s, report);
  figure f;
  f.title = "time of one thread of a CPU over the time of a query";
  f.x = {"objects", true};
  f.y = {"times as fast as one thread", true};
  f.wrong = sweep.wrong;
  series const scheme = topk_times(sweep, "published"), ours = topk_times(sweep, "");
  for (std::string const peer : {"nra", "sc", "lara"}) {
    series const one_thread = topk_times(sweep, peer);
    std::string const peer_name = topk_peer_name(peer);
    series over_scheme{peer_name + " / " + topk_scheme, origin::peer, ratio(one_thread, scheme)};
    over_scheme.missing = scheme.missing;
    f.lines.push_back({peer_name + " / " + topk_ours, origin::ours, ratio(one_thread, ours)});
    // The text does not say which algorithm its thread runs: each is tried.
    f.claims.push_back(
        judge("2.7 to 3.8 times as fast as a CPU: " + peer_name,
              {about(over_scheme.points, 2.7, 3.8, " times as fast", scheme.missing)}));
    f.lines.push_back(over_scheme);
  }
  f.lines.push_back({"lowest of all sizes", origin::published, constant(ours, 2.7)});
  f.lines.push_back({"highest of all sizes", origin::published, constant(ours, 3.8)});
  f.notes = {
      "the text does not say which algorithm its thread runs, and gives the lowest and the "
      "highest ratio only"};
  return f;
}

figure topk_energy(scale const& s, reporter const& report) {
  figure f;
  double const objects = s.pick(1e4, 1e5, 1e7);
  f.title = "energy of a query, the best 100 of " + grouped(static_cast<std::uint64_t>(objects)) +
            " objects with four uniform scores";
  f.x = {"", false, {topk_ours}};
  f.y = {"energy of a query (J)", true};
  topk_parameters p = topk_query(s, objects);
  p.energy = true;
  p.energy_seconds = s.pick(0.2, 2.0);
  topk_run const run = run_topk(p, generated_scores(p), report);
  f.wrong = run.wrong();
  series energy{"here"};
  auto const add = [&](energy_use const& e) {
    if (e.is_measured())
      energy.points.push_back({static_cast<double>(f.x.categories.size() - 1),
                               e.joules() / static_cast<double>(e.rounds)});
  };
  add(*run.energy);
  for (topk_peer const& peer : run.peers) {
    f.x.categories.push_back(topk_peer_name(peer.name));
    add(*peer.energy);
  }
  if (energy.points.empty()) energy.missing = "no counter can be read";
  f.lines = {energy};
  f.notes = {
      "the sum of what the GPU and all processors count, idle power included; the paper gives "
      "no energy"};
  if (!run.energy->device_obstacle.empty())
    f.notes.push_back("the GPU is not counted: " + run.energy->device_obstacle);
  if (!run.energy->host_obstacle.empty())
    f.notes.push_back("the processors are not counted: " + run.energy->host_obstacle);
  return f;
}

}  // namespace

publication topk_paper() {
  publication paper;
  paper.id = "topk";
  paper.title = "Top-k queries without random access on a Tegra K1";
  paper.reference = "a published system of ranked queries; no fuller reference is recorded here";
  paper.hardware = "Jetson TK1: 192 CUDA cores at 0.825 GHz, ARM Cortex-A15 at 1.3 GHz, 2 GB";
  std::string const query = "karpos topk uniform:m=1e7,n=4 ";
  paper.figures = {{"1", "time of a query", query + "--scheme published", topk_time_of_query, 10},
                   {"2", "times as fast as one thread of a CPU",
                    query + "--scheme published --peers nra,sc,lara", topk_ratios, 1},
                   {"energy", "energy of a query", query + "--scheme published --energy --peers",
                    topk_energy, 2}};
  return paper;
}

}  // namespace karpos::perf::paper
