// SPDX-License-Identifier: Apache-2.0
/// \file
/// A join has the rows that a loop over a map of the right rows finds, in their order, for any
/// rows, numbers of rows, and nulls.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/join.hpp>
#include <string>
#include <utility>
#include <vector>

#define KARPOS_DRIVER_SPACE KARPOS_TEST_SPACE
#include "conformance/join_oracle.hpp"
#include "perf/measure/join/expected_join.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/memory_limit.hpp"
#include "support/space.hpp"

namespace {

using karpos::join_kind;
using karpos_test::any_pair;
using karpos_test::draws;
using karpos_test::every_kind;
using karpos_test::holds;
using karpos_test::missing;
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

struct some_pairs {
  KOKKOS_FUNCTION bool operator()(std::uint64_t l, std::uint64_t r) const {
    return (3 * l + r) % 4 == 1;
  }
};
struct no_pair {
  KOKKOS_FUNCTION bool operator()(std::uint64_t, std::uint64_t) const { return false; }
};

/// Counts the rows of a join that are not as expected; the elements after them must still be 77.
template <class Number>
std::uint64_t wrong_rows(view<Number> const& left, view<Number> const& right,
                         pair_list const& expected) {
  auto const l = to_host(left), r = to_host(right);
  std::uint64_t wrong = l.size() < expected.size();
  for (std::size_t i = 0; i < l.size() && i < expected.size(); ++i)
    wrong += widened(l[i]) != expected[i].first || widened(r[i]) != expected[i].second;
  for (std::size_t i = expected.size(); i < l.size(); ++i) wrong += l[i] != 77 || r[i] != 77;
  return wrong;
}

struct sums {
  view<std::uint64_t> of;
  KOKKOS_FUNCTION void operator()(std::uint64_t l, std::uint64_t r) const {
    Kokkos::atomic_inc(&of(0));
    Kokkos::atomic_add(&of(1), karpos::mix(l) ^ (3 * karpos::mix(r)));
  }
};

template <class Join>
void check_visits(std::string const& what, Join const& join, pair_list const& expected) {
  view<std::uint64_t> const got("sums", 2);
  join.for_each_pair(space(), sums{got});
  auto const of = to_host(got);
  std::uint64_t sum = 0;
  for (auto const& [l, r] : expected) sum += karpos::mix(l) ^ (3 * karpos::mix(r));
  same(what + ": visits", of[0], expected.size());
  same(what + ": sum over visits", of[1], sum);
}

template <class Number, class Join>
void check_written(std::string const& what, Join const& join, pair_list const& expected) {
  view<Number> const left("left", expected.size() + 3), right("right", expected.size() + 3);
  Kokkos::deep_copy(left, Number(77));
  Kokkos::deep_copy(right, Number(77));
  if (join.has_pairs()) {
    join.write(space(), left, right);
  } else {
    join.write(space(), left);
    join.write(space(), right);
  }
  same(what + ": wrong rows", wrong_rows(left, right, expected), 0);
}

template <class Join>
void check_join(std::string const& what, Join const& join, pair_list const& expected) {
  same(what + ": size", join.size(), expected.size());
  if (join.size() != expected.size()) return;
  check_written<std::uint32_t>(what + ", 32 bits", join, expected);
  check_written<std::int64_t>(what + ", 64 bits", join, expected);
  if (join.has_pairs()) {
    auto const pairs = join.pairs(space());
    same(what + ": wrong pairs", wrong_rows(pairs.left, pairs.right, expected), 0);
    check_visits(what, join, expected);
  } else {
    auto const rows = join.rows(space());
    same(what + ": wrong rows of its own", wrong_rows(rows, rows, expected), 0);
  }
}

/// Checks all kinds of joins, with a predicate and without.
template <class LeftRows, class Index>
void check_kinds(std::string const& what, LeftRows const& rows, Index const& index,
                 table const& left, table const& right, karpos::null_equality nulls) {
  oracle const all(left, right, nulls, any_pair{}), some(left, right, nulls, some_pairs{}),
      none(left, right, nulls, no_pair{});
  for (join_kind const kind : every_kind) {
    std::string const of = what + ", kind " + std::to_string(static_cast<int>(kind));
    check_join(of, karpos::join(space(), rows, index, kind), all.rows(kind));
    check_join(of + ", predicate", karpos::join(space(), rows, index, kind, some_pairs{}),
               some.rows(kind));
    if (left.size() < 1000)
      check_join(of + ", none accepted", karpos::join(space(), rows, index, kind, no_pair{}),
                 none.rows(kind));
  }
}
void check(std::string const& what, table const& left, table const& right,
           karpos::null_equality nulls = karpos::null_equality::equal) {
  auto const right_rows = right.rows(nulls);
  karpos::row_index const index(space(), right_rows);
  check_kinds(what, left.rows(nulls), index, left, right, nulls);
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

/// Checks joins with 64-bit row numbers.
void check_numbers_of_64_bits(table const& left, table const& right) {
  using rows_type = decltype(right.rows());
  karpos::row_index<rows_type, space, std::uint64_t> const index(space(), right.rows());
  oracle const o(left, right, karpos::null_equality::equal, some_pairs{});
  for (join_kind const kind : {join_kind::full, join_kind::right_semi})
    check_join("64 bits", karpos::join(space(), left.rows(), index, kind, some_pairs{}),
               o.rows(kind));
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
  //  left 5 6 7 6, right 6 5 6 9
  auto const left = table_of(4, [](std::size_t i) { return i == 3 ? 6u : 5 + i; });
  auto const right = table_of(4, [](std::size_t i) { return i == 1 ? 5u : i == 3 ? 9u : 6u; });
  karpos::row_index const index(space(), right.rows());
  karpos::join const full(space(), left.rows(), index, join_kind::full);
  auto const pairs = full.pairs(space());
  constexpr auto none = karpos::no_row<std::uint32_t>;
  holds("left", to_host(pairs.left) == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3, none});
  holds("right", to_host(pairs.right) == std::vector<std::uint32_t>{1, 0, 2, none, 0, 2, 3});
  same("size of the inner join", karpos::join_size(space(), left.rows(), index, join_kind::inner),
       5);
}

TEST_CASE("multiplicity 1, 4, 64 and 10^4 on one side or both, and rows without a match") {
  constexpr std::size_t n = 40'000;
  for (std::size_t m : {std::size_t(1), std::size_t(4), std::size_t(64), std::size_t(10'000)}) {
    std::uint64_t const groups = n / m;
    auto const many =
        table_of(n, [&](std::size_t i) { return permute(std::uint64_t(i % groups)); });
    // A third of the ids on this side match.
    auto const few = table_of(groups, [&](std::size_t i) { return permute(std::uint64_t(i * 3)); });
    check(std::to_string(m) + " times on the right", few, many);
    check(std::to_string(m) + " times on the left", many, few);
  }
  check("4 by 4", draws(20'000, 5'000, 1), draws(20'000, 5'000, 2));
  check("64 by 64", draws(3'200, 50, 3), draws(3'200, 50, 4));
  check("all equal", draws(300, 1, 5), draws(700, 1, 6));
}

TEST_CASE("skew: one key is a tenth of the rows; Zipf's law") {
  auto const tenth = [](std::size_t n, std::uint64_t seed) {
    random_numbers random(seed);
    return table_of(n,
                    [&](std::size_t i) { return permute(i % 10 == 7 ? 1 : random.below(20'000)); });
  };
  check("a tenth on the left", tenth(20'000, 1), draws(20'000, 20'000, 2));
  check("a tenth on both", tenth(5'000, 3), tenth(5'000, 4));
  auto const zipf = [](std::size_t n, std::uint64_t seed) {
    random_numbers random(seed);
    return table_of(n, [&](std::size_t) { return permute(10'000 / (1 + random.below(10'000))); });
  };
  check("Zipf", zipf(1'000, 5), zipf(2'000, 6));
}

TEST_CASE("matches far apart, and none") {
  auto const rare = table_of(100'000, [](std::size_t i) {
    return i % 30'000 == 29'999 ? 7u : 1'000 + static_cast<unsigned>(i);
  });
  check("rare on the left", rare, table_of(130, [](std::size_t) { return 7u; }));
  check("rare on the right", table_of(130, [](std::size_t) { return 7u; }), rare);
  check("none", draws(3'000, 3'000, 1), table_of(3'000, [](std::size_t i) { return i; }));
}

TEST_CASE("foreign keys: every left row has one match, none has, or all but one have") {
  auto const right = table_of(700, [](std::size_t i) { return permute(std::uint64_t(i)); });
  for (std::size_t n : {1u, 5u, 4'099u})
    for (int const matched : {0, 1, 2}) {
      auto const left = table_of(n, [&](std::size_t i) {
        bool const is_in = matched == 1 || (matched == 2 && i != n / 2);
        return permute(std::uint64_t((is_in ? 0 : 1'000) + i % 700));
      });
      check("foreign keys", left, right);
    }
}

TEST_CASE("nulls equal to each other, or to nothing") {
  auto const left = draws(5'000, 2'000, 7, 40), right = draws(6'000, 2'000, 8, 60);
  check("equal", left, right, karpos::null_equality::equal);
  check("unequal", left, right, karpos::null_equality::unequal);
  check("all null", draws(50, 9, 9, 1), draws(60, 9, 10, 1), karpos::null_equality::unequal);
}

TEST_CASE("two columns of strings") {
  auto const left = draws(3'000, 500, 41, 20), right = draws(2'000, 800, 42, 20);
  for (auto const nulls : {karpos::null_equality::equal, karpos::null_equality::unequal}) {
    karpos::row_index const index(space(), right.names(nulls));
    oracle const o(left, right, nulls, any_pair{});
    for (join_kind const kind : every_kind)
      check_join("kind " + std::to_string(static_cast<int>(kind)),
                 karpos::join(space(), left.names(nulls), index, kind), o.rows(kind));
  }
}

TEST_CASE("sizes around those of words, slices and blocks") {
  for (std::size_t n : {2u, 3u, 63u, 64u, 65u, 127u, 128u, 129u, 1023u, 1024u, 1025u, 2049u})
    check(std::to_string(n) + " rows", draws(n, n, n), draws(n + 1, n, n + 7));
}

TEST_CASE("a hash that is the same for every row") {
  auto const left = draws(300, 100, 11), right = draws(400, 100, 12);
  auto const functions = [](table const& t) {
    return t.rows().with_functions(same_hash{}, same_ids{});
  };
  karpos::row_index const index(space(), functions(right));
  check_kinds("collisions", functions(left), index, left, right, karpos::null_equality::equal);
}

TEST_CASE("right rows that the join indexes itself") {
  table const left = draws(600, 200, 1, 40), right = draws(500, 200, 2, 40);
  auto const nulls = karpos::null_equality::unequal;
  auto const l = left.rows(nulls), r = right.rows(nulls);
  oracle const all(left, right, nulls, any_pair{}), some(left, right, nulls, some_pairs{});
  for (join_kind const kind : every_kind) {
    std::string const of = "kind " + std::to_string(static_cast<int>(kind));
    check_join(of, karpos::join(space(), l, r, kind), all.rows(kind));
    check_join(of + ", predicate", karpos::join(space(), l, r, kind, some_pairs{}),
               some.rows(kind));
    same(of + ": size", karpos::join_size(space(), l, r, kind), all.rows(kind).size());
  }
}

TEST_CASE("row numbers of 64 bits") {
  check_numbers_of_64_bits(draws(3'000, 1'000, 13), draws(2'000, 1'000, 14));
}

TEST_CASE("an index of some of the rows, and one that dropped duplicates") {
  auto const left = draws(500, 300, 15), right = draws(600, 300, 16);
  // An excluded row counts as absent, but the other rows keep their numbers.
  std::vector<int> members(right.size());
  std::vector<std::uint64_t> number;
  table part;
  for (std::size_t r = 0; r < right.size(); ++r) {
    members[r] = r % 3 != 1;
    if (members[r] == 0) continue;
    number.push_back(r);
    part.ids.push_back(right.ids[r]);
    part.null.push_back(false);
  }
  karpos::row_index const index(space(), right.rows(), to_space(members));
  oracle const o(left, part, karpos::null_equality::equal, any_pair{});
  for (join_kind const kind : every_kind) {
    auto expected = o.rows(kind);
    bool const of_right = kind >= join_kind::right_semi;
    for (auto& [l, r] : expected) {
      if ((kind <= join_kind::full && r != missing) || of_right) r = number[r];
      if (of_right) l = r;
    }
    check_join("members", karpos::join(space(), left.rows(), index, kind), expected);
  }
  karpos::row_index const firsts(space(), right.rows(),
                                 {.duplicates = karpos::duplicates::dropped});
  oracle const all(left, right, karpos::null_equality::equal, any_pair{});
  for (join_kind const kind : {join_kind::left_semi, join_kind::left_anti})
    check_join("dropped", karpos::join(space(), left.rows(), firsts, kind), all.rows(kind));
  auto inner = all;
  for (auto& of : inner.of_left)
    if (!of.empty()) of.erase(of.begin() + 1, of.end());
  check_join("dropped", karpos::join(space(), left.rows(), firsts, join_kind::inner),
             inner.rows(join_kind::inner));
  for (join_kind const kind :
       {join_kind::right, join_kind::full, join_kind::right_semi, join_kind::right_anti})
    throws<std::invalid_argument>([&] { karpos::join(space(), left.rows(), firsts, kind); },
                                  "dropped duplicates", "duplicates::kept");
}

TEST_CASE("memory of the caller's") {
  auto const left = draws(1'000, 300, 17), right = draws(700, 300, 18);
  karpos::row_index const index(space(), right.rows());
  oracle const o(left, right, karpos::null_equality::equal, any_pair{});
  for (join_kind const kind : every_kind) {
    using join_type = decltype(karpos::join(space(), left.rows(), index, kind));
    std::size_t const bytes = join_type::bytes_for(left.size(), right.size(), kind);
    view<std::byte> const memory("memory", bytes);
    Kokkos::deep_copy(memory, std::byte(0xff));
    auto const made = [&](std::byte* at, std::size_t n) {
      return karpos::join(space(), left.rows(), index, kind,
                          karpos::join_options{.memory = {at, n}});
    };
    check_join("the caller's memory", made(memory.data(), bytes), o.rows(kind));
    check_join("the same without an index",
               karpos::join(space(), left.rows(), right.rows(), kind,
                            karpos::join_options{.memory = {memory.data(), bytes}}),
               o.rows(kind));
    throws<std::invalid_argument>([&] { made(memory.data(), bytes - 1); }, "too small",
                                  "bytes_for");
    throws<std::invalid_argument>([&] { made(memory.data() + 8, bytes); }, "not aligned");
  }
}

TEST_CASE("refused: outputs that are too short or of too small a type, kinds that do not fit") {
  auto const left = draws(100, 10, 19), right = draws(50, 10, 20);
  karpos::row_index const index(space(), right.rows());
  karpos::join const inner(space(), left.rows(), index, join_kind::inner),
      semi(space(), left.rows(), index, join_kind::left_semi);
  std::size_t const n = inner.size();
  view<std::uint32_t> const fits("fits", n), too_short("short", n - 1);
  std::string const rows = std::to_string(n - 1) + " elements for " + std::to_string(n) + " rows";
  throws<std::invalid_argument>([&] { inner.write(space(), too_short, fits); }, "left rows", rows);
  throws<std::invalid_argument>([&] { inner.write(space(), fits, too_short); }, "right rows", rows);
  std::uint64_t written = 0;
  for (auto const x : to_host(fits)) written += x != 0;
  same("rows written by calls that were refused", written, 0);
  view<std::uint32_t> const few("few", semi.size() - 1);
  throws<std::invalid_argument>([&] { semi.write(space(), few); }, "is too short",
                                std::to_string(semi.size()) + " rows");
  throws<std::invalid_argument>([&] { inner.write(space(), fits); }, "pairs");
  throws<std::invalid_argument>([&] { semi.write(space(), fits, fits); }, "no pairs");
  throws<std::invalid_argument>([&] { semi.for_each_pair(space(), sums{}); }, "no pairs");
  throws<std::invalid_argument>([&] { (void)inner.rows(space()); }, "pairs");
  throws<std::invalid_argument>([&] { (void)semi.pairs(space()); }, "no pairs");
}

TEST_CASE("more than 2^32 rows are counted, and refused by views that are too short") {
  constexpr std::size_t n = 70'000;
  auto const rows = karpos::rows(view<std::uint32_t>("equal", n));
  karpos::row_index const index(space(), rows);
  for (join_kind const kind : {join_kind::inner, join_kind::full})
    same("rows", karpos::join_size(space(), rows, index, kind), std::uint64_t(n) * n);
  karpos::join const join(space(), rows, index, join_kind::inner);
  view<std::uint32_t> const few("few", 10);
  throws<std::invalid_argument>([&] { join.write(space(), few, few); }, "10 elements",
                                "4900000000 rows");
}

TEST_CASE("refused: a number that is no kind, and rows beyond the numbers of the index") {
  auto const ids = karpos::rows(view<std::uint32_t>("ids", 3));
  karpos::row_index const index(space(), ids);
  for (int const number : {8, 99, -1})
    throws<std::invalid_argument>(
        [&] { karpos::join(space(), ids, index, static_cast<join_kind>(number)); },
        "no such kind of join", "number " + std::to_string(number) + "; valid are 0 to 7");
  using karpos::detail::require_holds;
  require_holds<std::uint32_t>("x", ~std::uint32_t(0));
  throws<std::invalid_argument>([] { require_holds<std::uint32_t>("x", std::uint64_t(1) << 32); },
                                "x has too small a type",
                                "4294967296 must fit, at most 4294967295 does");
}

TEST_CASE("refused: more left rows than there is memory for") {
  if (karpos_test::dies_without_memory) {
    MESSAGE("skipped: the address sanitizer ends programs that have no memory");
    return;
  }
  Kokkos::View<std::uint32_t*, typename space::memory_space, Kokkos::MemoryUnmanaged> const endless(
      nullptr, std::size_t(1) << 50);
  karpos::row_index const index(space(), karpos::rows(view<std::uint32_t>("right", 3)));
  throws<karpos::allocation_error>(
      [&] { karpos::join(space(), karpos::rows(endless), index, join_kind::inner); },
      std::to_string(std::uint64_t(12) << 50).substr(0, 4), "karpos::join", "fewer rows");
}

TEST_CASE("the driver's check of joins notices rows that are wrong, missing, or out of order") {
  using karpos::perf::row_order;
  auto const left = to_space(std::vector<std::uint32_t>{7, 5, 7, 1, 2});
  auto const right = to_space(std::vector<std::uint32_t>{7, 9, 5, 7, 8});
  karpos::row_index const index(space(), karpos::rows(right));
  for (join_kind const kind : every_kind) {
    std::string const what = "kind " + std::to_string(static_cast<int>(kind));
    karpos::perf::expected_join<std::uint32_t> const expected(space(), left, right, kind);
    karpos::join const join(space(), karpos::rows(left), index, kind);
    std::uint64_t const n = join.size();
    same(what + ": rows", expected.size(), n);
    std::vector<std::uint32_t> rows[2];
    if (join.has_pairs()) {
      auto const [l, r] = join.pairs(space());
      rows[0] = to_host(l), rows[1] = to_host(r);
    } else {
      rows[kind >= join_kind::right_semi] = to_host(join.rows(space()));
    }
    auto const wrong = [&](row_order order) {
      return expected.wrong(order, n, to_space(rows[0]), to_space(rows[1]));
    };
    same(what + ": as they are", wrong(row_order::of_karpos), 0);
    same(what + ": one more", expected.wrong(row_order::any, n + 1, {}, {}), 1);
    for (auto& side : rows) std::reverse(side.begin(), side.end());
    same(what + ": in another order", wrong(row_order::any), 0);
    same(what + ": out of order", wrong(row_order::of_karpos), n - n % 2);
    auto const replace_first = [&](std::uint32_t l, std::uint32_t r) {
      if (!rows[0].empty()) rows[0][0] = l;
      if (!rows[1].empty()) rows[1][0] = r;
    };
    auto const second = [](auto const& side) { return side.empty() ? 0 : side[1]; };
    replace_first(second(rows[0]), second(rows[1]));
    same(what + ": one twice", wrong(row_order::any), 1);
    replace_first(kind == join_kind::left_anti ? 0 : 3, kind == join_kind::right_semi ? 1 : 2);
    same(what + ": one that is not in the join", wrong(row_order::any), 1);
    replace_first(5, 5);
    same(what + ": one that is in no table", wrong(row_order::any), 1);
  }
}

TEST_CASE("gather: values by row numbers, a stand-in if there is no row, or a null") {
  constexpr auto none = karpos::no_row<std::uint32_t>;
  auto const column = to_space(std::vector<double>{0.5, 1.5, 2.5});
  auto const valid = to_space(std::vector<int>{1, 0, 1});
  auto const indices = to_space(std::vector<std::uint32_t>{2, none, 1, 0, 2});
  holds("values", to_host(karpos::gather(space(), indices, column, -1.0)) ==
                      std::vector<double>{2.5, -1, 1.5, 0.5, 2.5});
  holds("values, nulls",
        to_host(karpos::gather(space(), indices, karpos::nullable(column, valid), -1.0)) ==
            std::vector<double>{2.5, -1, -1, 0.5, 2.5});
  auto const signed_ones = to_space(std::vector<std::int64_t>{-1, 0});
  holds("signed",
        to_host(karpos::gather(space(), signed_ones, column, 7.0)) == std::vector<double>{7, 0.5});
  std::vector<double> const with_zero{2.5, 0, 1.5, 0.5, 2.5};
  view<double> const five("five", 5);
  karpos::gather(space(), indices, column, five);
  holds("zero by default", to_host(five) == with_zero &&
                               to_host(karpos::gather(space(), indices, column)) == with_zero);
  view<std::uint32_t> const nothing("nothing", 0);
  same("of nothing", karpos::gather(space(), nothing, column, 7.0).extent(0), 0);
  view<double> const four("four", 4);
  throws<std::invalid_argument>([&] { karpos::gather(space(), indices, column, 0.0, four); },
                                "5 against 4");
}
