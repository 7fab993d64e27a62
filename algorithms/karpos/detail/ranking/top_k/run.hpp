// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "karpos/detail/ranking/top_k/completion.hpp"
#include "karpos/detail/ranking/top_k/growing_phase.hpp"
#include "karpos/detail/ranking/top_k/plan.hpp"
#include "karpos/detail/ranking/top_k/shrinking_phase.hpp"
#include "karpos/device/program.hpp"

// A query over accumulators (state.hpp), phase by phase. A stride is the batch of levels that
// it reads between two computations of bounds.
//
//   list 0         | id score | … | id score | … |      level d has the d-th entry of each list
//   list 1         | id score | … | id score | … |
//                  | stride 0     | stride 1     |
//   accumulators   | sum, lists seen | … |              by slot (objects.hpp), with a bit for each
//                                                       candidate
//   histogram      of the partial sums; gives the threshold, a lower bound of the k-th largest one
//
//   choose_unit
//   growing      (accumulate, find_threshold)*: adds every entry of a stride; every object seen is
//                a candidate. Ends when the threshold reaches the upper bound of an unseen object
//   list_candidates   or, if they are too many, full aggregation: accumulate_rest,
//                     count_lower_bounds, find_threshold, list_candidates
//   shrinking    (read_candidates, count_lower_bounds, find_threshold, filter_candidates)*: adds
//                the candidates' scores only, and drops those whose upper bound is not above the
//                threshold. Leaves k candidates or, if fixed point cannot separate more, finalists
//   completion   write_set, or number_finalists, read_candidates*, aggregate_finalists,
//                write_ranked: ranks the finalists by their aggregates in double
//   reset        clears the accumulators for the next query
// Tests: top_k_*.

namespace karpos::detail::top_k {

using device::make_step;

template <class State>
struct query_program {
  static constexpr char const* label = "karpos::top_k::query";
  using shared = query_progress;
  using progress = query_progress;
  using base = typename State::base;

  State s;
  query_plan plan;

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Grid& grid, progress& p) const {
    grid.run(make_step<choose_unit>(grid, common()), [&] { begin(grid, p); });
    if (p.needs_fallback) return;
    while (p.growing) {
      grid.run(
          make_step<accumulate_counted>(grid, s, p, add_all_but_last<accumulate_counted>(grid, p)),
          [] {});
      grid.run(make_step<find_threshold>(grid, s, p, false), [&] { end_growing_stride(grid, p); });
    }
    do {
      if (has_unread_levels(p))
        grid.run(make_step<accumulate_rest>(grid, s, p, add_all_but_last<accumulate_rest>(grid, p)),
                 [&] { p.growing_depth = p.begin = p.depth; });
      if (p.depth == s.lists.longest) {
        constexpr std::uint64_t divisor = State::tuned::slot_sample_divisor;
        raise_threshold(grid, p, (s.ids.slots + divisor - 1) / divisor);
        if (!State::tuned::lists_by_slot_sample || p.candidates_listed)
          raise_threshold(grid, p, s.ids.slots);
      }
      grid.run(make_step<list_candidates>(grid, s, p), [&] { begin_shrinking(grid, p); });
    } while (has_unread_levels(p) || p.must_relist);
    while (p.shrinking) {
      if (p.begin < p.depth) grid.run(make_step<read_candidates>(grid, s, p, false), [] {});
      raise_threshold(grid, p, 0);
      grid.run(make_step<filter_candidates>(grid, s, p), [&] { end_shrinking_stride(grid, p); });
    }
    if (!p.needs_fallback) complete(grid, p);
    grid.run(make_step<reset>(grid, s, p), [&] { record(grid, p); });
  }

 private:
  /// Returns the part of the state that does not depend on the type of accumulators.
  KOKKOS_FUNCTION base const& common() const { return s; }

  /// Adds a stride of all lists but the last, if lists are added one after the other. Returns: the
  /// list that remains to be added, or all_lists.
  template <template <class, class> class Step, class Grid>
  KOKKOS_FUNCTION int add_all_but_last([[maybe_unused]] Grid& grid,
                                       [[maybe_unused]] progress& p) const {
    constexpr std::uint64_t by_list = State::tuned::min_levels_by_list;
    if constexpr (by_list > 0)
      if (p.depth - p.begin >= by_list) {
        for (int i = 0; i + 1 < s.lists.lists; ++i) grid.run(make_step<Step>(grid, s, p, i), [] {});
        return s.lists.lists - 1;
      }
    return all_lists;
  }

  /// Writes the record. A function, because KARPOS_PROGRAM does not reach into lambdas.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void record(Grid& grid, progress const& p) const {
    grid.write(&s.words->record, p);
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void begin(Grid& grid, progress& p) const {
    p = progress{};
    p.needs_fallback = grid.read(&s.words->bounds).usable == 0;
    p.growing = plan.bail_out != top_k_bail_out::at_once;
    if (p.growing)
      p.next_stride(0, plan.first_stride, s.lists.longest);
    else
      bail_out(p);
    if (p.needs_fallback) record(grid, p);
  }

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_growing_stride(Grid& grid, progress& p) const {
    query_bounds const now = grid.read(&s.words->bounds);
    std::uint64_t const longest = s.lists.longest;
    p.threshold = now.threshold;
    p.growing_depth = p.depth;
    p.growing = now.unseen_upper > now.threshold && p.depth < longest;
    p.begin = p.depth;
    if (!p.growing) return;
    bool const may_bail_out = plan.bail_out == top_k_bail_out::automatic;
    if (may_bail_out && (p.depth > plan.max_growing_depth || check_agreement(p)))
      bail_out(p);
    else
      p.next_stride(plan.growth, State::tuned::min_stride, longest);
  }
  /// Returns whether the growing phase will go too deep. CPUs check this once. It will if, even at
  /// the maximal depth, the upper bound of an unseen object is above the current threshold, and the
  /// lists have shared so few objects up to here that the threshold will rise too slowly.
  KOKKOS_FUNCTION bool check_agreement([[maybe_unused]] progress& p) const {
    if constexpr (State::tuned::agreement_entries == 0) {
      return false;
    } else {
      std::uint64_t const n = s.list_count();
      auto const entries = Kokkos::min(State::tuned::agreement_entries, p.depth * n);
      double const shared_by_independent = static_cast<double>(entries * (n - 1)) *
                                           static_cast<double>(p.depth) /
                                           static_cast<double>(plan.objects);
      if (p.agreement_checked || shared_by_independent < State::tuned::agreement_min_shared)
        return false;
      p.agreement_checked = true;
      return unseen_upper_at(plan.max_growing_depth) > p.threshold && has_low_agreement(p.depth);
    }
  }
  /// Returns an upper bound of an object that has been seen in no list, at a depth.
  KOKKOS_FUNCTION std::uint64_t unseen_upper_at(std::uint64_t depth) const {
    std::uint64_t upper = s.margin();
    for (int i = 0; i < s.lists.lists; ++i) upper += s.bounds_of_unseen(i, depth).upper;
    return upper;
  }
  /// Returns whether fewer of the entries read last occur in another list, too, than
  /// min_agreement of the number that independent lists of that many objects would share.
  KOKKOS_FUNCTION bool has_low_agreement(std::uint64_t depth) const {
    int const n = s.lists.lists;
    std::uint64_t const levels =
        Kokkos::min(State::tuned::agreement_entries / s.list_count(), depth);
    double read = 0, sampled = 0, seen_twice = 0;
    for (int i = 0; i < n; ++i) {
      auto const& l = s.lists[i];
      std::uint64_t const end = Kokkos::min(depth, l.length);
      read += static_cast<double>(end);
      for (std::uint64_t at = end - Kokkos::min(end, levels); at < end; ++at) {
        std::uint64_t const slot = s.ids.find(l.ids[at]);
        if (slot == no_slot) continue;
        std::uint32_t const seen = s.layout.seen(s.accumulators[slot]);
        sampled += 1;
        seen_twice += (seen & (seen - 1)) != 0;
      }
    }
    double const expected = sampled * read * (n - 1) / (n * static_cast<double>(plan.objects));
    return expected > State::tuned::agreement_min_shared / 2 &&
           seen_twice < plan.min_agreement * expected;
  }
  /// Switches to full aggregation of the remaining entries, without bounds.
  KOKKOS_FUNCTION void bail_out(progress& p) const {
    p.growing = false;
    p.bailed_out = true;
    p.depth = s.lists.longest;
  }
  /// Returns whether the query has bailed out and has levels that it has not read yet.
  KOKKOS_FUNCTION bool has_unread_levels(progress const& p) const {
    return p.bailed_out && p.begin < p.depth;
  }

  /// Raises the threshold by the lower bounds of the candidates or, if `scanned` is not 0, of the
  /// first `scanned` slots.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void raise_threshold(Grid& grid, progress& p, std::uint64_t scanned) const {
    grid.run(make_step<count_lower_bounds>(grid, s, p, scanned), [] {});
    grid.run(make_step<find_threshold>(grid, s, p, true), [&] { update_threshold(grid, p); });
  }
  /// A member template, like every function that reads through a grid: KARPOS_PROGRAM has no effect
  /// on lambdas.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void update_threshold(Grid& grid, progress& p) const {
    p.threshold = grid.read(&s.words->bounds).threshold;
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void begin_shrinking(Grid& grid, progress& p) const {
    p.candidates_after_growing = p.candidates = grid.read(&s.words->counts).candidates;
    p.must_relist = State::tuned::lists_by_slot_sample && !p.candidates_listed &&
                    p.depth == s.lists.longest && p.candidates > s.max_candidates;
    p.candidates_listed = true;
    if (p.must_relist) return;
    bool const too_many =
        p.candidates > s.max_candidates ||
        (plan.bail_out == top_k_bail_out::automatic && p.candidates > plan.max_candidates);
    if (too_many && p.depth < s.lists.longest) {
      bail_out(p);
    } else {
      p.needs_fallback = p.candidates > s.max_candidates;
      p.shrinking = !p.needs_fallback;
    }
  }

  /// Ends a stride of the shrinking phase. The first stride reads nothing.
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_shrinking_stride(Grid& grid, progress& p) const {
    query_counts const now = grid.read(&s.words->counts);
    bool const unchanged = now.candidates == p.candidates;
    bool const exhausted = p.depth == s.lists.longest;
    p.candidates = now.candidates;
    p.list = 1 - p.list;
    p.begin = p.depth;
    p.shrinking_depth = p.depth;
    if (p.candidates <= s.k || (unchanged && (exhausted || now.incomplete == 0))) {
      p.shrinking = false;
      p.needs_fallback = !is_answer(p) && p.candidates > s.max_finalists;
    } else if (!exhausted && now.incomplete > 0) {
      p.next_stride(plan.growth_shrinking, State::tuned::min_stride, s.lists.longest);
    }
  }
  KOKKOS_FUNCTION bool is_answer(progress const& p) const {
    return plan.set && p.candidates <= s.k;
  }

  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void complete(Grid& grid, progress& p) const {
    if (is_answer(p)) {
      grid.run(make_step<write_set>(grid, common(), p), [] {});
      return;
    }
    grid.run(make_step<number_finalists>(grid, s, p), [&] {
      p.begin = 0;
      p.completing = true;
    });
    while (p.completing)
      grid.run(make_step<read_candidates>(grid, s, p, true),
               [&] { end_completing_stride(grid, p); });
    grid.run(make_step<aggregate_finalists>(grid, common(), p), [] {});
    if (p.candidates <= State::tuned::max_ranked_by_counting)
      grid.run(make_step<write_ranked>(grid, common(), p), [] {});
  }
  KARPOS_PROGRAM template <class Grid>
  KOKKOS_FUNCTION void end_completing_stride(Grid& grid, progress& p) const {
    p.completing_depth = p.depth;
    std::uint64_t const all = std::uint64_t(p.candidates) * s.list_count();
    // Two words, because other teams may count the next stride already.
    auto const parity = p.strides % 2;
    p.scores[parity] = grid.read(&s.words->counts).scores[parity];
    p.completing = std::uint64_t(p.scores[0]) + p.scores[1] < all && p.depth < s.lists.longest;
    if (p.completing) p.next_stride(2, 4096, s.lists.longest);
  }
};

template <class ExecSpace, class Accumulators, class Lists>
auto state_of(query_memory<ExecSpace, Lists> const& memory, Accumulators accumulators,
              Lists const& lists, std::uint64_t k, results<typename Lists::id_type> const& to,
              top_k_options<> const& options) {
  auto const& m = memory.accumulators;
  accumulator_state<ExecSpace, typename Lists::id_type, typename Lists::score_type, Accumulators>
      s{};
  s.lists = lists.ref();
  s.ids = {lists.is_dense() ? lists.objects() : memory.sizes.slots,
           lists.is_dense() ? nullptr : m.keys};
  s.aggregate = options.aggregate;
  s.missing_score = options.missing_score;
  s.k = k;
  s.layout = {lists.lists()};
  s.sum_bits = memory.sizes.small_accumulators()
                   ? accumulator_layout<std::uint32_t>::sum_bits(lists.lists())
                   : accumulator_layout<std::uint64_t>::sum_bits(lists.lists());
  s.accumulators = accumulators;
  s.candidate_bitmap = m.candidate_bitmap;
  for (int i = 0; i < 2; ++i) s.candidates[i] = m.candidates[i];
  s.max_candidates = static_cast<std::uint32_t>(memory.sizes.candidates);
  s.max_finalists = static_cast<std::uint32_t>(memory.sizes.finalists);
  s.histogram = m.histogram;
  s.words = m.words;
  s.final_scores = m.final_scores;
  s.finalists = m.finalists;
  s.out = to;
  return s;
}

/// Makes the report of a query: converts depths to entries and bytes read.
template <class Lists>
top_k_report report_of(query_progress const& end, Lists const& lists, std::uint64_t k) {
  top_k_report report;
  report.depth_growing = end.growing_depth;
  report.depth = end.shrinking_depth;
  report.depth_completing = end.completing_depth;
  report.candidates = end.candidates_after_growing;
  report.strides = end.strides;
  report.bailed_out = end.bailed_out;
  if (!end.needs_fallback) {
    report.found = Kokkos::min<std::uint64_t>(end.candidates, k);
    report.finalists = end.completing_depth == 0 ? 0 : end.candidates;
  }
  for (int i = 0; i < lists.lists(); ++i) {
    auto const up_to = [n = lists.length(i)](std::uint64_t depth) { return Kokkos::min(depth, n); };
    std::uint64_t const ids = up_to(end.shrinking_depth) + up_to(end.completing_depth);
    report.entries += ids;
    report.bytes += up_to(end.growing_depth) * sizeof(typename Lists::score_type) +
                    ids * sizeof(typename Lists::id_type);
  }
  return report;
}

/// Returns whether a query of weighted sums may use accumulators.
template <class Lists>
bool can_use_accumulators(query_sizes<Lists> const& sizes, Lists const& lists, std::uint64_t k,
                          top_k_options<> const& options) {
  return !options.stride.is_fixed() && Kokkos::min(k, lists.objects()) <= sizes.candidates;
}

/// Runs a query over accumulators, whose words then have its record. Asynchronous to the host on
/// GPUs, in one kernel.
template <class ExecSpace, class Lists>
void launch_accumulator_query(ExecSpace const& exec, query_memory<ExecSpace, Lists> const& memory,
                              Lists const& lists, std::uint64_t k,
                              results<typename Lists::id_type> const& to,
                              top_k_options<> const& options) {
  using tuned = tuning<ExecSpace>;
  auto const& a = memory.accumulators;
  auto const run = [&](auto accumulators) {
    auto const s = state_of(memory, accumulators, lists, k, to, options);
    device::run_program<tuned::team_threads, tuned::teams_per_processor>(
        exec, options.driver, a.grid,
        query_program<std::remove_const_t<decltype(s)>>{s, plan_of<ExecSpace>(lists, k, options)});
  };
  bool const small = memory.sizes.small_accumulators();
  if constexpr (!device::is_device<ExecSpace>)
    run(accumulator_array<void>{small ? a.small : nullptr, a.large});
  else if (small)
    run(accumulator_array<std::uint32_t>{a.small, a.large});
  else
    run(accumulator_array<std::uint64_t>{a.small, a.large});
}

/// Makes the report of a query over accumulators, and ranks its finalists if they are many. Returns
/// false if fixed point could not separate the candidates: then nothing was written, and the report
/// has what was read in vain.
template <class ExecSpace, class Lists>
bool try_finish_accumulator_query(ExecSpace const& exec,
                                  query_memory<ExecSpace, Lists> const& memory, Lists const& lists,
                                  std::uint64_t k, results<typename Lists::id_type> const& to,
                                  query_words const& words, top_k_report& report) {
  require_in_range(words.counts.out_of_range == 0, lists);
  report = report_of(words.record, lists, k);
  if (!words.record.needs_fallback &&
      report.finalists > tuning<ExecSpace>::max_ranked_by_counting) {
    sort_by_rank(exec, memory.accumulators.finalists, report.finalists);
    write_ranks(exec, memory.accumulators.finalists, report.found, to);
  }
  return !words.record.needs_fallback;
}

/// Runs a query over accumulators, and waits for it. Returns: as try_finish_accumulator_query.
template <class ExecSpace, class Lists>
bool try_accumulator_query(ExecSpace const& exec, query_memory<ExecSpace, Lists> const& memory,
                           Lists const& lists, std::uint64_t k,
                           results<typename Lists::id_type> const& to,
                           top_k_options<> const& options, top_k_report& report) {
  launch_accumulator_query(exec, memory, lists, k, to, options);
  return try_finish_accumulator_query(
      exec, memory, lists, k, to,
      read_back(exec, memory.accumulators.words, "karpos::top_k: report"), report);
}

/// Runs queries over accumulators. They wait for the host once, at the end, unless they may have
/// finalists that the host must sort. Returns which of them are answered, as try_accumulator_query.
template <class ExecSpace, class Lists>
std::vector<bool> try_accumulator_queries(ExecSpace const& exec,
                                          query_memory<ExecSpace, Lists> const& memory,
                                          Lists const& lists, std::uint64_t k,
                                          std::vector<results<typename Lists::id_type>> const& to,
                                          std::vector<top_k_options<>> const& options,
                                          std::vector<top_k_report>& reports) {
  using words_view = Kokkos::View<query_words*, typename ExecSpace::memory_space>;
  std::size_t const n = options.size();
  std::vector<bool> is_answered(n);
  if (memory.sizes.finalists > tuning<ExecSpace>::max_ranked_by_counting) {
    for (std::size_t q = 0; q < n; ++q)
      is_answered[q] = try_accumulator_query(exec, memory, lists, k, to[q], options[q], reports[q]);
    return is_answered;
  }
  auto const words = uninitialized_array<words_view>(exec, "karpos::top_k: reports", n);
  for (std::size_t q = 0; q < n; ++q) {
    launch_accumulator_query(exec, memory, lists, k, to[q], options[q]);
    Kokkos::deep_copy(
        exec, Kokkos::subview(words, q),
        Kokkos::View<query_words const, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>(
            memory.accumulators.words));
  }
  exec.fence("karpos::top_k: reports");
  auto const on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), words);
  for (std::size_t q = 0; q < n; ++q)
    is_answered[q] =
        try_finish_accumulator_query(exec, memory, lists, k, to[q], on_host(q), reports[q]);
  return is_answered;
}

}  // namespace karpos::detail::top_k
