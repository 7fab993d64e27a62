// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/top_k/entries.hpp"
#include "karpos/detail/top_k/objects.hpp"
#include "karpos/top_k_options.hpp"

// What a query by rows keeps, and its kernels; row_query.hpp runs them.

namespace karpos::detail::top_k {

/// What a list gives to an object that has not been seen in it, at a depth.
struct unseen_scores {
  double least[max_lists];  // where the list holds the object at its very end, or not at all
  double most[max_lists];   // where it is the next one
};

template <class Ref>
struct look_at_depth {
  Ref lists;
  std::uint64_t depth;
  double missing_score;
  unseen_scores* to;

  KOKKOS_FUNCTION void operator()(int i) const {
    auto const& l = lists[i];
    double least = missing_score, most = missing_score;
    if (depth < l.length) {
      double const last = l.scores[l.length - 1];
      double const next = depth == 0 ? HUGE_VAL : l.scores[depth - 1];
      bool const has_all = lists.has_all(i);
      least = has_all || last < missing_score ? last : missing_score;
      most = has_all || next > missing_score ? next : missing_score;
    }
    to->least[i] = least;
    to->most[i] = most;
  }
};

/// The arrays of a query by rows, and its kernels' part of them.
template <class Id, class Score>
struct row_state {
  sorted_lists_ref<Id, Score> lists;
  object_table<Id> objects;
  Score* rows;            // [places][lists], NaN: not seen
  std::uint32_t* marked;  // a bit for each place: seen, later: still a candidate
  std::uint32_t* candidates[2];
  double *lower, *upper;  // of each candidate
  std::uint32_t* count;   // of the list that is being made
  std::uint32_t* strangers;
  unseen_scores* unseen;
  std::uint64_t max_candidates;
};

/// Reads the levels from `begin` to `end`.
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
    std::uint64_t const place = growing ? s.objects.insert(l.ids[p]) : s.objects.find(l.ids[p]);
    if (place == no_place) {
      if (growing) device::store_relaxed(s.strangers, 1u);
      return;
    }
    std::uint32_t const bit = std::uint32_t(1) << (place % 32);
    std::uint32_t* const word = s.marked + place / 32;
    if (growing) {
      if ((device::fetch_or(word, bit) & bit) == 0) append(static_cast<std::uint32_t>(place));
    } else if ((device::load_relaxed(word) & bit) == 0) {
      return;
    }
    s.rows[place * static_cast<std::uint64_t>(s.lists.lists) + static_cast<std::uint64_t>(list)] =
        l.scores[p];
  }

 private:
  KOKKOS_FUNCTION void append(std::uint32_t place) const {
    std::uint32_t const at = device::fetch_add(s.count, 1);
    if (at < s.max_candidates)
      s.candidates[0][at] = place;
    else
      device::store_relaxed(s.strangers, 1u);
  }
};

template <class State, class Aggregate>
struct bound_candidates {
  State s;
  Aggregate aggregate;
  std::uint32_t const* candidates;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    int const n = s.lists.lists;
    auto const* const row = s.rows + candidates[c] * static_cast<std::uint64_t>(n);
    double least[max_lists] = {}, most[max_lists] = {};
    for (int i = 0; i < n; ++i) {
      auto const seen = static_cast<double>(row[i]);
      bool const known = seen == seen;
      least[i] = known ? seen : s.unseen->least[i];
      most[i] = known ? seen : s.unseen->most[i];
    }
    s.lower[c] = aggregate(least, n);
    s.upper[c] = aggregate(most, n);
  }
};

/// How candidates stand to the k-th best lower bound.
struct standings {
  std::uint64_t above = 0;   // sure to be among the first k
  std::uint64_t equal = 0;   // as good as the k-th, may be better
  std::uint64_t behind = 0;  // worse, may be better
  std::uint64_t open = 0;    // may be as good as the k-th, and is not fully known

  KOKKOS_FUNCTION standings& operator+=(standings const& o) {
    above += o.above;
    equal += o.equal;
    behind += o.behind;
    open += o.open;
    return *this;
  }
};

struct count_standings {
  double const *lower, *upper;
  double kth;

  KOKKOS_FUNCTION void operator()(std::uint64_t c, standings& sum) const {
    bool const better = upper[c] > kth;
    sum.above += lower[c] > kth;
    sum.equal += lower[c] == kth && better;
    sum.behind += lower[c] < kth && better;
    sum.open += upper[c] >= kth && lower[c] != upper[c];
  }
};

/// Keeps the candidates that may be as good as the k-th; the others lose their mark.
template <class State>
struct keep_candidates {
  State s;
  double kth;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const place = s.candidates[0][c];
    if (s.upper[c] >= kth)
      s.candidates[1][device::fetch_add(s.count, 1)] = place;
    else
      device::clear_bits(s.marked + place / 32, std::uint32_t(1) << (place % 32));
  }
};

template <class State>
struct list_ranked {
  State s;
  std::uint32_t const* candidates;
  ranked_object<typename decltype(State::lists)::id_type>* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    to[c] = {s.lower[c], s.upper[c], s.objects.id_at(candidates[c]), candidates[c]};
  }
};

template <class State, class Entry>
struct mark_winners {
  State s;
  Entry const* winners;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint32_t const place = winners[i].place;
    s.candidates[0][i] = place;
    device::set_bits(s.marked + place / 32, std::uint32_t(1) << (place % 32));
  }
};

}  // namespace karpos::detail::top_k

namespace Kokkos {
template <>
struct reduction_identity<karpos::detail::top_k::standings> {
  KOKKOS_FORCEINLINE_FUNCTION static karpos::detail::top_k::standings sum() { return {}; }
};
}  // namespace Kokkos

namespace karpos::detail::top_k {

/// Memory of a query by rows.
template <class ExecSpace, class Id, class Score, class MemorySpace>
struct row_memory {
  template <class T>
  using array = Kokkos::View<T*, MemorySpace>;
  array<Score> rows;
  array<std::uint32_t> marked, candidates[2], counters;
  array<double> lower, upper, ordered;
  array<unseen_scores> unseen;
  array<ranked_object<Id>> entries;
  array<typename object_table<Id>::word> keys;  // of sparse ids

  static std::size_t bytes_for(std::uint64_t places, std::uint64_t objects, int lists) {
    return (places == objects ? 0 : places * sizeof(Id)) +
           places * static_cast<std::size_t>(lists) * sizeof(Score) + (places + 31) / 32 * 4 +
           objects * (2 * sizeof(std::uint32_t) + 3 * sizeof(double) + sizeof(ranked_object<Id>)) +
           2 * sizeof(std::uint32_t) + sizeof(unseen_scores);
  }
  void allocate(ExecSpace const& exec, std::uint64_t places, std::uint64_t objects, int lists,
                bool dense) {
    auto const make = [&](auto& view, char const* label, std::uint64_t n) {
      view = uninitialized_array<std::remove_reference_t<decltype(view)>>(
          exec, table_label("top_k", label), n);
    };
    make(rows, "rows", places * static_cast<std::uint64_t>(lists));
    make(marked, "marked", (places + 31) / 32);
    for (auto& c : candidates) make(c, "candidates", objects);
    make(lower, "lower", objects);
    make(upper, "upper", objects);
    make(ordered, "ordered", objects);
    make(counters, "counters", 2);
    make(unseen, "unseen", 1);
    make(entries, "entries", objects);
    make(keys, "keys", dense ? 0 : places);
  }
};

}  // namespace karpos::detail::top_k
