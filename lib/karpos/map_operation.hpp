// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/outcome.hpp"

// Records for workloads in which insertions, erasures and lookups run concurrently.

namespace karpos {

/// The kind of a map_operation.
enum class map_op : std::uint8_t { insert, erase, find };

/// One operation on a map. Only insertions use `value`.
template <class Key, class T>
struct map_operation {
  map_op op;
  Key key;
  T value;
};

/// The result of a map_operation: `value` is what a find found, else T{}. Also the result of
/// find_or_insert in kernels (map_ref.hpp). A result of eight bytes is aligned to eight, so that
/// one store writes it.
template <class T>
struct alignas(sizeof(T) > 4 && alignof(T) > 4 ? alignof(T) : 8) map_result {
  karpos::outcome outcome;
  T value;
};

}  // namespace karpos
