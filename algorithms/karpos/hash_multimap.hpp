// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_map.hpp"
#include "karpos/multi_table.hpp"
#include "karpos/probing.hpp"

// hash_multimap: a key may have any number of values. Its operations: karpos/multi_table.hpp in bulk, karpos/multi_table_ref.hpp
// in kernels.

namespace karpos {

namespace detail::multi_table {
/// What a hash_multimap is made of.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing, int B,
          class Number>
struct map_traits {
  static_assert(std::is_trivially_copyable_v<T>, "karpos: values must be trivially copyable");
  static_assert(sizeof(Number) == 4 || sizeof(Number) == 8,
                "karpos: pair numbers are std::uint32_t or std::uint64_t");
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using index_type = index<hash_map<Key, Number, ExecSpace, Hash, KeyEqual, Probing, B>>;
  using storage_type = value_storage<T, Number, ExecSpace>;
};
}  // namespace detail::multi_table

/// Hash multimap from keys of up to eight bytes to values of any size. A hash_map leads from each different key to its values,
/// which lie side by side: a lookup reads a bucket, then a block of values for each insertion that brought any since the table
/// was settled, and no key's values stand in the way of another's. With growth::automatic, insertions make room for pairs
/// and keys; else pairs beyond max_pairs are rejected, and so are those of keys that find no place.
///
/// Complexity: O(1) for each pair inserted, erased or retrieved and for each query, whatever the multiplicities are.
/// Requires: keys, Hash, KeyEqual, Probing and BucketSlots as those of hash_map; values are trivially copyable. PairNumber is
///   std::uint32_t for up to 2^31 - 8 pairs, or std::uint64_t; counts have 64 bits always.
/// Concurrency: bulk lookups, and kernels with frozen refs, run beside each other; kernels insert through ref(exec, room).
/// Memory: bytes_for(max_pairs, max_keys, load); see docs/hash_multimap.md.
/// Source: the operations of cuCollections' static_multimap; blocks after the bucket chains of Leis, Boncz, Kemper, Neumann,
///   "Morsel-driven parallelism", SIGMOD 2014; output split as in Green, McColl, Bader, "GPU merge path", ICS 2012.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          std::unsigned_integral PairNumber = std::uint32_t,
          int BucketSlots =
              detail::open_addressing::default_bucket_slots<Key, PairNumber, ExecSpace>>
class hash_multimap
    : public multi_table<detail::multi_table::map_traits<Key, T, ExecSpace, Hash, KeyEqual, Probing,
                                                         BucketSlots, PairNumber>> {
  using base = typename hash_multimap::multi_table;
  using traits = detail::multi_table::map_traits<Key, T, ExecSpace, Hash, KeyEqual, Probing,
                                                 BucketSlots, PairNumber>;

 public:
  using typename base::options;
  /// The same map in the host's memory: see create_host_mirror.
  using host_mirror_type = hash_multimap<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual,
                                         Probing, PairNumber, BucketSlots>;

  /// Without memory, to be assigned to; what is asked of its keys throws std::logic_error.
  hash_multimap() = default;
  /// Makes an empty map for max_pairs pairs, whose keys may all be different. Asynchronous but for the allocation.
  /// Throws std::invalid_argument (load, sentinels, more pairs than PairNumber takes), std::length_error, allocation_error.
  hash_multimap(ExecSpace const& exec, std::uint64_t max_pairs, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, max_pairs, max_pairs, o, hash, equal) {}
  /// The same for pairs of at most max_keys different keys: an integer, which {} is not.
  hash_multimap(ExecSpace const& exec, std::uint64_t max_pairs, std::integral auto max_keys,
                options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, max_pairs, static_cast<std::uint64_t>(max_keys), o, hash, equal) {}

  /// Bytes of a map for so many pairs and different keys.
  static std::size_t bytes_for(std::uint64_t max_pairs, std::uint64_t max_keys,
                               double load = options{}.load) {
    return traits::index_type::bytes_for(max_keys, load) +
           traits::storage_type::bytes_for(max_pairs);
  }
};

}  // namespace karpos
