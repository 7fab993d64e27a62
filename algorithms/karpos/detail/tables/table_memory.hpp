// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/hash.hpp"
#include "karpos/table_options.hpp"

// Sizes, settings and memory of all kinds of tables, and what the host knows of their slots.

namespace karpos::detail {

/// Returns the label of a kernel or an array of a table: karpos::<name>::<what>.
inline std::string table_label(std::string const& name, char const* what) {
  return "karpos::" + name + "::" + what;
}

/// Returns the number of slots for max_keys keys at that load. Throws std::invalid_argument (load
/// out of range), std::length_error (capacity overflow).
inline std::uint64_t slots_for(std::uint64_t max_keys, double load) {
  if (!(load > 0.0 && load <= 0.98))
    reject("load out of range", "load = " + std::to_string(load), "pass a load in (0, 0.98]");
  double const slots = std::ceil(static_cast<double>(max_keys) / load);
  if (slots > 0x1p56)
    reject<std::length_error>(
        "capacity overflow",
        "max_keys = " + std::to_string(max_keys) + ", load = " + std::to_string(load),
        "no memory is that large");
  return static_cast<std::uint64_t>(slots);
}

/// Returns the sentinels: the keys that the options name, else the defaults. Throws
/// std::invalid_argument if two of them are equal.
template <class Layout, class Key>
sentinels<typename Layout::key_bits> sentinels_of(hash_table_options<Key> const& o) {
  using key_bits = typename Layout::key_bits;
  auto const chosen = [](std::optional<Key> const& key, int i) {
    return key ? key_bits_of<key_bits>(*key) : default_sentinel<Key, key_bits>(i);
  };
  key_bits const empty = chosen(o.empty_key, 0), erased = chosen(o.erased_key, 1);
  if (empty == erased) {
    std::string both = "keys of 16 bytes";
    if constexpr (!Layout::has_128_bit_key) both = std::to_string(empty);
    reject("empty_key and erased_key are equal", both, "choose two different keys");
  }
  if constexpr (sizeof(typename Layout::word) <= 8 || Layout::has_128_bit_key)
    return {empty, erased, erased};
  // A claimed slot of 16 bytes needs a third sentinel: the third default, or, if the caller chose
  // that, the largest default that the caller did not choose. It is also reserved if one
  // compare-and-swap claims and publishes a slot: so every space stores the same keys, and a table
  // can be copied between spaces.
  key_bits busy = default_sentinel<Key, key_bits>(2);
  for (int i = 0; busy == empty || busy == erased; ++i) busy = default_sentinel<Key, key_bits>(i);
  return {empty, erased, busy};
}

/// Returns the seed of a table whose options name none: another one at each call, so that keys in
/// the order of one table lie anywhere in the next, and the same ones in each run of a program.
inline std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> tables{0};
  return mix(~tables.fetch_add(1, std::memory_order_relaxed));
}

/// Returns these options, with seed 0 if the memory is the caller's and no seed is given. Several
/// tables may be made in the same memory, and have to look for a key in the same position.
template <class Options>
Options with_seed(Options o, bool is_wrapped) {
  if (is_wrapped && !o.seed) o.seed = 0;
  return o;
}

/// The options and functions that a table was made with, and its sentinels: one type in all spaces.
template <class Key, class Layout, class Hash, class KeyEqual>
struct settings_of {
  settings_of(std::uint64_t keys, hash_table_options<Key> const& o, Hash const& h,
              KeyEqual const& e)
      : max_keys(keys),
        options(o),
        hash(h),
        equal(e),
        reserved_keys(sentinels_of<Layout>(o)),
        seed(o.seed ? *o.seed : next_seed()) {
    if (o.growth) require_enumerators(*o.growth);
  }

  std::uint64_t max_keys;
  hash_table_options<Key> options;
  Hash hash;
  KeyEqual equal;
  sentinels<typename Layout::key_bits> reserved_keys;
  std::uint64_t seed;  ///< of the positions of keys: refs, copies and rehashed tables share it
};
template <class Traits>
using table_settings = settings_of<typename Traits::key_type, typename Traits::layout,
                                   typename Traits::hasher, typename Traits::key_equal>;

/// Returns make(), which allocates an array of a table. Throws an allocation_error that explains.
template <class MemorySpace, class Make>
auto allocate_table(std::size_t bytes, Make const& make) {
  return allocate_or_explain<MemorySpace>(bytes, "a table", "ask for fewer keys or a higher load",
                                          make);
}

/// Throws std::invalid_argument if the caller's memory is null, too small or not aligned. Vector
/// instructions that read a bucket need its natural alignment; allocations of Kokkos are aligned to
/// a cache line at most.
inline void require_wrappable(wrapped_memory memory, std::size_t bytes, std::size_t bucket_bytes) {
  std::size_t const alignment = Kokkos::min(bucket_bytes & (~bucket_bytes + 1), std::size_t(64));
  if (memory.data == nullptr)
    reject("the memory to wrap is a null pointer", std::to_string(memory.bytes) + " bytes",
           "pass memory of bytes_for(max_keys, load)");
  if (memory.bytes < bytes)
    reject("the memory to wrap is too small",
           std::to_string(memory.bytes) + " bytes for " + std::to_string(bytes),
           "allocate bytes_for(max_keys, load)");
  if (reinterpret_cast<std::uintptr_t>(memory.data) % alignment != 0)
    reject("the memory to wrap is not aligned",
           "buckets need " + std::to_string(alignment) + " bytes", "align it to that");
}

/// Returns whether a table that grows stops at this number of slots: it has 16 for each key.
inline bool ends_growth(std::uint64_t slots, std::uint64_t keys) { return slots / 16 >= keys; }
/// Host-side record of the slots of a table: when to count them, when to compact, and the number of
/// keys while that is exact. Several host threads may enqueue work and take refs concurrently: the
/// members that this changes are changed atomically.
struct slots_used {
  std::uint64_t taken = 0;   ///< slots with a key or a tombstone; an upper bound, unless `exposed`
  std::uint64_t erased = 0;  ///< tombstones; an upper bound, unless `exposed`
  std::uint64_t live = 0;    ///< number of keys, if size_is_known
  bool exact = true;         ///< only blocking calls have changed the table since the last count
  /// Refs exist, or the memory is the caller's: anything may have changed.
  bool exposed = false;

  bool size_is_known() { return is_set(exact) && !is_set(exposed); }
  /// Notes the counts of a scan of the slots.
  void set_counts(std::uint64_t keys, std::uint64_t tombstones) {
    taken = keys + tombstones;
    erased = tombstones;
    live = keys;
    exact = true;
  }
  /// These two note what a blocking call has done.
  void add_inserted(std::uint64_t n) {
    taken += n;
    live += n;
  }
  void add_erased(std::uint64_t n) {
    add(erased, n);
    live -= n;
  }
  /// These three note what an enqueued kernel, or a kernel with a ref, may do.
  void add_possible_insertions(std::uint64_t n) {
    add(taken, n);
    set(exact, false);
  }
  void add_possible_erasures(std::uint64_t n) {
    add(erased, n);
    set(exact, false);
  }
  void mark_exposed() { set(exposed, true); }

 private:
  static void add(std::uint64_t& sum, std::uint64_t n) {
    std::atomic_ref(sum).fetch_add(n, std::memory_order_relaxed);
  }
  static void set(bool& flag, bool value) {
    std::atomic_ref(flag).store(value, std::memory_order_relaxed);
  }
  static bool is_set(bool& flag) { return std::atomic_ref(flag).load(std::memory_order_relaxed); }
};

}  // namespace karpos::detail
