// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "karpos/detail/ranking/top_k/plan.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/sorted_lists.hpp"

// NRA in strides, over score vectors. Every object seen has its vector of scores. Every candidate
// has a lower and an upper bound in double, computed anew after every stride, with a kernel for
// each step. It accepts any monotone aggregate and any scores; for weighted sums, a query over
// accumulators is faster.

namespace karpos::detail::top_k {

template <class Id, class Score>
struct nra_state : nra_arrays<Id, Score> {
  using id = Id;
  using score = Score;
  sorted_lists_ref<Id, Score> lists;
  id_table<Id> ids;
};

template <class State>
struct bound_unseen_scores {
  State s;
  std::uint64_t depth;
  double missing_score;

  KOKKOS_FUNCTION void operator()(std::uint64_t list) const {
    int const i = static_cast<int>(list);
    auto const& l = s.lists[i];
    double lower = missing_score, upper = missing_score;
    if (depth < l.length) {
      double const last = l.scores[l.length - 1];
      double const last_read = depth == 0 ? HUGE_VAL : l.scores[depth - 1];
      bool const has_all = s.lists.has_all(i);
      lower = has_all ? last : Kokkos::min(last, missing_score);
      upper = has_all ? last_read : Kokkos::max(last_read, missing_score);
    }
    s.words->unseen.lower[i] = lower;
    s.words->unseen.upper[i] = upper;
  }
};

/// Reads the levels [begin, end). Growing: objects seen for the first time become candidates.
/// Otherwise only scores of candidates are stored.
template <class State>
struct read_levels {
  State s;
  std::uint64_t begin, end;
  bool growing;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const list = static_cast<int>(i / (end - begin));
    std::uint64_t const p = begin + i % (end - begin);
    auto const& l = s.lists[list];
    if (p >= l.length) return;
    std::uint64_t const slot = growing ? s.ids.insert(l.ids[p]) : s.ids.find(l.ids[p]);
    if (slot == no_slot) {
      if (growing) device::store_relaxed(&s.words->out_of_range, 1u);
      return;
    }
    std::uint32_t const bit = std::uint32_t(1) << (slot % 32);
    std::uint32_t* const word = s.visited + slot / 32;
    if (growing) {
      if ((device::fetch_or(word, bit) & bit) == 0) append(static_cast<std::uint32_t>(slot));
    } else if ((device::load_relaxed(word) & bit) == 0) {
      return;
    }
    s.score_vectors[slot * static_cast<std::uint64_t>(s.lists.lists) +
                    static_cast<std::uint64_t>(list)] = l.scores[p];
  }

 private:
  KOKKOS_FUNCTION void append(std::uint32_t slot) const {
    std::uint32_t const at = device::fetch_add(&s.words->candidates, 1);
    if (at < s.max_candidates)
      s.candidates[0][at] = slot;
    else
      device::store_relaxed(&s.words->out_of_range, 1u);
  }
};

/// Computes the lower and upper bound of each candidate: the aggregate of its score vector,
/// completed by the bounds of the lists in which it was not seen.
template <class State, class Aggregate>
struct bound_candidates {
  State s;
  Aggregate aggregate;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    int const n = s.lists.lists;
    auto const* const scores = s.score_vectors + s.candidates[0][c] * static_cast<std::uint64_t>(n);
    double lower[max_lists] = {}, upper[max_lists] = {};
    for (int i = 0; i < n; ++i) {
      auto const seen = static_cast<double>(scores[i]);
      bool const known = seen == seen;
      lower[i] = known ? seen : s.words->unseen.lower[i];
      upper[i] = known ? seen : s.words->unseen.upper[i];
    }
    s.lower[c] = aggregate(lower, n);
    s.upper[c] = aggregate(upper, n);
  }
};

/// Counts of candidates by how their bounds compare to the threshold, the k-th largest lower bound.
struct candidate_counts {
  std::uint64_t above = 0;       // lower bound above: among the first k
  std::uint64_t equal = 0;       // lower bound equal, upper bound above
  std::uint64_t below = 0;       // lower bound below, upper bound above
  std::uint64_t incomplete = 0;  // upper bound not below, and the bounds differ

  KOKKOS_FUNCTION candidate_counts& operator+=(candidate_counts const& o) {
    above += o.above;
    equal += o.equal;
    below += o.below;
    incomplete += o.incomplete;
    return *this;
  }
};

struct count_candidates {
  double const *lower, *upper;
  double threshold;

  KOKKOS_FUNCTION void operator()(std::uint64_t c, candidate_counts& sum) const {
    bool const may_be_above = upper[c] > threshold;
    sum.above += lower[c] > threshold;
    sum.equal += lower[c] == threshold && may_be_above;
    sum.below += lower[c] < threshold && may_be_above;
    sum.incomplete += upper[c] >= threshold && lower[c] != upper[c];
  }
};

/// Keeps the candidates whose upper bound is not below the threshold, and clears the bits of the
/// others.
template <class State>
struct keep_candidates {
  State s;
  double threshold;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const slot = s.candidates[0][c];
    if (s.upper[c] >= threshold)
      s.candidates[1][device::fetch_add(&s.words->candidates, 1)] = slot;
    else
      device::clear_bits(s.visited + slot / 32, std::uint32_t(1) << (slot % 32));
  }
};

template <class State>
struct list_ranked {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const slot = s.candidates[0][c];
    s.ranked[c] = {s.lower[c], s.upper[c], s.ids.id_at(slot), slot};
  }
};

/// Makes the first ranked objects the only candidates.
template <class State>
struct select_finalists {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint32_t const slot = s.ranked[i].slot;
    s.candidates[0][i] = slot;
    device::set_bits(s.visited + slot / 32, std::uint32_t(1) << (slot % 32));
  }
};

template <class ExecSpace, class Lists, class Aggregate>
class nra_query {
 public:
  using id = typename Lists::id_type;
  using score = typename Lists::score_type;
  using memory = nra_memory<ExecSpace, Lists>;
  using tuned = tuning<ExecSpace>;

  nra_query(ExecSpace const& exec, memory const& m, Lists const& lists, std::uint64_t k,
            top_k_options<Aggregate> const& options)
      : m_exec(exec),
        m_lists(lists),
        m_k(k),
        m_options(options),
        m_state{m.arrays,
                lists.ref(),
                {lists.is_dense() ? lists.objects() : m.arrays.slots,
                 lists.is_dense() ? nullptr : m.arrays.keys}} {}

  /// Runs the query, and adds its reads to the report.
  void run(results<id> const& to, top_k_report& report) {
    report.bailed_out = false;
    start();
    grow(report);
    require_in_range(read_words().out_of_range == 0, m_lists);
    report.depth_growing = m_depth;
    report.candidates = m_candidates;
    if (m_candidates > m_k) shrink(report);
    report.depth = m_depth;
    report.found = Kokkos::min(m_candidates, m_k);
    sort_candidates();
    if (m_options.result == top_k_result::exact) complete(report);
    write_ranks(m_exec, m_state.ranked, report.found, to);
  }

 private:
  bool exhausted() const { return m_depth >= m_lists.longest(); }
  bool smallest_id() const { return m_options.ties == top_k_ties::smallest_id; }

  void start() {
    auto const& s = m_state;
    auto const n = static_cast<std::uint64_t>(m_lists.lists());
    fill_words("karpos::top_k::score_vectors", m_exec, s.score_vectors, s.slots * n, ~0u);  // NaN
    fill_words("karpos::top_k::visited", m_exec, s.visited, s.bitmap_words, 0);
    fill_words("karpos::top_k::words", m_exec, s.words, 1, 0);
    if (s.ids.keys != nullptr) fill_words("karpos::top_k::keys", m_exec, s.keys, s.slots, ~0u);
  }

  /// Reads strides until the threshold reaches the upper bound of an unseen object.
  void grow(top_k_report& report) {
    bool growing = true;
    while (!exhausted() && growing) {
      read(true, report);
      nra_words const now = compute_bounds();
      if (m_candidates < m_k) continue;
      double const threshold = kth_lower_bound();
      double const unseen_upper = m_options.aggregate(now.unseen.upper, m_lists.lists());
      growing = smallest_id() ? !(threshold > unseen_upper) : !(threshold >= unseen_upper);
    }
  }

  /// Reads strides until the bounds separate the first k from the other candidates.
  void shrink(top_k_report& report) {
    for (;;) {
      double const threshold = kth_lower_bound();
      candidate_counts const now = count(threshold);
      std::uint64_t const remaining = m_k - now.above;
      bool const separated =
          smallest_id() ? now.incomplete == 0 : now.below == 0 && now.equal <= remaining;
      fill_words("karpos::top_k::words", m_exec, &m_state.words->candidates, 1, 0);
      device::loop_over("karpos::top_k::keep_candidates", m_exec, m_candidates,
                        keep_candidates<state>{m_state, threshold});
      m_candidates = read_words().candidates;
      std::swap(m_state.candidates[0], m_state.candidates[1]);
      compute_bounds();
      if (separated || exhausted() || m_candidates == m_k) return;
      read(false, report);
      compute_bounds();
    }
  }

  /// Reads strides until the scores of the first k objects, which are known, are complete.
  void complete(top_k_report& report) {
    m_candidates = report.finalists = report.found;
    fill_words("karpos::top_k::visited", m_exec, m_state.visited, m_state.bitmap_words, 0);
    device::loop_over("karpos::top_k::select_finalists", m_exec, m_candidates,
                      select_finalists<state>{m_state});
    for (;;) {
      compute_bounds();
      if (count(-HUGE_VAL).incomplete == 0 || exhausted()) break;
      read(false, report);
      report.depth_completing = m_depth;
    }
    sort_candidates();
  }

  void read(bool growing, top_k_report& report) {
    std::uint64_t const end = Kokkos::min(m_depth + stride(), m_lists.longest());
    auto const n = static_cast<std::uint64_t>(m_lists.lists());
    device::loop_over("karpos::top_k::read_levels", m_exec, (end - m_depth) * n,
                      read_levels<state>{m_state, m_depth, end, growing});
    for (int i = 0; i < m_lists.lists(); ++i) {
      std::uint64_t const length = m_lists.length(i);
      std::uint64_t const read = Kokkos::min(end, length) - Kokkos::min(m_depth, length);
      report.entries += read;
      report.bytes += read * (sizeof(id) + sizeof(score));
    }
    ++report.strides;
    m_depth = end;
    if (growing)
      m_candidates = Kokkos::min<std::uint64_t>(read_words().candidates, m_state.max_candidates);
  }
  std::uint64_t stride() const {
    auto const& policy = m_options.stride;
    std::uint64_t const left = m_lists.longest() - m_depth;
    if (policy.is_fixed()) return Kokkos::min(policy.levels(), left);
    auto const& strides = policy.strides();
    if (m_depth == 0)
      return Kokkos::min(strides.first > 0 ? strides.first : tuned::nra_first_stride, left);
    double const growth = strides.growth > 0 ? strides.growth : tuned::growth;
    auto const levels = static_cast<std::uint64_t>(static_cast<double>(m_depth) * (growth - 1));
    return Kokkos::min(Kokkos::max(levels, tuned::nra_min_stride), left);
  }

  /// Computes the bounds of all candidates at this depth. Returns: the words, with the bounds of
  /// unseen scores.
  nra_words compute_bounds() {
    device::loop_over("karpos::top_k::bound_unseen_scores", m_exec,
                      static_cast<std::uint64_t>(m_lists.lists()),
                      bound_unseen_scores<state>{m_state, m_depth, m_options.missing_score});
    device::loop_over("karpos::top_k::bound_candidates", m_exec, m_candidates,
                      bound_candidates<state, device::held_by_loop<ExecSpace, Aggregate>>{
                          m_state, device::for_loop<ExecSpace>(m_options.aggregate)});
    return read_words();
  }

  /// Returns the threshold. Fixed strides sort all candidates, as the published scheme does;
  /// adaptive strides select the k-th instead, on CPUs.
  double kth_lower_bound() {
    double* const kth = m_state.sorted + (m_candidates - m_k);
    if constexpr (tuned::sorts_on_one_thread) {
      m_exec.fence("karpos::top_k: bounds");
      double* const begin = m_state.sorted;
      std::copy_n(m_state.lower, m_candidates, begin);
      if (m_options.stride.is_fixed())
        std::sort(begin, begin + m_candidates);
      else
        std::nth_element(begin, kth, begin + m_candidates);
    } else {
      auto const sorted = unmanaged<ExecSpace>(m_state.sorted, m_candidates);
      Kokkos::deep_copy(m_exec, sorted, unmanaged<ExecSpace>(m_state.lower, m_candidates));
      Kokkos::sort(m_exec, sorted);
    }
    return read_back(m_exec, kth, "karpos::top_k: threshold");
  }

  candidate_counts count(double threshold) {
    return device::reduce_over<Kokkos::Sum<candidate_counts>>(
        "karpos::top_k::count_candidates", m_exec, m_candidates,
        count_candidates{m_state.lower, m_state.upper, threshold});
  }
  /// Sorts the candidates by their bounds.
  void sort_candidates() {
    device::loop_over("karpos::top_k::list_ranked", m_exec, m_candidates,
                      list_ranked<state>{m_state});
    sort_by_rank(m_exec, m_state.ranked, m_candidates);
  }

  using state = nra_state<id, score>;
  nra_words read_words() const { return read_back(m_exec, m_state.words, "karpos::top_k: words"); }

  ExecSpace m_exec;
  Lists m_lists;
  std::uint64_t m_k;
  top_k_options<Aggregate> m_options;
  state m_state;
  std::uint64_t m_depth = 0, m_candidates = 0;
};

/// Runs a query over score vectors, whose memory the first one allocates. Blocks.
template <class ExecSpace, class Lists, class Aggregate>
void run_nra_query(ExecSpace const& exec, query_memory<ExecSpace, Lists>& memory,
                   Lists const& lists, std::uint64_t k, results<typename Lists::id_type> const& to,
                   top_k_options<Aggregate> const& options, top_k_report& report) {
  using vectors = nra_memory<ExecSpace, Lists>;
  if (!memory.vectors.is_allocated()) memory.vectors = vectors(exec, memory.sizes);
  nra_query<ExecSpace, Lists, Aggregate> nra(exec, memory.vectors, lists, k, options);
  nra.run(to, report);
}

}  // namespace karpos::detail::top_k

namespace Kokkos {
template <>
struct reduction_identity<karpos::detail::top_k::candidate_counts> {
  KARPOS_STEP_FUNCTION static karpos::detail::top_k::candidate_counts sum() { return {}; }
};
}  // namespace Kokkos
