// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos {

/// What build_csr does to the edges that it is given.
struct csr_options {
  /// Adds every edge the other way round, but no self loop, which is its own reverse; the graph is undirected.
  bool symmetrise = false;
  bool remove_self_loops = true;
  bool remove_duplicates = true;
};

}  // namespace karpos
