// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace karpos::detail {

/// Returns whether a table that grows stops at this number of slots: it has 16 for each key.
inline bool ends_growth(std::uint64_t slots, std::uint64_t keys) { return slots / 16 >= keys; }
/// Calls f, which enqueues at most n erasures, with the ref that bulk erasures use.
template <class Storage, class ExecSpace, class F>
void with_erasure_ref(Storage const& storage, ExecSpace const& exec, std::uint64_t n, F const& f) {
  if constexpr (Storage::tracks_free_slots)
    storage.with_erasure_ref(exec, n, f);
  else
    f(storage.ref());
}

/// Notes that keys are about to be inserted otherwise than by table segments, so that the order of
/// keys in a bucket says nothing any more. Returns the storage.
template <class Storage>
Storage const& invalidate_order(Storage const& storage) {
  if constexpr (requires { storage.invalidate_order(); }) storage.invalidate_order();
  return storage;
}

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

/// Notes that a table is empty. Kernels may fill it again unseen.
template <class Storage>
void record_clear(Storage& storage, slots_used& slots) {
  slots.set_counts(0, 0);
  if constexpr (requires { storage.enable_order(); })
    if (!slots.exposed) storage.enable_order();
}

}  // namespace karpos::detail
