// SPDX-License-Identifier: Apache-2.0
/// \file
/// Invalid arguments of breadth-first searches, and results of unusual shapes.
#include <doctest/doctest.h>

#include "support/bfs_subject.hpp"
#include "support/invalid_graphs.hpp"

namespace {

using karpos_test::make_graph;
using karpos_test::path_edges;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using u32 = std::uint32_t;
using invalid = std::invalid_argument;

auto path(std::uint64_t n) {
  return karpos_test::to_space<u32, std::uint64_t>(make_graph("path", n, path_edges(n)));
}

}  // namespace

TEST_CASE("sources that are no vertices") {
  auto const g = path(5);
  view<std::int32_t> const d("d", 5);
  view<u32> const p("p", 5);
  auto const refused = [&](auto const& source, auto const&... words) {
    throws<invalid>([&] { karpos::bfs(space(), g, source, d, p); }, "karpos::bfs: ", words...);
    throws<invalid>([&] { karpos::validate_bfs(space(), g, source, d, p); },
                    "karpos::validate_bfs: ", "source", "the graph has 5");
  };
  refused(5u, "source 5", "no vertex", "the graph has 5");
  refused(4000000000u, "source 4000000000");
  refused(-1, "source", "no vertex");
  refused(std::uint64_t(1) << 32, "source 4294967296", "the graph has 5");
  refused(to_space(std::vector<u32>{0, 5, 3, 77}), "2 sources", "no vertices", "the graph has 5");
  auto const none = path(0);
  view<std::int32_t> const no_distance("d", 0);
  throws<invalid>([&] { karpos::bfs(space(), none, 0, no_distance); }, "source 0",
                  "the graph has 0");
}

TEST_CASE("graphs that are none") {
  using graph = karpos::csr_graph<u32, std::uint64_t, space::memory_space>;
  karpos_test::rejects_invalid_graphs<u32, std::uint64_t>(
      [](graph const& g) { karpos::bfs_workspace(space(), g); });
  karpos_test::rejects_invalid_graphs<u32, std::uint64_t>(
      [](graph const& g) { karpos::bfs(space(), g, 0u, view<std::int32_t>("d", g.vertices())); });
  karpos_test::rejects_invalid_graphs<u32, std::uint64_t>([](graph const& g) {
    karpos::validate_bfs(space(), g, 0u, view<std::int32_t>("d", g.vertices()));
  });
}

TEST_CASE("views of another length") {
  auto const g = path(5);
  view<std::int32_t> const d("d", 5), short_d("d", 4), long_d("d", 6), none("d", 0);
  view<u32> const p("p", 5), short_p("p", 4), long_p("p", 6);
  auto const refused = [&](auto const& distances, auto const& parents, auto const&... words) {
    throws<invalid>([&] { karpos::bfs(space(), g, 0u, distances, parents); }, words...);
    throws<invalid>([&] { karpos::validate_bfs(space(), g, 0u, distances, parents); }, words...);
  };
  refused(short_d, p, "distances", "vertices", "4 against 5");
  refused(long_d, p, "distances", "6 against 5");
  refused(none, p, "distances", "0 against 5");
  refused(d, short_p, "parents", "vertices", "4 against 5");
  refused(d, long_p, "parents", "6 against 5");
}

TEST_CASE("one memory for both results") {
  view<std::int32_t> const d("d", 5), both("d and p", 8);
  view<u32> const p("p", 5);
  auto const share =
      Kokkos::View<u32*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          reinterpret_cast<u32*>(both.data()) + 3, 5);
  auto const first = Kokkos::subview(both, std::pair(0, 5));
  throws<invalid>([&] { karpos::bfs(space(), path(5), 0u, first, share); }, "a result", "overlaps");
  karpos::bfs(space(), path(5), 0u, d, p);
  // A search clears its results before it reads its sources.
  auto const starts = to_space(std::vector<u32>{4, 0, 0, 0, 0});
  throws<invalid>([&] { karpos::bfs(space(), path(5), starts, d, starts); }, "a result",
                  "overlaps");
  auto const g = path(5);
  auto const own = Kokkos::View<u32*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      const_cast<u32*>(g.column_indices().data()) + 3, 5);
  throws<invalid>([&] { karpos::bfs(space(), g, 0u, d, own); }, "a result", "overlaps");
  auto const of_graph =
      Kokkos::View<std::int32_t*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          reinterpret_cast<std::int32_t*>(const_cast<std::uint64_t*>(g.row_offsets().data())), 5);
  throws<invalid>([&] { karpos::bfs(space(), g, 0u, of_graph, p); }, "a result", "overlaps");
  using graph = karpos::csr_graph<u32, std::uint64_t, space::memory_space>;
  auto const transposed = path(5);
  auto const directed = graph(g.row_offsets(), g.column_indices()).with_transpose(transposed);
  auto const of_transpose =
      Kokkos::View<u32*, space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          const_cast<u32*>(transposed.column_indices().data()), 5);
  throws<invalid>([&] { karpos::bfs(space(), directed, 0u, d, of_transpose); }, "a result",
                  "overlaps");
}

TEST_CASE("a driver that the space does not have") {
  auto const g = path(5);
  view<std::int32_t> const d("d", 5);
  karpos::bfs_options o;
  o.driver = karpos::launch_mode::persistent_kernel;
  if (karpos::device::has_grid_barrier<space>) {
    CHECK(karpos::bfs(space(), g, 0u, d, {}, o).visited == 5);
  } else {
    throws<invalid>([&] { karpos::bfs(space(), g, 0u, d, {}, o); }, "persistent_kernel",
                    "not available");
  }
}

TEST_CASE("a search that was refused leaves the workspace as it was") {
  auto const g = path(5);
  view<std::int32_t> const d("d", 5);
  karpos::bfs_workspace const w(space(), g);
  karpos::bfs(space(), w, 1u, d);
  throws<invalid>([&] { karpos::bfs(space(), w, 9u, d); }, "source 9");
  CHECK(to_host(d) == std::vector<std::int32_t>{1, 0, 1, 2, 3});
  CHECK(karpos::bfs(space(), w, 4u, d).levels == 5);
  CHECK(to_host(d) == std::vector<std::int32_t>{4, 3, 2, 1, 0});
}

TEST_CASE("without a workspace, and with parents left out") {
  view<std::int32_t> const d("d", 4);
  auto const r = karpos::bfs(space(), path(4), 3, d);
  CHECK(to_host(d) == std::vector<std::int32_t>{3, 2, 1, 0});
  CHECK(r.visited == 4);
  CHECK(r.levels == 4);
  CHECK(karpos::validate_bfs(space(), path(4), 3, d).valid());
}

TEST_CASE("results that do not lie side by side") {
  auto const g = path(4);
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, space::memory_space> const table("table", 4, 2);
  auto const column = Kokkos::subview(table, Kokkos::ALL(), 1);
  throws<invalid>([&] { karpos::bfs(space(), g, 0, column); }, "distances", "side by side");
  Kokkos::View<u32**, Kokkos::LayoutRight, space::memory_space> const starts("starts", 2, 2);
  view<std::int32_t> const d("d", 4);
  throws<invalid>([&] { karpos::bfs(space(), g, Kokkos::subview(starts, Kokkos::ALL(), 0), d); },
                  "sources", "side by side");
}
