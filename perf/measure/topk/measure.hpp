// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>

#include "perf/measure/topk/parameters.hpp"
#include "perf/measure/topk/score_lists.hpp"

namespace karpos::perf {

/// Reads or generates the scores, sorts the lists, and measures what the parameters ask for. Calls
/// `report(part, what)` as the work progresses. Throws an error that makes the input unusable
/// before the first query.
topk_run run_topk(topk_parameters const& p, topk_progress const& report);

/// Does the part of run_topk that depends on the type of scores: float for generators, double for
/// files. Each type has a file of its own, since the kernels of a query take long to compile.
/// `clock` started before the scores were opened.
template <class Score>
topk_run measure_topk(topk_parameters const& p, score_source source, Kokkos::Timer const& clock,
                      topk_progress const& report);

extern template topk_run measure_topk<float>(topk_parameters const&, score_source,
                                             Kokkos::Timer const&, topk_progress const&);
extern template topk_run measure_topk<double>(topk_parameters const&, score_source,
                                              Kokkos::Timer const&, topk_progress const&);

}  // namespace karpos::perf
