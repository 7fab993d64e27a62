// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/compiled/types.hpp"

// How types of one size share code: as unsigned integers with their bits.

namespace karpos::compiled {

template <class T>
using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <int Bits>
using floating = std::conditional_t<Bits == 32, float, double>;

template <class T>
bits<T> bits_of(T const& x) {
  return Kokkos::bit_cast<bits<T>>(x);
}
/// Returns an unmanaged view of the same memory, which the caller keeps alive.
template <class View>
auto bits_of_view(View const& v) {
  using word = bits<typename View::value_type>;
  using element = std::conditional_t<std::is_const_v<typename View::value_type>, word const, word>;
  return Kokkos::View<element*, memory_space, Kokkos::MemoryUnmanaged>(
      reinterpret_cast<element*>(v.data()), v.extent(0));
}

}  // namespace karpos::compiled
