// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "perf/measure/paper/figure.hpp"

namespace karpos::perf::paper {

/// Measures the figures one after another, and calls `use` with each as soon as it is measured.
/// Shows progress and the time left on stderr. A figure that cannot be measured says why, and does
/// not keep the others from being measured.
paper_run run_paper(publication const& paper, std::vector<figure_entry> const& figures,
                    scale const& how_much,
                    std::function<void(paper_run const&, measured_figure const&)> const& use);

}  // namespace karpos::perf::paper
