// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/summary.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "perf/measure/support/energy_report.hpp"
#include "perf/measure/support/map_report.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

/// Returns a number for JSON, which has no infinities: they become words, and NaN, of a missing
/// score, becomes null.
json number(double x) {
  if (std::isnan(x)) return nullptr;
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

json parameters_of(topk_run const& run) {
  topk_parameters const& p = run.parameters;
  json j = {{"scores", run.scores}};
  if (run.generated) j["seed"] = p.seed;
  j.update({{"k", p.k},
            {"aggregate", p.aggregate},
            {"weights", p.weights},
            {"result", name_of(p.result)},
            {"ties", name_of(p.ties)},
            {"stride", name_of(p.stride)},
            {"bail_out", name_of(p.bail_out)},
            {"missing", number(p.missing)},
            {"validate", p.validate},
            {"repetitions", p.repetitions},
            {"peers", p.peers},
            {"timing", timer<space>::method()}});
  if (p.published_stride > 0) j["published_stride"] = p.published_stride;
  return j;
}

json report_of(topk_run const& run) {
  top_k_report const& r = run.report;
  return {{"found", r.found},           {"depth_growing", r.depth_growing},
          {"depth", r.depth},           {"depth_completing", r.depth_completing},
          {"candidates", r.candidates}, {"finalists", r.finalists},
          {"strides", r.strides},       {"entries_read", r.entries},
          {"bytes_read", r.bytes},      {"bailed_out", r.bailed_out}};
}

json row_of(topk_run const& run, std::size_t rank) {
  topk_row const& r = run.rows[rank];
  json j = {{"rank", rank + 1}};
  if (run.parameters.result == top_k_result::set) j = json::object();
  if (run.generated)
    j["id"] = std::stoull(r.id);
  else
    j["id"] = r.id;
  if (run.parameters.result == top_k_result::exact) j["score"] = number(r.score);
  json& scores = j["scores"] = json::array();
  for (double const s : r.scores) scores.push_back(number(s));
  return j;
}

json energy_json(energy_use const& e) {
  json j = to_json(e);
  if (!e.is_measured()) return j;
  j["queries"] = e.rounds;
  j["joules_per_query"] = e.joules() / static_cast<double>(e.rounds);
  return j;
}

json peer_of(topk_run const& run, topk_peer const& p) {
  if (!p.skipped.empty()) return {{"peer", p.name}, {"skipped", p.skipped}};
  json j = {{"peer", p.name},
            {"threads", p.threads},
            {"depth_growing", p.depth_growing},
            {"depth", p.depth},
            {"candidates", p.candidates},
            {"over_karpos", p.time.median() / run.time.median()},
            {"wrong", p.wrong},
            {"seconds", to_json(p.time)}};
  if (p.energy) j["energy"] = energy_json(*p.energy);
  return j;
}

}  // namespace

char const* name_of(top_k_result result) { return result == top_k_result::exact ? "exact" : "set"; }
char const* name_of(top_k_ties ties) { return ties == top_k_ties::any ? "any" : "smallest-id"; }
char const* name_of(top_k_bail_out when) {
  return when == top_k_bail_out::automatic ? "auto"
         : when == top_k_bail_out::never   ? "never"
                                           : "at-once";
}
std::string name_of(stride_policy const& stride) {
  return stride.is_fixed() ? "fixed:" + std::to_string(stride.levels()) : "adaptive";
}

json to_json(topk_run const& run) {
  json j = {{"format", "karpos-topk-1"},
            {"context", context()},
            {"parameters", parameters_of(run)},
            {"objects", run.objects},
            {"without_scores", run.without_scores},
            {"lists", run.attributes.size()},
            {"attributes", run.attributes},
            {"entries", run.entries},
            {"score_bytes", run.score_bytes},
            {"load_seconds", run.load_seconds},
            {"sort_seconds", run.sort_seconds},
            {"prepare_seconds", run.prepare_seconds},
            {"workspace_bytes", run.workspace_bytes}};
  j.update(report_of(run));
  j["seconds"] = to_json(run.time);
  if (run.energy) j["energy"] = energy_json(*run.energy);
  json& rows = j["results"] = json::array();
  for (std::size_t rank = 0; rank < run.rows.size(); ++rank) rows.push_back(row_of(run, rank));
  json& peers = j["peers"] = json::array();
  for (topk_peer const& p : run.peers) peers.push_back(peer_of(run, p));
  j["checked"] = true;
  j["wrong"] = run.wrong();
  return j;
}

}  // namespace karpos::perf
