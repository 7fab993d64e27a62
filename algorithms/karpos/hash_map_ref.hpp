// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/detail/map_ref.hpp"
#include "karpos/detail/open_addressing/ref.hpp"
#include "karpos/device/atomics.hpp"

namespace karpos {

/// The reading half of hash_map_ref, and all of a frozen ref: find and contains, for kernels during which nobody
/// changes the map.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing,
          int BucketSlots, device::access Access>
class hash_map_reader
    : public detail::map_reader<detail::open_addressing::open_addressing_ref<
                                    Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>,
                                Access> {
  using reader = detail::map_reader<detail::open_addressing::open_addressing_ref<
                                        Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>,
                                    Access>;

 public:
  static constexpr int bucket_slots = BucketSlots;
  using reader::reader;
};

/// The view of a hash_map that kernels take by value: trivially copyable, valid while the map lives and is
/// not rehashed. Every operation (find, contains, insert, insert_or_assign, insert_or_apply, erase) comes for one
/// thread and, with a tile first, for W lanes that work on one key together and all receive the answer. The slot
/// of an erased key is used again only after clear or rehash.
///
/// Complexity: expected O(1) buckets; never more than Probing::probe_limit.
/// Requires: keys and queries are not equal to a sentinel (checked with KARPOS_CONTRACTS).
/// Concurrency: every operation may run concurrently with every other; per key, histories are linearizable.
///   Lock-free; where is_lock_free<16, ExecSpace> is false, inserting 16-byte slots blocks on the thread
///   that is publishing the same slot. Atomics are relaxed: a key that is found does not order other memory.
/// Source: cuCollections' static_map; docs/hash_map.md.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, class Probing,
          int BucketSlots>
class hash_map_ref : public detail::map_ref<detail::open_addressing::open_addressing_ref<
                         Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>> {
  using ref =
      detail::map_ref<detail::open_addressing::open_addressing_ref<Key, T, ExecSpace, Hash,
                                                                   KeyEqual, Probing, BucketSlots>>;

 public:
  static constexpr int bucket_slots = BucketSlots;
  using ref::ref;
};

}  // namespace karpos
