// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace karpos {

/// How a cuckoo_map lays out its slots.
enum class cuckoo_layout {
  two_level,  ///< buckets of 409 keys on average in 576 slots: built fast, never changed; two lines a lookup
  dense  ///< windows of 64 bytes, loads up to 0.98, later insertions; misses stop after one window
};

/// What to do about keys that occur more than once.
enum class duplicate_keys {
  keep_one,  ///< the one of the lowest index counts
  reject     ///< std::invalid_argument with their number and an example
};

/// What a cuckoo_map may be told when it is made.
template <class Key>
struct cuckoo_map_options {
  cuckoo_layout layout = cuckoo_layout::two_level;
  /// Seed of the hash functions. Two-level maps of equal keys and seeds have equal bytes in every
  /// space. Default: another seed for each map, as in hash_table_options (table_options.hpp).
  std::optional<std::uint64_t> seed = {};
  duplicate_keys duplicates = duplicate_keys::keep_one;
  double load = 0.95;  ///< dense: keys per slot when `capacity` keys are in; in (0, 0.98]
  std::uint64_t capacity =
      0;  ///< dense: keys to have room for; at least those that it is built from
  std::optional<Key> empty_key = {};  ///< key that marks an unused slot; default: the largest value
  bool keep_workspace = false;        ///< keep the memory that a build needs, for the next one
};

/// What a cuckoo_map looks like inside. A group is a bucket (two_level) or a partition (dense).
struct cuckoo_stats {
  std::uint64_t keys = 0, slots = 0;
  double space_factor = 0;                                          ///< slots per key
  std::uint64_t groups = 0, smallest_group = 0, largest_group = 0;  ///< keys of a group
  std::uint64_t restarts = 0;        ///< of the whole build, with another seed
  std::uint64_t group_restarts = 0;  ///< two_level: of single buckets, with other constants
};

}  // namespace karpos
