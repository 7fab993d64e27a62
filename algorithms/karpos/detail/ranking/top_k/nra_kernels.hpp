// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "karpos/detail/ranking/top_k/id_table.hpp"
#include "karpos/detail/ranking/top_k/ranked_object.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/sorted_lists.hpp"

// The data of NRA over score vectors, and its kernels; nra_query.hpp runs them.

namespace karpos::detail::top_k {

/// Bounds of each list's contribution to an object not seen in it, at a depth.
struct unseen_scores {
  double lower[max_lists];  // the list's last score, or the missing score if that is lower
  double upper[max_lists];  // the score read last, or the missing score if that is higher
};

/// Counters of the kernels, and bounds that one kernel computes for the others.
struct nra_words {
  std::uint32_t candidates;    // number of entries in the list that is being made
  std::uint32_t out_of_range;  // 1: an id has no slot
  unseen_scores unseen;
};

/// The arrays of a query, which nra_memory allocates.
template <class Id, class Score>
struct nra_arrays {
  Score* score_vectors;    // [slots][lists], NaN: not seen
  std::uint32_t* visited;  // bitmap of slots: seen in the growing phase, later: still a candidate
  std::uint32_t* candidates[2];  // slots: a list is filtered into the other
  double *lower, *upper;         // bounds of each candidate
  double* sorted;                // lower bounds, to find the k-th largest
  nra_words* words;
  ranked_object<Id>* ranked;
  typename id_table<Id>::word* keys;  // of sparse ids
  std::uint64_t max_candidates, bitmap_words, slots;
};

template <class Id, class Score>
struct nra_state : nra_arrays<Id, Score> {
  using id = Id;
  using score = Score;
  sorted_lists_ref<Id, Score> lists;
  id_table<Id> ids;
};

template <class State>
struct bound_unseen_scores {
  State s;
  std::uint64_t depth;
  double missing_score;

  KOKKOS_FUNCTION void operator()(std::uint64_t list) const {
    int const i = static_cast<int>(list);
    auto const& l = s.lists[i];
    double lower = missing_score, upper = missing_score;
    if (depth < l.length) {
      double const last = l.scores[l.length - 1];
      double const last_read = depth == 0 ? HUGE_VAL : l.scores[depth - 1];
      bool const has_all = s.lists.has_all(i);
      lower = has_all ? last : Kokkos::min(last, missing_score);
      upper = has_all ? last_read : Kokkos::max(last_read, missing_score);
    }
    s.words->unseen.lower[i] = lower;
    s.words->unseen.upper[i] = upper;
  }
};

/// Reads the levels [begin, end). Growing: objects seen for the first time become candidates.
/// Otherwise only scores of candidates are stored.
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
    std::uint64_t const slot = growing ? s.ids.insert(l.ids[p]) : s.ids.find(l.ids[p]);
    if (slot == no_slot) {
      if (growing) device::store_relaxed(&s.words->out_of_range, 1u);
      return;
    }
    std::uint32_t const bit = std::uint32_t(1) << (slot % 32);
    std::uint32_t* const word = s.visited + slot / 32;
    if (growing) {
      if ((device::fetch_or(word, bit) & bit) == 0) append(static_cast<std::uint32_t>(slot));
    } else if ((device::load_relaxed(word) & bit) == 0) {
      return;
    }
    s.score_vectors[slot * static_cast<std::uint64_t>(s.lists.lists) +
                    static_cast<std::uint64_t>(list)] = l.scores[p];
  }

 private:
  KOKKOS_FUNCTION void append(std::uint32_t slot) const {
    std::uint32_t const at = device::fetch_add(&s.words->candidates, 1);
    if (at < s.max_candidates)
      s.candidates[0][at] = slot;
    else
      device::store_relaxed(&s.words->out_of_range, 1u);
  }
};

/// Computes the lower and upper bound of each candidate: the aggregate of its score vector,
/// completed by the bounds of the lists in which it was not seen.
template <class State, class Aggregate>
struct bound_candidates {
  State s;
  Aggregate aggregate;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    int const n = s.lists.lists;
    auto const* const scores = s.score_vectors + s.candidates[0][c] * static_cast<std::uint64_t>(n);
    double lower[max_lists] = {}, upper[max_lists] = {};
    for (int i = 0; i < n; ++i) {
      auto const seen = static_cast<double>(scores[i]);
      bool const known = seen == seen;
      lower[i] = known ? seen : s.words->unseen.lower[i];
      upper[i] = known ? seen : s.words->unseen.upper[i];
    }
    s.lower[c] = aggregate(lower, n);
    s.upper[c] = aggregate(upper, n);
  }
};

/// Counts of candidates by how their bounds compare to the threshold, the k-th largest lower bound.
struct candidate_counts {
  std::uint64_t above = 0;       // lower bound above: among the first k
  std::uint64_t equal = 0;       // lower bound equal, upper bound above
  std::uint64_t below = 0;       // lower bound below, upper bound above
  std::uint64_t incomplete = 0;  // upper bound not below, and the bounds differ

  KOKKOS_FUNCTION candidate_counts& operator+=(candidate_counts const& o) {
    above += o.above;
    equal += o.equal;
    below += o.below;
    incomplete += o.incomplete;
    return *this;
  }
};

struct count_candidates {
  double const *lower, *upper;
  double threshold;

  KOKKOS_FUNCTION void operator()(std::uint64_t c, candidate_counts& sum) const {
    bool const may_be_above = upper[c] > threshold;
    sum.above += lower[c] > threshold;
    sum.equal += lower[c] == threshold && may_be_above;
    sum.below += lower[c] < threshold && may_be_above;
    sum.incomplete += upper[c] >= threshold && lower[c] != upper[c];
  }
};

/// Keeps the candidates whose upper bound is not below the threshold, and clears the bits of the
/// others.
template <class State>
struct keep_candidates {
  State s;
  double threshold;

  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const slot = s.candidates[0][c];
    if (s.upper[c] >= threshold)
      s.candidates[1][device::fetch_add(&s.words->candidates, 1)] = slot;
    else
      device::clear_bits(s.visited + slot / 32, std::uint32_t(1) << (slot % 32));
  }
};

template <class State>
struct list_ranked {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint32_t const slot = s.candidates[0][c];
    s.ranked[c] = {s.lower[c], s.upper[c], s.ids.id_at(slot), slot};
  }
};

/// Makes the first ranked objects the only candidates.
template <class State>
struct select_finalists {
  State s;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint32_t const slot = s.ranked[i].slot;
    s.candidates[0][i] = slot;
    device::set_bits(s.visited + slot / 32, std::uint32_t(1) << (slot % 32));
  }
};

}  // namespace karpos::detail::top_k

namespace Kokkos {
template <>
struct reduction_identity<karpos::detail::top_k::candidate_counts> {
  KARPOS_STEP_FUNCTION static karpos::detail::top_k::candidate_counts sum() { return {}; }
};
}  // namespace Kokkos
