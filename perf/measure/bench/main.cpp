// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "perf/measure/bench/bench.hpp"
#include "perf/measure/support/context.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

/// Removes --keys=2^20,2^26 from the command line, and returns these sizes.
bench_sizes parse_sizes(int& argc, char** argv) {
  bench_sizes sizes;
  std::string const option = "--keys=";
  int arguments_left = 0;
  for (int i = 0; i < argc; ++i) {
    std::string const word = argv[i];
    if (word.rfind(option, 0) != 0) {
      argv[arguments_left++] = argv[i];
      continue;
    }
    sizes.keys.clear();
    std::stringstream list(word.substr(option.size()));
    for (std::string one; std::getline(list, one, ',');) sizes.keys.push_back(parse_count(one));
  }
  argc = arguments_left;
  return sizes;
}

void record_context() {
  json const facts = context();
  for (auto const& [name, value] : facts.items())
    benchmark::AddCustomContext("karpos_" + name,
                                value.is_string() ? value.get<std::string>() : value.dump());
}

int run(int argc, char** argv) {
  remember_command_line(argc, argv);
  benchmark::Initialize(&argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bench_sizes const sizes = parse_sizes(argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  record_context();
  register_benchmarks(sizes);
  benchmark::RunSpecifiedBenchmarks();
  finish_benchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace karpos::perf

int main(int argc, char** argv) {
  try {
    return karpos::perf::run(argc, argv);
  } catch (std::invalid_argument const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
