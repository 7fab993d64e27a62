// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace karpos::perf {

/// What the lines of a list of edges were taken for.
struct list_layout {
  std::string header;       ///< a line of names above the edges, which was passed over
  std::size_t columns = 0;  ///< of the first edge: its ends, at most a weight and a time
};

/// The edges of a graph in the order of the file, self-loops and duplicates included. Ids count
/// from 0.
struct edge_list {
  std::uint64_t vertices = 0;  ///< every id is below; at most 2^32
  std::vector<std::uint32_t> sources, targets;
  /// One for each edge, finite and not negative; none if the file has none, or the caller does not
  /// want them.
  std::vector<double> weights;
  bool undirected = false;  ///< the file says that every edge stands for both directions
  bool ids_from_0 = false;  ///< the file tells no number of vertices, its ids count from 0
  list_layout layout;
};

/// A graph whose file holds the arrays already. The edges of v are columns[offsets[v]] up to
/// offsets[v + 1].
struct csr_arrays {
  std::uint64_t vertices = 0;
  std::vector<std::uint64_t> offsets;  ///< vertices + 1, ascending from 0
  std::vector<std::uint32_t> columns;
  bool directed = false;  ///< if not, every edge stands in both directions
  /// The reversed edges of a directed graph; empty for the others.
  std::vector<std::uint64_t> in_offsets;
  std::vector<std::uint32_t> in_columns;
};

using graph_file = std::variant<edge_list, csr_arrays>;

}  // namespace karpos::perf
