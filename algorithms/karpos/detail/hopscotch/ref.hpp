// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/detail/hopscotch/hop_word.hpp"
#include "karpos/detail/hopscotch/moves.hpp"
#include "karpos/detail/hopscotch/tuning.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/walk.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

// Concurrent hopscotch hashing: insert, erase and find run at once in one kernel, and memory never fragments.
//
//   line    | hop word | slot | slot | slot | slot | slot | slot | slot |      8 words: 64 bytes, or 128
//
// A key's hash names its home line. The key lies in one of 32 slots: the home line's seven, or the "far" ones of
// four lines more (geometry). An insertion goes through the phases of the paper:
//
//   find                the key is there: done
//   find_empty, update  under the mark of the key's class: a slot of the home line, else a far one
//   find_closer_empty   the neighbourhood is full: move a key that lies here on to a hole of its own neighbourhood (swap)
//
// Keys only move to later lines of their neighbourhood. A reader that reads the home line and then follows the bits
// of the hop word, which it reads again after each miss, is therefore never overtaken for ever; it takes no mark and
// writes nothing. Why it all is linearizable: docs/design/hopscotch.md.
//
// Source: the phases and the copy-then-clear relocation of GLHT; the hop word after Herlihy, Shavit, Tzafrir,
// "Hopscotch hashing", DISC 2008.

namespace karpos::detail::hopscotch {

/// The table as kernels see it; see hopscotch_map_ref for the contract of each operation.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, bool Recheck = true>
class hopscotch_ref : public hopscotch_moves<Key, T, ExecSpace, Hash, KeyEqual, Recheck> {
  using base = hopscotch_moves<Key, T, ExecSpace, Hash, KeyEqual, Recheck>;
  using base::m_slot;

 public:
  using base::base;
  using base::holds;
  using base::hop_word;
  using base::line;
  using base::line_of;
  using base::line_words;
  using base::path_of;
  using base::reserved;
  using base::slot_of;
  using base::start;
  using typename base::layout;
  using typename base::located;
  using typename base::path;
  using typename base::protocol;
  using typename base::word;

  /// In kernels that write: see launch.hpp.
  static constexpr unsigned threads_at_once = tuning<ExecSpace>::threads_at_once;

  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION outcome upsert(Tile const& t, Key const& key, T const& value,
                                 Combine const& combine) const {
    KARPOS_EXPECTS(!reserved(key), "a key equal to a sentinel cannot be inserted");
    outcome result = outcome::full;
    upsert_along<walk::to_the_end>(t, start(key), holds(key), protocol::item(key, value), value,
                                   combine, result);
    return result;
  }
  template <device::access Access, device::tile Tile, class Query>
  KOKKOS_FUNCTION found<T> find(Tile const& t, Query const& query) const {
    found<T> result;
    find_along<walk::to_the_end, Access>(t, start(query), holds(query), result);
    return result;
  }
  template <device::tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    bool erased = false;
    erase_along<walk::to_the_end>(t, start(query), holds(query), erased);
    return erased;
  }

  // The same for a path that the caller keeps. They return whether the result is decided: always.

  template <walk Walk, device::access Access, device::tile Tile, class Holds>
  KOKKOS_FUNCTION bool find_along(Tile const& t, path const& p, Holds const& holds_query,
                                  found<T>& result) const {
    located const at = this->template look<Access>(t, p, holds_query);
    bool const present = static_cast<bool>(at);
    result = {present, select(present, layout::value_of(at.pair), T{})};
    return true;
  }

  template <walk Walk, device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION bool upsert_along(Tile const& t, path const& p, Holds const& holds_key, word pair,
                                    T const& value, Combine const& combine, outcome& result) const {
    located at;
    map_outcome const what = operate(t, p, holds_key, map_op::insert, pair, value, combine, at);
    result = what == map_outcome::inserted   ? outcome::inserted
             : what == map_outcome::existing ? outcome::existing
                                             : outcome::full;
    return true;
  }
  template <walk Walk, device::tile Tile, class Holds>
  KOKKOS_FUNCTION bool erase_along(Tile const& t, path const& p, Holds const& holds_query,
                                   bool& erased) const {
    located at;
    erased =
        operate(t, p, holds_query, map_op::erase, {}, {}, keep_stored{}, at) == map_outcome::erased;
    return true;
  }
  /// An operation of any kind.
  template <device::tile Tile, class Holds>
  KOKKOS_FUNCTION map_outcome apply_along(Tile const& t, path const& p, Holds const& holds_key,
                                          map_op op, word pair, T& found_value) const {
    located at;
    map_outcome const what = operate(t, p, holds_key, op, pair, {}, keep_stored{}, at);
    if (what == map_outcome::found) found_value = layout::value_of(at.pair);
    return what;
  }

 private:
  using base::find_closer_empty;
  using base::find_empty;
  using base::give_back;
  using base::give_mark_back;
  using base::take_mark;

  /// Every operation in one piece: the lanes of a warp that do different things go the same way as far as it is the
  /// same. (H200, 30 K keys, 20/20/60: 11.8 G/s; a piece of code for each kind: 9.9.)
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION map_outcome operate(Tile const& t, path const& p, Holds const& holds_key,
                                      map_op op, word pair, T const& value, Combine const& combine,
                                      located& at) const {
    constexpr bool merges = !std::is_same_v<Combine, keep_stored>;
    for (device::back_off pause;; pause.wait()) {
      if constexpr (!merges) {
        at = this->template look<device::access::shared>(t, p, holds_key);
        if (op == map_op::find) return at ? map_outcome::found : map_outcome::absent;
        if (static_cast<bool>(at) == (op == map_op::insert))
          return at ? map_outcome::existing : map_outcome::absent;
      }
      std::uint64_t const before = take_mark(t, p);
      if ((before & lock_bit(p.key_class)) != 0) continue;
      if (change_at_home(t, p, before, op, pair, at))
        return op == map_op::erase ? map_outcome::erased : map_outcome::inserted;
      if (op == map_op::insert) {
        map_outcome const what = insert_at_home(t, p, before, holds_key, pair, value, combine);
        return what != map_outcome::full ? what
                                         : insert_anywhere(t, p, holds_key, pair, value, combine);
      }
      if (take_out(t, p, before, at)) return map_outcome::erased;
    }
  }

  /// The usual case, with the mark, which it gives back if this is one: one slot of the home line changes. An insertion
  /// of the first key of its class need not read the line: the hop word tells which slots do not hold keys of this
  /// home, and the first of them is empty more often than not.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool change_at_home(Tile const& t, path const& p, std::uint64_t before, map_op op,
                                      word pair, located const& at) const {
    std::uint32_t const count = count_in(before, p.key_class);
    lane_mask<line_slots> const others(~home_slots(before) & lane_mask<line_slots>::all);
    bool const erases = op == map_op::erase;
    if (erases ? at.slot >= line_slots || count == saturated_count : count != 0 || !others)
      return false;
    int const s = erases ? at.slot : others.first();
    word const from = erases ? at.pair : m_slot.empty_slot(),
               to = erases ? m_slot.empty_slot() : pair;
    word* const home = line(p.home);
    if (!t.once([&] { return m_slot.replace(home + 1 + s, from, to, home); })) return false;
    give_mark_back(t, p,
                   slot_bit(s) | recount(before, p.key_class, erases ? count - 1 : count + 1));
    return true;
  }

  /// With the mark, which it gives back: merges into the stored pair or puts the pair into a slot, and all this in the
  /// home line. Returns `full` when that is not enough.
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION map_outcome insert_at_home(Tile const& t, path const& p, std::uint64_t before,
                                             Holds const& holds_key, word pair, T const& value,
                                             Combine const& combine) const {
    std::uint32_t const count = count_in(before, p.key_class);
    auto const all = this->load_line(t, p.home);
    if (count > 0) {
      if (auto const hit = all.template match<1>(holds_key)) {
        merge(t, p, {hit.first() - 1, all.get(hit.first())}, value, combine);
        give_mark_back(t, p);
        return map_outcome::existing;
      }
    }
    if ((before & far_bit(p.key_class)) == 0) {
      for (auto holes = all.template match<1>(m_slot.is_empty()); holes;
           holes = holes.without_first()) {
        int const s = holes.first() - 1;
        if (!t.once([&] { return m_slot.take(line(p.home) + 1 + s, pair); })) continue;
        give_mark_back(t, p, slot_bit(s) | recount(before, p.key_class, count + 1));
        return map_outcome::inserted;
      }
    }
    give_mark_back(t, p);
    return map_outcome::full;
  }

  /// The rest: a key that may lie far, or a home line without an empty slot.
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION map_outcome insert_anywhere(Tile const& t, path const& p, Holds const& holds_key,
                                              word pair, T const& value,
                                              Combine const& combine) const {
    map_outcome result = map_outcome::full;
    int hole = no_slot;  // a slot of the neighbourhood that this insertion has made its own
    device::back_off pause;
    for (bool decided = false; !decided;) {
      std::uint64_t const before = take_mark(t, p);
      if ((before & lock_bit(p.key_class)) != 0) {
        pause.wait();
        continue;
      }
      decided = update(t, p, before, holds_key, pair, value, combine, hole, result);
      if (!decided) {
        hole = find_closer_empty(t, p.home);
        decided = hole == no_slot;  // the result stays `full`
      }
    }
    if (hole != no_slot) give_back(t, p.home, hole);
    return result;
  }

  /// With the mark, which it gives back: merges into the stored pair, or puts the pair into the hole or, where there
  /// is none, into any empty slot of the neighbourhood. Returns: whether one of them could be done.
  template <device::tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION bool update(Tile const& t, path const& p, std::uint64_t before,
                              Holds const& holds_key, word pair, T const& value,
                              Combine const& combine, int& hole, map_outcome& result) const {
    if (located const at = this->look_marked(t, p, before, holds_key)) {
      merge(t, p, at, value, combine);
      give_mark_back(t, p);
      result = map_outcome::existing;
      return true;
    }
    if (hole == no_slot) hole = find_empty(t, p.home, 0);
    if (hole == no_slot) {
      give_mark_back(t, p);
      return false;
    }
    bool const far = hole >= line_slots;
    t.once([&] {
      if (far) device::set_bits(hop_word(p.home), slot_bit(hole) | far_bit(p.key_class));
      m_slot.fill(slot_of(p.home, hole), pair);
      return true;
    });
    std::uint32_t const count = count_in(before, p.key_class);
    give_mark_back(t, p, recount(before, p.key_class, count + 1) | (far ? 0 : slot_bit(hole)));
    hole = no_slot;
    result = map_outcome::inserted;
    return true;
  }

  template <device::tile Tile, class Combine>
  KOKKOS_FUNCTION void merge(Tile const& t, path const& p, located const& at, T const& value,
                             Combine const& combine) const {
    if constexpr (!std::is_same_v<Combine, keep_stored>)
      t.once([&] {
        T const merged = combine(layout::value_of(at.pair), value);
        m_slot.assign(slot_of(p.home, at.slot),
                      layout::pack(layout::key_of(at.pair), layout::bits_of(merged)));
        return true;
      });
  }

  /// With the mark, which it gives back: removes the pair unless it is gone from its slot. A far slot is not given to
  /// others before its bit is cleared: of far slots, no bit may be missing.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool take_out(Tile const& t, path const& p, std::uint64_t before,
                                located const& at) const {
    word* const slot = slot_of(p.home, at.slot);
    bool const out =
        t.once([&] { return m_slot.reserve_full(slot, at.pair, line_of(p.home, at.slot)); });
    std::uint64_t changes = 0;
    if (out) {
      std::uint32_t const count = count_in(before, p.key_class);
      std::uint32_t const left = count < saturated_count ? count - 1 : count_keys(t, p, before);
      changes = slot_bit(at.slot) | recount(before, p.key_class, left);
    }
    give_mark_back(t, p, changes);
    if (out) give_back(t, p.home, at.slot);
    return out;
  }

  /// Keys of this home and class, with their mark.
  template <device::tile Tile>
  KOKKOS_FUNCTION std::uint32_t count_keys(Tile const& t, path const& p,
                                           std::uint64_t before) const {
    auto const mine = [&](word w) {
      if (!m_slot.live(w)) return false;
      path const other = path_of(w);
      return other.home == p.home && other.key_class == p.key_class;
    };
    auto n = static_cast<std::uint32_t>(this->load_line(t, p.home).template match<1>(mine).count());
    for (lane_mask<neighbourhood_slots> far(far_slots(before)); far; far = far.without_first())
      n += mine(t.once([&] { return device::load_relaxed(slot_of(p.home, far.first())); }));
    return n;
  }
};

}  // namespace karpos::detail::hopscotch
