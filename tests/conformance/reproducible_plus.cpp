// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reproducible sums: equal bits in every order of the rows, and the value nearest to the exact
/// sum.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <karpos/reduce_by_key.hpp>
#include <karpos/reproducible_plus.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/space.hpp"

namespace {

using karpos::aggregate;
using karpos::reproducible_plus;
using karpos_test::holds;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Returns sums by key, as bits; every NaN has the same bits.
template <class To, class From>
std::map<std::uint32_t, std::uint64_t> sums(std::vector<std::uint32_t> const& keys,
                                            std::vector<From> const& x) {
  view<std::uint32_t> const out_keys("keys", keys.size());
  view<To> const out("sums", keys.size());
  std::uint64_t const n = karpos::reduce_by_key(space(), to_space(keys), out_keys,
                                                aggregate(to_space(x), reproducible_plus{}, out));
  auto const k = to_host(out_keys, n);
  auto const s = to_host(out, n);
  std::map<std::uint32_t, std::uint64_t> bits;
  for (std::size_t i = 0; i < n; ++i) {
    bits[k[i]] = std::isnan(s[i]) ? ~std::uint64_t(0) : 0;
    if (!std::isnan(s[i])) std::memcpy(&bits[k[i]], &s[i], sizeof(To));
  }
  return bits;
}

template <class T>
std::uint64_t bits_of(T x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  return bits;
}

/// Returns the sum of some numbers with one key.
template <class T>
T sum(std::vector<T> const& x) {
  std::uint64_t const bits = sums<T>(std::vector<std::uint32_t>(x.size(), 7), x).at(7);
  T s;
  std::memcpy(&s, &bits, sizeof(T));
  return s;
}

/// Shuffles the rows.
template <class T>
void shuffle(std::vector<std::uint32_t>& keys, std::vector<T>& x, std::uint64_t seed) {
  random_numbers random(seed);
  for (std::size_t i = keys.size() - 1; i > 0; --i) {
    std::size_t const j = random.below(i + 1);
    std::swap(keys[i], keys[j]);
    std::swap(x[i], x[j]);
  }
}

/// Returns numbers of both signs, with `exponents` different exponents and all 53 bits.
std::vector<double> numbers(std::size_t n, int exponents, std::uint64_t seed) {
  random_numbers random(seed);
  std::vector<double> x(n);
  for (double& v : x) {
    auto const mantissa = static_cast<double>(random() >> 11) * 0x1p-53 + 0.5;
    int const e = static_cast<int>(random.below(static_cast<std::uint64_t>(exponents)));
    v = std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, e - exponents / 2);
  }
  return x;
}

std::vector<std::uint32_t> some_keys(std::size_t n, std::uint32_t groups) {
  random_numbers random(n);
  std::vector<std::uint32_t> keys(n);
  for (auto& key : keys) key = static_cast<std::uint32_t>(random.below(groups));
  return keys;
}

}  // namespace

TEST_CASE("goldens: what double cannot add in order is exact") {
  same("no rows", sums<double>({}, std::vector<double>{}).size(), 0);
  CHECK(sum<double>({1.5}) == 1.5);
  CHECK(sum<double>({-0.0, -0.0}) == 0);
  CHECK(sum<double>({0x1p53, 1, 1}) == 0x1p53 + 2);
  CHECK(sum<double>({0x1p53, 1}) == 0x1p53);               // a tie: rounds to even
  CHECK(sum<double>({0x1p53 + 2, 1}) == 0x1p53 + 4);       // a tie that rounds upwards
  CHECK(sum<double>({0x1p53, 1, 0x1p-30}) == 0x1p53 + 2);  // not a tie
  CHECK(sum<double>({-0x1p53, -1, -0x1p-30}) == -0x1p53 - 2);
  CHECK(sum<double>({1e16, 1, -1e16}) == 1);
  CHECK(sum<double>({0.1, 0.2, 0.3}) == 0.6);
  CHECK(sum<float>({0x1p24f, 1, 0x1p-20f}) == 0x1p24f + 2);
  CHECK(sum<float>({16777216.0f, 1, -16777216.0f}) == 1);
}

TEST_CASE("smallest and largest numbers, and sums that none can hold") {
  double const least = std::numeric_limits<double>::denorm_min(),
               most = std::numeric_limits<double>::max();
  CHECK(sum<double>({least, least, least}) == 3 * least);
  CHECK(sum<double>({0x1p-1022, -least}) == 0x1p-1022 - least);
  CHECK(sum<double>({most, most}) == infinity);
  CHECK(sum<double>({-most, -most}) == -infinity);
  CHECK(sum<double>({most, most, -most}) == most);
  CHECK(sum<double>({most, 1, -most}) == 0);  // 1 is far below the 90 bits of the largest
  CHECK(sum<double>({most, least}) == most);
  float const least_float = std::numeric_limits<float>::denorm_min();
  CHECK(sum<float>({least_float, least_float}) == 2 * least_float);
  CHECK(sum<float>({std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}) ==
        std::numeric_limits<float>::infinity());
}

TEST_CASE("infinities and NaNs") {
  CHECK(sum<double>({1, infinity, 2}) == infinity);
  CHECK(sum<double>({-infinity, 1e308, -infinity}) == -infinity);
  CHECK(std::isnan(sum<double>({infinity, 1, -infinity})));
  CHECK(std::isnan(sum<double>({1, no_number})));
  CHECK(std::isnan(sum<double>({infinity, no_number})));
  CHECK(sums<double>({1, 2, 3}, std::vector<double>{infinity, 0.5, no_number}).at(2) ==
        bits_of(0.5));
}

TEST_CASE("floats are added in doubles on request") {
  auto const got = sums<double>({1, 1}, std::vector<float>{0x1p24f, 1});
  same("sum", got.at(1), bits_of(0x1p24 + 1));
}

TEST_CASE("every order makes the same bits, and these are right: 20 and 600 exponents") {
  for (int exponents : {20, 600})
    for (std::uint32_t groups : {1u, 40u, 30'000u}) {
      std::size_t const n = 100'000;
      auto keys = some_keys(n, groups);
      auto x = numbers(n, exponents, groups);
      std::map<std::uint32_t, long double> expected, absolute;
      for (std::size_t i = 0; i < n; ++i) {
        expected[keys[i]] += x[i];
        absolute[keys[i]] += std::fabs(x[i]);
      }
      auto const first = sums<double>(keys, x);
      std::string const what =
          std::to_string(exponents) + " exponents, " + std::to_string(groups) + " groups";
      same(what, first.size(), expected.size());
      bool near = true;
      for (auto const& [key, bits] : first) {
        double s;
        std::memcpy(&s, &bits, sizeof(s));
        near &= std::fabs(s - expected[key]) <=
                std::ldexp(std::fabs(expected[key]), -53) + std::ldexp(absolute[key], -60);
      }
      holds(what + ": near", near);
      for (std::uint64_t seed : {1u, 2u}) {
        shuffle(keys, x, seed);
        holds(what + ": the same bits", sums<double>(keys, x) == first);
      }
    }
}

TEST_CASE("a column with one number far above all others: the other keys do not notice") {
  std::size_t const n = 70'000;
  auto keys = some_keys(n, 5'000);
  auto x = numbers(n, 10, 3);
  auto expected = sums<double>(keys, x);
  keys.push_back(999'999);
  x.push_back(1e300);
  expected[999'999] = bits_of(1e300);
  holds("sums", sums<double>(keys, x) == expected);
}

TEST_CASE("a workspace that is too small is refused before a kernel runs") {
  view<std::uint32_t> const keys("keys", 3000), out("out", 3000);
  view<double> const column("column", 3000), sums("sums", 3000);
  auto const wanted = aggregate(column, reproducible_plus{}, sums);
  view<std::byte> const memory("workspace", 64);
  karpos_test::listener const recorder;
  throws<std::invalid_argument>(
      [&] {
        karpos::reduce_by_key(space(), keys, out, wanted, {{memory.data(), 64}});
      },
      "workspace", "too small");
  CHECK(karpos_test::record.launches.empty());
  CHECK(karpos_test::record.allocations.empty());
}

TEST_CASE("beside other aggregates") {
  auto const keys = some_keys(50'000, 300);
  auto const x = numbers(keys.size(), 12, 4);
  auto const alone = sums<double>(keys, x);
  view<std::uint32_t> const out_keys("keys", 300), counts("counts", 300);
  view<double> const total("total", 300), largest("largest", 300), again("again", 300);
  auto const column = to_space(x);
  auto const wanted =
      karpos::aggregates(karpos::aggregate_count(counts),
                         aggregate(column, karpos::maximum{}, largest, reproducible_plus{}, total),
                         aggregate(column, reproducible_plus{}, again));
  same("groups", karpos::reduce_by_key(space(), to_space(keys), out_keys, wanted), 300);
  auto const k = to_host(out_keys), c = to_host(counts);
  auto const t = to_host(total), l = to_host(largest), a = to_host(again);
  std::map<std::uint32_t, double> expected;
  std::map<std::uint32_t, std::uint32_t> rows;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const at = expected.emplace(keys[i], x[i]).first;
    at->second = std::max(at->second, x[i]);
    ++rows[keys[i]];
  }
  for (std::size_t i = 0; i < 300; ++i) {
    same("count", c[i], rows[k[i]]);
    same("total", bits_of(t[i]), alone.at(k[i]));
    same("again", bits_of(a[i]), alone.at(k[i]));
    same("largest", bits_of(l[i]), bits_of(expected[k[i]]));
  }
}
