// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/concepts.hpp"
#include "karpos/cuckoo_table.hpp"
#include "karpos/detail/tables/cuckoo/run.hpp"
#include "karpos/hash.hpp"

// cuckoo_set: cuckoo hashing. Constructors, building and inserting: karpos/cuckoo_table.hpp; bulk
// lookups: karpos/lookup_table.hpp; lookups in kernels: karpos/map_ref.hpp (table_reader).

namespace karpos {

/// Hash set of keys of up to eight bytes that is built from a view in one call and then looked up:
/// a cuckoo_map without values, in slots of eight bytes. Layouts, memory, concurrency, errors and
/// requirements are those of cuckoo_map.
/// Source: that of cuckoo_map.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = seeded_hash<Key>>
class cuckoo_set : public cuckoo_table<detail::cuckoo::table<
                       detail::cuckoo::traits<Key, detail::no_value_in_8_bytes, ExecSpace, Hash>>> {
  using base = typename cuckoo_set::cuckoo_table;

 public:
  /// The type of this set in host memory, which create_host_mirror returns.
  using host_mirror_type = cuckoo_set<Key, Kokkos::DefaultHostExecutionSpace, Hash>;

  using base::base;  // cuckoo_table.hpp
};

}  // namespace karpos
