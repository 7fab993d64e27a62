// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/concepts.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/cuckoo_table.hpp"
#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/hash.hpp"

// cuckoo_set: cuckoo hashing. Its operations: karpos/cuckoo_table.hpp (build, insert), karpos/lookup_table.hpp (lookups in bulk),
// karpos/map_ref.hpp in kernels (table_reader).

namespace karpos {

/// Hash set of keys of up to eight bytes that is built at once from a view and then asked: cuckoo_map without values, in
/// slots of eight bytes. Layouts, memory, concurrency and errors are those of cuckoo_map, and so is what it requires.
/// Source: as cuckoo_map.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = seeded_hash<Key>>
class cuckoo_set : public cuckoo_table<detail::cuckoo::table<
                       detail::cuckoo::traits<Key, detail::no_value_in_8_bytes, ExecSpace, Hash>>> {
  using storage = detail::cuckoo::table<
      detail::cuckoo::traits<Key, detail::no_value_in_8_bytes, ExecSpace, Hash>>;
  using base = cuckoo_table<storage>;

 public:
  using typename base::options;
  /// The same set in the host's memory: see create_host_mirror.
  using host_mirror_type = cuckoo_set<Key, Kokkos::DefaultHostExecutionSpace, Hash>;

  /// Without memory, until it is built or assigned to; lookups and insertions throw std::logic_error.
  cuckoo_set() : base(storage({}, {})) {}
  /// Makes a set of keys(i). Throws what build throws, and std::invalid_argument for a load out of range.
  template <view_1d Keys>
  cuckoo_set(ExecSpace const& exec, Keys const& keys, options const& o = {}, Hash const& hash = {})
      : base(storage(o, hash)) {
    this->build(exec, keys);
  }
};

}  // namespace karpos
