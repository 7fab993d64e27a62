// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/probing.hpp"

// Probe sequences of tables with one slot a bucket, which are compared with ours.

namespace karpos::perf {

/// Probes the next slot, and the next.
struct linear_path {
  std::uint64_t slots, at;

  static std::uint64_t slots_for(std::uint64_t n) { return n; }
  KOKKOS_FUNCTION linear_path(std::uint64_t n, std::uint64_t home) : slots(n), at(home) {}
  KOKKOS_FUNCTION void advance() { at = at + 1 < slots ? at + 1 : 0; }
};

/// Probes the slots at the distances 1, -1, 4, -4, 9, -9, ... of the home. That visits every slot,
/// because their number is a prime of the form 4 k + 3.
/// Source: C. Radke, "The use of quadratic residue research", Communications of the ACM, 1970.
struct quadratic_path {
  std::uint64_t slots, home, at, root = 0, square = 0;
  bool below = true;

  static std::uint64_t slots_for(std::uint64_t n) {
    std::uint64_t prime = detail::next_prime(n);
    while (prime % 4 != 3) prime = detail::next_prime(prime + 1);
    return prime;
  }
  KOKKOS_FUNCTION quadratic_path(std::uint64_t n, std::uint64_t h) : slots(n), home(h), at(h) {}
  KOKKOS_FUNCTION void advance() {
    below = !below;
    if (below) {
      at = home < square ? home + slots - square : home - square;
      return;
    }
    square += 2 * root++ + 1;
    if (square >= slots) square -= slots;
    at = home + square < slots ? home + square : home + square - slots;
  }
};

}  // namespace karpos::perf
