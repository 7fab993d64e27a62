// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "perf/measure/bench/measured.hpp"
#include "perf/measure/subjects/subject.hpp"
#include "perf/measure/support/mixed_run.hpp"

// Concurrent insertions, erasures and lookups, as many as there are keys, half of which are stored
// beforehand: this library's maps, and the peers that support this. Every result is verified.
// Names: mixed/map/key_bytes:b/keys:n/mix:i,e,f.

namespace karpos::perf {
namespace {

bool is_measured(subject_entry const& s) { return !s.only_if_named && can_apply(s); }

mixed_run run_measurement(int key_bytes, std::uint64_t keys, operation_mix const& mix) {
  mixed_parameters p;
  p.keys = p.operations = keys;
  p.key_bytes = key_bytes;
  p.mix = mix;
  p.maps.clear();
  for (subject_entry const& s : subjects())
    if (is_measured(s)) p.maps.push_back(s.id);
  return run_mixed(p, [](double, std::string const&) {});
}

void measure(benchmark::State& state, mixed_run const& run, std::string const& map) {
  auto const at = std::find_if(run.results.begin(), run.results.end(),
                               [&](mixed_result const& r) { return r.map == map; });
  if (at == run.results.end()) return state.SkipWithError("this map was not measured");
  state.SetIterationTime(at->time.median());
  state.counters["G/s"] = at->rate() * 1e-9;
  state.counters["of_random_read"] = at->of_read();
  state.counters["of_random_cas"] = at->of_cas();
}

void add(subject_entry const& entry, int key_bytes, std::uint64_t keys, operation_mix const& mix) {
  std::string const key = "key_bytes:" + std::to_string(key_bytes) +
                          "/keys:" + std::to_string(keys) + "/mix:" + mix.text();
  add_measured<mixed_run>(
      "mixed/" + entry.name + "/" + key, key, [=] { return run_measurement(key_bytes, keys, mix); },
      [map = entry.name](benchmark::State& state, mixed_run const& run) {
        measure(state, run, map);
      });
}

}  // namespace

void register_benchmarks(bench_sizes const& sizes) {
  for (int const key_bytes : {4, 8})
    for (std::uint64_t const keys : sizes.keys)
      for (operation_mix const& mix : {operation_mix{20, 20, 60}, operation_mix{40, 40, 20}})
        for (subject_entry const& entry : subjects())
          if (is_measured(entry)) add(entry, key_bytes, keys, mix);
}

void finish_benchmarks() { last_run<mixed_run>().reset(); }

}  // namespace karpos::perf
