// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/tables/cuckoo/refs.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/tile.hpp"

// Kernels of an insertion into the dense layout; see table::insert.

namespace karpos::detail::cuckoo {

/// Predicate: a table lacks the key at an index.
template <class Ref, class Keys>
struct is_absent {
  Ref ref;
  Keys keys;
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    auto const key = device::element(keys, i);
    return !find_in<device::access::frozen>(ref, one_thread<Ref>{}, key).present;
  }
};

/// Writes the pairs of a source to views, from an index on.
template <class Key, class View, class Source, class KeysOut, class ValuesOut>
struct append_pairs {
  using layout = typename View::layout;
  Source source;
  KeysOut keys;
  ValuesOut values;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const item = source.load(i);
    keys(first + i) = from_bits<Key>(layout::key_of(item));
    values(first + i) = layout::value_of(item);
  }
};

}  // namespace karpos::detail::cuckoo
