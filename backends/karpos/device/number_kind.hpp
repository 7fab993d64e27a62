// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace karpos::device {

/// Types of numbers that ranks reduce, and reduction operations, for libraries that know no C++
/// types.
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
constexpr std::size_t bytes_of(number_kind kind) {
  switch (kind) {
    case number_kind::i8:
    case number_kind::u8:
      return 1;
    case number_kind::i16:
    case number_kind::u16:
      return 2;
    case number_kind::i32:
    case number_kind::u32:
    case number_kind::f32:
      return 4;
    default:
      return 8;
  }
}

}  // namespace karpos::device
