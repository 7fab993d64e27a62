// SPDX-License-Identifier: Apache-2.0
//
// Use a map inside your own kernels: give scattered ids consecutive numbers, then renumber them.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <iostream>
#include <karpos/device/launch.hpp>
#include <karpos/hash_map.hpp>

using id_map = karpos::hash_map<std::uint64_t, std::uint32_t>;

/// Assigns the next number to every new id.
struct assign_numbers {
  id_map::ref_type numbers;
  Kokkos::View<std::uint64_t*> ids;
  Kokkos::View<std::uint32_t> next;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (numbers.insert(ids(i), 0) == karpos::outcome::inserted)
      numbers.insert_or_assign(ids(i), Kokkos::atomic_fetch_add(&next(), 1u));
  }
};

/// Renumbers the ids. No thread writes to the map any more, so a frozen ref reads it faster.
struct renumber {
  id_map::frozen_ref_type numbers;
  Kokkos::View<std::uint64_t*> ids;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (auto number = numbers.find(ids(i))) ids(i) = *number;
  }
};

/// Looks up an id by a tile: its lanes work on one key together, and all receive the answer.
struct look_up {
  id_map::frozen_ref_type numbers;
  Kokkos::View<std::uint64_t*> ids;
  Kokkos::View<std::uint32_t*> found;
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION void operator()(Tile const& tile, std::uint64_t i) const {
    auto const number = numbers.find(tile, ids(i));
    if (number) tile.on(karpos::lane_mask<Tile::width>::of(0), [&](int) { found(i) = *number; });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;

  Kokkos::View<std::uint64_t*> ids("ids", 9);
  auto host = Kokkos::create_mirror_view(ids);
  std::uint64_t const scattered[] = {7, 1'000'000'007, 7, 42, 42, 99, 7, 1'000'000'007, 5};
  for (int i = 0; i < 9; ++i) host(i) = scattered[i];
  Kokkos::deep_copy(exec, ids, host);

  id_map numbers(exec, 9);
  Kokkos::View<std::uint32_t> next("next");
  Kokkos::View<std::uint32_t*> found("found", 9);
  Kokkos::RangePolicy const all(exec, 0, 9);
  Kokkos::parallel_for("assign_numbers", all, assign_numbers{numbers.ref(), ids, next});
  karpos::device::for_each_tile<8>("look up", exec, 9, look_up{numbers.frozen_ref(), ids, found});
  Kokkos::parallel_for("renumber", all, renumber{numbers.frozen_ref(), ids});

  Kokkos::deep_copy(exec, host, ids);
  auto const by_tiles = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  bool const same =
      host(0) == host(2) && host(0) == host(6) && host(3) == host(4) && host(1) == host(7);
  bool in_range = true;
  for (int i = 0; i < 9; ++i) in_range = in_range && host(i) < 5 && host(i) == by_tiles(i);
  std::cout << numbers.size(exec) << " distinct ids\n";
  return same && in_range && numbers.size(exec) == 5 ? 0 : 1;
}
