// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/open_addressing/run.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/detail/tables/slots_used.hpp"
#include "karpos/table_options.hpp"

// How a bulk insertion gets its rows into a table. The choice is made here;
// hash_table_insertion.hpp has one function for each path.

namespace karpos::detail {

/// The ways from rows in device memory into the slots of a table. If there is no memory for one of
/// them, the next is tried.
enum class insertion_path {
  /// Rows are reduced by key, and the groups inserted by one of the paths below
  /// (reduced_insertion.hpp).
  reduced,
  /// Rows are split by table segment, in one pass or two, and a team inserts those of a segment in
  /// its scratch (open_addressing/run.hpp).
  segmented,
  /// A thread inserts each row, in the caller's order. Needs no memory, and suits every table.
  direct
};

/// The path of `rows` rows.
struct insertion_plan {
  insertion_path path;
  std::uint64_t rows;
  int passes = 0;         ///< of the split by segment
  std::size_t bytes = 0;  ///< of the workspace
};

/// The argument `pays` of plan_insertion for rows that are not reduced.
struct never_pays {};

/// Chooses the path of an insertion that merges by Op. `is_empty`: whether the table has no key.
/// pays(reduced_tuning) returns whether reducing the rows by key saves time: it is called once if
/// the choice depends on that, and may read the keys.
template <class Op, class Storage, class Pays>
insertion_plan plan_insertion(typename Storage::execution_space const& exec, Storage const& table,
                              bulk_strategy strategy, std::uint64_t rows, bool is_empty,
                              Pays const& pays) {
  using exec_space = typename Storage::execution_space;
  using ref = typename Storage::ref_type;
  insertion_plan const direct{insertion_path::direct, rows};
  if (strategy == bulk_strategy::direct || rows == 0) return direct;

  if constexpr (reducible<Storage> && !std::is_same_v<Pays, never_pays>) {
    using tuned =
        reduced_tuning<exec_space, typename Storage::mapped_type, Op, merges_by_retry<ref, Op>>;
    // Rows of one key wait for each other at its slot. To find out whether a key is that frequent
    // takes longer than inserting fewer than min_rows rows.
    bool const is_reduced =
        strategy == bulk_strategy::reduced ||
        (strategy == bulk_strategy::automatic && rows >= tuned::min_rows && pays(tuned{}));
    if (is_reduced)
      return {insertion_path::reduced, rows, 0, rows_reduction<Storage>::bytes(exec, rows)};
  }

  if constexpr (Storage::has_segments) {
    using tuned = open_addressing::tuning<exec_space>;
    // The split numbers rows, and buckets, by 32 bits.
    constexpr std::uint64_t max_rows = ~std::uint32_t(0), max_pairs = max_rows / 2;
    std::uint64_t const pairs = table.bucket_count() / 2;
    if (rows > max_rows || pairs > max_pairs) return direct;
    auto segments = open_addressing::one_pass_plan<exec_space, ref>(pairs);
    // The team of a segment reads the rows of all segments of its partition.
    if (segments.segments_per_partition > tuned::max_segments_per_partition) return direct;
    if (strategy != bulk_strategy::partitioned) {
      // Smaller tables stay in the last-level cache, where single insertions are as fast. In large
      // ones, few rows do not repay reading and writing every segment.
      std::uint64_t const bytes = pairs * 2 * ref::bucket_slots * sizeof(typename ref::word);
      if (!tuned::prefers_segments || bytes < tuned::min_segmented_table_bytes ||
          bytes / tuned::max_table_bytes_per_row > rows)
        return direct;
    }
    // The slots of an empty table hold the rows between two passes.
    if (is_empty) segments = open_addressing::empty_table_plan<exec_space, ref>(pairs, rows);
    return {insertion_path::segmented, rows, segments.passes.coarse() != 0 ? 2 : 1,
            open_addressing::segment_memory<exec_space, ref>(exec, segments, rows).bytes};
  }
  return direct;
}

/// Chooses the path of the keys of a table into an empty one, `to`. size() returns their number; it
/// may read the table, and is called only if the choice depends on it.
template <class Storage, class Size>
insertion_plan plan_rebuild(typename Storage::execution_space const& exec, Storage const& from,
                            Storage const& to, Size const& size) {
  insertion_plan plan{insertion_path::direct, from.slot_count()};
  if constexpr (Storage::has_segments) {
    using tuned = open_addressing::tuning<typename Storage::execution_space>;
    using row = open_addressing::row_of<typename Storage::ref_type>;
    // Only segments keep an order of keys that lookups use (marks.hpp).
    if (!tuned::reinserts_faster(sizeof(row)) && !from.has_order()) return plan;
    auto const plan_for = [&](std::uint64_t rows) {
      return detail::plan_insertion<keep_stored>(exec, to, bulk_strategy::automatic, rows, true,
                                                 never_pays{});
    };
    // As many keys as there are slots: if these are too few, so are the keys.
    plan = plan_for(plan.rows);
    if (plan.path == insertion_path::segmented) plan = plan_for(size());
  }
  return plan;
}

/// Returns the bytes of workspace that an insertion of `rows` rows takes at most. Op: void if it
/// may merge by any operation.
template <class Op, class Storage, class Pays>
std::size_t insertion_bytes(typename Storage::execution_space const& exec, Storage const& table,
                            bulk_strategy strategy, std::uint64_t rows, Pays const& pays) {
  auto const bytes = [&](bool is_empty, auto const& reducing) {
    return detail::plan_insertion<Op>(exec, table, strategy, rows, is_empty, reducing).bytes;
  };
  return Kokkos::max({bytes(true, never_pays{}), bytes(false, never_pays{}), bytes(false, pays)});
}

}  // namespace karpos::detail
