// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/state.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"
#include "karpos/sssp_options.hpp"

// Prepares a workspace: reads the weights of all edges, checks them, adds them up, and measures by
// a sample how far they spread, because a mean over many decades reflects the largest ones only.
// Looks for hubs and symmetric weights, without which there is no reach (pull.hpp).
//
// sorted_rows is a copy of the rows in order of weight, made once for many searches: of a long row
// only the lightest edges are then probed.
//
//   row of u      | 3 → c | 5 → a | 9 → d | 40 → b | 200 → e | …
//   lighter_than      4       8       16      32               once for all rows
//   lighter[u]        1       2       3       3                edges of u below each of these
//
// From a vertex at distance `base` or more, an edge of weight w leads to a distance of at least
// base + w. So if base + limit is not below a bound, edges that are not lighter than `limit` cannot
// lead below that bound: state::edges_below.
//
// GPUs sort all edges at once, by words of row and weight; CPUs sort row by row.

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
    reject("reach " + std::to_string(reach) + " is refused", "negative, or no number",
           "pass 0 for an automatic one, infinity for none");
}
/// Throws std::invalid_argument for options that are refused, but for delta (checked_delta).
inline void require_options(sssp_options const& o) {
  require_reach(o.reach);
  require_enumerators(o.driver);
}

/// Returns the width of a bucket as a weight. Throws std::invalid_argument if it is refused.
template <class Weight>
Weight checked_delta(double requested, double automatic) {
  double const delta = requested == 0 ? automatic : requested;
  constexpr auto max_weight = std::numeric_limits<Weight>::max();
  if (!(delta > 0) || (std::is_integral_v<Weight> && delta < 1))
    reject("delta " + std::to_string(requested) + " is refused",
           std::is_integral_v<Weight> ? "below 1" : "not above 0", "pass 0 for an automatic one");
  if (delta >= static_cast<double>(max_weight)) return max_weight;
  auto const width = static_cast<Weight>(delta);
  return width > 0 ? width : std::numeric_limits<Weight>::min();
}

/// Returns the weight of an edge drawn by a hash.
template <class Weight>
struct draw_weight {
  Weight const* weight;
  std::uint64_t edges;
  KOKKOS_FUNCTION double operator()(std::uint64_t i) const {
    return static_cast<double>(weight[mix(i) % edges]);
  }
};

/// A sample of the weights that are finite, in ascending order.
class weight_sample {
 public:
  static constexpr std::uint64_t max_size = 4096;

  /// Draws `size` weights, `max_size` at most. buffer: device memory for `size` numbers. Blocks.
  template <class ExecSpace, class Weight>
  weight_sample(ExecSpace const& exec, Weight const* weight, std::uint64_t edges, double* buffer,
                std::uint64_t size)
      : m_weights(std::min(size, max_size)) {
    fill_with("karpos::sssp::draw_weights", exec, buffer, m_weights.size(),
              draw_weight<Weight>{weight, edges});
    Kokkos::deep_copy(exec, unmanaged<Kokkos::HostSpace>(m_weights.data(), m_weights.size()),
                      unmanaged<ExecSpace>(buffer, m_weights.size()));
    exec.fence("karpos::sssp: a sample of the weights");
    std::erase_if(m_weights, [](double w) { return !std::isfinite(w); });
    sort();
  }
  /// Joins samples of several ranks, in any order.
  explicit weight_sample(std::vector<double> weights) : m_weights(std::move(weights)) { sort(); }

  std::vector<double> const& sorted() const { return m_weights; }

  /// Returns whether the middle half of the weights differs by more than this factor; it does if a
  /// quarter of them are 0, and some are not.
  bool is_spread_over(double factor) const {
    return m_zeros < m_weights.size() && positive_quantile(0.75) / factor > m_weights[at(0.25)];
  }
  /// Returns the weight below which this fraction of all weights lies. If some are 0: at least the
  /// one below which a 32nd of those above 0 lies. Requires: there is one above 0.
  double positive_quantile(double fraction) const {
    std::size_t const small = m_zeros == 0 ? 0 : m_zeros + (m_weights.size() - m_zeros) / 32;
    return m_weights[std::max(small, at(fraction))];
  }

 private:
  void sort() {
    std::sort(m_weights.begin(), m_weights.end());
    auto const positive = std::upper_bound(m_weights.begin(), m_weights.end(), 0.0);
    m_zeros = static_cast<std::size_t>(positive - m_weights.begin());
  }
  std::size_t at(double fraction) const {
    return static_cast<std::size_t>(fraction * static_cast<double>(m_weights.size() - 1));
  }

  std::vector<double> m_weights;
  std::size_t m_zeros = 0;
};

/// Returns the automatic width of a bucket in a graph without a reach. If weights spread over
/// decades, it is at most the width for which few vertices are expanded in vain.
template <class ExecSpace>
double automatic_delta(double mean_weight, double mean_degree, weight_sample const& sample) {
  using tuned = tuning<ExecSpace>;
  double const wide = tuned::delta(mean_weight, mean_degree);
  return sample.is_spread_over(tuned::spread)
             ? std::min(wide, sample.positive_quantile(tuned::light_fraction(mean_degree)))
             : wide;
}
/// Returns a width as a weight that is not zero.
template <class Weight>
double usable_delta(double delta) {
  double const positive = std::max(delta, std::numeric_limits<double>::min());
  return std::is_integral_v<Weight> ? std::max(1.0, std::floor(positive)) : positive;
}

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

/// Sums squares of degrees. Divided by the number of edges, that is the mean degree of an edge's
/// end: if hubs have most edges, it is far above the mean degree of a vertex.
template <class Rows>
struct square_degree {
  Rows rows;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, double& sum) const {
    auto const degree = static_cast<double>(rows.degree(v));
    sum += degree * degree;
  }
};

template <class VertexId, class Weight>
struct weighted_edge {
  Weight weight;
  VertexId end;
};

/// Maps weights to 32 bits and keeps their order. Two weights may become equal if their words
/// differ by less than 2^shift, or if both are very large.
template <class Weight>
struct weight_order {
  using traits = distance_traits<Weight>;
  using word = typename traits::word;
  int shift = 0;

  /// mean: the mean weight, which keeps at least 24 bits.
  explicit weight_order(double mean) {
    if constexpr (sizeof(Weight) == 8) {
      if (std::is_floating_point_v<Weight>)
        shift = 32;
      else
        for (double m = mean; m >= double(1 << 24) && shift < 32; m /= 2) ++shift;
    }
  }
  KOKKOS_FUNCTION std::uint32_t operator()(Weight w) const {
    return static_cast<std::uint32_t>(
        Kokkos::min(traits::of_weight(w) >> shift, static_cast<word>(~std::uint32_t(0))));
  }
  /// Returns the smallest weight that is equal to w in this order.
  Weight smallest_equal_to(Weight w) const {
    return traits::from_word(static_cast<word>((*this)(w)) << shift);
  }
};

template <class Rows, class Weight, class Edge>
struct pack_edges {
  all_edges<Rows> edges;
  Weight const* weight;
  weight_order<Weight> order;
  std::uint64_t* keys;
  Edge* packed;

  KOKKOS_FUNCTION void operator()(std::uint64_t chunk) const {
    edges.for_each_in_chunk(chunk, [&](std::uint64_t u, std::uint64_t e) {
      keys[e] = u << 32 | order(weight[e]);
      packed[e] = {weight[e], edges.rows.column[e]};
    });
  }
};

/// CPUs: copies and sorts one row.
template <class Rows, class Weight, class Edge>
struct sort_row {
  Rows rows;
  Weight const* weight;
  Edge* sorted;

  void operator()(std::uint64_t u) const {
    for (auto e = rows.begin(u); e < rows.end(u); ++e) sorted[e] = {weight[e], rows.column[e]};
    std::sort(sorted + rows.begin(u), sorted + rows.end(u),
              [](Edge const& a, Edge const& b) { return a.weight < b.weight; });
  }
};

template <class VertexId, class Weight>
struct unpack_edges {
  weighted_edge<VertexId, Weight> const* from;
  VertexId* column;
  Weight* weight;

  KOKKOS_FUNCTION void operator()(std::uint64_t e) const {
    column[e] = from[e].end;
    weight[e] = from[e].weight;
  }
};

template <class Rows, class Weight>
struct count_lighter {
  static constexpr int limits = lighter_edges::limits;
  Rows rows;  // sorted
  Weight const* weight;
  Kokkos::Array<Weight, limits> limit;
  weight_order<Weight> order;
  lighter_edges* lighter;

  KOKKOS_FUNCTION void operator()(std::uint64_t u) const {
    lighter_edges counts;
    auto low = rows.begin(u);
    for (int i = 0; i < limits; ++i) {
      low = device::partition_point(low, rows.end(u),
                                    [&](auto e) { return order(weight[e]) < order(limit[i]); });
      counts.count[i] = static_cast<std::uint32_t>(low - rows.begin(u));
    }
    lighter[u] = counts;
  }
};

/// The rows of a state, whose degrees are the numbers of edges that are usually probed.
template <class State>
struct probed_rows {
  State s;
  KOKKOS_FUNCTION std::uint64_t degree(std::uint64_t v) const {
    return s.probed_degree(static_cast<local_vertex>(v), s.out.degree(v));
  }
};

template <class VertexId, class Weight, class MemorySpace>
struct sorted_rows {
  static constexpr int limits = lighter_edges::limits;
  using edge = weighted_edge<VertexId, Weight>;
  template <class T>
  using array = Kokkos::View<T*, MemorySpace>;

  array<VertexId> columns;
  array<Weight> weights;
  array<lighter_edges> lighter;
  Kokkos::Array<Weight, limits> lighter_than{};

  bool is_allocated() const { return lighter.extent(0) > 0; }
  static std::size_t bytes_for(std::uint64_t vertices, std::uint64_t edges) {
    return edges * (sizeof(VertexId) + sizeof(Weight)) + vertices * sizeof(lighter_edges);
  }

  /// Sorts the rows. The limits are 1/2, 1, 2 and 4 times the reach. mean: the mean weight.
  template <class ExecSpace, class Rows>
  void build(ExecSpace const& exec, Rows const& rows, Weight const* weight, std::uint64_t vertices,
             std::uint64_t edges, double reach, double mean) {
    weight_order<Weight> const order(mean);
    sorted_rows made;
    for (int i = 0; i < limits; ++i)
      made.lighter_than[i] = order.smallest_equal_to(weight_of(reach / 2 * (1 << i)));
    auto const new_array = [&]<class T>(array<T>& a, char const* label, std::uint64_t n) {
      a = uninitialized_array<array<T>>(exec, std::string("karpos::sssp::") + label, n);
    };
    new_array(made.columns, "sorted columns", edges);
    new_array(made.weights, "sorted weights", edges);
    new_array(made.lighter, "lighter edges", vertices);
    auto const sorted = sort(exec, rows, weight, vertices, edges, order);
    auto* const columns_to = made.columns.data();
    auto* const weights_to = made.weights.data();
    device::loop_over("karpos::sssp::unpack_edges", exec, edges,
                      unpack_edges<VertexId, Weight>{sorted.data(), columns_to, weights_to});
    device::loop_in_turns(
        "karpos::sssp::count_lighter", exec, vertices,
        count_lighter<Rows, Weight>{Rows{rows.offset, columns_to}, weights_to, made.lighter_than,
                                    order, made.lighter.data()});
    exec.fence("karpos::sssp_workspace: sorted rows");
    *this = made;
  }

 private:
  static Weight weight_of(double w) {
    constexpr auto infinite = distance_traits<Weight>::infinite_weight();
    return w < static_cast<double>(infinite) ? static_cast<Weight>(w) : infinite;
  }

  template <class ExecSpace, class Rows>
  static array<edge> sort(ExecSpace const& exec, Rows const& rows, Weight const* weight,
                          std::uint64_t vertices, std::uint64_t edges,
                          [[maybe_unused]] weight_order<Weight> const& order) {
    auto const sorted = uninitialized_array<array<edge>>(exec, "karpos::sssp::edges", edges);
    if constexpr (device::is_device<ExecSpace>) {
      auto const keys =
          uninitialized_array<array<std::uint64_t>>(exec, "karpos::sssp::row and weight", edges);
      all_edges<Rows> const all{rows, vertices, edges};
      device::loop_over(
          "karpos::sssp::pack_edges", exec, all.chunks(),
          pack_edges<Rows, Weight, edge>{all, weight, order, keys.data(), sorted.data()});
      Kokkos::Experimental::sort_by_key(exec, keys, sorted);
      exec.fence("karpos::sssp_workspace: before the keys are freed");
    } else {
      device::loop_in_turns("karpos::sssp::sort_row", exec, vertices,
                            sort_row<Rows, Weight, edge>{rows, weight, sorted.data()}, 64);
    }
    return sorted;
  }
};

}  // namespace karpos::detail::sssp

template <>
struct Kokkos::reduction_identity<karpos::detail::sssp::weight_sums> {
  KOKKOS_FUNCTION static karpos::detail::sssp::weight_sums sum() { return {}; }
};
