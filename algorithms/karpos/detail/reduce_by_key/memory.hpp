// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/partition/memory.hpp"
#include "karpos/detail/reduce_by_key/chunks.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/reduce_by_key/tuning.hpp"
#include "karpos/device/streaming.hpp"

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
  /// Also of fewer rows: the most that one pass splits have more parts at once.
  static std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows) {
    return std::max(plan(exec, rows).bytes(), plan(exec, std::min(rows, one_pass_rows)).bytes());
  }
};

/// The arrays, each from a cache line on.
template <class ExecSpace, class Row>
class memory {
  using s = sizes<ExecSpace, Row>;

 public:
  memory(ExecSpace const& exec, std::uint64_t rows, std::byte* at = nullptr)
      : m_first(reinterpret_cast<std::uintptr_t>(at)),
        m_at(m_first) {
    counts = take<counters>(1);
    sample = take<std::uint64_t>(tuning<ExecSpace>::sample);
    partial = take<Row>(rows);
    bool const is_split = rows > s::chunk_rows;
    split = take<Row>(is_split ? rows : 0);
    offsets = take<std::uint64_t>(s::parts(rows) + 1);
    first = take<std::uint64_t>(s::parts(rows) + 1);
    chunks = take<chunk>(s::most_chunks(rows));
    of_partition = take<std::byte>(is_split ? s::partition_bytes(exec, rows) : 0);
  }
  std::size_t bytes() const { return m_at - m_first; }

  counters* counts;
  std::uint64_t* sample;
  Row *partial, *split;
  std::uint64_t *offsets, *first;
  chunk* chunks;
  std::byte* of_partition;

 private:
  template <class T>
  T* take(std::uint64_t n) {
    auto* const array = reinterpret_cast<T*>(m_at);
    m_at += (n * sizeof(T) + device::line_bytes - 1) / device::line_bytes * device::line_bytes;
    return array;
  }
  std::uintptr_t m_first, m_at;
};

}  // namespace karpos::detail::reduce_by_key
