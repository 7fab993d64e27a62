// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/relational/partition/chunks.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/reduce_by_key/heavy_hitters.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/tuning.hpp"

// The memory that a reduction by key needs beside its input and its output.

namespace karpos::detail::reduce_by_key {

/// The number of partitions that n rows are split into, and the memory for that.
template <class ExecSpace, class Row>
struct sizes {
  using tuned = tuning<ExecSpace>;
  static constexpr std::uint64_t chunk_rows = tuned::chunk_rows(sizeof(Row));
  static constexpr std::uint64_t mean = tuned::mean_partition_rows(sizeof(Row));
  static constexpr std::uint64_t one_pass_rows =
      tuned::partitions_per_pass * tuned::max_mean_partition_rows(sizeof(Row));

  static std::uint64_t partitions(std::uint64_t rows) {
    std::uint64_t const all = std::max((rows + mean - 1) / mean, std::uint64_t(1));
    return rows <= one_pass_rows ? std::min(all, tuned::partitions_per_pass) : all;
  }
  static std::uint64_t max_chunks(std::uint64_t rows) {
    return partitions(rows) + rows / chunk_rows;
  }
  static partition::plan<ExecSpace, Row> plan(ExecSpace const& exec, std::uint64_t rows) {
    return {exec, rows, partitions(rows), false};
  }
  /// Returns the bytes that suffice for `rows` rows, and for fewer, which later rounds have. Fewer
  /// rows may need more: they may be split in one pass, of more partitions than either of two has.
  static std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows) {
    return std::max(plan(exec, rows).bytes(), plan(exec, std::min(rows, one_pass_rows)).bytes());
  }
};

/// Arrays of fixed-capacity partitions, on GPUs. The memory of twice the rows holds the partitions,
/// and behind them pre-aggregated, overflowed and partial rows, in eighths of the number of rows:
///
///   | fixed_partitions: 11 or 14 eighths | first: 3 or 0 eighths | list: 1 eighth | partial: 1 |
///
/// Rows that do not fit are counted, and then all rows are reduced again without these partitions.
template <class ExecSpace, class Row>
struct fixed_partition_arrays {
  using heavy_hitters = heavy_hitter_table<ExecSpace, Row>;
  static constexpr std::uint64_t max_fixed_partitions =
      partition::tuning<ExecSpace>::max_partitions(false);

  fixed_partition_arrays() = default;
  fixed_partition_arrays(arena& a, ExecSpace const& exec, std::uint64_t rows, Row* row_storage)
      : eighth(rows / 8 / 32 * 32),
        fixed_partitions(row_storage) {
    bool const any = rows > 0;
    auto const teams = static_cast<std::uint64_t>(any ? device::processors(exec) : 0);
    a.allocate(sample, any);
    a.allocate(taken, any * max_fixed_partitions);
    a.allocate(filled, any * max_fixed_partitions);
    a.allocate(again, any * max_fixed_partitions);
    a.allocate(keys.keys, any * heavy_hitters::all);
    a.allocate(keys.values, has_value<Row> ? teams * heavy_hitters::all : 0);
    a.allocate(keys.present, teams * heavy_hitters::words);
  }
  Row* first() const { return fixed_partitions + 11 * eighth; }
  Row* list() const { return fixed_partitions + 14 * eighth; }
  Row* partial() const { return fixed_partitions + 15 * eighth; }

  std::uint64_t eighth;
  Row* fixed_partitions;
  sample_statistics* sample;
  std::uint32_t *taken, *filled, *again;
  heavy_hitters keys;
};
struct no_fixed_partitions {};

/// The arrays of a reduction, in one allocation of bytes().
template <class ExecSpace, class Row>
class memory {
  using s = sizes<ExecSpace, Row>;

 public:
  memory(ExecSpace const& exec, std::uint64_t rows, std::byte* at = nullptr) {
    bool const is_split = rows > s::chunk_rows;
    arena a(at);
    std::uint64_t const whole = (rows + 31) / 32 * 32;
    a.allocate(counts, 1);
    a.allocate(sample, 1);
    a.allocate(partial, is_split ? 2 * whole : rows);
    split = is_split && at != nullptr ? partial + whole : nullptr;
    a.allocate(offsets, s::partitions(rows) + 1);
    a.allocate(first, s::partitions(rows) + 1);
    a.allocate(chunks, s::max_chunks(rows));
    a.allocate(partition_workspace, is_split ? s::partition_bytes(exec, rows) : 0);
    if constexpr (device::is_device<ExecSpace>)
      in_fixed_partitions = {a, exec, is_split ? rows : 0, partial};
    m_bytes = a.bytes();
  }
  std::size_t bytes() const { return m_bytes; }

  counters* counts;
  sample_statistics* sample;
  Row *partial, *split;
  std::uint64_t *offsets, *first;
  partition::chunk* chunks;
  std::byte* partition_workspace;
  std::conditional_t<device::is_device<ExecSpace>, fixed_partition_arrays<ExecSpace, Row>,
                     no_fixed_partitions>
      in_fixed_partitions;

 private:
  std::size_t m_bytes;
};

}  // namespace karpos::detail::reduce_by_key
