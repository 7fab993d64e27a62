// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/join/join_parts.hpp"
#include "karpos/detail/join/split_rows.hpp"
#include "karpos/detail/join/split_side.hpp"
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/join/whole_tables.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/memory.hpp"
#include "karpos/partition.hpp"

// A partitioned join:
//
//   left    | 4 2 9 7 2 |     split by hash     | 4 9 | 2 7 2 |     per partition: a table of the
//   right   | 2 5 4 |             -->           | 4 5 | 2     |     right rows in scratch, in which
//                                                                 left rows are looked up
//
// Random accesses go to scratch only. The rows of the join come in no particular order.

namespace karpos::detail::join {

/// The arrays of a partitioned join, in one allocation of `bytes`.
template <class ExecSpace, class Row>
struct split_memory {
  split_side<Row> left, right, coarse;  // coarse: first of two passes, of either side
  std::uint64_t* first;
  partition::chunk* chunks;
  part_counts* counts;
  std::byte* of_partition;
  std::size_t bytes;

  template <class Sizes>
  split_memory(ExecSpace const& exec, Sizes const& s, std::byte* memory = nullptr) {
    arena a(memory);
    left.room = room_of_side<ExecSpace>(s.left, s.parts(), ~std::uint32_t(0));
    right.room = room_of_side<ExecSpace>(s.right, s.parts(), s.room);
    left.take_from(a, s.left, s.parts());
    right.take_from(a, s.right, s.parts());
    std::uint64_t const coarse_parts = s.passes().coarse_parts();
    coarse.room = coarse_parts == 0 ? 0
                                    : room_of_side<ExecSpace>(std::max(s.left, s.right),
                                                              coarse_parts, ~std::uint32_t(0));
    coarse.take_from(a, 0, coarse_parts);
    a.take(first, s.parts() + 1);
    a.take(chunks, std::max(s.most_chunks(), s.parts() * s.chunks_each(left.room)));
    a.take(counts, 1);
    a.take(of_partition, plan(exec, std::max(s.left, s.right), s.parts()).bytes());
    bytes = a.bytes();
  }
  /// Returns the plan of a side that is split by counting.
  static partition::plan<ExecSpace, Row> plan(ExecSpace const& exec, std::uint64_t rows,
                                              std::uint64_t parts) {
    return {exec, rows, parts, false};
  }
};

/// The join of two tables, whose rows are compared by the functions of `by`.
template <class ExecSpace, class Left, class Right, class Functions>
class split_join {
  using form = split_form<Left, Right, Functions>;
  using row = typename form::row;
  using table = table_of_part<ExecSpace, row>;
  using sizes = split_sizes<ExecSpace, table>;
  using memory = split_memory<ExecSpace, row>;
  using rooms = partition::rooms<row>;

 public:
  split_join(ExecSpace const& exec, Left const& left, Right const& right, Functions const& by)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_by(by),
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
      if (m.left.room > 0 && m.right.room > 0 &&
          (m.coarse.room > 0 || m_sizes.passes().coarse_parts() == 0)) {
        std::uint64_t const chunks = split_into_rooms(m);
        part_counts const c = join_chunks(m, chunks, m.right.ends, kind, emit);
        if (c.no_place[0] + c.no_place[1] == 0) return c.rows;
        fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
      }
    count_and_split(m);
    part_counts const c = join_chunks(m, m_sizes.most_chunks(), m.right.begins + 1, kind, emit);
    if (c.long_part != 0) return {};
    return c.rows;
  }

 private:
  template <class Rows>
  using source = typename form::template source<Rows>;
  template <class Rows>
  source<Rows> source_of(Rows const& rows) const {
    return {rows, m_by, join::word_multiplier(m_sizes.part_bits())};
  }
  /// Splits both sides into fixed-capacity partitions, and cuts the left ones into chunks. Returns
  /// the number of chunks.
  std::uint64_t split_into_rooms(memory const& m) const {
    std::uint64_t const parts = m_sizes.parts(), each = m_sizes.chunks_each(m.left.room);
    auto const left = m.left.rooms(parts, &m.counts->no_place[0]);
    auto const right = m.right.rooms(parts, &m.counts->no_place[1]);
    split_into_rooms(source_of(m_right), right, m.right, m, &m.counts->no_place[1]);
    split_into_rooms(source_of(m_left), left, m.left, m, &m.counts->no_place[0]);
    device::loop_over(
        "karpos::partitioned_join: find parts", m_exec, parts * each,
        find_parts_in_rooms<rooms, rooms>{left, right, m.right.begins, m.right.ends,
                                          static_cast<std::uint32_t>(each), m.chunks});
    return parts * each;
  }
  template <class Source>
  void split_into_rooms(Source const& from, rooms const& to, split_side<row> const& side,
                        memory const& m, std::uint32_t* no_place) const {
    split_passes const passes = m_sizes.passes();
    auto const coarse = m.coarse.rooms(passes.coarse_parts(), no_place);
    join::split_into_rooms(m_exec, from, passes, to, side.rows, coarse, m.coarse.rows,
                           partition::rows_in_rooms<Source>(m.coarse.rows));
  }
  void count_and_split(memory const& m) const {
    count_and_split(m_right, m.right, m);
    device::loop_over("karpos::partitioned_join: measure parts", m_exec, m_sizes.parts(),
                      partition::find_long_part{m.right.begins, sizes::room, &m.counts->long_part});
    count_and_split(m_left, m.left, m);
    partition::cut(m_exec,
                   partition::chunk_list{m.left.begins, m.first, m.chunks, m_sizes.parts(),
                                         static_cast<std::uint32_t>(sizes::chunk_rows)},
                   m_sizes.most_chunks());
  }
  template <class Rows>
  void count_and_split(Rows const& rows, split_side<row> const& to, memory const& m) const {
    using begins_view =
        Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;
    using word = decltype(row::key);
    partition::split_as_planned(
        m_exec, source_of(rows),
        part_of_split<word>{static_cast<int>(8 * sizeof(word)) - m_sizes.part_bits()},
        memory::plan(m_exec, rows.size(), m_sizes.parts()), m.of_partition, to.rows,
        begins_view(to.begins, m_sizes.parts() + 1));
  }
  /// Joins all chunks. Waits.
  template <class Emit>
  part_counts join_chunks(memory const& m, std::uint64_t chunks, std::uint64_t const* right_ends,
                          multiplicity kind, Emit const& emit) const {
    auto const equal = form::equal(m_left, m_right, m_by);
    using step = join_parts<ExecSpace, row, std::remove_const_t<decltype(equal)>, Emit, table>;
    device::for_each_in_league(
        "karpos::partitioned_join: join parts", m_exec, static_cast<int>(chunks),
        step{{m.left.rows, m.right.rows, m.right.begins, right_ends, m.chunks},
             typename table::bits{m_sizes.part_bits()},
             m.counts,
             equal,
             row_multiplicity(kind),
             emit});
    return read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  Functions m_by;
  sizes m_sizes;
};

}  // namespace karpos::detail::join
