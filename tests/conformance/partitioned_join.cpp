// SPDX-License-Identifier: Apache-2.0
/// \file
/// A partitioned join has the rows that a loop over a map of the right rows finds, in any order,
/// for every algorithm that the join chooses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/partitioned_join.hpp>
#include <limits>
#include <string>
#include <vector>

#include "conformance/join_oracle.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/listener.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos::join_kind;
using karpos_test::any_pair;
using karpos_test::draws;
using karpos_test::every_kind;
using karpos_test::holds;
using karpos_test::oracle;
using karpos_test::pair_list;
using karpos_test::permute;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::table;
using karpos_test::table_of;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;
using karpos_test::widened;

/// Number of rows from which on tables are split.
constexpr std::uint64_t split_rows = karpos::detail::join::tuning<space>::min_split_rows;
/// Capacity of a partition's table, in right rows, if rows are materialised or compared by their
/// columns.
constexpr std::uint64_t capacity =
    karpos::detail::join::table_of_partition<space, karpos::detail::join::wide_row>::capacity;

template <class Number>
pair_list pairs_of(view<Number> const& left, view<Number> const& right, std::uint64_t n) {
  auto const l = to_host(left), r = to_host(right);
  pair_list pairs;
  for (std::size_t i = 0; i < n && i < l.size(); ++i)
    pairs.emplace_back(widened(l[i]), widened(r[i]));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Returns whether a kernel with that label was seen.
bool launched(std::string const& label) {
  auto const& all = karpos_test::record.launches;
  return std::any_of(all.begin(), all.end(), [&](auto const& l) { return l.label == label; });
}

/// Checks the rows of one kind of join; nothing may be written behind them.
template <class Number, class Left, class Right>
void check_kind(std::string const& what, Left const& left, Right const& right, join_kind kind,
                pair_list expected) {
  view<Number> const l("left", expected.size() + 3), r("right", expected.size() + 3);
  Kokkos::deep_copy(l, Number(77));
  Kokkos::deep_copy(r, Number(77));
  std::uint64_t n = 0;
  if (kind <= join_kind::full) {
    n = karpos::partitioned_join(space(), left, right, kind, l, r);
  } else {
    n = karpos::partitioned_join(space(), left, right, kind, l);
    Kokkos::deep_copy(r, l);
  }
  std::sort(expected.begin(), expected.end());
  std::string const of = what + ", kind " + std::to_string(static_cast<int>(kind));
  same(of + ": rows", n, expected.size());
  holds(of + ": the rows", pairs_of(l, r, n) == expected);
  auto const behind = to_host(l);
  for (std::size_t i = expected.size(); i < behind.size(); ++i)
    same(of + ": written behind the rows", behind[i], 77);
  same(of + ": size", karpos::partitioned_join_size(space(), left, right, kind), expected.size());
}

template <class Left, class Right>
void check_kinds(std::string const& what, Left const& left, Right const& right, oracle const& o) {
  for (join_kind const kind : every_kind)
    check_kind<std::uint32_t>(what, left, right, kind, o.rows(kind));
}
/// Checks tables as rows of two columns, one of them nullable, and without nulls also as rows of
/// one column.
void check(std::string const& what, table const& left, table const& right,
           karpos::null_equality nulls = karpos::null_equality::equal) {
  oracle const o(left, right, nulls, any_pair{});
  check_kinds(what, left.rows(nulls), right.rows(nulls), o);
  bool const has_nulls = std::count(left.null.begin(), left.null.end(), true) +
                             std::count(right.null.begin(), right.null.end(), true) >
                         0;
  if (!has_nulls)
    check_kinds(what + ", one column", karpos::rows(to_space(left.ids)),
                karpos::rows(to_space(right.ids)), o);
}

struct same_hash {
  KOKKOS_FUNCTION std::uint64_t operator()(std::int16_t, std::uint64_t) const { return 42; }
};
struct same_ids {
  KOKKOS_FUNCTION bool operator()(std::int16_t a, std::uint64_t x, std::int16_t b,
                                  std::uint64_t y) const {
    return a == b && x == y;
  }
};

/// Returns the x for which x ^ (x >> shift) is the argument. inverse() returns the number whose
/// product with an odd number is 1.
template <class Word>
Word unshifted(Word x, int shift) {
  for (int s = shift; s < int(8 * sizeof(Word)); s *= 2) x = static_cast<Word>(x ^ x >> s);
  return x;
}
template <class Word>
Word inverse(Word odd) {
  Word x = odd;
  for (int i = 0; i < 6; ++i) x = static_cast<Word>(x * (2 - odd * x));
  return x;
}
/// Returns the key whose word in a split row is w.
std::uint32_t key_of_word(std::uint32_t w) {
  w = unshifted(w, 15) * inverse(0x735a2d97U);
  w = unshifted(w, 15) * inverse(0x21f0aaadU);
  return unshifted(w, 16);
}
std::uint64_t key_of_word(std::uint64_t w) {
  std::uint64_t const odd = inverse<std::uint64_t>(0x0e9846af9b1a615dULL);
  w = unshifted(w, 28) * odd;
  return unshifted(unshifted(w, 32) * odd, 32);
}
/// Checks rows that are all different, joined with themselves: each matches itself.
template <class Rows>
void check_different(std::string const& what, Rows const& rows) {
  pair_list pairs;
  for (std::uint64_t i = 0; i < rows.size(); ++i) pairs.emplace_back(i, i);
  check_kind<std::uint32_t>(what, rows, rows, join_kind::inner, pairs);
}
/// Checks keys whose words differ in one bit, among others.
template <class Word>
void check_words(std::string const& what) {
  Word const first = static_cast<Word>(0x123456789abcdef0ULL);
  std::vector<Word> keys{key_of_word(first)};
  for (int bit = 0; bit < int(8 * sizeof(Word)); ++bit)
    keys.push_back(key_of_word(static_cast<Word>(first ^ Word(1) << bit)));
  for (Word w = 0; keys.size() < split_rows; ++w) keys.push_back(key_of_word(static_cast<Word>(w)));
  namespace join = karpos::detail::join;
  using rows = decltype(karpos::rows(to_space(keys)));
  using partition_table =
      join::table_of_partition<space, typename join::split_form<rows, rows, rows>::row>;
  join::split_sizes<space, partition_table> const sizes{keys.size(), keys.size()};
  auto const added = static_cast<Word>(join::word_multiplier(sizes.partition_bits()));
  for (Word& key : keys) key = static_cast<Word>(key - added);
  same(what + ": the inverse", join::mix_word(static_cast<Word>(keys[1] + added)),
       static_cast<Word>(first ^ 1));
  check_different(what, karpos::rows(to_space(keys)));
}

/// Checks one column of type T, with values that fit into it.
template <class T>
void check_type(std::string const& what) {
  auto const ids = [](table const& t) {
    std::vector<T> values(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) values[i] = static_cast<T>(t.ids[i]);
    return karpos::rows(to_space(values));
  };
  random_numbers random(21);
  auto const small = [&](std::size_t n) {
    return table_of(n, [&](std::size_t) { return random.below(30'000); });
  };
  auto const left = small(split_rows / 4), right = small(split_rows);
  oracle const o(left, right, karpos::null_equality::equal, any_pair{});
  for (join_kind const kind : {join_kind::left, join_kind::right_anti})
    check_kind<std::int64_t>(what, ids(left), ids(right), kind, o.rows(kind));
}

TEST_CASE("without memory, a partitioned join names itself and nothing that it uses") {
  if (!karpos_test::can_exhaust_memory()) return;
  std::size_t const n = 1 << 17;
  auto const ids = table_of(n, [](std::size_t i) { return i; }).rows();
  view<std::uint32_t> const left("left", n), right("right", n);
  for (join_kind const kind : {join_kind::inner, join_kind::full})  // by partitions, by an index
    karpos_test::check_messages(
        karpos_test::messages_without_memory(
            1 << 16, [&] { karpos::partitioned_join(space(), ids, ids, kind, left, right); }),
        "karpos::partitioned_join", {"row_index", "an index", "karpos::join"});
  karpos_test::check_messages(
      karpos_test::messages_without_memory(
          1 << 16, [&] { karpos::partitioned_join_size(space(), ids, ids, join_kind::full); }),
      "karpos::partitioned_join", {"row_index", "an index", "karpos::join"});
}

}  // namespace

TEST_CASE("goldens: nothing, one row, and four rows on each side") {
  for (std::size_t l : {0u, 1u, 4u})
    for (std::size_t r : {0u, 1u, 4u})
      check(std::to_string(l) + " by " + std::to_string(r) + " rows",
            table_of(l, [](std::size_t i) { return i == 3 ? 6u : 5 + i; }),
            table_of(r, [](std::size_t i) { return i == 1   ? 5u
                                                   : i == 3 ? 9u
                                                            : 6u; }));
}

TEST_CASE("sides that are split: none, one or several matches of a row, and empty sides") {
  auto const distinct = [](std::size_t n, std::uint64_t stride) {
    return table_of(n, [=](std::size_t i) { return permute(std::uint64_t(i * stride)); });
  };
  check("one match", distinct(split_rows, 1), distinct(split_rows / 2, 2));
  check("4 by 4", draws(split_rows / 2, split_rows / 8, 1), draws(split_rows, split_rows / 4, 2));
  check("64 times on the right", distinct(split_rows / 64, 3),
        table_of(split_rows, [](std::size_t i) { return permute(std::uint64_t(i / 64)); }));
  check("nothing on the left", distinct(0, 1), distinct(split_rows, 1));
  check("nothing on the right", distinct(split_rows, 1), distinct(0, 1));
}

TEST_CASE("a left row so frequent that many teams share it") {
  auto const left = table_of(12 * capacity, [](std::size_t i) {
    return i % 4 == 3 ? permute(std::uint64_t(i)) : permute(std::uint64_t(5));
  });
  check("frequent on the left", left, draws(1000, 1000, 3));
}

TEST_CASE("a right row so frequent that a partition does not fit: an index") {
  auto const right = table_of(split_rows + 2 * capacity, [](std::size_t i) {
    return i < 2 * capacity ? permute(std::uint64_t(5)) : permute(std::uint64_t(i));
  });
  check("frequent on the right", draws(20, 20, 4), right);
}

TEST_CASE("a partition that is just full, and one row more") {
  auto const left = table_of(split_rows, [](std::size_t i) { return permute(std::uint64_t(i)); });
  for (std::uint64_t more : {0u, 1u}) {
    std::string const what = "equal rows: as many as fit, and " + std::to_string(more);
    auto const right =
        table_of(capacity + more, [](std::size_t) { return permute(std::uint64_t(2)); });
    check(what, left, right);
    karpos_test::listener const recorder;
    karpos::partitioned_join_size(space(), left.rows(), right.rows(), join_kind::left);
    holds(what + ": by partitions", launched("karpos::row_index: claim slots") == (more > 0));
    // An inner join then builds a table of left rows.
    karpos_test::record = {};
    karpos::partitioned_join_size(space(), left.rows(), right.rows(), join_kind::inner);
    holds(what + ": by partitions of left rows", !launched("karpos::row_index: claim slots"));
  }
}

TEST_CASE("frequent rows on both sides of an inner join: an index") {
  auto const rows = [](std::size_t n) {
    return table_of(n, [](std::size_t i) { return permute(std::uint64_t(i % 4 ? i : 5)); }).rows();
  };
  auto const left = rows(5 * capacity), right = rows(6 * capacity);
  karpos_test::listener const recorder;
  std::uint64_t const size = karpos::partitioned_join_size(space(), left, right, join_kind::inner);
  holds("by an index", launched("karpos::row_index: claim slots"));
  karpos::row_index const index(space(), right);
  same("rows", size, karpos::join_size(space(), left, index, join_kind::inner));
}

TEST_CASE("the algorithm: by partitions, or by an index for few rows or a full join") {
  auto const many = draws(split_rows, split_rows, 5).rows(), few = draws(100, 100, 6).rows();
  karpos_test::listener const recorder;
  karpos::partitioned_join_size(space(), many, many, join_kind::right);
  holds("by partitions", launched("karpos::row_index: claim slots") == false);
  karpos::partitioned_join_size(space(), few, few, join_kind::inner);
  holds("few rows by an index", launched("karpos::row_index: claim slots"));
  karpos_test::record = {};
  karpos::partitioned_join_size(space(), many, many, join_kind::full);
  holds("a full join by an index", launched("karpos::row_index: claim slots"));
}

TEST_CASE("nulls equal to each other, or to nothing") {
  auto const left = draws(split_rows / 2, 60'000, 7, 4'000),
             right = draws(split_rows / 2, 60'000, 8, 6'000);
  check("equal", left, right, karpos::null_equality::equal);
  check("unequal", left, right, karpos::null_equality::unequal);
  check("half null, unequal", draws(split_rows, 60'000, 9, 2), draws(split_rows, 60'000, 10, 2),
        karpos::null_equality::unequal);
}

TEST_CASE("nulls on one side only") {
  auto const plain = table_of(split_rows, [](std::size_t i) { return i % 1'000; });
  auto with_nulls = table_of(200, [](std::size_t i) { return 5 * i; });
  for (std::size_t i = 0; i < 200; i += 3) with_nulls.null[i] = true;
  // Rows of the single column of ids: table::rows() has another column.
  auto const ids = [](table const& t) { return karpos::rows(to_space(t.ids)); };
  std::vector<int> valid(200);
  for (std::size_t i = 0; i < 200; ++i) valid[i] = !with_nulls.null[i];
  auto const nullable = karpos::rows(karpos::nullable(to_space(with_nulls.ids), to_space(valid)));
  for (auto const nulls : {karpos::null_equality::equal, karpos::null_equality::unequal}) {
    check_kinds("nulls on the left", nullable.with_nulls(nulls), ids(plain),
                oracle(with_nulls, plain, nulls, any_pair{}));
    check_kinds("nulls on the right", ids(plain), nullable.with_nulls(nulls),
                oracle(plain, with_nulls, nulls, any_pair{}));
  }
}

TEST_CASE("functions of the caller's, and a hash that is the same for every row") {
  auto const functions = [](table const& t) {
    return t.rows().with_functions(same_hash{}, same_ids{});
  };
  auto const left = draws(400, 100, 11), right = draws(300, 100, 13);
  oracle const o(left, right, karpos::null_equality::equal, any_pair{});
  check_kinds("collisions", functions(left), functions(right), o);
  // One chain of all right rows, which every left row follows.
  auto const many = draws(split_rows, 1'000, 14), one = draws(12, 12, 15);
  check_kind<std::uint32_t>(
      "a long chain", functions(many), functions(one), join_kind::left_semi,
      oracle(many, one, karpos::null_equality::equal, any_pair{}).rows(join_kind::left_semi));
}

TEST_CASE("keys of one column whose words differ in one bit") {
  check_words<std::uint32_t>("32 bits");
  check_words<std::uint64_t>("64 bits");
}

TEST_CASE("rows of 12 bytes that differ in one bit, or have the same word") {
  std::vector<std::uint32_t> a{77};
  std::vector<std::uint64_t> b{0xfedcba9876543210ULL};
  auto const add = [&](std::uint32_t x, std::uint64_t y) {
    a.push_back(x);
    b.push_back(y);
  };
  for (int bit = 0; bit < 32; ++bit) add(a[0] ^ 1U << bit, b[0]);
  for (int bit = 0; bit < 64; ++bit) add(a[0], b[0] ^ 1ULL << bit);
  // The first 8 bytes are a and the lower half of b. The word is made of their hash and the upper
  // half of b.
  auto const hash = [](std::uint64_t low) { return karpos::mix(low) >> 32; };
  std::uint64_t const before = b[0] >> 32 ^ hash(b[0] << 32 | a[0]);
  for (std::uint32_t i = 1000; i < 1064; ++i)
    add(i, (before ^ hash(std::uint64_t(i) << 32 | i)) << 32 | i);
  for (std::uint32_t i = 0; a.size() < split_rows; ++i) add(i, 3);
  check_different("4 and 8 bytes", karpos::rows(to_space(a), to_space(b)));
}

TEST_CASE("three columns, one with nulls, and rows too wide to be materialised") {
  std::size_t const n = split_rows / 2;
  auto left = draws(n, 900, 31, 50), right = draws(n, 60'000, 32, 50);
  auto const rows = [](table const& t, karpos::null_equality nulls, auto wide) {
    std::vector<std::uint32_t> low(t.size());
    std::vector<decltype(wide)> high(t.size());
    std::vector<std::uint16_t> third(t.size());
    std::vector<int> valid(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) {
      bool const null = t.null[i];  // nulls all columns, as the oracle does, except ids modulo 3
      low[i] = null ? 0 : static_cast<std::uint32_t>(t.ids[i]);
      high[i] = null ? 0 : static_cast<decltype(wide)>(t.ids[i] >> 32);
      third[i] = static_cast<std::uint16_t>(t.ids[i] % 3);
      valid[i] = !null;
    }
    return karpos::rows(to_space(third), karpos::nullable(to_space(low), to_space(valid)),
                        to_space(high))
        .with_nulls(nulls);
  };
  for (auto const nulls : {karpos::null_equality::equal, karpos::null_equality::unequal}) {
    oracle const o(left, right, nulls, any_pair{});
    check_kinds("10 bytes", rows(left, nulls, std::uint32_t()), rows(right, nulls, std::uint32_t()),
                o);
    check_kind<std::uint32_t>("14 bytes", rows(left, nulls, std::uint64_t()),
                              rows(right, nulls, std::uint64_t()), join_kind::left,
                              o.rows(join_kind::left));
  }
}

#if KARPOS_FULL_TESTS
TEST_CASE("two columns of strings") {
  std::size_t const n = split_rows / 2;
  auto const left = draws(n, 70'000, 33, 50), right = draws(n, 60'000, 34, 50);
  for (auto const nulls : {karpos::null_equality::equal, karpos::null_equality::unequal}) {
    auto const kind =
        nulls == karpos::null_equality::equal ? join_kind::inner : join_kind::right_anti;
    check_kind<std::uint32_t>("strings", left.names(nulls), right.names(nulls), kind,
                              oracle(left, right, nulls, any_pair{}).rows(kind));
  }
}
#endif

TEST_CASE("nulls of nine columns are no bits of the first one's values") {
  std::size_t const n = split_rows / 2;
  std::vector<std::uint8_t> first(n), low(n), middle(n), high(n), last(n);
  std::vector<int> valid(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = static_cast<std::uint8_t>(i % 2);
    valid[i] = first[i];
    low[i] = static_cast<std::uint8_t>(i / 2);
    middle[i] = static_cast<std::uint8_t>(i / 2 >> 8);
    high[i] = static_cast<std::uint8_t>(i / 2 >> 16);
  }
  auto const zero = to_space(last);
  check_different("nine columns",
                  karpos::rows(to_space(first), to_space(low), to_space(middle), to_space(high),
                               zero, zero, zero, zero, karpos::nullable(zero, to_space(valid))));
}

TEST_CASE("columns of other types") {
  check_type<std::int16_t>("int16_t");
  check_type<std::int32_t>("int32_t");
  check_type<float>("float");
  check_type<double>("double");
}

TEST_CASE("zeros of both signs are equal, and so are NaNs") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> left(split_rows, 1.5), right{0.0, nan, -2.5};
  left[0] = -0.0;
  left[7] = -nan;
  auto const l = karpos::rows(to_space(left)), r = karpos::rows(to_space(right));
  view<std::uint32_t> const a("a", 2), b("b", 2);
  same("rows", karpos::partitioned_join(space(), l, r, join_kind::inner, a, b), 2);
  holds("pairs", pairs_of(a, b, 2) == pair_list{{0, 0}, {7, 1}});
}

TEST_CASE("a workspace of the caller's: as large as required, too small, not aligned") {
  auto const left = draws(split_rows / 2, 50'000, 15), right = draws(split_rows / 2, 50'000, 16);
  auto const l = left.rows(), r = right.rows();
  oracle const o(left, right, karpos::null_equality::equal, any_pair{});
  std::size_t const bytes = karpos::partitioned_join_bytes(space(), l, r);
  view<std::byte> const memory("memory", bytes);
  Kokkos::deep_copy(memory, std::byte(0xff));
  auto const size = [&](std::byte* at, std::size_t n) {
    return karpos::partitioned_join_size(space(), l, r, join_kind::inner, {.workspace = {at, n}});
  };
  same("rows", size(memory.data(), bytes), o.rows(join_kind::inner).size());
  same("rows, an empty view", size(memory.data(), 0), o.rows(join_kind::inner).size());
  throws<std::invalid_argument>([&] { size(memory.data(), bytes - 1); }, "too small",
                                "partitioned_join_bytes");
  throws<std::invalid_argument>([&] { size(memory.data() + 8, bytes); }, "not aligned");
}

TEST_CASE("a workspace is as large as required if an index is built, too") {
  auto const few = draws(10, 5, 15).rows();
  auto const many = draws(split_rows, split_rows, 15).rows();
  auto const size = [&](auto const& rows, join_kind kind, std::size_t missing) {
    std::size_t const bytes = karpos::partitioned_join_bytes(space(), rows, rows);
    view<std::byte> const memory("memory", bytes);
    return karpos::partitioned_join_size(space(), rows, rows, kind,
                                         {.workspace = {memory.data(), bytes - missing}});
  };
  for (join_kind const kind : {join_kind::inner, join_kind::full}) {
    same("few rows", size(few, kind, 0), karpos::partitioned_join_size(space(), few, few, kind));
    throws<std::invalid_argument>([&] { size(few, kind, 1); }, "too small");
    throws<std::invalid_argument>([&] { size(many, kind, 1); }, "too small");
  }
}

TEST_CASE("refused: left rows alone whose nulls are unequal") {
  view<std::uint32_t> const ids("ids", 100), out("out", 100);
  view<bool> const valid("valid", 100);  // all are nulls
  auto const equal = karpos::rows(karpos::nullable(ids, valid));
  auto const unequal = equal.with_nulls(karpos::null_equality::unequal);
  auto const none = karpos::rows(ids);
  CHECK(karpos::partitioned_join_size(space(), unequal, unequal, join_kind::inner) == 0);
  CHECK(karpos::partitioned_join_size(space(), equal, unequal, join_kind::inner) == 0);
  CHECK(karpos::partitioned_join_size(space(), none.with_nulls(karpos::null_equality::unequal),
                                      none, join_kind::left_semi) == 100);
  auto const refused = [](auto const& f) {
    throws<std::invalid_argument>(f, "nulls are unequal in the left rows");
  };
  refused([&] { karpos::partitioned_join_size(space(), unequal, equal, join_kind::inner); });
  refused([&] { karpos::partitioned_join(space(), unequal, equal, join_kind::left_semi, out); });
  refused([&] { karpos::join(space(), unequal, equal, join_kind::inner); });
  karpos::row_index const index(space(), equal);
  refused([&] { karpos::join(space(), unequal, index, join_kind::inner); });
  refused([&] { index.find(space(), unequal, out); });
}

TEST_CASE("refused: a number that is no kind of join") {
  auto const ids = table_of(3, [](std::size_t i) { return i; }).rows();
  view<std::uint32_t> const out("out", 3);
  auto const none = static_cast<join_kind>(99);
  auto const refused = [](auto const& f) {
    throws<std::invalid_argument>(f, "no such kind of join", "number 99; valid are 0 to 7");
  };
  refused([&] { karpos::partitioned_join(space(), ids, ids, none, out, out); });
  refused([&] { karpos::partitioned_join(space(), ids, ids, none, out); });
  refused([&] { karpos::partitioned_join_size(space(), ids, ids, none); });
}

TEST_CASE("refused: outputs that are too short or of too small a type, kinds that do not fit") {
  for (std::size_t n : {std::size_t(100), std::size_t(split_rows)}) {
    auto const ids = table_of(n, [](std::size_t i) { return i; }).rows();
    view<std::uint32_t> const fits("fits", n), few("few", n - 1);
    std::string const rows = std::to_string(n - 1) + " elements for " + std::to_string(n) + " rows";
    auto const inner = [&](auto const& a, auto const& b) {
      return karpos::partitioned_join(space(), ids, ids, join_kind::inner, a, b);
    };
    throws<std::invalid_argument>([&] { inner(few, fits); }, "too short", rows);
    throws<std::invalid_argument>([&] { inner(fits, few); }, "too short", rows);
    throws<std::invalid_argument>(
        [&] { karpos::partitioned_join(space(), ids, ids, join_kind::left_semi, few); },
        "too short", rows);
    throws<std::invalid_argument>(
        [&] { karpos::partitioned_join(space(), ids, ids, join_kind::inner, fits); }, "pairs");
    throws<std::invalid_argument>(
        [&] { karpos::partitioned_join(space(), ids, ids, join_kind::left_anti, fits, fits); },
        "no pairs");
  }
}

TEST_CASE("refused: more rows than row numbers of 32 bits") {
  using endless =
      Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged>;
  auto const few = karpos::rows(view<std::uint32_t>("few", 3));
  auto const size = [&](std::size_t n) {
    return karpos::partitioned_join_size(space(), few, karpos::rows(endless(nullptr, n)),
                                         join_kind::inner);
  };
  throws<std::invalid_argument>([&] { size(std::size_t(1) << 31); }, "2147483648 on a side",
                                "2147483640");
}
