// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shortest paths, components and batches of searches as a profiler sees them, and the memory that
/// they allocate.
#include <karpos/bfs_batch.hpp>
#include <karpos/connected_components.hpp>
#include <karpos/sssp.hpp>

#include "support/bfs_subject.hpp"
#include "support/listener.hpp"

namespace {

using paths_space = karpos_test::space;
using paths_graph = karpos::csr_graph<std::uint32_t, std::uint64_t, paths_space::memory_space>;

/// Returns a graph with hubs, for searches in which every edge weighs 1 in both directions.
paths_graph paths_of(std::uint64_t n) {
  auto edges = karpos_test::path_edges(n);
  for (std::uint64_t v = 0; v < n; v += 2) edges.emplace_back(v % 7, v);
  return karpos_test::to_space<std::uint32_t, std::uint64_t>(
      karpos_test::make_graph("paths", n, edges));
}
karpos_test::view<float> ones(paths_graph const& g) {
  return karpos_test::to_space(std::vector<float>(g.edges(), 1));
}

void every_path(paths_space const& exec) {
  using karpos_test::check_call;
  using karpos_test::waits;
  auto const g = paths_of(1000);
  auto const weights = ones(g);
  karpos::sssp_workspace const w(exec, g, weights);
  karpos_test::view<float> const distance("distance", g.vertices());
  karpos_test::view<std::uint32_t> const parent("parent", g.vertices());
  Kokkos::fence();
  for (double const reach : {1e30, 1.0})
    check_call("sssp, reach " + std::to_string(reach), exec, waits::on_the_instance, [&] {
      karpos::sssp(exec, w, 7u, distance, parent, {.reach = reach, .fusion_hops = 0});
    });
}

/// Returns the bytes that the result of make() holds, as counted by the callbacks.
template <class Make>
std::uint64_t held_by(Make const& make) {
  karpos_test::listener const recorder;
  auto const made = make();
  Kokkos::fence();
  return karpos_test::record.allocated - karpos_test::record.freed;
}

TEST_CASE("shortest paths on the default instance") { every_path(paths_space{}); }

TEST_CASE("shortest paths on an instance of the user's") {
  auto const instances = Kokkos::Experimental::partition_space(paths_space{}, 1, 1);
  if (karpos_test::id_of(instances[0]) == karpos_test::id_of(paths_space{}))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    every_path(instances[1]);
}

TEST_CASE("workspaces of paths and of searches at once take the memory that they say") {
  for (std::uint64_t const n : {33, 100003, 1 << 20}) {
    auto const g = paths_of(n);
    auto const weights = ones(g);
    {
      karpos::sssp_workspace const warm(paths_space{}, g, weights);
    }  // Kokkos allocates scratch memory of its own
    std::uint64_t const said = karpos::sssp_workspace_bytes<float>(paths_space{}, g);
    std::uint64_t const held =
        held_by([&] { return karpos::sssp_workspace(paths_space{}, g, weights); });
    INFO("vertices: ", n, ", said: ", said, ", held: ", held);
    CHECK(held >= said);
    CHECK(held <= said + 16 * 8);
    if (n >= 1000000) CHECK(said <= 18 * n);
    using batch = karpos::bfs_batch_workspace<paths_space, paths_graph>;
    { batch const warm(paths_space{}, g); }
    std::uint64_t const of_batch = batch::bytes_for(paths_space{}, g);
    std::uint64_t const batch_held = held_by([&] { return batch(paths_space{}, g); });
    INFO("a batch, said: ", of_batch, ", held: ", batch_held);
    CHECK(batch_held >= of_batch);
    CHECK(batch_held <= of_batch + 32 * 8);
  }
}

TEST_CASE("kernels and memory of paths and components have names") {
  auto const exec = Kokkos::Experimental::partition_space(paths_space{}, 1, 1)[0];
  auto const g = paths_of(1000);
  auto const weights = ones(g);
  karpos_test::view<float> const distance("distance", g.vertices());
  karpos_test::view<std::uint32_t> const component_ids("component ids", g.vertices());
  { karpos::sssp_workspace const warm(exec, g, weights); }
  exec.fence();
  karpos_test::recorded seen;
  {
    karpos_test::listener const recorder;
    karpos::sssp(exec, karpos::sssp_workspace(exec, g, weights), 0u, distance, {},
                 {.driver = karpos::launch_mode::kernel_per_step});
    karpos::connected_components(exec, g, component_ids);
    seen = karpos_test::record;
  }
  for (auto const& [label, device] : seen.launches) {
    karpos_test::holds("the label '" + label + "' names karpos::",
                       label.find("karpos::") != std::string::npos);
    karpos_test::same("'" + label + "' runs on the instance that was passed", device,
                      karpos_test::id_of(exec));
  }
  CHECK(!seen.allocations.empty());
  for (std::string const& label : seen.allocations)
    karpos_test::holds("the label '" + label + "' starts with karpos::",
                       label.rfind("karpos::", 0) == 0);
}

}  // namespace
