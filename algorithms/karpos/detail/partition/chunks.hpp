// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/index_range.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loops.hpp"

// Cuts parts into chunks of bounded length, so that teams share a part that is longer than others.

namespace karpos::detail::partition {

/// Rows of a part that one team takes; none where there are fewer chunks than could be.
struct chunk {
  std::uint64_t begin;
  std::uint32_t rows;
  std::uint32_t whole;  // whether they are all of their part
  std::uint32_t part = 0;
};

/// Parts, and the chunks that they are cut into.
struct chunk_list {
  std::uint64_t const* offsets;  // of parts
  std::uint64_t* first;          // chunk of a part; behind the last part the number of chunks
  chunk* chunks;
  std::uint64_t parts;
  std::uint32_t most_rows;  // of a chunk

  KOKKOS_FUNCTION std::uint64_t rows(std::uint64_t p) const { return offsets[p + 1] - offsets[p]; }
};

/// Finds the first chunk of every part: a scan.
struct count_chunks {
  chunk_list list;
  KOKKOS_FUNCTION void operator()(std::uint64_t p, std::uint64_t& sum, bool last) const {
    if (last) list.first[p] = sum;
    if (p < list.parts) sum += (list.rows(p) + list.most_rows - 1) / list.most_rows;
  }
};

/// Writes the chunks: a part is cut evenly.
struct cut_parts {
  chunk_list list;
  KOKKOS_FUNCTION void operator()(std::uint64_t c) const {
    if (c >= list.first[list.parts]) {
      list.chunks[c] = {0, 0, 0};
      return;
    }
    std::uint64_t p = 0, end = list.parts;  // the last part whose first chunk is at most c
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

/// Says whether some part has more rows than that.
struct find_long_part {
  std::uint64_t const* begins;
  std::uint64_t most;
  std::uint32_t* found;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    if (begins[p + 1] - begins[p] > most) device::set_bits(found, 1u);
  }
};

/// Enqueues a cut into at most so many chunks.
template <class ExecSpace>
void cut(ExecSpace const& exec, chunk_list const& list, std::uint64_t most_chunks) {
  Kokkos::parallel_scan("karpos::partition: count chunks", index_range(exec, list.parts + 1),
                        count_chunks{list});
  device::loop_over("karpos::partition: cut parts", exec, most_chunks, cut_parts{list});
}

}  // namespace karpos::detail::partition
