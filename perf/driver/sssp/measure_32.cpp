// SPDX-License-Identifier: Apache-2.0
#include "perf/driver/sssp/measurement.hpp"

namespace karpos::perf {

template <class Offset>
void measure_sssp(sssp_run& run, graph_source source, Kokkos::Timer const& clock,
                  load_progress const& report) {
  sssp_measurement<Offset>(run, report)(std::move(source), clock);
}

template void measure_sssp<std::uint32_t>(sssp_run&, graph_source, Kokkos::Timer const&,
                                          load_progress const&);

}  // namespace karpos::perf
