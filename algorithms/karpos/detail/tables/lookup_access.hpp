// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace karpos {
template <class Storage>
class lookup_table;
}

namespace karpos::detail {

/// Access to the storage of a table, for lookups that other parts of the library run themselves.
struct lookup_access {
  /// Calls f with the table as bulk lookups read it.
  template <class Storage, class F>
  static void with_table(lookup_table<Storage> const& table, F const& f) {
    table.m_storage.with_ref(f);
  }
  template <class Storage>
  static std::uint64_t table_bytes(lookup_table<Storage> const& table) {
    return table.table_bytes();
  }
};

struct insertion_access;  // hash_table_insertion.hpp

}  // namespace karpos::detail
