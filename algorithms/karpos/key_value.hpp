// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace karpos {

/// A key and its value, adjacent in memory.
template <class Key, class T>
struct alignas(sizeof(Key) + sizeof(T) <= 4   ? 4
               : sizeof(Key) + sizeof(T) <= 8 ? 8
                                              : 16) key_value {
  Key key;
  T value;
};

/// Stands for a view of values: partition (partition.hpp) then writes the index of each row as its
/// key_value::value, converted to that type.
struct row_numbers {};

}  // namespace karpos
