// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/contract.hpp"
#include "karpos/detail/multi_table/blocks.hpp"
#include "karpos/detail/multi_table/pending.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/outcome.hpp"

// What kernels do with a hash_multimap or a hash_multiset; in bulk: karpos/multi_table.hpp.
//
//   multi_reader   contains, count, find_any, for_each_match     frozen_ref()
//   multi_ref      insert                                        ref(exec, room)

namespace karpos {

/// Lookups in a kernel, during which nobody changes the table. Every operation comes for one thread and, with a tile first, for
/// W lanes that work on one key together and all receive the answer. Trivially copyable; valid until the table is changed.
/// Requires: queries are not equal to a sentinel (checked with KARPOS_CONTRACTS; the answer is "not there" otherwise).
template <class ExecSpace, class Keys, class Blocks>
class multi_reader {
  using thread = device::tile_for<ExecSpace, 1>;

 public:
  static constexpr bool has_values = Blocks::has_values;

  multi_reader(Keys const& keys, Blocks const& blocks) : m_keys(keys), m_blocks(blocks) {}

  /// Whether a key is there.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return m_keys.contains(query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    return m_keys.contains(t, query);
  }
  /// Returns: how often it is there.
  template <class Query>
  KOKKOS_FUNCTION std::uint64_t count(Query const& query) const {
    return count(thread{}, query);
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION std::uint64_t count(Tile const& t, Query const& query) const {
    auto const head = m_keys.find(t, query);
    return head ? m_blocks.count(*head) : 0;
  }
  /// Returns: a copy of one of its values, unspecified which, or nothing. Maps only.
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
  /// Calls f(value), or f() of a set, once for each time that the key is there. Lanes of a tile share the calls: neighbouring
  /// lanes take neighbouring values.
  template <class Query, class F>
  KOKKOS_FUNCTION void for_each_match(Query const& query, F const& f) const {
    for_each_match(thread{}, query, f);
  }
  template <device::tile Tile, class Query, class F>
  KOKKOS_FUNCTION void for_each_match(Tile const& t, Query const& query, F const& f) const {
    if (auto const head = m_keys.find(t, query)) m_blocks.for_each(t, *head, f);
  }

  // Calls with a first argument that is no tile do not compile, and one sentence says why.
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

/// Insertions in kernels, into the room that was made for them: a pair is appended to a list by one addition and two stores.
/// Lookups find it once it was taken in (multi_table::ref). Trivially copyable; valid until then, or until room is made again.
/// Requires: keys are not equal to a sentinel (checked with KARPOS_CONTRACTS).
template <class Table, class T>
class multi_ref {
 public:
  using key_type = typename Table::key_type;
  static constexpr bool has_values = detail::multi_table::pending_ref<Table, T>::has_values;

  explicit multi_ref(detail::multi_table::pending_ref<Table, T> const& pending)
      : m_pending(pending) {}

  /// Returns: inserted; full, where there is no room left; or invalid.
  KOKKOS_FUNCTION outcome insert(key_type const& key, T const& value) const
    requires has_values
  {
    return append(key, value);
  }
  /// The same for a set.
  KOKKOS_FUNCTION outcome insert(key_type const& key) const
    requires(!has_values)
  {
    return append(key, {});
  }

 private:
  KOKKOS_FUNCTION outcome append(key_type const& key, T const& value) const {
    KARPOS_EXPECTS(!m_pending.reserved(key), "a key equal to a sentinel cannot be inserted");
    return m_pending.reserved(key) ? outcome::invalid : m_pending.append(key, value);
  }
  detail::multi_table::pending_ref<Table, T> m_pending;
};

}  // namespace karpos
