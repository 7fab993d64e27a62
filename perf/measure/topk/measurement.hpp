// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/top_k.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "perf/measure/support/text.hpp"
#include "perf/measure/support/timer.hpp"
#include "perf/measure/topk/expected_answer.hpp"
#include "perf/measure/topk/measure.hpp"
#include "perf/measure/topk/peers.hpp"

namespace karpos::perf {

/// Measures repetitions of one query, and its peers.
template <class Score>
class topk_measurement {
 public:
  topk_measurement(topk_parameters const& p, reporter const& report)
      : m_report(report),
        m_timer(m_exec) {
    m_run.parameters = p;
    m_run.scores = p.scores;
    m_run.score_bytes = sizeof(Score);
  }

  topk_run operator()(score_source source) {
    load(std::move(source));
    require_weights();
    if (m_run.objects == 0) return std::move(m_run);  // the file has only a header
    reverse_lists();
    sort();
    if (parameters().aggregate == "min")
      query(min_score());
    else if (parameters().aggregate == "max")
      query(max_score());
    else
      query(weights_are_one() ? weighted_sum() : weighted_sum(m_weights));
    return std::move(m_run);
  }

 private:
  using lists_type = score_lists<Score>;

  topk_parameters const& parameters() const { return m_run.parameters; }

  void load(score_source source) {
    m_report(0.4, "scores");
    m_table = std::visit([&](auto const& s) { return table_of<Score>(m_exec, s); }, source.content);
    if (auto* const file = std::get_if<score_file>(&source.content)) {
      m_ids = std::move(file->ids);
      m_run.attributes = std::move(file->attributes);
      m_run.without_scores = file->without_scores;
    } else {
      m_run.scores = to_string(std::get<score_spec>(source.content));
      m_run.generated = true;
      for (std::size_t i = 1; i <= m_table.scores.extent(1); ++i)
        m_run.attributes.push_back("list " + std::to_string(i));
    }
    m_run.objects = m_table.scores.extent(0);
    m_run.entries = m_table.entries;
    m_run.load_seconds = source.clock.seconds();
  }

  void require_weights() {
    std::size_t const lists = m_run.attributes.size();
    m_weights = parameters().weights;
    if (!m_weights.empty() && m_weights.size() != lists)
      detail::reject("--weights does not fit the scores",
                     counted(m_weights.size(), "weight", "weights") + " for " +
                         counted(lists, "list", "lists"),
                     "write one for each list, or none");
    if (m_weights.empty()) m_weights.assign(lists, 1);
  }
  /// Makes all weights non-negative: a list with a negative weight changes the sign of its scores
  /// and of its weight, since sorted lists begin with the best scores.
  void reverse_lists() {
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
      if (!is_reversed(i)) continue;
      m_weights[i] = -m_weights[i];
      auto const host = Kokkos::subview(m_table.host, Kokkos::ALL, i);
      for (std::size_t object = 0; object < m_run.objects; ++object) host(object) = -host(object);
      Kokkos::deep_copy(m_exec, Kokkos::subview(m_table.scores, Kokkos::ALL, i), host);
    }
    m_exec.fence("karpos::perf: reversed lists");
  }
  bool is_reversed(std::size_t list) const {
    return !parameters().weights.empty() && parameters().weights[list] < 0;
  }

  bool weights_are_one() const {
    return std::all_of(m_weights.begin(), m_weights.end(), [](double w) { return w == 1; });
  }

  void sort() {
    m_report(0.5, "sorted lists");
    Kokkos::Timer const clock;
    m_lists = sorted(m_exec, m_table);
    m_exec.fence("karpos::perf: sorted lists");
    m_run.sort_seconds = clock.seconds();
  }

  template <class Aggregate>
  void query(Aggregate const& aggregate) {
    topk_parameters const& p = parameters();
    top_k_options<Aggregate> options;
    options.aggregate = aggregate;
    options.result = p.result;
    options.ties = p.ties;
    options.missing_score = p.missing;
    options.stride = p.stride;
    options.bail_out = p.bail_out;
    options.validate = options.validate || p.validate;
    measure(options);
    m_report(0.8, "brute force");
    expected_answer<Score> const expected(m_table.host, aggregate, p.missing, p.k);
    check(expected);
    typename topk_peers<Score>::range_of_scores const range = weighted_range();
    topk_peers<Score> const peers(m_exec, m_run, m_lists, m_weights, expected, range);
    for (std::string const& name : p.peers) {
      m_report(0.9, name);
      m_run.peers.push_back(peers.measure(name));
    }
    if (p.published_stride == 0) return;
    m_report(0.95, "published scheme");
    m_run.peers.push_back(peers.measure("published"));
  }

  template <class Aggregate>
  void measure(top_k_options<Aggregate> const& options) {
    std::uint64_t const k = std::min(parameters().k, m_run.objects);
    auto const ids = make_array<std::uint32_t>("ids of a query", k);
    auto const scores =
        make_array<double>("scores of a query", options.result == top_k_result::exact ? k : 0);
    m_report(0.6, "workspace");
    m_exec.fence("karpos::perf: before the workspace");
    Kokkos::Timer const clock;
    top_k_workspace<space, lists_type, Aggregate> workspace(m_exec, m_lists, k);
    m_exec.fence("karpos::perf: workspace");
    m_run.prepare_seconds = clock.seconds();
    m_run.workspace_bytes = top_k_workspace_bytes<Aggregate>(m_exec, m_lists, k);
    m_report(0.7, "queries");
    auto const query = [&] {
      m_run.report = top_k(m_exec, workspace, m_lists, k, ids, scores, options);
    };
    m_run.time = m_timer.repeat(
        parameters().repetitions, [] {}, query);
    m_exec.fence("karpos::perf: query");
    if (parameters().energy)
      m_run.energy = energy_of(m_exec, parameters().energy_seconds, [&](auto const&) {
        query();
        m_exec.fence("karpos::perf: energy of queries");
      });
    copy_answer(ids, scores);
  }

  void copy_answer(array<std::uint32_t> const& ids, array<double> const& scores) {
    auto const host_ids = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ids);
    auto const host_scores = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scores);
    std::uint64_t const found = std::min<std::uint64_t>(m_run.report.found, ids.extent(0));
    m_answer.assign(host_ids.data(), host_ids.data() + found);
    if (parameters().result == top_k_result::exact)
      m_scores.assign(host_scores.data(), host_scores.data() + found);
    else
      std::sort(m_answer.begin(), m_answer.end());
    for (std::size_t r = 0; r < found; ++r) m_run.rows.push_back(row(r));
  }

  topk_row row(std::size_t rank) const {
    std::uint32_t const id = m_answer[rank];
    topk_row r;
    if (!m_scores.empty()) r.score = m_scores[rank];
    r.id = id < m_ids.size() ? m_ids[id] : std::to_string(id);
    if (id < m_run.objects)
      for (std::size_t i = 0; i < m_table.host.extent(1); ++i)
        r.scores.push_back(
            static_cast<double>(is_reversed(i) ? -m_table.host(id, i) : m_table.host(id, i)));
    return r;
  }

  void check(expected_answer<Score> const& expected) {
    // The device may round products at other places than the host.
    auto const range = weighted_range();
    double const largest = std::max(std::fabs(range.least), std::fabs(range.largest));
    bool const alike = parameters().aggregate != "sum" || weights_are_one();
    double const tolerance =
        alike || !std::isfinite(largest)
            ? 0
            : expected.rounding(std::numeric_limits<double>::epsilon(), largest);
    bool const ordered = parameters().result == top_k_result::exact;
    std::uint64_t wrong = ordered ? expected.wrong_ranking(m_answer, tolerance)
                                  : expected.wrong_set(m_answer, tolerance);
    if (ordered) wrong += expected.wrong_scores(m_answer, m_scores, tolerance);
    if (parameters().ties == top_k_ties::smallest_id && tolerance == 0)
      wrong += expected.wrong_ties(m_answer, ordered);
    m_run.answer_wrong = wrong;
  }

  auto weighted_range() const {
    typename topk_peers<Score>::range_of_scores range;
    for (std::size_t i = 0; i < m_table.host.extent(1); ++i)
      for (std::size_t object = 0; object < m_run.objects; ++object) {
        double const s = m_weights[i] * static_cast<double>(m_table.host(object, i));
        if (s < range.least) range.least = s;  // false for NaN
        if (s > range.largest) range.largest = s;
      }
    return range;
  }

  topk_run m_run;
  reporter const& m_report;
  space m_exec;
  timer<space> m_timer;
  score_table<Score> m_table;
  lists_type m_lists;
  std::vector<double> m_weights;
  std::vector<std::string> m_ids;  // set for a file
  std::vector<std::uint32_t> m_answer;
  std::vector<double> m_scores;
};

template <class Score>
topk_run measure_topk(topk_parameters const& p, score_source source, reporter const& report) {
  return topk_measurement<Score>(p, report)(std::move(source));
}

}  // namespace karpos::perf
