// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/partition/rows.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/rows.hpp"

// What a partitioned join moves of a row: its number, and a key, which says to what part it belongs and tells it from most
// other rows, or from all.

namespace karpos::detail::join {

/// Rows of one column without a mask, compared as the library does: the bits of the value are all there is to a row.
template <class Rows>
struct single_value {
  static constexpr bool is_key = false;
};
template <class Hash, class Equal, view_1d Column>
struct single_value<row_view<Hash, Equal, Column>> {
  using type = typename Column::non_const_value_type;
  static constexpr bool is_key = std::is_same_v<Hash, row_hash> &&
                                 std::is_same_v<Equal, row_equal> && has_key_bits<type> &&
                                 sizeof(type) <= 8;
  using bits = std::conditional_t<sizeof(type) <= 4, std::uint32_t, std::uint64_t>;
};

/// The key of rows of two tables that are compared by the functions of `Functions`: bits of their value where that is all there
/// is to a row on both sides, or 32 bits of their hash, beside which the columns are compared.
template <class Left, class Right, class Functions>
inline constexpr bool has_exact_keys =
    single_value<Functions>::is_key && !Left::may_have_nulls && !Right::may_have_nulls;

template <class Rows, bool IsExact>
struct split_key {
  using type = std::uint32_t;
  /// Rows that are equal to none have any key, so that they do not all come into one part.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const& by, Row const& r, std::uint64_t i) {
    return static_cast<type>((by.can_equal(r) ? by.hash(r) : mix(i)) >> 32);
  }
};
template <class Rows>
struct split_key<Rows, true> {
  using type = typename single_value<Rows>::bits;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static type of(Rows const&, Row const& r, std::uint64_t) {
    return key_bits_of<type>(r.template value<0>());
  }
};

/// A row as it is moved.
template <class Functions, bool IsExact>
using split_row = key_value<typename split_key<Functions, IsExact>::type, std::uint32_t>;

/// Source of a partition: rows, with keys by the functions of the right ones.
template <class Rows, class Functions, bool IsExact>
struct rows_to_split {
  using row = split_row<Functions, IsExact>;
  using loaded = decltype(row::key);
  Rows rows;
  Functions by;

  KOKKOS_FUNCTION std::uint64_t size() const { return rows.size(); }
  KOKKOS_FORCEINLINE_FUNCTION loaded load(std::uint64_t i) const {
    return split_key<Functions, IsExact>::of(by, rows[i], i);
  }
  KOKKOS_FORCEINLINE_FUNCTION static row make(loaded key, std::uint64_t i) {
    return {key, static_cast<std::uint32_t>(i)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(row const& r) { return r.key; }
  KOKKOS_FORCEINLINE_FUNCTION static loaded key_of(loaded key) { return key; }
};

/// The part of a key: by the high half of its hash. A part's table takes the low one.
struct part_of_split {
  std::uint32_t parts;
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Key key) const {
    return static_cast<std::uint32_t>((mix(key) >> 32) * parts >> 32);
  }
};

/// Whether a row of the left side is equal to one of the right side, whose columns `rows` and `by` are.
template <class Left, class Right, class Functions>
struct equal_split_rows {
  Left left;
  Right right;
  Functions by;
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(Row const& l, Row const& r) const {
    if constexpr (has_exact_keys<Left, Right, Functions>)
      return l.key == r.key;
    else
      return l.key == r.key && by.equal(right[r.value], left[l.value]);
  }
};

}  // namespace karpos::detail::join
