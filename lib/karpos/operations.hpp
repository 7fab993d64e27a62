// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <type_traits>

// Operations by which a new value is merged with a stored one: associative and commutative. A
// program may write its own.
//
// What functors may do that a program passes to Karpos (operations, predicates, visitors, functions
// of parts, hashes, equalities, aggregates of a ranking, hooks of a search):
//
// - They may not throw, on hosts either: an exception that leaves a kernel of Kokkos ends the
//   program by std::terminate. A functor that finds something wrong writes that down, in a view it
//   holds, and the caller looks at it after the call.
// - They are copied, to the device too, and called through const, in any order, by several threads
//   at once, and for one argument as often as the algorithm likes. Equal arguments get equal
//   answers.
// - They call KOKKOS_FUNCTIONs alone, launch no kernel, and do not wait for other threads.
// - They change nothing that the call reads, and no table that is at work, unless its documentation
//   allows that.

namespace karpos {

/// Adds the new value to the stored one: one atomic addition of integers, on GPUs of floats and doubles, too (CUDA: sums of
/// floats that are subnormal become zero). Sums of integers wrap, those with a sign as well: they
/// are right modulo 2^32, or 2^64. checked_plus (checked_plus.hpp) reports sums that do not fit.
struct plus {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using bits = std::make_unsigned_t<T>;
      return static_cast<T>(
          static_cast<bits>(static_cast<bits>(stored) + static_cast<bits>(value)));
    } else {
      return static_cast<T>(stored + value);
    }
  }
};
/// Keeps the smaller value. Of floating-point numbers among which are NaNs it depends on their order what is kept: nothing is
/// smaller than a NaN, and a NaN is smaller than nothing.
struct minimum {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    return value < stored ? value : stored;
  }
};
/// Keeps the larger value. NaNs: as minimum.
struct maximum {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    return stored < value ? value : stored;
  }
};

}  // namespace karpos
