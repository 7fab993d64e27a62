// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/groupby/row_spec.hpp"
#include "perf/measure/support/sequences.hpp"
#include "perf/measure/support/space.hpp"

// Rows that are functions of their position.

namespace karpos::perf {

template <class Key>
struct make_row {
  row_spec spec;
  key_sequence<Key> key_of;
  rank_sequence rank_of;
  array<Key> keys, values;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const random = scramble(scramble(spec.seed) ^ i);
    keys(i) = key_of(rank_of(static_cast<double>(random >> 11) * 0x1p-53));
    values(i) = static_cast<Key>(random % 16);
  }
};

template <class Key>
void generate_rows(space const& exec, row_spec const& spec, array<Key> const& keys,
                   array<Key> const& values) {
  double const exponent = spec.family == row_spec::families::zipf ? spec.exponent : 0;
  Kokkos::parallel_for(
      "karpos::perf::generate_rows", range(exec, spec.rows),
      make_row<Key>{spec, {spec.seed}, rank_sequence::of(spec.distinct, exponent), keys, values});
  exec.fence("karpos::perf::generate_rows");
}

}  // namespace karpos::perf
