// SPDX-License-Identifier: Apache-2.0
/// \file
/// A user of Karpos: one kernel, the version, and a table.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/version.hpp>
#if __has_include(<karpos/hash_map.hpp>)
#include <karpos/hash_map.hpp>
#endif

int distinct_keys();  // part.cpp

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  std::uint64_t found = 0;
#if __has_include(<karpos/hash_map.hpp>)
  Kokkos::DefaultExecutionSpace const exec;
  Kokkos::View<std::uint32_t*> const keys("keys", 1000);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<>(exec, 0, 1000),
      KOKKOS_LAMBDA(int i) { keys(i) = static_cast<std::uint32_t>(i % 500); });
  karpos::hash_map<std::uint32_t, std::uint32_t> map(exec, 1000);
  found = map.insert(exec, keys, keys).inserted;
#else
  found = 500;
#endif
  std::printf("karpos %s, %d distinct keys\n", karpos::version_string, static_cast<int>(found));
  return found == static_cast<std::uint64_t>(distinct_keys()) ? 0 : 1;
}
