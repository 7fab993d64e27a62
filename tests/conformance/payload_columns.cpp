// SPDX-License-Identifier: Apache-2.0
/// \file
/// A join with payload columns writes the values of the row pairs that a loop over a map of the
/// right rows finds, for every algorithm that the join chooses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <karpos/partitioned_join.hpp>
#include <string>
#include <vector>

#include "conformance/join_oracle.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::columns;
using karpos::join_kind;
using karpos_test::any_pair;
using karpos_test::draws;
using karpos_test::holds;
using karpos_test::oracle;
using karpos_test::pair_list;
using karpos_test::permute;
using karpos_test::same;
using karpos_test::space;
using karpos_test::table;
using karpos_test::table_of;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

constexpr std::uint64_t split_rows = karpos::detail::join::tuning<space>::min_split_rows;

/// Returns a value that determines the number of its row.
template <class T>
T value_of(std::uint64_t row) {
  return static_cast<T>(row + sizeof(T));
}
template <class T>
view<T> values_of(std::uint64_t rows) {
  std::vector<T> values(rows);
  for (std::uint64_t i = 0; i < rows; ++i) values[i] = value_of<T>(i);
  return to_space(values);
}
/// Returns whether a column of the output has the values of those rows.
template <class T>
bool has_values(view<T> const& out, std::vector<std::uint64_t> const& rows) {
  auto const got = to_host(out);
  bool right = true;
  for (std::size_t i = 0; i < rows.size(); ++i) right &= got[i] == value_of<T>(rows[i]);
  return right;
}

/// Checks a join whose sides have a first column that identifies rows; L and R are the types of
/// further columns.
template <class L, class R, class Left, class Right>
void check_rows(std::string const& what, Left const& left, Right const& right, oracle const& o) {
  pair_list expected = o.rows(join_kind::inner);
  std::uint64_t const n = expected.size();
  view<std::uint32_t> const l("l", n + 2), r("r", n + 2);
  view<L> const a("a", n + 2);
  view<R> const b("b", n + 5);
  Kokkos::deep_copy(l, 77u);
  same(what + ": number of rows",
       karpos::partitioned_join(
           space(), left, right, join_kind::inner,
           columns(values_of<std::uint32_t>(left.size()), values_of<L>(left.size())),
           columns(values_of<R>(right.size()), values_of<std::uint32_t>(right.size())),
           columns(l, a), columns(b, r)),
       n);
  auto const l_host = to_host(l), r_host = to_host(r);
  std::vector<std::uint64_t> l_rows, r_rows;
  pair_list got;
  for (std::uint64_t i = 0; i < n; ++i) {
    l_rows.push_back(l_host[i] - 4);
    r_rows.push_back(r_host[i] - 4);
    got.emplace_back(l_rows.back(), r_rows.back());
  }
  holds(what + ": the left column", has_values(a, l_rows));
  holds(what + ": the right column", has_values(b, r_rows));
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  holds(what + ": the rows", got == expected);
  same(what + ": written behind the rows", l_host[n] == 77 && l_host[n + 1] == 77, true);
}
auto one_column(table const& t) { return karpos::rows(to_space(t.ids)); }
auto narrow_column(table const& t) {
  return karpos::rows(to_space(std::vector<std::uint32_t>(t.ids.begin(), t.ids.end())));
}

template <class L, class R>
void check(std::string const& what, table const& left, table const& right) {
  oracle const o(left, right, karpos::null_equality::equal, any_pair{});
  check_rows<L, R>(what + ", keys of 8 bytes", one_column(left), one_column(right), o);
  check_rows<L, R>(what + ", keys of 4 bytes", narrow_column(left), narrow_column(right), o);
}

/// A value too wide to be moved as payload.
struct wide {
  std::uint64_t words[3];
};

/// Returns a table with ids below 2^31.
table few_bits(std::size_t n, std::uint64_t different, std::uint64_t seed) {
  table t = draws(n, different, seed);
  for (auto& id : t.ids) id = permute(id % different) % (std::uint64_t(1) << 31);
  return t;
}

}  // namespace

TEST_CASE("goldens: no row, one, and four of each side") {
  for (std::size_t l : {0u, 1u, 4u})
    for (std::size_t r : {0u, 1u, 4u})
      check<std::uint32_t, double>(std::to_string(l) + " by " + std::to_string(r) + " rows",
                                   table_of(l, [](std::size_t i) { return i == 3 ? 6u : 5 + i; }),
                                   table_of(r, [](std::size_t i) { return i == 1 ? 5u : 6u; }));
}

TEST_CASE("sides that are split, the smaller one left and right, values of 1 to 8 bytes") {
  check<std::uint32_t, std::uint32_t>("equal sides", few_bits(split_rows, split_rows, 1),
                                      few_bits(split_rows, split_rows, 2));
  check<std::uint64_t, std::uint16_t>("few on the left", few_bits(split_rows / 9, split_rows, 3),
                                      few_bits(split_rows, split_rows, 4));
  check<float, double>("few on the right, several of each", few_bits(split_rows, 5'000, 5),
                       few_bits(split_rows / 7, 5'000, 6));
  check<std::uint8_t, std::int64_t>("nothing on the left", few_bits(0, 1, 7),
                                    few_bits(split_rows, 99, 8));
}

TEST_CASE("a key that half of the rows have: pairs, and columns that are gathered") {
  auto const left = table_of(split_rows, [](std::size_t i) { return i % 2 == 0 ? 7u : 10 + i; });
  check<std::uint32_t, double>("frequent on the left", left, few_bits(50, 20, 9));
  auto const few = table_of(20, [](std::size_t i) { return i; });
  check<std::uint32_t, double>("frequent on the right", few, left);
}

TEST_CASE("rows that are gathered: of two columns, one with nulls; payload that is too wide") {
  auto const left = draws(split_rows / 2, 70'000, 10, 9), right = draws(split_rows, 70'000, 11, 9);
  auto const nulls = karpos::null_equality::unequal;
  check_rows<std::uint32_t, double>("nulls", left.rows(nulls), right.rows(nulls),
                                    oracle(left, right, nulls, any_pair{}));
  auto const ids = table_of(split_rows, [](std::size_t i) { return i; });
  view<wide> const column("column", split_rows), out("out", split_rows);
  auto const host = Kokkos::create_mirror_view(column);
  for (std::uint64_t i = 0; i < split_rows; ++i) host(i) = {{i, ~i, 3 * i}};
  Kokkos::deep_copy(column, host);
  view<std::uint64_t> const numbers("numbers", split_rows);
  auto const rows = one_column(ids);
  same("rows",
       karpos::partitioned_join(space(), rows, rows, join_kind::inner, columns(column),
                                columns(values_of<std::uint64_t>(split_rows)), columns(out),
                                columns(numbers)),
       split_rows);
  auto const got = to_host(out);
  auto const of = to_host(numbers);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < split_rows; ++i)
    wrong += got[i].words[0] != of[i] - 8 || got[i].words[1] != ~(of[i] - 8) ||
             got[i].words[2] != 3 * (of[i] - 8);
  same("values that are not those of the row", wrong, 0);
}

TEST_CASE("columns of one side alone, in a workspace of the caller's") {
  auto const ids = table_of(split_rows, [](std::size_t i) { return permute(std::uint64_t(i)); });
  auto const rows = one_column(ids);
  auto const column = columns(values_of<std::uint32_t>(split_rows));
  view<std::uint32_t> const out("out", split_rows);
  auto const run = [&](auto const& left, auto const& right, auto const& l, auto const& r,
                       std::size_t missing) {
    std::size_t const bytes = karpos::partitioned_join_bytes(space(), rows, rows, left, right);
    view<std::byte> const memory("memory", bytes);
    Kokkos::deep_copy(memory, std::byte(0xff));
    return karpos::partitioned_join(space(), rows, rows, join_kind::inner, left, right, l, r,
                                    {.workspace = {memory.data(), bytes - missing}});
  };
  for (bool const of_left : {true, false}) {
    Kokkos::deep_copy(out, 0u);
    same("rows",
         of_left ? run(column, columns(), columns(out), columns(), 0)
                 : run(columns(), column, columns(), columns(out), 0),
         split_rows);
    auto got = to_host(out);
    std::sort(got.begin(), got.end());
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < split_rows; ++i) wrong += got[i] != value_of<std::uint32_t>(i);
    same("rows that are not there once", wrong, 0);
  }
  throws<std::invalid_argument>([&] { run(column, columns(), columns(out), columns(), 1); },
                                "too small", "left_columns, right_columns");
}

TEST_CASE("refused: other kinds, columns of another length, outputs that are too short") {
  for (std::size_t const n : {std::size_t(10), std::size_t(split_rows)}) {
    auto const rows = one_column(table_of(n, [](std::size_t i) { return i; }));
    view<std::uint32_t> const fits("fits", n), few("few", n - 1);
    auto const run = [&](join_kind kind, auto const& column, auto const& out) {
      karpos::partitioned_join(space(), rows, rows, kind, columns(fits), columns(column),
                               columns(out), columns(view<std::uint32_t>("other", n)));
    };
    for (join_kind const kind : {join_kind::left, join_kind::full, join_kind::left_semi})
      throws<std::invalid_argument>([&] { run(kind, fits, fits); }, "inner joins only", "gather");
    throws<std::invalid_argument>([&] { run(join_kind(99), fits, fits); }, "no such kind");
    throws<std::invalid_argument>([&] { run(join_kind::inner, few, fits); }, "right rows",
                                  std::to_string(n) + " against " + std::to_string(n - 1));
    throws<std::invalid_argument>(
        [&] { run(join_kind::inner, fits, few); }, "too short",
        std::to_string(n - 1) + " elements for " + std::to_string(n) + " rows");
  }
}
