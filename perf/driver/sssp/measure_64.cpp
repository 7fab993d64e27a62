// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/sssp/measurement.hpp"

namespace karpos::perf {

template <class Offset>
void measure_sssp(sssp_run& run, opened_graph graph, Kokkos::Timer const& clock,
                  load_progress const& report) {
  sssp_measurement<Offset>(run, report)(std::move(graph), clock);
}

template void measure_sssp<std::uint64_t>(sssp_run&, opened_graph, Kokkos::Timer const&,
                                          load_progress const&);

}  // namespace karpos::perf
