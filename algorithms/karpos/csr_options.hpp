// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos {

/// Options of build_csr: changes to the edges that it is given.
struct csr_options {
  /// Adds the reverse of every edge but self loops, which are their own reverse. The graph is
  /// undirected then.
  bool symmetrise = false;
  bool remove_self_loops = true;
  bool remove_duplicates = true;
};

}  // namespace karpos
