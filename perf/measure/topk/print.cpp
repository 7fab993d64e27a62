// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "perf/measure/support/cells.hpp"
#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"
#include "perf/measure/topk/summary.hpp"

namespace karpos::perf {
namespace {

std::string plain(double x) {
  if (std::isnan(x)) return "-";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", x);
  return text;
}

void print_heading(topk_run const& run) {
  std::printf("%s: %s, %s, %s\n", run.scores.c_str(),
              counted(run.objects, "object", "objects").c_str(),
              counted(run.attributes.size(), "list", "lists").c_str(),
              counted(run.entries, "entry", "entries").c_str());
  if (run.without_scores > 0)
    std::printf("left out: %s without any score\n",
                counted(run.without_scores, "row", "rows").c_str());
  std::printf("%s\n", run_description(run.parameters.repetitions).c_str());
  std::printf("loaded in %s; lists sorted in %s; workspace of %s made in %s\n\n",
              human_seconds(run.load_seconds).c_str(), human_seconds(run.sort_seconds).c_str(),
              human_bytes(static_cast<double>(run.workspace_bytes)).c_str(),
              human_seconds(run.prepare_seconds).c_str());
}

void print_answer(topk_run const& run) {
  bool const exact = run.parameters.result == top_k_result::exact;
  std::vector<std::vector<std::string>> table = {{exact ? "rank" : "no.", "id"}};
  if (exact) {
    table[0].push_back(run.parameters.aggregate);
    table[0].insert(table[0].end(), run.attributes.begin(), run.attributes.end());
  }
  for (topk_row const& r : run.rows) {
    table.push_back({std::to_string(table.size()), r.id});
    if (!exact) continue;
    table.back().push_back(plain(r.score));
    for (double const s : r.scores) table.back().push_back(plain(s));
  }
  print_cells(table, 1);
  if (!exact) std::printf("  the set of the best, in the order of their rows, not by rank\n");
}

void print_work(topk_run const& run) {
  top_k_report const& r = run.report;
  std::printf("\n%s (least %s)   ", human_seconds(run.time.median()).c_str(),
              human_seconds(run.time.low()).c_str());
  std::printf("depth %s growing, %s in all", grouped(r.depth_growing).c_str(),
              grouped(r.depth).c_str());
  if (r.depth_completing > 0)
    std::printf(", %s to complete the scores", grouped(r.depth_completing).c_str());
  std::printf("; %s, %s; %s read, lists hold %s%s\n",
              counted(r.candidates, "candidate", "candidates").c_str(),
              counted(r.finalists, "finalist", "finalists").c_str(),
              counted(r.entries, "id", "ids").c_str(), grouped(run.entries).c_str(),
              r.bailed_out ? " (bailed out: everything)" : "");
}

void print_peer(topk_run const& run, topk_peer const& p) {
  if (!p.skipped.empty()) {
    std::printf("  %s skipped: %s\n", left(p.name, 9).c_str(), p.skipped.c_str());
    return;
  }
  double const ratio = p.time.median() / run.time.median();
  std::printf("  %s %s %s   %s %s   %sx as fast%s\n", left(p.name, 9).c_str(),
              right(human_seconds(p.time.median()), 10).c_str(),
              right(human_seconds(p.time.low()), 10).c_str(),
              right(std::to_string(p.threads), 7).c_str(), right(grouped(p.depth), 13).c_str(),
              right(three_digits(ratio), 6).c_str(),
              p.wrong == 0 ? "" : ("   WRONG: " + grouped(p.wrong)).c_str());
}

void print_energy(topk_run const& run) {
  if (run.energy) print(*run.energy, "query", static_cast<double>(run.energy->rounds));
  for (topk_peer const& p : run.peers)
    if (p.energy && p.energy->is_measured())
      print(*p.energy, "query of " + p.name, static_cast<double>(p.energy->rounds));
}

}  // namespace

void print(topk_run const& run) {
  print_heading(run);
  print_answer(run);
  print_work(run);
  if (!run.peers.empty())
    std::printf("\n  peer          median      least   threads         depth    karpos is\n");
  for (topk_peer const& p : run.peers) print_peer(run, p);
  print_energy(run);
  if (run.wrong() == 0) std::printf("checked: brute force agrees\n");
}

}  // namespace karpos::perf
