// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "perf/measure/support/hash_run.hpp"
#include "perf/measure/support/workload.hpp"

namespace karpos::perf {

/// Measures cooperative probing of a hash_map in a kernel, for each width W of p.widths: groups of
/// W lanes insert a key, or look it up, together, and read W neighbouring slots at once. Adds
/// `insert by W` and `find by W` to run.results. Unlike bulk calls, such a kernel works on
/// keys in their order, by one access to memory each.
///
/// The table has buckets of W slots and linear probing: with W = 1 a thread goes from slot to slot.
///
/// Source: "Maximizing performance with massively parallel hash maps on GPUs", NVIDIA developer
///   blog, 2023, figure 4.
template <class Key>
void measure_widths(hash_run& run, workload<Key>& work, reporter const& report);

extern template void measure_widths<std::uint32_t>(hash_run&, workload<std::uint32_t>&,
                                                   reporter const&);
extern template void measure_widths<std::uint64_t>(hash_run&, workload<std::uint64_t>&,
                                                   reporter const&);

}  // namespace karpos::perf
