// SPDX-License-Identifier: Apache-2.0
/// \file
/// Columns as rows: equality, hashes and their distribution, nulls, bad arguments; all evaluated in
/// kernels.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <karpos/rows.hpp>
#include <karpos/string_column.hpp>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"
#include "support/strings.hpp"

namespace {

using karpos_test::holds;
using karpos_test::same;
using karpos_test::space;
using karpos_test::strings_in_space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

template <class Column>
struct hash_strings {
  Column column;
  view<std::uint64_t> out;
  KOKKOS_FUNCTION void operator()(int i) const { out(i) = column(i).hash(7); }
};

/// Computes the hashes of rows, and compares each row with each of other rows.
template <class Rows>
struct hash_all {
  Rows rows;
  view<std::uint64_t> out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { out(i) = rows.hash(i); }
};
template <class Rows, class Others>
struct compare_all {
  Rows rows;
  Others others;
  view<std::uint32_t> out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    out(i) = rows.equal(i / others.size(), others, i % others.size());
  }
};

using range = Kokkos::RangePolicy<space, Kokkos::IndexType<std::uint64_t>>;

template <class Rows>
std::vector<std::uint64_t> hashes(Rows const& rows) {
  view<std::uint64_t> const out("hashes", rows.size());
  Kokkos::parallel_for(range(space(), 0, rows.size()), hash_all<Rows>{rows, out});
  return to_host(out);
}
template <class Rows, class Others>
std::vector<std::uint32_t> equalities(Rows const& rows, Others const& others) {
  view<std::uint32_t> const out("equal", rows.size() * others.size());
  Kokkos::parallel_for(range(space(), 0, out.extent(0)),
                       compare_all<Rows, Others>{rows, others, out});
  return to_host(out);
}

/// Checks that rows are equal if and only if the oracle says so, and have equal hashes exactly
/// then.
template <class Rows>
void check_rows(std::string const& what, Rows const& rows,
                std::function<bool(std::size_t, std::size_t)> const& oracle) {
  std::size_t const n = rows.size();
  auto const hash = hashes(rows);
  auto const equal = equalities(rows, rows);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      std::string const pair = what + ": " + std::to_string(i) + " and " + std::to_string(j);
      same(pair, equal[i * n + j], oracle(i, j));
      if (oracle(i, j) || i == j) same(pair + ", hashes", hash[i], hash[j]);
    }
  std::set<std::uint64_t> const different(hash.begin(), hash.end());
  std::size_t groups = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool is_first = true;
    for (std::size_t j = 0; j < i; ++j) is_first &= !oracle(i, j);
    groups += is_first;
  }
  holds(what + ": no more hashes than groups", different.size() <= groups);
}

struct pair_of_ids {
  std::uint64_t a, b;
};
struct cell {
  std::int32_t i, j, k;
};
struct wide {
  std::uint64_t word[4];
};

/// Rows with columns of many types: the values of row i are small numbers.
struct mixed {
  view<std::int8_t> a;
  view<std::int32_t> b;
  view<double> c;
  view<std::int64_t> d;
  view<pair_of_ids> e;

  explicit mixed(std::size_t n) {
    std::vector<std::int8_t> ha(n);
    std::vector<std::int32_t> hb(n);
    std::vector<double> hc(n);
    std::vector<std::int64_t> hd(n);
    std::vector<pair_of_ids> he(n);
    for (std::size_t i = 0; i < n; ++i) {
      ha[i] = static_cast<std::int8_t>(value(i, 0));
      hb[i] = value(i, 1);
      hc[i] = value(i, 2);
      hd[i] = value(i, 3);
      he[i] = {5, static_cast<std::uint64_t>(value(i, 4))};
    }
    a = to_space(ha), b = to_space(hb), c = to_space(hc), d = to_space(hd), e = to_space(he);
  }
  auto rows() const { return karpos::rows(a, b, c, d, e); }
  static std::int32_t value(std::size_t i, std::size_t column) { return i >> column & 1 ? -1 : 1; }
};

/// Checks that hashes spread over buckets as random numbers do, by their high and their low bits,
/// and that none are equal.
void check_distribution(std::string const& what, std::vector<std::uint64_t> const& hash) {
  same(what + ": different hashes", std::set<std::uint64_t>(hash.begin(), hash.end()).size(),
       hash.size());
  constexpr int bits = 10;
  double const mean = static_cast<double>(hash.size()) / (1 << bits);
  for (int shift : {0, 20, 32, 64 - bits}) {
    std::vector<double> bucket(1 << bits);
    for (auto h : hash) bucket[h >> shift & ((1 << bits) - 1)] += 1;
    double chi_square = 0;
    for (double b : bucket) chi_square += (b - mean) * (b - mean) / mean;
    // There are 1,023 degrees of freedom, so the standard deviation is 45.
    INFO(what << ", bits from " << shift << ": chi square " << chi_square);
    CHECK(chi_square > 1023 - 6 * 45.2);
    CHECK(chi_square < 1023 + 6 * 45.2);
  }
}

template <class T, class F>
view<T> column(std::size_t n, F const& value) {
  view<T> const values("column", n);
  auto const host = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; i < n; ++i) host(i) = static_cast<T>(value(i));
  Kokkos::deep_copy(values, host);
  return values;
}

}  // namespace

TEST_CASE("goldens: no row, one, and four of which two are equal") {
  for (std::size_t n : {0u, 1u, 4u}) {
    auto const i = column<std::int32_t>(n, [](std::size_t r) { return r == 2; });
    auto const j = column<std::int64_t>(n, [](std::size_t r) { return r == 1 ? 7 : 5; });
    same("size", karpos::rows(i, j).size(), n);
    check_rows(std::to_string(n) + " rows", karpos::rows(i, j),
               [](std::size_t a, std::size_t b) { return a == b || (a + b == 3 && a * b == 0); });
  }
}

TEST_CASE("mixed types: rows are equal that agree in every column") {
  mixed const m(64);  // each of 32 rows twice
  check_rows("mixed", m.rows(), [](std::size_t i, std::size_t j) { return i % 32 == j % 32; });
}

TEST_CASE("structs of 12, 16 and 32 bytes") {
  std::vector<cell> cells;
  std::vector<wide> wides;
  for (int i = 0; i < 27; ++i) cells.push_back({i / 9, i / 3 % 3, i % 3});
  for (unsigned i = 0; i < 27; ++i) wides.push_back({{i / 9, i / 3 % 3, i % 3, 8}});
  auto const c = to_space(cells);
  auto const w = to_space(wides);
  auto const differ = [](std::size_t i, std::size_t j) { return i == j; };
  check_rows("12 bytes", karpos::rows(c), differ);
  check_rows("32 bytes", karpos::rows(w), differ);
  check_rows("44 bytes", karpos::rows(w, c), differ);
}

TEST_CASE("strided columns, and columns of a table") {
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename space::memory_space> const table(
      "table", 30, 3);
  auto const host = Kokkos::create_mirror_view(table);
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t c = 0; c < 3; ++c) host(i, c) = static_cast<std::int32_t>(i / (c + 1) % 3);
  Kokkos::deep_copy(table, host);
  auto const rows =
      karpos::rows(Kokkos::subview(table, Kokkos::ALL, 0), Kokkos::subview(table, Kokkos::ALL, 2));
  check_rows("table", rows,
             [](std::size_t i, std::size_t j) { return i % 3 == j % 3 && i / 3 % 3 == j / 3 % 3; });
  auto const dense = column<std::int32_t>(30, [](std::size_t i) { return i % 3; });
  auto const equal =
      equalities(karpos::rows(dense), karpos::rows(Kokkos::subview(table, Kokkos::ALL, 0)));
  for (std::size_t i = 0; i < 900; ++i)
    same("dense against strided", equal[i], i / 30 % 3 == i % 30 % 3);
}

TEST_CASE("zeros are equal, NaNs are equal") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const payload = std::bit_cast<double>(std::uint64_t(0x7ff8'0000'0000'1234));
  auto const d = to_space(std::vector<double>{0.0, -0.0, nan, -nan, payload, 1.0});
  std::size_t const group[] = {0, 0, 2, 2, 2, 5};
  auto const oracle = [&](std::size_t i, std::size_t j) { return group[i] == group[j]; };
  check_rows("double", karpos::rows(d), oracle);
  float const nan_f = std::numeric_limits<float>::quiet_NaN();
  auto const f = to_space(std::vector<float>{-0.0f, 0.0f, -nan_f, nan_f, nan_f, 1.0f});
  check_rows("float", karpos::rows(f), oracle);
  check_rows("both", karpos::rows(f, d), oracle);
}

TEST_CASE("nulls: equal to each other, or to nothing; what lies below them does not matter") {
  auto const a = column<std::int32_t>(8, [](std::size_t i) { return i; });
  auto const b = column<double>(8, [](std::size_t i) { return i / 4; });
  auto const valid_a = column<bool>(8, [](std::size_t i) { return i % 4 == 0; });
  auto const valid_b = column<std::uint8_t>(8, [](std::size_t i) { return i % 4 == 1 ? 0 : 2; });
  auto const rows = karpos::rows(karpos::nullable(a, valid_a), karpos::nullable(b, valid_b));
  // 0: (0, 0)   1: (-, -)   2: (-, 0)   3: (-, 0)   4: (4, 1)   5: (-, -)   6: (-, 1)   7: (-, 1)
  std::size_t const group[] = {0, 1, 2, 2, 4, 1, 6, 6};
  check_rows("equal", rows, [&](std::size_t i, std::size_t j) { return group[i] == group[j]; });
  auto const unequal = equalities(rows.with_nulls(karpos::null_equality::unequal), rows);
  for (std::size_t i = 0; i < 64; ++i)
    same("unequal: " + std::to_string(i), unequal[i], i % 9 == 0 && (i / 9 == 0 || i / 9 == 4));
  // Zero and null differ.
  auto const zeros = column<std::int32_t>(2, [](std::size_t) { return 0; });
  auto const second = column<bool>(2, [](std::size_t i) { return i == 1; });
  check_rows("zero and null", karpos::rows(karpos::nullable(zeros, second)),
             [](std::size_t i, std::size_t j) { return i == j; });
}

namespace {
/// A hash and an equality modulo ten that ignore the last column.
struct hash_modulo {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int32_t a, double) const {
    return static_cast<std::uint32_t>(a % 10);
  }
};
struct equal_modulo {
  KOKKOS_FUNCTION bool operator()(std::int32_t a, double, std::int32_t b, double) const {
    return a % 10 == b % 10;
  }
};
}  // namespace

TEST_CASE("hash and equality of the caller's") {
  auto const a = column<std::int32_t>(40, [](std::size_t i) { return i; });
  auto const b = column<double>(40, [](std::size_t i) { return i; });
  auto const oracle = [](std::size_t i, std::size_t j) { return i % 10 == j % 10; };
  auto const rows = karpos::rows(a, b).with_functions(hash_modulo{}, equal_modulo{});
  check_rows("modulo", rows, oracle);
  same("mixed, because it is not avalanching", hashes(rows)[13], karpos::mix(3));
  auto const all = column<bool>(40, [](std::size_t) { return true; });
  check_rows(
      "modulo, nullable",
      karpos::rows(karpos::nullable(a, all), b).with_functions(hash_modulo{}, equal_modulo{}),
      oracle);
}

TEST_CASE("rows hash well: constant, sequential and grid columns, one bit, floating-point") {
  constexpr std::size_t n = 1 << 16;
  auto const constant = column<std::int64_t>(n, [](std::size_t) { return 42; });
  auto const sequence = column<std::int32_t>(n, [](std::size_t i) { return i; });
  auto const row = column<std::int16_t>(n, [](std::size_t i) { return i / 256; });
  auto const in_row = column<std::int8_t>(n, [](std::size_t i) { return i % 256; });
  auto const real = column<double>(n, [](std::size_t i) { return 0.5 * static_cast<double>(i); });
  auto const high = column<std::uint64_t>(n, [](std::size_t i) { return std::uint64_t(i) << 48; });
  check_distribution("sequence", hashes(karpos::rows(sequence)));
  check_distribution("constant and sequence", hashes(karpos::rows(constant, sequence)));
  check_distribution("sequence and constant", hashes(karpos::rows(sequence, constant)));
  check_distribution("twice the same", hashes(karpos::rows(sequence, sequence)));
  check_distribution("grid", hashes(karpos::rows(row, in_row)));
  check_distribution("grid, transposed", hashes(karpos::rows(in_row, row)));
  check_distribution("halves", hashes(karpos::rows(real, constant)));
  check_distribution("high bits", hashes(karpos::rows(high)));
  check_distribution("sixteen columns of one bit", hashes([&] {
                       auto const bit = [&](int b) {
                         return column<bool>(n, [b](std::size_t i) { return i >> b & 1; });
                       };
                       return karpos::rows(bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6),
                                           bit(7), bit(8), bit(9), bit(10), bit(11), bit(12),
                                           bit(13), bit(14), bit(15));
                     }()));
}

TEST_CASE("rows that differ in one bit have hashes that differ in about half of theirs") {
  constexpr std::size_t columns = 2, bits = 64;
  std::vector<std::uint64_t> a, b;
  karpos_test::random_numbers random(3);
  constexpr std::size_t rounds = 200;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::uint64_t const x = random(), y = random();
    for (std::size_t flip = 0; flip <= columns * bits; ++flip) {  // the first row is unchanged
      a.push_back(flip == 0 || flip > bits ? x : x ^ std::uint64_t(1) << (flip - 1));
      b.push_back(flip <= bits ? y : y ^ std::uint64_t(1) << (flip - 1 - bits));
    }
  }
  auto const hash = hashes(karpos::rows(to_space(a), to_space(b)));
  for (std::size_t flip = 1; flip <= columns * bits; ++flip) {
    double flipped = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::size_t const first = round * (columns * bits + 1);
      flipped += std::popcount(hash[first] ^ hash[first + flip]);
    }
    INFO("bit " << flip << ": " << flipped / rounds);
    CHECK(std::abs(flipped / rounds - 32) < 3);  // standard deviation: 4 / sqrt(200) = 0.28
  }
}

TEST_CASE("refused: columns and masks of unequal length") {
  view<std::int32_t> const a("a", 5), b("b", 6);
  view<bool> const mask("mask", 6);
  throws<std::invalid_argument>([&] { karpos::rows(a, b); }, "column", "5 against 6",
                                "same length");
  throws<std::invalid_argument>([&] { karpos::nullable(a, mask); }, "mask", "5 against 6");
  throws<std::invalid_argument>([&] { karpos::rows(a, karpos::nullable(b, mask)); }, "5 against 6");
}

namespace {

/// Strings that are easily confused: none, zeros, and pairs that differ in the first, a middle or
/// the last byte, or in their length only; each of them twice.
std::vector<std::string> confusable_strings() {
  std::vector<std::string> all;
  for (std::size_t size : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 12u, 15u, 16u, 17u, 100u}) {
    std::string const zeros(size, '\0');
    all.push_back(zeros);
    for (std::size_t at : {std::size_t(0), size / 2, size - 1}) {
      if (at >= size || (size < 4 && at != size - 1)) continue;
      std::string s = zeros;
      s[at] = '\x80';
      all.push_back(s);
    }
  }
  for (char const* const name : {"Ann", "Anna", "Annabel", "Annabella", "Annabellb", "bnnabella"})
    all.emplace_back(name);
  std::size_t const n = all.size();
  for (std::size_t i = 0; i < n; ++i) all.push_back(all[i]);
  return all;
}

template <class Offset, class Byte>
void check_strings(std::string const& what) {
  auto const all = confusable_strings();
  auto const column = strings_in_space<Offset, Byte>(all);
  check_rows(what, karpos::rows(column),
             [&](std::size_t i, std::size_t j) { return all[i] == all[j]; });
  // Strings of other memory, at other addresses modulo eight.
  auto const shifted = strings_in_space<Offset, Byte>(all, "padding");
  auto const equal = equalities(karpos::rows(column), karpos::rows(shifted));
  for (std::size_t i = 0; i < equal.size(); ++i)
    same(what + ": " + std::to_string(i), equal[i], all[i / all.size()] == all[i % all.size()]);
  auto const hash = hashes(karpos::rows(column)), other = hashes(karpos::rows(shifted));
  holds(what + ": hashes of one content", hash == other);
}

}  // namespace

TEST_CASE("kernels hash strings as the host does") {
  std::vector<std::string> all;
  for (std::size_t size = 0; size < 40; ++size) all.push_back(std::string(size, 'k'));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i > 0) all[i][i / 2] = 'a';
  auto const column = strings_in_space<std::uint32_t, char>(all);
  view<std::uint64_t> const out("hashes", all.size());
  Kokkos::parallel_for("hash strings", Kokkos::RangePolicy<space>(0, all.size()),
                       hash_strings<decltype(column)>{column, out});
  auto const seen = to_host(out);
  for (std::size_t i = 0; i < all.size(); ++i)
    same("hash", seen[i], karpos::string_ref(all[i]).hash(7));
}

TEST_CASE("strings are equal if their bytes are") {
  check_strings<std::uint32_t, char>("32 bits");
  check_strings<std::int64_t, std::byte>("64 bits, signed");
#if KARPOS_FULL_TESTS
  check_strings<std::int32_t, unsigned char>("32 bits, signed");
  check_strings<std::uint64_t, std::int8_t>("64 bits");
#endif
}

TEST_CASE("strings beside other columns, with nulls, and moved from one column to the next") {
  std::vector<std::string> const first{"", "ab", "a", "", "ab", "x"},
      last{"ab", "", "b", "", "", "y"};
  auto const a = strings_in_space<std::uint32_t, char>(first);
  auto const b = strings_in_space<std::int64_t, char>(last);
  auto const oracle = [&](std::size_t i, std::size_t j) {
    return first[i] == first[j] && last[i] == last[j];
  };
  check_rows("two columns", karpos::rows(a, b), oracle);
  auto const hash = hashes(karpos::rows(a, b));
  holds("the hash says in which column the bytes are", hash[0] != hash[1] && hash[1] != hash[2]);
  auto const number = column<std::int16_t>(6, [](std::size_t i) { return i / 5; });
  check_rows("a number and strings", karpos::rows(number, a),
             [&](std::size_t i, std::size_t j) { return i / 5 == j / 5 && first[i] == first[j]; });
  auto const valid = column<bool>(6, [](std::size_t i) { return i % 3 != 0; });
  check_rows("nulls", karpos::rows(karpos::nullable(a, valid)), [&](std::size_t i, std::size_t j) {
    return i % 3 == 0 ? j % 3 == 0 : j % 3 != 0 && first[i] == first[j];
  });
}

TEST_CASE("a view of string_ref is a column of strings; a part of a column is one") {
  std::vector<std::string> const all{"Ampere", "Volta", "", "Ohm", "Volta"};
  auto const column = strings_in_space<std::uint32_t, char>(all);
  view<karpos::string_ref> const refs("refs", 5);
  Kokkos::parallel_for(
      range(space(), 0, 5), KOKKOS_LAMBDA(std::uint64_t i) { refs(i) = column(i); });
  check_rows("refs", karpos::rows(refs),
             [&](std::size_t i, std::size_t j) { return all[i] == all[j]; });
  auto const part = karpos::string_column(
      space(), column.bytes(), Kokkos::subview(column.offsets(), std::pair<int, int>(3, 6)));
  same("strings of a part", part.extent(0), 2);
  auto const equal = equalities(karpos::rows(part), karpos::rows(refs));
  for (std::size_t i = 0; i < equal.size(); ++i)
    same("part: " + std::to_string(i), equal[i], all[3 + i / 5] == all[i % 5]);
  auto const none = karpos::string_column(
      space(), column.bytes(), Kokkos::subview(column.offsets(), std::pair<int, int>(5, 6)));
  same("no string", karpos::rows(none).size(), 0);
  karpos::string_ref const ab("ab", 2);
  std::string const text = "ab", other = "ac";
  same("on the host", ab == karpos::string_ref(std::string_view("ab")), true);
  same("a view", ab == std::string_view("ab") && std::string_view("ac") != ab, true);
  same("a string", ab == text && text == ab && ab != other, true);
  same("a literal", ab == "ab" && "ac" != ab, true);
  same("back", std::string(std::string_view(ab)) == text, true);
}

TEST_CASE("strings hash well: numbers as text, equal prefixes, one byte") {
  constexpr std::size_t n = 1 << 16;
  std::vector<std::string> digits, prefixed, wide;
  for (std::size_t i = 0; i < n; ++i) {
    digits.push_back(std::to_string(i));
    prefixed.push_back("a prefix of all of them " + std::to_string(i));
    wide.push_back({static_cast<char>(i % 256), static_cast<char>(i / 256)});
  }
  for (auto const& strings : {digits, prefixed, wide}) {
    auto const column = strings_in_space<std::uint32_t, char>(strings);
    check_distribution(strings[1], hashes(karpos::rows(column)));
  }
  std::vector<std::string> zeros;
  for (std::size_t i = 0; i < 512; ++i) zeros.emplace_back(i, '\0');
  auto const hash = hashes(karpos::rows(strings_in_space<std::uint32_t, char>(zeros)));
  same("zeros", std::set<std::uint64_t>(hash.begin(), hash.end()).size(), zeros.size());
}

TEST_CASE("refused: offsets of strings that are wrong") {
  view<char> const bytes("bytes", 10);
  auto const refuse = [&]<class Offset>(std::vector<Offset> const& offsets, auto const&... what) {
    throws<std::invalid_argument>([&] { karpos::string_column(space(), bytes, to_space(offsets)); },
                                  "karpos::string_column: ", what...);
  };
  refuse(std::vector<std::uint32_t>{}, "no offsets", "n strings have n + 1 offsets");
  refuse(std::vector<std::uint32_t>{0, 5, 3, 10}, "offset 2", "3 after 5, with 10 bytes");
  refuse(std::vector<std::uint32_t>{11}, "offset 0", "11, with 10 bytes");
  refuse(std::vector<std::int64_t>{0, 5, 11}, "offset 2", "11 after 5", "at most the number");
  refuse(std::vector<std::int64_t>{-1, 5}, "offset 0", "-1, with 10 bytes");
  karpos::string_column(space(), bytes, to_space(std::vector<std::uint32_t>{10, 10}));
  Kokkos::View<char**, Kokkos::LayoutRight, typename space::memory_space> const table("t", 5, 2);
  throws<std::invalid_argument>(
      [&] {
        karpos::string_column(space(), Kokkos::subview(table, Kokkos::ALL, 0),
                              to_space(std::vector<std::uint32_t>{0, 5}));
      },
      "karpos::string_column: bytes of strings", "side by side");
  view<std::int32_t> const numbers("numbers", 3);
  throws<std::invalid_argument>(
      [&] {
        karpos::rows(numbers, karpos::string_column(space(), bytes,
                                                    to_space(std::vector<std::uint32_t>{0, 5})));
      },
      "3 against 1");
}
