// SPDX-License-Identifier: Apache-2.0
//
// A map that changes in every step: particles hop from cell to cell, and the map stores the
// particle of each cell. In one kernel some threads erase cells, others insert cells, and others
// look them up.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <iostream>
#include <karpos/hopscotch_map.hpp>

using cell_map = karpos::hopscotch_map<std::uint32_t, std::uint32_t>;

/// Moves particle i from cell i + step * n to cell i + (step + 1) * n, which no other particle
/// enters.
struct hop {
  cell_map::ref_type occupants;
  std::uint32_t particles, step;
  KOKKOS_FUNCTION void operator()(std::uint32_t i, std::uint64_t& lost) const {
    std::uint32_t const from = i + step * particles, to = from + particles;
    bool const left = occupants.erase(from);
    bool const entered = occupants.insert(to, i) == karpos::outcome::inserted;
    auto const there = occupants.find(to);
    lost += !left || !entered || !there || *there != i;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  constexpr std::uint32_t particles = 10'000, steps = 100;

  cell_map occupants(exec, particles);
  Kokkos::View<std::uint32_t*> cells("cells", particles);
  auto host = Kokkos::create_mirror_view(cells);
  for (std::uint32_t i = 0; i < particles; ++i) host(i) = i;
  Kokkos::deep_copy(exec, cells, host);
  occupants.insert(exec, cells, cells);

  // A million keys come and go in a map made for ten thousand: the slot of an erased key is free at
  // once.
  std::uint64_t lost = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    std::uint64_t lost_now = 0;
    Kokkos::parallel_reduce("hop", Kokkos::RangePolicy(exec, 0, particles),
                            hop{occupants.ref(), particles, step}, lost_now);
    lost += lost_now;
  }
  std::cout << occupants.size(exec) << " particles in a map of " << occupants.capacity()
            << " slots, " << lost << " lost\n";
  return lost == 0 && occupants.size(exec) == particles ? 0 : 1;
}
