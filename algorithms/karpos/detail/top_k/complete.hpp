// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/top_k/shrink.hpp"

// The end of a query: the scores of the survivors, read where they stand in the lists, and their aggregates in double;
// and cells as clean as they were found.

namespace karpos::detail::top_k {

/// Numbers the finalists. Their cells hold the number from here on.
template <class StateHandle, class ProgressHandle>
struct number_finalists {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::number_finalists";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->survivors * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const places = s->survivors[p->list];
    for_each_index<State>(team, p->survivors, [&](std::uint64_t f) {
      s->cells[places[f]] = static_cast<typename State::cell>(f);
      for (std::uint64_t i = 0; i < s->list_count(); ++i)
        s->final_scores[f * s->list_count() + i] = Kokkos::Experimental::quiet_NaN_v<double>;
    });
  }
};

/// Finds the scores of finalists in a stride. Reads ids, and scores only of those.
template <class StateHandle, class ProgressHandle>
struct collect {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::collect";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return (p->depth - p->begin) * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for_each_survivor(team, *s, *p, [&](int list, std::uint64_t at, std::uint64_t place) {
      auto const f = static_cast<std::uint64_t>(s->cells[place]);
      s->final_scores[f * s->list_count() + static_cast<std::uint64_t>(list)] =
          s->lists[list].scores[at];
      device::add(&s->words->count.scores[p->strides % 2], 1u);
    });
  }
};

template <class StateHandle, class ProgressHandle>
struct evaluate {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::evaluate";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->survivors * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const places = s->survivors[p->list];
    for_each_index<State>(team, p->survivors, [&](std::uint64_t f) {
      double scores[max_lists];
      for (int i = 0; i < s->lists.lists; ++i) {
        double const score = s->final_scores[f * s->list_count() + static_cast<unsigned>(i)];
        scores[i] = score == score ? score : s->missing_score;
      }
      double const sum = s->aggregate(scores, s->lists.lists);
      s->finals[f] = {sum, sum, s->objects.id_at(places[f]), places[f]};
    });
  }
};

/// Writes the first k, each to the rank that so many others are ahead of it.
template <class StateHandle, class ProgressHandle>
struct write_ranked {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::write_ranked";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return std::uint64_t(p->survivors) * p->survivors / 8; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    constexpr int width = State::width;
    auto const t = team.template this_tile<width>();
    auto const* const finals = s->finals;
    auto const n = static_cast<int>(p->survivors);
    team.template for_each_tile<width>(p->survivors, [&](std::uint64_t f) {
      auto const mine = finals[f];
      auto const ahead = t.each([&](int lane) {
        std::uint64_t count = 0;
        for (int g = lane; g < n; g += width) count += finals[g] < mine;
        return count;
      });
      std::uint64_t const rank = t.prefix_sum(ahead).total;
      t.once([&] {
        if (rank < s->k) s->out.write(rank, mine.id, mine.lower);
        return 0;
      });
    });
  }
};

/// Writes the survivors as they come.
template <class StateHandle, class ProgressHandle>
struct write_set {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::write_set";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->survivors; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    std::uint32_t const* const places = s->survivors[p->list];
    for_each_index<State>(team, p->survivors,
                          [&](std::uint64_t f) { s->out.ids[f] = s->objects.id_at(places[f]); });
  }
};

/// Cells, marks, histograms and keys are zero between queries: what the growing phase has touched, or everything.
template <class StateHandle, class ProgressHandle>
struct clean {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::clean";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const {
    return again() ? p->grown * s->list_count() : s->objects.places / 16;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    constexpr int classes = 2 * State::classes::count;
    if (team.league_rank() == 0)
      for (int c = team.rank(); c < classes; c += team.size()) s->histogram[c] = 0;
    if (again()) {
      for_each_entry(team, *s, 0, p->grown, [&](int list, std::uint64_t first, std::uint64_t last) {
        forget(list, first, last);
      });
      return;
    }
    std::uint64_t const places = s->objects.places;
    for_each_index<State>(team, places, [&](std::uint64_t i) {
      s->cells[i] = 0;
      if (i % 32 == 0) s->marked[i / 32] = 0;
      if (s->objects.keys != nullptr && i + 1 < places)
        s->objects.keys[i] = object_table<typename State::id>::empty;
    });
  }

 private:
  KOKKOS_FUNCTION bool again() const {
    return s->objects.keys == nullptr &&
           p->grown * s->list_count() * State::tuned::cells_for_an_entry < s->objects.places;
  }
  KOKKOS_FUNCTION void forget(int list, std::uint64_t first, std::uint64_t last) const {
    constexpr std::uint64_t ahead = State::tuned::prefetch_distance;
    auto const* const ids = s->lists[list].ids;
    in_batches<State>(
        first, last,
        [&](std::uint64_t at) {
          if constexpr (ahead > 0)
            if (at + ahead < last) device::prefetch(s->cells + s->objects.home(ids[at + ahead]));
          return ids[at];
        },
        [&](typename State::id id) { return s->objects.find(id); },
        [&](std::uint64_t, typename State::id, std::uint64_t place) {
          if (place == no_place) return;
          device::store_relaxed(s->cells + place, typename State::cell(0));
          device::store_relaxed(s->marked + place / 32, std::uint32_t(0));
        });
  }
};

}  // namespace karpos::detail::top_k
