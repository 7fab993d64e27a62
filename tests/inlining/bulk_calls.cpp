// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls every bulk operation of the tables once, while the sources of tests/compile_time contain
/// only the calls that users start with. inlining.py inspects the loops; the program does nothing.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <karpos/cuckoo_map.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/hash_multimap.hpp>
#include <karpos/hopscotch_map.hpp>
#include <karpos/operations.hpp>

namespace karpos_test {

using space = Kokkos::DefaultHostExecutionSpace;
using view = Kokkos::View<std::uint32_t*, Kokkos::HostSpace>;
using flags = Kokkos::View<bool*, Kokkos::HostSpace>;

struct is_odd {
  KOKKOS_FUNCTION bool operator()(std::uint32_t key, std::uint32_t) const { return key % 2 == 1; }
};
struct add_value {
  KOKKOS_FUNCTION void operator()(std::uint32_t, std::uint32_t value, std::uint64_t& sum) const {
    sum += value;
  }
};
struct copy_value {
  view to;
  KOKKOS_FUNCTION void operator()(std::uint32_t key, std::uint32_t value) const { to(key) = value; }
};
struct write_value {
  view to;
  KOKKOS_FUNCTION void operator()(std::uint32_t key, std::uint32_t& value) const {
    to(key) = value++;
  }
};

template <class Map>
void read_map(space const& exec, Map const& map, view const& keys, view const& values,
              flags const& there) {
  std::uint64_t sum = 0;
  map.find(exec, keys, values, 0u);
  map.contains(exec, keys, there);
  map.count(exec, keys);
  map.for_each(exec, copy_value{values});
  map.reduce(exec, add_value{}, Kokkos::Sum<std::uint64_t>(sum));
  map.retrieve_all(exec, keys, values);
  map.size(exec);
}

template <class Map>
void use_map(space const& exec, Map& map, view const& keys, view const& values, flags const& there,
             typename Map::report_view const& inserted, typename Map::erase_view const& erased) {
  map.insert_async(exec, keys, values, inserted);
  map.insert_if(exec, keys, values, there);
  map.insert_or_assign(exec, keys, values);
  map.insert_or_apply(exec, keys, values, karpos::plus{});
  map.find_or_insert(exec, keys, values, values);
  read_map(exec, map, keys, values, there);
  map.erase_async(exec, keys, erased);
  map.erase_if(exec, is_odd{});
  map.for_each(exec, write_value{values});
  map.rehash(exec, 2 * map.size(exec));
}

void use_maps(space const& exec, view const& keys, view const& values, flags const& there) {
  karpos::hash_map<std::uint32_t, std::uint32_t, space> open(exec, keys.extent(0));
  use_map(exec, open, keys, values, there, {}, {});
  karpos::hopscotch_map<std::uint32_t, std::uint32_t, space> hopscotch(exec, keys.extent(0));
  use_map(exec, hopscotch, keys, values, there, {}, {});
  karpos::cuckoo_map<std::uint32_t, std::uint32_t, space> cuckoo(exec, keys, values);
  cuckoo.insert(exec, keys, values);
  read_map(exec, cuckoo, keys, values, there);
  karpos::hash_multimap<std::uint32_t, std::uint32_t, space> multi(exec, keys.extent(0));
  multi.insert(exec, keys, values);
  multi.find_any(exec, keys, values, 0u);
  multi.count(exec, keys, values);
  multi.erase(exec, keys);
}

}  // namespace karpos_test
