// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/open_addressing/tuning.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/arithmetic.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

// The rows of an insertion by table segments (run.hpp), how they are cut into partitions and
// segments, and the memory for that. Rows are keys with their values, or keys of a set. A partition
// holds the rows of one segment, or of a few neighbouring ones.

namespace karpos::detail::open_addressing {

template <class Key, class T>
struct row_type {
  using type = key_value<Key, T>;
};
template <class Key>
struct row_type<Key, no_value> {
  using type = Key;
};

template <class Table>
using row_of = typename row_type<typename Table::key_type, typename Table::mapped_type>::type;
/// Whether partitions move rows of this size, and build_segments takes buckets and keys of this
/// size.
template <class Table>
inline constexpr bool has_rows =
    Table::bucket_slots <= 32 && !Table::layout::has_128_bit_key &&
    (sizeof(row_of<Table>) == 4 || sizeof(row_of<Table>) == 8 || sizeof(row_of<Table>) == 16);

/// Returns the key of a row: a pair's, or the row itself, whatever members it has.
template <class Key, class T>
KOKKOS_FORCEINLINE_FUNCTION Key const& key_of(key_value<Key, T> const& r) {
  return r.key;
}
template <class Key>
KOKKOS_FORCEINLINE_FUNCTION Key const& key_of(Key const& key) {
  return key;
}

/// The keys and the values of an array of rows, as the bodies of bulk kernels read them.
template <class Row>
struct keys_of_rows {
  Row const* rows;
  KOKKOS_FUNCTION auto operator()(std::uint64_t i) const {
    return open_addressing::key_of(rows[i]);
  }
};
template <class Row, class T>
struct values_of_rows {
  Row const* rows;
  KOKKOS_FUNCTION T operator()([[maybe_unused]] std::uint64_t i) const {
    if constexpr (is_no_value<T>)
      return {};
    else
      return rows[i].value;
  }
};
/// Stencil that selects the rows whose bit is set.
struct set_bits_of {
  std::uint32_t const* bits;
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    return (bits[i / 32] >> (i % 32) & 1) != 0;
  }
};

/// Returns the source of the rows of an insertion.
template <class ExecSpace, class Table, class Keys, class Values>
auto source_of(Keys const& keys, [[maybe_unused]] Values const& values) {
  if constexpr (Table::layout::has_value)
    return partition::source_of_rows<row_of<Table>, ExecSpace>(keys, values);
  else
    return partition::source_of_rows<row_of<Table>, ExecSpace>(keys);
}

/// The source of the rows in the slots of a table, some of which hold no row.
template <class Table>
struct rows_of_slots : partition::plain_rows<row_of<Table>> {
  using typename partition::plain_rows<row_of<Table>>::row;
  Table table;
  std::uint64_t slots;
  rows_of_slots(Table const& t, std::uint64_t n) : table(t), slots(n) {}
  KOKKOS_FUNCTION std::uint64_t size() const { return slots; }
  KOKKOS_FORCEINLINE_FUNCTION row load(std::uint64_t i) const {
    using layout = typename Table::layout;
    auto const slot = *table.slot_at(i);
    auto const key = from_bits<typename Table::key_type>(layout::key_of(slot));
    if constexpr (layout::has_value)
      return {.key = key, .value = layout::value_of(slot)};
    else
      return key;
  }
  KOKKOS_FORCEINLINE_FUNCTION static auto key_of(row const& r) {
    return open_addressing::key_of(r);
  }
};
/// Filter of a split that removes the rows of slots without a key.
template <class Table>
struct empty_slot_filter {
  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::uint32_t none = ~std::uint32_t(0);
  struct pending {};
  Table table;

  template <class Team>
  KOKKOS_FUNCTION void begin(Team const&, std::byte*) const {}
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t try_filter(std::byte*, row_of<Table> const& r,
                                                       std::uint64_t) const {
    return table.reserved(open_addressing::key_of(r)) ? 0 : none;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(std::byte*, pending&, std::uint32_t, row_of<Table> const&,
                                       std::uint64_t) const {}
  KOKKOS_FORCEINLINE_FUNCTION void merge(std::byte*, pending const&) const {}
  template <class Team>
  KOKKOS_FUNCTION void end(Team const&, std::byte*) const {}
};

/// How a table is cut into partitions of equal length, at least two bucket pairs, by which rows are
/// split, and these into segments, one of which a team (CUDA: a block) holds at once. A partition
/// has one segment, or several if there are more segments than max_partitions. If there are more
/// partitions than max_partitions_of_one_pass, rows are split in two passes, the first of them into
/// at most max_coarse partitions. Segments have a multiple of near_pairs pairs, a power of two. So
/// a key's second pair is in the segment of its first if the two are near each other.
struct segment_plan {
  std::uint64_t pairs, near_pairs, partition_pairs, segment_pairs, segments_per_partition;
  partition::split_passes passes;

  segment_plan(std::uint64_t table_pairs, std::uint64_t max_segment_pairs,
               std::uint64_t max_partitions,
               std::uint64_t max_partitions_of_one_pass = ~std::uint64_t(0),
               std::uint64_t max_coarse = ~std::uint64_t(0))
      : pairs(table_pairs),
        near_pairs(Kokkos::min(double_hashing::near_pairs, std::bit_floor(max_segment_pairs))) {
    auto const in_near_pairs = [&](std::uint64_t n) { return ratio(n, near_pairs) * near_pairs; };
    std::uint64_t const segments = ratio(pairs, max_segment_pairs / near_pairs * near_pairs);
    segments_per_partition = ratio(segments, max_partitions);
    std::uint64_t const wanted = ratio(segments, segments_per_partition);
    partition_pairs = in_near_pairs(Kokkos::max(ratio(pairs, wanted), std::uint64_t(2)));
    segment_pairs = in_near_pairs(ratio(partition_pairs, segments_per_partition));
    std::uint64_t const n = ratio(pairs, partition_pairs);
    passes = n > max_partitions_of_one_pass ? partition::split_passes::two(n, max_coarse)
                                            : partition::split_passes{n};
  }
  std::uint64_t partitions() const { return passes.partitions; }
  /// Returns whether two pairs are near each other, and therefore in one segment.
  KOKKOS_FUNCTION bool are_near(std::uint64_t a, std::uint64_t b) const {
    return (a ^ b) < near_pairs;
  }
  /// Returns where a search that found no slot in its segment goes on: with the third pair, or with
  /// the second if that is not near the first. `start`: the path at its first bucket.
  template <class Table>
  KOKKOS_FUNCTION typename Table::path beyond_segment(Table const& table,
                                                      typename Table::path start) const {
    std::uint64_t const first = start.pair();
    table.advance(start);
    table.advance(start);
    if (are_near(first, start.pair())) {
      table.advance(start);
      table.advance(start);
    }
    return start;
  }
  /// Returns the mean number of rows of a partition; the last one may have fewer pairs and rows.
  double mean_rows(std::uint64_t rows) const {
    return static_cast<double>(rows) * static_cast<double>(Kokkos::min(partition_pairs, pairs)) /
           static_cast<double>(pairs);
  }

 private:
  static std::uint64_t ratio(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
};

/// Divides the number of a bucket pair by d pairs, 2^s < d <= 2^(s+1): by a multiplication by
/// 2^(32+s) / d, rounded up, and a shift. This factor times d exceeds 2^(32+s) by less than d, and
/// so the quotient of 31 bits is exact. Requires: 1 <= d < 2^31; pairs below 2^31.
struct pair_division {
  std::uint32_t factor = 0;
  int shift = 0;

  pair_division() = default;
  explicit pair_division(std::uint64_t d) : shift(31 + static_cast<int>(std::bit_width(d - 1))) {
    factor = static_cast<std::uint32_t>(((std::uint64_t(1) << shift) - 1) / d + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(std::uint64_t pair) const {
    return static_cast<std::uint32_t>(pair * factor >> shift);
  }
};

/// Returns the partition of a key, by its home bucket, or the coarse partition of `each` ones.
/// Requires: fewer than 2^31 pairs.
template <class Table>
struct partition_of_key {
  Table table;
  pair_division by_pairs;

  partition_of_key(Table const& t, segment_plan const& p, std::uint64_t each = 1)
      : table(t),
        by_pairs(p.partition_pairs * each) {}
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(typename Table::key_type const& key) const {
    std::uint64_t const pair = table.home().narrow(table.hash(key)) / 2;
    return by_pairs(pair);
  }
};

/// Bytes of a team's scratch before the keys.
inline constexpr std::size_t segment_front_bytes = 64;
/// Bucket pairs that a team's scratch holds, with 32 bits of state for each.
template <class ExecSpace, class Table>
inline constexpr std::uint64_t max_segment_pairs = [] {
  using layout = typename Table::layout;
  constexpr std::size_t slot_bytes = sizeof(typename layout::key_bits) +
                                     (layout::has_value ? sizeof(typename layout::value_bits) : 0);
  return (tuning<ExecSpace>::segment_scratch_bytes - segment_front_bytes) /
         (2 * Table::bucket_slots * slot_bytes + sizeof(std::uint32_t));
}();

/// Returns the segments of a table whose rows are split in one pass.
template <class ExecSpace, class Table>
segment_plan one_pass_plan(std::uint64_t pairs) {
  return {pairs, max_segment_pairs<ExecSpace, Table>, tuning<ExecSpace>::max_partitions};
}
/// Returns the partitions of fixed capacity for `rows` rows: places are counted in 32 bits.
template <class ExecSpace, class Table>
auto capacity_split_of(segment_plan const& p, std::uint64_t rows) {
  return partition::capacity_split<ExecSpace, row_of<Table>>(
      p.passes,
      partition::capacity_policy(p.mean_rows(rows), 1, ~std::uint32_t(0), ~std::uint32_t(0)));
}
/// Returns the segments of an empty table. `rows` rows are split in two passes if that is faster,
/// and if the coarse partitions fit into the table's slots, where they lie between the passes.
template <class ExecSpace, class Table>
segment_plan empty_table_plan(std::uint64_t pairs, std::uint64_t rows) {
  using tuned = tuning<ExecSpace>;
  constexpr std::uint64_t pair_bytes = 2 * Table::bucket_slots * sizeof(typename Table::word);
  segment_plan const two(pairs, max_segment_pairs<ExecSpace, Table>,
                         tuned::max_partitions_of_two_passes, tuned::max_partitions_of_one_pass);
  auto const split = open_addressing::capacity_split_of<ExecSpace, Table>(two, rows);
  if (split.has_coarse() && split.is_possible() &&
      split.coarse_places() <= pairs * pair_bytes / sizeof(row_of<Table>))
    return two;
  return open_addressing::one_pass_plan<ExecSpace, Table>(pairs);
}

/// Returns the segments of a table whose rows come in pieces of coarse partitions, at most
/// max_coarse of them: a first pass was made elsewhere (distributed/window_split.hpp).
template <class ExecSpace, class Table>
segment_plan pieces_plan(std::uint64_t pairs, std::uint64_t max_coarse) {
  constexpr std::uint64_t max_each = 256;  // of a pass
  return {pairs, max_segment_pairs<ExecSpace, Table>, max_coarse * max_each, 1, max_coarse};
}
/// Returns whether `rows` rows go into a table of that many bytes by segments, by default. Smaller
/// tables stay in the last-level cache, where single insertions are as fast. In large ones, few
/// rows do not repay reading and writing every segment.
template <class ExecSpace>
bool prefers_segments(std::uint64_t table_bytes, std::uint64_t rows) {
  using tuned = tuning<ExecSpace>;
  return tuned::prefers_segments && table_bytes >= tuned::min_segmented_table_bytes &&
         table_bytes / tuned::max_table_bytes_per_row <= rows;
}

/// The counters of the teams of build_segments.
struct segment_counts {
  insert_report report;
  std::uint64_t deferred;    // deferred rows: the pairs of their path in the segment are full
  std::uint32_t skewed;      // nonzero: a partition has too many rows, so that no segment is built
  std::uint32_t overflowed;  // rows that overflowed their partition in the split
};

/// Storage of deferred rows: an array of `capacity` rows, and for more a bit for each split row.
template <class Row>
struct deferred_rows {
  Row* rows;
  std::uint64_t capacity;
  std::uint32_t* bits;
};

/// The arrays of an insertion of n rows.
template <class ExecSpace, class Table>
struct segment_memory {
  using row = row_of<Table>;
  using split_plan = partition::plan<ExecSpace, row>;

  segment_plan segments, counted;  // counted: if rows are split again, after counting
  split_plan by_counting;
  partition::capacity_split<ExecSpace, row> by_capacity;  // coarse rows lie in the table's slots
  std::uint64_t n, places;                                // rows, and elements of their array
  row* rows = nullptr;
  deferred_rows<row> deferred{};
  std::uint64_t* begins = nullptr;
  segment_counts* counts = nullptr;
  std::byte* split_workspace = nullptr;
  std::size_t bytes = 0;

  segment_memory(ExecSpace const& exec, segment_plan const& p, std::uint64_t count,
                 std::byte* memory = nullptr)
      : segments(p),
        counted(open_addressing::one_pass_plan<ExecSpace, Table>(p.pairs)),
        by_counting(exec, count, counted.partitions(), false),
        by_capacity(open_addressing::capacity_split_of<ExecSpace, Table>(p, count)),
        n(count),
        places(Kokkos::max(n, by_capacity.places())) {
    deferred.capacity = n / 4;
    arena a(memory);
    a.allocate(rows, places);
    std::uint32_t* overflowed = nullptr;
    a.allocate(overflowed, 1);
    by_capacity.count_overflow_in(overflowed);
    by_capacity.allocate_from(a, n / 64 + 256);
    a.allocate(deferred.rows, deferred.capacity);
    a.allocate(deferred.bits, places / 32 + 1);
    a.allocate(begins, counted.partitions() + 1);
    a.allocate(counts, 1);
    a.allocate(split_workspace, by_counting.bytes());
    bytes = a.bytes();
  }
};

}  // namespace karpos::detail::open_addressing
