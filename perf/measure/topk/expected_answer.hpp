// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace karpos::perf {

/// The correct answer, by brute force on the host: the aggregate of every object, in double, in the
/// order of the lists.
template <class Score>
class expected_answer {
 public:
  using host_table = Kokkos::View<Score const**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

  /// Computes the answer. `scores` is [objects][lists]; NaN: missing.
  template <class Aggregate>
  expected_answer(host_table const& scores, Aggregate const& aggregate, double missing,
                  std::uint64_t k)
      : m_lists(scores.extent(1)) {
    std::size_t const objects = scores.extent(0);
    m_aggregate.resize(objects);
    std::vector<double> of_one(m_lists);
    for (std::size_t object = 0; object < objects; ++object) {
      for (std::size_t i = 0; i < m_lists; ++i) {
        double const s = static_cast<double>(scores(object, i));
        of_one[i] = std::isnan(s) ? missing : s;
      }
      m_aggregate[object] = aggregate(of_one.data(), static_cast<int>(m_lists));
    }
    rank(std::min<std::uint64_t>(k, objects));
  }

  /// Returns a bound of the rounding error of sums of scores with precision `epsilon`; `largest` is
  /// the largest term.
  double rounding(double epsilon, double largest) const {
    return 2 * static_cast<double>(m_lists) * static_cast<double>(m_lists) * epsilon * largest;
  }

  /// Counts ids that are invalid or occur twice, or whose aggregate differs from that of the
  /// correct id of the same rank.
  std::uint64_t wrong_ranking(std::vector<std::uint32_t> const& ids, double tolerance) const {
    if (ids.size() != m_best.size()) return std::max(ids.size(), m_best.size());
    std::uint64_t wrong = 0;
    std::set<std::uint32_t> const distinct(ids.begin(), ids.end());
    wrong += ids.size() - distinct.size();
    for (std::size_t r = 0; r < ids.size(); ++r)
      wrong += ids[r] >= m_aggregate.size() ||
               !alike(m_aggregate[ids[r]], m_aggregate[m_best[r]], tolerance);
    return wrong;
  }
  /// Counts the same errors for ids in any order.
  std::uint64_t wrong_set(std::vector<std::uint32_t> ids, double tolerance) const {
    for (std::uint32_t const id : ids)
      if (id >= m_aggregate.size()) return ids.size();
    std::sort(ids.begin(), ids.end(), before{m_aggregate});
    return wrong_ranking(ids, tolerance);
  }
  /// Counts ids that are not the ones that win ties by being smaller.
  std::uint64_t wrong_ties(std::vector<std::uint32_t> ids, bool ordered) const {
    if (ids.size() != m_best.size()) return 0;  // counted already
    if (!ordered) std::sort(ids.begin(), ids.end(), before{m_aggregate});
    std::uint64_t wrong = 0;
    for (std::size_t r = 0; r < ids.size(); ++r) wrong += ids[r] != m_best[r];
    return wrong;
  }
  /// Counts scores that differ from the aggregates of their ids.
  std::uint64_t wrong_scores(std::vector<std::uint32_t> const& ids,
                             std::vector<double> const& scores, double tolerance) const {
    std::uint64_t wrong = 0;
    for (std::size_t r = 0; r < ids.size(); ++r)
      wrong += ids[r] >= m_aggregate.size() || !alike(scores[r], m_aggregate[ids[r]], tolerance);
    return wrong;
  }

 private:
  struct before {
    std::vector<double> const& aggregate;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return aggregate[a] != aggregate[b] ? aggregate[a] > aggregate[b] : a < b;
    }
  };

  /// Returns whether two numbers are equal within a tolerance; infinities must be identical.
  static bool alike(double a, double b, double tolerance) {
    return a == b || std::fabs(a - b) <= tolerance;
  }

  void rank(std::uint64_t k) {
    before const better{m_aggregate};
    auto const objects = static_cast<std::uint32_t>(m_aggregate.size());
    for (std::uint32_t id = 0; id < objects; ++id) {
      if (m_best.size() == k && (k == 0 || !better(id, m_best.front()))) continue;
      if (m_best.size() == k) {
        std::pop_heap(m_best.begin(), m_best.end(), better);
        m_best.pop_back();
      }
      m_best.push_back(id);
      std::push_heap(m_best.begin(), m_best.end(), better);
    }
    std::sort_heap(m_best.begin(), m_best.end(), better);
  }

  std::size_t m_lists;
  std::vector<double> m_aggregate;
  std::vector<std::uint32_t> m_best;  // ids of rank 1, 2, ...
};

}  // namespace karpos::perf
