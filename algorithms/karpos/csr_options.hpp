// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/contract.hpp"

namespace karpos {

/// The ways in which build_csr merges the weights of duplicate edges. The order of edges is that of
/// the caller's views. With csr_options::symmetrise, edges of both directions are duplicates of one
/// another, and both directions get the same weight.
enum class merge_edges {
  /// The smallest weight. karpos::minimum is applied in order. The order matters only if weights
  /// that differ compare as neither less nor greater: NaNs, -0.0 and 0.0, or structures of which a
  /// part is compared.
  minimum,
  first,  ///< the weight of the first edge; the only way for weights without < and +
  sum     ///< the sum in order, also of floating-point weights; integers wrap (karpos::plus)
};

namespace detail {
template <>
inline constexpr enumeration<merge_edges> enumeration_of<merge_edges> = {
    "way to merge duplicate edges", "merge_edges", merge_edges::sum};
}  // namespace detail

/// Options of build_csr: changes to the edges that it is given.
struct csr_options {
  /// Adds the reverse of every edge but self loops, which are their own reverse. The graph is
  /// undirected then.
  bool symmetrise = false;
  bool remove_self_loops = true;
  bool remove_duplicates = true;
  /// The weight of an edge whose duplicates are removed. Not used without weights.
  merge_edges merge = merge_edges::minimum;
};

}  // namespace karpos
