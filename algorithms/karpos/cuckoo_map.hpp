// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/concepts.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/cuckoo_table.hpp"
#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/hash.hpp"

// cuckoo_map: cuckoo hashing. Its operations: karpos/cuckoo_table.hpp (build, insert), karpos/lookup_table.hpp (lookups in bulk),
// karpos/map_ref.hpp in kernels (table_reader).

namespace karpos {

/// Hash map from keys to values of up to eight bytes each that is built at once from views and then asked: a lookup
/// reads a bounded number of places, in any table, for any key. Two layouts (cuckoo_layout, docs/cuckoo_map.md):
///
///   two_level   built in buckets that fit a team's scratch, 1.41 slots a key; equal seeds build equal bytes everywhere
///   dense       loads up to 0.98; takes later insertions, and grows when they do not fit
///
/// Keys are compared by their bits.
///
/// Complexity: build, expected linear. Lookups: two_level: the bucket's constants and at most three slots, two of them in
///   one line of 64 bytes; dense: one window of 64 bytes, or at most three. In kernels they are wait-free.
/// Memory: bytes_for(keys, options); while it is built workspace_bytes_for more, and three words a key where there are
///   equal keys. Insertions take, while they run, as much again as the table, five times as much when it grows.
/// Concurrency: bulk calls on one execution space instance run in order. build and insert wait for it; lookups only
///   enqueue, and must not run beside those two on another instance.
/// Requires: key and value types are trivially copyable; one key value serves as sentinel and cannot be stored. Hash
///   is a family, called as hash(key, seed) (see seeded_hash), or a plain hash function, called as hash(key).
/// Source: Alcantara et al., "Real-time parallel hashing on the GPU", SIGGRAPH Asia 2009; for dense see
///   detail/cuckoo/place.hpp.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = seeded_hash<Key>>
class cuckoo_map
    : public cuckoo_table<detail::cuckoo::table<detail::cuckoo::traits<Key, T, ExecSpace, Hash>>> {
  using storage = detail::cuckoo::table<detail::cuckoo::traits<Key, T, ExecSpace, Hash>>;
  using base = cuckoo_table<storage>;

 public:
  using typename base::options;
  /// The same map in the host's memory: see create_host_mirror.
  using host_mirror_type = cuckoo_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash>;

  /// Without memory, until it is built or assigned to; lookups and insertions throw std::logic_error.
  cuckoo_map() : base(storage({}, {})) {}
  /// Makes a map of keys(i) and values(i). Throws what build throws, and std::invalid_argument for a load out of range.
  template <view_1d Keys, view_1d Values>
  cuckoo_map(ExecSpace const& exec, Keys const& keys, Values const& values, options const& o = {},
             Hash const& hash = {})
      : base(storage(o, hash)) {
    this->build(exec, keys, values);
  }
};

}  // namespace karpos
