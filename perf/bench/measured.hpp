// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "perf/bench/bench.hpp"

// Benchmarks of what the driver measures: a run of it is one iteration, whose time is the median of its readings.

namespace karpos::perf {

/// The last run and what it was of: rows of one run stand side by side, and what they share is measured once.
template <class Run>
std::optional<std::pair<std::string, Run>>& last_run() {
  static std::optional<std::pair<std::string, Run>> last;
  return last;
}

/// Registers a benchmark that shows a part of the run called `key`, which `make` makes unless the last one was that.
/// show(state, run) sets the time. A run with wrong answers, and an input that memory cannot hold, are errors.
template <class Run>
void add_measured(std::string const& name, std::string const& key, std::function<Run()> const& make,
                  std::function<void(benchmark::State&, Run const&)> const& show) {
  auto const measure = [=](benchmark::State& state) {
    auto& last = last_run<Run>();
    try {
      for (auto _ : state) {
        if (!last || last->first != key) {
          last.reset();  // makes room
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
