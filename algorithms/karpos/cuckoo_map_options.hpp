// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "karpos/contract.hpp"

namespace karpos {

/// The layouts of the slots of a cuckoo_map.
enum class cuckoo_layout {
  /// Buckets of 409 keys on average in 576 slots. Built fast, never changed; a lookup reads a byte
  /// of the bucket and at most two lines of slots.
  two_level,
  /// Windows of 64 bytes, loads up to 0.98, later insertions. Most misses end after one window.
  dense
};

/// The ways in which build handles keys that occur more than once in its views. insert does not use
/// this option: it always takes the pair of the lowest index.
enum class duplicate_keys {
  keep_one,  ///< stores the pair of the lowest index
  reject     ///< throws std::invalid_argument with the number of such keys and an example
};

namespace detail {
template <>
inline constexpr enumeration<cuckoo_layout> enumeration_of<cuckoo_layout> = {
    "layout of a cuckoo table", "cuckoo_layout", cuckoo_layout::dense};
template <>
inline constexpr enumeration<duplicate_keys> enumeration_of<duplicate_keys> = {
    "treatment of duplicate keys", "duplicate_keys", duplicate_keys::reject};
}  // namespace detail

/// The options of a cuckoo_map.
template <class Key>
struct cuckoo_map_options {
  cuckoo_layout layout = cuckoo_layout::two_level;
  /// Seed of the hash functions. Two-level maps built from the same pairs with the same seed, hash
  /// and other options have equal bytes in every space. Default: another seed for each map, as in
  /// hash_table_options (table_options.hpp).
  std::optional<std::uint64_t> seed = {};
  duplicate_keys duplicates = duplicate_keys::keep_one;
  /// dense: keys per slot when max(keys of the build, `capacity`) keys are stored; in (0, 0.98].
  double load = 0.95;
  /// dense: keys to reserve memory for, if the map is built from fewer.
  std::uint64_t capacity = 0;
  /// The sentinel: the key that marks an unused slot. Default: the largest value that the key's
  /// part of a slot can hold. Keys with fewer bytes than that part, and floating-point keys, never
  /// equal it (hash_table_options in table_options.hpp).
  std::optional<Key> empty_key = {};
  /// Whether to keep the workspace of a build for the next one. It is freed with the table, or when
  /// another table is assigned to it; bytes() includes it.
  bool keep_workspace = false;
};

/// Statistics of a cuckoo_map; zeros if it has no memory. A group is a bucket (two_level) or a
/// partition (dense: the up to 2^17 slots among which a key's windows lie).
struct cuckoo_stats {
  std::uint64_t keys = 0, slots = 0;
  double space_factor = 0;  ///< slots per key
  /// The number of groups, and the number of keys in the smallest and in the largest.
  std::uint64_t groups = 0, smallest_group = 0, largest_group = 0;
  std::uint64_t restarts = 0;        ///< restarts of the whole build, with another seed
  std::uint64_t group_restarts = 0;  ///< two_level: restarts of one bucket, with other constants
};

}  // namespace karpos
