// SPDX-License-Identifier: Apache-2.0
/// \file
/// Edges of a graph, distributed over ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "support/shapes.hpp"
#include "tests/distributed/ranks.hpp"

namespace karpos_test {

using id = std::uint32_t;
using numbers = std::vector<std::uint64_t>;
namespace dist = karpos::distributed;

struct edge_list {
  std::vector<id> sources, targets;
};

/// How the edges of a list are distributed: spread over the ranks in turn, or all on the last rank.
enum class placement { spread, on_last };

inline edge_list part_of(communicator const& ranks, edge_pairs const& edges, placement where) {
  edge_list mine;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    int const owner =
        where == placement::on_last ? ranks.size() - 1 : int(i * 7 % std::size_t(ranks.size()));
    if (owner != ranks.rank()) continue;
    mine.sources.push_back(id(edges[i].first));
    mine.targets.push_back(id(edges[i].second));
  }
  return mine;
}

}  // namespace karpos_test
