// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/tables/hopscotch/hop_word.hpp"
#include "karpos/detail/tables/hopscotch/lines.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/device/tile.hpp"

namespace karpos::detail::hopscotch {

/// The locks of a hopscotch table's keys, and how it frees slots: the phases `find_empty` and
/// `find_closer_empty` of the paper, with relocation by copy, then clear.
template <class Traits>
class relocation {
 public:
  using word = typename Traits::word;
  using layout = typename Traits::layout;
  using path = key_home;

  KOKKOS_FUNCTION explicit relocation(lines<Traits> const& l) : m_lines(l), m_slot(l.slot()) {}

  /// Tries to lock the keys of a home and class. Returns the hop word as it was: with the lock bit
  /// if another thread holds the lock.
  template <device::tile Tile>
  KOKKOS_FUNCTION std::uint64_t try_lock(Tile const& t, path const& p) const {
    return t.once(
        [&] { return device::fetch_or_acquire(m_lines.hop_word(p.home), lock_bit(p.key_class)); });
  }
  /// Toggles the lock bit and other bits of the hop word, after all that the lock's holder wrote.
  template <device::tile Tile>
  KOKKOS_FUNCTION void unlock(Tile const& t, path const& p, std::uint64_t bits = 0) const {
    t.once([&] {
      device::toggle_bits_release(m_lines.hop_word(p.home), lock_bit(p.key_class) | bits);
    });
  }
  template <device::tile Tile>
  KOKKOS_FUNCTION void release_slot(Tile const& t, std::uint64_t home, int slot) const {
    t.once([&] {
      m_slot.release(m_lines.slot_of(home, slot));
      m_lines.mark_line_free(m_lines.geometry().line(home, slot / line_slots));
    });
  }

  /// Reserves an empty slot of a neighbourhood, from its j-th line on. Returns it, or no_slot.
  template <device::tile Tile>
  KOKKOS_FUNCTION int find_empty(Tile const& t, std::uint64_t home, int j) const {
    for (; j < neighbourhood_lines; ++j) {
      std::uint64_t const there = m_lines.geometry().line(home, j);
      auto const all = m_lines.load_line(t, there);
      for (auto holes = all.template match<1>(m_slot.is_empty()); holes;
           holes = holes.without_first()) {
        int const s = slot_in_neighbourhood(j, holes.first() - 1);
        if (s != no_slot &&
            t.once([&] { return m_slot.reserve(m_lines.line(there) + holes.first()); }))
          return s;
      }
    }
    return no_slot;
  }

  /// Reserves a slot of a full neighbourhood, by moving keys to holes of their own neighbourhoods:
  /// one key if that is enough, else the keys in its way as well. Returns the slot, or no_slot.
  /// Sets `disturbed` if another thread reserved or changed a slot that the search came to: then a
  /// later search may find one. Takes what it has searched from `left`.
  template <device::tile Tile>
  KOKKOS_FUNCTION int find_closer_empty(Tile const& t, std::uint64_t home, int& left,
                                        bool& disturbed) const {
    int const most = m_lines.geometry().max_tries();
    int hole = no_slot, tries = most;
    for (int moves = 1; hole == no_slot && moves <= max_moves; ++moves)
      hole = make_hole(t, home, moves, tries, disturbed);
    left -= most - tries + tries_per_search;
    return hole;
  }

 private:
  /// Reserves a slot with exactly `moves` moves. A depth-first search over chains of keys, each of
  /// which lies where the key before it could move to. The last key of the chain moves first.
  template <device::tile Tile>
  KOKKOS_FUNCTION int make_hole(Tile const& t, std::uint64_t home, int moves, int& tries,
                                bool& disturbed) const {
    constexpr std::uint64_t no_home = ~std::uint64_t(0);
    place stack[max_moves + 1];
    std::uint64_t tried[max_moves + 1];
    stack[0] = {home, 0};
    tried[0] = no_home;
    for (int depth = 0; tries > 0 && (depth > 0 || stack[0].slot < neighbourhood_slots);) {
      place& now = stack[depth];
      if (depth == moves) {
        --tries;
        int hole = find_empty(t, now.home, now.slot / line_slots);
        bool const found = hole != no_slot;
        do {
          --depth;
          if (hole != no_slot) hole = swap(t, stack[depth], stack[depth + 1].home, hole);
        } while (hole != no_slot && depth > 0);
        if (hole != no_slot) return hole;
        disturbed |= found;
        ++stack[depth].slot;
      } else if (now.slot >= neighbourhood_slots) {
        ++stack[--depth].slot;
      } else if (place const next = next_place(t, now, disturbed);
                 next.slot != no_slot && next.home != tried[depth]) {
        tried[depth] = next.home;  // what fails for one key of a home fails for the next
        stack[++depth] = next;
        tried[depth] = no_home;
      } else {
        ++now.slot;
      }
    }
    return no_slot;
  }

  /// A slot of a neighbourhood.
  struct place {
    std::uint64_t home;
    int slot;
  };
  /// Returns where the pair in a slot could be moved to: its home, and the first slot of the next
  /// line of its neighbourhood, or no_slot.
  template <device::tile Tile>
  KOKKOS_FUNCTION place next_place(Tile const& t, place const& from, bool& disturbed) const {
    word const pair =
        t.once([&] { return device::load_relaxed(m_lines.slot_of(from.home, from.slot)); });
    if (!m_slot.live(pair)) {
      disturbed = true;
      return {0, no_slot};
    }
    std::uint64_t const home = m_lines.path_of(pair).home;
    if (home == from.home) return {0, no_slot};
    return {home, (line_index(home, from) + 1) * line_slots};
  }
  /// Returns which line of a home's neighbourhood a slot of another neighbourhood lies in.
  KOKKOS_FUNCTION int line_index(std::uint64_t home, place const& at) const {
    return m_lines.geometry().index_of(home,
                                       m_lines.geometry().line(at.home, at.slot / line_slots));
  }

  /// Moves the pair in a slot, if its home is still `home`, to the reserved slot `to`, and keeps
  /// its own slot reserved. Returns this slot; or no_slot, and then `to` is released.
  template <device::tile Tile>
  KOKKOS_FUNCTION int swap(Tile const& t, place const& from, std::uint64_t home, int to) const {
    word const pair =
        t.once([&] { return device::load_relaxed(m_lines.slot_of(from.home, from.slot)); });
    int const here = slot_in_neighbourhood(line_index(home, from), place_in_line(from.slot));
    if (m_slot.live(pair) && m_lines.path_of(pair).home == home &&
        try_move(t, m_lines.path_of(pair), here, to, pair))
      return from.slot;
    release_slot(t, home, to);
    return no_slot;
  }

  /// Copies a pair to a reserved slot, then clears and reserves its own. Returns false if the pair
  /// is gone or its class is locked. The pair is always in at least one slot, and its bits say so.
  template <device::tile Tile>
  KOKKOS_FUNCTION bool try_move(Tile const& t, path const& p, int from, int to, word pair) const {
    std::uint64_t const before = try_lock(t, p);
    if ((before & lock_bit(p.key_class)) != 0) return false;
    bool const there = t.once([&] {
      word* const source = m_lines.slot_of(p.home, from);
      word const now = device::load_relaxed(source);
      if (layout::key_of(now) != layout::key_of(pair)) return false;
      device::set_bits(m_lines.hop_word(p.home), slot_bit(to) | far_bit(p.key_class));
      m_slot.fill(m_lines.slot_of(p.home, to), now);
      m_slot.vacate(source, m_lines.line_of(p.home, from));
      return true;
    });
    unlock(t, p, there ? slot_bit(from) : 0);
    return there;
  }

  lines<Traits> const& m_lines;
  typename Traits::protocol const& m_slot;
};

}  // namespace karpos::detail::hopscotch
