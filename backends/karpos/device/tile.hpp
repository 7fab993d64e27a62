// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "karpos/device/native/step_function.hpp"
#include "karpos/lane_mask.hpp"

// Tiles are the interface between algorithms and machines: docs/design/tile.md, with a worked
// example. A tile is a cooperative group: threads of a GPU's warp, or a loop in one thread.

namespace karpos::device {

/// W lanes that run the same code with the same values, except inside callables: f(lane) gets its
/// lane in [0, W), and may differ. Masks, and what `get` returns, are the same on every lane.
///
/// A word that other threads may change is read through `once`, or `each` and `get`, never
/// directly: lanes that read different values would diverge, and hang at the next collective.
template <class T>
concept tile = requires(T const t, bool (*p)(int), int (*f)(int), int (*g)(), void (*a)(),
                        void (*h)(int), lane_mask<T::width> m) {
  requires std::has_single_bit(static_cast<unsigned>(T::width));
  { t.ballot(p) } -> std::same_as<lane_mask<T::width>>;              // bit l = p(l)
  { t.each(f) } -> std::same_as<typename T::template varying<int>>;  // one value per lane
  { t.each(h) } -> std::same_as<void>;
  { t.get(t.each(f), 0) } -> std::same_as<int>;  // lane i's value, on every lane
  {
    t.gather(t.each(f), f)
  } -> std::same_as<typename T::template varying<int>>;           // lane f(l)'s, on lane l
  { t.once(g) } -> std::same_as<int>;                             // one lane runs g, all receive
  { t.once(a) } -> std::same_as<void>;                            // one lane runs a, all wait
  { t.on(m, h) };                                                 // h(l) for the lanes l in m
  { t.prefix_sum(t.each(f)).total } -> std::convertible_to<int>;  // sums over the lanes before each
  // Waits for all lanes; each then sees what the others wrote before.
  { t.sync() };
};

/// The type of a first argument that should have been a tile.
template <class T>
concept not_a_tile = !tile<T>;

/// Fails to compile, with an explanation, because a call's first argument is no tile.
template <not_a_tile T>
KOKKOS_FUNCTION constexpr void refuse_without_tile() {
  static_assert(tile<T>,
                "karpos: a call with these arguments takes a tile first, then the key; a tile "
                "has 1, 2, 4, 8, 16 or 32 lanes (karpos/device/tile.hpp)");
}

/// The result of a tile's prefix_sum: for every lane the sum over the lanes below it, and the sum
/// over all lanes.
template <class Varying, class V>
struct prefix_sums {
  Varying before;
  V total;
};

/// The portable tile: W lanes as a loop in one thread, on any backend. Tests compare the tuned
/// tiles with it. With W = 1 it is a plain thread, so that no algorithm has a second, scalar
/// version.
template <int W>
struct reference_tile {
  static constexpr int width = W;
  using word = typename lane_mask<W>::word;

  template <class V>
  struct varying {
    V lanes[W];
    KOKKOS_FUNCTION constexpr V const& operator[](int lane) const { return lanes[lane]; }
  };

  template <class P>
  KARPOS_STEP_FUNCTION constexpr lane_mask<W> ballot(P const& p) const {
    word bits = 0;
    for (int lane = 0; lane < W; ++lane)
      KARPOS_INLINE_CALLS bits =
          static_cast<word>(bits | (static_cast<word>(static_cast<bool>(p(lane))) << lane));
    return lane_mask<W>(bits);
  }
  template <class F>
  KARPOS_STEP_FUNCTION constexpr auto each(F const& f) const {
    if constexpr (std::is_void_v<decltype(f(0))>) {
      for (int lane = 0; lane < W; ++lane) KARPOS_INLINE_CALLS f(lane);
    } else {
      varying<std::decay_t<decltype(f(0))>> r{};
      for (int lane = 0; lane < W; ++lane) KARPOS_INLINE_CALLS r.lanes[lane] = f(lane);
      return r;
    }
  }
  template <class V>
  KOKKOS_FUNCTION constexpr V get(varying<V> const& v, int lane) const {
    return v.lanes[lane];
  }
  template <class V, class From>
  KARPOS_STEP_FUNCTION constexpr varying<V> gather(varying<V> const& v, From const& from) const {
    return each([&](int lane) { return v.lanes[from(lane)]; });
  }
  template <class F>
  KARPOS_STEP_FUNCTION constexpr auto once(F const& f) const {
    return f();
  }
  template <class F>
  KARPOS_STEP_FUNCTION constexpr void on(lane_mask<W> m, F const& f) const {
    for (; m; m = m.without_first()) KARPOS_INLINE_CALLS f(m.first());
  }
  template <class V>
  KARPOS_STEP_FUNCTION constexpr prefix_sums<varying<V>, V> prefix_sum(varying<V> const& v) const {
    prefix_sums<varying<V>, V> r{};
    for (int lane = 0; lane < W; ++lane) {
      r.before.lanes[lane] = r.total;
      r.total += v.lanes[lane];
    }
    return r;
  }
  KOKKOS_FUNCTION constexpr void sync() const {}
};

/// A plain thread.
using thread_tile = reference_tile<1>;

/// B slots that a tile of any width reads at once and matches to a mask. B is fixed by the table's
/// layout, W by the machine, so tiles of any width read the same table. Lane i % W holds slot i. If
/// a tile is wider than the window, its other lanes hold nothing.
///
/// Requires: the tile outlives the window, which keeps its address.
template <tile Tile, class Slot, int B>
class window {
 public:
  static constexpr int width = Tile::width;
  static_assert(B % width == 0 || width % B == 0,
                "karpos: the number of slots of a window divides the width of the tile that reads "
                "it, or is a multiple of that width");
  static constexpr int rounds = (B + width - 1) / width;

  /// Reads slot i with load(i), lane by lane.
  template <class Load>
    requires std::invocable<Load const&, int>
  KOKKOS_FUNCTION window(Tile const& tile, Load const& load) : m_tile(&tile) {
    for (int r = 0; r < rounds; ++r)
      m_slots[r] = tile.each([&](int lane) -> Slot {
        int const i = r * width + lane;
        return i < B ? load(i) : Slot{};
      });
  }

  /// Takes slots that one lane has read already: backends tune that read (`load_window` in
  /// atomics.hpp).
  KOKKOS_FUNCTION window(Tile const& tile, Slot const (&slots)[B])
    requires(Tile::width == 1)
      : m_tile(&tile) {
    for (int i = 0; i < B; ++i) m_slots[i] = {slots[i]};
  }

  /// Returns the slots from First on for which p(slot) holds. p runs once for each slot and must
  /// not communicate between lanes.
  template <int First = 0, class P>
  KOKKOS_FUNCTION lane_mask<B> match(P const& p) const {
    std::uint64_t bits = 0;
    for (int r = 0; r < rounds; ++r) {
      auto const m = m_tile->ballot([&](int lane) {
        return (width <= B || lane < B) && r * width + lane >= First && p(m_slots[r][lane]);
      });
      bits |= static_cast<std::uint64_t>(m.bits()) << (r * width);
    }
    return lane_mask<B>(static_cast<typename lane_mask<B>::word>(bits));
  }
  /// Returns whether p(slot) holds for any slot.
  template <class P>
  KOKKOS_FUNCTION bool any(P const& p) const {
    bool present = false;
    if constexpr (Tile::width == 1)
      for (int i = 0; i < B; ++i) present = present | p(m_slots[i][0]);
    else
      present = static_cast<bool>(match(p));
    return present;
  }
  /// Sets `slot` on every lane to the slot for which p(slot) holds, if there is one. Returns:
  /// whether there is one. Requires: p holds for one slot at most.
  template <class P>
  KOKKOS_FUNCTION bool only(P const& p, Slot& slot) const {
    bool present = false;
    if constexpr (Tile::width == 1) {
      // A GPU thread would spend more on a mask than on selecting slot by slot.
      present = select(p, slot, each_round{});
    } else {
      auto const m = match(p);
      present = static_cast<bool>(m);
      if (present) slot = get(m.first());
    }
    return present;
  }
  /// Returns slot i, on every lane.
  KOKKOS_FUNCTION Slot get(int i) const {
    Slot slot{};
    if constexpr (Tile::width == 1) {
      slot = pick(i, each_round{})[0];
    } else {
      slot = m_tile->get(pick(i / Tile::width, each_round{}), i % Tile::width);
    }
    return slot;
  }

 private:
  using round = typename Tile::template varying<Slot>;
  using each_round = std::make_integer_sequence<int, rounds>;

  // Unrolled by fold expressions: a run-time index would move registers of a GPU thread to local
  // memory.
  template <class P, int... R>
  KOKKOS_FUNCTION bool select(P const& p, Slot& slot, std::integer_sequence<int, R...>) const {
    bool present = false;
    ((p(m_slots[R][0]) ? (slot = m_slots[R][0], present = true) : false), ...);
    return present;
  }
  template <int... R>
  KOKKOS_FUNCTION round pick(int r, std::integer_sequence<int, R...>) const {
    round chosen = m_slots[0];
    ((chosen = R == r ? m_slots[R] : chosen), ...);
    return chosen;
  }

  Tile const* m_tile;
  round m_slots[rounds];
};

}  // namespace karpos::device
