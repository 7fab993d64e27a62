// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/distance.hpp"
#include "karpos/detail/graph/sssp/edges.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"

// Tells whether a graph may have a reach (pull.hpp): whether it has hubs, and whether every edge of
// an undirected graph weighs the same in both directions. The latter is a sum, over all edges, of a
// hash of the edge's smaller and larger end and its weight, added in one direction and subtracted
// in the other. It is zero if the weights are symmetric. If they are not, it is zero by a chance of
// 2^-64, or by design, because the hash has no seed.

namespace karpos::detail::sssp {

template <class Rows, class Weight>
struct sum_directions {
  all_edges<Rows> edges;
  Weight const* weight;

  KOKKOS_FUNCTION void operator()(std::uint64_t chunk, std::uint64_t& sum) const {
    edges.for_each_in_chunk(chunk, [&](std::uint64_t u, std::uint64_t e) {
      auto const v = static_cast<std::uint64_t>(local_vertex(edges.rows.column[e]));
      if (u == v) return;
      std::uint64_t const h = mix(mix(Kokkos::min(u, v) << 32 | Kokkos::max(u, v)) +
                                  distance_traits<Weight>::of_weight(weight[e]));
      sum += u < v ? h : 0 - h;
    });
  }
};

template <class Rows>
struct square_degree {
  Rows rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, double& sum) const {
    auto const degree = static_cast<double>(rows.degree(v));
    sum += degree * degree;
  }
};

/// Returns the mean degree of an edge's end. If hubs have most edges, it is far above the mean
/// degree of a vertex.
template <class ExecSpace, class Rows>
double mean_neighbour_degree(ExecSpace const& exec, Rows const& rows, std::uint64_t vertices,
                             std::uint64_t edges) {
  return device::reduce_over<Kokkos::Sum<double>>("karpos::sssp::square_degrees", exec, vertices,
                                                  square_degree<Rows>{rows}) /
         static_cast<double>(Kokkos::max(edges, std::uint64_t(1)));
}

template <class ExecSpace, class Rows, class Weight>
bool has_symmetric_weights(ExecSpace const& exec, Rows const& rows, std::uint64_t vertices,
                           std::uint64_t edges, Weight const* weight) {
  all_edges<Rows> const all{rows, vertices, edges};
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
             "karpos::sssp::directions", exec, all.chunks(),
             sum_directions<Rows, Weight>{all, weight}) == 0;
}

}  // namespace karpos::detail::sssp
