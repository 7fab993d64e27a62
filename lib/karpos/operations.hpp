// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <type_traits>

// Operations that merge a new value with a stored one. They are associative and commutative. A
// program may write its own.
//
// Rules for functors that a program passes to Karpos: operations, predicates, visitors,
// partitioners, hashes, equalities, aggregate functions of ranked queries, hooks of a breadth-first
// search.
//
// - They may not throw, not even on hosts: an exception that leaves a Kokkos kernel ends the
//   program by std::terminate. A functor that finds an error records it in a view that it holds;
//   the caller reads the view after the call.
// - They are copied, also to the device, and called through const. Several threads call them
//   concurrently, in any order, and, unless the call's documentation says otherwise, any number of
//   times for one argument. Equal arguments must get equal results.
// - They call only KOKKOS_FUNCTIONs, launch no kernel, and do not wait for other threads.
// - They change nothing that the call reads, and no table that is in use, unless the documentation
//   of the call or of the table allows that.

namespace karpos {

/// Adds the new value to the stored one. Sums of integers wrap, also those of signed types: they
/// are right modulo 2^32, or 2^64. checked_plus (checked_plus.hpp) reports sums that do not fit.
///
/// A hash_map adds to a stored value by one atomic addition: integers everywhere, float and double
/// on GPUs. On CPUs, float and double take a compare-and-swap loop. (CUDA: an atomic addition of
/// floats treats subnormal numbers as zero.) A hopscotch_map adds while it holds the key's lock.
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
/// Keeps the smaller value. If floating-point values include NaNs, the result depends on their
/// order: a comparison with a NaN is always false.
struct minimum {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    return value < stored ? value : stored;
  }
};
/// Keeps the larger value. NaNs have the effect that they have on minimum.
struct maximum {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    return stored < value ? value : stored;
  }
};

}  // namespace karpos
