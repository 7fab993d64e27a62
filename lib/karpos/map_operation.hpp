// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/outcome.hpp"

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

/// The answer to a map_operation. `value` is what find found, else T{}. Aligned so that it is written at once where it
/// fits into eight bytes: on a GPU every store of its own is a request.
template <class T>
struct alignas(sizeof(T) > 4 && alignof(T) > 4 ? alignof(T) : 8) map_result {
  karpos::outcome outcome;
  T value;
};

}  // namespace karpos
