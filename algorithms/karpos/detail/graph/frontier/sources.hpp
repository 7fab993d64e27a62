// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/frontier.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"

// The vertices that a search starts from. Checks of them, and of the results of a search.

namespace karpos::detail::frontier {

/// The sources of a search: a list in memory, or a single vertex.
struct source_list {
  void const* list = nullptr;  // of vertex ids
  std::uint64_t count = 1;
  std::uint64_t single = 0;

  /// The memory of the list, for require_apart.
  template <class VertexId>
  memory_range memory() const {
    auto const* const begin = static_cast<char const*>(list);
    return {begin, list == nullptr ? begin : begin + count * sizeof(VertexId)};
  }
  /// Returns source i as a local vertex.
  template <class State>
  KOKKOS_FUNCTION local_vertex at(std::uint64_t i) const {
    using vertex_id = typename State::vertex_id;
    return list == nullptr ? static_cast<local_vertex>(single)
                           : State::local(static_cast<vertex_id const*>(list)[i]);
  }
};

/// Counts the sources that are not vertices of the graph.
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
/// Throws: std::invalid_argument if a source is not a vertex. It names `user`, as in "a search".
template <class VertexId, class ExecSpace, class Source>
source_list checked_sources(std::string const& user, std::string_view label, ExecSpace const& exec,
                            Source const& source, std::uint64_t n) {
  std::string const has = "the graph has " + std::to_string(n);
  if constexpr (std::is_integral_v<Source>) {
    auto const v = static_cast<std::uint64_t>(source);
    if (v >= n)
      reject("source " + std::to_string(source) + " of " + user + " is no vertex", has,
             "pass a vertex below that");
    return {nullptr, 1, v};
  } else {
    require_reachable<ExecSpace, Source>();
    static_assert(std::is_same_v<typename Source::non_const_value_type, VertexId>,
                  "karpos: sources come in a view of the graph's vertex type");
    require_contiguous(("sources of " + user).c_str(), source);
    if (auto const count = sources_out_of_range(label, exec, source, n); count > 0)
      reject(std::to_string(count) + " sources of " + user + " are no vertices", has,
             "pass vertices below that");
    return {source.data(), source.extent(0), 0};
  }
}

/// Checks the distances of a search, and the parents if `with_parents`.
/// Throws: std::invalid_argument if they are strided, are not `n`, which is the number of
/// `vertices`, or share memory with each other or with `others`. It names `user`, as in "a search".
template <class VertexId, class ExecSpace, class Distances, class Parents>
void require_results(std::string const& user, ExecSpace const&, Distances const& distances,
                     Parents const& parents, bool with_parents, char const* vertices,
                     std::uint64_t n, std::initializer_list<memory_range> others) {
  require_reachable<ExecSpace, Distances, Parents>();
  static_assert(std::is_same_v<typename Parents::non_const_value_type, VertexId>,
                "karpos: parents come in a view of the graph's vertex type");
  require_contiguous("distances of " + user, distances);
  require_contiguous("parents of " + user, parents);
  require_same_extent("distances", distances.extent(0), vertices, n);
  if (with_parents) require_same_extent("parents", parents.extent(0), vertices, n);
  require_apart("a result of " + user, {range_of(distances), range_of(parents)}, others);
}

}  // namespace karpos::detail::frontier
