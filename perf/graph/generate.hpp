// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <karpos/csr_graph.hpp>
#include <karpos/csr_options.hpp>
#include <string>

#include "perf/graph/generator_spec.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// The undirected graph of a spec where the driver runs; for offsets of 32 and 64 bits. The callback is told which
/// part of the work, in [0, 1], is done, and what comes next; the options say which edges are removed.
/// Throws: std::length_error when Offset is too narrow for twice spec.candidates(); allocation_error.
template <class Offset>
csr_graph<std::uint32_t, Offset, memory> generate(
    space const& exec, generator_spec const& spec,
    std::function<void(double, std::string const&)> const& report = {},
    csr_options const& options = {});

}  // namespace karpos::perf
