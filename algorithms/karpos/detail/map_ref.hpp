// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/contract.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail {

/// The reading half of map_ref, and all of a frozen ref: for kernels during which nobody changes the map.
template <class TableRef, device::access Access>
class map_reader {
 protected:
  using table = TableRef;
  table m_table;

 public:
  using key_type = typename TableRef::key_type;
  using mapped_type = typename TableRef::mapped_type;

  map_reader() = default;
  explicit map_reader(table const& t) : m_table(t) {}

  /// Looks a key up. Returns: a copy of the value, or nothing.
  template <class Query>
  KOKKOS_FUNCTION found<mapped_type> find(Query const& query) const {
    return find(device::thread_tile{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION found<mapped_type> find(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    return m_table.template find<Access>(t, query);
  }

  /// Whether a key is there.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return find(device::thread_tile{}, query).present;
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    return find(t, query).present;
  }
};

/// What kernels do with a map, over the kernel's view of its table. Every operation comes for one thread and,
/// with a tile first, for W lanes that work on one key together and all receive the answer.
template <class TableRef>
class map_ref : public map_reader<TableRef, device::access::shared> {
  using reader = map_reader<TableRef, device::access::shared>;
  using reader::m_table;

 public:
  using key_type = typename TableRef::key_type;
  using mapped_type = typename TableRef::mapped_type;
  using reader::reader;

  /// Inserts the pair unless the key is there. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(key_type const& key, mapped_type const& value) const {
    return insert(device::thread_tile{}, key, value);
  }
  template <device::tile Tile>
  KOKKOS_FUNCTION outcome insert(Tile const& t, key_type const& key,
                                 mapped_type const& value) const {
    return m_table.upsert(t, key, value, keep_stored{});
  }

  /// Inserts the pair or overwrites the stored value. Returns: inserted, existing (overwritten) or full.
  KOKKOS_FUNCTION outcome insert_or_assign(key_type const& key, mapped_type const& value) const {
    return insert_or_assign(device::thread_tile{}, key, value);
  }
  template <device::tile Tile>
  KOKKOS_FUNCTION outcome insert_or_assign(Tile const& t, key_type const& key,
                                           mapped_type const& value) const {
    return m_table.upsert(t, key, value, take_new{});
  }

  /// Inserts the pair or replaces the stored value by op(stored, value), atomically. op runs once or, when
  /// others change the value meanwhile, again. Returns: inserted, existing (merged) or full.
  template <class Op>
  KOKKOS_FUNCTION outcome insert_or_apply(key_type const& key, mapped_type const& value,
                                          Op const& op) const {
    return insert_or_apply(device::thread_tile{}, key, value, op);
  }
  template <device::tile Tile, class Op>
  KOKKOS_FUNCTION outcome insert_or_apply(Tile const& t, key_type const& key,
                                          mapped_type const& value, Op const& op) const {
    return m_table.upsert(t, key, value, op);
  }

  /// Removes a key. Returns: whether this call removed it.
  template <class Query>
  KOKKOS_FUNCTION bool erase(Query const& query) const {
    return erase(device::thread_tile{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be erased");
    return m_table.erase(t, query);
  }
};

}  // namespace karpos::detail
