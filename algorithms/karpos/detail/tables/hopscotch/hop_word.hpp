// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <numeric>

#include "karpos/hash.hpp"

// The word at the head of every line of slots, and the 32 slots in which the keys of a line may
// lie, the neighbourhood.
//
//   bit 63            ...            32 31             7 6       0
//      | class 7 | ... | class 1 | class 0 |  far slots  | home slots |
//                                  |
//                      | count : 2 | far | lock |
//
//   slots   a bit for each slot of the neighbourhood, set if it holds a key of this home
//   class   a nibble for each class of keys (3 bits of the hash):
//   lock    a spin lock, held by the thread that changes keys of this class; readers ignore it
//   far     a key of this class lies, or lay since the count was last zero, in a far slot
//   count   keys of this class: 0, 1, 2, or 3 for three and more
//
// While a key is stored, the lock or the count of its class is not zero: so a word that a reader
// saw with an empty nibble ends its search. docs/design/hopscotch.md has the argument.

namespace karpos::detail::hopscotch {

inline constexpr int neighbourhood_slots = 32;  ///< slots of a neighbourhood
inline constexpr int line_slots = 7;           ///< slots of a line; its eighth word is the hop word
inline constexpr int neighbourhood_lines = 5;  ///< lines that a neighbourhood touches
inline constexpr int key_classes = 8;
inline constexpr int max_moves = 4;  ///< keys moved for one insertion
/// The most neighbourhoods that one search for a slot looks at; in small tables fewer, so that it
/// looks at each line's about 32 times: line_geometry::max_tries().
inline constexpr int max_tries = 4000, tries_per_line = 32;
/// An insertion that others disturb begins no further search once it has looked at this many
/// neighbourhoods.
inline constexpr int max_tries_in_all = 4 * max_tries;
inline constexpr int tries_per_search = 8;  ///< what a search counts beside its neighbourhoods
inline constexpr std::uint32_t saturated_count = 3;  ///< a count that is not exact any more
inline constexpr int no_slot = -1;                   ///< no slot

/// Slots of the last line that are out of reach: its first ones, which fill up first.
inline constexpr int unreachable_slots = neighbourhood_lines * line_slots - neighbourhood_slots;
/// Returns the place in its line of a slot of a neighbourhood. slot_in_neighbourhood returns the
/// slot at a place of the j-th line, or no_slot if it is out of reach.
KOKKOS_FUNCTION constexpr int place_in_line(int slot) {
  int const place = slot % line_slots;
  return slot / line_slots + 1 < neighbourhood_lines ? place : place + unreachable_slots;
}
KOKKOS_FUNCTION constexpr int slot_in_neighbourhood(int j, int place) {
  if (j + 1 < neighbourhood_lines) return j * line_slots + place;
  return place < unreachable_slots ? no_slot : j * line_slots + place - unreachable_slots;
}

KOKKOS_FUNCTION constexpr int class_of(std::uint64_t hash) {
  return static_cast<int>(hash % key_classes);
}
KOKKOS_FUNCTION constexpr std::uint64_t slot_bit(int slot) { return std::uint64_t(1) << slot; }
KOKKOS_FUNCTION constexpr std::uint64_t lock_bit(int c) {
  return std::uint64_t(1) << (neighbourhood_slots + 4 * c);
}
KOKKOS_FUNCTION constexpr std::uint64_t far_bit(int c) {
  return std::uint64_t(2) << (neighbourhood_slots + 4 * c);
}
KOKKOS_FUNCTION constexpr std::uint32_t count_in(std::uint64_t word, int c) {
  return static_cast<std::uint32_t>(word >> (neighbourhood_slots + 4 * c + 2)) & saturated_count;
}
/// Returns whether the table may hold a key of the class.
KOKKOS_FUNCTION constexpr bool may_hold(std::uint64_t word, int c) {
  return ((word >> (neighbourhood_slots + 4 * c)) & 15) != 0;
}
KOKKOS_FUNCTION constexpr std::uint32_t home_slots(std::uint64_t word) {
  return static_cast<std::uint32_t>(word) & ((1u << line_slots) - 1);
}
KOKKOS_FUNCTION constexpr std::uint32_t far_slots(std::uint64_t word) {
  return static_cast<std::uint32_t>(word) & ~((1u << line_slots) - 1);
}
/// Returns the bits to toggle in the word when a class comes to have `now` keys. If that is 0, also
/// its far bit, if set.
KOKKOS_FUNCTION constexpr std::uint64_t recount(std::uint64_t word, int c, std::uint32_t now) {
  std::uint32_t const stored = now < saturated_count ? now : saturated_count;
  return static_cast<std::uint64_t>(count_in(word, c) ^ stored)
             << (neighbourhood_slots + 4 * c + 2) |
         (stored == 0 ? word & far_bit(c) : 0);
}

/// The lines of each neighbourhood. The second is the neighbour of the first, nearly free to read.
/// The others are far apart, and at different distances: then a crowd around one home has nothing
/// in common with a crowd around the next, and a displaced key finds a slot. (Five lines in a row,
/// as the paper has its slots in a row, refuse keys wherever 25 keys more than slots come together:
/// 2^27 keys at load 0.8: 301, at 0.9: 49,500.)
class line_geometry {
 public:
  line_geometry() = default;
  /// `lines`: an even number, at least 8, or 0 without memory. `seed`: of the homes of keys.
  KOKKOS_FUNCTION constexpr explicit line_geometry(std::uint64_t lines, std::uint64_t seed = 0)
      : m_home(hashed::hopscotch, lines, lines * line_slots, seed) {}

  static constexpr std::uint64_t min_lines = 8;
  /// Returns the fewest lines that have `slots` slots and are connected.
  static constexpr std::uint64_t lines_for(std::uint64_t slots) {
    std::uint64_t n = (slots + line_slots - 1) / line_slots;
    n = n < min_lines ? min_lines : n + n % 2;
    while (!is_connected(n)) n += 2;
    return n;
  }
  /// Returns whether keys can be moved, in steps, from every line to every other one. If the number
  /// of pairs and all distances have a common divisor d, such as 2 for 16 and 20 lines, the table
  /// consists of d components, and no step leads from one to another.
  static constexpr bool is_connected(std::uint64_t lines) {
    std::uint64_t divisor = lines / 2;
    for (int j = 2; j < neighbourhood_lines; ++j)
      divisor = std::gcd(divisor, pairs_away(lines / 2, j));
    return divisor == 1;
  }
  KOKKOS_FUNCTION constexpr std::uint64_t lines() const { return m_home.count(); }
  /// Returns how many neighbourhoods a search for a slot looks at before it gives up. Tables of 8
  /// to 64 lines, filled key by key, refuse as many keys with 32 a line as with 4,000 in all; with
  /// 16 a line, tables of 64 lines refuse twice as many.
  KOKKOS_FUNCTION constexpr int max_tries() const {
    return lines() < hopscotch::max_tries / tries_per_line
               ? static_cast<int>(lines()) * tries_per_line
               : hopscotch::max_tries;
  }
  KOKKOS_FUNCTION constexpr std::uint64_t home_of(std::uint64_t hash) const { return m_home(hash); }
  /// Returns which of n equal regions of the table home_of(hash) lies in.
  KOKKOS_FUNCTION constexpr std::uint32_t region_of(std::uint64_t hash, std::uint32_t n) const {
    return m_home.part(hash, n);
  }
  /// Returns the j-th line of the neighbourhood of a home.
  KOKKOS_FUNCTION constexpr std::uint64_t line(std::uint64_t home, int j) const {
    if (j == 0) return home;
    if (j == 1) return home ^ 1;
    // The distance is even, so that the line is never a neighbour of the first one.
    std::uint64_t const l = home + 2 * pairs_away(lines() / 2, j);
    return l < lines() ? l : l - lines();
  }
  /// Returns j so that `which` is the j-th line of a home's neighbourhood. Requires: there is one.
  KOKKOS_FUNCTION constexpr int index_of(std::uint64_t home, std::uint64_t which) const {
    int j = 0;
    while (j + 1 < neighbourhood_lines && line(home, j) != which) ++j;
    return j;
  }

 private:
  /// Returns how many pairs of lines the j-th line, from j = 2 on, is away from the first one.
  /// These are fractions of all pairs after the golden ratio: 0.276, 0.618 and 0.854.
  KOKKOS_FUNCTION static constexpr std::uint64_t pairs_away(std::uint64_t pairs, int j) {
    std::uint64_t const part = j == 2   ? 0x46be'0000'0000'0000
                               : j == 3 ? 0x9e37'0000'0000'0000
                                        : 0xdaa6'0000'0000'0000;
    return multiply_high(pairs, part);
  }

  place_among m_home;  // lines
};

}  // namespace karpos::detail::hopscotch
