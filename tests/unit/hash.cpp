// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <karpos/hash.hpp>
#include <limits>
#include <set>
#include <vector>

#include "support/keys.hpp"
#include "support/places.hpp"

namespace {

using karpos::from_bits;
using karpos::to_bits;

/// Inverts mix(): undoes each xor-shift and each multiplication, in reverse order.
std::uint64_t unmix(std::uint64_t x) {
  constexpr std::uint64_t multiplier = 0x0e9846af9b1a615dULL;
  std::uint64_t inverse = multiplier;  // Newton: every step doubles the number of right bits
  for (int i = 0; i < 6; ++i) inverse *= 2 - multiplier * inverse;
  x ^= x >> 28 ^ x >> 56;
  x *= inverse;
  x ^= x >> 32;
  x *= inverse;
  x ^= x >> 32;
  return x;
}

TEST_CASE("mix can be undone, so that it is a bijection") {
  karpos_test::random_numbers random(1);
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t const x = i < 64 ? std::uint64_t(1) << i : random();
    CHECK(unmix(karpos::mix(x)) == x);
  }
  static_assert(karpos::mix(0) == 0);
  static_assert(karpos::mix(1) != karpos::mix(2));
}

TEST_CASE("mix: one input bit flips about half of the output bits") {
  karpos_test::random_numbers random(2);
  for (int bit = 0; bit < 64; ++bit) {
    int flipped = 0;
    for (int i = 0; i < 200; ++i) {
      std::uint64_t const x = random();
      flipped += Kokkos::Experimental::popcount_builtin(karpos::mix(x) ^
                                                        karpos::mix(x ^ std::uint64_t(1) << bit));
    }
    CHECK(flipped > 200 * 32 * 9 / 10);
    CHECK(flipped < 200 * 32 * 11 / 10);
  }
}

using karpos::detail::hashed;
using karpos::detail::place_among;

TEST_CASE("places: every one of them, in 64 bits and in 32, for any number of them") {
  for (std::uint64_t const n :
       {std::uint64_t(1), std::uint64_t(2), std::uint64_t(7), std::uint64_t(1000),
        std::uint64_t(0xffffffffu), std::uint64_t(1) << 40}) {
    place_among const place(hashed::partition, n);
    karpos_test::hash_of_place const hash(hashed::partition, n);
    CHECK(place.count() == n);
    CHECK(place(hash(0)) == 0);
    CHECK(place(hash(~std::uint64_t(0))) == n - 1);
    karpos_test::random_numbers random(n);
    bool right = true;
    for (int i = 0; i < 1000; ++i) {
      std::uint64_t const position = random(), at = karpos::multiply_high(position, n);
      right = right && place(hash(position)) == at;
      if (n >> 32 == 0) right = right && place.narrow(hash(position)) == at;
    }
    CHECK(right);
  }
}

/// Returns how far the keys of the first 1 / divisor of the places of `from` are from an even
/// spread over `to`, in standard deviations of the statistic.
double crowding(place_among const& from, std::uint64_t divisor, place_among const& to) {
  constexpr int n = 1 << 13, bins = 64;
  std::vector<int> count(bins);
  std::uint64_t key = 0;
  for (int i = 0; i < n;) {
    std::uint64_t const hash = karpos::mix(key++);
    if (from(hash) >= from.count() / divisor) continue;
    ++count[to(hash) * bins / to.count()];
    ++i;
  }
  double sum = 0;
  for (int const c : count) sum += (c - n / bins) * (c - n / bins) / double(n / bins);
  return (sum - (bins - 1)) / std::sqrt(2.0 * (bins - 1));
}

TEST_CASE("keys of neighbouring places of one structure lie anywhere in another") {
  constexpr hashed all[] = {hashed::open_addressing, hashed::unordered_map, hashed::hopscotch,
                            hashed::row_index,       hashed::distinct_keys, hashed::partition};
  constexpr std::uint64_t sizes[] = {1 << 16, 1 << 17, 65536 * 3, 65537, 65539, 3 * 65537, 70000};
  for (std::uint64_t const a : sizes) {
    // Sizes differ while the structure is the same; then structures differ while the size is the
    // same.
    for (std::uint64_t const b : sizes)
      if (a != b) CHECK(crowding({hashed::hopscotch, a}, 8, {hashed::hopscotch, b}) < 6);
    for (hashed const x : all)
      for (hashed const y : all)
        if (x != y) CHECK(crowding({x, a}, 16, {y, a}) < 6);
    // The number of buckets is the same, but their slots differ in number.
    CHECK(crowding({hashed::open_addressing, a, 4 * a}, 8, {hashed::open_addressing, a, 8 * a}) <
          6);
    // If both structure and size are the same, the test detects crowding.
    CHECK(crowding({hashed::open_addressing, a}, 32, {hashed::open_addressing, a}) > 100);
  }
}

/// Returns the high word of a product, by schoolbook multiplication of 32-bit digits.
std::uint64_t multiply_high_by_hand(std::uint64_t a, std::uint64_t b) {
  std::uint64_t const low = 0xffffffffu;
  std::uint64_t const a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  std::uint64_t const middle = a1 * b0 + (a0 * b0 >> 32);
  std::uint64_t const other = a0 * b1 + (middle & low);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

TEST_CASE("multiply_high is the high word of the exact product") {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  static_assert(karpos::multiply_high(largest, largest) == largest - 1);
  static_assert(karpos::multiply_high(std::uint64_t(1) << 63, 2) == 1);
  static_assert(karpos::multiply_high(largest, 1) == 0);
  static_assert(karpos::multiply_high(0, largest) == 0);
  karpos_test::random_numbers random(3);
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t const a = random(), b = random() >> (i % 64);
    CHECK(karpos::multiply_high(a, b) == multiply_high_by_hand(a, b));
  }
}

struct three_bytes {
  unsigned char x[3];
  friend bool operator==(three_bytes a, three_bytes b) { return std::memcmp(a.x, b.x, 3) == 0; }
};
struct two_halves {
  std::uint16_t x, y, z;
  friend bool operator==(two_halves a, two_halves b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};
enum class colour : std::uint8_t { red = 1, blue = 200 };
enum class wide : std::int64_t { low = -5 };

/// Checks that a value survives conversion to bits and back, and that bits beyond its size are
/// zero.
template <class Bits, class T>
bool returns(T const& x) {
  Bits const bits = to_bits<Bits>(x);
  if constexpr (sizeof(T) < sizeof(Bits))
    if (bits >> (8 * sizeof(T)) != 0) return false;
  if (std::memcmp(&bits, &x, sizeof(T)) != 0) return false;  // little endian
  return from_bits<T>(bits) == x;
}

TEST_CASE("objects go to bits and back") {
  CHECK(returns<std::uint32_t>(true));
  CHECK(returns<std::uint32_t>(std::int8_t(-1)));
  CHECK(returns<std::uint64_t>(std::int8_t(-128)));
  CHECK(returns<std::uint32_t>(std::uint16_t(65535)));
  CHECK(returns<std::uint64_t>(std::int16_t(-2)));
  CHECK(returns<std::uint32_t>(three_bytes{{1, 2, 255}}));
  CHECK(returns<std::uint64_t>(three_bytes{{255, 254, 253}}));
  CHECK(returns<std::uint32_t>(std::int32_t(-7)));
  CHECK(returns<std::uint64_t>(std::int32_t(std::numeric_limits<std::int32_t>::min())));
  CHECK(returns<std::uint64_t>(two_halves{1, 65535, 3}));
  CHECK(returns<std::uint64_t>(std::uint64_t(1) << 63));
  CHECK(returns<std::uint64_t>(std::int64_t(-1)));
  CHECK(returns<std::uint32_t>(1.5f));
  CHECK(returns<std::uint64_t>(-0.0f));
  CHECK(returns<std::uint64_t>(-1e300));
  CHECK(returns<std::uint32_t>(colour::blue));
  CHECK(returns<std::uint64_t>(wide::low));
  static_assert(to_bits<std::uint64_t>(std::int32_t(-1)) == 0xffffffffu, "no sign extension");
}

TEST_CASE("the default hash of all 16-bit keys has no collision and knows its quality") {
  std::set<std::uint64_t> seen;
  for (unsigned i = 0; i < 65536; ++i)
    seen.insert(karpos::hash<std::uint16_t>()(static_cast<std::uint16_t>(i)));
  CHECK(seen.size() == 65536);
  static_assert(karpos::detail::avalanching<karpos::hash<int>>);
}

struct identity {
  std::uint64_t operator()(std::uint64_t x) const { return x; }
};
struct good_identity : identity {
  using is_avalanching = void;
};

TEST_CASE("the result of a hash that does not claim to mix is mixed, of others it is not") {
  CHECK(karpos::detail::hash_of(identity{}, std::uint64_t(5)) == karpos::mix(5));
  CHECK(karpos::detail::hash_of(good_identity{}, std::uint64_t(5)) == 5);
}

}  // namespace
