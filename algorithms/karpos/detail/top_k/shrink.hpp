// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/top_k/state.hpp"

// The shrinking phase: no object enters any more. Survivors are those that may have more than the threshold, which k
// objects have for sure; once there are k of them, they are the answer.

namespace karpos::detail::top_k {

/// Appends the place of a survivor to a list, and marks it.
template <class State>
KOKKOS_FUNCTION void append_survivor(State const& s, std::uint32_t* list, std::uint64_t place) {
  std::uint32_t const at = device::fetch_add(&s.words->count.survivors, 1);
  if (at < s.survivor_room) list[at] = static_cast<std::uint32_t>(place);
  device::set_bits(s.marked + place / 32, std::uint32_t(1) << (place % 32));
}

/// Whether an object that was seen may have more than the threshold.
template <class State>
class can_win {
 public:
  KOKKOS_FUNCTION can_win(State const& s, sums_by_mask<State> const& sums, std::uint64_t threshold)
      : m_sums(sums),
        m_layout(s.layout),
        m_threshold(threshold) {}
  KOKKOS_FUNCTION bool operator()(typename State::cell c) const {
    std::uint32_t const seen = m_layout.seen(c);
    return m_sums.upper(m_layout.sum(c), seen) > m_threshold && seen != 0;
  }

 private:
  sums_by_mask<State> m_sums;
  cell_layout<typename State::cell> m_layout;
  std::uint64_t m_threshold;
};

/// Lists the survivors of the growing phase: by reading its entries again, each object where it was seen in its first
/// list, or all cells, whatever is less.
template <class StateHandle, class ProgressHandle>
struct list_survivors {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::list_survivors";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return again() ? p->grown * s->list_count() : s->objects.places; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    sums_by_mask<State> const sums(team, *s);
    can_win<State> const wins(*s, sums, p->threshold);
    auto const* const cells = s->cells;
    if (again())
      for_each_entry(team, *s, 0, p->grown, [&](int list, std::uint64_t first, std::uint64_t last) {
        read_again(wins, list, first, last);
      });
    else
      for_each_index<State>(
          team, s->objects.places, [=](std::uint64_t place) { return cells[place]; },
          [&](std::uint64_t place, typename State::cell c) {
            if (wins(c)) append_survivor(*s, s->survivors[0], place);
          });
  }

 private:
  KOKKOS_FUNCTION bool again() const {
    return p->grown * s->list_count() * State::tuned::cells_for_an_entry < s->objects.places;
  }
  KOKKOS_FUNCTION void read_again(can_win<State> const& wins, int list, std::uint64_t first,
                                  std::uint64_t last) const {
    using cell = typename State::cell;
    auto const* const ids = s->lists[list].ids;
    auto const* const cells = s->cells;
    auto const objects = s->objects;
    in_batches<State>(
        first, last,
        [&](std::uint64_t at) {
          look_ahead(list, at);
          return objects.find(ids[at]);
        },
        [&](std::uint64_t place) { return place == no_place ? cell(0) : cells[place]; },
        [&](std::uint64_t, std::uint64_t place, cell c) {
          if (wins(c) && Kokkos::countr_zero(s->layout.seen(c)) == list)
            append_survivor(*s, s->survivors[0], place);
        });
  }
  /// Inlined by force, as prefetch is.
  KOKKOS_FORCEINLINE_FUNCTION void look_ahead([[maybe_unused]] int list,
                                              [[maybe_unused]] std::uint64_t at) const {
    if constexpr (State::tuned::prefetch_distance > 0) {
      auto const& l = s->lists[list];
      std::uint64_t const ahead = at + State::tuned::prefetch_distance;
      if (ahead < l.length) device::prefetch(s->cells + s->objects.home(l.ids[ahead]));
    }
  }
};

/// Which ids may be those of survivors: a bit for many, in the team's scratch. For strides that are long and survivors
/// that are few; else every id may be.
template <class State>
class survivor_filter {
 public:
  template <class Team>
  KOKKOS_FUNCTION survivor_filter(Team const& team, State const& s, ranking_progress const& p)
      : m_bits(pays(team, s, p) ? reinterpret_cast<std::uint32_t*>(team.scratch()) : nullptr) {
    if (m_bits == nullptr) return;
    auto const rank = static_cast<std::uint32_t>(team.rank());
    auto const size = static_cast<std::uint32_t>(team.size());
    for (std::uint32_t w = rank; w < bits / 32; w += size) m_bits[w] = 0;
    team.barrier();
    std::uint32_t const* const places = s.survivors[p.list];
    for (std::uint32_t i = rank; i < p.survivors; i += size) {
      std::uint32_t const bit = bit_of(s.objects.id_at(places[i]));
      device::set_bits(device::scratch(m_bits + bit / 32), 1u << (bit % 32));
    }
    team.barrier();
  }
  KOKKOS_FUNCTION bool may_hold(typename State::id id) const {
    if (m_bits == nullptr) return true;
    std::uint32_t const bit = bit_of(id);
    return (m_bits[bit / 32] >> (bit % 32) & 1) != 0;
  }

 private:
  static constexpr int log_bits = 17;
  static constexpr std::uint32_t bits = 1u << log_bits;
  static_assert(bits / 8 <= State::histogram_bytes);

  /// Every team makes a filter of its own, for its share of the entries.
  template <class Team>
  KOKKOS_FUNCTION static bool pays(Team const& team, State const& s, ranking_progress const& p) {
    auto const teams = static_cast<std::uint64_t>(team.league_size());
    return p.survivors <= bits / 16 &&
           (p.depth - p.begin) * s.list_count() > teams * (bits / 32 + p.survivors);
  }
  KOKKOS_FUNCTION static std::uint32_t bit_of(typename State::id id) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(id) * 0x9e37'79b9'7f4a'7c15u) >>
                                      32) >>
           (32 - log_bits);
  }
  std::uint32_t* m_bits;
};

/// Runs use(list, at, place) for the entries of a stride that are of survivors.
template <class State, class Team, class Use>
KOKKOS_FUNCTION void for_each_survivor(Team& team, State const& s, ranking_progress const& p,
                                       Use const& use) {
  survivor_filter<State> const filter(team, s, p);
  for_each_entry(team, s, p.begin, p.depth, [&](int list, std::uint64_t first, std::uint64_t last) {
    auto const* const ids = s.lists[list].ids;
    in_batches<State>(
        first, last, [=](std::uint64_t at) { return ids[at]; },
        [&](typename State::id id) { return filter.may_hold(id); },
        [&](std::uint64_t at, typename State::id id, bool may_be) {
          if (!may_be) return;
          std::uint64_t const place = s.objects.find(id);
          if (place != no_place && s.survives(place)) use(list, at, place);
        });
  });
}

/// Adds what a stride says of survivors.
template <class StateHandle, class ProgressHandle>
struct shrink {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::shrink";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return (p->depth - p->begin) * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    for_each_survivor(team, *s, *p, [&](int list, std::uint64_t at, std::uint64_t place) {
      double const score = s->lists[list].scores[at];
      device::add(s->cells + place, s->layout.addend(list, s->words->units.of(list, score)));
    });
  }
};

/// Counts objects by what they have above the threshold: the survivors; or, when everything has been read, those of the
/// first cells, or of all. The k-th best of some is no better than that of all: it spares the counting of most.
template <class StateHandle, class ProgressHandle>
struct rank {
  using State = typename StateHandle::state;
  using classes = typename State::classes;
  static constexpr char const* label = "karpos::top_k::rank";

  StateHandle s;
  ProgressHandle p;
  std::uint64_t first;  // cells; 0: survivors

  std::uint64_t work() const { return first > 0 ? first : p->survivors; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    sums_by_mask<State> const sums(team, *s);
    std::uint64_t const n = first > 0 ? first : p->survivors;
    class_counts<State> const histogram(team, s->histogram + classes::count, n);
    auto const count = [layout = s->layout, sums, histogram,
                        threshold = p->threshold](typename State::cell c) {
      std::uint64_t const lower = sums.lower(layout.sum(c), layout.seen(c));
      if (lower >= threshold && layout.seen(c) != 0) histogram.change(lower - threshold, 1);
    };
    auto const* const cells = s->cells;
    if (first > 0) {
      for_each_index<State>(
          team, n, [=](std::uint64_t i) { return cells[i]; },
          [=](std::uint64_t, typename State::cell c) { count(c); });
      for_each_index<State>(team, (n + 31) / 32, [&](std::uint64_t w) {
        s->marked[w] = 0;  // of a list given up
      });
    } else {
      std::uint32_t const* const places = s->survivors[p->list];
      for_each_index<State>(team, n, [=](std::uint64_t i) { count(cells[places[i]]); });
    }
    histogram.flush(team);
  }
};

/// Keeps the survivors that may have more than the threshold; the others lose their mark.
template <class StateHandle, class ProgressHandle>
struct sift {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::sift";

  StateHandle s;
  ProgressHandle p;

  std::uint64_t work() const { return p->survivors; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    sums_by_mask<State> const sums(team, *s);
    std::uint32_t const* const from = s->survivors[p->list];
    std::uint32_t const all = s->lists.lists == 32 ? ~0u : (1u << s->lists.lists) - 1;
    for_each_index<State>(team, p->survivors, [&](std::uint64_t i) {
      std::uint32_t const place = from[i];
      auto const c = s->cells[place];
      std::uint32_t const seen = s->layout.seen(c);
      if (sums.upper(s->layout.sum(c), seen) > p->threshold) {
        append_survivor(*s, s->survivors[1 - p->list], place);
        if (seen != all) device::add(&s->words->count.open, 1u);
      } else {
        device::clear_bits(s->marked + place / 32, std::uint32_t(1) << (place % 32));
      }
    });
  }
};

}  // namespace karpos::detail::top_k
