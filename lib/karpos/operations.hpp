// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

// Operations by which a new value is merged with a stored one: associative and commutative.

namespace karpos {

/// Adds the new value to the stored one: one atomic addition of integers, on GPUs of floats and doubles, too (CUDA: sums of
/// floats that are subnormal become zero).
struct plus {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& stored, T const& value) const {
    return static_cast<T>(stored + value);
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
