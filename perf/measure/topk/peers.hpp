// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "perf/measure/support/timer.hpp"
#include "perf/measure/topk/expected_answer.hpp"
#include "perf/measure/topk/full_aggregation.hpp"
#include "perf/measure/topk/lara.hpp"
#include "perf/measure/topk/nra.hpp"
#include "perf/measure/topk/parameters.hpp"
#include "perf/measure/topk/published_query.hpp"
#include "perf/measure/topk/score_lists.hpp"
#include "perf/measure/topk/stream_combine.hpp"

namespace karpos::perf {

/// The lists in memory that a host thread can access: in place, or copied.
template <class Score>
class lists_on_host {
 public:
  lists_on_host(score_lists<Score> const& lists, std::vector<double> const& weights) {
    using ids_view = Kokkos::View<std::uint32_t const*, memory, Kokkos::MemoryUnmanaged>;
    using scores_view = Kokkos::View<Score const*, memory, Kokkos::MemoryUnmanaged>;
    for (int i = 0; i < lists.lists(); ++i) {
      auto const& l = lists.ref()[i];
      m_ids.push_back(
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ids_view(l.ids, l.length)));
      m_scores.push_back(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                             scores_view(l.scores, l.length)));
      m_lists.push_back({m_ids.back().data(), m_scores.back().data(), l.length,
                         weights[static_cast<std::size_t>(i)]});
    }
  }
  std::vector<host_list<Score>> const& lists() const { return m_lists; }

 private:
  template <class T>
  using host_view = decltype(Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::View<T const*, memory, Kokkos::MemoryUnmanaged>()));
  std::vector<host_view<std::uint32_t>> m_ids;
  std::vector<host_view<Score>> m_scores;
  std::vector<host_list<Score>> m_lists;
};

/// Measures the other algorithms on the same lists, and checks their answers.
template <class Score>
class topk_peers {
 public:
  /// The smallest and the largest of all weighted scores. Some of the peers can rank certain ranges
  /// only.
  struct range_of_scores {
    double least = std::numeric_limits<double>::infinity(), largest = -least;
  };

  topk_peers(space const& exec, topk_run const& run, score_lists<Score> const& lists,
             std::vector<double> const& weights, expected_answer<Score> const& expected,
             range_of_scores range)
      : m_exec(exec),
        m_run(run),
        m_lists(lists),
        m_weights(weights),
        m_expected(expected),
        m_range(range),
        m_found(run.report.found) {}

  topk_peer measure(std::string const& name) const {
    topk_peer p;
    p.name = name;
    p.skipped = skip_reason(name);
    if (!p.skipped.empty()) return p;
    if (name == "full")
      measure_full(p);
    else if (name == "published")
      measure_published(p);
    else
      measure_sequential(p);
    return p;
  }

 private:
  std::string skip_reason(std::string const& name) const {
    topk_parameters const& p = m_run.parameters;
    if (p.aggregate != "sum") return "it ranks by sums";
    bool const finite = std::isfinite(m_range.least) && std::isfinite(m_range.largest);
    if (!finite || !std::isfinite(p.missing)) return "it adds up finite scores";
    if (name == "full") return "";
    if (m_range.least < 0) return "its scores are not negative";
    if (p.missing != 0) return "the score of what is missing is 0 for it";
    bool const by_set = name == "lara" || name == "sc";
    int const most = by_set ? max_lists_by_set : object_table::max_lists;
    if (m_lists.lists() > most) return "it takes at most " + std::to_string(most) + " lists";
    return "";
  }

  double largest_term() const {
    return std::max({std::fabs(m_range.least), std::fabs(m_range.largest),
                     std::fabs(m_run.parameters.missing)});
  }
  std::uint64_t wrong(std::vector<std::uint32_t> const& ids, double epsilon) const {
    return m_expected.wrong_set(ids, m_expected.rounding(epsilon, largest_term()));
  }

  void measure_full(topk_peer& p) const {
    full_aggregation<Score> const full(m_exec, m_lists, m_found, m_weights,
                                       m_run.parameters.missing);
    timer<space> clock(m_exec);
    p.threads = m_exec.concurrency();
    p.time = clock.repeat(
        m_run.parameters.repetitions, [] {}, [&] { full(); });
    measure_energy(p, full);
    p.depth = p.depth_growing = m_lists.longest();
    p.wrong = wrong(full.ids(), std::numeric_limits<Score>::epsilon());
  }

  void measure_sequential(topk_peer& p) const {
    lists_on_host<Score> const lists(m_lists, m_weights);
    object_table objects(m_lists.objects());
    p.threads = 1;
    repeat_query(p, [&] {
      return p.name == "nra"  ? nra(lists.lists(), m_found, objects)
             : p.name == "sc" ? stream_combine(lists.lists(), m_found, objects)
                              : lara(lists.lists(), m_found, objects);
    });
  }

  void measure_published(topk_peer& p) const {
    published_query<Score> query(m_exec, m_lists, m_found, m_weights,
                                 m_run.parameters.published_stride);
    p.threads = m_exec.concurrency();
    repeat_query(p, [&] { return query(); });
  }

  /// Measures a query whose answer is complete when it returns. A long one is measured once,
  /// without a warm-up.
  template <class Query>
  void repeat_query(topk_peer& p, Query const& query) const {
    constexpr double long_seconds = 2;
    sequential_answer answer;
    for (int r = -1; r < m_run.parameters.repetitions; ++r) {  // starts with a warm-up
      Kokkos::Timer const clock;
      answer = query();
      double const seconds = clock.seconds();
      if (r >= 0 || seconds > long_seconds) p.time.seconds.push_back(seconds);
      if (seconds > long_seconds) break;
    }
    measure_energy(p, query);
    p.depth_growing = answer.depth_growing;
    p.depth = answer.depth;
    p.candidates = answer.candidates;
    p.wrong = wrong(answer.ids, std::numeric_limits<double>::epsilon());
  }

  template <class Query>
  void measure_energy(topk_peer& p, Query const& query) const {
    if (!m_run.parameters.energy) return;
    p.energy = energy_of(m_exec, m_run.parameters.energy_seconds, [&](auto const&) {
      query();
      m_exec.fence("karpos::perf: energy of queries");
    });
  }

  space m_exec;
  topk_run const& m_run;
  score_lists<Score> const& m_lists;
  std::vector<double> m_weights;
  expected_answer<Score> const& m_expected;
  range_of_scores m_range;
  std::uint64_t m_found;
};

}  // namespace karpos::perf
