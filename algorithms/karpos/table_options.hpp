// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace karpos {

/// What waiting insertions do when a key finds no place.
enum class growth {
  fixed,  ///< they reject it, once there are no slots of erased keys to use again
  /// They rehash to twice the size, which invalidates refs, and leave wrapped memory. If hashes
  /// crowd, growth ends at 16 slots a key.
  automatic
};

/// What a hash table may be told when it is made.
template <class Key>
struct hash_table_options {
  double load = 0.8;                  ///< keys per slot when max_keys are in; in (0, 0.98]
  std::optional<Key> empty_key = {};  ///< key that marks an unused slot; default: the largest value
  std::optional<Key> erased_key =
      {};  ///< key that marks an erased slot; default: the second largest
  std::optional<karpos::growth> growth =
      {};  ///< default: hopscotch_map and hopscotch_set grow, hash_map and hash_set do not
  /// Seed of the places of keys. Default: a new seed for each table, from a count of tables, so that
  /// a program gets the same seeds in each run; 0 for a table in the caller's memory. Tables of
  /// equal type, size and seed place most keys alike. If parts of several such tables, in table
  /// order, are inserted into another one, the keys crowd.
  std::optional<std::uint64_t> seed = {};
};

/// Memory of the caller's. For a table to live in: at least bytes_for(...), aligned to a bucket. A
/// table empties this memory when it is made. Several tables of one type, size and seed in it see
/// each other's keys.
struct wrapped_memory {
  void* data;
  std::size_t bytes;
};

/// How insertions that wait go about many keys at once.
enum class bulk_strategy {
  automatic,    ///< whichever is faster for such keys, so many of them and a table of that size
  direct,       ///< each key by itself, where the caller has it
  partitioned,  ///< by pages of the table, which teams hold in scratch: hash_map and hash_set on GPUs (docs/hash_map.md)
  reduced  ///< insert_or_apply: equal keys are merged with each other first; others: as automatic
};

/// What an insertion that waits may be told.
struct bulk_options {
  bulk_strategy strategy = bulk_strategy::automatic;
  /// Memory of the caller's of insert_bytes(exec, keys, strategy), insert_or_apply: insert_or_apply_bytes, aligned to 64 bytes;
  /// null: allocated, and freed at the end. Without memory for a way, or where the caller's does not do, the insertion goes
  /// another one, in the end direct.
  wrapped_memory workspace = {nullptr, 0};
};

}  // namespace karpos
