// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ceilings.hpp"

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "perf/measure/bench/bench.hpp"
#include "perf/measure/support/space.hpp"

// Ceilings of this machine's memory, over the bytes that tables of n 4+4-byte keys take at load
// 0.5. Names: access/bytes:n.

namespace karpos::perf {
namespace {

using measurement = std::function<ceiling(ceilings<space>&)>;

void measure(benchmark::State& state, std::size_t bytes, measurement const& run) {
  ceilings<space> memory_of(space(), bytes, bytes / 16, 5);
  ceiling last;
  for (auto _ : state) {
    last = run(memory_of);
    state.SetIterationTime(last.time.median());
  }
  state.counters["G/s"] = last.rate() * 1e-9;
  state.counters["GB/s"] = last.bytes_per_second() * 1e-9;
  state.SetLabel(last.variant);
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  std::pair<char const*, measurement> const kinds[] = {
      {"random_read", [](ceilings<space>& c) { return c.random_read(); }},
      {"random_cas_8", [](ceilings<space>& c) { return c.random_cas(false); }},
      {"random_cas_16", [](ceilings<space>& c) { return c.random_cas(true); }},
      {"copy", [](ceilings<space>& c) { return c.copy(); }}};
  for (std::uint64_t const keys : sizes.keys)
    for (auto const& [name, run] : kinds)
      benchmark::RegisterBenchmark(
          (std::string(name) + "/bytes:" + std::to_string(16 * keys)).c_str(),
          [run = run, keys](benchmark::State& s) { measure(s, 16 * keys, run); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
}

void finish_benchmarks() {}

}  // namespace karpos::perf
