// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <Kokkos_MinMax.hpp>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/launch_mode.hpp"
#include "karpos/sorted_lists.hpp"

// Aggregate functions, options and the report of ranked queries (terms: top_k.hpp).

namespace karpos {

// An aggregate function is a functor: double operator()(double const* scores, int n) const, of an
// object's n scores in the order of the lists. It must be monotone: if a score grows, the aggregate
// does not fall. It is never called with NaN, and must not return NaN. It may not throw
// (operations.hpp says what functors may do).

/// Adds weight times score, in double, in the order of the lists. If a score with a weight above
/// zero is minus infinity, so is the sum, whatever the other scores are.
class weighted_sum {
 public:
  /// Gives every list the weight 1.
  weighted_sum() {
    for (double& w : m_weight) w = 1;
  }
  /// Takes one weight for each list.
  ///
  /// Throws: std::invalid_argument if a weight is negative or not finite, or for more than 32
  ///   weights.
  weighted_sum(std::initializer_list<double> weights)
      : weighted_sum(std::vector<double>(weights)) {}
  explicit weighted_sum(std::vector<double> const& weights)
      : m_count(static_cast<int>(weights.size())) {
    detail::user_call const call("weighted_sum");
    if (weights.size() > max_lists)
      detail::reject("too many weights", std::to_string(weights.size()),
                     "there are at most 32 lists");
    for (std::size_t i = 0; i < weights.size(); ++i) {
      m_weight[i] = weights[i];
      if (!(weights[i] >= 0) || std::isinf(weights[i]))
        detail::reject("weight " + std::to_string(i) + " of an aggregate is wrong",
                       std::to_string(weights[i]), "weights are finite and not negative");
    }
  }
  /// Returns the number of weights that were given; 0: every list has weight 1.
  int count() const { return m_count; }
  KOKKOS_FUNCTION double weight(int list) const { return m_weight[list]; }

  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double sum = 0;
    bool is_minus_infinity = false;
    for (int i = 0; i < n; ++i)
      if (m_weight[i] > 0) {
        double const part = device::rounded_product(m_weight[i], scores[i]);
        is_minus_infinity = is_minus_infinity || part == -HUGE_VAL;
        sum += part;
      }
    return is_minus_infinity ? -HUGE_VAL : sum;
  }

 private:
  double m_weight[max_lists] = {};
  int m_count = 0;
};

/// Returns the lowest of an object's scores.
struct min_score {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double m = scores[0];
    for (int i = 1; i < n; ++i) m = Kokkos::min(m, scores[i]);
    return m;
  }
};

/// Returns the highest of an object's scores.
struct max_score {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double m = scores[0];
    for (int i = 1; i < n; ++i) m = Kokkos::max(m, scores[i]);
    return m;
  }
};

/// Chooses what a ranked query returns.
enum class top_k_result {
  exact,  ///< the ids by falling aggregate, and the aggregates
  set     ///< the ids in no order, no aggregates: reading stops as soon as the ids are known
};

/// Chooses which of several objects with the same aggregate are returned.
enum class top_k_ties {
  any,  ///< unspecified: another run may return others
  /// those with the smallest ids; among equal aggregates smaller ids come first. With
  /// top_k_result::set the set is the same, in no order.
  smallest_id
};

/// Strides of a query, its batches of levels (terms: top_k.hpp): how many levels of every list it
/// reads before it computes bounds.
class stride_policy {
 public:
  /// Strides that grow with the depth. 0: the value that measures best on the execution space.
  /// Queries over score vectors use `growth` in both phases.
  struct adaptive {
    /// Factor by which the depth grows per stride, above 1, in the growing phase.
    double growth = 0;
    double growth_shrinking = 0;  ///< the factor in the shrinking phase
    std::uint64_t first = 0;      ///< levels of the first stride
  };
  /// Strides of one length; all candidates are sorted after each, as in the published scheme
  /// (docs/topk.md). Kept for comparison. The stopping rule is ours: the query stops when bounds
  /// separate the first k objects; the published scheme waits until all scores of k objects are
  /// known.
  struct fixed {
    std::uint64_t levels = 100;
  };

  stride_policy() = default;
  /// Takes strides that grow. Throws: std::invalid_argument unless each growth is 0, or above 1 and
  /// at most 10^6.
  stride_policy(adaptive a) : m_adaptive(a) {
    detail::user_call const call("stride_policy");
    for (double const g : {a.growth, a.growth_shrinking})
      if (g != 0 && !(g > 1 && g <= 1e6))
        detail::reject("the depth of a ranked query cannot grow so", std::to_string(g),
                       "choose one above 1 and at most 10^6, or 0 for the one that measures best");
  }
  /// Takes strides of one length. Throws: std::invalid_argument for 0 levels.
  stride_policy(fixed f) : m_levels(f.levels) {
    detail::user_call const call("stride_policy");
    if (m_levels == 0)
      detail::reject("a stride has no levels", "stride_policy::fixed{0}", "read at least one");
  }
  bool is_fixed() const { return m_levels > 0; }
  std::uint64_t levels() const { return m_levels; }
  adaptive const& strides() const { return m_adaptive; }

 private:
  adaptive m_adaptive;
  std::uint64_t m_levels = 0;  // 0: adaptive
};

/// Chooses when a query bails out, that is gives up early termination and reads everything (full
/// aggregation). Queries over score vectors (top_k_workspace.hpp) never bail out.
enum class top_k_bail_out {
  /// if the growing phase goes too deep, or leaves too many candidates; on CPUs already when the
  /// lists share so few objects that it is expected to go too deep
  automatic,
  /// only if there are more candidates than fit the workspace: an eighth of the objects plus 65,536
  never,
  at_once  ///< from the start
};

namespace detail {
template <>
inline constexpr enumeration<top_k_result> enumeration_of<top_k_result> = {
    "result of a ranked query", "top_k_result", top_k_result::set};
template <>
inline constexpr enumeration<top_k_ties> enumeration_of<top_k_ties> = {
    "rule for ties", "top_k_ties", top_k_ties::smallest_id};
template <>
inline constexpr enumeration<top_k_bail_out> enumeration_of<top_k_bail_out> = {
    "rule for bailing out", "top_k_bail_out", top_k_bail_out::at_once};
}  // namespace detail

/// Options of a ranked query: top_k_options{.aggregate = min_score{}}; clang before 17 does not
/// deduce the type, and takes top_k_options<min_score>{}. Results depend only on `aggregate`,
/// `missing_score`, `result` and `ties`, apart from ties under top_k_ties::any.
template <class Aggregate = weighted_sum>
struct top_k_options {
  Aggregate aggregate = {};
  top_k_result result = top_k_result::exact;
  top_k_ties ties = top_k_ties::any;
  /// Score of an object in a list that lacks it; neither NaN nor plus infinity.
  ///
  /// With minus infinity, an object that some list lacks has the aggregate minus infinity and comes
  /// last (for weighted_sum, if the list's weight is above 0; not for max_score). It is returned
  /// only if fewer than k others are found. With a missing score of minus infinity a weighted sum
  /// uses score vectors (top_k_workspace.hpp), unless there is one list only, or ids are dense and
  /// every list with a weight above 0 has all objects.
  ///
  /// Accumulators are fixed-point numbers over the range from missing_score to the highest scores.
  /// A missing score far below all others leaves them few bits to tell sums apart. The result is
  /// the same, but more objects are compared, or the query falls back to score vectors.
  double missing_score = 0;
  stride_policy stride = {};
  top_k_bail_out bail_out = top_k_bail_out::automatic;
  /// Checks every entry first: order, NaN, duplicate ids (validate_sorted_lists.hpp). By default
  /// only if KARPOS_CONTRACTS is on (contract.hpp).
  bool validate = detail::checks_always;
  /// How GPUs run the steps of a query over accumulators. Queries over score vectors launch a
  /// kernel for every step.
  launch_mode driver = launch_mode::automatic;
};

/// Report of a ranked query. Levels are positions in the lists: at depth d, d entries of every list
/// have been read.
struct top_k_report {
  std::uint64_t found = 0;          ///< ids written: k, or all objects in lists if fewer
  std::uint64_t depth_growing = 0;  ///< levels read by the growing phase
  std::uint64_t depth = 0;          ///< levels read when the first k objects were known
  /// Depth down to which ids were read to complete the scores of the finalists; 0 if that was
  /// not needed.
  std::uint64_t depth_completing = 0;
  /// Objects that could be among the first k when the growing phase had ended. Over score vectors:
  /// all objects seen by then.
  std::uint64_t candidates = 0;
  std::uint64_t finalists = 0;  ///< objects whose aggregates were computed from all their scores
  std::uint64_t strides = 0;    ///< batches of levels read, in all phases
  /// Ids read to find the answer. Ids read again to list candidates or to reset memory do not
  /// count.
  std::uint64_t entries = 0;
  /// Bytes of the ids that `entries` counts, and of the scores read in the growing phase. Over
  /// score vectors: of these ids and all scores read.
  std::uint64_t bytes = 0;
  bool bailed_out = false;  ///< whether it bailed out (top_k_bail_out)
};

}  // namespace karpos
