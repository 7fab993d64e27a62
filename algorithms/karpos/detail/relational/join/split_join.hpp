// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/join/join_partitions.hpp"
#include "karpos/detail/relational/join/materialised_tables.hpp"
#include "karpos/detail/relational/join/split_rows.hpp"
#include "karpos/detail/relational/join/split_side.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/memory.hpp"
#include "karpos/detail/relational/partition/split.hpp"

// A partitioned join:
//
//   left    | 4 2 9 7 2 |     split by hash     | 4 9 | 2 7 2 |     per partition: a table of the
//   right   | 2 5 4 |             -->           | 4 5 | 2     |     right rows in scratch, in which
//                                                                 left rows are looked up
//
//   split   moves each row's number and hash (split_rows.hpp), or the row itself (wide_rows.hpp),
//           into partitions. On GPUs these have a fixed capacity, above the mean by a quarter. If
//           one overflows, because many rows are equal, and on CPUs, rows are counted first
//   join    builds the table of a partition's right rows (build side) in the scratch of a team
//           (block), and looks up chunks of its left rows (probe side) there (join_partitions.hpp)
//   index   takes the place of both if tables are too small or too skewed to be split, and for full
//           joins (partitioned_run.hpp, matches.hpp)
//
// Random accesses go to scratch only. The rows of the join come in no particular order.
// Tests: join, partitioned_join, payload_columns, payload_teams.

namespace karpos::detail::join {

/// A table's rows by partition: of fixed capacity, or counted.
template <class ExecSpace, class Row>
struct split_side {
  partition::capacity_split<ExecSpace, Row> split;
  Row *rows = nullptr, *coarse_rows = nullptr;
  std::uint64_t *begins = nullptr, *ends = nullptr;  // counted partitions end where the next begins

  void allocate_from(arena& a, std::uint64_t n) {
    bool const by_capacity = split.is_possible();
    auto const partitions = static_cast<std::uint64_t>(split.fine.partitions);
    a.allocate(rows, by_capacity ? split.places() : n);
    a.allocate(begins, partitions + 1);
    a.allocate(ends, by_capacity ? partitions : 0);
    split.allocate_from(a);
  }
  Row* out() const { return rows; }
  Row* coarse_out() const { return coarse_rows; }
};

/// The arrays of a partitioned join, in one allocation of `bytes`.
template <class ExecSpace, class Row>
struct split_memory {
  split_side<ExecSpace, Row> left, right;
  std::uint64_t* first;
  partition::chunk* chunks;
  join_counts* counts;
  std::byte* partition_workspace;
  std::size_t bytes;

  template <class Sizes>
  split_memory(ExecSpace const& exec, Sizes const& s, std::byte* memory = nullptr) {
    constexpr std::uint64_t any = ~std::uint32_t(0), any_places = ~std::uint64_t(0);
    left.split = s.template split<Row>(s.left, any, any_places);
    right.split = s.template split<Row>(s.right, s.capacity, any_places);
    arena a(memory);
    left.allocate_from(a, s.left);
    right.allocate_from(a, s.right);
    a.allocate(first, s.partitions() + 1);
    a.allocate(chunks, std::max(s.max_chunks(),
                                s.partitions() * s.chunks_per_partition(left.split.fine.capacity)));
    a.allocate(counts, 1);
    if (memory != nullptr) {
      left.split.count_overflow_in(&counts->overflowed[0]);
      right.split.count_overflow_in(&counts->overflowed[1]);
    }
    a.allocate(partition_workspace, plan(exec, std::max(s.left, s.right), s.partitions()).bytes());
    arena b = a;  // coarse partitions of either side
    a.allocate(left.coarse_rows, is_by_capacity() ? left.split.coarse_places() : 0);
    b.allocate(right.coarse_rows, is_by_capacity() ? right.split.coarse_places() : 0);
    bytes = std::max(a.bytes(), b.bytes());
  }
  /// Returns whether both sides can be split into partitions of fixed capacity.
  bool is_by_capacity() const { return left.split.is_possible() && right.split.is_possible(); }
  /// Returns the plan of a side that is split by counting.
  static partition::plan<ExecSpace, Row> plan(ExecSpace const& exec, std::uint64_t rows,
                                              std::uint64_t partitions) {
    return {exec, rows, partitions, false};
  }
};

/// The join of two tables, whose rows are compared by the functions of `functions`.
template <class ExecSpace, class Left, class Right, class Functions>
class split_join {
  using form = split_form<Left, Right, Functions>;
  using row = typename form::row;
  using table = table_of_partition<ExecSpace, row>;
  using sizes = split_sizes<ExecSpace, table>;
  using memory = split_memory<ExecSpace, row>;

 public:
  split_join(ExecSpace const& exec, Left const& left, Right const& right,
             Functions const& functions)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_functions(functions),
        m_sizes{left.size(), right.size()} {}

  std::size_t bytes() const { return memory(m_exec, m_sizes).bytes; }

  /// Calls emit for the rows of the join. Returns their number; nothing if some partition has too
  /// many right rows. Waits.
  template <class Emit>
  std::optional<std::uint64_t> run(multiplicity kind, Emit const& emit,
                                   std::byte* workspace) const {
    memory const m(m_exec, m_sizes, workspace);
    fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
    if constexpr (device::is_device<ExecSpace>)
      if (m.is_by_capacity()) {
        join::split_into_capacities(m_exec, source_of(m_right), m.right);
        join::split_into_capacities(m_exec, source_of(m_left), m.left);
        std::uint64_t const chunks =
            join::write_chunks(m_exec, m_sizes, m.left.split.fine, m.right.split.fine,
                               m.right.begins, m.right.ends, m.chunks);
        join_counts const c = join_chunks(m, chunks, m.right.ends, kind, emit);
        if (c.overflowed[0] + c.overflowed[1] == 0) return c.rows;
        fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
      }
    count_and_split(m);
    join_counts const c = join_chunks(m, m_sizes.max_chunks(), m.right.begins + 1, kind, emit);
    if (c.long_partition != 0) return {};
    return c.rows;
  }

 private:
  template <class Rows>
  using source = typename form::template source<Rows>;
  template <class Rows>
  source<Rows> source_of(Rows const& rows) const {
    return {rows, m_functions, join::word_multiplier(m_sizes.partition_bits())};
  }
  void count_and_split(memory const& m) const {
    count_and_split(m_right, m.right, m);
    device::loop_over(
        "karpos::partitioned_join: find long partition", m_exec, m_sizes.partitions(),
        partition::find_long_partition{m.right.begins, sizes::capacity, &m.counts->long_partition});
    count_and_split(m_left, m.left, m);
    partition::split_into_chunks(
        m_exec,
        partition::chunk_list{m.left.begins, m.first, m.chunks, m_sizes.partitions(),
                              static_cast<std::uint32_t>(sizes::chunk_rows)},
        m_sizes.max_chunks());
  }
  template <class Rows>
  void count_and_split(Rows const& rows, split_side<ExecSpace, row> const& to,
                       memory const& m) const {
    using word = decltype(row::key);
    partition::split_by_counting(
        m_exec, source_of(rows),
        partition_of_word<word>{static_cast<int>(8 * sizeof(word)) - m_sizes.partition_bits()},
        memory::plan(m_exec, rows.size(), m_sizes.partitions()), m.partition_workspace, to.rows,
        to.begins);
  }
  /// Joins all chunks. Waits.
  template <class Emit>
  join_counts join_chunks(memory const& m, std::uint64_t chunks, std::uint64_t const* right_ends,
                          multiplicity kind, Emit const& emit) const {
    auto const equal = form::equal(m_left, m_right, m_functions);
    using step = join_partitions<ExecSpace, row, std::remove_const_t<decltype(equal)>, Emit, table>;
    device::for_each_in_league(
        "karpos::partitioned_join: join partitions", m_exec, static_cast<int>(chunks),
        step{{m.left.rows, m.right.rows, m.right.begins, right_ends, m.chunks},
             typename table::bits{m_sizes.partition_bits()},
             m.counts,
             equal,
             row_multiplicity(kind),
             emit});
    return read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  Functions m_functions;
  sizes m_sizes;
};

}  // namespace karpos::detail::join
