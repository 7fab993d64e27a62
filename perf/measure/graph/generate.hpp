// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <karpos/csr_graph.hpp>
#include <karpos/csr_options.hpp>
#include <string>

#include "perf/measure/graph/generator_spec.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Generates the undirected graph of a spec in the driver's execution space, with offsets of 32 or
/// 64 bits. The callback gets the fraction of the work that is done, in [0, 1], and the name of
/// what comes next. The options say which edges are removed.
/// Throws: std::length_error if Offset is too narrow for twice spec.candidates(); allocation_error.
template <class Offset>
csr_graph<std::uint32_t, Offset, memory> generate(
    space const& exec, generator_spec const& spec,
    std::function<void(double, std::string const&)> const& report = {},
    csr_options const& options = {});

}  // namespace karpos::perf
