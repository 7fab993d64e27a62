// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdint>

#include "karpos/detail/tables/fullness.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"

// How a search goes on, and where it ends: the probe path of a key, and the two kinds of overflow
// marks on it.
//
// Marks of bucket pairs lie in an array of their own (ref.hpp). Marks by the order of keys take no
// memory and no read: the keys of a full bucket may stand in any order. If keys are inserted by
// segments (build_segments.hpp), the order of the first four keys a, b, c, d of a full bucket says
// which classes have a key beyond the pair. The order concerns keys whose home is the *other*
// bucket of the pair, for these keys try this bucket second.
//
//   a < b       no class: half of all orders. Teams order buckets that are not full yet so, too.
//   a > b       twelve orders, by the ranks of c and d: one of 4 classes, two of them, or all
//
// Buckets of two keys have one class: a > b. A bucket with a hole ends a search anyway; the order
// in a bucket with a tombstone says nothing, and the search goes on.

namespace karpos::detail::open_addressing {

/// The probe path of a key: its buckets in the order of a probing scheme (karpos/probing.hpp).
template <class Probing>
class probe_path {
 public:
  probe_path() = default;
  /// Makes the path of a hash in a table in which `home` maps hashes to buckets.
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, place_among const& home)
      : probe_path(hash, home(hash), 1) {}
  /// Makes a path that consists of one bucket: the hash is not known.
  KOKKOS_FUNCTION static constexpr probe_path at_home(std::uint64_t bucket) {
    return {0, bucket, 1};
  }

  KOKKOS_FUNCTION constexpr std::uint64_t hash() const { return m_hash; }
  KOKKOS_FUNCTION constexpr std::uint64_t bucket() const { return m_bucket; }
  KOKKOS_FUNCTION constexpr std::uint64_t pair() const { return m_bucket / 2; }
  /// Returns the number of buckets on the path so far, this one included.
  KOKKOS_FUNCTION constexpr std::uint32_t tried() const { return m_tried; }

  /// Returns the distance of neighbouring pairs of the path from the third pair on.
  KOKKOS_FUNCTION constexpr std::uint64_t stride(std::uint64_t pairs) const {
    return Probing::stride(m_hash, pairs);
  }
  KOKKOS_FUNCTION constexpr void advance(std::uint64_t pairs) {
    if (m_tried % 2 == 1) {
      m_bucket ^= 1;
    } else {
      m_bucket = 2 * Probing::next(m_hash, pair(), pairs, m_tried / 2) + (m_bucket & 1);
    }
    ++m_tried;
  }

 private:
  KOKKOS_FUNCTION constexpr probe_path(std::uint64_t hash, std::uint64_t bucket,
                                       std::uint32_t tried)
      : m_hash(hash),
        m_bucket(bucket),
        m_tried(tried) {}

  std::uint64_t m_hash, m_bucket;
  std::uint32_t m_tried;
};

/// Number of classes of keys that a pair of buckets keeps overflow marks for.
inline constexpr int marks_per_pair = 8;

/// Returns whether marks are set and tested after `tried` buckets of a path: after 4, for most keys
/// lie in their first pair, then 8, 16 and so on, so that hits far along a path read few marks.
KOKKOS_FUNCTION constexpr bool at_mark(std::uint32_t tried) {
  return tried >= 4 && (tried & (tried - 1)) == 0;
}
/// The first bucket of a path with marks.
inline constexpr std::uint32_t first_mark = 4;
/// At marks from this bucket of a path on, an insertion checks whether the table is full.
inline constexpr std::uint32_t full_check_bucket = 16;
/// From this bucket on, an insertion inspects a part of the table (fullness.hpp) every 32 buckets.
inline constexpr std::uint32_t inspection_bucket = 32;

/// Returns the 32-bit words of a table's overflow marks. words_behind_slots adds those of its
/// fullness (fullness.hpp), which follow the marks.
KOKKOS_FUNCTION constexpr std::uint64_t mark_words(std::uint64_t pairs) {
  return (pairs * marks_per_pair + 63) / 64 * 2;
}
KOKKOS_FUNCTION constexpr std::uint64_t words_behind_slots(std::uint64_t pairs) {
  return mark_words(pairs) + fullness::words_for(2 * pairs);
}

KOKKOS_FUNCTION constexpr std::uint64_t mark_bit(std::uint64_t pair, std::uint64_t hash) {
  return pair * marks_per_pair + hash % marks_per_pair;
}
/// Returns whether the mark of the bucket pair that a path has come to is set. With a relaxed read
/// in the loop of a lookup the threads of a warp diverge (H100, lookups in a reduction, load 0.8:
/// 16.7 G/s; with a frozen one 23.2).
template <device::access Access = device::access::shared, class Path>
KOKKOS_INLINE_FUNCTION bool is_marked(std::uint32_t const* marks, Path const& p) {
  std::uint64_t const bit = mark_bit(p.pair(), p.hash());
  std::uint32_t const* const at = marks + bit / 32;
  std::uint32_t const word =
      Access == device::access::frozen ? device::load_frozen(at) : device::load_relaxed(at);
  return (word >> (bit % 32) & 1u) != 0;
}
KOKKOS_INLINE_FUNCTION void set_mark(std::uint32_t* marks, std::uint64_t pair, std::uint64_t hash) {
  std::uint64_t const bit = mark_bit(pair, hash);
  device::set_bits(marks + bit / 32, std::uint32_t(1) << (bit % 32));
}

/// Returns whether a table has no free slot, by its fullness at `words`. An insertion that has
/// tried many buckets first inspects a few more parts of the table by bucket_is_full(bucket).
template <class BucketIsFull>
KOKKOS_FUNCTION bool is_full(std::uint32_t* words, std::uint64_t pairs, std::uint32_t tried,
                             BucketIsFull const& bucket_is_full) {
  fullness const slots(words, 2 * pairs);
  if (slots.is_full()) return true;
  if (tried < inspection_bucket) return false;
  slots.inspect(tried / inspection_bucket, bucket_is_full);
  return slots.is_full();
}

/// Calls f(pair) for each bucket pair that has a mark before the tried-th bucket of a path.
/// `start`: the path at its first bucket.
template <class Path, class F>
KOKKOS_FUNCTION void for_each_mark(Path start, std::uint64_t pairs, std::uint32_t tried,
                                   F const& f) {
  auto const sum = [pairs](std::uint64_t a, std::uint64_t b) {
    return a + b < pairs ? a + b : a + b - pairs;
  };
  auto const go_on_to = [&](std::uint32_t bucket) {
    while (start.tried() < bucket) start.advance(pairs);
  };
  go_on_to(first_mark);
  // From the fourth pair on: four times the stride, then eight times the stride, and so on.
  std::uint64_t pair = start.pair(), stride = start.stride(pairs);
  for (std::uint32_t at = first_mark; at < tried; at *= 2) {
    f(pair);
    stride = sum(stride, stride);
    pair = sum(pair, stride);
    if (at != first_mark) continue;
    go_on_to(2 * first_mark);
    pair = start.pair();
  }
}

/// Sets the marks before the bucket that path p has come to, for a key that is stored, or about to
/// be. A release fence follows the marks of keys behind full_check_bucket, so that a thread that
/// finds the table full sees these marks. `start`: the path at its first bucket.
template <class Path>
KOKKOS_INLINE_FUNCTION void set_marks_before(std::uint32_t* marks, Path const& start, Path const& p,
                                             std::uint64_t pairs) {
  for_each_mark(start, pairs, p.tried(),
                [&](std::uint64_t pair) { set_mark(marks, pair, p.hash()); });
  if (p.tried() > full_check_bucket) device::release_fence();
}

/// The order of the keys in buckets of B slots. Bits: the type of the keys' bits.
template <class Bits, int B>
struct key_order {
  /// Number of classes of keys, and of the keys whose order marks them.
  static constexpr int classes = sizeof(Bits) > 8 ? 0 : B >= 4 ? 4 : B == 2 ? 1 : 0;
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
  /// Returns the permutation after which the order marks these classes, or all if they are three.
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
