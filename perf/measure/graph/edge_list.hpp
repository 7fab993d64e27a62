// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace karpos::perf {

/// The parts of an edge list's lines that were recognised.
struct list_layout {
  std::string header;       ///< a line of names above the edges, which was skipped
  std::size_t columns = 0;  ///< of the first edge: two vertices, and optionally a weight and a time
};

/// The edges of a graph in the order of the file, including self-loops and duplicates. Ids count
/// from 0.
struct edge_list {
  std::uint64_t vertices = 0;  ///< at most 2^32; every id is smaller
  std::vector<std::uint32_t> sources, targets;
  /// One weight for each edge, finite and not negative. Empty if the file has no weights, or if the
  /// caller did not ask for them.
  std::vector<double> weights;
  bool undirected = false;  ///< the file says that every edge counts in both directions
  bool ids_from_0 = false;  ///< the file gives no number of vertices, and its ids count from 0
  list_layout layout;
};

/// A graph whose file holds the CSR arrays. The edges of v are columns[offsets[v]] up to, but not
/// including, columns[offsets[v + 1]].
struct csr_arrays {
  std::uint64_t vertices = 0;
  std::vector<std::uint64_t> offsets;  ///< vertices + 1, ascending from 0
  std::vector<std::uint32_t> columns;
  bool directed = false;  ///< if false, every edge is stored in both directions
  /// The reversed edges of a directed graph; empty for undirected graphs.
  std::vector<std::uint64_t> in_offsets;
  std::vector<std::uint32_t> in_columns;
};

using graph_file = std::variant<edge_list, csr_arrays>;

}  // namespace karpos::perf
