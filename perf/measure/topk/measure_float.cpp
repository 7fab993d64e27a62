// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/topk/measurement.hpp"

namespace karpos::perf {

template topk_run measure_topk<float>(topk_parameters const&, score_source, reporter const&);

}  // namespace karpos::perf
