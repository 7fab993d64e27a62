// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/groupby/measurement.hpp"

namespace karpos::perf {

template groupby_run measure_groupby<std::uint64_t>(groupby_measure_parameters const&,
                                                    reporter const&);

}  // namespace karpos::perf
