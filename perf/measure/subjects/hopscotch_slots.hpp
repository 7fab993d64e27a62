// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/lane_mask.hpp"
#include "karpos/outcome.hpp"

// The lock-based hopscotch table that GLHT is compared with. A key lies in one of the 32 slots from
// its home on, and the home has a bit for each of them. Segments of homes have a lock for writers
// and a timestamp, which grows when a key leaves a slot: readers take no lock, and start anew if
// the timestamp changed.
// A key that finds no slot is `full`, where the original resizes: the figures stay at load 0.8.
// Source: M. Herlihy, N. Shavit, M. Tzafrir, "Hopscotch hashing", DISC 2008.

namespace karpos::perf {

template <class Key, class Memory>
struct hopscotch_slots {
  template <class T>
  using view = Kokkos::View<T*, Memory>;
  static constexpr std::uint64_t reach = 32;     ///< slots of a neighbourhood
  static constexpr std::uint64_t segment = 64;   ///< homes that share a lock
  static constexpr std::uint64_t search = 4096;  ///< slots searched for an empty one
  static constexpr Key empty = static_cast<Key>(~Key(0)), busy = empty - 1;  ///< no keys

  view<Key> keys, values;
  view<std::uint32_t> hops;  ///< bit j of home h: slot h + j holds a key of h
  view<std::uint32_t> locks;
  view<std::uint64_t> stamps;

  KOKKOS_FUNCTION std::uint64_t homes() const { return hops.extent(0); }
  KOKKOS_FUNCTION std::uint64_t home_of(Key key) const { return multiply_high(mix(key), homes()); }

  KOKKOS_FUNCTION bool try_lock(std::uint64_t home) const {
    std::uint32_t* const lock = &locks(home / segment);
    bool const locked =
        device::load_relaxed(lock) == 0 && device::compare_and_swap_after_reads(lock, 0u, 1u) == 0;
    if (locked) device::acquire_fence();
    return locked;
  }
  KOKKOS_FUNCTION void lock(std::uint64_t home) const {
    for (device::back_off pause; !try_lock(home);) pause.wait();
  }
  KOKKOS_FUNCTION void unlock(std::uint64_t home) const {
    device::store_release(&locks(home / segment), 0u);
  }

  /// Returns the slot of a key; homes() + search, if there is none.
  KOKKOS_FUNCTION std::uint64_t slot_of(std::uint64_t home, Key key) const {
    for (std::uint32_t left = device::load_acquire(&hops(home)); left != 0; left &= left - 1) {
      std::uint64_t const s = home + static_cast<std::uint64_t>(lane_mask<32>(left).first());
      if (device::load_acquire(&keys(s)) == key) return s;
    }
    return homes() + search;
  }
  KOKKOS_FUNCTION bool is_slot(std::uint64_t s) const { return s < homes() + search; }

  KOKKOS_FUNCTION bool find(Key key, Key& value) const {
    std::uint64_t const home = home_of(key);
    for (;;) {
      std::uint64_t const before = device::load_acquire(&stamps(home / segment));
      std::uint64_t const s = slot_of(home, key);
      Key const seen = is_slot(s) ? device::load_relaxed(&values(s)) : Key(0);
      device::acquire_fence();
      if (device::load_relaxed(&stamps(home / segment)) != before) continue;
      if (is_slot(s)) value = seen;
      return is_slot(s);
    }
  }
  KOKKOS_FUNCTION outcome erase(Key key) const {
    std::uint64_t const home = home_of(key);
    for (device::back_off pause;; pause.wait()) {
      if (!try_lock(home)) continue;
      std::uint64_t const s = slot_of(home, key);
      if (is_slot(s)) leave(home, s, empty);
      unlock(home);
      return is_slot(s) ? outcome::erased : outcome::absent;
    }
  }
  KOKKOS_FUNCTION outcome insert(Key key, Key value, std::uint64_t) const {
    std::uint64_t const home = home_of(key);
    for (device::back_off pause;; pause.wait()) {
      if (!try_lock(home)) continue;
      outcome result = outcome::existing;
      if (!is_slot(slot_of(home, key))) {
        std::uint64_t hole = reserve(home);
        while (is_slot(hole) && hole - home >= reach) hole = move_closer(home, hole);
        result = is_slot(hole) ? outcome::inserted : outcome::full;
        if (is_slot(hole)) enter(home, hole, key, value);
      }
      unlock(home);
      return result;
    }
  }

 private:
  /// Puts a pair into a slot that this thread has reserved. Requires: the lock of its home.
  KOKKOS_FUNCTION void enter(std::uint64_t home, std::uint64_t s, Key key, Key value) const {
    device::store_release(&values(s), value);
    device::store_release(&keys(s), key);
    device::store_release(&hops(home), hops(home) | 1u << (s - home));
  }
  /// Removes the pair of a slot, which becomes empty or stays reserved. Requires the lock.
  KOKKOS_FUNCTION void leave(std::uint64_t home, std::uint64_t s, Key now) const {
    device::store_release(&stamps(home / segment), stamps(home / segment) + 1);
    device::store_release(&hops(home), hops(home) & ~(1u << (s - home)));
    device::store_release(&keys(s), now);
  }
  /// Reserves the first empty slot from a home on.
  KOKKOS_FUNCTION std::uint64_t reserve(std::uint64_t home) const {
    for (std::uint64_t s = home; s < home + search; ++s)
      if (device::load_relaxed(&keys(s)) == empty &&
          device::compare_and_swap_after_reads(&keys(s), empty, busy) == empty)
        return s;
    return homes() + search;
  }
  /// Moves a key to the reserved slot, from one nearer to the home, and returns that one. Locks of
  /// segments are taken in their order, so that there is no deadlock. If no key can move, empties
  /// the slot.
  KOKKOS_FUNCTION std::uint64_t move_closer(std::uint64_t home, std::uint64_t hole) const {
    for (std::uint64_t h = hole - reach + 1; h < hole && h < homes(); ++h) {
      bool const other = h / segment != home / segment;
      if (other) lock(h);
      std::uint64_t from = hole;
      if (std::uint32_t const near = hops(h) & ((1u << (hole - h)) - 1); near != 0) {
        from = h + static_cast<std::uint64_t>(lane_mask<32>(near).first());
        enter(h, hole, keys(from), values(from));
        leave(h, from, busy);
      }
      if (other) unlock(h);
      if (from != hole) return from;
    }
    device::store_release(&keys(hole), empty);
    return homes() + search;
  }
};

}  // namespace karpos::perf
