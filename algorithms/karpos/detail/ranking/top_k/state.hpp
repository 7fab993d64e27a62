// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/ranking/top_k/accumulator.hpp"
#include "karpos/detail/ranking/top_k/id_table.hpp"
#include "karpos/detail/ranking/top_k/ranked_object.hpp"
#include "karpos/detail/ranking/top_k/tuning.hpp"
#include "karpos/top_k_options.hpp"

// The data of a query over accumulators (accumulator_query.hpp): arrays that its steps share, and
// the progress that its loop keeps between them.

namespace karpos::detail::top_k {

/// Bounds that one team computes between two steps, on which the loop decides.
struct query_bounds {
  std::uint64_t threshold;     // lower bound of the k-th largest lower bound, in units
  std::uint64_t unseen_upper;  // upper bound of objects not seen in any list
  std::uint64_t usable;        // nonzero: scores are finite, so fixed point can hold them
};
/// Counters of all teams.
struct query_counts {
  std::uint32_t candidates;    // objects whose upper bound is above the threshold
  std::uint32_t incomplete;    // candidates that have not been seen in every list
  std::uint32_t scores[2];     // finalists' scores found, in even strides and in odd ones
  std::uint32_t out_of_range;  // 1: an id has no slot
  std::uint32_t unused;
};
/// Totals of a query for its report. Depths are those at the end of each phase.
struct query_record {
  std::uint64_t growing_depth, shrinking_depth, completing_depth;
  std::uint64_t candidates, finalists, strides;
  std::uint64_t bailed_out, needs_fallback;
};
struct query_words {
  query_bounds bounds;
  query_counts counts;
  query_record record;
  fixed_point units;
  unseen_bounds unseen;
};

/// State that the loop over phases keeps: one copy of a program, or one for each team of a
/// cooperative kernel.
struct query_progress {
  std::uint64_t threshold;
  std::uint64_t begin, depth;  // the stride: levels [begin, depth)
  std::uint64_t growing_depth, shrinking_depth, completing_depth;
  std::uint64_t strides;
  std::uint32_t candidates_after_growing;  // candidates at the end of the growing phase
  std::uint32_t candidates;                // candidates now
  std::uint32_t scores[2];                 // query_counts::scores when last read
  int list;                                // which of the two candidate lists is valid
  bool growing, shrinking, completing;
  bool agreement_checked;  // whether the lists' agreement has been checked
  bool bailed_out;         // all entries are read
  bool candidates_listed;  // candidates have been listed before
  bool must_relist;        // list again by all slots: a sample of them left too many candidates
  bool needs_fallback;  // fixed point cannot separate the candidates; NRA over score vectors must

  /// Begins the next stride: the depth grows by a factor, and by at least min_levels.
  KOKKOS_FUNCTION void next_stride(double factor, std::uint64_t min_levels, std::uint64_t longest) {
    double const to = static_cast<double>(depth) * factor;
    begin = depth;
    depth = to < static_cast<double>(longest) ? static_cast<std::uint64_t>(to) : longest;
    if (depth < begin + min_levels) depth = Kokkos::min(begin + min_levels, longest);
    ++strides;
  }
};

/// Bytes of a team's scratch: a histogram, followed by the tables of bound_tables.
inline constexpr std::size_t histogram_bytes =
    sizeof(std::uint32_t) *
    static_cast<std::size_t>(
        Kokkos::max(buckets_of<std::uint32_t>().count(), buckets_of<std::uint64_t>().count()));
inline constexpr std::size_t team_bytes = histogram_bytes + 2 * 4 * 256 * sizeof(std::uint64_t);

/// The part of the state that does not depend on the width of accumulators, 32 or 64 bits. Steps
/// that need nothing else are compiled once. CPUs compile the other steps once, too, with
/// any_accumulators.
template <class ExecSpace, class Id, class Score>
struct query_state {
  using id = Id;
  using score = Score;
  using tuned = tuning<ExecSpace>;
  static constexpr int width = tuned::tile_width;
  static constexpr bool on_cpu = !device::is_device<ExecSpace>;

  sorted_lists_ref<Id, Score> lists;
  id_table<Id> ids;
  weighted_sum aggregate;
  double missing_score;
  std::uint64_t k;
  int sum_bits;                     // of an accumulator's partial sum
  std::uint32_t* candidate_bitmap;  // a bit for each slot
  std::uint32_t* candidates[2];     // slots; one list is filtered into the other
  std::uint32_t max_candidates, max_finalists;
  std::uint32_t* histogram;  // two, of sum_buckets::count
  query_words* words;
  double* final_scores;  // [max_finalists][lists], NaN: not found
  ranked_object<Id>* finalists;
  results<Id> out;

  KOKKOS_FUNCTION std::uint64_t list_count() const {
    return static_cast<std::uint64_t>(lists.lists);
  }
  /// Bounds of a list's contribution to an object not seen in it, at a depth.
  struct list_bounds {
    std::uint64_t lower, upper;
  };
  KARPOS_STEP_FUNCTION list_bounds bounds_of_unseen(int i, std::uint64_t depth) const {
    auto const& l = lists[i];
    auto const& units = words->units;
    bool const has_all = lists.has_all(i);
    list_bounds bounds{0, 0};
    if (depth < l.length) {
      double const last_read = l.scores[depth == 0 ? 0 : depth - 1];
      bounds.upper = units.of(i, has_all ? last_read : Kokkos::max(last_read, missing_score));
    } else if (!has_all) {
      bounds.lower = bounds.upper = units.of(i, missing_score);
    }
    return bounds;
  }
  KOKKOS_FUNCTION std::uint64_t margin() const { return margin_of(lists.lists); }
  KOKKOS_FUNCTION bool is_candidate(std::uint64_t slot) const {
    return (candidate_bitmap[slot / 32] >> (slot % 32) & 1) != 0;
  }
};

template <class ExecSpace, class Id, class Score, class Accumulators>
struct accumulator_state : query_state<ExecSpace, Id, Score> {
  using base = query_state<ExecSpace, Id, Score>;
  using word = typename Accumulators::word;

  accumulator_layout<word> layout;
  Accumulators accumulators;
};

}  // namespace karpos::detail::top_k
