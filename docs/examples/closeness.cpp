// SPDX-License-Identifier: Apache-2.0
//
// Which vertices are near all others, and how many are within two steps? One batch of searches each
// computes closeness centrality, bounds of the diameter, and the sizes of neighbourhoods.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <karpos/bfs_batch.hpp>
#include <karpos/build_csr.hpp>

using ids = Kokkos::View<std::uint32_t*>;

/// Makes a ring of n vertices with a chord from 0 to n / 2.
auto ring_with_chord(Kokkos::DefaultExecutionSpace const& exec, std::uint32_t n) {
  ids const from("from", n + 1), to("to", n + 1);
  auto const f = Kokkos::create_mirror_view(from), t = Kokkos::create_mirror_view(to);
  for (std::uint32_t v = 0; v < n; ++v) {
    f(v) = v;
    t(v) = (v + 1) % n;
  }
  f(n) = 0;
  t(n) = n / 2;
  Kokkos::deep_copy(from, f);
  Kokkos::deep_copy(to, t);
  return karpos::build_csr(exec, n, from, to, {.symmetrise = true});
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  auto const graph = ring_with_chord(exec, 100);
  karpos::bfs_batch_workspace const workspace(exec, graph);

  ids const all("all vertices", graph.vertices());
  auto const host = Kokkos::create_mirror_view(all);
  for (std::uint32_t v = 0; v < all.extent(0); ++v) host(v) = v;
  Kokkos::deep_copy(all, host);

  // Closeness of v: the number of other vertices that v reaches, over the sum of their distances.
  auto const far = karpos::bfs_batch(exec, workspace, all);
  auto const closeness = [](karpos::bfs_source_report const& r) {
    return static_cast<double>(r.visited - 1) / static_cast<double>(r.sum_distances);
  };
  auto const central =
      std::max_element(far.source.begin(), far.source.end(),
                       [&](auto const& a, auto const& b) { return closeness(a) < closeness(b); });
  std::printf("most central: vertex %ld, closeness %.4f\n",
              static_cast<long>(central - far.source.begin()), closeness(*central));

  // The largest distance from any vertex is at most the diameter, and at least half of it.
  auto const few = karpos::bfs_batch(exec, workspace, Kokkos::subview(all, std::pair(20, 24)));
  std::int32_t depth = 0, nearest = few.source[0].levels - 1;
  for (auto const& r : few.source) {
    depth = std::max(depth, r.levels - 1);
    nearest = std::min(nearest, r.levels - 1);
  }
  std::printf("diameter: %d to %d\n", depth, 2 * nearest);

  // Neighbourhoods of two steps.
  auto const near = karpos::bfs_batch(exec, workspace, all, {.max_distance = 2});
  std::printf("within two steps of vertex 0: %lu, of vertex 20: %lu\n",
              static_cast<unsigned long>(near.source[0].visited),
              static_cast<unsigned long>(near.source[20].visited));
  return central - far.source.begin() == 0 && near.source[0].visited == 8 &&
                 near.source[20].visited == 5
             ? 0
             : 1;
}
