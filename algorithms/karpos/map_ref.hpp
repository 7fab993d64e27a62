// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/contract.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/outcome.hpp"

// Operations of every map and set in kernels. Bulk operations: karpos/hash_table.hpp.
//
//   table_reader  find, contains              refs of cuckoo_map and cuckoo_set, frozen refs of the
//                                             others
//   table_ref     insert …, erase as well     refs of hash_map, hash_set, hopscotch_map and
//                                             hopscotch_set
//
// A tile is a group of 1, 2, 4, 8, 16 or 32 threads of a warp that run one operation together
// (CUDA: a cooperative group). A lane is a thread of a tile. device::for_each_tile<W>
// (karpos/device/launch.hpp) runs a kernel on tiles of W threads: docs/guide/getting_started.md.
//
// The map's own header says what operations cost and which may run concurrently: hash_map.hpp,
// hash_set.hpp, hopscotch_map.hpp, cuckoo_map.hpp.

namespace karpos {

/// Lookups in a kernel. Each operation has a form for one thread and a form whose first argument is
/// a tile: its lanes work on one key together and all receive the result. All lanes of the tile
/// make the call, with equal arguments. Trivially copyable. Valid until the table is destroyed or
/// gets new memory: by rehash or growth, and perhaps by deep_copy into it (see there). Refs of
/// cuckoo tables end at every build and every insertion that stores a key. Moving the C++ object of
/// the table keeps refs valid.
/// Requires: the ref is not default-constructed (such a ref may only be assigned to); no query
///   equals a sentinel (checked with KARPOS_CONTRACTS; without, such a query is not found).
template <class Table, device::access Access>
class table_reader {
 public:
  using key_type = typename Table::key_type;
  using mapped_type = typename Table::mapped_type;
  static constexpr bool has_values = Table::layout::has_value;

  table_reader() = default;
  explicit table_reader(Table const& t) : m_table(t) {}

  /// Returns a copy of the key's value, or nothing if the key is not stored. Maps only.
  template <class Query>
    requires has_values
  KOKKOS_FUNCTION found<mapped_type> find(Query const& query) const {
    return find(detail::one_thread<Table>{}, query);
  }
  template <device::tile Tile, class Query>
    requires has_values
  KOKKOS_FUNCTION found<mapped_type> find(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    if (m_table.reserved(query)) return {};
    return detail::find_in<Access>(m_table, t, query);
  }

  /// Returns whether a key is stored.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return contains(detail::one_thread<Table>{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    return !m_table.reserved(query) && detail::find_in<Access>(m_table, t, query).present;
  }

  // These overloads refuse, at compile time and in one sentence, a first argument that is no tile.
  template <device::not_a_tile First, class Query>
    requires has_values
  KOKKOS_FUNCTION found<mapped_type> find(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), found<mapped_type>{};
  }
  template <device::not_a_tile First, class Query>
  KOKKOS_FUNCTION bool contains(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), false;
  }

 protected:
  Table m_table;
};

/// All operations in a kernel, for one thread or, with a tile first, for its lanes together. Each
/// operation is linearizable. Keys and values to insert convert as in any call: pass the map's own
/// types if a conversion could lose bits. A ref does not enlarge its table: an insertion that finds
/// no slot returns `full`. for_each_until_placed (karpos/for_each_until_placed.hpp) calls a
/// function in a kernel, enlarges the table, and calls the function again for what found no slot.
/// Requires: no key equals a sentinel (checked with KARPOS_CONTRACTS; without, insertions return
///   `invalid`, erasures return false, and nothing changes).
template <class Table>
class table_ref : public table_reader<Table, device::access::shared> {
  using reader = table_reader<Table, device::access::shared>;
  using reader::m_table;

 public:
  using reader::has_values, reader::reader;
  using typename reader::key_type, typename reader::mapped_type;

  /// Inserts the pair unless the key is stored. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(key_type const& key, mapped_type const& value) const
    requires has_values
  {
    return upsert(detail::one_thread<Table>{}, key, value, detail::keep_stored{});
  }
  template <device::tile Tile>
    requires has_values
  KOKKOS_FUNCTION outcome insert(Tile const& t, key_type const& key,
                                 mapped_type const& value) const {
    return upsert(t, key, value, detail::keep_stored{});
  }
  /// Inserts the key into a set unless it is stored. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(key_type const& key) const
    requires(!has_values)
  {
    return upsert(detail::one_thread<Table>{}, key, {}, detail::keep_stored{});
  }
  template <device::tile Tile>
    requires(!has_values)
  KOKKOS_FUNCTION outcome insert(Tile const& t, key_type const& key) const {
    return upsert(t, key, {}, detail::keep_stored{});
  }

  /// Inserts the pair or overwrites the stored value. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert_or_assign(key_type const& key, mapped_type const& value) const
    requires has_values
  {
    return upsert(detail::one_thread<Table>{}, key, value, detail::replace_stored{});
  }
  template <device::tile Tile>
    requires has_values
  KOKKOS_FUNCTION outcome insert_or_assign(Tile const& t, key_type const& key,
                                           mapped_type const& value) const {
    return upsert(t, key, value, detail::replace_stored{});
  }

  /// Inserts the pair, or replaces the stored value by op(stored, value), atomically. op runs once,
  /// and again if other threads change the value meanwhile. op may not throw (operations.hpp).
  /// Returns: inserted, existing (merged) or full.
  template <class Op>
    requires has_values
  KOKKOS_FUNCTION outcome insert_or_apply(key_type const& key, mapped_type const& value,
                                          Op const& op) const {
    return upsert(detail::one_thread<Table>{}, key, value, op);
  }
  template <device::tile Tile, class Op>
    requires has_values
  KOKKOS_FUNCTION outcome insert_or_apply(Tile const& t, key_type const& key,
                                          mapped_type const& value, Op const& op) const {
    return upsert(t, key, value, op);
  }

  /// Looks the key up, and inserts the pair if the key is not stored.
  /// Returns: `existing` and the stored value; `inserted` and `value`; or `full` or `invalid` and
  ///   T{}. If other threads change the value concurrently, it may be the old or the new value.
  KOKKOS_FUNCTION map_result<mapped_type> find_or_insert(key_type const& key,
                                                         mapped_type const& value) const
    requires has_values
  {
    return find_or_insert(detail::one_thread<Table>{}, key, value);
  }
  template <device::tile Tile>
    requires has_values
  KOKKOS_FUNCTION map_result<mapped_type> find_or_insert(Tile const& t, key_type const& key,
                                                         mapped_type const& value) const {
    // Runs again only if another thread inserted the key after the lookup, and a third time only if
    // the key was erased since.
    for (;;) {
      if (auto const f = this->find(t, key)) return {outcome::existing, f.value};
      outcome const o = insert(t, key, value);
      if (o == outcome::inserted) return {o, value};
      if (o != outcome::existing) return {o, mapped_type{}};
    }
  }

  /// Removes a key. Returns whether this call removed it.
  template <class Query>
  KOKKOS_FUNCTION bool erase(Query const& query) const {
    return erase(detail::one_thread<Table>{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be erased");
    return !m_table.reserved(query) && detail::erase_from(m_table, t, query) == outcome::erased;
  }

  // These overloads refuse, at compile time and in one sentence, a first argument that is no tile.
  template <device::not_a_tile First, class K, class... V>
    requires(sizeof...(V) == (has_values ? 1 : 0))
  KOKKOS_FUNCTION outcome insert(First const&, K const&, V const&...) const {
    return device::refuse_without_tile<First>(), outcome::invalid;
  }
  template <device::not_a_tile First, class K, class V>
    requires has_values
  KOKKOS_FUNCTION outcome insert_or_assign(First const&, K const&, V const&) const {
    return device::refuse_without_tile<First>(), outcome::invalid;
  }
  template <device::not_a_tile First, class K, class V, class Op>
    requires has_values
  KOKKOS_FUNCTION outcome insert_or_apply(First const&, K const&, V const&, Op const&) const {
    return device::refuse_without_tile<First>(), outcome::invalid;
  }
  template <device::not_a_tile First, class K, class V>
    requires has_values
  KOKKOS_FUNCTION map_result<mapped_type> find_or_insert(First const&, K const&, V const&) const {
    return device::refuse_without_tile<First>(), map_result<mapped_type>{};
  }
  template <device::not_a_tile First, class Query>
  KOKKOS_FUNCTION bool erase(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), false;
  }

 private:
  /// Inserts the pair, or replaces the stored value by op(stored, value).
  template <device::tile Tile, class Op>
  KOKKOS_FUNCTION outcome upsert(Tile const& t, key_type const& key, mapped_type const& value,
                                 Op const& op) const {
    KARPOS_EXPECTS(!m_table.reserved(key), "a key equal to a sentinel cannot be inserted");
    if (m_table.reserved(key)) return outcome::invalid;
    auto p = m_table.start(key);
    auto const holds = m_table.holds(key);
    auto const item = Table::protocol::item(key, value);
    auto const step = [&](auto& at) { return m_table.insert_step(t, at, holds, item, value, op); };
    return detail::probe<detail::probe_reach::whole_path>(m_table, p, outcome::full, step).answer();
  }
};

}  // namespace karpos
