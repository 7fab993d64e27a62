// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/index_range.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"

// Cuts partitions into chunks of bounded length, so that several teams share a long partition.

namespace karpos::detail::partition {

/// Rows of a partition that one team processes. Unused entries of the list have no rows.
struct chunk {
  std::uint64_t begin;
  std::uint32_t rows;
  std::uint32_t whole;  // 1 if they are all rows of their partition
  std::uint32_t partition = 0;
};

/// Partitions, and the chunks that they are cut into.
struct chunk_list {
  std::uint64_t const* offsets;  // of partitions
  std::uint64_t* first;          // of each partition; the last element: number of chunks
  chunk* chunks;
  std::uint64_t partitions;
  std::uint32_t most_rows;  // maximum of a chunk

  KOKKOS_FUNCTION std::uint64_t rows(std::uint64_t p) const { return offsets[p + 1] - offsets[p]; }
};

/// Finds the first chunk of every partition, by a scan.
struct count_chunks {
  chunk_list list;
  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& sum, bool last) const {
    if (last) list.first[p] = sum;
    if (p < list.partitions) sum += (list.rows(p) + list.most_rows - 1) / list.most_rows;
  }
};

/// Writes chunk c. The chunks of a partition differ in length by one row at most.
struct write_chunks {
  chunk_list list;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    if (c >= list.first[list.partitions]) {
      list.chunks[c] = {0, 0, 0};
      return;
    }
    std::uint64_t p = 0,
                  end = list.partitions;  // the last partition whose first chunk is at most c
    while (end - p > 1) {
      std::uint64_t const middle = p + (end - p) / 2;
      (list.first[middle] <= c ? p : end) = middle;
    }
    std::uint64_t const chunks = list.first[p + 1] - list.first[p], i = c - list.first[p];
    std::uint64_t const first = list.rows(p) * i / chunks, last = list.rows(p) * (i + 1) / chunks;
    list.chunks[c] = {list.offsets[p] + first, static_cast<std::uint32_t>(last - first),
                      chunks == 1, static_cast<std::uint32_t>(p)};
  }
};

/// Sets *found to 1 if some partition has more than `most` rows.
struct find_long_partition {
  std::uint64_t const* begins;
  std::uint64_t most;
  std::uint32_t* found;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    if (begins[p + 1] - begins[p] > most) device::set_bits(found, 1u);
  }
};

/// Enqueues the cut of `list`, whose array has space for max_chunks chunks.
template <class ExecSpace>
void split_into_chunks(ExecSpace const& exec, chunk_list const& list, std::uint64_t max_chunks) {
  Kokkos::parallel_scan("karpos::partition: count chunks", index_range(exec, list.partitions + 1),
                        count_chunks{list});
  device::loop_over("karpos::partition: write chunks", exec, max_chunks, write_chunks{list});
}

}  // namespace karpos::detail::partition
