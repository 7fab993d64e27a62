// SPDX-License-Identifier: Apache-2.0
/// \file
/// The operations of a table_ref on the table below it, for tests that choose how that table works: whether
/// slots are inserted in one step, where the memory lies.
#pragma once

#include <karpos/detail/open_addressing/ref.hpp>
#include <karpos/detail/probe.hpp>

namespace karpos_test {

template <class Table, class Key, class T>
struct raw_ref {
  Table table;

  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION karpos::outcome insert(Tile const& t, Key key, T value) const {
    return karpos::detail::insert_into(table, t, key, value, karpos::detail::keep_stored{});
  }
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION karpos::outcome insert_or_assign(Tile const& t, Key key, T value) const {
    return karpos::detail::insert_into(table, t, key, value, karpos::detail::take_new{});
  }
  template <karpos::device::tile Tile, class Op>
  KOKKOS_FUNCTION karpos::outcome insert_or_apply(Tile const& t, Key key, T value,
                                                  Op const& op) const {
    return karpos::detail::insert_into(table, t, key, value, op);
  }
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION karpos::found<T> find(Tile const& t, Key key) const {
    return karpos::detail::find_in<karpos::device::access::shared>(table, t, key);
  }
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION bool contains(Tile const& t, Key key) const {
    return find(t, key).present;
  }
  template <karpos::device::tile Tile>
  KOKKOS_FUNCTION bool erase(Tile const& t, Key key) const {
    return karpos::detail::erase_from(table, t, key) == karpos::outcome::erased;
  }
};

}  // namespace karpos_test
