// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/launch_mode.hpp"

// Options (sssp_options) and the report (sssp_report) of shortest paths.

namespace karpos {

/// Options of sssp. Distances do not depend on them. Parents depend on them only if a vertex has
/// several shortest paths.
struct sssp_options {
  /// The width of the first buckets of distances: vertices of a bucket are expanded until their
  /// distances stop changing, then those of the next one. 0: automatic, the workspace's delta().
  /// Integers round it down. A width above the largest number of the weights' type counts as that
  /// number. Narrow buckets need more rounds, wide ones expand more vertices in vain. Once
  /// sssp_report::edges exceeds half of the graph's edges, each bucket of fewer than 1,024 edges a
  /// team (on GPUs a block, on CPUs a thread) doubles the width, even if delta was given.
  double delta = 0;
  /// How far beyond the hubs (the vertices of highest degree) distances are pushed, in the unit of
  /// the weights. Vertices farther away pull theirs along their own edges. The reach begins at the
  /// end of a bucket: the first by whose end more than 1/128 of all edges have been expanded,
  /// because the hubs have been reached then. Edges expanded in fused rounds (fusion_hops) do not
  /// count. Pulling inspects fewer edges if most vertices are about equally far from the hubs, as
  /// in social networks. 0: automatic, the workspace's reach(). Infinity: nothing is pulled.
  ///
  /// Used only for undirected graphs in which every edge weighs the same in both directions, and
  /// ignored for others. If the workspace has not tested the weights yet, the first call does, by a
  /// pass over all edges. The test compares hashes: weights that differ by direction pass it with a
  /// probability of 2^-64, or if they were designed to pass, because the hash has no seed. Results
  /// may then be wrong.
  double reach = 0;
  /// The largest number of hops that a team goes by itself before the grid synchronises, while few
  /// vertices are to be expanded. 0: every round is one hop.
  std::uint32_t fusion_hops = 32;
  launch_mode driver = launch_mode::automatic;  ///< how rounds run (launch_mode.hpp)
};

/// Report of a call of sssp.
struct sssp_report {
  double delta = 0;           ///< width of the first buckets
  std::uint64_t buckets = 0;  ///< buckets that were begun; may include an empty one
  /// Steps that fill the near queue, each with a grid-wide synchronisation: those that queue the
  /// sources, expand vertices, split the far queue, queue the vertices beyond the reach, or pull.
  std::uint64_t rounds = 0;
  std::uint64_t fused_rounds = 0;  ///< those of `rounds` that went several hops (bucket fusion)
  /// Vertices taken from the near queue; a vertex taken k times counts k times. Teams that go
  /// several hops queue vertices for themselves, which are not counted.
  std::uint64_t vertices = 0;
  /// Edges of vertices that were expanded or that pulled; k times if that happened k times.
  /// Includes edges at the ends of sorted rows (sssp_workspace::sort_rows) that are not inspected.
  std::uint64_t edges = 0;
  std::uint64_t passes = 0;  ///< passes that pull the vertices beyond the reach
};

}  // namespace karpos
