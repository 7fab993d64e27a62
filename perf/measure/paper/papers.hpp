// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "perf/measure/paper/figure.hpp"

// To add a figure, write a function `figure NAME(scale const&, reporter const&)` in <id>.cpp and
// list it in that file's function below. The files of this folder are one unit of compilation, so
// the names in their unnamed namespaces begin with the paper's id.

namespace karpos::perf::paper {

publication cucollections_paper();
publication glht_paper();
publication cuckoo_paper();
publication enterprise_paper();
publication topk_paper();
publication warpspeed_paper();
publication hashcsr_paper();

/// Returns the papers that have figures.
std::vector<publication> const& all_papers();

/// Finds a paper by its id. Throws: bad_input that lists all ids.
publication const& find_paper(std::string const& id);

/// Returns the figures with these numbers, in the paper's order; all if there are no numbers.
/// Throws: bad_input that lists the figures of the paper.
std::vector<figure_entry> chosen_figures(publication const& paper,
                                         std::vector<std::string> const& numbers);

}  // namespace karpos::perf::paper
