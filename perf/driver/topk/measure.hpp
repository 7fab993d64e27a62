// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>

#include "perf/driver/topk/parameters.hpp"
#include "perf/driver/topk/score_lists.hpp"

namespace karpos::perf {

/// Gets the scores, sorts the lists, and measures what the parameters ask for. `report(part, what)` is told the progress.
/// Throws: whatever makes the input unusable, before the first query.
topk_run run_topk(topk_parameters const& p, topk_progress const& report);

/// The part of it that depends on the type of scores: float, of generators, and double, of files; in a file of its own
/// each, since the kernels of a query take long to compile. The scores were opened since `clock` started.
template <class Score>
topk_run measure_topk(topk_parameters const& p, score_source source, Kokkos::Timer const& clock,
                      topk_progress const& report);

extern template topk_run measure_topk<float>(topk_parameters const&, score_source,
                                             Kokkos::Timer const&, topk_progress const&);
extern template topk_run measure_topk<double>(topk_parameters const&, score_source,
                                              Kokkos::Timer const&, topk_progress const&);

}  // namespace karpos::perf
