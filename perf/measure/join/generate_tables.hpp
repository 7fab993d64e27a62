// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/join/join_spec.hpp"
#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

// Keys that are functions of the positions of their rows.

namespace karpos::perf {

template <class Key>
struct make_right_key {
  key_sequence<Key> key_of;
  permutation order;
  std::uint64_t multiplicity;
  array<Key> keys;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys(i) = key_of(order(i) / multiplicity);
  }
};

template <class Key>
struct make_left_key {
  key_sequence<Key> key_of;
  rank_sequence rank_of;
  double match;
  array<Key> keys;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const coin = scramble(scramble(key_of.seed + 1) ^ i);
    keys(i) = key_of(fraction(coin) < match ? rank_of(fraction(scramble(coin))) : rank_of.n + i);
  }
  /// Returns a number in [0, 1).
  KOKKOS_FUNCTION static double fraction(std::uint64_t random) {
    return static_cast<double>(random >> 11) * 0x1p-53;
  }
};

template <class Key>
void generate_tables(space const& exec, join_spec const& spec, array<Key> const& left,
                     array<Key> const& right) {
  key_sequence<Key> const key_of{spec.seed};
  Kokkos::parallel_for("karpos::perf::generate_right", range(exec, spec.right),
                       make_right_key<Key>{key_of, permutation::of(spec.right, spec.seed),
                                           spec.multiplicity, right});
  Kokkos::parallel_for(
      "karpos::perf::generate_left", range(exec, spec.left),
      make_left_key<Key>{key_of, rank_sequence::of(spec.keys(), spec.skew), spec.match, left});
  exec.fence("karpos::perf::generate_tables");
}

}  // namespace karpos::perf
