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

// hash_multiset: a key may be stored any number of times. Bulk operations: karpos/multi_table.hpp;
// operations in kernels: karpos/multi_table_ref.hpp.

namespace karpos {

/// Hash multiset of keys of up to eight bytes: a hash_map that counts. It stores each distinct key
/// once, with the number of its occurrences. Each operation is expected and amortised O(1) for each
/// key, whatever the multiplicities. Growth, concurrency and requirements: see hash_multimap. At
/// most max_pairs() occurrences are stored, of all keys together: 2^31 - 8, or 2^40 - 8 if
/// PairNumber has 64 bits. More are rejected, even if the set grows: the last ones of the call's
/// view.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          std::unsigned_integral PairNumber = std::uint32_t,
          int BucketSlots =
              detail::open_addressing::default_bucket_slots<Key, PairNumber, ExecSpace>>
class hash_multiset
    : public multi_table<detail::multi_table::traits<Key, detail::no_value, ExecSpace, Hash,
                                                     KeyEqual, Probing, BucketSlots, PairNumber>> {
  using base = typename hash_multiset::multi_table;

 public:
  using typename base::options;
  /// The type of this set in host memory, which create_host_mirror returns.
  using host_mirror_type = hash_multiset<Key, Kokkos::DefaultHostExecutionSpace, Hash, KeyEqual,
                                         Probing, PairNumber, BucketSlots>;

  /// Makes a set without memory, to be assigned to. Lookups, insertions, erasures, consolidate,
  /// rehash and ref throw std::logic_error; size, empty, different_keys and clear do not.
  hash_multiset() = default;
  /// Makes an empty set for max_keys distinct keys. Asynchronous, except for the allocation. Throws
  /// what hash_multimap's constructor throws.
  hash_multiset(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
                Hash const& hash = {}, KeyEqual const& equal = {})
      : base(exec, 0, max_keys, o, hash, equal) {}
};

}  // namespace karpos
