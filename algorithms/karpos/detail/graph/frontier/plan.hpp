// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// Checks the arguments of searches. Prepares a workspace: clears its arrays, reads the degrees.

namespace karpos::detail::frontier {

/// The most vertices of a graph, also over ranks: the 64 highest numbers of 32 bits are none.
inline constexpr std::uint64_t most_vertices = (std::uint64_t(1) << 32) - 64;

/// Throws std::length_error if a graph has more vertices than queues number.
inline void require_vertex_count(std::uint64_t vertices, std::uint64_t most = most_vertices) {
  if (vertices > most)
    reject<std::length_error>(
        "a graph has " + std::to_string(vertices) + " vertices",
        "at most " + std::to_string(most) + ", for queues hold 32-bit entries",
        "leave out vertices without edges, or take the graph in parts");
}
/// Throws std::length_error if a graph is too large for the number types of a search.
template <class Graph>
void require_size(Graph const& graph, std::uint64_t max_vertices = most_vertices) {
  // Steps of a GPU compute edge numbers up to a grid's width beyond the last edge.
  constexpr std::uint64_t max_edges = sizeof(typename Graph::offset_type) == 4
                                          ? (std::uint64_t(1) << 32) - (1 << 21)
                                          : ~std::uint64_t(0);
  require_vertex_count(graph.vertices(), max_vertices);
  if (graph.edges() > max_edges)
    reject<std::length_error>("a graph has " + std::to_string(graph.edges()) + " edges",
                              "at most " + std::to_string(max_edges) + " with offsets of 32 bits",
                              "use a csr_graph with offsets of 64 bits");
}

/// Returns: the message that explains why a search of a graph of n vertices was stopped.
inline std::string stop_message(std::uint64_t visited, std::int32_t levels, std::uint64_t n) {
  return "a search was stopped (it counted " + std::to_string(visited) +
         " visited vertices and level " + std::to_string(levels) + " in a graph of " +
         std::to_string(n) +
         " vertices): write neither the graph nor results or workspace meanwhile, or report this";
}

/// The sources of a search: a list in memory, or a single vertex.
struct source_list {
  void const* list = nullptr;  // of vertex ids
  std::uint64_t count = 1;
  std::uint64_t single = 0;

  KOKKOS_FUNCTION bool is_single() const { return list == nullptr && count == 1; }
  /// The memory of the list, for require_apart.
  template <class VertexId>
  memory_range memory() const {
    auto const* const begin = static_cast<char const*>(list);
    return {begin, list == nullptr ? begin : begin + count * sizeof(VertexId)};
  }
  template <class State>
  KOKKOS_FUNCTION local_vertex at(std::uint64_t i) const {
    using vertex_id = typename State::vertex_id;
    return list == nullptr ? static_cast<local_vertex>(single)
                           : State::local(static_cast<vertex_id const*>(list)[i]);
  }
};

template <class Sources>
struct count_out_of_range {
  Sources sources;
  std::uint64_t vertices;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    if (static_cast<std::uint64_t>(sources(i)) >= vertices) ++count;
  }
};

/// Returns the number of sources in a view that are not below n. Blocks.
template <class ExecSpace, class View>
std::uint64_t sources_out_of_range(std::string_view label, ExecSpace const& exec, View const& view,
                                   std::uint64_t n) {
  return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
      label, exec, view.extent(0),
      count_out_of_range<device::held_by_loop<ExecSpace, View>>{device::for_loop<ExecSpace>(view),
                                                                n});
}

/// Checks the source of a search, or a view of several. Blocks if it is a view.
/// Throws: std::invalid_argument if a source is not a vertex.
template <class VertexId, class ExecSpace, class Source>
source_list checked_sources(std::string_view label, ExecSpace const& exec, Source const& source,
                            std::uint64_t n) {
  std::string const has = "the graph has " + std::to_string(n);
  if constexpr (std::is_integral_v<Source>) {
    auto const v = static_cast<std::uint64_t>(source);
    if (v >= n)
      reject("source " + std::to_string(source) + " is no vertex", has, "pass a vertex below that");
    return {nullptr, 1, v};
  } else {
    require_reachable<ExecSpace, Source>();
    static_assert(std::is_same_v<typename Source::non_const_value_type, VertexId>,
                  "karpos: sources come in a view of the graph's vertex type");
    require_contiguous("sources", source);
    if (auto const count = sources_out_of_range(label, exec, source, n); count > 0)
      reject(std::to_string(count) + " sources are no vertices", has, "pass vertices below that");
    return {source.data(), source.extent(0), 0};
  }
}

/// Checks the distances of a search, and the parents if `with_parents`.
/// Throws: std::invalid_argument if they are strided, are not `n`, which is the number of
/// `vertices`, or share memory with each other or with `others`.
template <class VertexId, class ExecSpace, class Distances, class Parents>
void require_results(ExecSpace const&, Distances const& distances, Parents const& parents,
                     bool with_parents, char const* vertices, std::uint64_t n,
                     std::vector<memory_range> const& others) {
  require_reachable<ExecSpace, Distances, Parents>();
  static_assert(std::is_same_v<typename Parents::non_const_value_type, VertexId>,
                "karpos: parents come in a view of the graph's vertex type");
  require_contiguous("distances", distances);
  require_contiguous("parents", parents);
  require_same_extent("distances", distances.extent(0), vertices, n);
  if (with_parents) require_same_extent("parents", parents.extent(0), vertices, n);
  require_apart("a result", {range_of(distances), range_of(parents)}, others);
}

/// An arena that writes zeros to its records, such as level_counters. On CPUs it writes them to
/// arrays of words, too, and so maps their pages now, evenly among the threads, instead of in the
/// first search.
template <class ExecSpace>
struct zeroing_arena {
  ExecSpace exec;
  arena memory;

  template <class T>
  void allocate(T*& array, std::uint64_t n) {
    memory.allocate(array, n);
    if constexpr (std::is_class_v<T> || !device::is_device<ExecSpace>)
      fill_words("karpos::workspace_of_searches", exec, array, n, 0);
  }
  std::size_t bytes() const { return memory.bytes(); }
};

/// Histogram of degrees, with eight buckets for each power of two, to choose a threshold from.
struct degree_histogram {
  static constexpr int buckets = 64 * 8;
  std::uint64_t count[buckets];

  KOKKOS_FUNCTION static int bucket_of(std::uint64_t degree) {
    if (degree < 8) return static_cast<int>(degree);
    int const exponent = 63 - Kokkos::Experimental::countl_zero_builtin(degree);
    return 8 * (exponent - 2) + static_cast<int>(degree >> (exponent - 3) & 7);
  }
  /// Returns the smallest degree of a bucket.
  static std::uint64_t first_of(int bucket) {
    if (bucket < 8) return static_cast<std::uint64_t>(bucket);
    return (std::uint64_t(8) + static_cast<std::uint64_t>(bucket % 8)) << (bucket / 8 - 1);
  }
  /// Returns the lowest threshold, among borders of buckets, that at most `max_above` vertices
  /// exceed. lowest: degrees below it were not counted.
  std::uint64_t threshold(std::uint64_t max_above, std::uint64_t lowest) const {
    int bucket = buckets;
    std::uint64_t above = 0;
    while (bucket > bucket_of(lowest) && above + count[bucket - 1] <= max_above)
      above += count[--bucket];
    return bucket == buckets ? ~std::uint64_t(0) : first_of(bucket) - 1;
  }
};

/// Counts the vertices of each degree class, the vertices that are not isolated and the vertices of
/// very high degree. If `histogram` is not null, adds degrees from lowest_counted on to it.
template <class Rows>
struct count_degrees {
  using value_type = std::uint64_t[];
  /// The degree classes; vertices not isolated; degrees above max_of_lane; those above max_degree.
  static constexpr unsigned value_count = degree_classes + 3;
  /// Hub vertices have at least this degree. Atomic increments for lower ones would be too many.
  static constexpr std::uint64_t lowest_counted = 32;
  /// A tile adds up the degrees of 32 vertices in 32 bits, which holds if each is at most this.
  static constexpr std::uint64_t max_of_lane = (std::uint64_t(1) << 27) - 1;
  static constexpr std::uint64_t max_degree = (std::uint64_t(1) << 31) - 1;

  Rows out, in;
  bool has_in;
  std::uint64_t limit[degree_classes - 1];
  degree_histogram* histogram;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type sum) const {
    std::uint64_t const degree = out.degree(v);
    ++sum[class_of(limit, degree)];
    if (!has_in || degree != 0 || in.degree(v) != 0) ++sum[degree_classes];
    if (degree > max_of_lane) ++sum[degree_classes + 1];
    if (degree > max_degree) ++sum[degree_classes + 2];
    if (histogram != nullptr && degree >= lowest_counted)
      Kokkos::atomic_inc(histogram->count + degree_histogram::bucket_of(degree));
  }
};

/// Returns the sums of count_degrees over n vertices. Throws std::length_error if the graph has
/// rows of 2^31 edges or more, because lanes count edges in 31 bits. Blocks.
template <class Tuned, class ExecSpace, class Rows>
auto read_degrees(ExecSpace const& exec, std::uint64_t n, Rows const& out, Rows const& in,
                  bool has_in, degree_histogram* histogram) {
  count_degrees<Rows> const body{
      out, in, has_in, {Tuned::tile_degree, Tuned::team_degree, Tuned::grid_degree}, histogram};
  Kokkos::Array<std::uint64_t, body.value_count> sums{};
  Kokkos::parallel_reduce("karpos::workspace_of_searches: degrees", index_range(exec, n), body,
                          unmanaged<Kokkos::HostSpace>(sums.data(), sums.size()));
  exec.fence("karpos::workspace_of_searches: degrees");
  if (auto const n_long = sums[degree_classes + 2]; n_long > 0)
    reject<std::length_error>("a graph has vertices of 2^31 edges or more",
                              std::to_string(n_long) + " of them",
                              "remove duplicate edges, as build_csr does");
  return sums;
}

}  // namespace karpos::detail::frontier
