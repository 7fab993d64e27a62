// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>

#include "karpos/concepts.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_map.hpp"
#include "karpos/multi_table.hpp"
#include "karpos/probing.hpp"

// hash_multimap: a key may have any number of values. Bulk operations: karpos/multi_table.hpp;
// operations in kernels: karpos/multi_table_ref.hpp.

namespace karpos {

/// Hash multimap from keys of up to eight bytes to values of any size. A hash_map leads from each
/// distinct key to its values. An insertion stores the values that it brings for one key in one
/// contiguous block (in more if it must free the memory of erased pairs on its way). consolidate
/// merges the blocks of each key into one. So a lookup reads a bucket and then the key's blocks:
/// one for all values stored before the last consolidate, and those of each insertion since.
/// Insertions also merge long chains of blocks. Values of one key never lengthen the search for
/// another.
///
/// With options.growth = growth::automatic, blocking insertions allocate memory for more pairs and
/// keys. Otherwise (default) pairs beyond max_pairs are rejected, and so are all pairs of a key
/// that finds no slot.
///
/// Complexity: expected and amortised O(1) for each pair that is inserted (multi_table::insert
///   names an exception), erased or retrieved, and for each query, whatever the multiplicities are.
/// Requires: keys, Hash, KeyEqual, Probing, BucketSlots and sentinels as for hash_map; values are
///   trivially copyable. PairNumber is std::uint32_t for up to 2^31 - 8 pairs, or std::uint64_t for
///   up to 2^40 - 8. Counts always have 64 bits.
/// Concurrency: bulk lookups, kernels with frozen refs, and kernels that insert through
///   ref(exec, pair_capacity) may run concurrently.
/// Memory: bytes_for(max_pairs, max_keys, load), which the map allocates: it cannot use
///   wrapped_memory. Also a list of pending pairs (multi_table.hpp); see docs/hash_multimap.md.
/// Source: the operations of cuCollections' static_multimap; blocks after the bucket chains of
///   Leis, Boncz, Kemper, Neumann, "Morsel-driven parallelism", SIGMOD 2014; retrieve divides the
///   matches evenly among threads as in Green, McColl, Bader, "GPU merge path", ICS 2012.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          std::unsigned_integral PairNumber = std::uint32_t,
          int BucketSlots =
              detail::open_addressing::default_bucket_slots<Key, PairNumber, ExecSpace>>
class hash_multimap
    : public multi_table<detail::multi_table::traits<Key, T, ExecSpace, Hash, KeyEqual, Probing,
                                                     BucketSlots, PairNumber>> {
  using base = typename hash_multimap::multi_table;

 public:
  using typename base::options;
  /// The type of this map in host memory, which create_host_mirror returns.
  using host_mirror_type = hash_multimap<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual,
                                         Probing, PairNumber, BucketSlots>;

  /// Makes a map without memory, to be assigned to. Lookups, insertions, erasures, consolidate,
  /// rehash and ref throw std::logic_error; size, empty, different_keys and clear do not.
  hash_multimap() = default;
  /// Makes an empty map for max_pairs pairs, whose keys may all be distinct. Asynchronous, except
  /// for the allocation. Throws std::invalid_argument (load out of range, unknown growth, equal
  /// sentinels, more pairs than PairNumber can count), std::length_error (capacity overflow),
  /// allocation_error (out of memory).
  hash_multimap(ExecSpace const& exec, std::uint64_t max_pairs, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, max_pairs, max_pairs, o, hash, equal) {}
  /// Makes an empty map for max_pairs pairs of at most max_keys distinct keys. The type of max_keys
  /// is deduced, so that {} as third argument selects the constructor above (default options).
  /// Throws as that one does.
  hash_multimap(ExecSpace const& exec, std::uint64_t max_pairs, std::integral auto max_keys,
                options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, max_pairs, static_cast<std::uint64_t>(max_keys), o, hash, equal) {}
};

}  // namespace karpos
