// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/top_k/cells.hpp"
#include "karpos/detail/top_k/entries.hpp"
#include "karpos/detail/top_k/objects.hpp"
#include "karpos/detail/top_k/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"
#include "karpos/top_k_options.hpp"

// What the steps of a query by cells share.

namespace karpos::detail::top_k {

/// What one team finds out for all, between two steps.
struct measured {
  std::uint64_t threshold;    // k objects have as many units, at least
  std::uint64_t unseen_most;  // no object that was never seen has more
  std::uint64_t usable;       // scores are finite
};
struct counted {
  std::uint32_t survivors;  // objects that may have more than the threshold
  std::uint32_t open;       // of these, not seen in every list
  std::uint32_t scores[2];  // of finalists, found in even strides and in odd ones
  std::uint32_t strangers;  // an id has no place
  std::uint32_t unused;
};
/// Where a query leaves its report.
struct ranking_record {
  std::uint64_t grown, shrunk, collected;
  std::uint64_t candidates, survivors, strides;
  std::uint64_t bailed, crowded;
};
struct query_words {
  measured measure;
  counted count;
  ranking_record record;
  score_units units;
  unseen_units unseen;
};

/// Where a query is. One copy for a program, or for each team of a cooperative kernel.
struct ranking_progress {
  std::uint64_t threshold;
  std::uint64_t begin, depth;              // the stride
  std::uint64_t grown, shrunk, collected;  // depth of the phases
  std::uint64_t strides;
  std::uint32_t candidates, survivors;
  std::uint32_t scores[2];  // as counted
  int list;                 // which of the two holds the survivors
  bool growing, shrinking, collecting;
  bool bailed;   // everything was read
  bool crowded;  // cells cannot tell so many objects apart: rows must

  KOKKOS_FUNCTION void stride(double factor, std::uint64_t least, std::uint64_t longest) {
    double const to = static_cast<double>(depth) * factor;
    begin = depth;
    depth = to < static_cast<double>(longest) ? static_cast<std::uint64_t>(to) : longest;
    if (depth < begin + least) depth = begin + least < longest ? begin + least : longest;
    ++strides;
  }
};

template <class ExecSpace, class Id, class Score, class Cell>
struct cell_state {
  using id = Id;
  using score = Score;
  using cell = Cell;
  using classes = sum_classes<Cell>;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::tile_width;
  static constexpr std::size_t histogram_bytes = classes::count * sizeof(std::uint32_t);
  static constexpr std::size_t team_bytes =
      histogram_bytes + 2 * 4 * 256 * sizeof(std::uint64_t);  // and sums by mask

  sorted_lists_ref<Id, Score> lists;
  object_table<Id> objects;
  cell_layout<Cell> layout;
  weighted_sum aggregate;
  double missing_score;
  std::uint64_t k;
  Cell* cells;
  std::uint32_t* marked;  // a bit for each place: survives
  std::uint32_t* survivors[2];
  std::uint32_t survivor_room, final_room;
  std::uint32_t* histogram;  // two, of classes::count
  query_words* words;
  double* final_scores;  // [final_room][lists], NaN: not found
  ranked_object<Id>* finals;
  results<Id> out;

  KOKKOS_FUNCTION std::uint64_t list_count() const {
    return static_cast<std::uint64_t>(lists.lists);
  }
  KOKKOS_FUNCTION bool survives(std::uint64_t place) const {
    return (marked[place / 32] >> (place % 32) & 1) != 0;
  }
  /// What list i gives at least, and at most, to an object that has not been seen in it.
  KOKKOS_FUNCTION void unseen(int i, std::uint64_t depth) const {
    auto const& l = lists[i];
    auto const& units = words->units;
    bool const has_all = lists.has_all(i);
    std::uint64_t least = 0, most = 0;
    if (depth < l.length) {
      double const next = l.scores[depth == 0 ? 0 : depth - 1];
      most = units.of(i, has_all || next > missing_score ? next : missing_score);
    } else if (!has_all) {
      least = most = units.of(i, missing_score);
    }
    words->unseen.least[i] = least;
    words->unseen.most[i] = most;
  }
};

/// Sums over the lists that an object has not been seen in, looked up by eight lists at a time.
template <class State>
class sums_by_mask {
 public:
  template <class Team>
  KOKKOS_FUNCTION sums_by_mask(Team const& team, State const& s)
      : m_sums(reinterpret_cast<std::uint64_t*>(team.scratch() + State::histogram_bytes)),
        m_lists(s.lists.lists),
        m_margin(s.layout.margin()) {
    int const entries = m_lists < 8 ? 1 << m_lists : tables() * 256;
    for (int e = team.rank(); e < entries; e += team.size()) {
      std::uint64_t least = 0, most = 0;
      for (int i = e / 256 * 8; i < e / 256 * 8 + 8 && i < m_lists; ++i)
        if ((e >> (i % 8) & 1) == 0) {
          least += s.words->unseen.least[i];
          most += s.words->unseen.most[i];
        }
      m_sums[2 * e] = least;
      m_sums[2 * e + 1] = most;
    }
    team.barrier();
  }
  KOKKOS_FUNCTION std::uint64_t lower(std::uint64_t sum, std::uint32_t seen) const {
    return sum + look_up(seen, 0);
  }
  KOKKOS_FUNCTION std::uint64_t upper(std::uint64_t sum, std::uint32_t seen) const {
    return sum + look_up(seen, 1) + m_margin;
  }

 private:
  KOKKOS_FUNCTION int tables() const { return (m_lists + 7) / 8; }
  KOKKOS_FUNCTION std::uint64_t look_up(std::uint32_t seen, int which) const {
    std::uint64_t sum = m_sums[2 * static_cast<int>(seen & 255) + which];
    for (int t = 1; t < tables(); ++t)
      sum += m_sums[2 * (t * 256 + static_cast<int>(seen >> (8 * t) & 255)) + which];
    return sum;
  }
  std::uint64_t* m_sums;
  int m_lists;
  std::uint64_t m_margin;
};

/// Counts by classes of sums: in the team's scratch when there is much to count, else where the counts are wanted.
template <class State>
class class_counts {
 public:
  using classes = typename State::classes;

  /// Classes of sums below `least` are not counted.
  template <class Team>
  KOKKOS_FUNCTION class_counts(Team const& team, std::uint32_t* to, std::uint64_t changes,
                               std::uint64_t least = 0)
      : m_to(to),
        m_own(changes > classes::count ? reinterpret_cast<std::uint32_t*>(team.scratch())
                                       : nullptr),
        m_first(static_cast<int>(classes::of(least))) {
    if (m_own == nullptr) return;
    for (int c = m_first + team.rank(); c < classes::count; c += team.size()) m_own[c] = 0;
    team.barrier();
  }
  KOKKOS_FUNCTION void change(std::uint64_t sum, std::uint32_t by) const {
    if (m_own != nullptr)
      device::fetch_add(device::scratch(m_own + classes::of(sum)), by);
    else
      device::add(m_to + classes::of(sum), by);
  }
  template <class Team>
  KOKKOS_FUNCTION void flush(Team const& team) const {
    if (m_own == nullptr) return;
    team.barrier();
    for (int c = m_first + team.rank(); c < classes::count; c += team.size())
      if (m_own[c] != 0) device::add(m_to + c, m_own[c]);
  }

 private:
  std::uint32_t *m_to, *m_own;
  int m_first;
};

/// How many of n entries a lane has in a row: fewer where there are not enough for all lanes of a league.
template <class State, class Team>
KOKKOS_FUNCTION std::uint64_t entries_in_a_row(Team const& team, std::uint64_t n) {
  auto const most = static_cast<std::uint64_t>(State::tuned::entries_of_a_lane);
  std::uint64_t const each = n / (static_cast<std::uint64_t>(team.league_size()) *
                                  static_cast<std::uint64_t>(team.size())) +
                             1;
  return each < most ? each : most;
}

/// Runs body(list, first, last) for the entries [begin, end) of all lists: a lane has first, first + width, … below last.
template <class State, class Team, class Body>
KOKKOS_FUNCTION void for_each_entry(Team& team, State const& s, std::uint64_t begin,
                                    std::uint64_t end, Body const& body) {
  constexpr int width = State::width;
  if (begin >= end) return;
  std::uint64_t const part = width * entries_in_a_row<State>(team, (end - begin) * s.list_count());
  std::uint64_t const parts = (end - begin + part - 1) / part;
  auto const t = team.template this_tile<width>();
  team.template for_each_tile<width>(parts * s.list_count(), [&](std::uint64_t i) {
    auto const list = static_cast<int>(i / parts);
    std::uint64_t const first = begin + i % parts * part;
    std::uint64_t const length = s.lists[list].length;
    std::uint64_t const stop = end < length ? end : length;
    std::uint64_t const last = first + part < stop ? first + part : stop;
    if (first < last)
      t.each([&](int lane) {
        body(list, first + static_cast<std::uint64_t>(lane), last);
        return 0;
      });
  });
}

/// For i = first, first + width, … below last: a = load(i), b = look(a), use(i, a, b). Several loads and looks come
/// before their uses, so that as many cache misses overlap: neither may change anything.
template <class State, class Load, class Look, class Use>
KOKKOS_FORCEINLINE_FUNCTION void in_batches(std::uint64_t first, std::uint64_t last,
                                            Load const& load, Look const& look, Use const& use) {
  constexpr int n = State::tuned::entries_at_once;
  constexpr auto step = static_cast<std::uint64_t>(State::width);
  using loaded = decltype(load(first));
  using seen = decltype(look(load(first)));
  std::uint64_t i = first;
  for (; i + (n - 1) * step < last; i += n * step) {
    loaded a[n];
    seen b[n];
    for (int j = 0; j < n; ++j) a[j] = load(i + static_cast<std::uint64_t>(j) * step);
    for (int j = 0; j < n; ++j) b[j] = look(a[j]);
    for (int j = 0; j < n; ++j) use(i + static_cast<std::uint64_t>(j) * step, a[j], b[j]);
  }
  for (; i < last; i += step) {
    auto const a = load(i);
    use(i, a, look(a));
  }
}

/// Runs use(i, load(i)) for i in [0, n), each on one lane of the league. load changes nothing.
template <class State, class Team, class Load, class Use>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, Load const& load, Use const& use) {
  constexpr int width = State::width;
  std::uint64_t const part = width * entries_in_a_row<State>(team, n);
  auto const t = team.template this_tile<width>();
  team.template for_each_tile<width>((n + part - 1) / part, [&](std::uint64_t p) {
    std::uint64_t const last = (p + 1) * part < n ? (p + 1) * part : n;
    t.each([&](int lane) {
      in_batches<State>(
          p * part + static_cast<std::uint64_t>(lane), last, load, [](auto const&) { return 0; },
          [&](std::uint64_t i, auto const& loaded, int) { use(i, loaded); });
      return 0;
    });
  });
}
template <class State, class Team, class Body>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, Body const& body) {
  for_each_index<State>(
      team, n, [](std::uint64_t) { return 0; }, [&](std::uint64_t i, int) { body(i); });
}

}  // namespace karpos::detail::top_k
