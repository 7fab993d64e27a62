// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "perf/measure/paper/papers.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/topk/measure.hpp"

namespace karpos::perf::paper {
namespace {

/// Returns the numbers of objects that the paper ranks, or smaller ones.
std::vector<double> topk_objects(scale const& s) {
  return s.pick<std::vector<double>>({1e4, 2e4, 4e4}, {1e6, 2e6, 4e6, 6e6, 8e6, 1e7});
}

/// Queries the best 100 of objects with four uniform scores, as the paper does.
topk_run topk_query(scale const& s, double objects, std::vector<std::string> const& peers,
                    reporter const& report) {
  topk_parameters p;
  p.scores = "uniform:m=" + std::to_string(std::llround(objects)) + ",n=4";
  p.repetitions = s.repetitions();
  p.peers = peers;
  return run_topk(p, generated_scores(p), report);
}

figure topk_ratios(scale const& s, reporter const& report) {
  figure f;
  f.title = "time of one CPU thread over ours, best 100 of objects in four lists";
  f.x = {"objects", true};
  f.y = {"times as fast as one thread", true};
  std::vector<std::string> const peers = {"nra", "lara"};
  for (std::string const& name : peers) f.lines.push_back({"one thread of " + name, origin::ours});
  std::vector<double> const objects = topk_objects(s);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    report(static_cast<double>(i) / static_cast<double>(objects.size()),
           grouped(static_cast<std::uint64_t>(objects[i])) + " objects");
    topk_run const run = topk_query(s, objects[i], peers, [](double, std::string const&) {});
    for (std::size_t peer = 0; peer < peers.size(); ++peer)
      f.lines[peer].points.push_back(
          {objects[i], run.peers[peer].time.median() / run.time.median()});
    f.wrong += run.wrong();
  }
  series const ours = f.lines[1];
  f.lines.push_back({"lowest ratio", origin::published, constant(ours, 2.7)});
  f.lines.push_back({"highest ratio", origin::published, constant(ours, 3.8)});
  f.claims.push_back({"2.7 to 3.8 times as fast as one thread of a CPU", *least(ours) >= 2.7,
                      "at least " + three_digits(*least(ours)) + " times as fast as LARA"});
  return f;
}

}  // namespace

publication topk_paper() {
  publication paper;
  paper.id = "topk";
  paper.title = "Top-k queries without random access on a Tegra K1";
  paper.reference = "a published system of ranked queries; no fuller reference is recorded here";
  paper.hardware = "Jetson TK1: 192 CUDA cores at 0.825 GHz, ARM Cortex-A15 at 1.3 GHz, 2 GB";
  paper.figures = {{"2", "ratio to one thread of a CPU",
                    "karpos topk uniform:m=1e7,n=4 --peers nra,lara", topk_ratios, 1}};
  return paper;
}

}  // namespace karpos::perf::paper
