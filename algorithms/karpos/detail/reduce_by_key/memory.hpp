// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/key_sample.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/memory.hpp"
#include "karpos/detail/reduce_by_key/hot_keys.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/reduce_by_key/tuning.hpp"

// The memory that a reduction by key needs beside its input and its output.

namespace karpos::detail::reduce_by_key {

/// The number of partitions that n rows are split into, and the memory for that.
template <class ExecSpace, class Row>
struct sizes {
  using tuned = tuning<ExecSpace>;
  static constexpr std::uint64_t chunk_rows = tuned::chunk_rows(sizeof(Row));
  static constexpr std::uint64_t mean = tuned::mean_part_rows(sizeof(Row));
  static constexpr std::uint64_t one_pass_rows =
      tuned::parts_of_a_pass * tuned::most_part_rows(sizeof(Row));

  static std::uint64_t parts(std::uint64_t rows) {
    std::uint64_t const all = std::max((rows + mean - 1) / mean, std::uint64_t(1));
    return rows <= one_pass_rows ? std::min(all, tuned::parts_of_a_pass) : all;
  }
  static std::uint64_t most_chunks(std::uint64_t rows) { return parts(rows) + rows / chunk_rows; }
  static partition::plan<ExecSpace, Row> plan(ExecSpace const& exec, std::uint64_t rows) {
    return {exec, rows, parts(rows), false};
  }
  /// Returns the larger of two: a later round may have fewer rows, but more partitions than this
  /// one.
  static std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows) {
    return std::max(plan(exec, rows).bytes(), plan(exec, std::min(rows, one_pass_rows)).bytes());
  }
};

/// Arrays of fixed-capacity partitions (`rooms`), on GPUs. The memory of twice the rows holds the
/// partitions, and behind them the rows that are left:
///
///   | rooms: 11 or 14 eighths of the rows | first: 3 or 0 eighths | list: 1 eighth | partial: 1 |
///
/// Rows that do not fit are counted, and then all rows are reduced again without these partitions.
template <class ExecSpace, class Row>
struct room_arrays {
  using hot = hot_table<ExecSpace, Row>;
  static constexpr std::uint64_t most_parts = partition::tuning<ExecSpace>::max_parts(false);

  room_arrays() = default;
  room_arrays(arena& a, ExecSpace const& exec, std::uint64_t rows, Row* two_times)
      : eighth(rows / 8 / 32 * 32),
        rooms(two_times) {
    bool const any = rows > 0;
    auto const teams = static_cast<std::uint64_t>(any ? device::processors(exec) : 0);
    a.take(sample, any);
    a.take(taken, any * most_parts);
    a.take(filled, any * most_parts);
    a.take(again, any * most_parts);
    a.take(keys.keys, any * hot::all);
    a.take(keys.values, has_value<Row> ? teams * hot::all : 0);
    a.take(keys.present, teams * hot::words);
  }
  Row* first() const { return rooms + 11 * eighth; }
  Row* list() const { return rooms + 14 * eighth; }
  Row* partial() const { return rooms + 15 * eighth; }

  std::uint64_t eighth;
  Row* rooms;
  sample_of_keys* sample;
  std::uint32_t *taken, *filled, *again;
  hot keys;
};
struct no_rooms {};

/// The arrays of a reduction, in one allocation of bytes().
template <class ExecSpace, class Row>
class memory {
  using s = sizes<ExecSpace, Row>;

 public:
  memory(ExecSpace const& exec, std::uint64_t rows, std::byte* at = nullptr) {
    bool const is_split = rows > s::chunk_rows;
    arena a(at);
    std::uint64_t const whole = (rows + 31) / 32 * 32;
    a.take(counts, 1);
    a.take(sample, 1);
    a.take(partial, is_split ? 2 * whole : rows);
    split = is_split && at != nullptr ? partial + whole : nullptr;
    a.take(offsets, s::parts(rows) + 1);
    a.take(first, s::parts(rows) + 1);
    a.take(chunks, s::most_chunks(rows));
    a.take(of_partition, is_split ? s::partition_bytes(exec, rows) : 0);
    if constexpr (device::is_device<ExecSpace>) in_rooms = {a, exec, is_split ? rows : 0, partial};
    m_bytes = a.bytes();
  }
  std::size_t bytes() const { return m_bytes; }

  counters* counts;
  key_sample* sample;
  Row *partial, *split;
  std::uint64_t *offsets, *first;
  partition::chunk* chunks;
  std::byte* of_partition;
  std::conditional_t<device::is_device<ExecSpace>, room_arrays<ExecSpace, Row>, no_rooms> in_rooms;

 private:
  std::size_t m_bytes;
};

}  // namespace karpos::detail::reduce_by_key
