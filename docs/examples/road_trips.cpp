// SPDX-License-Identifier: Apache-2.0
//
// How long does it take from a depot to every place, and along which roads? Shortest paths by
// driving times. Connected components show which places no road connects.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/build_csr.hpp>
#include <karpos/connected_components.hpp>
#include <karpos/sssp.hpp>
#include <vector>

using ids = Kokkos::View<std::uint32_t*>;

template <class T>
Kokkos::View<T*> on_device(std::vector<T> const& from) {
  Kokkos::View<T*> const to("data", from.size());
  auto const host = Kokkos::create_mirror_view(to);
  for (std::size_t i = 0; i < from.size(); ++i) host(i) = from[i];
  Kokkos::deep_copy(to, host);
  return to;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;

  // Places 0 to 3 have roads in both directions; 4 and 5 form an island. Two roads join 2 and 3:
  // build_csr keeps the faster one, and brings driving times into the order of the graph's edges.
  auto const from = on_device<std::uint32_t>({2, 0, 0, 1, 4, 2});
  auto const to = on_device<std::uint32_t>({3, 1, 2, 2, 5, 3});
  auto const driving_time = on_device<float>({8, 4, 9, 3, 2, 5});
  auto const [roads, minutes] =
      karpos::build_csr(exec, 6, from, to, driving_time, {.symmetrise = true});

  Kokkos::View<float*> const time("time", roads.vertices());
  ids const before("place before", roads.vertices()), island("island", roads.vertices());
  karpos::sssp(exec, roads, minutes, 0, time, before);
  auto const components = karpos::connected_components(exec, roads, island);

  auto const t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), time);
  auto const b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), before);
  auto const i = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), island);
  std::printf("%lu islands\n", static_cast<unsigned long>(components.components));
  for (std::uint32_t place = 0; place < t.extent(0); ++place) {
    if (i(place) != i(0)) continue;
    std::printf("place %u: %.0f minutes, by", place, static_cast<double>(t(place)));
    for (std::uint32_t at = place; at != b(at); at = b(at)) std::printf(" %u", b(at));
    std::printf("\n");
  }
  return components.components == 2 && t(3) == 12 && b(2) == 1 && i(5) == 4 ? 0 : 1;
}
