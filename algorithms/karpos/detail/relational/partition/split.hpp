// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/run.hpp"
#include "karpos/detail/relational/partition/tuning.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// The one split of tables, joins and aggregation: brings rows together by the number of their
// partition, so that each partition is worked on in scratch, or in a cache.
//
//   by capacity   on GPUs. Every partition has the same capacity in the output, so nothing is
//                 counted first: if keys are different, hashing makes partitions about equal. Many
//                 partitions take two passes: rows go into coarse partitions first, each of which
//                 is then split into several adjacent (fine) partitions.
//   by counting   on CPUs; on GPUs if more rows overflow than the list (below) holds, or if fixed
//                 capacities are not possible. One partition follows the other.
//
//   rows      7 2 9 4 1 3 …
//   coarse    | 2 1 3 …    | 7 9 4 …    |      two passes only, in memory of the caller's choice
//   out       | 1 .. | 2 3 . | 4 .. | 7 9 . |   partition p begins at p * capacity
//   list      | 6 …                             rows that overflowed their partition
//
// Places behind a partition's rows are not written. Rows that the list has no space for are
// counted, and lost. A caller allocates a capacity_split from its arena, and calls split_rows. When
// the rows have been used, it reads `overflowed`: if the list was too short, it calls
// split_by_counting and starts again. count.hpp counts rows, move.hpp moves them, and restore.hpp
// is the inverse.
// Tests: partition, restore_order, insertion_teams, payload_teams, reduction_teams.

namespace karpos::detail::partition {

/// Fixed-capacity partitions, as the destination of rows.
template <class Row, class Filter = no_filter>
struct fixed_partitions {
  using filter_type = Filter;
  std::uint32_t* taken;   // rows of each partition, overflowed ones included
  std::uint32_t* filled;  // of partitions with overflow: rows that are stored in place
  Row* list;
  std::uint32_t* overflowed;  // overflowed rows, including those that the list has no space for
  std::uint32_t capacity, list_capacity;  // of each partition and of the list; rows, below 2^30
  int partitions;
  Filter filter = {};

  /// Returns these partitions with another filter of rows (reduce_by_key/heavy_hitters.hpp).
  template <class Other>
  fixed_partitions<Row, Other> with_filter(Other const& other) const {
    return {taken, filled, list, overflowed, capacity, list_capacity, partitions, other};
  }
  /// Returns the number of rows stored in partition p, from its begin on.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t stored_rows(std::uint64_t p) const {
    return taken[p] <= capacity ? taken[p] : filled[p];
  }
  /// Reserves space on the overflow list for `count` rows of partition p, which has had taken_to
  /// rows before them. Returns the index of the first, or the list's capacity if it is full.
  KOKKOS_FUNCTION std::uint32_t reserve_overflow(int p, std::uint32_t count,
                                                 std::uint32_t taken_to) const {
    if (taken_to <= capacity) filled[p] = taken_to;  // the first rows that do not fit
    return Kokkos::min(device::fetch_add(overflowed, count), list_capacity);
  }
};

/// A chunk of the n-th partition that is visited.
struct chunk_of_partition {
  std::uint32_t n, chunk;
};

/// The fixed-capacity partitions of a split, in their order, as steps visit them: lookups
/// (tables/partitioned_lookup.hpp), and the second of two passes. Another class may visit other
/// partitions, and say where their rows lie (distributed/window_split.hpp).
template <class Row>
struct partitions_in_order : fixed_partitions<Row> {
  /// Returns which partition a team visits, and which chunk of it.
  KOKKOS_FORCEINLINE_FUNCTION static chunk_of_partition chunk_of(std::uint32_t team,
                                                                 std::uint32_t chunks) {
    return {team / chunks, team % chunks};
  }
  /// Returns the number of the n-th partition, in its array and among those of the table.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t number_of(std::uint32_t n) { return n; }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t region(std::uint32_t n) { return n; }
  /// Returns the array in which the n-th partition lies, given this rank's.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T* array_of(std::uint32_t, T* mine) {
    return mine;
  }
  /// Returns where the n-th partition begins in the array of rows.
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t first_row(std::uint32_t n) const {
    return std::uint64_t(n) * this->capacity;
  }
  /// Returns how many arrays take turns.
  static std::uint64_t arrays() { return 1; }
};

/// Destination of rows when fixed-capacity partitions are split again: those of coarse partition r
/// go to partitions r * partitions and the following. `partitions` is the number of fine partitions
/// of each coarse one; the arrays have an element for every fine partition. From: the coarse
/// partitions, or pieces of them.
template <class Row, class From = partitions_in_order<Row>>
struct fine_partitions : fixed_partitions<Row> {
  From from;
};

/// Returns the source of the rows that a first pass has written to `out`.
template <class Source, class Out>
auto rows_between(Out const& out) {
  if constexpr (std::is_pointer_v<Out>)
    return rows_of_array<Source>(out, 0);  // where they are is known by partition
  else
    return out.template rows_in_partitions<Source>();
}

template <class ExecSpace>
std::uint64_t teams_for_rows(ExecSpace const& exec, std::uint64_t rows) {
  return Kokkos::clamp(rows / tuning<ExecSpace>::min_rows_each, std::uint64_t(1),
                       std::uint64_t(device::processors(exec)));
}

/// Returns the step of move_into_fixed_partitions.
template <class Tuned, class ExecSpace, class Source, class PartitionOf, class To, class Out>
auto step_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  std::uint64_t teams = teams_for_rows(exec, n) * static_cast<std::uint64_t>(Tuned::teams_at_once);
  // Tiles of a team are `teams` apart: without a common divisor it visits all arrays in turn.
  if constexpr (requires { to.from; })
    while (std::gcd(teams, to.from.arrays()) != 1) --teams;
  return move_tiles<ExecSpace, Source, PartitionOf, false, To, Out, Tuned>(
      source, partition_of, row_ranges{n, (n + teams - 1) / teams, static_cast<int>(teams)}, to,
      out);
}
/// Splits the rows of a source on a GPU into empty fixed-capacity partitions of `out`, in no
/// particular order. `n` is the host's upper bound of the rows; kernels use source.size(). `out` is
/// an array, or an object that stores the pieces of a row in several arrays. Asynchronous.
/// Requires: at most tuning::max_partitions(false) partitions, less than 2^32 rows; `out` has
///   partitions * capacity elements, and overlaps nothing.
template <class Tuned, class ExecSpace, class Source, class PartitionOf, class To, class Out>
void move_into_fixed_partitions(ExecSpace const& exec, Source const& source, std::uint64_t n,
                                PartitionOf const& partition_of, To const& to, Out const& out) {
  auto const step =
      partition::step_into_fixed_partitions<Tuned>(exec, source, n, partition_of, to, out);
  device::for_each_in_league("karpos::partition: move into fixed partitions", exec, step.teams(),
                             step);
}

/// How many passes split rows into n partitions. If `each` is above 1, rows go into coarse
/// partitions of `each` neighbouring ones first: a pass with few partitions writes long runs.
struct split_passes {
  std::uint64_t partitions = 1;
  std::uint64_t each = 1;

  /// Returns two passes with about the same number of partitions in each.
  /// There are at most max_coarse coarse partitions.
  static split_passes two(std::uint64_t partitions, std::uint64_t max_coarse = ~std::uint64_t(0)) {
    std::uint64_t each = ratio(partitions, max_coarse);
    while (each * each < partitions) ++each;
    std::uint64_t const coarse = ratio(partitions, each);
    return {partitions, ratio(partitions, coarse)};
  }
  /// Returns two passes, where `each` is a power of two: about the square root of `partitions`.
  static split_passes two_by_bits(std::uint64_t partitions) {
    return {partitions, std::uint64_t(1) << std::bit_width(partitions - 1) / 2};
  }
  /// Returns the number of coarse partitions; 0 if there is one pass.
  std::uint64_t coarse() const { return each == 1 ? 0 : ratio(partitions, each); }

 private:
  static std::uint64_t ratio(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
};

/// The sizes that a capacity of partitions is computed from. It has a constructor because nvcc 13.0
/// drops the names of designated initializers in the braces of an assignment in a template: values
/// then go to the first members.
struct capacity_policy {
  double mean;               // rows of a partition if every row has another key
  double slack;              // factor of the mean, because some keys have several rows
  std::uint64_t max_rows;    // maximum of a capacity
  std::uint64_t max_places;  // maximum of all capacities together

  explicit capacity_policy(double mean_rows, double slack_factor = 1,
                           std::uint64_t max = ~std::uint32_t(0),
                           std::uint64_t max_of_all = ~std::uint64_t(0))
      : mean(mean_rows),
        slack(slack_factor),
        max_rows(max),
        max_places(max_of_all) {}
};

/// Returns the capacity for partitions of `mean` rows on average, if keys are different: 6.5
/// standard deviations more. One partition in 10^10 overflows. A multiple of 32 rows, which is
/// whole sectors of any row.
inline std::uint64_t capacity_for_mean(double mean) {
  auto const rows = static_cast<std::uint64_t>(std::ceil(mean + 6.5 * std::sqrt(mean))) + 16;
  return (rows + 31) / 32 * 32;
}
/// Returns the capacity of each of `partitions` partitions. Returns 0 if they cannot have a fixed
/// capacity: the rows that a partition was offered are counted in 31 bits (move.hpp).
inline std::uint32_t partition_capacity(std::uint64_t partitions, capacity_policy const& c) {
  constexpr double max_mean = 1 << 29;
  if (!(c.mean < max_mean)) return 0;
  std::uint64_t const rows = Kokkos::min(capacity_for_mean(c.slack * c.mean), c.max_rows);
  return partitions <= c.max_places / Kokkos::max(rows, std::uint64_t(1))
             ? static_cast<std::uint32_t>(rows)
             : 0;
}

/// The rows of a split: those of partition p are contiguous.
template <class Row>
struct partitioned_rows {
  Row* rows;
  std::uint64_t const* begins;  ///< of partitions that were counted, and the end; or null
  fixed_partitions<std::remove_const_t<Row>> in;  ///< if begins is null

  KOKKOS_FUNCTION std::uint64_t begin(std::uint64_t p) const {
    return begins != nullptr ? begins[p] : p * in.capacity;
  }
  KOKKOS_FUNCTION std::uint64_t count(std::uint64_t p) const {
    return begins != nullptr ? begins[p + 1] - begins[p] : in.stored_rows(p);
  }
  /// Returns whether partition p has more rows than in.capacity.
  KOKKOS_FUNCTION bool overflows(std::uint64_t p) const {
    return (begins != nullptr ? begins[p + 1] - begins[p] : in.taken[p]) > in.capacity;
  }
};

/// Sets the counters of two arrays, and the number of overflowed rows, to zero.
struct clear_partitions {
  std::uint32_t *fine, *coarse, *overflowed;
  std::uint64_t fine_partitions, coarse_partitions;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    if (p < fine_partitions) fine[p] = 0;
    if (p < coarse_partitions) coarse[p] = 0;
    if (p == 0) *overflowed = 0;
  }
};

/// Constants of two passes with at most 256 partitions each.
template <class ExecSpace>
using tuning_of_two_passes =
    tuning_of_few_partitions<ExecSpace, tuning<ExecSpace>::teams_of_two_passes>;

/// Partitions of fixed capacity, and the coarse ones that they are split from if there are two
/// passes. Both passes count their overflow in one counter, and have one list for it.
/// TwoPasses: the constants of each of two passes.
template <class ExecSpace, class Row, class TwoPasses = tuning_of_two_passes<ExecSpace>>
struct capacity_split {
  fixed_partitions<Row> fine{}, coarse{};  // coarse.partitions is 0 if there is one pass
  std::uint64_t each = 1;                  // fine partitions of a coarse one

  capacity_split() = default;
  capacity_split(split_passes const& passes, capacity_policy const& policy) : each(passes.each) {
    fine.partitions = static_cast<int>(passes.partitions);
    fine.capacity = partition_capacity(passes.partitions, policy);
    coarse.partitions = static_cast<int>(passes.coarse());
    if (has_coarse()) {
      double const mean = policy.mean * static_cast<double>(each);
      coarse.capacity = partition_capacity(
          passes.coarse(),
          capacity_policy(mean, policy.slack, ~std::uint32_t(0), policy.max_places));
      constexpr auto most = static_cast<std::uint64_t>(max_partitions_each());
      if (passes.coarse() > most || each > most) coarse.capacity = 0;
    }
  }
  bool has_coarse() const { return coarse.partitions != 0; }
  /// Returns whether rows can be split so. If not, they are split by counting.
  bool is_possible() const {
    return device::is_device<ExecSpace> && fine.capacity != 0 &&
           (each == 1 ? fine.partitions <= tuning<ExecSpace>::max_partitions(false)
                      : !has_coarse() || coarse.capacity != 0);
  }
  /// Drops the coarse partitions: the caller has rows in others, and calls split_again.
  void without_coarse() { coarse.partitions = 0; }
  /// Returns the number of rows that the output and the coarse output have space for.
  std::uint64_t places() const { return places_of(fine); }
  std::uint64_t coarse_places() const { return places_of(coarse); }

  /// Allocates the counters of partitions, and an overflow list of list_rows rows.
  void allocate_from(arena& a, std::uint64_t list_rows = 0) {
    if (!is_possible()) return;
    for (auto* const to : {&fine, &coarse}) {
      a.allocate(to->taken, static_cast<std::uint64_t>(to->partitions));
      a.allocate(to->filled, static_cast<std::uint64_t>(to->partitions));
      to->list_capacity = static_cast<std::uint32_t>(list_rows);
    }
    a.allocate(fine.list, list_rows);
    coarse.list = fine.list;
  }
  void count_overflow_in(std::uint32_t* counter) { fine.overflowed = coarse.overflowed = counter; }
  /// Empties all partitions and the list. Asynchronous.
  void clear(ExecSpace const& exec) const {
    auto const n = static_cast<std::uint64_t>(fine.partitions),
               of_coarse = static_cast<std::uint64_t>(coarse.partitions);
    device::loop_over("karpos::partition: clear", exec, Kokkos::max(n, of_coarse),
                      clear_partitions{fine.taken, coarse.taken, fine.overflowed, n, of_coarse});
  }
  /// Returns the rows after a split into `out`.
  template <class AnyRow>
  partitioned_rows<AnyRow> rows_in(AnyRow* out) const {
    return {out, nullptr, fine};
  }

 private:
  static constexpr int max_partitions_each() {
    if constexpr (requires { TwoPasses::max_partitions_each; })
      return TwoPasses::max_partitions_each;
    else
      return TwoPasses::max_partitions(false);
  }
  static std::uint64_t places_of(fixed_partitions<Row> const& r) {
    return static_cast<std::uint64_t>(r.partitions) * r.capacity;
  }
};

/// Returns the partitions of rows: of all, and the coarse ones of the first of two passes.
template <class PartitionOf>
struct partition_functions {
  PartitionOf fine, coarse;
};

/// Runs the second of two passes: splits rows that lie in coarse partitions, or in several pieces
/// of each, `from`, into empty partitions of `split`. `rows`: the source of these rows; `n`: the
/// host's upper bound of them. Asynchronous.
template <class ExecSpace, class Source, class TwoPasses, class From, class PartitionOf, class Out>
void split_again(ExecSpace const& exec, Source const& rows, std::uint64_t n, From const& from,
                 PartitionOf const& partition_of,
                 capacity_split<ExecSpace, typename Source::row, TwoPasses> const& split,
                 Out const& out) {
  fine_partitions<typename Source::row, From> to{split.fine, from};
  to.partitions = static_cast<int>(split.each);
  partition::move_into_fixed_partitions<TwoPasses>(exec, rows, n, partition_of, to, out);
}

/// Empties the partitions of `split`, and splits the rows of a source into them. Rows go to `out`,
/// in no particular order within a partition; between two passes to `coarse_out`. Both are arrays,
/// or objects that store the pieces of a row in several arrays. `filter` holds rows back
/// (reduce_by_key/heavy_hitters.hpp). Asynchronous.
/// Requires: split.is_possible(); less than 2^32 rows; the outputs have places() and
///   coarse_places() rows, and overlap nothing.
template <class ExecSpace, class Source, class TwoPasses, class PartitionOf, class Out,
          class CoarseOut, class Filter = no_filter>
void split_rows(ExecSpace const& exec, Source const& source,
                partition_functions<PartitionOf> const& partition_of,
                capacity_split<ExecSpace, typename Source::row, TwoPasses> const& split,
                Out const& out, CoarseOut const& coarse_out, Filter const& filter = {}) {
  std::uint64_t const n = source.size();
  split.clear(exec);
  if (!split.has_coarse())
    return partition::move_into_fixed_partitions<tuning<ExecSpace>>(
        exec, source, n, partition_of.fine, split.fine.with_filter(filter), out);
  partition::move_into_fixed_partitions<TwoPasses>(exec, source, n, partition_of.coarse,
                                                   split.coarse.with_filter(filter), coarse_out);
  partition::split_again(exec, rows_between<Source>(coarse_out), n,
                         partitions_in_order<typename Source::row>{split.coarse}, partition_of.fine,
                         split, out);
}

/// Splits rows by counting, in memory of how.bytes(). Partition p of `out` begins at begins[p]; the
/// last of `begins` is the end. Asynchronous.
template <class ExecSpace, class Source, class Partitioner>
void split_by_counting(ExecSpace const& exec, Source const& source, Partitioner const& partitioner,
                       plan<ExecSpace, typename Source::row> const& how, std::byte* memory,
                       typename Source::row* out, std::uint64_t* begins) {
  partition::split_as_planned(exec, source, partitioner, how, memory, out,
                              unmanaged<ExecSpace>(begins, how.partitions() + 1));
}

}  // namespace karpos::detail::partition
