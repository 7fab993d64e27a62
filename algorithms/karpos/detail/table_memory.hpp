// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/arrays.hpp"
#include "karpos/detail/table_options.hpp"

// What tables do with memory, whatever they keep in it.

namespace karpos::detail {

/// The label of a kernel or an array of a table: karpos::<name>::<what>.
inline std::string table_label(std::string const& name, char const* what) {
  return "karpos::" + name + "::" + what;
}

/// An array of a table's, or an explanation of why there is none.
template <class MemorySpace, class Make>
auto allocated(std::size_t bytes, Make const& make) {
  return allocate_or_explain<MemorySpace>(bytes, "a table", "ask for fewer keys or a higher load",
                                          make);
}

/// Bytes that a bucket is aligned to: it is read with vector instructions that want its natural alignment; more
/// than a cache line is what no allocation of Kokkos' promises.
constexpr std::size_t bucket_alignment(std::size_t bucket_bytes) {
  std::size_t const natural = bucket_bytes & (~bucket_bytes + 1);
  return natural < 64 ? natural : 64;
}

/// Throws std::invalid_argument for memory of the caller's that is too small or not aligned.
inline void require_wrappable(wrapped_memory memory, std::size_t bytes, std::size_t alignment) {
  if (memory.bytes < bytes)
    reject("the memory to wrap is too small",
           std::to_string(memory.bytes) + " bytes for " + std::to_string(bytes),
           "allocate bytes_for(max_keys, load)");
  if (reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
    reject("the memory to wrap is not aligned",
           "buckets need " + std::to_string(alignment) + " bytes", "align it to that");
}

}  // namespace karpos::detail
