// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/topk/parameters.hpp"
#include "perf/measure/topk/score_lists.hpp"

namespace karpos::perf {

/// Returns the scores of the generator that the parameters name.
score_source generated_scores(topk_parameters const& p);

/// Sorts the lists, and measures what the parameters ask for. Calls `report(part, what)` as the
/// work progresses. Throws an error that makes the input unusable before the first query.
topk_run run_topk(topk_parameters const& p, score_source source, reporter const& report);

/// Does the part of run_topk that depends on the type of scores: float for generators, double for
/// files. Each type has a file of its own, since the kernels of a query take long to compile.
template <class Score>
topk_run measure_topk(topk_parameters const& p, score_source source, reporter const& report);

extern template topk_run measure_topk<float>(topk_parameters const&, score_source, reporter const&);
extern template topk_run measure_topk<double>(topk_parameters const&, score_source,
                                              reporter const&);

}  // namespace karpos::perf
