// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/detail/relational/reduce_by_key/group_table.hpp"
#include "karpos/operations.hpp"

// Checked sums of integers: the high and the low halves of the numbers are added separately.

namespace karpos::detail::reduce_by_key {

/// Sums of the high halves, with their sign, and of the low halves of at most 2^32 numbers.
template <class From>
using halves =
    pack<std::conditional_t<std::is_signed_v<From>, std::int64_t, std::uint64_t>, std::uint64_t>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION halves<T> halves_of(T x) {
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  return {{static_cast<wide>(static_cast<wide>(x) >> 32)},
          {static_cast<std::uint64_t>(x) & 0xffff'ffffu}};
}

/// Returns whether a sum is a value of T. `wrapped`: the sum modulo 2^64.
template <class T, class High>
KOKKOS_FUNCTION bool fits(High high, std::uint64_t low, std::uint64_t& wrapped) {
  high = static_cast<High>(high + static_cast<High>(low >> 32));
  wrapped = (static_cast<std::uint64_t>(high) << 32) | (low & 0xffff'ffffu);
  if constexpr (std::is_signed_v<High>) {
    if (high < -(std::int64_t(1) << 31) || high >= std::int64_t(1) << 31) return false;
    auto const sum = static_cast<std::int64_t>(wrapped);
    return sum >= std::int64_t(Kokkos::Experimental::finite_min_v<T>) &&
           sum <= std::int64_t(Kokkos::Experimental::finite_max_v<T>);
  } else {
    return high < std::uint64_t(1) << 32 &&
           wrapped <= static_cast<std::uint64_t>(Kokkos::Experimental::finite_max_v<T>);
  }
}

struct count_marked {
  std::uint8_t const* marks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    count += marks[i];
  }
};

/// A field (columns.hpp) of checked sums. Marks: a view of std::uint8_t, one element per group,
/// which may be written more than once.
template <int Column, class From, class Out, class Marks>
struct checked_field {
  using state = halves<From>;
  using merge = merge_each<plus, plus>;
  using to = typename std::remove_cvref_t<Out>::value_type;
  merge op;
  Out out;
  Marks overflowed;

  template <class F>
  auto transformed(F const& f) const {
    return checked_field<Column, From, decltype(f(out)), decltype(f(overflowed))>{op, f(out),
                                                                                  f(overflowed)};
  }

  template <class Bits, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION state first(Bits, Columns const& columns) const {
    return reduce_by_key::halves_of(detail::get<Column>(columns));
  }
  template <class Bits>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint64_t i, Bits, state const& s) const {
    std::uint64_t wrapped = 0;
    overflowed(i) = !reduce_by_key::fits<to>(detail::get<0>(s), detail::get<1>(s), wrapped);
    out(i) = static_cast<to>(wrapped);
  }

  /// Throws std::overflow_error if the sum of some group does not fit.
  template <class ExecSpace>
  void finish(ExecSpace const& exec, std::uint64_t groups) const {
    std::uint64_t count = 0;
    Kokkos::parallel_reduce("karpos::reduce_by_key: sums that do not fit",
                            index_range(exec, groups), count_marked{overflowed.data()}, count);
    if (count == 0) return;
    auto const marks = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), overflowed);
    auto const first = std::find(marks.data(), marks.data() + groups, 1) - marks.data();
    reject<std::overflow_error>(std::to_string(count) + " of " + std::to_string(groups) +
                                    " checked sums do not fit into " +
                                    std::to_string(8 * sizeof(to)) + " bits",
                                "the first is at index " + std::to_string(first),
                                "write them to a view of a wider type, or add doubles");
  }
};

template <class ExecSpace, class Columns, int Column, class Out>
struct checked_field_of {
  using column = std::tuple_element_t<Column, Columns>;
  static_assert(!is_nullable<column>,
                "karpos: a column with nulls takes plus, minimum, maximum, mean, variance and "
                "count_valid");
  using from = number_of<column>;
  using to = typename Out::value_type;
  static_assert(std::is_integral_v<from> && (sizeof(from) == 4 || sizeof(from) == 8) &&
                    std::is_integral_v<to> && (sizeof(to) == 4 || sizeof(to) == 8),
                "karpos: checked sums are those of integers of 4 or 8 bytes");
  static_assert(std::is_same_v<from, to> || widens_to<from, to>,
                "karpos: checked sums have the type of their column, or one that holds all of its "
                "values");
  using marks = Kokkos::View<std::uint8_t*, typename ExecSpace::memory_space>;
  using type = checked_field<Column, from, Out, marks>;

  template <class Keys, class Output>
  static type make(ExecSpace const& exec, Keys const& keys, Columns const&, Output const& o) {
    if (keys.extent(0) > std::uint64_t(1) << 32)
      reject("too many rows for a checked sum", std::to_string(keys.extent(0)) + " of at most 2^32",
             "reduce them in two calls");
    return {
        {},
        o.out,
        allocate_array<marks>(exec, "karpos::reduce_by_key: sums that do not fit",
                              "the marks of checked sums", "pass a shorter view", o.out.extent(0))};
  }
};

}  // namespace karpos::detail::reduce_by_key
