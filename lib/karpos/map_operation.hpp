// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Records for workloads in which insertions, erasures and lookups run at once.

namespace karpos {

/// What a map_operation asks for.
enum class map_op : std::uint8_t { insert, erase, find };

/// One operation on a map. `value` is used by insertions only.
template <class Key, class T>
struct map_operation {
  map_op op;
  Key key;
  T value;
};

/// What became of a map_operation.
enum class map_outcome : std::uint32_t {
  inserted,  ///< insert: the key was not there; it is now
  existing,  ///< insert: the key was there already; the stored value is unchanged
  full,      ///< insert: the key was not there and found no place
  erased,    ///< erase: the key was there; it is gone
  found,     ///< find: the key was there
  absent,    ///< erase and find: the key was not there
  invalid    ///< the key equals a sentinel
};

/// The answer to a map_operation. `value` is what find found, else T{}. Aligned so that it is written at once where it
/// fits into eight bytes: on a GPU every store of its own is a request.
template <class T>
struct alignas(sizeof(T) > 4 && alignof(T) > 4 ? alignof(T) : 8) map_result {
  map_outcome outcome;
  T value;
};

}  // namespace karpos
