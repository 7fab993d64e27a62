// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/measure/paper/figure.hpp"

// The figures of the paper Enterprise that show times and energy.

namespace karpos::perf::paper {

figure enterprise_timeline(scale const& s, reporter const& report);    // 8
figure enterprise_techniques(scale const& s, reporter const& report);  // 13
figure enterprise_peers(scale const& s, reporter const& report);       // 14
figure enterprise_scaling(scale const& s, reporter const& report);     // 15
figure enterprise_counters(scale const& s, reporter const& report);    // 16

}  // namespace karpos::perf::paper
