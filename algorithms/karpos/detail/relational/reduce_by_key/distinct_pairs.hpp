// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/hash.hpp"

// Different pairs of keys and values: packed into 64 bits if they fit, or as rows of two columns.

namespace karpos::detail::reduce_by_key {

template <class Keys, class Values>
struct pack_pairs {
  Keys keys;
  Values values;
  std::uint64_t* pairs;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    pairs[i] = static_cast<std::uint64_t>(key_bits_of<std::uint32_t>(device::element(keys, i)))
                   << 32 |
               key_bits_of<std::uint32_t>(device::element(values, i));
  }
};
template <class Key>
struct unpack_keys {
  std::uint64_t const* pairs;
  Key* keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    keys[i] = from_bits<Key>(static_cast<std::uint32_t>(pairs[i] >> 32));
  }
};

/// Gathers the keys of rows, and 1 for each value that is no null.
template <class Keys, class Values, class Key, class Count>
struct gather_pairs {
  Keys keys;
  Values values;
  std::uint64_t const* rows;
  Key* to;
  Count* counts;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    to[i] = device::element(keys, rows[i]);
    counts[i] = has_number(reduce_by_key::load_value(values, rows[i]));
  }
};

}  // namespace karpos::detail::reduce_by_key
