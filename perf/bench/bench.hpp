// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace karpos::perf {

/// What the command line of a benchmark binary may choose beside Google Benchmark's own options.
struct bench_sizes {
  std::vector<std::uint64_t> keys = {1 << 16, 1 << 20, 1 << 22, 1 << 24};
};

/// Each binary registers its benchmarks here, with Kokkos initialized.
void register_benchmarks(bench_sizes const& sizes);
/// And frees what it kept between them.
void finish_benchmarks();

}  // namespace karpos::perf
