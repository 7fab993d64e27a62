// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/probing.hpp>

namespace karpos_test {

/// Double hashing with the second pair near the first in small tables, too, of more than 2 * Near
/// pairs. Near: the number of pairs that are near each other.
template <std::uint64_t Near>
struct near_probing : karpos::double_hashing {
  KOKKOS_FUNCTION static constexpr std::uint64_t next(std::uint64_t hash, std::uint64_t pair,
                                                      std::uint64_t pairs, std::uint32_t n) {
    std::uint64_t const near = pair / Near * Near + (pair + (stride(hash, pairs) | 1)) % Near;
    return n == 1 && pairs > 2 * Near && near < pairs ? near
                                                      : double_hashing::next(hash, pair, pairs, n);
  }
};

}  // namespace karpos_test
