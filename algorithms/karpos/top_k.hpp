// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/top_k/search.hpp"
#include "karpos/sorted_lists.hpp"
#include "karpos/top_k_options.hpp"

// Ranked queries: the k objects with the highest aggregate of their scores in n sorted lists, which are read in forward
// passes, no further than needed, and never at random.
//
// What has been read of an object gives a lower bound of its aggregate; an upper bound follows, for in the lists it has
// not been seen in it can have no more than what was read last. In the growing phase every object read becomes a
// candidate, until the k-th best lower bound is more than an object could have that was never seen. In the shrinking
// phase only candidates count, and those leave whose upper bound is below the k-th best lower bound, until k are left.
//
//   detail/top_k/row_query.hpp  the published scheme: rows of scores, candidates sorted after every stride
//   detail/top_k/cells.hpp      weighted sums: a word for every object, a histogram in place of sorting
//   detail/top_k/program.hpp    the phases of the latter; grow, shrink and complete.hpp are their steps
//
// Source: Fagin, Lotem, Naor, "Optimal aggregation algorithms for middleware", PODS 2001 (NRA); Mamoulis, Yiu, Cheng,
// Cheung, "Efficient top-k aggregation of ranked inputs", TODS 32(3), 2007 (LARA).

namespace karpos {

/// The k objects with the highest aggregate of their scores in sorted lists.
///
/// out_ids: ids of the lists' type, k at least. out_scores: float or double, k at least; or a view without elements
/// for none. With top_k_result::exact they come by falling score; with top_k_result::set in no order, and no
/// scores are written. What lies behind the objects found is left alone.
/// Returns: what was done, and how many objects were found: k, or all there are. So it waits.
/// Complexity: reads about (n! k / m)^(1/n) of each of n independent lists of m entries, and at most all of them; for
///   exact scores ids once more, until each winner has been met in every list.
/// Requires: lists sorted by falling score, without NaN, each id once in a list at most; options.validate looks.
/// Concurrency: one query of a workspace at a time.
/// Memory: none, but for the queries that top_k_workspace names.
/// Throws: std::invalid_argument for views shorter than k, weights of another number than lists, a missing score that
///  is NaN or plus infinity, dense ids that are not below the number of objects, too many sparse ids;
///  allocation_error where rows cannot be had.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Lists, class Aggregate, view_1d Ids,
          view_1d Scores = Kokkos::View<double*, typename Lists::memory_space>>
top_k_report top_k(ExecSpace const& exec,
                   top_k_workspace<ExecSpace, Lists, Aggregate> const& workspace,
                   Lists const& lists, std::uint64_t k, Ids const& out_ids,
                   Scores const& out_scores = {},
                   std::type_identity_t<top_k_options<Aggregate>> const& options = {}) {
  detail::require_reachable<ExecSpace, Ids, Scores>();
  static_assert(std::is_same_v<typename Ids::value_type, typename Lists::id_type>,
                "karpos: ids come in a view of the lists' id type");
  detail::top_k::require_results(out_ids, out_scores, k);
  using score = typename Scores::value_type;
  static_assert(std::is_same_v<score, float> || std::is_same_v<score, double>,
                "karpos: scores come in a view of float or double");
  detail::top_k::results<typename Lists::id_type> to{out_ids.data(), nullptr, nullptr};
  if (out_scores.extent(0) > 0 && options.result == top_k_result::exact) {
    if constexpr (std::is_same_v<score, float>)
      to.floats = out_scores.data();
    else
      to.doubles = out_scores.data();
  }
  detail::top_k::search<ExecSpace, Lists, Aggregate> search(exec, workspace, lists, k, to, options);
  return search.run();
}

/// The same with a workspace for this query alone.
template <execution_space ExecSpace, class Id, class Score, class MemorySpace, view_1d Ids,
          view_1d Scores = Kokkos::View<double*, MemorySpace>, class Aggregate = weighted_sum>
top_k_report top_k(ExecSpace const& exec, sorted_lists<Id, Score, MemorySpace> const& lists,
                   std::uint64_t k, Ids const& out_ids, Scores const& out_scores = {},
                   top_k_options<Aggregate> const& options = {}) {
  using workspace = top_k_workspace<ExecSpace, sorted_lists<Id, Score, MemorySpace>, Aggregate>;
  return top_k(exec, workspace(exec, lists, k), lists, k, out_ids, out_scores, options);
}

}  // namespace karpos
