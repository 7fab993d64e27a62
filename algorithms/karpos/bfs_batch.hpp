// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "karpos/bfs.hpp"
#include "karpos/bfs_batch_options.hpp"
#include "karpos/bfs_batch_workspace.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/graph/bfs_batch/run.hpp"

// Many breadth-first searches of a graph at once: in graphs of few levels, 64 of them take as long
// as 8 to 12 one by one. Up to 64 searches form a pass. In deep graphs, such as road networks, bfs
// runs the searches of a pass one after another: on CPUs always; on GPUs if the pass has fewer than
// about 9 + n / 730,000 searches (n vertices). A batch finds no parents and has no hooks.
//
//   bfs_batch(exec, workspace, sources, distances)   a search from each source
//   bfs_batch(exec, workspace, sources)              reports each source's depth and number of
//                                                    reached vertices, without distances
//
// In a pass, search i has bit i of a word at every vertex. A level ORs the word of each vertex into
// the words of its neighbours. The levels of all searches run in step. The files, in
// detail/graph/bfs_batch:
//
//   numbers by degree   the graph is copied, its vertices in order of falling degree (in-degree, if
//                       there are in-edges; plan.hpp)
//   push                few vertices: the words of the frontier go to neighbours that lack their
//                       bits (push.hpp)
//   pull                most vertices: those that lack bits collect their neighbours' (pull.hpp)
//   bit planes          distances of 15 levels at a time: for each vertex four words, one for each
//                       binary digit of the distances of all searches. After 15 levels, and at the
//                       end, they are written to the results (state.hpp)
//   results             distances and sums, in the user's order (results.hpp)
//   one by one          searches of a pass that turns out to have many levels of few vertices
//                       (run.hpp)
//
// docs/bfs_batch.md explains it with a picture.
//
// Source: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014;
//   Liu, Huang, Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD 2016.

namespace karpos {

/// Searches a graph from each of the sources. There may be none, and a vertex may occur more than
/// once. distances(i, v) is the distance of vertex v from sources(i). If v is unreachable, or more
/// than options.max_distance edges away, it is -1, or 255 in a view of std::uint8_t. Views may be
/// strided. A view of LayoutLeft, in which the distances of a vertex are contiguous, is written
/// fastest.
///
/// Returns: how far each search went and how much it found, in the order of the sources. Blocks.
/// Complexity: for each 64 sources at most O(levels * vertices / 32 + sum of degree(v) * L(v) over
///   all vertices v). L(v) is the number of different levels on which the 64 searches find v. In
///   graphs of few levels that is a few passes over the edges.
/// Requires: the results are not written meanwhile.
/// Concurrency: one batch of a workspace at a time.
/// Memory: none beyond the workspace. The first batch that turns out deep adds a bfs_workspace to
///   it. If there is not enough memory for that, the batch goes on without it.
/// Throws:
///   - std::invalid_argument, which leaves distances unchanged: if a source is out of range; if
///     max_distance is negative; if distances have other extents; if distances overlap the sources
///     and both are contiguous; if the driver is no enumerator; if launch_mode::persistent_kernel
///     is chosen and the space has no such kernel (not checked if there are no sources).
///   - std::invalid_argument if the persistent kernel cannot be started, as when its blocks do not
///     all fit on the device. Distances are unspecified then.
///   - std::range_error if a distance above 254 is found and distances have 8 bits. They are
///     unspecified then.
///   - std::logic_error if a pass was stopped because it found more levels than there are vertices;
///     searches one by one throw as bfs_search::report does. Only writes to the workspace's memory
///     can cause that, such as those of a second batch at the same time.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Graph, view_1d Sources, class Value, class... P>
bfs_batch_report bfs_batch(ExecSpace const& exec,
                           bfs_batch_workspace<ExecSpace, Graph> const& workspace,
                           Sources const& sources, Kokkos::View<Value**, P...> const& distances,
                           bfs_batch_options const& options = {}) {
  using view = Kokkos::View<Value**, P...>;
  using namespace detail::bfs_batch;
  detail::user_call const call("bfs_batch");
  constexpr std::int32_t most = sizeof(Value) == 1 ? 254 : bfs_batch_options{}.max_distance;
  detail::require_reachable<ExecSpace, view>();
  static_assert(std::is_same_v<Value, std::int32_t> || std::is_same_v<Value, std::uint8_t>,
                "karpos: distances of a batch come in a view of std::int32_t or std::uint8_t");
  detail::require_same_extent("rows of distances", distances.extent(0), "sources",
                              sources.extent(0));
  detail::require_same_extent("columns of distances", distances.extent(1), "vertices",
                              workspace.vertices());
  detail::require_apart("the view of distances", distances, sources);
  // Searches one level more than fits, to know whether there is one.
  auto const report =
      run_passes(exec, workspace, sources, options, std::min(options.max_distance, most + 1),
                 [&](std::uint64_t first, int searches) {
                   return distance_rows<view>::of(distances, first, searches);
                 });
  for (std::size_t i = 0; i < report.source.size(); ++i)
    if (report.source[i].levels - 1 > most)
      detail::reject<std::range_error>(
          "search " + std::to_string(i) + " finds a distance above 254", "distances have 8 bits",
          "use std::int32_t, or set max_distance to 254 or less");
  return report;
}

/// Searches a graph from each of the sources and returns what each search found, without distances.
///
/// Complexity: as bfs_batch with distances, without writing them.
/// Concurrency: one batch of a workspace at a time.
/// Throws: as bfs_batch with distances, but no std::range_error.
template <execution_space ExecSpace, class Graph, view_1d Sources>
bfs_batch_report bfs_batch(ExecSpace const& exec,
                           bfs_batch_workspace<ExecSpace, Graph> const& workspace,
                           Sources const& sources, bfs_batch_options const& options = {}) {
  using namespace detail::bfs_batch;
  detail::user_call const call("bfs_batch");
  return run_passes(exec, workspace, sources, options, options.max_distance,
                    [](std::uint64_t, int) { return no_distances{}; });
}

}  // namespace karpos
