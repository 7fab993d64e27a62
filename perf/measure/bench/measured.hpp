// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "perf/measure/bench/bench.hpp"

// Benchmarks of what the driver measures. One run of the driver is one iteration, whose time is the
// median of the run's readings.

namespace karpos::perf {

/// The last run and its key. Benchmarks that show parts of one run follow each other, so that it is
/// made only once.
template <class Run>
std::optional<std::pair<std::string, Run>>& last_run() {
  static std::optional<std::pair<std::string, Run>> last;
  return last;
}

/// Registers a benchmark that shows a part of the run named `key`; `make` makes the run unless the
/// last run had the same key. show(state, run) sets the time. Wrong answers in a run, and input
/// that does not fit into memory, are errors.
template <class Run>
void add_measured(std::string const& name, std::string const& key, std::function<Run()> const& make,
                  std::function<void(benchmark::State&, Run const&)> const& show) {
  auto const measure = [=](benchmark::State& state) {
    auto& last = last_run<Run>();
    try {
      for (auto _ : state) {
        if (!last || last->first != key) {
          last.reset();  // frees the memory first
          last.emplace(key, make());
        }
        show(state, last->second);
      }
      if (last->second.wrong() > 0) state.SkipWithError("answers were wrong");
    } catch (std::exception const& e) {
      state.SkipWithError(e.what());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), measure)
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace karpos::perf
