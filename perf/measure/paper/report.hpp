// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "perf/measure/paper/figure.hpp"
#include "perf/measure/support/context.hpp"

// Forms in which a measured paper is printed and written: text, a picture a figure, a page, JSON.

namespace karpos::perf::paper {

/// Returns the values of all series as text, a heading first; empty if no series has points.
std::vector<std::vector<std::string>> cells_of(figure const& f);

/// Returns "published", "ours", "peer", "ceiling".
char const* name_of(origin from);

/// Returns the sentences below a figure: hardware, what is missing and why, notes.
std::vector<std::string> remarks_of(paper_run const& run, measured_figure const& f);

/// Returns a number for a tick or a cell: "2^20", "1,500", "0.0123".
std::string number_text(double x);

void print_heading(paper_run const& run);
void print(paper_run const& run, measured_figure const& f);

/// Returns the figure as an SVG picture, for light and dark screens; empty if it has no points.
/// Within a page, whose style sheet has svg_style(), it needs no style of its own.
std::string svg_of(measured_figure const& f, bool with_style = true);
std::string svg_style();

/// Returns a page that holds all figures, and needs no other file.
std::string page_of(paper_run const& run);

/// Returns the run and its context in the format of perf/results/README.md.
json to_json(paper_run const& run);

}  // namespace karpos::perf::paper
