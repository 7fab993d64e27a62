// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "karpos/csr_options.hpp"
#include "karpos/distributed/vertex_permutation.hpp"

namespace karpos::distributed {

/// Options of build_csr: changes to the edges, and which vertices each rank gets.
struct csr_options : karpos::csr_options {
  /// First vertices of the ranks' blocks, and at the end the number of vertices: ranks + 1 numbers,
  /// the same on every rank. They are multiples of 32, unless they are the number of vertices.
  /// Empty: blocks with about equally many edges.
  std::vector<std::uint64_t> begins = {};
  /// The seed of a vertex_permutation by which vertices are numbered, the same on every rank: for
  /// graphs that are skewed, or listed in an order that would give some ranks all the work. The
  /// graph, its blocks, and arguments and results of searches have the new numbers.
  std::optional<std::uint64_t> permutation = {};

  /// Returns the permutation p of vertex ids: vertex v of the edges passed is vertex p(v) of the
  /// graph, and p.inverse(p(v)) is v. The identity if `permutation` is not set.
  vertex_permutation numbers(std::uint64_t vertices) const {
    return permutation ? vertex_permutation(vertices, *permutation) : vertex_permutation();
  }
};

}  // namespace karpos::distributed
