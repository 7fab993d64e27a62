// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/join/join_partitions.hpp"
#include "karpos/detail/relational/join/partition_table.hpp"
#include "karpos/detail/relational/join/payload_columns.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/space.hpp"

// A partitioned join:
//
//   left    | 4 2 9 7 2 |     split by hash     | 4 9 | 2 7 2 |     per partition: a table of the
//   right   | 2 5 4 |             -->           | 4 5 | 2     |     right rows in scratch, in which
//                                                                 left rows are looked up
//
//   split   moves each row's number and hash, or the row itself (split_rows.hpp), into partitions.
//           On GPUs these have a fixed capacity, above the mean by a quarter. If one overflows,
//           because many rows are equal, all rows are counted and split again. CPUs always count
//   join    builds the table of a partition's right rows (build side) in the scratch of a team
//           (block), and looks up chunks of its left rows (probe side) there (join_partitions.hpp)
//   index   takes the place of both if tables are too small or too skewed to be split, and for full
//           joins (run.hpp, matches.hpp)
//
// An inner join on GPUs may move payload columns, too (payload_columns.hpp). Then keys and values
// are split apart, right rows are materialised, and a left row's number is its index in the split,
// where its values lie side by side.
//
// Random accesses go to scratch only, but rows moved as hashes are compared by their columns.
// Rows come in no particular order. Tests: join, partitioned_join, payload_columns, payload_teams.

namespace karpos::detail::join {

/// How many partitions two tables of `left` and `right` rows are split into, by the size of Table.
template <class ExecSpace, class Table>
struct split_sizes {
  static constexpr std::uint64_t capacity = Table::capacity;
  static constexpr std::uint64_t chunk_rows = capacity * tuning<ExecSpace>::chunk_tables;
  static constexpr double slack = 1.25;  // of fixed capacities

  std::uint64_t left, right;
  // A rank of a join over ranks has `owned` of 2^bits partitions. If `each` is not 0, its rows have
  // been split into coarse partitions of `each` of these.
  int bits = bits_for(right);
  std::uint64_t owned = std::uint64_t(1) << bits, each = 0;

  /// Returns the bits of a partition's number, given the number of right rows.
  static int bits_for(std::uint64_t right) {
    std::uint64_t const partitions =
        Kokkos::max((right + Table::mean - 1) / Table::mean, std::uint64_t(1));
    return Kokkos::max(static_cast<int>(std::bit_width(partitions - 1)),
                       int(Table::min_partition_bits));
  }
  int partition_bits() const { return bits; }
  std::uint64_t partitions() const { return owned; }
  /// Many partitions take two passes: a tile of one pass has so few rows per partition that less
  /// than a sector would be written at once.
  partition::split_passes passes() const {
    if (each > 0) return {partitions(), each};
    int const most = Kokkos::min(tuning<ExecSpace>::one_pass_bits(Table::row_bytes),
                                 std::countr_zero(static_cast<unsigned>(
                                     partition::tuning<ExecSpace>::max_partitions(false))));
    return partition_bits() > most ? partition::split_passes::two_by_bits(partitions())
                                   : partition::split_passes{partitions()};
  }
  /// Returns the split of a side of `rows` rows, whose partitions have at most max_rows.
  template <class Row>
  partition::capacity_split<ExecSpace, Row> split(std::uint64_t rows, std::uint64_t max_rows,
                                                  std::uint64_t max_places) const {
    double const mean = static_cast<double>(rows) / static_cast<double>(partitions());
    partition::capacity_split<ExecSpace, Row> split(
        passes(), partition::capacity_policy(mean, slack, max_rows / 32 * 32, max_places));
    if (each > 0) split.without_coarse();
    return split;
  }
  /// Returns the maximum number of chunks of the left rows, if partitions may have any length.
  std::uint64_t max_chunks() const { return partitions() + left / chunk_rows; }
  /// Returns the number of chunks of each fixed-capacity partition.
  std::uint64_t chunks_per_partition(std::uint64_t partition_rows) const {
    return Kokkos::max((partition_rows + chunk_rows - 1) / chunk_rows, std::uint64_t(1));
  }
};

/// The split of a side, and the arrays of its rows: one (Row*), or keys_and_payload. The rows of
/// coarse partitions lie in memory that both sides use in turn.
template <class ExecSpace, class Row, class Rows = Row*>
struct split_side {
  partition::capacity_split<ExecSpace, Row> split;
  Rows rows{}, coarse_rows{};
};
template <class ExecSpace, class Source>
using payload_split_side =
    split_side<ExecSpace, typename Source::row,
               keys_and_payload<typename Source::loaded, typename Source::payload>>;
template <class Row>
void allocate_rows(arena& a, Row*& rows, std::uint64_t n) {
  a.allocate(rows, n);
}
template <class Word, class Values>
void allocate_rows(arena& a, keys_and_payload<Word, Values>& rows, std::uint64_t n) {
  a.allocate(rows.keys, n);
  a.allocate(rows.values, n);
}

/// The arrays of a partitioned join, in one allocation of `bytes`.
template <class LeftSide, class RightSide>
struct split_memory {
  LeftSide left;
  RightSide right;
  std::uint64_t *left_begins, *right_begins;  // of partitions; counted ones end at the next begin
  std::uint64_t *right_ends, *first;          // first: chunks of counted partitions
  partition::chunk* chunks;
  join_counts* counts;
  std::byte* partition_workspace;
  std::size_t bytes;

  /// counting_bytes: the workspace for partitions that are counted.
  template <class Sizes>
  split_memory(Sizes const& s, LeftSide const& l, RightSide const& r, std::size_t counting_bytes,
               std::byte* memory)
      : left(l),
        right(r) {
    std::uint64_t const partitions = s.partitions();
    auto const places = [](auto const& split, std::uint64_t rows) {
      return split.is_possible() ? split.places() : rows;
    };
    arena a(memory);
    allocate_rows(a, left.rows, places(left.split, s.left));
    allocate_rows(a, right.rows, places(right.split, s.right));
    left.split.allocate_from(a);
    right.split.allocate_from(a);
    a.allocate(left_begins, partitions + 1);
    a.allocate(right_begins, partitions + 1);
    a.allocate(right_ends, partitions);
    a.allocate(first, partitions + 1);
    a.allocate(chunks, std::max(s.max_chunks(),
                                partitions * s.chunks_per_partition(left.split.fine.capacity)));
    a.allocate(counts, 1);
    if (memory != nullptr) {
      left.split.count_overflow_in(&counts->overflowed[0]);
      right.split.count_overflow_in(&counts->overflowed[1]);
    }
    a.allocate(partition_workspace, counting_bytes);
    arena b = a;  // coarse partitions of either side
    allocate_rows(a, left.coarse_rows, is_by_capacity() ? left.split.coarse_places() : 0);
    allocate_rows(b, right.coarse_rows, is_by_capacity() ? right.split.coarse_places() : 0);
    bytes = std::max(a.bytes(), b.bytes());
  }
  /// Returns whether both sides can be split into partitions of fixed capacity.
  bool is_by_capacity() const { return left.split.is_possible() && right.split.is_possible(); }
};

/// Splits a source into the partitions of fixed capacity of a side. Asynchronous.
template <class ExecSpace, class Source, class Side>
void split_into_capacities(ExecSpace const& exec, Source const& source, Side const& side) {
  using word = decltype(Source::key_of(typename Source::row{}));
  auto const among = [](int partitions) {
    auto const bits = static_cast<int>(std::bit_width(static_cast<unsigned>(partitions) - 1));
    return partition::partition_of_row<Source, partition_of_word<word>>{
        {static_cast<int>(8 * sizeof(word)) - bits}, std::uint32_t(1) << bits};
  };
  partition::split_rows(
      exec, source,
      partition::partition_functions{among(side.split.fine.partitions),
                                     among(Kokkos::max(side.split.coarse.partitions, 1))},
      side.split, side.rows, side.coarse_rows);
}

/// Computes where a partition's right rows are, and cuts its left rows into chunks.
template <class Left, class Right>
struct write_chunks_and_bounds {
  Left left;
  Right right;
  std::uint64_t *right_begins, *right_ends;
  std::uint32_t chunks_per_partition;
  partition::chunk* chunks;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    std::uint64_t const p = c / chunks_per_partition, k = c % chunks_per_partition;
    std::uint64_t const rows = left.stored_rows(p);
    std::uint64_t const first = rows * k / chunks_per_partition,
                        last = rows * (k + 1) / chunks_per_partition;
    chunks[c] = {p * left.capacity + first, static_cast<std::uint32_t>(last - first),
                 chunks_per_partition == 1, static_cast<std::uint32_t>(p)};
    if (k > 0) return;
    right_begins[p] = p * right.capacity;
    right_ends[p] = right_begins[p] + right.stored_rows(p);
  }
};

/// Writes the chunks and bounds of both sides, split into partitions of fixed capacity. Returns the
/// number of chunks. Asynchronous.
template <class ExecSpace, class Sizes, class Memory>
std::uint64_t bound_chunks(ExecSpace const& exec, Sizes const& sizes, Memory const& m) {
  std::uint64_t const each = sizes.chunks_per_partition(m.left.split.fine.capacity);
  device::loop_over(
      "karpos::partitioned_join: write chunks and bounds", exec, sizes.partitions() * each,
      write_chunks_and_bounds<decltype(m.left.split.fine), decltype(m.right.split.fine)>{
          m.left.split.fine, m.right.split.fine, m.right_begins, m.right_ends,
          static_cast<std::uint32_t>(each), m.chunks});
  return sizes.partitions() * each;
}
/// Splits both sides into partitions of fixed capacity. Returns the number of chunks. Asynchronous.
template <class ExecSpace, class Sizes, class Memory, class LeftSource, class RightSource>
std::uint64_t split_both(ExecSpace const& exec, Sizes const& sizes, Memory const& m,
                         LeftSource const& left, RightSource const& right) {
  join::split_into_capacities(exec, right, m.right);
  join::split_into_capacities(exec, left, m.left);
  return join::bound_chunks(exec, sizes, m);
}

/// Joins all chunks. Waits.
template <class Table, class ExecSpace, class Row, class Equal, class Emit>
join_counts join_chunks(ExecSpace const& exec, std::uint64_t chunks,
                        split_tables<Row> const& tables, typename Table::bits const& bits,
                        join_counts* counts, Equal const& equal, multiplicity kind,
                        Emit const& emit) {
  device::for_each_in_league("karpos::partitioned_join: join partitions", exec,
                             static_cast<int>(chunks),
                             join_partitions<ExecSpace, Row, Equal, Emit, Table>{
                                 tables, bits, counts, equal, row_multiplicity(kind), emit});
  return read_back(exec, counts, "karpos::partitioned_join: rows are counted");
}
template <class ExecSpace>
void clear(ExecSpace const& exec, join_counts* counts) {
  fill_words("karpos::partitioned_join: clear counts", exec, counts, 1, 0);
}

/// The join of the rows of two sources. Equal: compares rows that have the same word.
template <class ExecSpace, class LeftSource, class RightSource, class Equal>
class split_join {
  using row = typename LeftSource::row;
  using word = decltype(row::key);
  using table = table_of_partition<ExecSpace, row>;
  using side = split_side<ExecSpace, row>;
  using memory = split_memory<side, side>;

 public:
  using sizes = split_sizes<ExecSpace, table>;

  split_join(ExecSpace const& exec, LeftSource const& left, RightSource const& right,
             Equal const& equal, sizes const& s)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_equal(equal),
        m_sizes(s) {}

  std::size_t bytes() const { return memory_at(nullptr).bytes; }

  /// Calls emit for the rows of the join. Returns their number; nothing if a partition has too many
  /// right rows. Waits.
  template <class Emit>
  std::optional<std::uint64_t> run(multiplicity kind, Emit const& emit,
                                   std::byte* workspace) const {
    memory const m = memory_at(workspace);
    if constexpr (device::is_device<ExecSpace>)
      if (m.is_by_capacity()) {
        join::clear(m_exec, m.counts);
        auto const rows =
            join_capacities(m, join::split_both(m_exec, m_sizes, m, m_left, m_right), kind, emit);
        if (rows) return rows;
      }
    return run_counted(kind, emit, workspace);
  }
  /// Does what run does, but counts the rows of partitions first. Waits.
  template <class Emit>
  std::optional<std::uint64_t> run_counted(multiplicity kind, Emit const& emit,
                                           std::byte* workspace) const {
    memory const m = memory_at(workspace);
    join::clear(m_exec, m.counts);
    count_and_split(m);
    join_counts const c = join_rows(m, m_sizes.max_chunks(), m.right_begins + 1, kind, emit);
    if (c.long_partition != 0) return {};
    return c.rows;
  }
  /// Does what run does with rows that lie in coarse partitions of sizes.each, or in pieces of
  /// these, given a source of each side (partition::split_again). Returns nothing if a partition
  /// overflows. On GPUs. Waits.
  template <class Rows, class From, class Emit>
  std::optional<std::uint64_t> run_again(Rows const& left_rows, From const& left,
                                         Rows const& right_rows, From const& right,
                                         multiplicity kind, Emit const& emit,
                                         std::byte* workspace) const {
    memory const m = memory_at(workspace);
    if (!m.is_by_capacity()) return {};
    join::clear(m_exec, m.counts);
    split_again(right_rows, right, m_sizes.right, m.right);
    split_again(left_rows, left, m_sizes.left, m.left);
    return join_capacities(m, join::bound_chunks(m_exec, m_sizes, m), kind, emit);
  }

 private:
  memory memory_at(std::byte* workspace) const {
    constexpr std::uint64_t any = ~std::uint32_t(0), any_places = ~std::uint64_t(0);
    return memory(m_sizes, side{m_sizes.template split<row>(m_sizes.left, any, any_places)},
                  side{m_sizes.template split<row>(m_sizes.right, sizes::capacity, any_places)},
                  plan(std::max(m_sizes.left, m_sizes.right)).bytes(), workspace);
  }
  /// Returns the plan of a side that is split by counting.
  partition::plan<ExecSpace, row> plan(std::uint64_t rows) const {
    return {m_exec, rows, m_sizes.partitions(), false};
  }
  partition_of_word<word> partition_of() const {
    return {static_cast<int>(8 * sizeof(word)) - m_sizes.partition_bits()};
  }
  template <class Rows, class From>
  void split_again(Rows const& rows, From const& from, std::uint64_t most, side const& to) const {
    to.split.clear(m_exec);
    partition::split_again(m_exec, rows, most, from,
                           partition::partition_of_row<Rows, partition_of_word<word>>{
                               partition_of(), static_cast<std::uint32_t>(m_sizes.owned)},
                           to.split, to.rows);
  }
  void count_and_split(memory const& m) const {
    count_and_split(m_right, m.right.rows, m.right_begins, m);
    device::loop_over(
        "karpos::partitioned_join: find long partition", m_exec, m_sizes.partitions(),
        partition::find_long_partition{m.right_begins, sizes::capacity, &m.counts->long_partition});
    count_and_split(m_left, m.left.rows, m.left_begins, m);
    partition::split_into_chunks(
        m_exec,
        partition::chunk_list{m.left_begins, m.first, m.chunks, m_sizes.partitions(),
                              static_cast<std::uint32_t>(sizes::chunk_rows)},
        m_sizes.max_chunks());
  }
  template <class Source>
  void count_and_split(Source const& source, row* to, std::uint64_t* begins,
                       memory const& m) const {
    partition::split_by_counting(m_exec, source, partition_of(), plan(source.size()),
                                 m.partition_workspace, to, begins);
  }
  /// Joins partitions of fixed capacity. Returns nothing if one overflowed.
  template <class Emit>
  std::optional<std::uint64_t> join_capacities(memory const& m, std::uint64_t chunks,
                                               multiplicity kind, Emit const& emit) const {
    join_counts const c = join_rows(m, chunks, m.right_ends, kind, emit);
    if (c.overflowed[0] + c.overflowed[1] != 0) return {};
    return c.rows;
  }
  template <class Emit>
  join_counts join_rows(memory const& m, std::uint64_t chunks, std::uint64_t const* right_ends,
                        multiplicity kind, Emit const& emit) const {
    return join::join_chunks<table>(
        m_exec, chunks,
        split_tables<row>{m.left.rows, m.right.rows, m.right_begins, right_ends, m.chunks},
        typename table::bits{m_sizes.partition_bits()}, m.counts, m_equal, kind, emit);
  }

  ExecSpace m_exec;
  LeftSource m_left;
  RightSource m_right;
  Equal m_equal;
  sizes m_sizes;
};

/// Returns the join of two tables, whose rows are compared by the functions of `functions`.
template <class ExecSpace, class Left, class Right, class Functions>
auto split_join_of(ExecSpace const& exec, Left const& left, Right const& right,
                   Functions const& functions) {
  using form = split_form<Left, Right, Functions>;
  split_sizes<ExecSpace, table_of_partition<ExecSpace, typename form::row>> const sizes{
      left.size(), right.size()};
  std::uint64_t const multiplier = join::word_multiplier(sizes.partition_bits());
  auto const equal = form::equal(left, right, functions);
  using left_source = typename form::template source<Left>;
  using right_source = typename form::template source<Right>;
  return split_join<ExecSpace, left_source, right_source, std::remove_const_t<decltype(equal)>>(
      exec, left_source{left, functions, multiplier}, right_source{right, functions, multiplier},
      equal, sizes);
}

/// The inner join of two tables of one column each, both with exact words (split_rows.hpp), with
/// their payload columns. On GPUs, into partitions of fixed capacity.
template <class ExecSpace, class Left, class Right, class LeftColumns, class RightColumns>
class payload_join {
  using left_source = payload_rows_to_split<Left, LeftColumns>;
  using right_source = payload_rows_to_split<Right, RightColumns>;
  using word = typename left_source::loaded;
  using table = payload_table<ExecSpace, word, typename RightColumns::values>;
  using memory = split_memory<payload_split_side<ExecSpace, left_source>,
                              payload_split_side<ExecSpace, right_source>>;

 public:
  payload_join(ExecSpace const& exec, Left const& left, Right const& right)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_sizes{left.size(), right.size()} {}

  /// Returns 0 if the sides cannot be split into partitions of fixed capacity.
  std::size_t bytes() const {
    memory const m = memory_at(nullptr);
    return m.is_by_capacity() ? m.bytes : 0;
  }
  /// Writes the payload columns of the join's rows, as far as the output has space. Returns the
  /// number of rows of the join; nothing if a partition has overflowed. Waits.
  template <class LeftOut, class RightOut>
  std::optional<std::uint64_t> run(LeftColumns const& left, RightColumns const& right,
                                   LeftOut const& left_out, RightOut const& right_out,
                                   std::uint64_t capacity, std::byte* workspace) const {
    memory const m = memory_at(workspace);
    join::clear(m_exec, m.counts);
    std::uint64_t const multiplier = join::word_multiplier(m_sizes.partition_bits());
    std::uint64_t const chunks =
        join::split_both(m_exec, m_sizes, m, left_source{{m_left, m_left, multiplier}, left},
                         right_source{{m_right, m_right, multiplier}, right});
    auto const& l = m.left.rows;
    auto const& r = m.right.rows;
    join_counts const c = join::join_chunks<table>(
        m_exec, chunks,
        split_tables<key_only_row<word>>{l.keys, r.keys, m.right_begins, m.right_ends, m.chunks},
        {m_sizes.partition_bits(), r.keys, r.values}, m.counts, same_word{}, multiplicity::matches,
        write_payload<LeftOut, RightOut>{l.values, left_out, right_out, capacity});
    if (c.overflowed[0] + c.overflowed[1] != 0) return {};
    return c.rows;
  }

 private:
  memory memory_at(std::byte* workspace) const {
    constexpr std::uint64_t most = ~std::uint32_t(0);  // rows of the split are 32-bit indices
    return memory(m_sizes,
                  {m_sizes.template split<typename left_source::row>(m_sizes.left, most, most)},
                  {m_sizes.template split<typename right_source::row>(m_sizes.right, most, most)},
                  0, workspace);
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  split_sizes<ExecSpace, table> m_sizes;
};

/// Returns f(join, whether the sides are swapped). The smaller table becomes the right one, which
/// is held in scratch. Returns Result{} if payload columns cannot be moved with the rows.
template <class Result, class ExecSpace, class Left, class Right, class LeftColumns,
          class RightColumns, class F>
Result with_payload_join(ExecSpace const& exec, Left const& left, Right const& right,
                         LeftColumns const&, RightColumns const&, F const& f) {
  if constexpr (device::is_device<ExecSpace> && has_exact_words<Left, Right, Right> &&
                LeftColumns::fit && RightColumns::fit) {
    if (left.size() < right.size())
      return f(payload_join<ExecSpace, Right, Left, RightColumns, LeftColumns>(exec, right, left),
               std::true_type{});
    return f(payload_join<ExecSpace, Left, Right, LeftColumns, RightColumns>(exec, left, right),
             std::false_type{});
  } else {
    return Result{};
  }
}

}  // namespace karpos::detail::join
