// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/ranking/top_k/plan.hpp"
#include "karpos/top_k_options.hpp"

// Memory of ranked queries (top_k.hpp), for callers with more than one query.

namespace karpos {

/// Memory of ranked queries, for any number of them, one at a time; copies share it. It serves
/// lists with ids of the same kind (dense or sparse) as the lists that it was made for, at most as
/// many lists and objects, and k up to max_k. It keeps no views of those lists. Queries of it may
/// use different instances of the execution space in turn, on one device.
///
/// A query by a weighted sum keeps an accumulator of 4 or 8 bytes for every object, and allocates
/// nothing. Some queries keep a vector of scores for every object that they see instead, in memory
/// that the first of them allocates:
///
///   - queries with stride_policy::fixed;
///   - queries for more than n results over more than n objects, where n is an eighth of the
///     workspace's objects plus 65,536;
///   - queries in which some list with a weight above 0 has an infinite score, or scores so large
///     that a sum may be infinite;
///   - queries in which no list with a weight above 0 has two different scores;
///   - queries in which more than 2 max_k + 2,048 objects are among the first k, tie with the
///     k-th, or are below it by no more than the rounding of fixed point. This rounding is coarse
///     if a few scores are far larger than the others.
///
/// If a list may lack objects, missing_score counts as one of its scores here.
///
/// Queries by other aggregates always keep score vectors; their workspace has that memory from the
/// start. On GPUs a query also allocates for a sort if it has more than 4,096 finalists, or keeps
/// score vectors.
///
/// Memory: top_k_workspace_bytes.
template <execution_space ExecSpace, class Lists, class Aggregate = weighted_sum>
class top_k_workspace {
 public:
  using id_type = typename Lists::id_type;
  using score_type = typename Lists::score_type;
  using memory_space = typename Lists::memory_space;

  /// Allocates memory for queries of lists like these and of up to max_k results. Blocks.
  ///
  /// Throws: std::invalid_argument if sparse(at_most), or else the number of entries, allows more
  ///   than about 1.4 * 10^9 different sparse ids (2^31 / 1.5); allocation_error.
  top_k_workspace(ExecSpace const& exec, Lists const& lists, std::uint64_t max_k)
      : m_memory((detail::user_call("top_k_workspace"),
                  std::make_shared<memory>(memory{sizes(lists, max_k)}))) {
    detail::user_call const call("top_k_workspace");
    static_assert(detail::reaches<ExecSpace, Kokkos::View<int*, memory_space>>,
                  "karpos: the lists lie in a memory space that the execution space cannot reach; "
                  "copy them first");
    if constexpr (std::is_same_v<Aggregate, weighted_sum>)
      m_memory->accumulators = accumulators(exec, m_memory->sizes);
    else
      m_memory->vectors = vectors(exec, m_memory->sizes);
    exec.fence("karpos::top_k_workspace: made");
  }

  /// Returns the bytes that the constructor allocates. Throws std::invalid_argument as it does.
  static std::size_t bytes_for(ExecSpace const& exec, Lists const& lists, std::uint64_t max_k) {
    if constexpr (std::is_same_v<Aggregate, weighted_sum>)
      return accumulators::bytes_for(exec, sizes(lists, max_k));
    else
      return vectors::bytes_for(sizes(lists, max_k));
  }

 private:
  using memory = detail::top_k::query_memory<ExecSpace, Lists>;
  using sizes = detail::top_k::query_sizes<Lists>;
  using accumulators = detail::top_k::accumulator_memory<ExecSpace, Lists>;
  using vectors = detail::top_k::nra_memory<ExecSpace, Lists>;

  friend memory& memory_of(top_k_workspace const& w) { return *w.m_memory; }  // for queries

  std::shared_ptr<memory> m_memory;
};

/// Returns the bytes that a top_k_workspace for these lists allocates. Queries that fall back to
/// score vectors allocate later as much as a workspace for another aggregate.
template <class Aggregate = weighted_sum, execution_space ExecSpace, class Lists>
std::size_t top_k_workspace_bytes(ExecSpace const& exec, Lists const& lists, std::uint64_t k) {
  return top_k_workspace<ExecSpace, Lists, Aggregate>::bytes_for(exec, lists, k);
}

}  // namespace karpos
