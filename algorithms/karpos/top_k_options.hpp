// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/device/program.hpp"
#include "karpos/sorted_lists.hpp"

// What a ranked query ranks by, and how it goes about it.

namespace karpos {

// Aggregates. One is a functor: operator()(scores, n) makes one number of an object's n scores, given as double in the
// order of the lists. It must be monotone: when a score grows, the aggregate does not fall. It is never called with
// NaN, and must not return NaN.

/// The sum of weight times score, in double, in the order of the lists. Minus infinity in one score, of a weight above
/// zero, makes the sum minus infinity, whatever the others are.
class weighted_sum {
 public:
  /// Every weight is 1.
  weighted_sum() {
    for (double& w : m_weight) w = 1;
  }
  /// One weight for each list.
  /// Throws: std::invalid_argument for weights that are negative or not finite, or more than 32.
  weighted_sum(std::initializer_list<double> weights)
      : weighted_sum(std::vector<double>(weights)) {}
  explicit weighted_sum(std::vector<double> const& weights)
      : m_count(static_cast<int>(weights.size())) {
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
  /// Weights that were given; 0: every list has weight 1.
  int count() const { return m_count; }
  KOKKOS_FUNCTION double weight(int list) const { return m_weight[list]; }

  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double sum = 0;
    bool lowest = false;
    for (int i = 0; i < n; ++i)
      if (m_weight[i] > 0) {
        double const part = device::rounded_product(m_weight[i], scores[i]);
        lowest = lowest || part == -HUGE_VAL;
        sum += part;
      }
    return lowest ? -HUGE_VAL : sum;
  }

 private:
  double m_weight[max_lists] = {};
  int m_count = 0;
};

/// The lowest of an object's scores.
struct min_score {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double m = scores[0];
    for (int i = 1; i < n; ++i) m = scores[i] < m ? scores[i] : m;
    return m;
  }
};

/// The highest of an object's scores.
struct max_score {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double m = scores[0];
    for (int i = 1; i < n; ++i) m = scores[i] > m ? scores[i] : m;
    return m;
  }
};

/// What a ranked query returns.
enum class top_k_result {
  exact,  ///< the ids by falling score, and the scores
  set     ///< the right ids in no order, no scores: it stops reading as soon as they are known
};

/// Which of several objects with the same score are returned.
enum class top_k_ties {
  any,         ///< some of them; another run may return others
  smallest_id  ///< those with the smallest ids, which also come first
};

/// How many levels a query reads before it looks at the bounds.
class stride_policy {
 public:
  /// Strides that grow with the depth, no sorting. 0: as measured best for the execution space.
  struct adaptive {
    double growth = 0;  ///< of the depth from stride to stride, above 1, in the growing phase
    double growth_shrinking = 0;  ///< and in the shrinking phase
    std::uint64_t first = 0;      ///< levels of the first stride
  };
  /// So many levels each time; then all candidates are sorted. The published scheme, kept for comparison.
  struct paper {
    std::uint64_t levels = 100;
  };

  stride_policy() = default;
  /// Throws: std::invalid_argument for a growth that is not above 1, or above a million.
  stride_policy(adaptive a) : m_adaptive(a) {
    for (double const g : {a.growth, a.growth_shrinking})
      if (g != 0 && !(g > 1 && g <= 1e6))
        detail::reject("the depth of a ranked query does not grow", std::to_string(g),
                       "choose a growth above 1, or 0 for the one that measures best");
  }
  stride_policy(paper p) : m_levels(p.levels) {
    if (m_levels == 0)
      detail::reject("a stride has no levels", "stride_policy::paper{0}", "read at least one");
  }
  bool is_paper() const { return m_levels > 0; }
  std::uint64_t levels() const { return m_levels; }
  adaptive const& strides() const { return m_adaptive; }

 private:
  adaptive m_adaptive;
  std::uint64_t m_levels = 0;  // 0: adaptive
};

/// When a query stops looking for an early end and reads everything.
enum class top_k_bail_out {
  automatic,  ///< once too many objects can still win
  never,      ///< only when they are more than a workspace has room for: an eighth of all
  at_once
};

/// Choices of a ranked query. But for `aggregate`, `missing_score`, `result` and `ties`, results do not depend on them.
template <class Aggregate = weighted_sum>
struct top_k_options {
  Aggregate aggregate = {};
  top_k_result result = top_k_result::exact;
  top_k_ties ties = top_k_ties::any;
  /// Of an object in a list that it is missing from; not NaN or plus infinity. Minus infinity says that an object must be
  /// in every list, better than a number far below all scores, which leaves little room to tell sums apart.
  double missing_score = 0;
  stride_policy stride = {};
  top_k_bail_out bail_out = top_k_bail_out::automatic;
  /// Look at every entry first: order, NaN, duplicate ids (validate_sorted_lists.hpp).
#if defined(KARPOS_CONTRACTS) && KARPOS_CONTRACTS
  bool validate = true;
#else
  bool validate = false;
#endif
  launch_mode driver = launch_mode::automatic;
};

/// What a ranked query did. Levels are positions in the lists: at depth d, d entries of every list have been read.
struct top_k_report {
  std::uint64_t found = 0;             ///< ids returned: k, or all objects where there are fewer
  std::uint64_t depth_growing = 0;     ///< levels until no unseen object could win
  std::uint64_t depth = 0;             ///< levels until the winners were known
  std::uint64_t depth_completing = 0;  ///< levels whose ids were read for the scores of the winners
  std::uint64_t candidates = 0;  ///< objects that could still win when the growing phase ended
  std::uint64_t finalists = 0;   ///< objects whose scores were computed in full
  std::uint64_t strides = 0;
  /// Ids read to find the answer; what is read again to list candidates or to clean up does not count.
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  ///< of the lists' ids and scores that were read
  bool bailed_out = false;  ///< everything was read
};

}  // namespace karpos
