// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/join/measurement.hpp"

namespace karpos::perf {

template join_run measure_join<table_of_keys<std::uint64_t>>(join_measure_parameters const&,
                                                             reporter const&);

}  // namespace karpos::perf
