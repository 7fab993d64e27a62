// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/join/measurement.hpp"
#include "perf/measure/join/name_table.hpp"

namespace karpos::perf {

template join_run measure_join<table_of_names>(join_measure_parameters const&, reporter const&);

}  // namespace karpos::perf
