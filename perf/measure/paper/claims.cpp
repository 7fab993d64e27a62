// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/claims.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "perf/measure/support/text.hpp"

namespace karpos::perf::paper {
namespace {

/// Returns a bound in as many digits as it has: "11.25".
std::string bound_text(double x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", x);
  return text;
}
std::string expected_text(expectation const& e) {
  if (e.low <= 0) return "at most " + bound_text(e.high);
  if (std::isinf(e.high)) return "at least " + bound_text(e.low);
  return bound_text(e.low) + " to " + bound_text(e.high);
}

/// Returns "1.2 to 3.4", or "1.2" if all values look the same. There is at least one.
std::string seen_text(std::vector<point> const& values) {
  series const s{"", origin::ours, values};
  std::string const low = three_digits(*least(s)), high = three_digits(*largest(s));
  return low == high ? low : low + " to " + high;
}

void append(std::string& all, std::string const& separator, std::string const& more) {
  all += (all.empty() ? "" : separator) + more;
}

}  // namespace

std::optional<double> least(series const& s) {
  std::optional<double> found;
  for (point const& p : s.points) found = std::min(found.value_or(p.y), p.y);
  return found;
}

std::optional<double> largest(series const& s) {
  std::optional<double> found;
  for (point const& p : s.points) found = std::max(found.value_or(p.y), p.y);
  return found;
}

std::optional<double> value_at(series const& s, double x) {
  for (point const& p : s.points)
    if (p.x == x) return p.y;
  return std::nullopt;
}

std::vector<point> ratio(series const& a, series const& b) {
  std::vector<point> ratios;
  for (point const& p : a.points)
    if (auto const y = value_at(b, p.x)) ratios.push_back({p.x, p.y / *y});
  return ratios;
}

std::vector<point> between(std::vector<point> const& points, double first, double last) {
  std::vector<point> found;
  for (point const& p : points)
    if (p.x >= first && p.x <= last) found.push_back(p);
  return found;
}

std::vector<point> constant(series const& like, double y) {
  std::vector<point> points;
  for (point const& p : like.points) points.push_back({p.x, y});
  return points;
}

expectation about(std::vector<point> const& values, double low, double high,
                  std::string const& what, std::string const& missing) {
  return {values, 0.75 * low, 1.25 * high, what, missing};
}

expectation at_least(std::vector<point> const& values, double low, std::string const& what,
                     std::string const& missing) {
  return {values, low, std::numeric_limits<double>::infinity(), what, missing};
}

claim judge(std::string const& text, std::vector<expectation> const& parts) {
  claim c;
  bool holds = true, tried = true;
  std::string ranges;
  for (expectation const& e : parts) {
    append(ranges, ", ", expected_text(e) + e.what);
    if (!e.values.empty()) append(c.because, "; ", seen_text(e.values) + e.what);
    if (e.values.empty() || !e.missing.empty())
      append(c.because, "; ", e.missing.empty() ? "values are missing" : e.missing);
    tried = tried && !e.values.empty() && e.missing.empty();
    for (point const& p : e.values) holds = holds && p.y >= e.low && p.y <= e.high;
  }
  c.text = text + " (here: " + ranges + ")";
  if (tried) c.holds = holds;
  return c;
}

void withhold_verdict(claim& c, bool quick, bool on_gpu) {
  std::string const why = quick                    ? "--quick measures too little to judge: "
                          : c.about_gpu && !on_gpu ? "it is one about a GPU: "
                                                   : "";
  if (why.empty()) return;
  c.holds.reset();
  c.because = why + c.because;
}

std::string verdict(claim const& c) {
  return !c.holds ? "not tried" : *c.holds ? "holds" : "does not hold";
}

}  // namespace karpos::perf::paper
