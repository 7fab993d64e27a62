// SPDX-License-Identifier: Apache-2.0
/// \file
/// The bytes of a cuckoo table, in any space.
#pragma once

#include <cstdint>
#include <karpos/detail/tables/cuckoo/run.hpp>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// The parts of a table that are compared.
struct table_bytes {
  std::vector<unsigned char> slots, metadata;
  std::uint64_t size = 0, restarts = 0;
};

template <class Space>
std::vector<unsigned char> bytes_at(void const* data, std::size_t n) {
  std::vector<unsigned char> bytes(n);
  Kokkos::deep_copy(
      Kokkos::View<unsigned char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(bytes.data(), n),
      Kokkos::View<unsigned char const*, typename Space::memory_space, Kokkos::MemoryUnmanaged>(
          static_cast<unsigned char const*>(data), n));
  return bytes;
}

template <class Table>
table_bytes bytes_of(Table const& table) {
  using space_of = typename Table::execution_space;
  auto const& shape = table.shape();
  auto const view = table.view();
  return {bytes_at<space_of>(view.slots, shape.slots * sizeof(typename Table::word)),
          bytes_at<space_of>(view.metadata, shape.metadata), table.size(), table.restarts()};
}

template <class Space, class X>
Kokkos::View<X*, typename Space::memory_space> in_space(std::vector<X> const& from) {
  Kokkos::View<X*, typename Space::memory_space> const to("karpos_test::data", from.size());
  Kokkos::deep_copy(to, Kokkos::View<X const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            from.data(), from.size()));
  return to;
}

/// Builds a two-level table of the execution space on one of its instances. Returns: its bytes.
template <class Key, class T, class Space>
table_bytes built_on(Space const& exec, std::vector<Key> const& keys, std::vector<T> const& values,
                     std::uint64_t seed) {
  karpos::cuckoo_map_options<Key> o;
  o.seed = seed;
  karpos::detail::cuckoo::table<
      karpos::detail::cuckoo::traits<Key, T, Space, karpos::seeded_hash<Key>>>
      table(o, {});
  table.build(exec, in_space<Space>(keys), in_space<Space>(values));
  return bytes_of(table);
}

inline void same_bytes(std::string const& what, table_bytes const& a, table_bytes const& b) {
  same(what + ": size", a.size, b.size);
  same(what + ": restarts", a.restarts, b.restarts);
  holds(what + ": metadata", a.metadata == b.metadata);
  holds(what + ": slots", a.slots == b.slots);
}

}  // namespace karpos_test
