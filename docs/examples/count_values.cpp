// SPDX-License-Identifier: Apache-2.0
//
// Reduce by key: how often does each value occur? All keys share one value, 1.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <iostream>
#include <karpos/hash_map.hpp>

/// Finds the largest count.
struct largest {
  Kokkos::View<std::uint32_t*> counts;
  KOKKOS_FUNCTION void operator()(int i, std::uint32_t& most) const {
    if (counts(i) > most) most = counts(i);
  }
};

struct collatz_steps {
  Kokkos::View<std::uint32_t*> steps;
  KOKKOS_FUNCTION void operator()(int i) const {
    std::uint32_t n = 0;
    for (std::uint64_t x = static_cast<std::uint64_t>(i) + 1; x != 1; ++n)
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    steps(i) = n;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;

  int const n = 100'000;
  Kokkos::View<std::uint32_t*> steps("steps", n);
  Kokkos::parallel_for("collatz_steps", Kokkos::RangePolicy(exec, 0, n), collatz_steps{steps});

  karpos::hash_map<std::uint32_t, std::uint32_t> histogram(exec, 1000);
  karpos::insert_report const report = histogram.insert_or_apply(exec, steps, 1u, karpos::plus{});

  Kokkos::View<std::uint32_t*> values("values", report.inserted), counts("counts", report.inserted);
  auto const distinct = static_cast<int>(histogram.retrieve_all(exec, values, counts));
  std::uint32_t most = 0;
  Kokkos::parallel_reduce("largest", Kokkos::RangePolicy(exec, 0, distinct), largest{counts},
                          Kokkos::Max<std::uint32_t>(most));
  std::cout << distinct << " different path lengths, the most frequent occurs " << most
            << " times\n";
  return report.inserted + report.existing == static_cast<std::uint64_t>(n) && most > 0 ? 0 : 1;
}
