// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace karpos::detail {

/// Whether bulk insertions into a full table rehash it: a storage says so by a constant of that name.
template <class Storage>
inline constexpr bool grows = requires { requires Storage::grows; };
/// Whether a table that grows stops at this number of slots: it has 16 for each key.
inline bool ends_growth(std::uint64_t slots, std::uint64_t keys) { return slots / 16 >= keys; }
/// Whether erased slots stay tombstones, which no insertion takes, until the table is compacted.
template <class Storage>
inline constexpr bool has_tombstones = requires { requires Storage::has_tombstones; };
/// Whether it stores values beside its keys.
template <class Storage>
inline constexpr bool stores_values = Storage::layout::has_value;

/// Whether insertions of many keys may go page by page.
template <class Storage>
inline constexpr bool has_pages = requires { requires Storage::has_pages; };

/// Whether insertions leave overflow marks before they know whether the key finds a place.
template <class Storage>
inline constexpr bool marks_on_the_way = requires { requires Storage::marks_on_the_way; };
/// Calls f with what insertions in bulk see of a table.
template <class Storage, class F>
void with_insertion_ref(Storage const& storage, F const& f) {
  if constexpr (marks_on_the_way<Storage>)
    storage.with_insertion_ref(f);
  else
    f(storage.ref());
}

/// Keys are about to come into a table in another way than page by page. Returns: its storage.
template <class Storage>
Storage const& forget_order(Storage const& storage) {
  if constexpr (requires { storage.forget_order(); }) storage.forget_order();
  return storage;
}

/// What the host knows of the slots of a table: when to count them and to compact, and the size while that is exact.
/// Host threads may enqueue work and take refs at once: what these change is changed atomically.
struct slots_used {
  std::uint64_t taken = 0;   ///< slots that hold a key or a tombstone; at most, unless `unseen`
  std::uint64_t erased = 0;  ///< tombstones; at most, unless `unseen`
  std::uint64_t live = 0;    ///< keys that are in, if size_is_known
  bool exact = true;         ///< calls that wait made every change since the last count
  bool unseen =
      false;  ///< refs are about, or the memory is the caller's: anything may have changed

  bool size_is_known() { return is_set(exact) && !is_set(unseen); }
  /// A scan has counted the slots.
  void counted(std::uint64_t keys, std::uint64_t tombstones) {
    taken = keys + tombstones;
    erased = tombstones;
    live = keys;
    exact = true;
  }
  /// What a call that waits has done.
  void inserted(std::uint64_t n) {
    taken += n;
    live += n;
  }
  void removed(std::uint64_t n) {
    add(erased, n);
    live -= n;
  }
  /// What a kernel that was only enqueued may do.
  void may_insert(std::uint64_t n) {
    add(taken, n);
    set(exact, false);
  }
  void may_erase(std::uint64_t n) {
    add(erased, n);
    set(exact, false);
  }
  void may_change_unseen() { set(unseen, true); }

 private:
  static void add(std::uint64_t& sum, std::uint64_t n) {
    std::atomic_ref(sum).fetch_add(n, std::memory_order_relaxed);
  }
  static void set(bool& flag, bool value) {
    std::atomic_ref(flag).store(value, std::memory_order_relaxed);
  }
  static bool is_set(bool& flag) { return std::atomic_ref(flag).load(std::memory_order_relaxed); }
};

/// A table is empty now; kernels may fill it again unseen.
template <class Storage>
void was_cleared(Storage& storage, slots_used& slots) {
  slots.counted(0, 0);
  if constexpr (requires { storage.begin_order(); })
    if (!slots.unseen) storage.begin_order();
}

}  // namespace karpos::detail
