// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/key_sample.hpp"
#include "karpos/detail/partition/chunks.hpp"
#include "karpos/detail/partition/memory.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/reduce_by_key/tuning.hpp"

// What a reduction by key needs beside its input and its output.

namespace karpos::detail::reduce_by_key {

/// Into how many parts so many rows are split, and what that takes.
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
  /// The larger of two: a later round may have fewer rows, but more parts than this one.
  static std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows) {
    return std::max(plan(exec, rows).bytes(), plan(exec, std::min(rows, one_pass_rows)).bytes());
  }
};

/// The arrays, in memory of so many bytes.
template <class ExecSpace, class Row>
class memory {
  using s = sizes<ExecSpace, Row>;

 public:
  memory(ExecSpace const& exec, std::uint64_t rows, std::byte* at = nullptr) {
    bool const is_split = rows > s::chunk_rows;
    arena a(at);
    a.take(counts, 1);
    a.take(sample, 1);
    a.take(partial, rows);
    a.take(split, is_split ? rows : 0);
    a.take(offsets, s::parts(rows) + 1);
    a.take(first, s::parts(rows) + 1);
    a.take(chunks, s::most_chunks(rows));
    a.take(of_partition, is_split ? s::partition_bytes(exec, rows) : 0);
    m_bytes = a.bytes();
  }
  std::size_t bytes() const { return m_bytes; }

  counters* counts;
  key_sample* sample;
  Row *partial, *split;
  std::uint64_t *offsets, *first;
  partition::chunk* chunks;
  std::byte* of_partition;

 private:
  std::size_t m_bytes;
};

}  // namespace karpos::detail::reduce_by_key
