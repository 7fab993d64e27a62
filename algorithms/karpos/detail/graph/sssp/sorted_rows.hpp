// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/graph/sssp/distance.hpp"
#include "karpos/detail/graph/sssp/state.hpp"
#include "karpos/detail/graph/sssp/weights.hpp"
#include "karpos/device/loops.hpp"

// A copy of the rows in order of weight, made once for many searches: of a long row only the
// lightest edges are then probed.
//
//   row of u      | 3 → c | 5 → a | 9 → d | 40 → b | 200 → e | …
//   lighter_than      4       8       16      32               once for all rows
//   lighter[u]        1       2       3       3                edges of u below each of these
//
// If no distance that it starts from is below `base`, an edge of weight w leads to a distance of at
// least base + w. So if base + limit is not below a bound, edges that are not lighter than `limit`
// cannot lead below that bound: state::edges_below.
//
// GPUs sort all edges at once, by words of row and weight; CPUs sort row by row.

namespace karpos::detail::sssp {

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
      auto high = rows.end(u);
      while (low < high) {
        auto const middle = low + (high - low) / 2;
        if (order(weight[middle]) < order(limit[i]))
          low = middle + 1;
        else
          high = middle;
      }
      counts.count[i] = static_cast<std::uint32_t>(low - rows.begin(u));
    }
    lighter[u] = counts;
  }
};

/// Counts the vertices of each degree class.
template <class State>
struct count_classes {
  using value_type = std::uint64_t[];
  static constexpr unsigned value_count = degree_classes;
  State s;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type sum) const {
    ++sum[s.class_of(static_cast<local_vertex>(v), s.out.degree(v))];
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

  /// Sorts the rows, and counts lighter edges. reach: the limits are 1/2, 1, 2 and 4 times the
  /// reach. mean: the mean weight.
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
