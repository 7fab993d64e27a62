// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/ranking/top_k/steps.hpp"

// Steps of the growing phase (drawn in run.hpp). Terms (team, tile, lane, scratch): steps.hpp.

namespace karpos::detail::top_k {

/// Chooses the unit of fixed point: as small as the range of the sums allows, but not below what
/// double can distinguish. Runs on one team.
template <class StateHandle>
struct choose_unit {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::choose_unit";

  StateHandle s;

  std::uint64_t work() const { return 1; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() != 0) return;
    auto* const range = reinterpret_cast<double*>(team.scratch());
    auto* const magnitude = range + max_lists;
    for (int i = team.rank(); i < s->lists.lists; i += team.size())
      measure_list(i, range[i], magnitude[i]);
    team.barrier();
    if (team.rank() != 0) return;
    double sum_of_ranges = 0, sum_of_magnitudes = 0;
    for (int i = 0; i < s->lists.lists; ++i) {
      sum_of_ranges += range[i];
      sum_of_magnitudes += magnitude[i];
    }
    choose(sum_of_ranges, sum_of_magnitudes);
  }

 private:
  /// Computes the lowest score that an object may have in a list (its floor). Also computes, times
  /// the list's weight, the highest minus the lowest score, and the sum of their magnitudes.
  KOKKOS_FUNCTION void measure_list(int i, double& range, double& magnitude) const {
    auto const& l = s->lists[i];
    double const missing = s->missing_score, weight = s->aggregate.weight(i);
    double low = missing, high = missing;
    if (l.length > 0) {
      double const top = l.scores[0], last = l.scores[l.length - 1];
      bool const has_all = s->lists.has_all(i);
      low = has_all ? last : Kokkos::min(last, missing);
      high = has_all ? top : Kokkos::max(top, missing);
    }
    s->words->units.floor[i] = low;
    range = weight > 0 ? weight * (high - low) : 0;
    magnitude = weight > 0 ? weight * (Kokkos::fabs(low) + Kokkos::fabs(high)) : 0;
  }
  KOKKOS_FUNCTION static int exponent(double x) {
    return static_cast<int>(Kokkos::floor(Kokkos::log2(x)));
  }
  KOKKOS_FUNCTION void choose(double range, double magnitude) const {
    int const n = s->lists.lists;
    double const max_sum = magnitude * n * 1.0001;
    bool usable = range > 0 && max_sum - max_sum == 0;
    int e = 0;
    if (usable) {
      int const by_range = s->sum_bits - 1 - exponent(range * 1.0001);
      int const by_rounding = 49 - exponent(max_sum);
      e = Kokkos::min(by_range, by_rounding);
      e = Kokkos::clamp(e, -1000, 1000);
    }
    s->words->unseen = {};
    for (int i = 0; i < n; ++i) {
      double const factor = s->aggregate.weight(i) * Kokkos::exp2(static_cast<double>(e));
      s->words->units.factor[i] = factor;
      usable = usable && factor - factor == 0;
    }
    s->words->bounds = {0, 0, usable ? 1u : 0u};
    s->words->counts = {};
  }
};

/// Adds entries of one list to accumulators. It copies what its loop needs: otherwise compilers
/// would load that again after every addition.
template <class State, class Word, bool Counts>
class entry_adder {
 public:
  using id = typename State::id;
  using tuned = typename State::tuned;

  /// exclusive: no other team adds to these accumulators concurrently, which saves CPUs a locked
  /// instruction.
  KOKKOS_FUNCTION entry_adder(State const& s, Word* accumulators, int list, std::uint64_t threshold,
                              bool exclusive)
      : m_list(list),
        m_entries(s.lists[list]),
        m_ids(s.ids),
        m_layout{s.lists.lists},
        m_accumulators(accumulators),
        m_floor(s.words->units.floor[list]),
        m_factor(s.words->units.factor[list]),
        m_threshold(threshold),
        m_exclusive(exclusive) {}

  /// Adds N entries: entry `at`, and every width-th one after it. If `Counts`, also moves their
  /// objects between the buckets of the histogram. Loads all entries before it uses the first, so
  /// that their cache misses overlap. Returns: whether every id had a slot.
  template <int N>
  KARPOS_STEP_FUNCTION bool add(std::uint64_t at, team_histogram const& lower_bounds) const {
    prefetch<N>(at);
    id ids[N];
    typename State::score scores[N];
    std::uint64_t slot[N], units[N];
    Word old[N];
    bool in_range = true;
    for (int j = 0; j < N; ++j) {
      ids[j] = m_entries.ids[at + offset(j)];
      scores[j] = m_entries.scores[at + offset(j)];
    }
    for (int j = 0; j < N; ++j) slot[j] = m_ids.insert(ids[j]);
    for (int j = 0; j < N; ++j) {
      units[j] = in_units(scores[j], m_floor, m_factor);
      if (slot[j] != no_slot)
        old[j] = add_to(m_accumulators + slot[j], m_layout.addend(m_list, units[j]));
      else
        in_range = false;
    }
    if constexpr (Counts)
      for (int j = 0; j < N; ++j)
        if (slot[j] != no_slot) count(old[j], units[j], lower_bounds);
    return in_range;
  }

  /// Returns whether add_exclusively may be called: ids are dense, and no other team adds to these
  /// accumulators.
  KOKKOS_FUNCTION bool can_add_exclusively() const { return m_exclusive && m_ids.keys == nullptr; }
  /// CPUs: adds the entries [first, last), like add, but counts nothing.
  KOKKOS_FUNCTION bool add_exclusively(std::uint64_t first, std::uint64_t last) const {
    auto const [ids, scores, length] = m_entries;
    auto* const accumulators = m_accumulators;
    std::uint64_t const slots = m_ids.slots;
    bool in_range = true;
    for (std::uint64_t at = first; at < last; ++at) {
      std::uint64_t const ahead = Kokkos::min(at + tuned::prefetch_distance, length - 1);
      device::prefetch(accumulators + m_ids.first_slot(ids[ahead]));
      std::uint64_t const slot = m_ids.first_slot(ids[at]);
      Word const addend = m_layout.addend(m_list, in_units(scores[at], m_floor, m_factor));
      if (slot < slots)
        accumulators[slot] += addend;
      else
        in_range = false;
    }
    return in_range;
  }

 private:
  KOKKOS_FUNCTION static constexpr std::uint64_t offset(int j) {
    return static_cast<std::uint64_t>(j * State::width);
  }
  /// CPUs: prefetches the accumulators of the batch prefetch_distance ahead. Inlined by force,
  /// because the instruction must be.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] std::uint64_t at) const {
    if constexpr (tuned::prefetch_distance > 0) {
      constexpr std::uint64_t distance = tuned::prefetch_distance;
      if (at + distance + N > m_entries.length) return;
      for (std::uint64_t j = 0; j < N; ++j) {
        std::uint64_t const slot = m_ids.first_slot(m_entries.ids[at + distance + j]);
        if (m_ids.keys != nullptr) device::prefetch(m_ids.keys + slot);
        device::prefetch(m_accumulators + slot);
      }
    }
  }
  /// Adds v. Returns: the word before, if it is needed for counting.
  KARPOS_STEP_FUNCTION Word add_to(Word* to, Word v) const {
    Word old{};
    KOKKOS_IF_ON_DEVICE(
        (if constexpr (Counts) old = device::fetch_add(to, v); else device::add(to, v);))
    KOKKOS_IF_ON_HOST((
        if (m_exclusive) {
          old = *to;
          *to = old + v;
        } else { old = device::fetch_add(to, v); }))
    return old;
  }
  /// Moves an object between buckets. Sums below the threshold cannot raise it, and are not
  /// counted.
  KARPOS_STEP_FUNCTION void count(Word old, std::uint64_t units,
                                  team_histogram const& lower_bounds) const {
    std::uint64_t const before = m_layout.sum(old), now = before + units;
    if (now < m_threshold) return;
    lower_bounds.add(now, 1);
    if (old != 0 && before >= m_threshold) lower_bounds.add(before, ~std::uint32_t(0));
  }

  int m_list;
  sorted_list<id, typename State::score> m_entries;
  id_table<id> m_ids;
  accumulator_layout<Word> m_layout;
  Word* m_accumulators;
  double m_floor, m_factor;
  std::uint64_t m_threshold;
  bool m_exclusive;
};

/// Adds a stride of every list, or of one, to the accumulators. Counts: partial sums are counted in
/// the histogram of lower bounds; without, this is full aggregation of the remaining entries.
template <class StateHandle, class ProgressHandle, bool Counts>
struct accumulate {
  using State = typename StateHandle::state;
  static constexpr char const* label =
      Counts ? "karpos::top_k::accumulate" : "karpos::top_k::accumulate_rest";

  StateHandle s;
  ProgressHandle p;
  int list = all_lists;

  KOKKOS_FUNCTION std::uint64_t work() const {
    return (p->depth - p->begin) * (list == all_lists ? s->list_count() : 1);
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    s->accumulators.with_type([&](auto* words) { add(team, words); });
  }

 private:
  template <class Team, class Word>
  KOKKOS_FUNCTION void add(Team& team, Word* words) const {
    team_histogram const lower_bounds(team, buckets_of<Word>(), s->histogram, Counts ? work() : 0,
                                      p->threshold);
    bool const exclusive = team.league_size() == 1 || list != all_lists;
    for_each_entry(
        team, *s, p->begin, p->depth,
        [&](int of, std::uint64_t first, std::uint64_t last) {
          entry_adder<State, Word, Counts> const entries(*s, words, of, p->threshold, exclusive);
          bool in_range = true, added = false;
          if constexpr (!Counts && State::on_cpu)
            if (added = entries.can_add_exclusively(); added)
              in_range = entries.add_exclusively(first, last);
          if (!added)
            for_each_batch<State::tuned::batch>(
                first, last, State::width, [&](std::uint64_t at, auto batch) {
                  in_range =
                      entries.template add<decltype(batch)::value>(at, lower_bounds) && in_range;
                });
          if (!in_range) device::store_relaxed(&s->words->counts.out_of_range, 1u);
        },
        list);
    lower_bounds.flush(team);
  }
};

template <class StateHandle, class ProgressHandle>
using accumulate_counted = accumulate<StateHandle, ProgressHandle, true>;
template <class StateHandle, class ProgressHandle>
using accumulate_rest = accumulate<StateHandle, ProgressHandle, false>;

/// Finds the threshold from a histogram of lower bounds, and the bounds of unseen contributions at
/// the end of the stride. Runs on one team.
template <class StateHandle, class ProgressHandle>
struct find_threshold {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::find_threshold";

  StateHandle s;
  ProgressHandle p;
  // Whether to use the second histogram, of lower bounds less the threshold, and to clear it.
  bool above_threshold;

  std::uint64_t work() const { return 1; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() != 0) return;
    std::uint64_t const origin = above_threshold ? p->threshold : 0;
    sum_buckets const buckets = s->accumulators.buckets();
    int const count = buckets.count();
    for (int i = team.rank(); i < s->lists.lists; i += team.size()) {
      auto const bounds = s->bounds_of_unseen(i, p->depth);
      s->words->unseen.lower[i] = bounds.lower;
      s->words->unseen.upper[i] = bounds.upper;
    }
    if (team.rank() == 0) {
      s->words->bounds.threshold = p->threshold;
      s->words->counts.candidates = s->words->counts.incomplete = 0;
    }
    auto* const histogram = s->histogram + (above_threshold ? count : 0);
    auto const* const counts = copy_to_scratch(team, histogram, count);
    int const each = (count + team.size() - 1) / team.size();
    int const top = count - team.rank() * each;  // this thread's buckets are below it
    std::uint64_t mine = 0, total = 0;
    int const bottom = Kokkos::max(top - each, 0);
    for (int b = top - 1; b >= bottom && mine < s->k; --b) mine += counts[b];
    std::uint64_t const larger = team.prefix_sum(mine, total);
    if (larger < s->k && larger + mine >= s->k) {
      int b = top;
      for (std::uint64_t sum = larger; sum < s->k; sum += counts[b]) --b;
      std::uint64_t const found = origin + buckets.lower_edge(static_cast<std::uint32_t>(b));
      if (found > p->threshold) s->words->bounds.threshold = found;
    }
    if (team.rank() == 0) {
      std::uint64_t upper = s->margin();
      for (int i = 0; i < s->lists.lists; ++i) upper += s->words->unseen.upper[i];
      s->words->bounds.unseen_upper = upper;
    }
    if (!above_threshold) return;
    team.barrier();
    for (int b = team.rank(); b < count; b += team.size()) histogram[b] = 0;
  }

 private:
  /// Returns: the histogram. For teams of several threads it is a copy in scratch: a thread that
  /// walked through its buckets in global memory would wait at each.
  template <class Team>
  KOKKOS_FUNCTION static std::uint32_t const* copy_to_scratch(Team const& team,
                                                              std::uint32_t const* histogram,
                                                              int buckets) {
    if (team.size() == 1) return histogram;
    auto* const copy = reinterpret_cast<std::uint32_t*>(team.scratch());
    load_all_then_use<State::tuned::histogram_batch>(
        static_cast<std::uint64_t>(team.rank()), static_cast<std::uint64_t>(buckets),
        static_cast<std::uint64_t>(team.size()),
        [&](std::uint64_t b) { return device::load_relaxed(histogram + b); },
        [&](std::uint64_t b, std::uint32_t count) { copy[b] = count; });
    team.barrier();
    return copy;
  }
};

}  // namespace karpos::detail::top_k
