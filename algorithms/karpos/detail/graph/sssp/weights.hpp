// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/distance.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"

// Reads the weights of all edges for a workspace: checks them, adds them up, and measures by a
// sample how far they spread, because a mean over many decades reflects the largest ones only. Also
// tells whether the graph may have a reach (pull.hpp): whether it has hubs and symmetric weights.

namespace karpos::detail::sssp {

/// All edges of a graph, each with its row, divided into chunks of equal size.
template <class Rows>
struct all_edges {
  static constexpr std::uint64_t chunk_edges = 64;
  Rows rows;
  std::uint64_t vertices, edges;

  std::uint64_t chunks() const { return (edges + chunk_edges - 1) / chunk_edges; }

  /// Runs f(u, e) for the edges e of a chunk; u is the vertex that e leads out of.
  template <class F>
  KOKKOS_FUNCTION void for_each_in_chunk(std::uint64_t chunk, F const& f) const {
    std::uint64_t const begin = chunk * chunk_edges;
    std::uint64_t const end = Kokkos::min(begin + chunk_edges, edges);
    std::uint64_t u = row_of(begin, 0);
    for (std::uint64_t e = begin; e < end; ++e) {
      if (e >= rows.end(u)) u = e < rows.end(u + 1) ? u + 1 : row_of(e, u + 1);
      f(u, e);
    }
  }

 private:
  /// Returns the row of edge e: the last one, from `first` on, that does not begin after e.
  KOKKOS_FUNCTION std::uint64_t row_of(std::uint64_t e, std::uint64_t first) const {
    std::uint64_t low = first, high = vertices;
    while (high - low > 1) {
      std::uint64_t const middle = low + (high - low) / 2;
      (rows.begin(middle) <= e ? low : high) = middle;
    }
    return low;
  }
};

/// Sum and faults of all weights.
struct weight_sums {
  double sum = 0;                                   // sum of the finite ones
  std::uint64_t invalid = 0;                        // number of negative ones and NaNs
  std::uint64_t first_invalid = ~std::uint64_t(0);  // edge of the first of these

  KOKKOS_FUNCTION weight_sums& operator+=(weight_sums const& other) {
    sum += other.sum;
    invalid += other.invalid;
    first_invalid = Kokkos::min(first_invalid, other.first_invalid);
    return *this;
  }
};
template <class Weight>
struct sum_weights {
  Weight const* weight;
  KOKKOS_FUNCTION void operator()(std::uint64_t e, weight_sums& sums) const {
    using traits = distance_traits<Weight>;
    if (traits::is_invalid(weight[e])) {
      ++sums.invalid;
      sums.first_invalid = Kokkos::min(sums.first_invalid, e);
    } else if (traits::is_finite(weight[e])) {
      sums.sum += static_cast<double>(weight[e]);
    }
  }
};

inline void require_reach(double reach) {
  if (!(reach >= 0))
    reject("reach " + std::to_string(reach) + " of sssp is refused", "negative, or no number",
           "pass 0 for an automatic one, infinity for none");
}

/// Copies the weights of edges drawn by a hash.
template <class Weight>
struct draw_weights {
  Weight const* weight;
  std::uint64_t edges;
  double* drawn;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    drawn[i] = static_cast<double>(weight[mix(i) % edges]);
  }
};

/// A sample of the weights that are finite and above 0, in ascending order.
class weight_sample {
 public:
  static constexpr std::uint64_t max_size = 1024;

  /// Draws `size` weights, `max_size` at most. buffer: memory for `size` numbers on the device.
  /// Blocks.
  template <class ExecSpace, class Weight>
  weight_sample(ExecSpace const& exec, Weight const* weight, std::uint64_t edges, double* buffer,
                std::uint64_t size)
      : m_weights(std::min(size, max_size)) {
    using host = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    using space = Kokkos::View<double*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;
    Kokkos::parallel_for("karpos::sssp::draw_weights", index_range(exec, m_weights.size()),
                         draw_weights<Weight>{weight, edges, buffer});
    Kokkos::deep_copy(exec, host(m_weights.data(), m_weights.size()),
                      space(buffer, m_weights.size()));
    exec.fence("karpos::sssp: a sample of the weights");
    std::erase_if(m_weights, [](double w) { return !(w > 0 && std::isfinite(w)); });
    std::sort(m_weights.begin(), m_weights.end());
  }

  /// Returns the weight below which this fraction of the sample lies. Requires: the sample is not
  /// empty.
  double quantile(double fraction) const {
    auto const last = static_cast<double>(m_weights.size() - 1);
    return m_weights[static_cast<std::size_t>(fraction * last)];
  }
  /// Returns whether the middle half of the weights differs by more than this factor.
  bool is_spread_over(double factor) const {
    return !m_weights.empty() && quantile(0.75) / factor > quantile(0.25);
  }

 private:
  std::vector<double> m_weights;
};

/// Adds a hash of each edge's smaller and larger end and its weight in one direction, and subtracts
/// it in the other. The sum is zero if the weights are symmetric. If they are not, it is zero by a
/// chance of 2^-64, or by design, because the hash has no seed.
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

/// Returns whether every edge of an undirected graph weighs the same in both directions.
template <class ExecSpace, class Rows, class Weight>
bool has_symmetric_weights(ExecSpace const& exec, Rows const& rows, std::uint64_t vertices,
                           std::uint64_t edges, Weight const* weight) {
  all_edges<Rows> const all{rows, vertices, edges};
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
             "karpos::sssp::directions", exec, all.chunks(),
             sum_directions<Rows, Weight>{all, weight}) == 0;
}

}  // namespace karpos::detail::sssp

template <>
struct Kokkos::reduction_identity<karpos::detail::sssp::weight_sums> {
  KOKKOS_FUNCTION static karpos::detail::sssp::weight_sums sum() { return {}; }
};
