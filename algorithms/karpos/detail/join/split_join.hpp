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
#include "karpos/detail/join/tuning.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/memory.hpp"
#include "karpos/partition.hpp"

// A partitioned join:
//
//   left    | 4 2 9 7 2 |      split by hash      | 4 9 | 2 7 2 |      part by part: a table of the right rows in scratch,
//   right   | 2 5 4 |              -->            | 4 5 | 2     |      in which the left ones are looked up
//
// What is random stays in scratch. Rows of the join come in no particular order.

namespace karpos::detail::join {

/// How many parts tables of so many rows are split into, and what that takes.
template <class ExecSpace, class Row>
struct split_sizes {
  using tuned = tuning<ExecSpace>;
  using table = part_table<ExecSpace, decltype(Row::key)>;
  static constexpr std::uint64_t room = table::room;
  /// Right rows of a part on average, at most: no more than word_bits takes, and than have room where parts differ.
  static constexpr std::uint64_t mean =
      Kokkos::min(std::uint64_t(table::buckets), room* tuned::mean_percent / 100);
  static_assert(2 * mean >= table::buckets,
                "parts and buckets would take more bits than a word has");
  static constexpr std::uint64_t chunk_rows = room * tuned::chunk_tables;

  std::uint64_t left, right;

  int part_bits() const {
    return Kokkos::max(static_cast<int>(std::bit_width(
                           Kokkos::max((right + mean - 1) / mean, std::uint64_t(1)) - 1)),
                       1);
  }
  std::uint64_t parts() const { return std::uint64_t(1) << part_bits(); }
  std::uint64_t most_chunks() const { return parts() + left / chunk_rows; }
  partition::plan<ExecSpace, Row> plan(ExecSpace const& exec, std::uint64_t rows) const {
    return {exec, rows, parts(), false};
  }
};

/// The arrays, in memory of so many bytes.
template <class ExecSpace, class Row>
struct split_memory {
  Row *left, *right;
  std::uint64_t *left_begins, *right_begins, *first;
  partition::chunk* chunks;
  part_counts* counts;
  std::byte* of_partition;
  std::size_t bytes;

  split_memory(ExecSpace const& exec, split_sizes<ExecSpace, Row> const& s,
               std::byte* memory = nullptr) {
    arena a(memory);
    a.take(left, s.left);
    a.take(right, s.right);
    a.take(left_begins, s.parts() + 1);
    a.take(right_begins, s.parts() + 1);
    a.take(first, s.parts() + 1);
    a.take(chunks, s.most_chunks());
    a.take(counts, 1);
    a.take(of_partition, std::max(s.plan(exec, s.left).bytes(), s.plan(exec, s.right).bytes()));
    bytes = a.bytes();
  }
};

/// The join of two tables, whose rows are compared by the functions of the second, or of `by`.
template <class ExecSpace, class Left, class Right, class Functions>
class split_join {
  static constexpr bool is_exact = has_exact_words<Left, Right, Functions>;
  using row = split_row<Functions, is_exact>;
  using sizes = split_sizes<ExecSpace, row>;
  using memory = split_memory<ExecSpace, row>;
  using bits = typename sizes::table::bits;
  using equal = equal_split_rows<Left, Right, Functions>;

 public:
  split_join(ExecSpace const& exec, Left const& left, Right const& right, Functions const& by)
      : m_exec(exec),
        m_left(left),
        m_right(right),
        m_by(by),
        m_sizes{left.size(), right.size()} {}

  std::size_t bytes() const { return memory(m_exec, m_sizes).bytes; }

  /// Calls emit for the rows of the join. Returns: how many they are; nothing where some part has too many right rows. Waits.
  template <class Emit>
  std::optional<std::uint64_t> run(multiplicity kind, Emit const& emit,
                                   std::byte* workspace) const {
    memory const m(m_exec, m_sizes, workspace);
    split(m_right, m.right, m.right_begins, m);
    fill_words("karpos::partitioned_join: clear counts", m_exec, m.counts, 1, 0);
    device::loop_over("karpos::partitioned_join: measure parts", m_exec, m_sizes.parts(),
                      partition::find_long_part{m.right_begins, sizes::room, &m.counts->long_part});
    split(m_left, m.left, m.left_begins, m);
    partition::cut(m_exec,
                   partition::chunk_list{m.left_begins, m.first, m.chunks, m_sizes.parts(),
                                         static_cast<std::uint32_t>(sizes::chunk_rows)},
                   m_sizes.most_chunks());
    using step = join_parts<ExecSpace, row, equal, Emit>;
    device::for_each_in_league("karpos::partitioned_join: join parts", m_exec,
                               static_cast<int>(m_sizes.most_chunks()),
                               step{{m.left, m.right, m.right_begins, m.chunks},
                                    bits(m_sizes.part_bits()),
                                    m.counts,
                                    equal{m_left, m_right, m_by},
                                    row_multiplicity(kind),
                                    emit});
    part_counts const counts =
        read_back(m_exec, m.counts, "karpos::partitioned_join: rows are counted");
    if (counts.long_part != 0) return {};
    return counts.rows;
  }

 private:
  template <class Rows>
  void split(Rows const& rows, row* to, std::uint64_t* begins, memory const& m) const {
    using begins_view =
        Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged>;
    partition::split_as_planned(
        m_exec, rows_to_split<Rows, Functions, is_exact>{rows, m_by},
        part_of_split<decltype(row::key)>{bits(m_sizes.part_bits()).part_shift},
        m_sizes.plan(m_exec, rows.size()), m.of_partition, to,
        begins_view(begins, m_sizes.parts() + 1));
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
  Functions m_by;
  sizes m_sizes;
};

}  // namespace karpos::detail::join
