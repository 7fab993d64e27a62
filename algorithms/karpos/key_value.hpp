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

/// Stands for a view of values in which the value of row i is i. partition (partition.hpp) accepts
/// it: i is converted to the type of member `value` of the rows that partition writes.
struct row_numbers {};

}  // namespace karpos
