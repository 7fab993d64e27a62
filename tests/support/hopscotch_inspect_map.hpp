// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inspection of a hopscotch_map in any memory space.
#pragma once

#include <cstdint>
#include <karpos/hopscotch_map.hpp>
#include <string>

#include "support/check.hpp"
#include "support/hopscotch_invariants.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// Inspects an exact copy of the map on the host. `options` are those that the map was made with.
template <class Key, class T, class Space, class Hash, class KeyEqual>
hopscotch_inspection inspect_map(karpos::hopscotch_map<Key, T, Space, Hash, KeyEqual> const& map,
                                 karpos::hash_table_options<Key> options = {},
                                 Hash const& hash = {}, KeyEqual const& equal = {}) {
  using host = Kokkos::DefaultHostExecutionSpace;
  struct copy_type : karpos::hopscotch_map<Key, T, host, Hash, KeyEqual> {
    using copy_type::hopscotch_map::hopscotch_map;
    auto lines() const { return this->m_storage.ref(); }
  };
  Space{}.fence();
  options.load = 0.98;
  auto const max_keys =
      static_cast<std::uint64_t>(static_cast<double>(map.capacity()) * options.load);
  copy_type copy(host{}, max_keys, options, hash, equal);
  same("slots of the copy", copy.capacity(), map.capacity());
  deep_copy(host{}, copy, map);
  return inspect(copy.lines());
}

/// Checks that the map's table is in order and holds `keys` keys.
template <class Map>
void check_map_in_order(std::string const& when, Map const& map, std::uint64_t keys) {
  auto const found = inspect_map(map);
  holds(when + ", the table is in order:" + found.text(), found.wrong.empty());
  same(when + ", keys in the table", found.keys, keys);
  same(when + ", size", map.size(space{}), keys);
}

}  // namespace karpos_test
