// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/common/batches.hpp"
#include "karpos/detail/ranking/top_k/state.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/team.hpp"

// Helpers of the steps of a query over accumulators: loops over entries and over indices,
// histograms in scratch, tables of bounds. Terms, in Kokkos' words first: a team is a CUDA block,
// scratch is shared memory, a tile is a cooperative group of lanes (threads), the league is the
// grid.

namespace karpos::detail::top_k {

/// Returns how many of n entries each lane handles in one piece: tuning's entries_per_lane, or
/// fewer if that would leave lanes idle.
template <class State, class Team>
KOKKOS_FUNCTION std::uint64_t entries_per_lane(Team const& team, std::uint64_t n) {
  auto const lanes =
      static_cast<std::uint64_t>(team.league_size()) * static_cast<std::uint64_t>(team.size());
  std::uint64_t const each = n / lanes + 1;
  return Kokkos::min(each, static_cast<std::uint64_t>(State::tuned::entries_per_lane));
}

/// Stands for all lists instead of one.
inline constexpr int all_lists = -1;

/// Runs body(list, first, last) for the levels [begin, end) of all lists, or of list `only`. A lane
/// handles the entries first, first + width, … below last.
template <class State, class Team, class Body>
KOKKOS_FUNCTION void for_each_entry(Team& team, State const& s, std::uint64_t begin,
                                    std::uint64_t end, Body const& body, int only = all_lists) {
  constexpr int width = State::width;
  if (begin >= end) return;
  std::uint64_t const lists = only == all_lists ? s.list_count() : 1;
  std::uint64_t const part = width * entries_per_lane<State>(team, (end - begin) * lists);
  std::uint64_t const parts = (end - begin + part - 1) / part;
  auto const t = team.template this_tile<width>();
  team.template for_each_tile<width>(parts * lists, [&](std::uint64_t i) {
    auto const list = only == all_lists ? static_cast<int>(i / parts) : only;
    std::uint64_t const first = begin + i % parts * part;
    std::uint64_t const length = s.lists[list].length;
    std::uint64_t const stop = Kokkos::min(end, length);
    std::uint64_t const last = Kokkos::min(first + part, stop);
    if (first < last)
      t.each([&](int lane) {
        KARPOS_INLINE_CALLS body(list, first + static_cast<std::uint64_t>(lane), last);
      });
  });
}

/// Runs use(i, load(i)) for i in [0, n), each on one lane of the league. Requires: load has no side
/// effects.
template <class State, class Team, class Load, class Use>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, Load const& load, Use const& use) {
  constexpr int width = State::width;
  std::uint64_t const part = width * entries_per_lane<State>(team, n);
  auto const t = team.template this_tile<width>();
  team.template for_each_tile<width>((n + part - 1) / part, [&](std::uint64_t p) {
    std::uint64_t const last = Kokkos::min((p + 1) * part, n);
    t.each([&](int lane) {
      std::uint64_t i = p * part + static_cast<std::uint64_t>(lane);
      // CPUs overlap the cache misses of this order by themselves; copies stay in registers.
      if constexpr (State::on_cpu) {
        Load const own_load = load;
        Use const own_use = use;
        for (; i < last; ++i) own_use(i, own_load(i));
      } else {
        load_then_use<State::tuned::batch>(
            i, last, width, load, [](auto const&) { return 0; },
            [&](std::uint64_t at, auto const& loaded, int) { use(at, loaded); });
      }
    });
  });
}
template <class State, class Team, class Body>
KOKKOS_FUNCTION void for_each_index(Team& team, std::uint64_t n, Body const& body) {
  for_each_index<State>(
      team, n, [](std::uint64_t) { return 0; }, [&](std::uint64_t i, int) { body(i); });
}

/// Appends a slot to a list of candidates, and sets its bit in the bitmap.
template <class State>
KOKKOS_FUNCTION void append_candidate(State const& s, std::uint32_t* list, std::uint64_t slot) {
  std::uint32_t const at = device::fetch_add(&s.words->counts.candidates, 1);
  if (at < s.max_candidates) list[at] = static_cast<std::uint32_t>(slot);
  device::set_bits(s.candidate_bitmap + slot / 32, std::uint32_t(1) << (slot % 32));
}

/// A histogram of sums. It is private to the team, in scratch, if there are more increments than
/// buckets; else it is the shared histogram. flush() adds a private one to the shared one.
class team_histogram {
 public:
  /// min_sum: smaller sums are not counted.
  template <class Team>
  KOKKOS_FUNCTION team_histogram(Team const& team, sum_buckets buckets, std::uint32_t* shared,
                                 std::uint64_t increments, std::uint64_t min_sum = 0)
      : m_buckets(buckets),
        m_shared(shared),
        m_private(increments > static_cast<std::uint64_t>(buckets.count())
                      ? reinterpret_cast<std::uint32_t*>(team.scratch())
                      : nullptr),
        m_first(static_cast<int>(buckets.of(min_sum))) {
    if (m_private == nullptr) return;
    for (int b = m_first + team.rank(); b < m_buckets.count(); b += team.size()) m_private[b] = 0;
    team.barrier();
  }
  KOKKOS_FUNCTION void add(std::uint64_t sum, std::uint32_t by) const {
    std::uint32_t const bucket = m_buckets.of(sum);
    if (m_private != nullptr)
      device::fetch_add(device::scratch(m_private + bucket), by);
    else
      device::add(m_shared + bucket, by);
  }
  template <class Team>
  KOKKOS_FUNCTION void flush(Team const& team) const {
    if (m_private == nullptr) return;
    team.barrier();
    for (int b = m_first + team.rank(); b < m_buckets.count(); b += team.size())
      if (m_private[b] != 0) device::add(m_shared + b, m_private[b]);
  }

 private:
  sum_buckets m_buckets;
  std::uint32_t *m_shared, *m_private;
  int m_first;
};

/// Computes the lower and upper bound of an object from its partial sum and the set of lists in
/// which it was seen. The contributions of the other lists are tabulated in scratch, by sets of
/// eight lists each.
class bound_tables {
 public:
  template <class State, class Team>
  KOKKOS_FUNCTION bound_tables(Team const& team, State const& s)
      : m_sums(reinterpret_cast<std::uint64_t*>(team.scratch() + histogram_bytes)),
        m_lists(s.lists.lists) {
    int const sets = m_lists < 8 ? 1 << m_lists : tables() * 256;
    for (int e = team.rank(); e < sets; e += team.size()) {
      std::uint64_t lower = 0, upper = 0;
      for (int i = e / 256 * 8; i < e / 256 * 8 + 8 && i < m_lists; ++i)
        if ((e >> (i % 8) & 1) == 0) {
          lower += s.words->unseen.lower[i];
          upper += s.words->unseen.upper[i];
        }
      m_sums[2 * e] = lower;
      m_sums[2 * e + 1] = upper;
    }
    team.barrier();
  }
  KOKKOS_FUNCTION std::uint64_t lower(std::uint64_t sum, std::uint32_t seen) const {
    return sum + unseen(seen, 0);
  }
  KOKKOS_FUNCTION std::uint64_t upper(std::uint64_t sum, std::uint32_t seen) const {
    return sum + unseen(seen, 1) + margin_of(m_lists);
  }
  /// Returns a bound: objects with a smaller partial sum have no upper bound above the threshold.
  KOKKOS_FUNCTION std::uint64_t min_sum_above(std::uint64_t threshold) const {
    return threshold - Kokkos::min(threshold, upper(0, 0));
  }

 private:
  KOKKOS_FUNCTION int tables() const { return (m_lists + 7) / 8; }
  KOKKOS_FUNCTION std::uint64_t unseen(std::uint32_t seen, int which) const {
    std::uint64_t sum = m_sums[2 * static_cast<int>(seen & 255) + which];
    for (int t = 1; t < tables(); ++t)
      sum += m_sums[2 * (t * 256 + static_cast<int>(seen >> (8 * t) & 255)) + which];
    return sum;
  }
  std::uint64_t* m_sums;
  int m_lists;
};

}  // namespace karpos::detail::top_k
