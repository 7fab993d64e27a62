// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "karpos/device/number_kind.hpp"
#include "karpos/operations.hpp"

// The interface of the engines that move bytes between ranks for a communicator, in blocks: MPI
// (mpi_engine.hpp), or a library that moves data between devices by itself (device_engine.hpp).
//
//   rank 0   send | to 0 | to 1 |    all_to_all    receive | from 0 | from 1 |
//   rank 1   send | to 0 | to 1 |       -->        receive | from 0 | from 1 |
//
// Rows are ordered by owner before they are sent (split_rows.hpp); tables merge equal keys first
// (combine.hpp). A search sends the vertices of each level (bfs_loop.hpp, bfs_exchange.hpp).
// Tests: communicator, exchange_plan, hash_map, join, bfs, bfs_random, failing (distributed).

namespace karpos::detail::distributed {

/// One block for each rank, stored one after the other.
struct blocks {
  std::vector<std::uint64_t> count, begin;  // of elements
  std::uint64_t total = 0;

  explicit blocks(std::vector<std::uint64_t> const& counts) : count(counts) {
    begin.reserve(counts.size());
    for (std::uint64_t const n : counts) {
      begin.push_back(total);
      total += n;
    }
  }
};

using device::number_kind;
using device::number_kind_of;
using device::reduction_kind;

/// All ranks call every member in the same order. Members block; those of the device engine are
/// enqueued instead, in the order of its instance. Requires: data is in memory that the engine
/// accepts.
class engine {
 public:
  virtual ~engine() = default;
  virtual char const* name() const = 0;
  /// Returns whether the engine accepts device memory; if not, the communicator stages on the host.
  virtual bool accepts_device_memory() const = 0;

  virtual void barrier() = 0;
  virtual void broadcast(void* data, std::uint64_t bytes, int root) = 0;
  virtual bool reduces(number_kind, reduction_kind) const { return true; }
  virtual void all_reduce(void* data, std::uint64_t n, number_kind, reduction_kind) = 0;
  /// Gathers the blocks of all ranks; `send` is this rank's block.
  virtual void all_gather(void const* send, void* receive, blocks const& to,
                          std::size_t element_bytes) = 0;
  /// Sends block r of `send` to rank r, and receives block r of `receive` from it.
  virtual void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to,
                          std::size_t element_bytes) = 0;
};

}  // namespace karpos::detail::distributed
