// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/refs.hpp"

namespace karpos {

/// The view of a cuckoo_map that kernels take by value: trivially copyable, valid while the map lives and is neither
/// built anew nor inserted into. find and contains come for one thread and, with a tile first, for W lanes that look
/// for one key together and all receive the answer.
///
/// Complexity: two_level: the bucket's constants and at most three slots, two of them in one line of 64 bytes; dense:
///   one window of 64 bytes, or at most three.
/// Requires: queries are not equal to the sentinel (checked with KARPOS_CONTRACTS).
/// Concurrency: wait-free; nobody changes the map meanwhile.
/// Source: docs/cuckoo_map.md.
template <class Key, class T, class ExecSpace, class Hash>
class cuckoo_map_ref {
  using two_level = detail::cuckoo::two_level_ref<Key, T, ExecSpace, Hash>;
  using dense = detail::cuckoo::dense_ref<Key, T, ExecSpace, Hash>;

 public:
  using key_type = Key;
  using mapped_type = T;

  cuckoo_map_ref() = default;
  cuckoo_map_ref(cuckoo_layout layout, detail::cuckoo::table_view<Key, T, Hash> const& table)
      : m_layout(layout),
        m_table(table) {}

  /// Looks a key up. Returns: a copy of the value, or nothing.
  KOKKOS_FUNCTION found<T> find(Key const& key) const { return find(device::thread_tile{}, key); }
  template <device::tile Tile>
  KOKKOS_FUNCTION found<T> find(Tile const& t, Key const& key) const {
    KARPOS_EXPECTS(!m_table.slot.reserved(key), "a key equal to a sentinel cannot be looked up");
    return m_layout == cuckoo_layout::two_level ? search(two_level(m_table), t, key)
                                                : search(dense(m_table), t, key);
  }

  /// Whether a key is there.
  KOKKOS_FUNCTION bool contains(Key const& key) const { return find(key).present; }
  template <device::tile Tile>
  KOKKOS_FUNCTION bool contains(Tile const& t, Key const& key) const {
    return find(t, key).present;
  }

 private:
  template <class Ref, device::tile Tile>
  KOKKOS_FUNCTION static found<T> search(Ref const& ref, Tile const& t, Key const& key) {
    found<T> result;
    auto path = ref.start(key);
    ref.template find_along<detail::walk::to_the_end, device::access::frozen>(
        t, path, ref.holds(key), result);
    return result;
  }

  cuckoo_layout m_layout = cuckoo_layout::two_level;
  detail::cuckoo::table_view<Key, T, Hash> m_table;
};

}  // namespace karpos
