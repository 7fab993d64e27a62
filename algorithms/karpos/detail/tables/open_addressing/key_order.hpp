// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

// Overflow marks that take no memory and no read of their own: slots that are taken stay as they
// are, so that the order of the keys in a bucket is free to choose. If keys are inserted by
// segments (build_segments.hpp), the order of the first four keys a, b, c, d of a full bucket is a
// mark. It concerns keys whose home is the *other* bucket of the pair, for they try this bucket
// second: it says which classes of these have a key beyond the pair.
//
//   a < b       none: half of all orders. Teams put buckets that are not full yet into it, too.
//   a > b       twelve orders, by the ranks of c and d: one of 4 classes, two of them, or all
//
// Buckets of two keys have one class: a > b. A bucket with a hole ends a search anyway; one with a
// tombstone says nothing, and the search goes on.

namespace karpos::detail::open_addressing {

/// The order of the keys in buckets of B slots. Bits: the type of the keys' bits.
template <class Bits, int B>
struct key_order {
  /// Number of classes of keys, and of the keys whose order marks them.
  static constexpr int classes = B >= 4 ? 4 : B == 2 ? 1 : 0;
  static constexpr int keys = B >= 4 ? 4 : 2;
  /// The permutation that leaves every key where it is: two bits for each key.
  static constexpr std::uint32_t identity = B >= 4 ? 0b11'10'01'00 : 0b01'00;

  /// Returns the class of a hash, from bits that neither the stride nor the other marks use first.
  KOKKOS_FUNCTION static constexpr std::uint32_t class_of(std::uint64_t hash) {
    return classes == 4 ? static_cast<std::uint32_t>(hash) >> 8 & 3 : 0;
  }
  /// Returns the classes that the order of key(0), key(1), … marks, a bit for each.
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t marks(Key const& key) {
    Bits const a = key(0), b = key(1);
    if constexpr (classes == 1) {
      return a > b;
    } else {
      Bits const c = key(2), d = key(3);
      int const code = 4 * ((c > b) + (c > a)) + (d > b) + (d > a) + (d > c);
      return a > b ? static_cast<std::uint32_t>(sets >> 4 * code & 15) : 0;
    }
  }
  /// Returns the permutation of the keys after which their order marks these classes, or all if
  /// they are three.
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t permutation(Key const& key,
                                                                         std::uint32_t marked) {
    if constexpr (classes == 1) {
      return (key(0) > key(1)) == (marked != 0) ? identity : 0b00'01;
    } else {
      if (marked == 0) return key(0) < key(1) ? identity : 0b11'10'00'01;
      std::uint32_t const at = slots_by_rank(codes >> 4 * marked & 15);
      std::uint32_t to = 0;
      for (int i = 0; i < 4; ++i) {
        std::uint32_t rank = 0;
        for (int j = 0; j < 4; ++j) rank += key(j) < key(i);
        to |= (at >> 2 * rank & 3) << 2 * i;
      }
      return to;
    }
  }

 private:
  /// `sets`: for each code, its set of classes. `codes`: for each set, its code. Four bits each.
  static constexpr std::uint64_t sets = 0xff'c'a'9'6'5'3'8'4'2'1;
  static constexpr std::uint64_t codes = 0xaaa'9'a'8'7'3'a'6'5'2'4'1'0'0;

  /// Returns the slots of the least, the second, … key, for a > b and a code.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t slots_by_rank(std::uint64_t code) {
    auto const c = static_cast<std::uint32_t>(code / 4), d = static_cast<std::uint32_t>(code % 4);
    std::uint32_t at = 3u << 2 * d;
    auto const set_slot = [&](std::uint32_t slot, std::uint32_t rank_of_three) {
      at |= slot << 2 * (rank_of_three + (rank_of_three >= d));
    };
    set_slot(1, c == 0);
    set_slot(0, c == 2 ? 1 : 2);
    set_slot(2, c);
    return at;
  }
};

}  // namespace karpos::detail::open_addressing
