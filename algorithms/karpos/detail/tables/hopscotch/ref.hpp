// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/hopscotch/hop_word.hpp"
#include "karpos/detail/tables/hopscotch/relocation.hpp"
#include "karpos/detail/tables/hopscotch/tuning.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

// Concurrent hopscotch hashing: insert, erase and find run concurrently in one kernel, and memory
// never fragments. A tile performs an operation: a thread, or some lanes of a warp together (CUDA:
// a cooperative group).
//
//   line    | hop word | slot | slot | slot | slot | slot | slot | slot |   8 words: 64 or 128 B
//
// A key's hash names its home line. The key lies in one of the 32 slots of its neighbourhood (H =
// 31 in the paper): the home line's seven, or the "far" ones of four more lines (line_geometry). An
// insertion goes through the phases of the paper:
//
//   find                the key is stored: done
//   find_empty, update  holding the lock of the key's class: take a slot of the home line, else a
//                       far one
//   find_closer_empty   the neighbourhood is full: move a key that lies here to a hole of its own
//                       neighbourhood (swap)
//
// Keys only move to later lines of their neighbourhood. A merge changes the value in place, holding
// the lock. An erasure takes the pair out of its slot, holding the lock, and clears the slot's bit
// as it unlocks. A reader reads the home line, then follows the bits of the hop word, which it
// reads again after each miss. Keys only move to later lines, so moves delay a reader a bounded
// number of times. It takes no lock and writes nothing. Linearizability: docs/design/hopscotch.md.
//
//   hop_word.hpp    the word at the head of a line: bits of slots, locks, counts
//   lines.hpp       the states of slots, where lines and slots are, and the phase find
//   relocation.hpp  locks, and the phases find_empty and find_closer_empty
//
// Source: the phases and the copy-then-clear relocation of GLHT (Zhang, Sun, "GPU lock-free
// hopscotch hash table", 2019); the hop word after Herlihy, Shavit, Tzafrir, "Hopscotch hashing",
// DISC 2008.
// Tests: hopscotch_*, nested_maps.

namespace karpos::detail::hopscotch {

/// The table as kernels see it (probe.hpp). One step decides an operation.
template <class Traits>
class table_ref : public lines<Traits> {
  using base = lines<Traits>;

 public:
  using typename base::layout, typename base::located, typename base::mapped_type,
      typename base::path, typename base::word;
  /// Values move: a merge holds the lock of its key.
  static constexpr bool merges_under_lock = true;
  /// Threads of a multiprocessor in kernels that write (tuning.hpp, launch.hpp).
  static constexpr unsigned threads_at_once =
      tuning<typename Traits::execution_space>::threads_at_once;

  table_ref() = default;
  explicit table_ref(base const& l) : base(l) {}

  using base::slot;
  KOKKOS_FUNCTION static std::uint64_t home_of(std::uint64_t hash) { return hash; }
  KOKKOS_FUNCTION path at_home(std::uint64_t hash) const { return this->start_at(hash); }
  KOKKOS_FUNCTION static void advance(path const&) {}
  KOKKOS_FUNCTION static bool past_end(path const&) { return false; }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(path const& p) const {
    device::prefetch(this->line(p.home));
  }
  template <class Query>
  KOKKOS_FUNCTION bool reserved(Query const& query) const {
    return slot().reserved(query);
  }

  template <device::access Access, device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION lookup_step<mapped_type> find_step(Tile const& t, path const& p,
                                                          Holds const& holds_query) const {
    located const at = this->template find<Access>(t, p, holds_query);
    bool const present = static_cast<bool>(at);
    return lookup_step<mapped_type>::decide(
        {present, select(present, layout::value_of(at.pair), mapped_type{})});
  }
  template <device::tile Tile, class Holds, class Combine>
  KARPOS_STEP_FUNCTION outcome_step insert_step(Tile const& t, path const& p,
                                                Holds const& holds_key, word pair,
                                                mapped_type const& value,
                                                Combine const& combine) const {
    return outcome_step::decide(
        operate(t, p, holds_key, map_op::insert, pair, value, combine).what);
  }
  template <device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION outcome_step erase_step(Tile const& t, path const& p,
                                               Holds const& holds_query) const {
    return outcome_step::decide(
        operate(t, p, holds_query, map_op::erase, {}, {}, keep_stored{}).what);
  }
  /// Performs an operation of any kind. Writes what a lookup finds to found_value.
  template <device::tile Tile, class Holds>
  KARPOS_STEP_FUNCTION outcome_step operate_step(Tile const& t, path const& p,
                                                 Holds const& holds_key, map_op op, word pair,
                                                 mapped_type& found_value) const {
    operation_result const r = operate(t, p, holds_key, op, pair, {}, keep_stored{});
    if (r.what == outcome::found) found_value = layout::value_of(r.at.pair);
    return outcome_step::decide(r.what);
  }

 private:
  KOKKOS_FUNCTION relocation<Traits> relocator() const { return relocation<Traits>(*this); }

  /// The outcome of an operation, and for a lookup where the key is.
  struct operation_result {
    outcome what;
    located at;
  };
  /// Performs an operation. All kinds share one code path, so that lanes of a warp diverge late.
  /// (H200, 30 K keys, 20/20/60: 11.8 G/s; a piece of code for each kind: 9.9.)
  template <device::tile Tile, class Holds, class Combine>
  KARPOS_STEP_FUNCTION operation_result operate(Tile const& t, path const& p,
                                                Holds const& holds_key, map_op op, word pair,
                                                mapped_type const& value,
                                                Combine const& combine) const {
    constexpr bool merges = !std::is_same_v<Combine, keep_stored>;
    located at;
    for (device::back_off pause;; pause.wait()) {
      if constexpr (!merges) {
        at = this->template find<device::access::shared>(t, p, holds_key);
        if (op == map_op::find) return {at ? outcome::found : outcome::absent, at};
        if (static_cast<bool>(at) == (op == map_op::insert))
          return {at ? outcome::existing : outcome::absent, at};
      }
      std::uint64_t const before = relocator().try_lock(t, p);
      if ((before & lock_bit(p.key_class)) != 0) continue;
      if (try_change_at_home(t, p, before, op, pair, at)) {
        if (op == map_op::insert) return {outcome::inserted, at};
        t.once([&] { this->mark_line_free_after_unlock(p.home); });
        return {outcome::erased, at};
      }
      if (op == map_op::insert) {
        outcome const what = insert_at_home(t, p, before, holds_key, pair, value, combine);
        return {
            what != outcome::full ? what : insert_anywhere(t, p, holds_key, pair, value, combine),
            at};
      }
      if (try_remove(t, p, before, at)) return {outcome::erased, at};
    }
  }

  /// Changes one slot of the home line, the usual case. Returns whether it did: then the lock is
  /// released, otherwise it is still held. An insertion of the first key of its class need not read
  /// the line: the first slot without a key of this home, by the hop word, is mostly empty.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool try_change_at_home(Tile const& t, path const& p, std::uint64_t before,
                                          map_op op, word pair, located const& at) const {
    std::uint32_t const count = count_in(before, p.key_class);
    lane_mask<line_slots> const others(~home_slots(before) & lane_mask<line_slots>::all);
    bool const erases = op == map_op::erase;
    if (erases ? at.slot >= line_slots || count == saturated_count : count != 0 || !others)
      return false;
    int const s = erases ? at.slot : others.first();
    word const from = erases ? at.pair : slot().empty_slot(),
               to = erases ? slot().empty_slot() : pair;
    word* const home = this->line(p.home);
    if (!t.once([&] { return slot().replace(home + 1 + s, from, to, home); })) return false;
    relocator().unlock(t, p,
                       slot_bit(s) | recount(before, p.key_class, erases ? count - 1 : count + 1));
    return true;
  }

  /// Merges into the stored pair or puts the pair into a slot, if the home line is enough for that;
  /// otherwise returns `full`. Requires the lock, and releases it.
  template <device::tile Tile, class Holds, class Combine>
  KARPOS_STEP_FUNCTION outcome insert_at_home(Tile const& t, path const& p, std::uint64_t before,
                                              Holds const& holds_key, word pair,
                                              mapped_type const& value,
                                              Combine const& combine) const {
    std::uint32_t const count = count_in(before, p.key_class);
    auto const all = this->load_line(t, p.home);
    if (count > 0) {
      if (auto const hit = all.template match<1>(holds_key)) {
        merge(t, p, {hit.first() - 1, all.get(hit.first())}, value, combine);
        relocator().unlock(t, p);
        return outcome::existing;
      }
    }
    if ((before & far_bit(p.key_class)) == 0) {
      for (auto holes = all.template match<1>(slot().is_empty()); holes;
           holes = holes.without_first()) {
        int const s = holes.first() - 1;
        if (!t.once([&] { return slot().try_fill(this->line(p.home) + 1 + s, pair); })) continue;
        relocator().unlock(t, p, slot_bit(s) | recount(before, p.key_class, count + 1));
        return outcome::inserted;
      }
    }
    relocator().unlock(t, p);
    return outcome::full;
  }

  /// Inserts if the key may lie in a far slot, or the home line has no empty slot.
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION outcome insert_anywhere(Tile const& t, path const& p, Holds const& holds_key,
                                          word pair, mapped_type const& value,
                                          Combine const& combine) const {
    locked_step now{outcome_step::undecided(), no_slot};
    int left = max_tries_in_all;
    for (device::back_off pause; !now.step.decided();) {
      std::uint64_t const before = relocator().try_lock(t, p);
      if ((before & lock_bit(p.key_class)) != 0) {
        pause.wait();
        continue;
      }
      now = update(t, p, before, holds_key, pair, value, combine, now.hole);
      if (now.step.decided()) break;
      if (this->is_full(t)) return outcome::full;
      bool disturbed = false;
      now.hole = relocator().find_closer_empty(t, p.home, left, disturbed);
      if (now.hole == no_slot) {
        this->inspect(t);
        if (!disturbed || left <= 0) return outcome::full;
        pause.wait();
      }
    }
    if (now.hole != no_slot) relocator().release_slot(t, p.home, now.hole);
    return now.step.answer();
  }

  /// The result of a step under a lock, and the slot that is reserved but not used.
  struct locked_step {
    outcome_step step;
    int hole;
  };
  /// Merges into the stored pair, or puts the pair into the hole, or else into an empty slot of the
  /// neighbourhood. The step is undecided if there is none. Requires the lock, and releases it.
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION locked_step update(Tile const& t, path const& p, std::uint64_t before,
                                     Holds const& holds_key, word pair, mapped_type const& value,
                                     Combine const& combine, int hole) const {
    if (located const at = this->find_locked(t, p, before, holds_key)) {
      merge(t, p, at, value, combine);
      relocator().unlock(t, p);
      return {outcome_step::decide(outcome::existing), hole};
    }
    if (hole == no_slot) hole = relocator().find_empty(t, p.home, 0);
    if (hole == no_slot) {
      relocator().unlock(t, p);
      return {outcome_step::undecided(), no_slot};
    }
    bool const far = hole >= line_slots;
    t.once([&] {
      if (far) device::set_bits(this->hop_word(p.home), slot_bit(hole) | far_bit(p.key_class));
      slot().fill(this->slot_of(p.home, hole), pair);
    });
    std::uint32_t const count = count_in(before, p.key_class);
    relocator().unlock(t, p, recount(before, p.key_class, count + 1) | (far ? 0 : slot_bit(hole)));
    return {outcome_step::decide(outcome::inserted), no_slot};
  }

  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION void merge(Tile const& t, path const& p, located const& at,
                             mapped_type const& value, Combine const& combine) const {
    if constexpr (!std::is_same_v<Combine, keep_stored>)
      t.once([&] {
        mapped_type const merged = combine(layout::value_of(at.pair), value);
        slot().assign(this->slot_of(p.home, at.slot),
                      layout::pack(layout::key_of(at.pair), layout::bits_of(merged)));
      });
  }

  /// Removes the pair unless it is gone from its slot. Returns whether it did. Requires the lock,
  /// and releases it. Other threads get a far slot after its bit is cleared: none may be missing.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool try_remove(Tile const& t, path const& p, std::uint64_t before,
                                  located const& at) const {
    word* const from = this->slot_of(p.home, at.slot);
    bool const removed =
        t.once([&] { return slot().reserve_full(from, at.pair, this->line_of(p.home, at.slot)); });
    std::uint64_t changes = 0;
    if (removed) {
      std::uint32_t const count = count_in(before, p.key_class);
      std::uint32_t const left = count < saturated_count ? count - 1 : count_keys(t, p, before);
      changes = slot_bit(at.slot) | recount(before, p.key_class, left);
    }
    relocator().unlock(t, p, changes);
    if (removed) relocator().release_slot(t, p.home, at.slot);
    return removed;
  }

  /// Returns the number of keys of this home and class. Requires their lock.
  template <device::tile Tile>
  KOKKOS_FUNCTION std::uint32_t count_keys(Tile const& t, path const& p,
                                           std::uint64_t before) const {
    auto const mine = [&](word w) {
      if (!slot().live(w)) return false;
      path const other = this->path_of(w);
      return other.home == p.home && other.key_class == p.key_class;
    };
    auto n = static_cast<std::uint32_t>(this->load_line(t, p.home).template match<1>(mine).count());
    for (lane_mask<neighbourhood_slots> far(far_slots(before)); far; far = far.without_first())
      n += mine(t.once([&] { return device::load_relaxed(this->slot_of(p.home, far.first())); }));
    return n;
  }
};

}  // namespace karpos::detail::hopscotch
