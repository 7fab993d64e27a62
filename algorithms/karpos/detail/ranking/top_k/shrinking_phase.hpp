// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/ranking/top_k/steps.hpp"
#include "karpos/device/team.hpp"

// Steps of the shrinking phase (drawn in run.hpp). Terms (team, tile, lane, scratch): steps.hpp.

namespace karpos::detail::top_k {

/// Returns whether reading the growing phase's entries again finds the slots of these entries
/// sooner than a scan of all slots.
template <class State>
KOKKOS_FUNCTION bool is_rereading_faster(State const& s, std::uint64_t growing_depth) {
  return growing_depth * s.list_count() * State::tuned::scanned_per_access < s.ids.slots;
}

/// CPUs: prefetches the accumulator of the entry prefetch_distance ahead, if there is one. Inlined
/// by force, because the instruction must be.
template <class State>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_ahead([[maybe_unused]] State const& s,
                                                [[maybe_unused]] typename State::id const* ids,
                                                [[maybe_unused]] std::uint64_t at,
                                                [[maybe_unused]] std::uint64_t end) {
  if constexpr (State::tuned::prefetch_distance > 0) {
    std::uint64_t const ahead = at + State::tuned::prefetch_distance;
    if (ahead < end) s.accumulators.prefetch(s.ids.first_slot(ids[ahead]));
  }
}

/// Lists the candidates at the end of the growing phase. If entries are read again, an object is
/// listed by the first of the lists in which it was seen.
template <class StateHandle, class ProgressHandle>
struct list_candidates {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::list_candidates";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const {
    return is_rereading_faster(*s, p->growing_depth) ? p->growing_depth * s->list_count()
                                                     : s->ids.slots;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    bound_tables const bounds(team, *s);
    // Tests whether an object has been seen and its upper bound is above the threshold.
    auto const above = [bounds, layout = s->layout,
                        threshold = p->threshold](typename State::word w) {
      std::uint32_t const seen = layout.seen(w);
      return bounds.upper(layout.sum(w), seen) > threshold && seen != 0;
    };
    if (is_rereading_faster(*s, p->growing_depth))
      for_each_entry(team, *s, 0, p->growing_depth,
                     [&](int list, std::uint64_t first, std::uint64_t last) {
                       list_from_entries(above, list, first, last);
                     });
    else if (State::on_cpu && p->depth == s->lists.longest)
      scan(team, [above, min_sum = bounds.min_sum_above(p->threshold),
                  layout = s->layout](typename State::word w) {
        return layout.sum(w) >= min_sum &&
               above(w);  // the first test rejects most, without a table lookup
      });
    else
      scan(team, above);
  }

 private:
  /// Lists the objects, among all slots, whose accumulators pass a test.
  template <class Team, class Test>
  KOKKOS_FUNCTION void scan(Team& team, Test const& passes) const {
    for_each_index<State>(
        team, s->ids.slots,
        [accumulators = s->accumulators](std::uint64_t slot) { return accumulators[slot]; },
        [passes, *this](std::uint64_t slot, typename State::word w) {
          if (passes(w)) append_candidate(*s, s->candidates[0], slot);
        });
  }
  template <class Test>
  KARPOS_STEP_FUNCTION void list_from_entries(Test const& above, int list, std::uint64_t first,
                                              std::uint64_t last) const {
    using id = typename State::id;
    using word = typename State::word;
    auto const& l = s->lists[list];
    auto const* const ids = l.ids;
    auto const accumulators = s->accumulators;
    auto const table = s->ids;
    load_then_use<State::tuned::batch>(
        first, last, State::width,
        [&](std::uint64_t at) {
          prefetch_ahead(*s, ids, at, l.length);
          return ids[at];
        },
        [&](id i) {
          std::uint64_t const slot = table.find(i);
          return slot == no_slot ? word(0) : accumulators[slot];
        },
        [&](std::uint64_t, id i, word w) {
          if (above(w) && Kokkos::countr_zero(s->layout.seen(w)) == list)
            append_candidate(*s, s->candidates[0], table.find(i));
        });
  }
};

/// A Bloom filter of the candidates' ids with one hash function, in the team's scratch. It rejects
/// most entries of a long stride without an access to global memory. If it is not profitable,
/// may_contain is always true.
template <class State>
class candidate_filter {
 public:
  template <class Team>
  KOKKOS_FUNCTION candidate_filter(Team const& team, State const& s, query_progress const& p)
      : m_bits(is_profitable(team, s, p) ? reinterpret_cast<std::uint32_t*>(team.scratch())
                                         : nullptr) {
    if (m_bits == nullptr) return;
    std::uint32_t const rank = device::rank(team), size = device::size(team);
    for (std::uint32_t w = rank; w < bits / 32; w += size) m_bits[w] = 0;
    team.barrier();
    std::uint32_t const* const slots = s.candidates[p.list];
    for (std::uint32_t i = rank; i < p.candidates; i += size) {
      std::uint32_t const bit = bit_of(s.ids.id_at(slots[i]));
      device::set_bits(device::scratch(m_bits + bit / 32), 1u << (bit % 32));
    }
    team.barrier();
  }
  KOKKOS_FUNCTION bool may_contain(typename State::id id) const {
    if (m_bits == nullptr) return true;
    std::uint32_t const bit = bit_of(id);
    return (m_bits[bit / 32] >> (bit % 32) & 1) != 0;
  }

 private:
  static constexpr int log_bits = 17;
  static constexpr std::uint32_t bits = 1u << log_bits;
  static_assert(bits / 8 <= histogram_bytes);

  /// Returns whether a filter is profitable: every team builds one of its own, for its share of the
  /// entries.
  template <class Team>
  KOKKOS_FUNCTION static bool is_profitable(Team const& team, State const& s,
                                            query_progress const& p) {
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    return p.candidates <= bits / 16 &&
           (p.depth - p.begin) * s.list_count() > teams * (bits / 32 + p.candidates);
  }
  KOKKOS_FUNCTION static std::uint32_t bit_of(typename State::id id) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(id) * 0x9e37'79b9'7f4a'7c15u) >>
                                      32) >>
           (32 - log_bits);
  }
  std::uint32_t* m_bits;
};

/// Reads the candidates' scores in a stride, and adds them to their accumulators. If `completing`,
/// the candidates are finalists, and their accumulators hold their numbers: stores the scores in
/// final_scores.
template <class StateHandle, class ProgressHandle>
struct read_candidates {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::read_candidates";

  StateHandle s;
  ProgressHandle p;
  bool completing;

  std::uint64_t work() const { return (p->depth - p->begin) * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    candidate_filter<State> const filter(team, *s, *p);
    for_each_entry(team, *s, p->begin, p->depth,
                   [&](int list, std::uint64_t first, std::uint64_t last) {
                     read(filter, list, first, last);
                   });
  }

 private:
  KARPOS_STEP_FUNCTION void read(candidate_filter<State> const& filter, int list,
                                 std::uint64_t first, std::uint64_t last) const {
    auto const* const ids = s->lists[list].ids;
    load_then_use<State::tuned::batch>(
        first, last, State::width, [=](std::uint64_t at) { return ids[at]; },
        [&](typename State::id id) { return filter.may_contain(id); },
        [&](std::uint64_t at, typename State::id id, bool passes_filter) {
          if (!passes_filter) return;
          std::uint64_t const slot = s->ids.find(id);
          if (slot != no_slot && s->is_candidate(slot)) add_score(list, at, slot);
        });
  }
  KOKKOS_FUNCTION void add_score(int list, std::uint64_t at, std::uint64_t slot) const {
    double const score = s->lists[list].scores[at];
    if (!completing) {
      s->accumulators.add(slot, s->layout.addend(list, s->words->units.of(list, score)));
      return;
    }
    auto const finalist = static_cast<std::uint64_t>(s->accumulators[slot]);
    s->final_scores[finalist * s->list_count() + static_cast<std::uint64_t>(list)] = score;
    device::add(&s->words->counts.scores[p->strides % 2], 1u);
  }
};

/// Counts lower bounds, less the threshold, in the second histogram: those of the candidates or,
/// if all entries have been read, those of the first `scanned` slots. The k-th largest of these is
/// no larger than that of all, and most slots need not be counted.
template <class StateHandle, class ProgressHandle>
struct count_lower_bounds {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::count_lower_bounds";

  StateHandle s;
  ProgressHandle p;
  std::uint64_t scanned;  // number of slots; 0: candidates

  std::uint64_t work() const { return scanned > 0 ? scanned : p->candidates; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    bound_tables const bounds(team, *s);
    auto const accumulators = s->accumulators;
    std::uint64_t const n = scanned > 0 ? scanned : p->candidates;
    sum_buckets const buckets = accumulators.buckets();
    team_histogram const histogram(team, buckets, s->histogram + buckets.count(), n);
    auto const count = [layout = s->layout, bounds, histogram,
                        threshold = p->threshold](typename State::word w) {
      std::uint64_t const lower = bounds.lower(layout.sum(w), layout.seen(w));
      if (lower >= threshold && layout.seen(w) != 0) histogram.add(lower - threshold, 1);
    };
    if (scanned > 0) {
      for_each_index<State>(
          team, n, [=](std::uint64_t slot) { return accumulators[slot]; },
          [=](std::uint64_t, typename State::word w) { count(w); });
      for_each_index<State>(team, (n + 31) / 32, [&](std::uint64_t w) {
        s->candidate_bitmap[w] = 0;  // set by candidates listed before the query bailed out
      });
    } else {
      std::uint32_t const* const slots = s->candidates[p->list];
      for_each_index<State>(
          team, n, [=](std::uint64_t i) { return accumulators[slots[i]]; },
          [=](std::uint64_t, typename State::word w) { count(w); });
    }
    histogram.flush(team);
  }
};

/// Keeps the candidates whose upper bound is above the threshold, and clears the bits of the
/// others.
template <class StateHandle, class ProgressHandle>
struct filter_candidates {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::filter_candidates";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->candidates; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    bound_tables const bounds(team, *s);
    std::uint32_t const* const from = s->candidates[p->list];
    std::uint32_t const all = s->lists.lists == 32 ? ~0u : (1u << s->lists.lists) - 1;
    for_each_index<State>(team, p->candidates, [&](std::uint64_t i) {
      std::uint32_t const slot = from[i];
      auto const w = s->accumulators[slot];
      std::uint32_t const seen = s->layout.seen(w);
      if (bounds.upper(s->layout.sum(w), seen) > p->threshold) {
        append_candidate(*s, s->candidates[1 - p->list], slot);
        if (seen != all) device::add(&s->words->counts.incomplete, 1u);
      } else {
        device::clear_bits(s->candidate_bitmap + slot / 32, std::uint32_t(1) << (slot % 32));
      }
    });
  }
};

}  // namespace karpos::detail::top_k
