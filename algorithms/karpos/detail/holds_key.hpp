// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <type_traits>

#include "karpos/hash.hpp"

namespace karpos::detail {

/// Predicate: the slot holds a key that the user's function finds equal to the query.
template <class Key, class Protocol, class KeyEqual, class Query>
struct has_equal_key {
  Protocol const& slot;
  KeyEqual const& equal;
  Query const& query;
  KOKKOS_FUNCTION bool operator()(typename Protocol::word w) const {
    return slot.live(w) && equal(from_bits<Key>(Protocol::layout::key_of(w)), query);
  }
};

/// Predicate: the slot holds a key equal to the query; by its bits where equality is that.
template <class Key, class Protocol, class KeyEqual, class Query>
KOKKOS_FUNCTION auto holds_key(Protocol const& slot, KeyEqual const& equal, Query const& query) {
  if constexpr (std::is_same_v<Query, Key> && std::is_same_v<KeyEqual, equal_to<Key>> &&
                (std::is_integral_v<Key> || std::is_enum_v<Key>))
    return typename Protocol::has_key{to_bits<typename Protocol::key_bits>(query)};
  else
    return has_equal_key<Key, Protocol, KeyEqual, Query>{slot, equal, query};
}

}  // namespace karpos::detail
