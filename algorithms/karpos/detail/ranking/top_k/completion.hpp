// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/ranking/top_k/shrinking_phase.hpp"

// The steps at the end of a query over accumulators (drawn in run.hpp).

namespace karpos::detail::top_k {

/// Numbers the finalists. From then on their accumulators hold the number.
template <class StateHandle, class ProgressHandle>
struct number_finalists {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::number_finalists";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->candidates * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const slots = s->candidates[p->list];
    for_each_index<State>(team, p->candidates, [&](std::uint64_t f) {
      s->accumulators.set(slots[f], static_cast<typename State::word>(f));
      for (std::uint64_t i = 0; i < s->list_count(); ++i)
        s->final_scores[f * s->list_count() + i] = Kokkos::Experimental::quiet_NaN_v<double>;
    });
  }
};

/// Computes the aggregates of the finalists.
template <class StateHandle, class ProgressHandle>
struct aggregate_finalists {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::aggregate_finalists";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->candidates * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const slots = s->candidates[p->list];
    for_each_index<State>(team, p->candidates, [&](std::uint64_t f) {
      double scores[max_lists];
      for (int i = 0; i < s->lists.lists; ++i) {
        double const score = s->final_scores[f * s->list_count() + static_cast<unsigned>(i)];
        scores[i] = score == score ? score : s->missing_score;
      }
      double const sum = s->aggregate(scores, s->lists.lists);
      s->finalists[f] = {sum, sum, s->ids.id_at(slots[f]), slots[f]};
    });
  }
};

/// Writes the first k finalists. The rank of a finalist is the number of finalists that rank
/// higher.
template <class StateHandle, class ProgressHandle>
struct write_ranked {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::write_ranked";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return std::uint64_t(p->candidates) * p->candidates / 8; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    constexpr int width = State::width;
    auto const t = team.template this_tile<width>();
    auto const* const finalists = s->finalists;
    auto const n = static_cast<int>(p->candidates);
    team.template for_each_tile<width>(p->candidates, [&](std::uint64_t f) {
      auto const mine = finalists[f];
      auto const higher = t.each([&](int lane) {
        std::uint64_t count = 0;
        for (int g = lane; g < n; g += width) count += finalists[g] < mine;
        return count;
      });
      std::uint64_t const rank = t.prefix_sum(higher).total;
      t.once([&] {
        if (rank < s->k) s->out.write(rank, mine.id, mine.lower);
      });
    });
  }
};

/// Writes the candidates as a set, in no particular order.
template <class StateHandle, class ProgressHandle>
struct write_set {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::write_set";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->candidates; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const slots = s->candidates[p->list];
    for_each_index<State>(team, p->candidates,
                          [&](std::uint64_t f) { s->out.ids[f] = s->ids.id_at(slots[f]); });
  }
};

/// Resets accumulators, bitmap, histograms and keys, which are zero (keys: empty) between queries.
/// Resets only what the growing phase has touched if that is faster, else all.
template <class StateHandle, class ProgressHandle>
struct reset {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::reset";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const {
    return resets_by_entries() ? p->growing_depth * s->list_count() : s->ids.slots / 16;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    int const buckets = 2 * s->accumulators.buckets().count();
    if (team.league_rank() == 0)
      for (int b = team.rank(); b < buckets; b += team.size()) s->histogram[b] = 0;
    if (resets_by_entries()) {
      for_each_entry(team, *s, 0, p->growing_depth,
                     [&](int list, std::uint64_t first, std::uint64_t last) {
                       reset_entries(list, first, last);
                     });
      return;
    }
    // One array after the other, in stores that compilers vectorize for CPUs.
    std::uint64_t const slots = s->ids.slots;
    auto const clear = [&](auto* array, std::uint64_t n) {
      for_each_index<State>(team, n, [=](std::uint64_t i) { array[i] = 0; });
    };
    s->accumulators.with_type([&](auto* words) { clear(words, slots); });
    clear(s->candidate_bitmap, (slots + 31) / 32);
    if (auto* const keys = s->ids.keys; keys != nullptr)
      for_each_index<State>(
          team, slots - 1, [=](std::uint64_t i) { keys[i] = id_table<typename State::id>::empty; });
  }

 private:
  KOKKOS_FUNCTION bool resets_by_entries() const {
    return s->ids.keys == nullptr && is_rereading_faster(*s, p->growing_depth);
  }
  KARPOS_STEP_FUNCTION void reset_entries(int list, std::uint64_t first, std::uint64_t last) const {
    auto const* const ids = s->lists[list].ids;
    load_then_use<State::tuned::batch>(
        first, last, State::width,
        [&](std::uint64_t at) {
          prefetch_ahead(*s, ids, at, last);
          return ids[at];
        },
        [&](typename State::id id) { return s->ids.find(id); },
        [&](std::uint64_t, typename State::id, std::uint64_t slot) {
          if (slot == no_slot) return;
          s->accumulators.set(slot, 0);
          device::store_relaxed(s->candidate_bitmap + slot / 32, std::uint32_t(0));
        });
  }
};

}  // namespace karpos::detail::top_k
