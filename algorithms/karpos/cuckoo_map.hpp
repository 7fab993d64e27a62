// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/concepts.hpp"
#include "karpos/cuckoo_table.hpp"
#include "karpos/detail/tables/cuckoo/run.hpp"
#include "karpos/hash.hpp"

// cuckoo_map: cuckoo hashing. Constructors, building and inserting: karpos/cuckoo_table.hpp; bulk
// lookups: karpos/lookup_table.hpp; lookups in kernels: karpos/map_ref.hpp (table_reader). A team
// is a block of GPU threads, and scratch is its shared memory.

namespace karpos {

/// Hash map from keys to values of up to eight bytes each that is built from views in one call and
/// then looked up. A lookup reads a bounded number of slots, in any table, for any key. Two layouts
/// (cuckoo_layout, docs/cuckoo_map.md):
///
///   two_level   built in buckets that fit a team's scratch, 1.41 slots a key; equal seeds build
///               equal bytes in every space
///   dense       loads up to 0.98; takes later insertions, and grows when they do not fit
///
/// Keys are compared by their bits, floating-point keys as in hash (one zero, one NaN). There is no
/// KeyEqual.
///
/// Complexity: build, expected linear. Lookups in two_level read one byte of the bucket and at most
///   three candidate slots, in at most two lines of 64 bytes. Lookups in dense read one byte and a
///   window of 64 bytes, sometimes two or three windows. (GPUs read the byte only if the first
///   window is full.) In kernels lookups are wait-free.
/// Memory: bytes_for(keys, options), which the map allocates: it cannot use wrapped_memory. find,
///   contains and count on GPUs take lookup_bytes if queries are split by region. A build takes
///   workspace_bytes_for more while it runs (longer with options.keep_workspace), and, if keys are
///   equal or two seeds fail, another 24 bytes for each key of the call. An insertion takes, while
///   it runs, a copy of the table, 24 bytes for each key offered, and on GPUs a workspace of at
///   most four slots for each new key and 64 slots for each partition of the table (a partition has
///   24,576 to 2^17 slots). If the table grows, the insertion takes the larger table, a copy of all
///   keys and values, 24 bytes for each key offered, and the workspace of a build of all keys.
/// Concurrency: bulk calls on one execution space instance run in order. build and insert block.
///   Neither may run concurrently with lookups on another instance or with kernels that use refs:
///   they may free the memory that these read.
/// Requires: types are those that a hash_map takes, keys of up to 8 bytes. At most one key value,
///   the sentinel, cannot be stored: empty_key in cuckoo_map_options.hpp says which. Hash is a
///   family of functions, called as hash(key, seed) (see seeded_hash), or a plain hash function,
///   called as hash(key).
/// Source: Alcantara et al., "Real-time parallel hashing on the GPU", SIGGRAPH Asia 2009; for dense
///   see detail/tables/cuckoo/place.hpp.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = seeded_hash<Key>>
class cuckoo_map
    : public cuckoo_table<detail::cuckoo::table<detail::cuckoo::traits<Key, T, ExecSpace, Hash>>> {
  using base = typename cuckoo_map::cuckoo_table;

 public:
  /// The type of this map in host memory, which create_host_mirror returns.
  using host_mirror_type = cuckoo_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash>;

  using base::base;  // cuckoo_table.hpp
};

}  // namespace karpos
