// SPDX-License-Identifier: Apache-2.0
//
// The program of quickstart.cpp with compiled calls (karpos::compiled): compiles about as fast as
// Kokkos alone.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <iostream>
#include <karpos/compiled/hash_map.hpp>

struct make_pairs {
  Kokkos::View<std::uint32_t*> keys, squares;
  KOKKOS_FUNCTION void operator()(std::uint32_t i) const {
    keys(i) = 10 * i;
    squares(i) = i * i;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;

  std::uint32_t const n = 1000;
  Kokkos::View<std::uint32_t*> keys("keys", n), squares("squares", n), answers("answers", n);
  Kokkos::parallel_for("make_pairs", Kokkos::RangePolicy(exec, 0u, n), make_pairs{keys, squares});

  karpos::compiled::hash_map<std::uint32_t, std::uint32_t> map(exec, n);
  karpos::insert_report const report = map.insert(exec, keys, squares);
  map.find(exec, keys, answers, /*missing*/ 0u);

  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), answers);
  std::cout << report.inserted << " inserted, key 70 has the value " << host(7) << "\n";
  return report.inserted == n && host(7) == 49 ? 0 : 1;
}
