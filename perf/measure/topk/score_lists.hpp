// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/build_sorted_lists.hpp>
#include <karpos/sorted_lists.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "perf/measure/support/space.hpp"
#include "perf/measure/support/stopwatch.hpp"
#include "perf/measure/topk/parameters.hpp"
#include "perf/measure/topk/score_generators.hpp"

namespace karpos::perf {

/// Scores before they are in the driver's memory.
struct score_source {
  stopwatch clock;  ///< started before the scores were opened
  std::variant<score_spec, score_file> content;
};

/// The scores of all objects in all lists, [objects][lists], stored list by list; NaN: missing.
template <class Score>
struct score_table {
  using view = Kokkos::View<Score**, Kokkos::LayoutLeft, memory>;
  view scores;
  typename view::host_mirror_type host;
  std::uint64_t entries = 0;

  bool complete() const { return entries == scores.size(); }
};

template <class Score>
score_table<Score> table_of(space const& exec, score_spec const& spec) {
  score_table<Score> t;
  t.scores = generate_scores<Score>(exec, spec);
  t.host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), t.scores);
  t.entries = t.scores.size();
  return t;
}

template <class Score>
score_table<Score> table_of(space const& exec, score_file const& file) {
  score_table<Score> t;
  t.scores = typename score_table<Score>::view("scores", file.ids.size(), file.attributes.size());
  t.host = Kokkos::create_mirror_view(t.scores);
  for (std::size_t i = 0; i < t.host.extent(1); ++i)
    for (std::size_t object = 0; object < t.host.extent(0); ++object) {
      t.host(object, i) = static_cast<Score>(file(object, i));
      t.entries += !std::isnan(file(object, i));
    }
  Kokkos::deep_copy(exec, t.scores, t.host);
  exec.fence("karpos::perf: scores");
  return t;
}

template <class Score>
using score_lists = sorted_lists<std::uint32_t, Score, memory>;

/// Sorts lists of different lengths on the host.
template <class Score>
score_lists<Score> sorted_on_host(space const& exec, score_table<Score> const& t) {
  std::size_t const lists = t.host.extent(1), objects = t.host.extent(0);
  auto const ids = make_array<std::uint32_t>("ids of lists", t.entries);
  auto const scores = make_array<Score>("scores of lists", t.entries);
  auto const host_ids = Kokkos::create_mirror_view(ids);
  auto const host_scores = Kokkos::create_mirror_view(scores);
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> const offsets("ends of lists", lists + 1);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < lists; ++i) {
    std::vector<std::pair<Score, std::uint32_t>> list;
    for (std::size_t object = 0; object < objects; ++object)
      if (!std::isnan(t.host(object, i)))
        list.emplace_back(t.host(object, i), static_cast<std::uint32_t>(object));
    std::stable_sort(list.begin(), list.end(),
                     [](auto const& a, auto const& b) { return a.first > b.first; });
    for (auto const& [score, id] : list) {
      host_ids(at) = id;
      host_scores(at++) = score;
    }
    offsets(i + 1) = at;
  }
  Kokkos::deep_copy(exec, ids, host_ids);
  Kokkos::deep_copy(exec, scores, host_scores);
  exec.fence("karpos::perf: sorted lists");
  return score_lists<Score>(ids, scores, offsets).dense(objects);
}

template <class Score>
score_lists<Score> sorted(space const& exec, score_table<Score> const& t) {
  return t.complete() ? build_sorted_lists(exec, t.scores) : sorted_on_host(exec, t);
}

}  // namespace karpos::perf
