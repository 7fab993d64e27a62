// SPDX-License-Identifier: Apache-2.0
/// \file
/// Hashes that have a given place in a table: the inverse of karpos::detail::place_among.
#pragma once

#include <cstdint>
#include <karpos/hash.hpp>

namespace karpos_test {

/// Makes hashes for places in a structure of that size, as place_among computes them. Tables need
/// the seed 0.
class hash_of_place {
 public:
  hash_of_place() = default;
  KOKKOS_FUNCTION constexpr hash_of_place(karpos::detail::hashed what, std::uint64_t size)
      : m_multiplier(karpos::detail::place_multiplier(what, size)),
        m_inverse(m_multiplier) {
    for (int i = 0; i < 6; ++i)
      m_inverse *= 2 - m_multiplier * m_inverse;  // Newton: doubles the number of right bits
  }
  /// Returns the hash whose place among n is (position * n) >> 64.
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(std::uint64_t position) const {
    return position * m_inverse;
  }
  /// Returns such a hash whose three lowest bits are `low`, for a position that ends in three zero
  /// bits.
  KOKKOS_FUNCTION constexpr std::uint64_t with_low_bits(std::uint64_t position,
                                                        std::uint64_t low) const {
    return (*this)(position | (low * m_multiplier & 7));
  }

 private:
  std::uint64_t m_multiplier = 1, m_inverse = 1;
};

/// Sends every `each`-th key to a slot in the first 1 / `parts` of a table.
struct clustered_hash {
  using is_avalanching = void;
  std::uint32_t each, parts;
  hash_of_place hash;
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint32_t key) const {
    std::uint64_t const mixed = karpos::mix(key);
    return key % each == 0 ? hash(karpos::multiply_high(mixed, ~std::uint64_t(0) / parts)) : mixed;
  }
};

}  // namespace karpos_test
