// SPDX-License-Identifier: Apache-2.0
//
// A mesh of triangles: which elements surround a vertex? Each vertex, named by its global id, has
// any number of them. A kernel adds up the areas of the elements of each vertex.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <karpos/hash_multimap.hpp>

using ids = Kokkos::View<std::uint64_t*>;
using elements_of = karpos::hash_multimap<std::uint64_t, std::uint32_t>;

/// Makes two triangles for each square of a grid; corner c of element e is entry 3 e + c.
struct make_corners {
  int width;
  ids vertex;
  Kokkos::View<std::uint32_t*> element;
  KOKKOS_FUNCTION void operator()(int e) const {
    int const x = e / 2 % width, y = e / 2 / width;
    for (int c = 0; c < 3; ++c) {
      int const dx = e % 2 == 0 ? c == 1 : c > 0, dy = e % 2 == 0 ? c == 2 : c != 1;
      vertex(3 * e + c) =
          static_cast<std::uint64_t>(y + dy) * 1'000'000 + static_cast<std::uint64_t>(x + dx);
      element(3 * e + c) = static_cast<std::uint32_t>(e);
    }
  }
};

struct add_areas {
  elements_of::frozen_ref_type around;
  Kokkos::View<double*> area;
  ids vertices;
  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    around.for_each_match(vertices(i), [&](std::uint32_t e) { sum += area(e) / 3; });
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  int const width = 300, elements = 2 * width * width, corners = 3 * elements;
  ids const vertex("vertex", corners);
  Kokkos::View<std::uint32_t*> const element("element", corners);
  Kokkos::parallel_for(Kokkos::RangePolicy(exec, 0, elements),
                       make_corners{width, vertex, element});

  elements_of around(exec, corners);
  around.insert(exec, vertex, element);
  std::uint64_t const vertices = around.different_keys(exec);

  // An inner vertex has six elements; a bulk call writes their numbers.
  ids const inner("inner", 1);
  Kokkos::deep_copy(inner, 5'000'007);
  std::uint64_t const n = around.retrieve_size(exec, inner);
  Kokkos::View<std::uint32_t*> const query("query", n), found("found", n);
  around.retrieve(exec, inner, query, found);

  // Every corner looks up the elements of its vertex: six corners meet at an inner vertex.
  Kokkos::View<double*> const area("area", elements);
  Kokkos::deep_copy(exec, area, 0.5);
  double sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy(exec, 0, corners),
                          add_areas{around.frozen_ref(), area, vertex}, sum);
  std::printf("%lu vertices; %lu elements around one of them; %.0f\n",
              static_cast<unsigned long>(vertices), static_cast<unsigned long>(n), sum);
  return vertices == 301 * 301 && n == 6 && sum > 0 ? 0 : 1;
}
