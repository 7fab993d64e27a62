// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/contract.hpp"
#include "karpos/detail/tables/multi_table/blocks.hpp"
#include "karpos/detail/tables/multi_table/pending.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/outcome.hpp"

// Operations of hash_multimap and hash_multiset in kernels. Bulk operations:
// karpos/multi_table.hpp.
//
//   multi_reader   contains, count, find_any, for_each_match     frozen_ref()
//   multi_ref      insert                                        ref(exec, pair_capacity)
//
// A tile is a group of 1, 2, 4, 8, 16 or 32 threads of a warp that run one operation together
// (CUDA: a cooperative group). A lane is a thread of a tile. device::for_each_tile<W>
// (karpos/device/launch.hpp) runs a kernel on tiles of W threads: docs/guide/getting_started.md.

namespace karpos {

/// Lookups in a kernel, while no thread changes the table. Each operation has a form for one thread
/// and a form whose first argument is a tile: its lanes work on one key together and all receive
/// the result. All lanes of the tile make the call, with equal arguments. Trivially copyable. Valid
/// until the table is changed.
/// Requires: no query equals a sentinel (checked with KARPOS_CONTRACTS; without, such a query is
///   not found).
template <class ExecSpace, class Keys, class Blocks>
class multi_reader {
  using thread = device::tile_for<ExecSpace, 1>;

 public:
  static constexpr bool has_values = Blocks::has_values;

  multi_reader(Keys const& keys, Blocks const& blocks) : m_keys(keys), m_blocks(blocks) {}

  /// Returns whether a key is stored.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return m_keys.contains(query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    return m_keys.contains(t, query);
  }
  /// Returns how many pairs with this key are stored (of a set, how often the key is stored).
  template <class Query>
  KOKKOS_FUNCTION std::uint64_t count(Query const& query) const {
    return count(thread{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION std::uint64_t count(Tile const& t, Query const& query) const {
    auto const head = m_keys.find(t, query);
    return head ? m_blocks.count(*head) : 0;
  }
  /// Returns a copy of one of the key's values, unspecified which, or nothing if the key is not
  /// stored. Maps only.
  template <class Query>
    requires has_values
  KOKKOS_FUNCTION auto find_any(Query const& query) const {
    return find_any(thread{}, query);
  }
  template <device::tile Tile, class Query>
    requires has_values
  KOKKOS_FUNCTION auto find_any(Tile const& t, Query const& query) const {
    using answer = found<typename Blocks::value_type>;
    auto const head = m_keys.find(t, query);
    return head ? answer{true, m_blocks.any(*head)} : answer{};
  }
  /// Calls f(value) for each value of the key, or f() of a set as often as the key is stored. The
  /// lanes of a tile share the calls: neighbouring lanes get neighbouring values.
  template <class Query, class F>
  KOKKOS_FUNCTION void for_each_match(Query const& query, F const& f) const {
    for_each_match(thread{}, query, f);
  }
  template <device::tile Tile, class Query, class F>
  KOKKOS_FUNCTION void for_each_match(Tile const& t, Query const& query, F const& f) const {
    if (auto const head = m_keys.find(t, query)) m_blocks.for_each(t, *head, f);
  }

  // These overloads refuse, at compile time and in one sentence, a first argument that is no tile.
  template <device::not_a_tile First, class Query>
  KOKKOS_FUNCTION bool contains(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), false;
  }
  template <device::not_a_tile First, class Query>
  KOKKOS_FUNCTION std::uint64_t count(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), 0;
  }
  template <device::not_a_tile First, class Query>
    requires has_values
  KOKKOS_FUNCTION auto find_any(First const&, Query const&) const {
    return device::refuse_without_tile<First>(), found<typename Blocks::value_type>{};
  }
  template <device::not_a_tile First, class Query, class F>
  KOKKOS_FUNCTION void for_each_match(First const&, Query const&, F const&) const {
    device::refuse_without_tile<First>();
  }

 private:
  Keys m_keys;
  Blocks m_blocks;
};

/// Insertions in kernels. A pair is appended to a list of reserved capacity, by one atomic addition
/// and two stores. It is pending: lookups find it once it is in the table (multi_table::ref).
/// Trivially copyable. Valid until the host next calls insert, insert_async, ref, erase,
/// consolidate, rehash, clear, or deep_copy into the table, even if no pair is pending then.
/// Requires: no more than pair_capacity pairs are inserted through it. (More may be accepted if the
///   list is longer. Insertions through a later ref may then return `full` before its own
///   pair_capacity is used up.) No key equals a sentinel (checked with KARPOS_CONTRACTS; without,
///   the answer is `invalid`).
template <class Table, class T>
class multi_ref {
 public:
  using key_type = typename Table::key_type;
  static constexpr bool has_values = !detail::is_no_value<T>;

  explicit multi_ref(detail::multi_table::pending_ref<Table, T> const& pending)
      : m_pending(pending) {}

  /// Appends a pair. Returns: inserted; full, if the list is full; or invalid.
  KOKKOS_FUNCTION outcome insert(key_type const& key, T const& value) const
    requires has_values
  {
    return append(key, value);
  }
  /// Appends a key to the list of a set. Returns: inserted, full or invalid.
  KOKKOS_FUNCTION outcome insert(key_type const& key) const
    requires(!has_values)
  {
    return append(key, {});
  }

 private:
  KOKKOS_FUNCTION outcome append(key_type const& key, T const& value) const {
    KARPOS_EXPECTS(!m_pending.table.reserved(key), "a key equal to a sentinel cannot be inserted");
    return m_pending.table.reserved(key) ? outcome::invalid : m_pending.append(key, value);
  }
  detail::multi_table::pending_ref<Table, T> m_pending;
};

}  // namespace karpos
