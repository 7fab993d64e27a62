// SPDX-License-Identifier: Apache-2.0
/// \file
/// A reduction by key gives the result of sorting and reducing the values of equal keys, for any
/// keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/reduce_by_key.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos::detail::by_high_bits;
using karpos::detail::by_low_bits;
using karpos::detail::reduce_by_key::mixed;
using karpos::detail::reduce_by_key::unmixed;
using karpos_test::holds;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

enum class color : std::uint32_t {};

/// A user's operation: addition modulo a prime, which has no atomic instruction.
struct add_modulo {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return (a + b) % 65'521;
  }
};

template <class Key, class T>
using groups_of = std::vector<std::pair<Key, T>>;

/// Sorts rows by key.
template <class Key, class T>
groups_of<Key, T> sorted(std::size_t n, std::vector<Key> const& keys,
                         std::vector<T> const& values) {
  groups_of<Key, T> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = {keys[i], values[i]};
  std::sort(rows.begin(), rows.end(),
            [](auto const& a, auto const& b) { return a.first < b.first; });
  return rows;
}
template <class Key, class T, class Op>
groups_of<Key, T> oracle(std::vector<Key> const& keys, std::vector<T> const& values, Op const& op) {
  groups_of<Key, T> groups;
  for (auto const& [key, value] : sorted(keys.size(), keys, values))
    if (groups.empty() || groups.back().first != key)
      groups.emplace_back(key, value);
    else
      groups.back().second = op(groups.back().second, value);
  return groups;
}

/// Compares n groups, in any order, with those of the oracle.
template <class Key, class T>
void same_groups(std::string const& what, std::uint64_t n, std::vector<Key> const& keys,
                 std::vector<T> const& values, groups_of<Key, T> const& expected) {
  same(what + ": groups", n, expected.size());
  if (n == expected.size()) holds(what, sorted(n, keys, values) == expected);
}

template <class Key, class T, class Op>
void check_values(std::string const& what, std::vector<Key> const& keys,
                  std::vector<T> const& values, Op const& op) {
  auto const groups = oracle(keys, values, op);
  view<Key> const out_keys("keys", groups.size());
  view<T> const out_values("values", groups.size());
  std::uint64_t const n =
      karpos::reduce_by_key(space(), to_space(keys), to_space(values), out_keys, out_values, op);
  same_groups(what, n, to_host(out_keys), to_host(out_values), groups);
}

template <class T, class Key>
std::vector<T> small_values(std::vector<Key> const& keys) {
  std::vector<T> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(permute(std::uint32_t(i)) % 16);
  return values;
}

/// Checks the counts of the keys.
void check_counts(std::string const& what, std::vector<std::uint32_t> const& keys) {
  auto const expected = oracle(keys, std::vector<std::uint32_t>(keys.size(), 1), karpos::plus{});
  view<std::uint32_t> const out_keys("keys", expected.size()), counts("counts", expected.size());
  std::uint64_t const n = karpos::count_by_key(space(), to_space(keys), out_keys, counts);
  same_groups(what, n, to_host(out_keys), to_host(counts), expected);
}

/// Returns n keys, drawn with equal probability among `groups`.
template <class Key>
std::vector<Key> uniform(std::size_t n, std::uint64_t groups, std::uint64_t seed = 1) {
  random_numbers random(seed);
  std::vector<Key> keys(n);
  for (Key& key : keys)
    key = static_cast<Key>(permute(static_cast<std::uint64_t>(random.below(groups))));
  return keys;
}

/// Returns n keys of which key k is about 1 / k^exponent as frequent as the first.
std::vector<std::uint32_t> power_law(std::size_t n, double exponent, double groups) {
  random_numbers random(7);
  std::vector<std::uint32_t> keys(n);
  for (auto& key : keys) {
    double const u = static_cast<double>(random() >> 11) * 0x1p-53, e = 1 - exponent;
    double const k =
        e == 0 ? std::pow(groups, u) : std::pow(1 + u * (std::pow(groups, e) - 1), 1 / e);
    key = permute(static_cast<std::uint32_t>(k));
  }
  return keys;
}

constexpr std::uint64_t all_different = std::uint64_t(1) << 40;

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows of three keys") {
  for (std::size_t n : {0, 1, 4}) {
    std::vector<std::uint32_t> keys{5, 3, 5, 8}, values{1, 2, 4, 8};
    keys.resize(n);
    values.resize(n);
    check_values(std::to_string(n) + " rows", keys, values, karpos::plus{});
    check_counts(std::to_string(n) + " rows counted", keys);
  }
}

TEST_CASE("any number of groups, equally frequent") {
  for (std::uint64_t groups : {std::uint64_t(1), std::uint64_t(8), std::uint64_t(1000),
                               std::uint64_t(10'000), std::uint64_t(100'000), all_different}) {
    std::string const what = std::to_string(groups) + " groups";
    auto const keys = uniform<std::uint32_t>(300'007, groups);
    check_counts(what, keys);
    check_values(what + ", sum", keys, small_values<std::uint32_t>(keys), karpos::plus{});
    check_values(what + ", user's", keys, small_values<std::uint32_t>(keys), add_modulo{});
  }
}

TEST_CASE("skew: power laws, half of the rows one key, sorted rows, runs") {
  constexpr std::size_t n = 400'000;
  for (double exponent : {0.75, 1.0, 1.25})
    check_counts("exponent " + std::to_string(exponent), power_law(n, exponent, 1e6));
  for (std::uint64_t groups : {std::uint64_t(100), all_different}) {
    auto keys = uniform<std::uint32_t>(n, groups);
    for (std::size_t i = 0; i < n; i += 2) keys[i] = 12;
    check_counts("half one key", keys);
    std::sort(keys.begin() + n / 2, keys.end());
    check_counts("half of them sorted", keys);
  }
  std::vector<std::uint32_t> runs(n);
  for (std::size_t i = 0; i < n; ++i) runs[i] = static_cast<std::uint32_t>(i / 3);
  check_counts("runs of three", runs);
  for (std::size_t i = 0; i < n; ++i) runs[i] = static_cast<std::uint32_t>(i / 50'000);
  check_counts("long runs", runs);
}

namespace {
/// Returns whether rows are pre-aggregated before they are split.
bool pre_aggregates(std::vector<std::uint32_t> const& keys) {
  view<std::uint32_t> const out("keys", keys.size());
  auto const in = to_space(keys);
  karpos_test::listener const recorder;
  karpos::distinct(space(), in, out);
  bool first = false;
  for (auto const& launch : karpos_test::record.launches)
    first = first || launch.label == "karpos::reduce_by_key: aggregate first";
  for (auto const& label : karpos_test::record.regions)
    first = first || label == "karpos::reduce_by_key: aggregate first";
  return first;
}
}  // namespace

TEST_CASE("CPUs aggregate rows first if a table holds most of them") {
  if (karpos::device::is_device<space>) return;
  std::size_t const n = 200'000;
  auto half_equal = uniform<std::uint32_t>(n, all_different), few = uniform<std::uint32_t>(n, 3000);
  for (std::size_t i = 0; i < n; i += 2) half_equal[i] = few[i] = 7;
  CHECK(pre_aggregates(uniform<std::uint32_t>(n, 1)));
  CHECK(pre_aggregates(uniform<std::uint32_t>(n, 1000)));
  CHECK(pre_aggregates(uniform<std::uint32_t>(n, 5000)));
  CHECK(pre_aggregates(few));
  CHECK(pre_aggregates(power_law(n, 1.5, 1e7)));
  CHECK(!pre_aggregates(uniform<std::uint32_t>(n, 60'000)));
  CHECK(!pre_aggregates(power_law(n, 1.0, 1e7)));
  CHECK(!pre_aggregates(half_equal));
  CHECK(!pre_aggregates(uniform<std::uint32_t>(n, all_different)));
}

TEST_CASE("rows of 8 and 16 bytes: signed, unsigned and floating-point") {
  constexpr std::size_t n = 120'000;
  for (std::uint64_t groups : {std::uint64_t(300), std::uint64_t(50'000), all_different}) {
    std::string const what = std::to_string(groups) + " groups, ";
    auto const wide = uniform<std::uint64_t>(n, groups);
    auto const narrow = uniform<std::int32_t>(n, groups);
    check_values(what + "8+8", wide, small_values<std::uint64_t>(wide), karpos::plus{});
    check_values(what + "4+8 double", narrow, small_values<double>(narrow), karpos::plus{});
#if KARPOS_FULL_TESTS
    check_values(what + "4+4 float", narrow, small_values<float>(narrow), karpos::plus{});
#endif
  }
}

TEST_CASE("smallest and largest values") {
  auto const keys = uniform<std::int64_t>(150'000, 5'000);
  std::vector<std::int32_t> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int32_t>(permute(static_cast<std::uint32_t>(i)));
  check_values("minimum", keys, values, karpos::minimum{});
  check_values("maximum", keys, values, karpos::maximum{});
}

TEST_CASE("every bit pattern is a key") {
  auto keys = uniform<std::uint32_t>(200'000, 1'000);
  for (std::size_t i = 0; i < keys.size(); i += 5) keys[i] = ~std::uint32_t(0);
  for (std::size_t i = 1; i < keys.size(); i += 5) keys[i] = 0;
  check_counts("with all ones and all zeros", keys);
  check_counts("all ones alone", std::vector<std::uint32_t>(100'000, ~std::uint32_t(0)));
  check_counts("all ones once", {~std::uint32_t(0), 3});
  // Tables mark an empty slot by bits that are all ones. This key has these bits once it is mixed.
  std::uint32_t const marks_empty = unmixed(~std::uint32_t(0));
  for (std::size_t i = 2; i < keys.size(); i += 5) keys[i] = marks_empty;
  check_counts("with the bits of an empty slot", keys);
  check_values("with the bits of an empty slot, sum", keys, small_values<std::uint32_t>(keys),
               add_modulo{});
  check_counts("the bits of an empty slot alone", std::vector<std::uint32_t>(100'000, marks_empty));
  check_counts("the bits of an empty slot once", {marks_empty, 3});
  auto wide = uniform<std::uint64_t>(200'000, 1'000);
  for (std::size_t i = 0; i < wide.size(); i += 5) wide[i] = unmixed(~std::uint64_t(0));
  check_values("8 bytes", wide, small_values<std::uint64_t>(wide), karpos::plus{});
}

template <class Bits>
void check_mixing() {
  random_numbers random(3);
  std::size_t wrong = 0, far = 0;
  for (int i = 0; i < 100'000; ++i) {
    auto const x = static_cast<Bits>(i < 1000 ? std::uint64_t(i) << (i % 3 * 20) : random());
    wrong += unmixed(mixed(x)) != x || mixed(unmixed(x)) != x;
    for (std::uint32_t n : {1u, 7u, 8192u})
      far += by_high_bits(mixed(x), n) >= n || by_low_bits(mixed(x), n) >= n;
  }
  same("bits that are not found again", wrong, 0);
  same("partitions and slots out of range", far, 0);
}

TEST_CASE("mixing bits is undone") {
  check_mixing<std::uint32_t>();
  check_mixing<std::uint64_t>();
}

TEST_CASE("floating-point keys: both zeros are one, every NaN is one") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t n : {12u, 120'000u}) {
    std::vector<float> keys(n);
    float const some[] = {0.0f, -0.0f, nan, -nan, 1.5f, -1.5f};
    for (std::size_t i = 0; i < n; ++i) keys[i] = some[i % 6];
    view<float> const out_keys("keys", 4);
    view<std::uint64_t> const counts("counts", 4);
    same("keys", karpos::count_by_key(space(), to_space(keys), out_keys, counts), 4);
    auto const k = to_host(out_keys);
    auto const c = to_host(counts);
    std::uint64_t zeros = 0, nans = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (k[i] == 0) zeros += std::signbit(k[i]) ? 0 : c[i];
      if (k[i] != k[i]) nans += c[i];
    }
    same("zeros", zeros, n / 3);
    same("NaNs", nans, n / 3);
  }
}

TEST_CASE("different keys alone") {
  for (std::uint64_t groups : {std::uint64_t(10), std::uint64_t(200'000), all_different}) {
    auto const numbers = uniform<std::uint32_t>(250'000, groups);
    std::vector<color> keys;
    for (auto number : numbers) keys.push_back(color(number));
    view<color> const out("keys", keys.size());
    std::uint64_t const n = karpos::distinct(space(), to_space(keys), out);
    auto got = to_host(out, n);
    std::sort(got.begin(), got.end());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    holds(std::to_string(groups) + " groups", got == keys);
  }
}

TEST_CASE("sizes around those of chunks and samples") {
  for (std::size_t n : {2u, 1023u, 1024u, 8192u, 16'383u, 16'384u, 16'385u, 24'576u, 32'769u,
                        65'535u, 65'536u, 65'537u})
    for (std::uint64_t groups : {std::uint64_t(100), all_different})
      check_counts(std::to_string(n) + " rows", uniform<std::uint32_t>(n, groups, n));
}

TEST_CASE("three million rows") {
  check_counts("half a million groups", uniform<std::uint32_t>(3'000'000, 500'000));
}

/// Returns n keys that all belong to the first partition of the first split of n rows of a type.
template <class Row, class Bits>
std::vector<Bits> keys_of_one_partition(std::size_t n, Bits apart) {
  namespace reduce = karpos::detail::reduce_by_key;
  auto const partitions = reduce::sizes<space, Row>::partitions(n);
  auto const inverse = reduce::inverse_of_odd(
      static_cast<Bits>(reduce::partition_of_bits(partitions, 0).multiplier));
  std::vector<Bits> keys(n);
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = unmixed(static_cast<Bits>(static_cast<Bits>(i) * apart * inverse));
    others += reduce::partition_of_bits(partitions, 0)(mixed(keys[i]));
  }
  same("keys of other partitions", others, 0);
  return keys;
}
template <class Row>
void check_keys_of_one_partition() {
  constexpr std::size_t n = 100'000;
  auto const keys = keys_of_one_partition<Row, std::uint64_t>(n, 40'000);
  check_values("8 bytes", keys, small_values<std::uint64_t>(keys), karpos::plus{});
  check_counts("4 bytes", keys_of_one_partition<Row, std::uint32_t>(n, 1));
}

TEST_CASE("keys whose mixed bits agree in those that choose a partition") {
  check_keys_of_one_partition<std::uint32_t>();
  check_keys_of_one_partition<karpos::key_value<std::uint32_t, std::uint32_t>>();
  check_keys_of_one_partition<karpos::key_value<std::uint64_t, std::uint64_t>>();
}

TEST_CASE(
    "outputs that are too short are filled and no further, and the message says what would do") {
  for (std::size_t n : {1000u, 200'000u}) {
    std::vector<std::uint32_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i);
    auto const in = to_space(keys);
    view<std::uint32_t> const out("keys", n), counts("counts", n);
    Kokkos::deep_copy(out, 0xabababab);
    auto const shorter = Kokkos::subview(out, std::pair<std::size_t, std::size_t>(0, n - 1));
    throws<std::invalid_argument>([&] { karpos::count_by_key(space(), in, shorter, counts); },
                                  std::to_string(n - 1), std::to_string(n) + " keys");
    same("the element behind", to_host(out)[n - 1], 0xabababab);
    throws<std::invalid_argument>([&] { karpos::distinct(space(), in, shorter); },
                                  std::to_string(n) + " keys");
    same("the element behind", to_host(out)[n - 1], 0xabababab);
  }
}

TEST_CASE("the caller's workspace, as large as reduce_by_key_bytes says; strided views") {
  constexpr std::size_t n = 100'000;
  auto const keys = uniform<std::uint32_t>(n, 70'000);
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, typename space::memory_space> const table(
      "t", n, 3);
  auto const in = Kokkos::subview(table, Kokkos::ALL, 0);
  auto const out = Kokkos::subview(table, Kokkos::ALL, 1),
             counts = Kokkos::subview(table, Kokkos::ALL, 2);
  Kokkos::deep_copy(in, to_space(keys));
  std::size_t const bytes = karpos::reduce_by_key_bytes<std::uint32_t, std::uint32_t>(space(), n);
  view<std::byte> const memory("workspace", bytes + 1);
  std::uint64_t const groups =
      karpos::count_by_key(space(), in, out, counts, {.workspace = {memory.data(), bytes}});
  view<std::uint32_t> const packed("keys", n), packed_counts("counts", n);
  Kokkos::deep_copy(packed, out);
  Kokkos::deep_copy(packed_counts, counts);
  same_groups("workspace", groups, to_host(packed), to_host(packed_counts),
              oracle(keys, std::vector<std::uint32_t>(n, 1), karpos::plus{}));
  throws<std::invalid_argument>(
      [&] {
        karpos::count_by_key(space(), in, out, counts, {{memory.data(), bytes - 1}});
      },
      "workspace", std::to_string(bytes), "reduce_by_key_bytes");
  throws<std::invalid_argument>(
      [&] {
        karpos::count_by_key(space(), in, out, counts, {{memory.data() + 1, bytes}});
      },
      "aligned");
}

TEST_CASE("refused: no memory for a workspace") {
  if (!karpos_test::can_exhaust_memory()) return;
  std::size_t const n = 1'000'000;
  view<std::uint32_t> const keys("keys", n), values("values", n), out("out", n), sums("sums", n);
  throws<karpos::allocation_error>(
      [&] {
        karpos_test::no_memory const none(std::size_t(1) << 20);
        karpos::reduce_by_key(space(), keys, values, out, sums);
      },
      "karpos::reduce_by_key: out of memory", "its workspace");
}

TEST_CASE("refused: values of another length") {
  view<std::uint32_t> const keys("keys", 30), values("values", 29), out("out", 30);
  throws<std::invalid_argument>([&] { karpos::reduce_by_key(space(), keys, values, out, out); },
                                "29");
}

TEST_CASE("refused: outputs that share memory with another view; columns of one table do not") {
  view<std::uint32_t> const keys("keys", 30), values("values", 30), out("out", 30);
  throws<std::invalid_argument>([&] { karpos::reduce_by_key(space(), keys, values, out, out); },
                                "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::reduce_by_key(space(), keys, values, keys, out); },
                                "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::reduce_by_key(space(), keys, values, out, values); },
                                "reduced values overlaps");
  throws<std::invalid_argument>([&] { karpos::distinct(space(), keys, keys); },
                                "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::count_by_key(space(), keys, keys, out); },
                                "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::count_by_key(space(), keys, out, out); },
                                "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::count_by_key(space(), keys, out, keys); },
                                "counts overlaps");
  std::size_t const bytes =
      karpos::reduce_by_key_bytes<std::uint32_t, std::uint32_t>(space(), keys.extent(0));
  view<std::byte> const memory("workspace", bytes);
  Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const inside(
      reinterpret_cast<std::uint32_t*>(memory.data()), 30);
  karpos::reduce_by_key_options const in_memory{{memory.data(), bytes}};
  throws<std::invalid_argument>(
      [&] { karpos::reduce_by_key(space(), keys, values, out, inside, {}, in_memory); },
      "reduced values overlaps");
  throws<std::invalid_argument>(
      [&] { karpos::count_by_key(space(), keys, inside, out, in_memory); },
      "different keys overlaps");
  throws<std::invalid_argument>([&] { karpos::distinct(space(), keys, inside, in_memory); },
                                "different keys overlaps");
  view<std::uint32_t> const sums("sums", 30);
  auto const refuses_workspace = [&](auto const& call) {
    throws<std::invalid_argument>(call, "the workspace of a reduction overlaps");
  };
  refuses_workspace(
      [&] { karpos::reduce_by_key(space(), inside, values, out, sums, {}, in_memory); });
  refuses_workspace(
      [&] { karpos::reduce_by_key(space(), keys, inside, out, sums, {}, in_memory); });
  refuses_workspace([&] { karpos::count_by_key(space(), inside, out, sums, in_memory); });
  refuses_workspace([&] { karpos::distinct(space(), inside, out, in_memory); });
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, typename space::memory_space> const table(
      "table", 30, 2);
  auto const column = [&](int c) { return Kokkos::subview(table, Kokkos::ALL, c); };
  CHECK(karpos::reduce_by_key(space(), keys, values, column(0), column(1)) == 1);
}
