// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/top_k/state.hpp"

// The growing phase: every entry counts, until the k-th best of what objects have for sure is more than an object could
// have that was never seen.

namespace karpos::detail::top_k {

/// Chooses the unit: of the sums' range, or of what double can tell apart.
template <class StateHandle>
struct prepare {
  using State = typename StateHandle::state;
  static constexpr char const* label = "karpos::top_k::prepare";

  StateHandle s;

  std::uint64_t work() const { return 1; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() != 0) return;
    auto* const range = reinterpret_cast<double*>(team.scratch());
    auto* const largest = range + max_lists;
    for (int i = team.rank(); i < s->lists.lists; i += team.size()) look(i, range[i], largest[i]);
    team.barrier();
    if (team.rank() != 0) return;
    double sum = 0, magnitude = 0;
    for (int i = 0; i < s->lists.lists; ++i) {
      sum += range[i];
      magnitude += largest[i];
    }
    choose(sum, magnitude);
  }

 private:
  /// The floor of a list, and how far its scores lie apart and from zero, weighted.
  KOKKOS_FUNCTION void look(int i, double& range, double& largest) const {
    auto const& l = s->lists[i];
    double const missing = s->missing_score, weight = s->aggregate.weight(i);
    double low = missing, high = missing;
    if (l.length > 0) {
      double const top = l.scores[0], last = l.scores[l.length - 1];
      bool const has_all = s->lists.has_all(i);
      low = has_all || last < missing ? last : missing;
      high = has_all || top > missing ? top : missing;
    }
    s->words->units.floor[i] = low;
    range = weight > 0 ? weight * (high - low) : 0;
    largest = weight > 0 ? weight * (Kokkos::fabs(low) + Kokkos::fabs(high)) : 0;
  }
  KOKKOS_FUNCTION static int exponent(double x) {
    return static_cast<int>(Kokkos::floor(Kokkos::log2(x)));
  }
  KOKKOS_FUNCTION void choose(double sum, double magnitude) const {
    int const n = s->lists.lists;
    double const most = magnitude * n * 1.0001;  // more than the sum
    bool usable = sum > 0 && most - most == 0;
    int e = 0;
    if (usable) {
      int const by_range = s->layout.sum_bits(n) - 1 - exponent(sum * 1.0001);
      int const by_rounding = 49 - exponent(most);
      e = by_range < by_rounding ? by_range : by_rounding;
      e = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    }
    s->words->unseen = {};
    for (int i = 0; i < n; ++i) {
      double const factor = s->aggregate.weight(i) * Kokkos::exp2(static_cast<double>(e));
      s->words->units.factor[i] = factor;
      usable = usable && factor - factor == 0;
    }
    s->words->measure = {0, 0, usable ? 1u : 0u};
    s->words->count = {};
  }
};

/// Adds entries of one list to the cells. What the loop needs is copied here: compilers would read it anew after every
/// addition.
template <class State, bool Counts>
class entry_adder {
 public:
  using cell = typename State::cell;
  using id = typename State::id;
  using tuned = typename State::tuned;
  static constexpr int at_once = tuned::entries_at_once;

  /// alone: no other team runs, which saves CPUs a locked instruction.
  KOKKOS_FUNCTION entry_adder(State const& s, int list, std::uint64_t threshold, bool alone)
      : m_list(list),
        m_entries(s.lists[list]),
        m_objects(s.objects),
        m_layout(s.layout),
        m_cells(s.cells),
        m_floor(s.words->units.floor[list]),
        m_factor(s.words->units.factor[list]),
        m_threshold(threshold),
        m_alone(alone) {}

  /// Adds the entries first, first + width, … below last. Returns: whether every id had a place.
  KOKKOS_FORCEINLINE_FUNCTION bool add_all(std::uint64_t first, std::uint64_t last,
                                           class_counts<State> const& counts) const {
    constexpr auto step = static_cast<std::uint64_t>(State::width);
    bool sound = true;
    std::uint64_t at = first;
    for (; at + (at_once - 1) * step < last; at += at_once * step) {
      look_ahead(at);
      sound = add_some<at_once>(at, counts) && sound;
    }
    for (; at < last; at += step) sound = add_some<1>(at, counts) && sound;
    return sound;
  }

 private:
  /// N entries, so that as many cache misses overlap.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION bool add_some(std::uint64_t at,
                                            class_counts<State> const& counts) const {
    std::uint64_t place[N], units[N];
    cell old[N];
    bool sound = true;
    for (int j = 0; j < N; ++j)
      units[j] = in_units(m_entries.scores[at + offset(j)], m_floor, m_factor);
    for (int j = 0; j < N; ++j) place[j] = m_objects.insert(m_entries.ids[at + offset(j)]);
    for (int j = 0; j < N; ++j) {
      if (place[j] != no_place)
        old[j] = add_to<Counts>(m_cells + place[j], m_layout.addend(m_list, units[j]));
      else
        sound = false;
    }
    if constexpr (Counts)
      for (int j = 0; j < N; ++j)
        if (place[j] != no_place) count(old[j], units[j], counts);
    return sound;
  }
  KOKKOS_FUNCTION static constexpr std::uint64_t offset(int j) {
    return static_cast<std::uint64_t>(j * State::width);
  }
  /// Inlined by force, as prefetch is.
  KOKKOS_FORCEINLINE_FUNCTION void look_ahead([[maybe_unused]] std::uint64_t at) const {
    if constexpr (tuned::prefetch_distance > 0) {
      constexpr std::uint64_t distance = tuned::prefetch_distance;
      if (at + distance + at_once > m_entries.length) return;
      for (std::uint64_t j = 0; j < at_once; ++j) {
        std::uint64_t const place = m_objects.home(m_entries.ids[at + distance + j]);
        if (m_objects.keys != nullptr) device::prefetch(m_objects.keys + place);
        device::prefetch(m_cells + place);
      }
    }
  }
  template <bool Fetches>
  KOKKOS_FORCEINLINE_FUNCTION cell add_to(cell* to, cell v) const {
    cell old{};
    KOKKOS_IF_ON_DEVICE(
        (if constexpr (Fetches) old = device::fetch_add(to, v); else device::add(to, v);))
    KOKKOS_IF_ON_HOST((
        if (m_alone) {
          old = *to;
          *to = old + v;
        } else { old = device::fetch_add(to, v); }))
    return old;
  }
  /// Classes below the threshold's are of no interest any more.
  KOKKOS_FORCEINLINE_FUNCTION void count(cell old, std::uint64_t units,
                                         class_counts<State> const& counts) const {
    std::uint64_t const before = m_layout.sum(old), now = before + units;
    if (now < m_threshold) return;
    counts.change(now, 1);
    if (old != 0 && before >= m_threshold) counts.change(before, ~std::uint32_t(0));
  }

  int m_list;
  sorted_list<id, typename State::score> m_entries;
  object_table<id> m_objects;
  cell_layout<cell> m_layout;
  cell* m_cells;
  double m_floor, m_factor;
  std::uint64_t m_threshold;
  bool m_alone;
};

/// Adds a stride of every list to the cells, and moves objects between the classes of the histogram.
template <class StateHandle, class ProgressHandle, bool Counts>
struct grow {
  using State = typename StateHandle::state;
  static constexpr char const* label =
      Counts ? "karpos::top_k::grow" : "karpos::top_k::read_the_rest";

  StateHandle s;
  ProgressHandle p;

  KOKKOS_FUNCTION std::uint64_t work() const { return (p->depth - p->begin) * s->list_count(); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    class_counts<State> const counts(team, s->histogram, Counts ? work() : 0, p->threshold);
    bool const alone = team.league_size() == 1;
    for_each_entry(team, *s, p->begin, p->depth,
                   [&](int list, std::uint64_t first, std::uint64_t last) {
                     entry_adder<State, Counts> const adder(*s, list, p->threshold, alone);
                     if (!adder.add_all(first, last, counts))
                       device::store_relaxed(&s->words->count.strangers, 1u);
                   });
    counts.flush(team);
  }
};

/// Finds the k-th best of a histogram, and what unseen objects could have at the stride's end. One team does it.
template <class StateHandle, class ProgressHandle>
struct measure {
  using State = typename StateHandle::state;
  using classes = typename State::classes;
  static constexpr char const* label = "karpos::top_k::measure";

  StateHandle s;
  ProgressHandle p;
  bool above_threshold;  // the second histogram, of what objects have above the threshold; emptied

  std::uint64_t work() const { return 1; }

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (team.league_rank() != 0) return;
    std::uint64_t const origin = above_threshold ? p->threshold : 0;
    for (int i = team.rank(); i < s->lists.lists; i += team.size()) s->unseen(i, p->depth);
    if (team.rank() == 0) {
      s->words->measure.threshold = p->threshold;
      s->words->count.survivors = s->words->count.open = 0;
    }
    auto* const histogram = s->histogram + (above_threshold ? classes::count : 0);
    auto const* const counts = read(team, histogram);
    int const each = (classes::count + team.size() - 1) / team.size();
    int const top = classes::count - team.rank() * each;  // this thread's classes lie below
    std::uint64_t mine = 0, total = 0;
    int const bottom = top - each < 0 ? 0 : top - each;
    for (int c = top - 1; c >= bottom && mine < s->k; --c) mine += counts[c];
    std::uint64_t const better = team.prefix_sum(mine, total);
    if (better < s->k && better + mine >= s->k) {
      int c = top;
      for (std::uint64_t sum = better; sum < s->k; sum += counts[c]) --c;
      std::uint64_t const found = origin + classes::smallest(static_cast<std::uint32_t>(c));
      if (found > p->threshold) s->words->measure.threshold = found;
    }
    if (team.rank() == 0) {
      std::uint64_t most = s->layout.margin();
      for (int i = 0; i < s->lists.lists; ++i) most += s->words->unseen.most[i];
      s->words->measure.unseen_most = most;
    }
    if (!above_threshold) return;
    team.barrier();
    for (int c = team.rank(); c < classes::count; c += team.size()) histogram[c] = 0;
  }

 private:
  /// Returns: the histogram; of more threads than one, a copy in scratch, which they have read together: a thread that
  /// walked through its classes would wait for memory at each.
  template <class Team>
  KOKKOS_FUNCTION static std::uint32_t const* read(Team const& team,
                                                   std::uint32_t const* histogram) {
    if (team.size() == 1) return histogram;
    constexpr int n = 12;
    auto* const copy = reinterpret_cast<std::uint32_t*>(team.scratch());
    for (int first = team.rank(); first < classes::count; first += n * team.size()) {
      std::uint32_t v[n];
      for (int j = 0; j < n; ++j) {
        int const c = first + j * team.size();
        v[j] = device::load_relaxed(histogram + (c < classes::count ? c : 0));
      }
      for (int j = 0; j < n; ++j) {
        int const c = first + j * team.size();
        if (c < classes::count) copy[c] = v[j];
      }
    }
    team.barrier();
    return copy;
  }
};

}  // namespace karpos::detail::top_k
