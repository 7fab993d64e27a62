// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/sssp/measurement.hpp"

namespace karpos::perf {

template void measure_sssp<std::uint32_t, std::uint32_t>(sssp_run&, opened_graph&, bool,
                                                         reporter const&);

}  // namespace karpos::perf
