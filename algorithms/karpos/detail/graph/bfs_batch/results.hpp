// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "karpos/detail/graph/bfs_batch/state.hpp"

// Writes the results of a batch in the user's order: reads the bit planes of each vertex, adds up
// what each search has found, and writes distances. Eight lanes handle a vertex, eight searches
// each; their values are the bytes of a word.

namespace karpos::detail::bfs_batch {

/// Stands for distances if the caller asks for none.
struct no_distances {
  static constexpr bool wanted = false;
};

/// Distances in a view of (source, vertex).
template <class View>
struct distance_rows {
  static constexpr bool wanted = true;
  using value_type = typename View::non_const_value_type;
  /// Whether the distances of a vertex are contiguous.
  static constexpr bool by_vertex = std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>;

  View to;
  std::uint64_t first;  // source of search 0
  int searches;
  bool aligned;  // eight values of a vertex may be written as words of 16 bytes, or one of 8

  /// Returns the rows for searches from the sources first, first + 1, …
  static distance_rows of(View const& to, std::uint64_t first, int searches) {
    auto const bytes = 8 * sizeof(value_type);
    bool const aligned = by_vertex && reinterpret_cast<std::uintptr_t>(to.data()) % 16 == 0 &&
                         to.stride(1) * sizeof(value_type) % (bytes == 8 ? 8 : 16) == 0;
    return {to, first, searches, aligned};
  }
  /// Writes v's distances in eight searches: base + value - 1; if `not_found`, -1 for value 0.
  KARPOS_STEP_FUNCTION void write(std::uint64_t v, int group, word values, std::int32_t base,
                                  bool not_found) const {
    if constexpr (by_vertex)
      if (aligned && not_found && 8 * group + 8 <= searches) {
        write_side_by_side(v, group, values);
        return;
      }
    for (int i = 0; i < 8 && 8 * group + i < searches; ++i) {
      auto const value = static_cast<std::int32_t>(values >> 8 * i & 0xff);
      if (value == 0 && !not_found) continue;
      to(first + static_cast<std::uint64_t>(8 * group + i), v) =
          static_cast<value_type>(value == 0 ? -1 : base + value - 1);
    }
  }

 private:
  /// Writes eight contiguous distances. Requires: base is 0, as in the first part of a pass.
  KARPOS_STEP_FUNCTION void write_side_by_side(std::uint64_t v, int group, word values) const {
    value_type* const at = &to(first + static_cast<std::uint64_t>(8 * group), v);
    if constexpr (sizeof(value_type) == 1) {
      constexpr word high = 0x8080808080808080u, ones = 0x0101010101010101u;
      *reinterpret_cast<word*>(at) = ((values | high) - ones) ^ high;  // no borrow between bytes
    } else {
      struct alignas(16) four {
        value_type value[4];
      };
      for (int half = 0; half < 2; ++half) {
        four x;
        for (int i = 0; i < 4; ++i)
          x.value[i] = static_cast<value_type>(values >> 8 * (4 * half + i) & 0xff) - 1;
        reinterpret_cast<four*>(at)[half] = x;
      }
    }
  }
};

template <class State, class Distances>
struct write_results {
  using execution_space = typename State::execution_space;
  static constexpr int width = 8;  // lanes, and searches of a lane
  static constexpr int threads = 256, teams_at_once = 6;
  static constexpr std::size_t scratch_bytes = 2 * searches_at_once * sizeof(std::uint64_t);
  /// Neighbouring vertices that a tile handles: otherwise CPUs would write to the same cache lines.
  static constexpr std::uint64_t block = device::is_device<execution_space> ? 1 : 256;

  /// CPUs: how many vertices ahead planes are prefetched.
  static constexpr std::uint64_t ahead = 16;

  State s;
  Distances distances;
  local_vertex const* rank;
  /// If false, a pass left to searches one by one writes nothing; these searches write all results.
  bool even_if_one_by_one;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team& team) const {
    if (s.record->state.one_by_one && !even_if_one_by_one) return;
    auto* const sums = reinterpret_cast<std::uint64_t*>(team.scratch());
    for (int i = team.rank(); i < 2 * searches_at_once; i += team.size()) sums[i] = 0;
    team.barrier();
    std::int32_t const base = s.record->state.base;
    auto const t = team.template this_tile<width>();
    counts c(t);
    team.template for_each_tile<width>((s.vertices + block - 1) / block, [&](std::uint64_t b) {
      std::uint64_t const last = Kokkos::min((b + 1) * block, s.vertices);
      for (std::uint64_t v = b * block; v < last; ++v) {
        std::uint64_t const r = rank[v];
        if (v + ahead < last) device::prefetch(s.plane + std::uint64_t(rank[v + ahead]) * planes);
        if constexpr (!device::is_device<execution_space>)
          if (base != 0 && is_unreached(r)) continue;  // nearly all vertices of a deep graph
        auto const values = t.each([&](int lane) { return values_of(r, lane); });
        if constexpr (Distances::wanted)
          t.each([&](int lane) { distances.write(v, lane, values[lane], base, base == 0); });
        if (c.add(t, values)) c.flush(t, sums);
      }
    });
    c.flush(t, sums);
    team.barrier();
    for (int i = team.rank(); i < searches_at_once; i += team.size()) {
      std::uint64_t const found = sums[i];
      if (found == 0) continue;
      device::add(&s.record->visited[i], found);
      device::add(&s.record->distances[i],
                  sums[searches_at_once + i] + found * static_cast<std::uint64_t>(base) - found);
    }
  }

 private:
  static constexpr word ones = 0x0101010101010101u, even = 0x00ff00ff00ff00ffu;

  /// Returns the bits of a byte, each in a byte of its own.
  KARPOS_STEP_FUNCTION static word spread(std::uint32_t byte) {
    word const one_each = byte * ones & word(0x8040201008040201u);
    return (one_each + word(0x7f7f7f7f7f7f7f7fu)) >> 7 & ones;
  }
  /// Returns whether no search has found a vertex, such as one without edges.
  KARPOS_STEP_FUNCTION bool is_unreached(std::uint64_t r) const {
    word any = 0;
    for (unsigned k = 0; k < planes; ++k) any |= s.plane[r * planes + k];
    return any == 0;
  }
  /// Returns the values of searches 8 * lane … 8 * lane + 7.
  KARPOS_STEP_FUNCTION word values_of(std::uint64_t r, int lane) const {
    word values = 0;
    if constexpr (!device::is_device<execution_space>)
      if (is_unreached(r)) return 0;
    for (int k = 0; k < planes; ++k) {
      auto const byte =
          static_cast<std::uint32_t>(s.plane[r * planes + static_cast<unsigned>(k)] >> 8 * lane) &
          0xffu;
      values |= spread(byte) << k;
    }
    return values;
  }

  /// Counts of a tile: for each search, in 16 bits, the vertices found and the sum of their values.
  struct counts {
    using tile = device::tile_for<execution_space, width>;
    using words = typename tile::template varying<word>;
    words found_even, found_odd, sum_even, sum_odd;
    int vertices = 0;

    KOKKOS_FUNCTION explicit counts(tile const& t)
        : found_even(t.each([](int) -> word { return 0; })),
          found_odd(found_even),
          sum_even(found_even),
          sum_odd(found_even) {}
    /// Adds a vertex. Returns: whether the counts must be flushed before they overflow.
    KARPOS_STEP_FUNCTION bool add(tile const& t, words const& values) {
      auto const found = t.each([&](int lane) -> word {
        return (values[lane] | values[lane] >> 1 | values[lane] >> 2 | values[lane] >> 3) & ones;
      });
      auto const plus = [&](words const& to, words const& what, int shift) {
        return t.each([&](int lane) -> word { return to[lane] + (what[lane] >> shift & even); });
      };
      found_even = plus(found_even, found, 0);
      found_odd = plus(found_odd, found, 8);
      sum_even = plus(sum_even, values, 0);
      sum_odd = plus(sum_odd, values, 8);
      return ++vertices == 65535 / last_value;
    }
    KARPOS_RARE_FUNCTION void flush(tile const& t, std::uint64_t* sums) {
      t.each([&](int lane) {
        for (int i = 0; i < 8; ++i) {
          int const shift = i / 2 * 16;
          word const found = (i % 2 == 0 ? found_even[lane] : found_odd[lane]) >> shift & 0xffffu;
          word const sum = (i % 2 == 0 ? sum_even[lane] : sum_odd[lane]) >> shift & 0xffffu;
          if (found == 0) continue;
          device::add(device::scratch(sums + 8 * lane + i), found);
          device::add(device::scratch(sums + searches_at_once + 8 * lane + i), sum);
        }
      });
      *this = counts(t);
    }
  };
};

}  // namespace karpos::detail::bfs_batch
