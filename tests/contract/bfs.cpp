// SPDX-License-Identifier: Apache-2.0
/// \file
/// A breadth-first search as a profiler sees it, and the memory that it allocates.
#include "support/bfs_subject.hpp"
#include "support/listener.hpp"

namespace {

using karpos_test::check_call;
using karpos_test::id_of;
using karpos_test::listener;
using karpos_test::make_graph;
using karpos_test::print;
using karpos_test::record;
using karpos_test::recorded;
using karpos_test::same;
using karpos_test::space;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::waits;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using graph_type = karpos::csr_graph<u32, u64, space::memory_space>;
using workspace_type = karpos::bfs_workspace<space, graph_type>;

/// Returns a graph with a long tail in which searches switch direction.
graph_type some_graph() {
  auto edges = karpos_test::random_edges(1000, 5000, 1);
  for (u64 v = 0; v < 500; ++v) edges.emplace_back(v % 3, 2 * v);
  for (u64 v = 1000; v < 1100; ++v) edges.emplace_back(v - 1, v);
  return karpos_test::to_space<u32, u64>(make_graph("some", 1100, edges));
}

void every_search(space const& exec) {
  graph_type const g = some_graph();
  workspace_type const w(exec, g);
  view<std::int32_t> const distance("distance", g.vertices());
  view<u32> const parent("parent", g.vertices()), none;
  auto const sources = to_space(std::vector<u32>{1, 2, 2, 1099});
  karpos::bfs_search<space, graph_type> const search(exec, w);
  Kokkos::fence();
  for (auto const& o : karpos_test::all_options()) {
    bool const one_kernel =
        karpos::device::has_grid_barrier<space> && o.driver != karpos::launch_mode::kernel_per_step;
    auto const one_source = one_kernel ? waits::never : waits::on_the_instance;
    auto const several = one_kernel ? waits::before_the_last_kernel : waits::on_the_instance;
    check_call("start, " + print(o), exec, one_source,
               [&] { search.start(7, distance, parent, o); });
    check_call("start without parents, " + print(o), exec, one_source,
               [&] { search.start(7, distance, none, o); });
    check_call("start from several, " + print(o), exec, several,
               [&] { search.start(sources, distance, parent, o); });
  }
  check_call("bfs", exec, waits::on_the_instance, [&] { karpos::bfs(exec, w, 7u, distance); });
}

/// Returns the bytes that a workspace holds, as counted by the callbacks.
u64 held_by_workspace(graph_type const& g) {
  listener const recorder;
  workspace_type const w(space{}, g);
  Kokkos::fence();
  return record.allocated - record.freed;
}

TEST_CASE("searches on the default instance") { every_search(space{}); }

TEST_CASE("searches on an instance of the user's") {
  auto const instances = Kokkos::Experimental::partition_space(space{}, 1, 1);
  if (id_of(instances[0]) == id_of(space{}))
    MESSAGE("skipped: " KARPOS_TEST_SPACE_NAME " has one instance only");
  else
    every_search(instances[1]);
}

TEST_CASE("a profiler sees a search in one kernel by its label") {
  if (!karpos::device::has_grid_barrier<space>) return;
  graph_type const g = some_graph();
  workspace_type const w(space{}, g);
  view<std::int32_t> const distance("distance", g.vertices());
  view<u32> const no_parents;
  karpos::bfs_options options;
  options.driver = karpos::launch_mode::persistent_kernel;
  listener const recorder;
  karpos::bfs(space{}, w, 7u, distance, no_parents, options);
  u64 searches = 0;
  for (auto const& launch : record.launches) searches += launch.label == "karpos::bfs::search";
  same("searches", searches, 1);
}

TEST_CASE("a workspace is made on the instance, of memory with names") {
  auto const exec = Kokkos::Experimental::partition_space(space{}, 1, 1)[0];
  graph_type const g = some_graph();
  { workspace_type const warm(exec, g); }  // Kokkos allocates scratch memory of its own
  exec.fence();
  recorded seen;
  {
    listener const recorder;
    workspace_type const w(exec, g);
    seen = record;
  }
  exec.fence();
  for (auto const& [label, device] : seen.launches) {
    karpos_test::holds("the label '" + label + "' names karpos::",
                       label.find("karpos::") != std::string::npos);
    same("'" + label + "' runs on the instance that was passed", device, id_of(exec));
  }
  for (std::string const& label : seen.allocations)
    karpos_test::holds("the label '" + label + "' starts with karpos::",
                       label.rfind("karpos::", 0) == 0);
}

/// Returns how often f validates the rows of a graph.
template <class F>
u64 checks_of(F const& f) {
  listener const recorder;
  f();
  u64 checks = 0;
  for (auto const& launch : record.launches)
    checks += launch.label == "karpos::csr_graph::validate" ? 1 : 0;
  return checks;
}

TEST_CASE("a graph is checked when its workspace is made, and not by searches") {
  space const exec;
  graph_type const built = some_graph();
  graph_type const own(built.row_offsets(), built.column_indices());
  view<std::int32_t> const distance("distance", own.vertices());
  auto const makes = [&](graph_type const& g) {
    return checks_of([&] { workspace_type(exec, g); });
  };
  same("directed", makes(own), 1);
  same("undirected", makes(own.undirected()), 1);
  same("with a transpose", makes(own.with_transpose(some_graph())), 2);
  if (!karpos::detail::checks_always) same("trusted", makes(own.trusted()), 0);
  workspace_type const w(exec, own);
  same("a search", checks_of([&] { karpos::bfs(exec, w, 7u, distance); }), 0);
  same("without a workspace", checks_of([&] { karpos::bfs(exec, own, 7u, distance); }), 1);
}

TEST_CASE("CPUs launch fewer kernels than a deep graph has levels") {
  if (karpos::device::is_device<space>) return;
  u64 const paths = 600, length = 300;
  karpos_test::edge_pairs edges;
  std::vector<u32> heads;
  for (u64 i = 0; i < paths; ++i) {
    heads.push_back(static_cast<u32>(i * length));
    for (u64 k = 1; k < length; ++k) edges.emplace_back(i * length + k - 1, i * length + k);
  }
  auto const g = karpos_test::to_space<u32, u64>(make_graph("paths", paths * length, edges));
  workspace_type const w(space{}, g);
  view<std::int32_t> const distance("distance", g.vertices());
  auto const sources = to_space(heads);
  listener const recorder;
  auto const r = karpos::bfs(space{}, w, sources, distance);
  CHECK(r.levels == 300);
  CHECK(record.launches.size() < 100);
}

TEST_CASE("a workspace takes the memory that it says, and less than 16 bytes a vertex") {
  // Graphs without vertices are left out: Kokkos reports the headers of empty arrays.
  for (u64 const n : {u64(1), u64(33), u64(100003), u64(1) << 20}) {
    auto const g =
        karpos_test::to_space<u32, u64>(make_graph("path", n, karpos_test::path_edges(n)));
    u64 const said = karpos::bfs_workspace_bytes(space{}, g), held = held_by_workspace(g);
    INFO("vertices: ", n, ", said: ", said, ", held: ", held);
    CHECK(held >= said);
    CHECK(held <= said + 16 * 8);  // Kokkos rounds every array up to eight bytes
    if (n >= 1000000) CHECK(said <= 16 * n);
  }
}

}  // namespace
