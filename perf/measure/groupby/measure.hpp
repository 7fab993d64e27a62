// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/tool/groupby/parameters.hpp"

namespace karpos::perf {

/// Generates the rows, counts and sums them by key, and checks every result.
groupby_run run_groupby(groupby_measure_parameters const& p, reporter const& report);

/// Does the part of run_groupby that depends on the type of keys. Each type has a file of its own,
/// since its kernels take long to compile.
template <class Key>
groupby_run measure_groupby(groupby_measure_parameters const& p, reporter const& report);

extern template groupby_run measure_groupby<std::uint32_t>(groupby_measure_parameters const&,
                                                           reporter const&);
extern template groupby_run measure_groupby<std::uint64_t>(groupby_measure_parameters const&,
                                                           reporter const&);

}  // namespace karpos::perf
