// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "karpos/contract.hpp"

namespace karpos {

/// Growth policy: how a blocking insertion treats a key that finds no slot.
enum class growth {
  /// The insertion rejects the key, once no slots of erased keys are left to use again. max_keys is
  /// no limit: a key beyond it is rejected only if all slots that it may take are in use.
  fixed,
  /// The insertion rehashes as often as it needs. Each time max_keys becomes two to four times the
  /// larger of max_keys and the number of stored keys. If stored keys find no slot in the new
  /// table, because too many hashes are alike, a table for twice as many keys is tried, and so on.
  /// When the table has 16 slots a key, the table stops growing, and the remaining keys are
  /// rejected. Refs become invalid, and a table over wrapped memory leaves that memory. A hash_map
  /// or hash_set compacts instead if it has slots of erased keys and max_keys suffices for the
  /// keys.
  ///
  /// A large call is inserted in pieces. Before a piece other than the first the table may grow
  /// ahead of need: if it holds max_keys keys or more, and is expected to hold more than
  /// (max_keys + capacity) / 2 when the call ends (with host views: when their batch ends).
  /// max_keys then becomes twice the number of stored keys. The share of new keys in the previous
  /// piece gives the expected number.
  automatic
};

namespace detail {
template <>
inline constexpr enumeration<growth> enumeration_of<growth> = {"policy of growth", "growth",
                                                               growth::automatic};
}  // namespace detail

/// The options of a hash table. A sentinel is a key value that marks a slot and cannot be stored.
/// A map whose key or value has more than four bytes, and whose key has at most eight, has slots of
/// 16 bytes. These need a third sentinel, which the caller cannot choose: the third largest value,
/// or, if that is empty_key or erased_key, the largest value that is neither.
///
/// Default sentinels: if the key is an integer as large as the key's part of a slot, its largest
/// values; for all other keys, the largest bit patterns of that part. Keys with fewer bytes than
/// that part never equal a default sentinel. The part has 16 bytes if the key has more than eight;
/// eight if key or value has more than four, and in hopscotch and cuckoo sets; else four. A
/// hash_multimap or hash_multiset stores a pair number (its parameter PairNumber) in place of the
/// value. Floating-point keys never equal a default sentinel either: their NaNs are all stored as
/// the quiet NaN.
template <class Key>
struct hash_table_options {
  /// Keys per slot when max_keys keys are stored; in (0, 0.98].
  double load = 0.8;
  /// The sentinel that marks an unused slot. Default: the largest value (see above).
  std::optional<Key> empty_key = {};
  /// The sentinel that marks an erased slot. Default: the second largest value (see above).
  std::optional<Key> erased_key = {};
  /// Default: automatic for hopscotch_map and hopscotch_set; fixed for hash_map, hash_set,
  /// hash_multimap and hash_multiset.
  std::optional<karpos::growth> growth = {};
  /// Seed of the positions of keys. Default: 0 for a table in the caller's memory; for any other, a
  /// new seed from a count of tables. A program that makes its tables in the same order gets the
  /// same seeds in every run.
  ///
  /// Tables of equal type, size and seed put most keys at equal positions, and retrieve_all may
  /// write the keys of a table in the order of their positions. So do not fill another table of
  /// equal type, size and seed with only the first half of these keys: they would crowd at one end.
  std::optional<std::uint64_t> seed = {};
};

/// Memory that the caller owns, in the memory space of the table. It must outlive the table that is
/// made in it, or the call that uses it as workspace.
///
/// For a hash_map, hash_set, hopscotch_map or hopscotch_set (other tables only work in memory of
/// their own): at least bytes_for(...) bytes, aligned to a bucket (an alignment of 64 always
/// suffices); a null pointer, fewer bytes or another alignment throw std::invalid_argument. In
/// options of other calls a null pointer, or one with 0 bytes, means: none given, allocate.
///
/// Constructing a table erases what the memory held. Tables of one type, size and seed that are
/// made in the same memory share their keys; the last one constructed erases them for all. Each
/// hopscotch table records for itself that no slot is free: if such tables share memory, make all
/// erasures, and all insertions that may fill the memory, through one of them.
struct wrapped_memory {
  void* data;
  std::size_t bytes;
};

/// How a bulk call handles many keys. A team is a GPU block, scratch its shared memory.
enum class bulk_strategy {
  /// The strategy that is expected to be fastest for such keys, their number and the table's size.
  automatic,
  /// Each key is inserted, or looked up, straight from the caller's view; nothing is grouped first.
  direct,
  /// On GPUs keys are split. Insertions into a hash_map or hash_set split them by table segment:
  /// neighbouring buckets, whose keys a team inserts in its scratch. Once a call has rejected keys,
  /// later insertions are not split by segment until clear, compaction, rehash or growth
  /// (docs/hash_map.md). Erasures, lookups, and insertions of few keys into a table that is not
  /// empty split their keys by region: neighbouring buckets that fit in the GPU's cache. A key
  /// belongs to the region where its search begins, so a region is read into the cache only once.
  /// Calls on CPUs are direct, and so are insertions into and erasures from a hopscotch table.
  partitioned,
  /// insert_or_apply, and on GPUs insert_or_assign into a hopscotch_map: reduces rows of equal keys
  /// to one row, and inserts these rows (pre-aggregation). Other calls: as automatic.
  reduced
};

namespace detail {
template <>
inline constexpr enumeration<bulk_strategy> enumeration_of<bulk_strategy> = {
    "strategy of bulk calls", "bulk_strategy", bulk_strategy::reduced};
}  // namespace detail

/// The options of a blocking insertion or erasure, and of lookups. Calls with a stencil take none.
struct bulk_options {
  bulk_strategy strategy = bulk_strategy::automatic;
  /// Memory that the caller owns, aligned to 64 bytes, of:
  ///   - lookup_bytes(exec, queries, strategy) bytes for erasures and lookups;
  ///   - insert_or_apply_bytes(exec, keys, strategy) bytes for insert_or_apply, and for
  ///     insert_or_assign into a hopscotch_map;
  ///   - insert_bytes(exec, keys, strategy) bytes for other insertions.
  /// Null: allocated, and freed at the end. If there is no memory for a strategy, or the caller's
  /// is too small or not aligned, the call uses another strategy, in the end direct: it throws
  /// nothing about its workspace. If views are on the host and the table is on a device, insertions
  /// use the workspace for one batch after the other; erasures and lookups are direct, and do not
  /// use it.
  wrapped_memory workspace = {nullptr, 0};
};

}  // namespace karpos
