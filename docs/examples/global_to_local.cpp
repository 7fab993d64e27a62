// SPDX-License-Identifier: Apache-2.0
//
// A distributed mesh: kernels look up the local number of a global vertex. The numbering is built
// once for each mesh and looked up millions of times, so it is stored in a cuckoo_map.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/cuckoo_map.hpp>

using space = Kokkos::DefaultExecutionSpace;
using numbering = karpos::cuckoo_map<std::uint64_t, std::uint32_t, space>;

/// Numbers the vertices of this rank: in this example, every seventh of the whole mesh.
struct number_own {
  Kokkos::View<std::uint64_t*> global;
  Kokkos::View<std::uint32_t*> local;
  KOKKOS_FUNCTION void operator()(int i) const {
    global(i) = 7 * static_cast<std::uint64_t>(i);
    local(i) = static_cast<std::uint32_t>(i);
  }
};

/// Counts the corners of elements that other ranks own.
struct count_foreign {
  numbering::ref_type local_number;
  KOKKOS_FUNCTION void operator()(int corner, int& foreign) const {
    if (!local_number.find(static_cast<std::uint64_t>(corner))) ++foreign;
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int const own = 100'000, corners = 7 * own;
  Kokkos::View<std::uint64_t*> global("global", own);
  Kokkos::View<std::uint32_t*> local("local", own);
  Kokkos::parallel_for(own, number_own{global, local});

  space const exec;
  numbering const table(exec, global, local);
  int foreign = 0;
  Kokkos::parallel_reduce(corners, count_foreign{table.ref()}, foreign);

  karpos::cuckoo_stats const s = table.stats(exec);
  std::printf("%d of %d corners are foreign; %.2f slots a key, largest bucket %d keys\n", foreign,
              corners, s.space_factor, static_cast<int>(s.largest_group));
  return foreign == corners - own ? 0 : 1;
}
