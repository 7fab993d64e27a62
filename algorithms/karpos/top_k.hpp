// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranked queries: the k objects with the highest aggregate of their scores in n sorted lists. The
// lists are read in forward passes, no further than needed, without random access. Other headers:
// top_k_options.hpp (aggregate functions, strides, ties, the report) and top_k_workspace.hpp
// (memory for many queries).
//
// Approach (NRA, LARA). A query reads all lists side by side; at depth d it has read d levels, the
// first d entries of each list. The scores read so far give a lower and an upper bound of an
// object's aggregate. For the upper bound, a list in which the object has not been seen counts with
// the score read last, or with missing_score, if that is higher and the list may lack the object.
// The threshold is the k-th largest lower bound.
//
// Queries are of two kinds, which differ in what is kept for each object:
//
//   detail/ranking/top_k/run.hpp, queries over accumulators
//       weighted sums: a packed accumulator (partial sum in fixed point, and set of lists seen),
//       one atomic addition for an entry, a histogram of lower bounds instead of sorting. Its
//       phases are in growing_phase.hpp, shrinking_phase.hpp, completion.hpp.
//   detail/ranking/top_k/nra.hpp, queries over score vectors
//       any monotone aggregate, any scores: the vector of an object's scores; bounds of all
//       candidates are computed after every stride. Also the fallback of the other kind if fixed
//       point cannot separate the candidates.
//
// In the growing phase every object seen becomes a candidate, until the threshold reaches the upper
// bound of an object not seen in any list. In the shrinking phase no object becomes a candidate,
// and candidates whose upper bound is not above the threshold are dropped; in queries over score
// vectors, only those whose upper bound is below it. (Over accumulators an upper bound includes a
// margin for rounding, so that none of the first k is dropped.)
//
// The phase ends when k candidates remain, when no more reading can separate the candidates, or
// when all is read. The finalists are the candidates that remain; over score vectors, the k highest
// of these. They are ranked by exact aggregates, unless a set is wanted and bounds already give it.
//
// The depth grows in strides, batches of levels; bounds are computed at the end of each. A bitmap,
// the "visited bitmap" of the published GPU system (docs/topk.md), marks the candidates, so that
// later entries of other objects cost one access to it.
//
// Source: Fagin, Lotem, Naor, "Optimal aggregation algorithms for middleware", PODS 2001 (NRA);
//   Mamoulis, Yiu, Cheng, Cheung, "Efficient top-k aggregation of ranked inputs", TODS 32(3), 2007
//   (LARA: growing and shrinking phases).

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/view_of_rank.hpp"
#include "karpos/detail/ranking/top_k/nra.hpp"
#include "karpos/detail/ranking/top_k/plan.hpp"
#include "karpos/detail/ranking/top_k/run.hpp"
#include "karpos/sorted_lists.hpp"
#include "karpos/top_k_options.hpp"
#include "karpos/top_k_workspace.hpp"
#include "karpos/validate_sorted_lists.hpp"

namespace karpos {

/// Finds the k objects with the highest aggregate of their scores in sorted lists.
///
/// out_ids: at least k ids of the lists' type. out_scores, which gets the aggregates: at least k
/// float or double, or a view without elements. With top_k_result::exact both come by falling
/// aggregate; with top_k_result::set ids come in no particular order, and no aggregates are
/// written. Elements past top_k_report::found are not written.
///
/// Returns: what was done, and how many objects were found: k, or all if there are fewer. Blocks.
/// Complexity: reads about the fraction (n! k / m)^(1/n) of each of n independent lists of m
///   entries, and at most all of them; for exact aggregates also ids once more, until the remaining
///   candidates (finalists) have been found in every list.
/// Requires: lists are sorted by falling score, without NaN, with each id at most once in a list,
///   and dense ids are below the number of objects; options.validate checks this. There are at most
///   as many different sparse ids as sparse(at_most) said.
/// Concurrency: one query of a workspace at a time.
/// Memory: allocates nothing, except for score vectors and sorts (see top_k_workspace), and for
///   options.validate, which is on by default with KARPOS_CONTRACTS: a bit for each object, or for
///   sparse ids the ids of the longest list and, on GPUs, what sorts them.
/// Throws: std::invalid_argument:
///   - if views are shorter than k or strided, or if the lists or k do not fit the workspace;
///   - if the number of weights is not that of the lists;
///   - if an option is no enumerator;
///   - if the missing score is NaN or plus infinity;
///   - if the query, while it still collects candidates, reads a dense id that is not below the
///     number of objects, or more different sparse ids than its memory has space for (later such
///     ids are not noticed). The outputs may have been written then;
///   - for what options.validate finds;
///   - for launch_mode::persistent_kernel in a query over accumulators, if the execution space has
///     no persistent kernels, or the kernel's blocks do not all fit on the device at once.
///   allocation_error if there is not enough memory for score vectors, or for options.validate.
///   After any exception the workspace stays usable.
/// Source: see the top of this file.
template <execution_space ExecSpace, class Lists, class Aggregate, view_1d Ids,
          view_1d Scores = Kokkos::View<double*, typename Lists::memory_space>>
top_k_report top_k(ExecSpace const& exec,
                   top_k_workspace<ExecSpace, Lists, Aggregate> const& workspace,
                   Lists const& lists, std::uint64_t k, Ids const& out_ids,
                   Scores const& out_scores = {},
                   std::type_identity_t<top_k_options<Aggregate>> const& options = {}) {
  namespace query = detail::top_k;
  query::require_result_types<ExecSpace, Lists, Ids, Scores>();
  detail::user_call const call("top_k");
  detail::require_length("the view of ids", out_ids.extent(0), k, "objects");
  detail::require_contiguous("the ids", out_ids);
  if (out_scores.extent(0) > 0) {
    detail::require_length("the view of scores", out_scores.extent(0), k, "objects");
    detail::require_contiguous("the scores", out_scores);
  }
  auto& memory = memory_of(workspace);
  query::require_valid_query(memory.sizes, lists, k, options);
  if (options.validate) validate_sorted_lists(exec, lists);

  Kokkos::Profiling::ScopedRegion const region("karpos::top_k");
  top_k_report report;
  if (k == 0 || lists.entries() == 0) return report;
  auto const to = query::make_results(
      out_ids, out_scores, out_scores.extent(0) > 0 && options.result == top_k_result::exact);
  if constexpr (std::is_same_v<Aggregate, weighted_sum>)
    if (query::can_use_accumulators(memory.sizes, lists, k, options) &&
        query::try_accumulator_query(exec, memory, lists, k, to, options, report))
      return report;
  query::run_nra_query(exec, memory, lists, k, to, options, report);
  return report;
}

/// Finds the k objects as top_k(exec, workspace, …) does, with a workspace for this query alone.
///
/// Throws: also what top_k_workspace throws.
template <execution_space ExecSpace, class Id, class Score, class MemorySpace, view_1d Ids,
          view_1d Scores = Kokkos::View<double*, MemorySpace>, class Aggregate = weighted_sum>
top_k_report top_k(ExecSpace const& exec, sorted_lists<Id, Score, MemorySpace> const& lists,
                   std::uint64_t k, Ids const& out_ids, Scores const& out_scores = {},
                   top_k_options<Aggregate> const& options = {}) {
  using workspace = top_k_workspace<ExecSpace, sorted_lists<Id, Score, MemorySpace>, Aggregate>;
  detail::user_call const call("top_k");
  return top_k(exec, workspace(exec, lists, k), lists, k, out_ids, out_scores, options);
}

/// Finds the k objects of each of many queries over the same lists: query q has the aggregate
/// aggregates[q], and the results of top_k with it, in out_ids(q, r) and out_scores(q, r).
/// options.aggregate is not read. On GPUs with persistent kernels, queries over accumulators follow
/// each other without waiting for the host if the workspace has max_k <= 1,024 or at most 4,096
/// objects.
///
/// Returns: a report for each query. Blocks.
/// Complexity: of the queries one after the other; options.validate once.
/// Requires, Concurrency: as top_k.
/// Memory: as top_k; also about 1.2 KB for each query.
/// Throws: as top_k, for any of the queries: the outputs of the others may have been written then.
///   std::invalid_argument also if a view has fewer rows than there are queries, or strided rows.
template <execution_space ExecSpace, class Lists, class Aggregate, detail::view_of_rank<2> Ids,
          detail::view_of_rank<2> Scores =
              Kokkos::View<double**, Kokkos::LayoutRight, typename Lists::memory_space>>
std::vector<top_k_report> top_k_batch(
    ExecSpace const& exec, top_k_workspace<ExecSpace, Lists, Aggregate> const& workspace,
    Lists const& lists, std::uint64_t k,
    std::type_identity_t<std::vector<Aggregate>> const& aggregates, Ids const& out_ids,
    Scores const& out_scores = {},
    std::type_identity_t<top_k_options<Aggregate>> const& options = {}) {
  namespace query = detail::top_k;
  query::require_result_types<ExecSpace, Lists, Ids, Scores>();
  detail::user_call const call("top_k_batch");
  std::uint64_t const n = aggregates.size();
  query::require_rows("ids", out_ids, n, k);
  if (out_scores.extent(0) > 0) query::require_rows("scores", out_scores, n, k);
  auto& memory = memory_of(workspace);
  std::vector<top_k_options<Aggregate>> each(n, options);
  for (std::uint64_t q = 0; q < n; ++q) {
    each[q].aggregate = aggregates[q];
    query::require_valid_query(memory.sizes, lists, k, each[q]);
  }
  if (options.validate && n > 0) validate_sorted_lists(exec, lists);

  Kokkos::Profiling::ScopedRegion const region("karpos::top_k_batch");
  std::vector<top_k_report> reports(n);
  if (n == 0 || k == 0 || lists.entries() == 0) return reports;
  bool const with_scores = out_scores.extent(0) > 0 && options.result == top_k_result::exact;
  std::vector<query::results<typename Lists::id_type>> to;
  for (std::uint64_t q = 0; q < n; ++q) {
    decltype(Kokkos::subview(out_scores, q, Kokkos::ALL)) row;  // none of a view without rows
    if (with_scores) row = Kokkos::subview(out_scores, q, Kokkos::ALL);
    to.push_back(query::make_results(Kokkos::subview(out_ids, q, Kokkos::ALL), row, with_scores));
  }
  std::vector<bool> is_answered(n, false);
  if constexpr (std::is_same_v<Aggregate, weighted_sum>)
    if (query::can_use_accumulators(memory.sizes, lists, k, options))
      is_answered = query::try_accumulator_queries(exec, memory, lists, k, to, each, reports);
  for (std::uint64_t q = 0; q < n; ++q)
    if (!is_answered[q]) query::run_nra_query(exec, memory, lists, k, to[q], each[q], reports[q]);
  return reports;
}

}  // namespace karpos
