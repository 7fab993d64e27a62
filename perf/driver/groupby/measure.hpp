// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/driver/groupby/parameters.hpp"

namespace karpos::perf {

/// Makes the rows, counts and adds them up by key, and checks every result.
groupby_run run_groupby(groupby_measure_parameters const& p, reporter const& report);

/// The part of it that depends on the type of keys; in a file of its own each, since its kernels take long to compile.
template <class Key>
groupby_run measure_groupby(groupby_measure_parameters const& p, reporter const& report);

extern template groupby_run measure_groupby<std::uint32_t>(groupby_measure_parameters const&,
                                                           reporter const&);
extern template groupby_run measure_groupby<std::uint64_t>(groupby_measure_parameters const&,
                                                           reporter const&);

}  // namespace karpos::perf
