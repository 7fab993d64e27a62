// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"

// Where what is known of an object lies: at its id where ids are dense, else where a hash table put it.

namespace karpos::detail::top_k {

inline constexpr std::uint64_t no_place = ~std::uint64_t(0);

/// Ids and their places. A table for sparse ids is emptied between queries.
template <class Id>
struct object_table {
  using word =
      std::make_unsigned_t<std::conditional_t<sizeof(Id) == 4, std::int32_t, std::int64_t>>;
  static constexpr word empty = ~word(0);

  std::uint64_t places = 0;  // dense: ids are below
  word* keys =
      nullptr;  // sparse: of places - 1 slots, a power of two; the last place is that of the id `empty`

  /// Places for so many sparse ids: two thirds full at most.
  static std::uint64_t places_for(std::uint64_t objects) {
    std::uint64_t slots = 64;
    while (slots < objects + objects / 2) slots *= 2;
    return slots + 1;
  }

  /// Returns: the place of an id, which it gets now if it has none; no_place when there is none left, or the id is not
  /// below `places` (dense).
  KOKKOS_FUNCTION std::uint64_t insert(Id id) const { return look<true>(static_cast<word>(id)); }
  /// Returns: the place of an id, or no_place if it has none.
  KOKKOS_FUNCTION std::uint64_t find(Id id) const { return look<false>(static_cast<word>(id)); }
  /// Where it is looked for first.
  KOKKOS_FUNCTION std::uint64_t home(Id id) const {
    auto const key = static_cast<word>(id);
    return keys == nullptr ? key : first_slot(key);
  }
  KOKKOS_FUNCTION Id id_at(std::uint64_t place) const {
    if (keys == nullptr) return static_cast<Id>(place);
    return static_cast<Id>(place + 1 == places ? empty : keys[place]);
  }

 private:
  KOKKOS_FUNCTION std::uint64_t first_slot(word key) const {
    return mix(static_cast<std::uint64_t>(key)) & (places - 2);
  }
  template <bool Insert>
  KOKKOS_FUNCTION std::uint64_t look(word key) const {
    if (keys == nullptr) return key < places ? key : no_place;
    if (key == empty) return places - 1;
    std::uint64_t const last = places - 2;
    std::uint64_t at = first_slot(key);
    for (std::uint64_t i = 0; i <= last; ++i, at = (at + 1) & last) {
      word seen = device::load_relaxed(keys + at);
      if (seen == empty) {
        if (!Insert) return no_place;
        seen = device::compare_and_swap(keys + at, empty, key);
        if (seen == empty) return at;
      }
      if (seen == key) return at;
    }
    return no_place;
  }
};

}  // namespace karpos::detail::top_k
