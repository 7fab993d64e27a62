// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sorted lists in the space under test that are queried repeatedly.
///
/// The kernels of a query take long to compile: each top_k_subject_*.cpp instantiates some types,
/// for all suites.
#pragma once

#include <karpos/top_k.hpp>
#include <utility>
#include <vector>

#include "support/space.hpp"
#include "support/top_k_data.hpp"

namespace karpos_test {

/// The answer of a query. The views are longer than k: the query must not change the elements after
/// the first k.
template <class Id, class Out>
struct top_k_answer {
  std::vector<Id> ids;
  std::vector<Out> scores;
  karpos::top_k_report report;
};

/// Value of all elements of a view before the query.
inline constexpr int untouched = 77;
inline constexpr std::size_t more_than_k = 3;

/// Copies lists to the space under test. Lists of equal lengths become the rows of a table with
/// more columns than needed; other lists, or all if `by_offsets` is set, are stored with offsets.
template <class Id, class Score>
karpos::sorted_lists<Id, Score, space::memory_space> to_space(host_lists<Id, Score> const& from,
                                                              bool by_offsets = false) {
  using memory = space::memory_space;
  using lists_type = karpos::sorted_lists<Id, Score, memory>;
  std::vector<Id> ids;
  std::vector<Score> scores;
  std::vector<std::uint64_t> offsets{0};
  std::size_t const m = from.longest(), n = from.list.size();
  bool const rows = !by_offsets && n > 0 && from.same_lengths();
  for (auto const& list : from.list) {
    for (auto const& [id, score] : list) {
      ids.push_back(id);
      scores.push_back(score);
    }
    offsets.push_back(ids.size());
  }
  auto const finish = [&](lists_type const& l) {
    return from.dense_objects > 0 ? l.dense(from.dense_objects) : l;
  };
  if (!rows) return finish(lists_type(to_space(ids), to_space(scores), to_space(offsets)));
  Kokkos::View<Id**, Kokkos::LayoutRight, memory> const id_table("ids", n, m + 2);
  Kokkos::View<Score**, Kokkos::LayoutRight, memory> const score_table("scores", n, m + 2);
  auto const h_ids = Kokkos::create_mirror_view(id_table);
  auto const h_scores = Kokkos::create_mirror_view(score_table);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t p = 0; p < m; ++p) {
      h_ids(i, p) = from.list[i][p].first;
      h_scores(i, p) = from.list[i][p].second;
    }
  Kokkos::deep_copy(id_table, h_ids);
  Kokkos::deep_copy(score_table, h_scores);
  auto const entries = std::pair<std::size_t, std::size_t>(0, m);
  return finish(lists_type(Kokkos::subview(id_table, Kokkos::ALL(), entries),
                           Kokkos::subview(score_table, Kokkos::ALL(), entries)));
}

/// Lists, and memory for queries of them.
template <class Id, class Score, class Aggregate = karpos::weighted_sum, class Out = double>
class top_k_subject {
 public:
  using id_type = Id;
  using score_type = Score;
  using out_type = Out;
  using aggregate_type = Aggregate;
  using lists_type = karpos::sorted_lists<Id, Score, space::memory_space>;
  using options_type = karpos::top_k_options<Aggregate>;
  using answer_type = top_k_answer<Id, Out>;

  top_k_subject(host_lists<Id, Score> const& lists, std::uint64_t max_k, bool by_offsets = false);
  /// Replaces the lists but keeps the memory.
  void replace(host_lists<Id, Score> const& lists) { m_lists = to_space(lists); }
  /// Runs a query. `scores`: whether to pass a view for the scores.
  answer_type query(std::uint64_t k, options_type const& o, bool scores = true);
  /// Runs a query for each aggregate by one call.
  std::vector<answer_type> query_all(std::uint64_t k, std::vector<Aggregate> const& aggregates,
                                     options_type const& o);
  lists_type const& lists() const { return m_lists; }

 private:
  lists_type m_lists;
  karpos::top_k_workspace<space, lists_type, Aggregate> m_workspace;
};

template <class Id, class Score, class Aggregate, class Out>
top_k_subject<Id, Score, Aggregate, Out>::top_k_subject(host_lists<Id, Score> const& lists,
                                                        std::uint64_t max_k, bool by_offsets)
    : m_lists(to_space(lists, by_offsets)),
      m_workspace(space(), m_lists, max_k) {}

template <class Id, class Score, class Aggregate, class Out>
top_k_answer<Id, Out> top_k_subject<Id, Score, Aggregate, Out>::query(std::uint64_t k,
                                                                      options_type const& o,
                                                                      bool scores) {
  space const exec;
  view<Id> const ids("ids", k + more_than_k);
  view<Out> const out("scores", scores ? k + more_than_k : 0);
  Kokkos::deep_copy(exec, ids, Id(untouched));
  Kokkos::deep_copy(exec, out, Out(untouched));
  answer_type a;
  a.report = karpos::top_k(exec, m_workspace, m_lists, k, ids, out, o);
  exec.fence();
  a.ids = to_host(ids);
  a.scores = to_host(out);
  return a;
}

template <class Id, class Score, class Aggregate, class Out>
std::vector<top_k_answer<Id, Out>> top_k_subject<Id, Score, Aggregate, Out>::query_all(
    std::uint64_t k, std::vector<Aggregate> const& aggregates, options_type const& o) {
  space const exec;
  std::size_t const n = aggregates.size();
  Kokkos::View<Id**, Kokkos::LayoutRight, space::memory_space> const ids("ids", n, k + more_than_k);
  Kokkos::View<Out**, Kokkos::LayoutRight, space::memory_space> const out("scores", n,
                                                                          k + more_than_k);
  Kokkos::deep_copy(exec, ids, Id(untouched));
  Kokkos::deep_copy(exec, out, Out(untouched));
  auto const reports = karpos::top_k_batch(exec, m_workspace, m_lists, k, aggregates, ids, out, o);
  std::vector<answer_type> answers;
  for (std::size_t q = 0; q < n; ++q)
    answers.push_back({to_host(view<Id>(Kokkos::subview(ids, q, Kokkos::ALL))),
                       to_host(view<Out>(Kokkos::subview(out, q, Kokkos::ALL))), reports[q]});
  return answers;
}

using u32_float_subject = top_k_subject<std::uint32_t, float>;
using i32_double_subject = top_k_subject<std::int32_t, double>;
using u64_float_subject = top_k_subject<std::uint64_t, float, karpos::weighted_sum, float>;
using u64_double_subject = top_k_subject<std::uint64_t, double>;
extern template class top_k_subject<std::uint32_t, float>;
extern template class top_k_subject<std::int32_t, double>;
extern template class top_k_subject<std::uint64_t, float, karpos::weighted_sum, float>;
extern template class top_k_subject<std::uint64_t, double>;

/// Returns the median of the scores; of an even number of scores, the higher of the middle two.
struct median_score {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    for (int i = 0; i < n; ++i) {
      int above = 0, equal = 0;
      for (int j = 0; j < n; ++j) {
        above += scores[j] > scores[i];
        equal += scores[j] == scores[i];
      }
      if (above <= (n - 1) / 2 && (n - 1) / 2 < above + equal) return scores[i];
    }
    return 0;
  }
};

/// Sums the scores, each cut off at a limit: many different scores have equal effects.
struct capped_sum {
  double limit = 0.5;
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += scores[i] < limit ? scores[i] : limit;
    return sum;
  }
};

/// Multiplies the scores. Monotone if no score is negative.
struct product_of_scores {
  KOKKOS_FUNCTION double operator()(double const* scores, int n) const {
    double product = 1;
    for (int i = 0; i < n; ++i) product *= scores[i];
    return product;
  }
};

using minimum_subject = top_k_subject<std::uint32_t, float, karpos::min_score>;
using maximum_subject = top_k_subject<std::uint32_t, float, karpos::max_score>;
using median_subject = top_k_subject<std::uint32_t, double, median_score>;
using capped_subject = top_k_subject<std::uint64_t, float, capped_sum>;
using product_subject = top_k_subject<std::uint32_t, float, product_of_scores>;
extern template class top_k_subject<std::uint32_t, float, karpos::min_score>;
extern template class top_k_subject<std::uint32_t, float, karpos::max_score>;
extern template class top_k_subject<std::uint32_t, double, median_score>;
extern template class top_k_subject<std::uint64_t, float, capped_sum>;
extern template class top_k_subject<std::uint32_t, float, product_of_scores>;

}  // namespace karpos_test
