// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace karpos::perf {

/// Sizes that the command line of a benchmark binary may choose, beside Google Benchmark's own
/// options.
struct bench_sizes {
  std::vector<std::uint64_t> keys = {1 << 16, 1 << 20, 1 << 22, 1 << 24};
};

/// Registers the benchmarks. Each binary defines this function; it is called with Kokkos
/// initialized.
void register_benchmarks(bench_sizes const& sizes);
/// Frees what the benchmarks of a binary kept between them.
void finish_benchmarks();

}  // namespace karpos::perf
