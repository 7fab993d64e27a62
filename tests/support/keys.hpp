// SPDX-License-Identifier: Apache-2.0
/// \file
/// Keys for tests: distinct ones, keys with heavy hitters, and random numbers that are identical on
/// every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace karpos_test {

/// Random numbers. Source: Sebastiano Vigna, "splitmix64", 2015.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : m_state(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (m_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return (*this)() % n; }

 private:
  std::uint64_t m_state;
};

/// Permutes the integers of a type by odd multiplications and xor-shifts, which are invertible.
template <class Unsigned>
Unsigned permute(Unsigned x) {
  constexpr int half = std::numeric_limits<Unsigned>::digits / 2;
  for (int round = 0; round < 3; ++round) {
    x = static_cast<Unsigned>(x * static_cast<Unsigned>(0x9e3779b97f4a7c15ULL) + 12345u);
    x = static_cast<Unsigned>(x ^ static_cast<Unsigned>(x >> half));
  }
  return x;
}

/// Returns n different keys of an integral type. None is among the three largest values, which are
/// sentinels by default. Different streams of up to 2^28 keys share no key if the type is wide
/// enough (64 bits).
template <class Key>
std::vector<Key> unique_keys(std::size_t n, std::uint64_t stream = 0) {
  using bits = std::make_unsigned_t<Key>;
  std::vector<Key> keys;
  keys.reserve(n);
  for (std::uint64_t i = stream << 28; keys.size() < n; ++i) {
    Key const key = static_cast<Key>(permute(static_cast<bits>(i)));
    if (key < std::numeric_limits<Key>::max() - 2) keys.push_back(key);
  }
  return keys;
}

/// Returns n draws from some keys: the first tenth of the keys makes up about half of the draws.
template <class Key>
std::vector<Key> skewed_draws(std::vector<Key> const& from, std::size_t n, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<Key> draws(n);
  for (Key& draw : draws) {
    double const u = static_cast<double>(random() >> 11) * 0x1p-53;
    draw = from[static_cast<std::size_t>(static_cast<double>(from.size()) * u * u * u)];
  }
  return draws;
}

}  // namespace karpos_test
