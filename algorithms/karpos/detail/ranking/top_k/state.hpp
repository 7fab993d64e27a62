// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/ranking/top_k/objects.hpp"
#include "karpos/detail/ranking/top_k/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/sorted_lists.hpp"
#include "karpos/top_k_options.hpp"

// The data of queries: accumulators, the arrays that the steps of a query share, and the progress
// that its loop keeps between them (run.hpp); the arrays of NRA over score vectors (nra.hpp).
//
// The accumulator of an object: its partial sum and the set of lists in which it was seen. Both are
// packed into one word, so that one atomic addition updates both.
//
//   | partial sum, in fixed point | lists seen, a bit each |
//
// A score adds weight * (score - lowest score of the list) / unit, rounded down: at least 0, and
// never more than the exact contribution. The lowest score may be the missing score, if the list
// may lack objects. So the partial sum is a lower bound, at most `margin` units below the exact sum
// over the lists seen. The unit is a power of two: as small as the word allows, but no smaller than
// the rounding error of the aggregate in double.

namespace karpos::detail::top_k {

/// Buckets of a histogram of partial sums: log-linear, 2^sub_bits buckets an octave. A bucket is
/// identified by its lower edge, so the bucket of the k-th largest sum gives a lower bound of that
/// sum.
struct sum_buckets {
  int sub_bits;
  int sum_bits;  // bits of the largest sum

  KOKKOS_FUNCTION constexpr int count() const { return (sum_bits - sub_bits + 1) << sub_bits; }
  KOKKOS_FUNCTION std::uint32_t of(std::uint64_t sum) const {
    if (sum >> sum_bits != 0)
      return static_cast<std::uint32_t>(count() - 1);  // possible if lists are not sorted
    if (sum >> sub_bits == 0) return static_cast<std::uint32_t>(sum);
    int const shift = 63 - Kokkos::Experimental::countl_zero_builtin(sum) - sub_bits;
    return (static_cast<std::uint32_t>(shift) << sub_bits) +
           static_cast<std::uint32_t>(sum >> shift);
  }
  KOKKOS_FUNCTION std::uint64_t lower_edge(std::uint32_t bucket) const {
    std::uint64_t const sub = std::uint64_t(1) << sub_bits;
    if (bucket < 2 * sub) return bucket;
    int const shift = static_cast<int>(bucket >> sub_bits) - 1;
    return ((bucket & (sub - 1)) + sub) << shift;
  }
};
/// Returns the buckets of sums in accumulators of type Word.
template <class Word>
KOKKOS_FUNCTION constexpr sum_buckets buckets_of() {
  return sizeof(Word) == 4 ? sum_buckets{8, 31} : sum_buckets{7, 48};
}

/// Returns a score in fixed point, above the list's floor; 0 if that is not a number, as for
/// infinite scores of weight 0.
KARPOS_STEP_FUNCTION std::uint64_t in_units(double score, double floor, double factor) {
  double const units = (score - floor) * factor;
  // Through a signed integer, to which CPUs convert in one instruction.
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(units > 0 ? units : 0));
}

/// The fixed-point scale of each list.
struct fixed_point {
  double floor[max_lists];   // lowest score of a list, or the missing score
  double factor[max_lists];  // weight / unit
  std::uint64_t usable;      // 0: the scores are infinite

  KOKKOS_FUNCTION std::uint64_t of(int list, double score) const {
    return in_units(score, floor[list], factor[list]);
  }
};

/// Bounds of each list's contribution to an object not seen in it, at a depth. T: units, or scores.
template <class T>
struct unseen_bounds {
  T lower[max_lists];  // the list's last score, or the missing score if that is lower
  T upper[max_lists];  // the score read last, or the missing score if that is higher
};

/// Packs and unpacks accumulators over n lists.
template <class Word>
struct accumulator_layout {
  int lists;

  /// Returns the number of bits of a partial sum.
  KOKKOS_FUNCTION static constexpr int sum_bits(int n) {
    int const bits_left = static_cast<int>(8 * sizeof(Word)) - n;
    return Kokkos::min(bits_left, buckets_of<Word>().sum_bits);
  }
  KOKKOS_FUNCTION std::uint64_t sum(Word w) const { return w >> lists; }
  KOKKOS_FUNCTION std::uint32_t seen(Word w) const {
    return static_cast<std::uint32_t>(w & ((Word(1) << lists) - 1));
  }
  /// Returns the word that an entry of a list adds to its object's accumulator.
  KOKKOS_FUNCTION Word addend(int list, std::uint64_t units) const {
    return static_cast<Word>(static_cast<Word>(units) << lists | Word(1) << list);
  }
};

/// The accumulators of all objects. Word: their type, or void if the program chooses between both
/// types at each access. CPUs choose so, and compile the steps that use it once for both.
template <class Word>
struct accumulator_array {
  using word = std::conditional_t<std::is_void_v<Word>, std::uint64_t, Word>;
  std::uint32_t* small;  // void: null if `large` is used
  std::uint64_t* large;

  /// Returns f(the accumulators).
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION auto with_type(F const& f) const {
    if constexpr (std::is_same_v<Word, std::uint32_t>)
      return f(small);
    else if constexpr (std::is_same_v<Word, std::uint64_t>)
      return f(large);
    else
      return small != nullptr ? f(small) : f(large);
  }
  KOKKOS_FUNCTION sum_buckets buckets() const {
    return with_type([](auto* words) { return buckets_of<std::decay_t<decltype(*words)>>(); });
  }
  KOKKOS_FUNCTION word operator[](std::uint64_t slot) const {
    return with_type([=](auto const* words) -> word { return words[slot]; });
  }
  KOKKOS_FUNCTION void set(std::uint64_t slot, word w) const {
    with_type([=](auto* words) {
      device::store_relaxed(words + slot, static_cast<std::decay_t<decltype(*words)>>(w));
    });
  }
  KOKKOS_FUNCTION void add(std::uint64_t slot, word w) const {
    with_type([=](auto* words) {
      device::add(words + slot, static_cast<std::decay_t<decltype(*words)>>(w));
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::uint64_t slot) const {
    with_type([=](auto const* words) { device::prefetch(words + slot); });
  }
};

/// Returns the units by which a sum over n lists may be too low: one for each list, and n for
/// rounding.
KOKKOS_INLINE_FUNCTION std::uint64_t margin_of(int n) { return 2 * static_cast<std::uint64_t>(n); }

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

struct query_words {
  query_bounds bounds;
  query_counts counts;
  query_progress record;  // at the end, for the report
  fixed_point units;
  unseen_bounds<std::uint64_t> unseen;
};

/// Bytes of a team's scratch: a histogram, followed by the tables of bound_tables.
inline constexpr std::size_t histogram_bytes =
    sizeof(std::uint32_t) *
    static_cast<std::size_t>(
        Kokkos::max(buckets_of<std::uint32_t>().count(), buckets_of<std::uint64_t>().count()));
inline constexpr std::size_t team_bytes = histogram_bytes + 2 * 4 * 256 * sizeof(std::uint64_t);

/// The part of the state that does not depend on the width of accumulators, 32 or 64 bits. Steps
/// that need nothing else are compiled once. CPUs compile the other steps once, too, with
/// accumulator_array<void>.
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

/// Counters of the kernels, and bounds that one kernel computes for the others.
struct nra_words {
  std::uint32_t candidates;    // number of entries in the list that is being made
  std::uint32_t out_of_range;  // 1: an id has no slot
  unseen_bounds<double> unseen;
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

}  // namespace karpos::detail::top_k
