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

/// Stands for a view of values. If it is passed in place of one, partition (partition.hpp) writes
/// the row's number, converted to the type of member `value` of the rows.
struct row_numbers {};

}  // namespace karpos
