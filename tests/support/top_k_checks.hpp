// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of the answers and reports of ranked queries against the oracle.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/top_k_oracle.hpp"
#include "support/top_k_subject.hpp"

namespace karpos_test {

inline std::string print_exactly(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

template <class Aggregate>
std::string print(karpos::top_k_options<Aggregate> const& o) {
  static char const* const bail_outs[] = {"", ", never bails out", ", bails out at once"};
  static char const* const drivers[] = {"", ", launches", ", cooperative"};
  auto const& s = o.stride.strides();
  std::string text = o.result == karpos::top_k_result::exact ? "exact" : "set";
  if (o.ties == karpos::top_k_ties::smallest_id) text += ", smallest ids";
  if (o.missing_score != 0) text += ", missing " + print_exactly(o.missing_score);
  if (o.stride.is_fixed())
    text += ", fixed " + std::to_string(o.stride.levels());
  else if (s.growth != 0 || s.first != 0)
    text += ", strides x" + print_exactly(s.growth) + " from " + std::to_string(s.first);
  if constexpr (std::is_same_v<Aggregate, karpos::weighted_sum>)
    for (int i = 0; i < o.aggregate.count(); ++i)
      text += (i == 0 ? ", weights " : " ") + print_exactly(o.aggregate.weight(i));
  return text + (o.validate ? ", validated" : "") + bail_outs[static_cast<int>(o.bail_out)] +
         drivers[static_cast<int>(o.driver)];
}

/// Checks what holds of every report.
template <class Lists, class Options>
void check_report(std::string const& what, Lists const& lists, std::uint64_t objects,
                  std::uint64_t k, Options const& o, karpos::top_k_report const& r) {
  std::uint64_t const all = lists.entries(), longest = lists.longest();
  same(what + ": found", r.found, k < objects ? k : objects);
  if (k == 0) same(what + ": reads nothing", r.entries + r.bytes + r.depth + r.depth_growing, 0);
  bool const in_order = r.bailed_out || r.depth_growing <= r.depth;
  if (!in_order || r.depth_growing > longest || r.depth > longest || r.depth_completing > longest)
    holds(what + ": depths " + std::to_string(r.depth_growing) + ", " + std::to_string(r.depth) +
              ", " + std::to_string(r.depth_completing) + " of " + std::to_string(longest),
          false);
  if (r.candidates > objects || r.finalists > objects)
    holds(what + ": " + std::to_string(r.candidates) + " candidates and " +
              std::to_string(r.finalists) + " finalists of " + std::to_string(objects),
          false);
  std::uint64_t const entry = lists.bytes_for(1);
  if (r.entries > 2 * all || r.bytes < r.entries * sizeof(typename Lists::id_type) ||
      r.bytes > 2 * all * entry)
    holds(what + ": reads " + std::to_string(r.entries) + " entries, " + std::to_string(r.bytes) +
              " bytes; lists have " + std::to_string(all),
          false);
  if (o.bail_out == karpos::top_k_bail_out::never)
    holds(what + ": does not bail out", !r.bailed_out);
}

/// Describes the first rank at which an answer is wrong; empty if the answer is right.
template <class Id, class Out>
std::string first_wrong(host_ranking<Id> const& right, std::size_t found, bool exact,
                        bool smallest_id, std::vector<Id> const& ids,
                        std::vector<Out> const& scores) {
  std::vector<double> true_scores;
  auto const at = [&](std::size_t r, char const* problem) {
    return "rank " + std::to_string(r) + " has id " + std::to_string(ids[r]) +
           (scores.empty() || !exact ? "" : ", score " + print_exactly(scores[r])) + ": " +
           problem + "; right is id " + std::to_string(right.ranked[r].id) + ", score " +
           print_exactly(right.ranked[r].score);
  };
  for (std::size_t r = 0; r < found; ++r) {
    auto const* const e = right.find(ids[r]);
    if (e == nullptr) return at(r, "no object");
    true_scores.push_back(e->score);
    if (!exact) continue;
    if (!scores.empty() && scores[r] != static_cast<Out>(e->score))
      return at(r, ("the object has " + print_exactly(e->score)).c_str());
    if (e->score != right.ranked[r].score) return at(r, "another score");
    if (smallest_id && ids[r] != right.ranked[r].id) return at(r, "another id");
  }
  auto sorted = std::vector<Id>(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(found));
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return "an id comes twice";
  std::sort(true_scores.begin(), true_scores.end(), std::greater<>());
  for (std::size_t r = 0; r < found; ++r)
    if (true_scores[r] != right.ranked[r].score)
      return "of the set, score " + std::to_string(r) + " is " + print_exactly(true_scores[r]) +
             " instead of " + print_exactly(right.ranked[r].score);
  if (!smallest_id) return {};
  for (std::size_t r = 0; r < found; ++r)
    if (!std::binary_search(sorted.begin(), sorted.end(), right.ranked[r].id))
      return "id " + std::to_string(right.ranked[r].id) + " of rank " + std::to_string(r) +
             " is missing";
  return {};
}

/// Compares an answer with the oracle.
template <class Lists, class Id, class Options, class Out>
void check_answer(std::string const& what, Lists const& lists, host_ranking<Id> const& right,
                  std::uint64_t k, Options const& o, top_k_answer<Id, Out> const& a) {
  std::size_t const objects = right.ranked.size(), found = k < objects ? k : objects;
  bool const exact = o.result == karpos::top_k_result::exact;
  check_report(what, lists, objects, k, o, a.report);
  std::string const wrong =
      first_wrong(right, found, exact, o.ties == karpos::top_k_ties::smallest_id, a.ids, a.scores);
  if (!wrong.empty()) holds(what + ": " + wrong, false);
  std::size_t ids = 0, scores = 0;
  for (std::size_t r = found; r < a.ids.size(); ++r) ids += a.ids[r] != Id(untouched);
  for (std::size_t r = exact ? found : 0; r < a.scores.size(); ++r)
    scores += a.scores[r] != Out(untouched);
  if (ids > 0) same(what + ": ids written after the answer", ids, 0);
  if (scores > 0) same(what + ": scores written that are no part of the answer", scores, 0);
}

/// Returns every choice of options that must not change an answer, with both kinds of result and
/// both rules for ties.
template <class Aggregate = karpos::weighted_sum>
std::vector<karpos::top_k_options<Aggregate>> every_option(
    karpos::top_k_options<Aggregate> const& base = {}) {
  using policy = karpos::stride_policy;
  std::vector<karpos::launch_mode> drivers{karpos::launch_mode::automatic,
                                           karpos::launch_mode::kernel_per_step};
  if (karpos::device::has_grid_barrier<space>)
    drivers.push_back(karpos::launch_mode::persistent_kernel);
  std::vector<karpos::top_k_options<Aggregate>> all;
  for (unsigned bits = 0; bits < 4; ++bits)
    for (policy const& stride :
         {policy{}, policy(policy::adaptive{1.2, 1.1, 1}), policy(policy::adaptive{4, 3, 2}),
          policy(policy::fixed{1}), policy(policy::fixed{7}), policy(policy::fixed{100})})
      for (auto const bail_out : {karpos::top_k_bail_out::automatic, karpos::top_k_bail_out::never,
                                  karpos::top_k_bail_out::at_once})
        for (auto const driver : drivers) {
          auto o = base;
          o.result = (bits & 1) != 0 ? karpos::top_k_result::set : karpos::top_k_result::exact;
          o.ties = (bits & 2) != 0 ? karpos::top_k_ties::smallest_id : karpos::top_k_ties::any;
          o.stride = stride;
          o.bail_out = bail_out;
          o.driver = driver;
          all.push_back(o);
        }
  return all;
}

/// Runs a query with these options and compares its answer with the oracle.
template <class Subject, class Id = typename Subject::id_type>
typename Subject::answer_type check_query(std::string const& name, Subject& subject,
                                          host_ranking<Id> const& right, std::uint64_t k,
                                          typename Subject::options_type const& o,
                                          bool scores = true) {
  std::string const what =
      name + ", k " + std::to_string(k) + ", " + print(o) + (scores ? "" : ", no scores");
  INFO(what);  // names a query that throws
  auto a = subject.query(k, o, scores);
  check_answer(what, subject.lists(), right, k, o, a);
  return a;
}

}  // namespace karpos_test
