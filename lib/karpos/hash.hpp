// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Macros.hpp>
#include <Kokkos_NumericTraits.hpp>
#include <cstdint>
#include <type_traits>

namespace karpos {

/// Spreads every input bit over all 64 output bits; a bijection.
///
/// Source: Jon Maiga, "The construct of a bit mixer", 2020 (xor-shift, multiply, twice).
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t mix(std::uint64_t x) {
  constexpr std::uint64_t multiplier = 0x0e9846af9b1a615dULL;
  x ^= x >> 32;
  x *= multiplier;
  x ^= x >> 32;
  x *= multiplier;
  x ^= x >> 28;
  return x;
}

/// Returns the high 64 bits of a * b. If `a` is well mixed, that maps it evenly onto [0, b),
/// without a division.
///
/// Source: Daniel Lemire, "Fast random integer generation in an interval", 2019.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t multiply_high(std::uint64_t a,
                                                                  std::uint64_t b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> 64);
}

namespace detail {
/// Returns multiply_high(a, b) for b below 2^32, by two multiplications; multiply_high takes four
/// on GPUs.
KOKKOS_FUNCTION constexpr std::uint32_t multiply_high_narrow(std::uint64_t a, std::uint32_t b) {
  std::uint64_t const low = (a & 0xffff'ffffu) * b, high = (a >> 32) * b;
  return static_cast<std::uint32_t>((high + (low >> 32)) >> 32);
}

/// The kind of structure in which a hash chooses a place. The places of a key in structures of
/// different kinds are unrelated, even if the structures have the same size.
enum class hashed : std::uint64_t {
  open_addressing = 1,
  unordered_map,
  hopscotch,
  cuckoo,
  row_index,
  distinct_keys,
  partition,
  reduce_by_key,
  join,
  rank
};

/// Returns an odd number for a structure of a kind, size and seed. Numbers of other kinds, sizes
/// and seeds look unrelated to it. Hash tables pass a seed (detail/tables/table_memory.hpp), except
/// cuckoo tables, which add theirs to this number; internal structures pass none.
KOKKOS_FUNCTION constexpr std::uint64_t place_multiplier(hashed what, std::uint64_t size,
                                                         std::uint64_t seed = 0) {
  return mix(mix(size + mix(seed)) + static_cast<std::uint64_t>(what)) | 1;
}

/// Maps a hash to the place floor((hash * multiplier mod 2^64) * count / 2^64).
///
/// Each kind of structure, size and seed has a multiplier of its own. It spreads the keys that
/// share a place in one structure over all places of another structure that the same keys go into.
/// If all structures read the high bits of one hash, the keys of a partition would crowd in one
/// place.
///
/// The multiplier is a mixed function of `size`, not a constant times `size`: with the latter,
/// sizes n and 3n would have dependent multipliers, and so dependent places.
///
/// Source: Knuth, The Art of Computer Programming 3, section 6.4, for the multiplication; Lemire
///   for the range (multiply_high).
class place_among {
 public:
  place_among() = default;
  /// `size` decides the multiplier. It may differ from `count`: for a table whose places are
  /// buckets, it is the number of slots.
  KOKKOS_FUNCTION constexpr place_among(hashed what, std::uint64_t count, std::uint64_t size,
                                        std::uint64_t seed = 0)
      : m_count(count),
        m_multiplier(place_multiplier(what, size, seed)) {}
  KOKKOS_FUNCTION constexpr place_among(hashed what, std::uint64_t count)
      : place_among(what, count, count) {}

  /// Returns whether both map every hash onto the same place.
  constexpr bool operator==(place_among const&) const = default;
  KOKKOS_FUNCTION constexpr std::uint64_t count() const { return m_count; }
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(std::uint64_t hash) const {
    return multiply_high(hash * m_multiplier, m_count);
  }
  /// Returns the number of the partition that has the hash's place, if the places are divided, in
  /// order, into n equal partitions.
  KOKKOS_FUNCTION constexpr std::uint32_t part(std::uint64_t hash, std::uint32_t n) const {
    return multiply_high_narrow(hash * m_multiplier, n);
  }
  /// Returns operator()(hash), with fewer multiplications on GPUs. Requires: count() < 2^32.
  KOKKOS_FUNCTION constexpr std::uint32_t narrow(std::uint64_t hash) const {
    return multiply_high_narrow(hash * m_multiplier, static_cast<std::uint32_t>(m_count));
  }

 private:
  std::uint64_t m_count = 0, m_multiplier = 1;
};
}  // namespace detail

namespace detail {
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
/// Whether T is an integer of 16 bytes; std::is_integral says no with -std=c++20.
template <class T>
inline constexpr bool is_int128 = std::is_same_v<T, int128> || std::is_same_v<T, uint128>;
}  // namespace detail

/// Returns the object representation of a small trivially copyable object, zero-extended to Bits.
template <class Bits, class T>
  requires std::is_trivially_copyable_v<T> && (sizeof(T) <= sizeof(Bits))
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits to_bits(T const& x) {
  if constexpr ((std::is_integral_v<T> || std::is_enum_v<T>)&&sizeof(T) <= 8) {
    if constexpr (sizeof(T) == 1) return static_cast<Bits>(static_cast<std::uint8_t>(x));
    if constexpr (sizeof(T) == 2) return static_cast<Bits>(static_cast<std::uint16_t>(x));
    if constexpr (sizeof(T) == 4) return static_cast<Bits>(static_cast<std::uint32_t>(x));
    if constexpr (sizeof(T) == 8) return static_cast<Bits>(static_cast<std::uint64_t>(x));
  } else if constexpr (sizeof(T) == sizeof(Bits)) {
    return Kokkos::bit_cast<Bits>(x);
  } else {
    struct padded {
      T value;
      unsigned char zeros[sizeof(Bits) - sizeof(T)];
    };
    static_assert(sizeof(padded) == sizeof(Bits),
                  "karpos: this type cannot be padded to a machine word");
    return Kokkos::bit_cast<Bits>(padded{x, {}});
  }
}

/// Returns the object whose to_bits these bits are.
template <class T, class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr T from_bits(Bits bits) {
  if constexpr ((std::is_integral_v<T> || std::is_enum_v<T>)&&sizeof(T) <= 8) {
    return static_cast<T>(bits);
  } else if constexpr (sizeof(T) == sizeof(Bits)) {
    return Kokkos::bit_cast<T>(bits);
  } else if constexpr (sizeof(T) < sizeof(Bits)) {
    struct padded {
      T value;
      unsigned char zeros[sizeof(Bits) - sizeof(T)];
    };
    return Kokkos::bit_cast<padded>(bits).value;
  } else {
    return T{};  // T is larger than Bits: a static_assert has refused it already
  }
}

namespace detail {
struct two_words {
  std::uint64_t low, high;
};

/// Returns the bits that stand for a key. Floating-point keys have one pattern for both zeros, and
/// one for all NaNs.
template <class Bits, class Key>
KOKKOS_FORCEINLINE_FUNCTION constexpr Bits key_bits_of([[maybe_unused]] Key const& key) {
  static_assert(sizeof(Key) <= 8 || sizeof(Key) <= sizeof(Bits),
                "karpos: keys have at most eight bytes, or 16 in hash_map, hash_set and "
                "karpos::hash: use an index of the large key, or 64 bits of its hash");
  static_assert(std::is_default_constructible_v<Key>,
                "karpos: a key type has a default constructor: add one, or, if this type is a "
                "proxy for an element of a view, pass the element's value");
  if constexpr (sizeof(Key) > sizeof(Bits)) {
    return {};  // refused by the first static_assert, which shall be the only message
  } else {
    if constexpr (std::is_floating_point_v<Key>) {
      if (key == Key(0)) return 0;
      constexpr Key nan = Kokkos::Experimental::quiet_NaN_v<Key>;
      if (key != key) return to_bits<Bits>(nan);
    }
    return to_bits<Bits>(key);
  }
}
}  // namespace detail

/// Default hash of default-constructible keys of up to 16 bytes. Keys that compare equal must have
/// the same bits (std::has_unique_object_representations), or be float or double. Of floating-point
/// keys, 0.0 and -0.0 are one key, and all NaNs are one key. An unordered_map takes other keys,
/// too, with a hash of your own; hash, hopscotch and cuckoo tables do not.
///
/// Hash functions may not throw (operations.hpp has the rules for functors). A function that mixes
/// well over 64 bits declares it by a member type `is_avalanching` (Boost's convention). Containers
/// mix the result of any other function themselves.
template <class Key>
struct hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(Key const& key) const {
    if constexpr (sizeof(Key) > 8 && sizeof(Key) <= 16) {
      auto const bits = detail::key_bits_of<detail::two_words>(key);
      return mix(mix(bits.high) + bits.low);
    } else {
      return mix(detail::key_bits_of<std::uint64_t>(key));
    }
  }
};

/// Default family of hash functions, one for each seed, for tables that may have to try another
/// seed. Takes the keys of up to eight bytes that hash takes.
template <class Key>
struct seeded_hash {
  using is_avalanching = std::true_type;
  KOKKOS_FUNCTION constexpr std::uint64_t operator()(Key const& key, std::uint64_t seed) const {
    return mix(detail::key_bits_of<std::uint64_t>(key) + seed);
  }
};

/// Equality by ==, which also compares a key with a query of another type.
///
/// Hash and hopscotch tables with this equality compare the hashed bits instead if two things hold:
/// the query has the key's type, and the key is a number, an enumerator, or hashed by karpos::hash.
/// Cuckoo tables always compare these bits. So all NaNs are one key, and structures need no ==. A
/// NaN of another type is not found.
template <class Key>
struct equal_to {
  template <class Query>
  KOKKOS_FUNCTION constexpr bool operator()(Key const& key, Query const& query) const {
    return key == query;
  }
};

namespace detail {
/// Returns c ? a : b without a branch, for conditions that no branch predictor can foresee.
template <class T>
KOKKOS_FUNCTION constexpr T select(bool c, T const& a, T const& b) {
  using bits = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;
  bits const all = bits(0) - static_cast<bits>(c);
  return from_bits<T>(static_cast<bits>((to_bits<bits>(a) & all) | (to_bits<bits>(b) & ~all)));
}

template <class Hash>
concept avalanching = requires { typename Hash::is_avalanching; };

template <class Hash, class Query>
KOKKOS_FUNCTION constexpr std::uint64_t hash_of(Hash const& hash, Query const& query) {
  if constexpr (avalanching<Hash> && sizeof(hash(query)) == sizeof(std::uint64_t))
    return hash(query);
  else
    return mix(static_cast<std::uint64_t>(hash(query)));
}

/// Returns the hash of a key by the member of a family that belongs to the seed. A plain hash
/// function makes a family too: its result is mixed with the seed. Then seeds cannot separate keys
/// whose hashes collide.
template <class Hash, class Key>
KOKKOS_FUNCTION constexpr std::uint64_t hash_of(Hash const& hash, Key const& key,
                                                std::uint64_t seed) {
  if constexpr (!requires { hash(key, seed); })
    return mix(static_cast<std::uint64_t>(hash(key)) + seed);
  else if constexpr (avalanching<Hash> && sizeof(hash(key, seed)) == sizeof(std::uint64_t))
    return hash(key, seed);
  else
    return mix(static_cast<std::uint64_t>(hash(key, seed)));
}
}  // namespace detail

}  // namespace karpos
