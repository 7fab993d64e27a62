// SPDX-License-Identifier: Apache-2.0
/// \file
/// All objects of some lists by falling aggregate: every ranked query is compared with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <karpos/top_k_options.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"
#include "support/top_k_data.hpp"

namespace karpos_test {

/// All objects twice: by falling score, with equal scores by rising id; and by rising id.
template <class Id>
struct host_ranking {
  struct entry {
    Id id;
    double score;
  };
  std::vector<entry> ranked, by_id;

  /// Returns nothing for an id that no list holds.
  entry const* find(Id id) const {
    auto const at = std::lower_bound(by_id.begin(), by_id.end(), id,
                                     [](entry const& e, Id wanted) { return e.id < wanted; });
    return at == by_id.end() || at->id != id ? nullptr : &*at;
  }
};

/// Calls the aggregate in the space under test. The compiler may fuse a multiplication and an
/// addition there, so the oracle and the query round alike.
template <class Aggregate>
struct evaluate_aggregate {
  Aggregate aggregate;
  view<double> scores;
  int lists;
  view<double> out;
  KOKKOS_FUNCTION void operator()(std::size_t object) const {
    out(object) = aggregate(&scores(object * static_cast<std::size_t>(lists)), lists);
  }
};

/// Returns whether a sum agrees with one in extended precision, within the rounding errors of
/// doubles. Other aggregates must only not be NaN.
template <class Aggregate>
bool is_near(Aggregate const& aggregate, double const* scores, int n, double got) {
  if constexpr (std::is_same_v<Aggregate, karpos::weighted_sum>) {
    long double sum = 0, magnitude = 0;
    for (int i = 0; i < n; ++i) {
      if (aggregate.weight(i) == 0) continue;
      if (aggregate.weight(i) * scores[i] == -HUGE_VAL) return got == -HUGE_VAL;
      auto const term = static_cast<long double>(aggregate.weight(i)) * scores[i];
      sum += term;
      magnitude += std::abs(term);
    }
    if (std::isinf(magnitude)) return got == HUGE_VAL;
    if (std::abs(sum) > std::numeric_limits<double>::max())
      return got == (sum > 0 ? HUGE_VAL : -HUGE_VAL);
    return std::abs(sum - got) <= magnitude * n * 0x1p-52L + 0x1p-1074L * n;
  }
  return !std::isnan(got) && (static_cast<void>(aggregate), static_cast<void>(scores), n >= 0);
}

/// The scores of all objects; those of one object are adjacent. Objects are sorted by rising id.
template <class Id>
struct gathered_scores {
  std::vector<Id> ids;
  std::vector<double> scores;

  template <class Score>
  gathered_scores(host_lists<Id, Score> const& lists, double missing) {
    for (auto const& list : lists.list)
      for (auto const& entry : list) ids.push_back(entry.first);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::size_t const n = lists.list.size();
    scores.assign(ids.size() * n, missing);
    for (std::size_t i = 0; i < n; ++i)
      for (auto const& [id, score] : lists.list[i]) {
        auto const at = std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
        scores[static_cast<std::size_t>(at) * n + i] = static_cast<double>(score);
      }
  }
};

/// Ranks all objects by brute force.
template <class Id, class Score, class Aggregate>
host_ranking<Id> rank_all(host_lists<Id, Score> const& lists, Aggregate const& aggregate,
                          double missing) {
  gathered_scores<Id> const all(lists, missing);
  std::size_t const m = all.ids.size();
  int const n = lists.lists();
  view<double> const aggregates("aggregates", m);
  Kokkos::parallel_for(
      "karpos_test::rank_all", Kokkos::RangePolicy<space>(0, m),
      evaluate_aggregate<Aggregate>{aggregate, to_space(all.scores), n, aggregates});
  auto const score = to_host(aggregates);
  host_ranking<Id> r;
  std::size_t wrong = 0;
  for (std::size_t o = 0; o < m; ++o) {
    r.by_id.push_back({all.ids[o], score[o]});
    wrong += !is_near(aggregate, &all.scores[o * static_cast<std::size_t>(n)], n, score[o]);
  }
  if (wrong > 0) same("the oracle against extended precision, " + lists.name, wrong, 0);
  r.ranked = r.by_id;
  std::stable_sort(r.ranked.begin(), r.ranked.end(),
                   [](auto const& a, auto const& b) { return a.score > b.score; });
  return r;
}

}  // namespace karpos_test
