// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "karpos/operations.hpp"

// What a communicator asks of that which moves its data: bytes between ranks, in blocks. MPI is one engine (mpi_engine.hpp);
// a library that moves data between GPUs by itself is to become another one.

namespace karpos::detail::distributed {

/// A block for each rank, one behind the other.
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

enum class number_kind { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
enum class reduction_kind { sum, min, max, bit_or };

template <class T>
constexpr number_kind number_kind_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>,
                "karpos: ranks reduce numbers of at most 8 bytes");
  if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? number_kind::f32 : number_kind::f64;
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return is_signed ? number_kind::i8 : number_kind::u8;
    case 2:
      return is_signed ? number_kind::i16 : number_kind::u16;
    case 4:
      return is_signed ? number_kind::i32 : number_kind::u32;
    default:
      return is_signed ? number_kind::i64 : number_kind::u64;
  }
}

/// Every member is called by all ranks, in the same order, and waits. Data lies in memory that the engine takes.
class engine {
 public:
  virtual ~engine() = default;
  virtual char const* name() const = 0;
  /// Whether it takes memory of a device; else the communicator stages on the host.
  virtual bool takes_device_memory() const = 0;

  virtual void barrier() = 0;
  virtual void broadcast(void* data, std::uint64_t bytes, int root) = 0;
  virtual void all_reduce(void* data, std::uint64_t n, number_kind, reduction_kind) = 0;
  /// Gathers the blocks of all ranks: `send` is this rank's.
  virtual void all_gather(void const* send, void* receive, blocks const& to,
                          std::size_t element_bytes) = 0;
  /// Sends block r of `send` to rank r, and receives block r of `receive` from it.
  virtual void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to,
                          std::size_t element_bytes) = 0;
};

}  // namespace karpos::detail::distributed
