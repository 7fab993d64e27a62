// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "perf/measure/paper/report.hpp"

namespace karpos::perf::paper {
namespace {

json json_of(axis const& a) {
  json j = {{"label", a.label}, {"logarithmic", a.logarithmic}};
  if (!a.categories.empty()) j["categories"] = a.categories;
  return j;
}

json json_of(series const& s) {
  json j = {{"name", s.name}, {"origin", name_of(s.from)}};
  if (!s.hardware.empty()) j["hardware"] = s.hardware;
  if (!s.missing.empty()) j["missing"] = s.missing;
  json& points = j["points"] = json::array();
  for (point const& p : s.points) points.push_back({p.x, p.y});
  return j;
}

json json_of(claim const& c) {
  json j = {{"claim", c.text}, {"holds", nullptr}, {"because", c.because}};
  if (c.holds) j["holds"] = *c.holds;
  return j;
}

json json_of(paper_run const& run, measured_figure const& f) {
  json j = {
      {"figure", f.entry.number},     {"title", f.content.title}, {"command", run.command(f.entry)},
      {"one_value", f.entry.command}, {"seconds", f.seconds},     {"x", json_of(f.content.x)},
      {"y", json_of(f.content.y)}};
  json& lines = j["series"] = json::array();
  for (series const& s : f.content.lines) lines.push_back(json_of(s));
  json& claims = j["claims"] = json::array();
  for (claim const& c : f.content.claims) claims.push_back(json_of(c));
  if (!f.content.table.empty()) j["table"] = f.content.table;
  j["remarks"] = remarks_of(run, f);
  j["wrong"] = f.content.wrong;
  if (!f.failure.empty()) j["failure"] = f.failure;
  return j;
}

}  // namespace

json to_json(paper_run const& run) {
  json j = {{"format", "karpos-paper-1"},
            {"context", context()},
            {"paper", run.paper.id},
            {"title", run.paper.title},
            {"reference", run.paper.reference},
            {"published_on", run.paper.hardware},
            {"quick", run.how_much.quick}};
  json& figures = j["figures"] = json::array();
  for (measured_figure const& f : run.figures) figures.push_back(json_of(run, f));
  return j;
}

}  // namespace karpos::perf::paper
