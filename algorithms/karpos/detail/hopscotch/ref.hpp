// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/backend/memory.hpp"
#include "karpos/backend/tile.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/hopscotch/hop_word.hpp"
#include "karpos/detail/hopscotch/lines.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/walk.hpp"
#include "karpos/outcome.hpp"

// Concurrent hopscotch hashing: insert, erase and find run at once in one kernel, and memory never fragments.
//
//   line    | hop word | slot | slot | slot | slot | slot | slot | slot |      8 words: 64 bytes, or 128
//
// A key's hash names its home line. The key lies in one of 32 slots: the home line's seven, or the "far" ones of
// four lines more (hop::geometry). An insertion goes through the phases of the paper:
//
//   find                the key is there: done
//   find_empty, update  under the mark of the key's class: a slot of the home line, else a far one
//   find_closer_empty   the neighbourhood is full: move a far key on to a hole of its own neighbourhood (swap)
//
// Keys only move to later lines of their neighbourhood. A reader that reads the home line and then follows the bits
// of the hop word, which it reads again after each miss, is therefore never overtaken for ever; it takes no mark and
// writes nothing. Why it all is linearizable: docs/design/hopscotch.md.
//
// Source: the phases and the copy-then-clear relocation of GLHT; the hop word after Herlihy, Shavit, Tzafrir,
// "Hopscotch hashing", DISC 2008.

namespace karpos::detail {

/// The table as kernels see it; see hopscotch_map_ref for the contract of each operation.
template <class Key, class T, class ExecSpace, class Hash, class KeyEqual, bool Recheck = true>
class hopscotch_ref : public hopscotch_lines<Key, T, ExecSpace, Hash, KeyEqual, Recheck> {
  using base = hopscotch_lines<Key, T, ExecSpace, Hash, KeyEqual, Recheck>;
  using base::m_geometry;
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

  template <tile Tile, class Combine>
  KOKKOS_FUNCTION outcome upsert(Tile const& t, Key const& key, T const& value,
                                 Combine const& combine) const {
    KARPOS_EXPECTS(!reserved(key), "a key equal to a sentinel cannot be inserted");
    outcome result = outcome::full;
    upsert_along<walk::to_the_end>(t, start(key), holds(key), protocol::item(key, value), value,
                                   combine, result);
    return result;
  }
  template <access Access, tile Tile, class Query>
  KOKKOS_FUNCTION found<T> find(Tile const& t, Query const& query) const {
    found<T> result;
    find_along<walk::to_the_end, Access>(t, start(query), holds(query), result);
    return result;
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    bool erased = false;
    erase_along<walk::to_the_end>(t, start(query), holds(query), erased);
    return erased;
  }

  // The same for a path that the caller keeps. They return whether the result is decided: always.

  template <walk Walk, access Access, tile Tile, class Holds>
  KOKKOS_FUNCTION bool find_along(Tile const& t, path const& p, Holds const& holds_query,
                                  found<T>& result) const {
    located const at = this->template look<Access>(t, p, holds_query);
    if (at) result = {true, layout::value_of(at.pair)};
    return true;
  }

  template <walk Walk, tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION bool upsert_along(Tile const& t, path const& p, Holds const& holds_key, word pair,
                                    T const& value, Combine const& combine, outcome& result) const {
    int hole = hop::none;  // a slot of the neighbourhood that this insertion has made its own
    back_off pause;
    for (bool decided = false; !decided;) {
      if (std::is_same_v<Combine, keep_stored> &&
          this->template look<access::shared>(t, p, holds_key)) {
        result = outcome::existing;
        break;
      }
      std::uint64_t const before = take_mark(t, p);
      if ((before & hop::mark(p.key_class)) != 0) {
        pause.wait();
        continue;
      }
      decided = update(t, p, before, holds_key, pair, value, combine, hole, result);
      if (!decided) {
        hole = find_closer_empty(*this, t, p.home);
        decided = hole == hop::none;  // the result stays `full`
      }
    }
    if (hole != hop::none) give_back(t, p.home, hole);
    return true;
  }

  template <walk Walk, tile Tile, class Holds>
  KOKKOS_FUNCTION bool erase_along(Tile const& t, path const& p, Holds const& holds_query,
                                   bool& erased) const {
    back_off pause;
    while (located const at = this->template look<access::shared>(t, p, holds_query)) {
      std::uint64_t const before = take_mark(t, p);
      if ((before & hop::mark(p.key_class)) != 0) {
        pause.wait();
        continue;
      }
      erased = take_out(t, p, before, at);
      if (erased) break;
    }
    return true;
  }

 private:
  /// Returns the hop word as it was: with the mark if another has it.
  template <tile Tile>
  KOKKOS_FUNCTION std::uint64_t take_mark(Tile const& t, path const& p) const {
    return t.once([&] { return fetch_or_acquire(hop_word(p.home), hop::mark(p.key_class)); });
  }
  /// Toggles bits of the hop word, the mark among them, after everything that was written under the mark.
  template <tile Tile>
  KOKKOS_FUNCTION void give_mark_back(Tile const& t, path const& p, std::uint64_t bits = 0) const {
    t.once([&] {
      toggle_bits_release(hop_word(p.home), hop::mark(p.key_class) | bits);
      return true;
    });
  }
  template <tile Tile>
  KOKKOS_FUNCTION void give_back(Tile const& t, std::uint64_t home, int slot) const {
    t.once([&] {
      m_slot.release(slot_of(home, slot));
      return true;
    });
  }

  /// With the mark, which it gives back: merges into the stored pair, or puts the pair into the hole, a slot of the
  /// home line or a far slot. Returns: whether one of them could be done.
  template <tile Tile, class Holds, class Combine>
  KOKKOS_FUNCTION bool update(Tile const& t, path const& p, std::uint64_t before,
                              Holds const& holds_key, word pair, T const& value,
                              Combine const& combine, int& hole, outcome& result) const {
    std::uint32_t const count = hop::count(before, p.key_class);
    std::uint64_t const more = hop::recount(before, p.key_class, count + 1);
    int s = hop::none;
    if (count > 0) {
      auto const all = this->load_line(t, p.home);
      if (located const at = this->look_marked(t, p, before, all, holds_key)) {
        merge(t, p, at, value, combine);
        give_mark_back(t, p);
        result = outcome::existing;
        return true;
      }
      if (hole == hop::none) s = take_empty(t, p.home, all, pair);
    } else if (hole == hop::none) {
      s = take_home_slot(t, p.home, before, pair);
    }
    if (s != hop::none) {
      give_mark_back(t, p, more | hop::slot_bit(s));
      result = outcome::inserted;
      return true;
    }
    if (hole == hop::none) hole = find_empty(*this, t, p.home, 1);
    if (hole == hop::none) {
      give_mark_back(t, p);
      return false;
    }
    bool const far = hole >= hop::line_slots;
    t.once([&] {
      if (far) set_bits(hop_word(p.home), hop::slot_bit(hole) | hop::far(p.key_class));
      m_slot.fill(slot_of(p.home, hole), pair);
      return true;
    });
    give_mark_back(t, p, more | (far ? 0 : hop::slot_bit(hole)));
    hole = hop::none;
    result = outcome::inserted;
    return true;
  }

  template <tile Tile, class Combine>
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

  /// Puts the pair into an empty slot of the home line. The hop word tells which of its slots do not hold keys of
  /// this home: the first of them is tried before the line is read, for it is empty more often than not.
  template <tile Tile>
  KOKKOS_FUNCTION int take_home_slot(Tile const& t, std::uint64_t home, std::uint64_t before,
                                     word pair) const {
    lane_mask<hop::line_slots> const guess(~hop::home_slots(before) &
                                           lane_mask<hop::line_slots>::all);
    if (guess && take(t, home, guess.first(), pair)) return guess.first();
    return take_empty(t, home, this->load_line(t, home), pair);
  }
  template <tile Tile, class Window>
  KOKKOS_FUNCTION int take_empty(Tile const& t, std::uint64_t home, Window const& all,
                                 word pair) const {
    for (auto holes = all.template match<1>(m_slot.is_empty()); holes;
         holes = holes.without_first())
      if (take(t, home, holes.first() - 1, pair)) return holes.first() - 1;
    return hop::none;
  }
  template <tile Tile>
  KOKKOS_FUNCTION bool take(Tile const& t, std::uint64_t home, int s, word pair) const {
    return t.once([&] { return m_slot.take(line(home) + 1 + s, pair); });
  }

  /// Makes an empty slot of a neighbourhood, from its j-th line on, this tile's own.
  template <tile Tile>
  KARPOS_COLD_FUNCTION static int find_empty(hopscotch_ref const self, Tile const t,
                                             std::uint64_t home, int j) {
    for (; j < hop::lines; ++j) {
      word* const there = self.line(self.m_geometry.line(home, j));
      auto const all = self.load_line(t, self.m_geometry.line(home, j));
      for (auto holes = all.template match<1>(self.m_slot.is_empty()); holes;
           holes = holes.without_first()) {
        int const s = hop::slot_at(j, holes.first() - 1);
        if (s != hop::none && t.once([&] { return self.m_slot.reserve(there + holes.first()); }))
          return s;
      }
    }
    return hop::none;
  }

  /// With the mark, which it gives back: removes the pair unless it is gone from its slot. A far slot is not given
  /// to others before its bit is cleared: of far slots, no bit may be missing.
  template <tile Tile>
  KOKKOS_FUNCTION bool take_out(Tile const& t, path const& p, std::uint64_t before,
                                located const& at) const {
    word* const slot = slot_of(p.home, at.slot);
    word* const there = line_of(p.home, at.slot);
    bool const far = at.slot >= hop::line_slots;
    if (!t.once([&] {
          return far ? m_slot.reserve_full(slot, at.pair, there)
                     : m_slot.remove(slot, at.pair, there);
        })) {
      give_mark_back(t, p);
      return false;
    }
    std::uint32_t const count = hop::count(before, p.key_class);
    std::uint32_t const left = count < hop::many ? count - 1 : count_keys(*this, t, p, before);
    give_mark_back(t, p, hop::slot_bit(at.slot) | hop::recount(before, p.key_class, left));
    if (far) give_back(t, p.home, at.slot);
    return true;
  }

  /// Keys of this home and class, with their mark.
  template <tile Tile>
  KARPOS_COLD_FUNCTION static std::uint32_t count_keys(hopscotch_ref const self, Tile const t,
                                                       path p, std::uint64_t before) {
    auto const mine = [&](word w) {
      if (!self.m_slot.live(w)) return false;
      path const other = self.path_of(w);
      return other.home == p.home && other.key_class == p.key_class;
    };
    auto const all = self.load_line(t, p.home);
    auto n = static_cast<std::uint32_t>(all.template match<1>(mine).count());
    for (lane_mask<hop::reach> far(hop::far_slots(before)); far; far = far.without_first())
      n += mine(t.once([&] { return load_relaxed(self.slot_of(p.home, far.first())); }));
    return n;
  }

  /// Makes a slot of a full neighbourhood this tile's own, by moving keys on to holes in their neighbourhoods: one
  /// key if that does it, else the keys in their way as well. Returns: the slot, or none.
  template <tile Tile>
  KARPOS_COLD_FUNCTION static int find_closer_empty(hopscotch_ref const self, Tile const t,
                                                    std::uint64_t home) {
    int hole = find_empty(self, t, home, 0);
    if (hole == hop::none) hole = make_hole<1>(self, t, home, 0);
    if (hole == hop::none) hole = make_hole<2>(self, t, home, 0);
    if (hole == hop::none) hole = make_hole<3>(self, t, home, 0);
    return hole;
  }

  /// Makes a slot of a neighbourhood, from its j-th line on, this tile's own, by Depth moves at most.
  template <int Depth, tile Tile>
  KARPOS_COLD_FUNCTION static int make_hole(hopscotch_ref const self, Tile const t,
                                            std::uint64_t home, int j) {
    for (; j < hop::lines; ++j)
      for (int place = 0; place < hop::line_slots; ++place) {
        int const s = hop::slot_at(j, place);
        if (s != hop::none && self.template swap<Depth>(t, home, s)) return s;
      }
    return hop::none;
  }

  /// Moves the pair in a slot to a later line of its neighbourhood, and keeps its slot.
  template <int Depth, tile Tile>
  KOKKOS_FUNCTION bool swap(Tile const& t, std::uint64_t home, int s) const {
    word const pair = t.once([&] { return load_relaxed(slot_of(home, s)); });
    if (!m_slot.live(pair)) return false;
    path const p = path_of(pair);
    if (p.home == home) return false;
    int const j = m_geometry.index_of(p.home, m_geometry.line(home, s / hop::line_slots));
    int to = hop::none;
    if constexpr (Depth == 1)
      to = find_empty(*this, t, p.home, j + 1);
    else
      to = make_hole<Depth - 1>(*this, t, p.home, j + 1);
    if (to == hop::none) return false;
    if (move(t, p, hop::slot_at(j, hop::place_of(s)), to, pair)) return true;
    give_back(t, p.home, to);
    return false;
  }

  /// Copies a pair to a slot of this tile's own, then clears and keeps its slot, unless it is gone from there or its
  /// class is marked. The pair is in one place at least at every instant, and its bits say so.
  template <tile Tile>
  KOKKOS_FUNCTION bool move(Tile const& t, path const& p, int from, int to, word pair) const {
    std::uint64_t const before = take_mark(t, p);
    if ((before & hop::mark(p.key_class)) != 0) return false;
    bool const there = t.once([&] {
      word* const source = slot_of(p.home, from);
      word const now = load_relaxed(source);
      if (layout::key_of(now) != layout::key_of(pair)) return false;
      set_bits(hop_word(p.home), hop::slot_bit(to) | hop::far(p.key_class));
      m_slot.fill(slot_of(p.home, to), now);
      m_slot.vacate(source, line_of(p.home, from));
      return true;
    });
    give_mark_back(t, p, there ? hop::slot_bit(from) : 0);
    return there;
  }
};

}  // namespace karpos::detail
