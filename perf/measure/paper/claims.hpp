// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

// The values of a figure, and what decides whether a claim of the paper holds for them.

namespace karpos::perf::paper {

/// A measured or published value. On an axis of categories x is the index of a category.
struct point {
  double x, y;
};

enum class origin { published, ours, peer, ceiling };

/// A line of a figure, or the bars of one colour. A value that is missing is no point; `missing`
/// says why. Points may be in any order.
struct series {
  std::string name;
  origin from = origin::ours;
  std::vector<point> points = {};
  std::string hardware = {};  ///< empty: this machine, or the paper's own for published values
  std::string missing = {};   ///< why there are no points, or why some are missing
};

/// Returns the smallest or the largest y of a series, or nothing if it has no points.
std::optional<double> least(series const& s);
std::optional<double> largest(series const& s);
/// Returns the y at x, or nothing.
std::optional<double> value_at(series const& s, double x);
/// Returns series a over series b, at every x that both have.
std::vector<point> ratio(series const& a, series const& b);
/// Returns the points whose x is in [first, last].
std::vector<point> between(std::vector<point> const& points, double first, double last);
/// Returns a constant series over all x of another one.
std::vector<point> constant(series const& like, double y);

/// A sentence of the paper that values of the figure can confirm.
struct claim {
  std::string text;
  std::optional<bool> holds = {};  ///< empty: could not be tried here
  std::string because = {};        ///< the numbers that decide, or why it could not be tried
  bool about_gpu = false;          ///< says nothing about a run on a CPU
};

/// One part of a claim: all values must lie in [low, high].
struct expectation {
  std::vector<point> values;
  double low = 0, high = std::numeric_limits<double>::infinity();
  std::string what = {};     ///< follows the numbers: " times as fast at ranges up to 1,000"
  std::string missing = {};  ///< why values are missing; if any are, the claim is not tried
};

/// Expects a published ratio from `low` to `high` within a quarter: other hardware has other
/// ratios.
expectation about(std::vector<point> const& values, double low, double high,
                  std::string const& what, std::string const& missing = {});

expectation at_least(std::vector<point> const& values, double low, std::string const& what,
                     std::string const& missing = {});

/// Returns the claim `text`, which holds if every part does. It is not tried if a part lacks
/// values. The ranges are appended to the text, so that a reader sees which tolerance was used.
claim judge(std::string const& text, std::vector<expectation> const& parts);

/// Withdraws a verdict that this run cannot give: with --quick any, on a CPU those about a GPU.
/// Every claim of every paper passes through here.
void withhold_verdict(claim& c, bool quick, bool on_gpu);

/// Returns the words for a claim: "holds", "does not hold", "not tried".
std::string verdict(claim const& c);

}  // namespace karpos::perf::paper
