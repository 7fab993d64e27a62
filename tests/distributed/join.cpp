// SPDX-License-Identifier: Apache-2.0
#include "karpos/distributed/join.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "support/memory_limit.hpp"
#include "tests/distributed/ranks.hpp"

namespace {
using namespace karpos_test;
using karpos::join_kind;
using number = std::uint64_t;
using pairs = std::vector<std::pair<number, number>>;
constexpr number none = karpos::no_row<number>;

/// Rows of two columns. rows_of_rank() returns the rows of any rank, equal on every rank that calls
/// it; every third rank has none.
struct table {
  std::vector<std::int32_t> i;
  std::vector<double> x;
};
table rows_of_rank(int rank, unsigned seed, std::size_t rows, int values) {
  std::mt19937 random(seed * 100 + unsigned(rank));
  table t;
  for (std::size_t r = 0; r < (rank % 3 == 1 ? 0 : rows); ++r) {
    t.i.push_back(std::int32_t(random() % unsigned(values)));
    t.x.push_back(double(random() % 3) / 2);
  }
  return t;
}
table whole(communicator const& ranks, unsigned seed, std::size_t rows, int values) {
  table t;
  for (int r = 0; r < ranks.size(); ++r) {
    auto const p = rows_of_rank(r, seed, rows, values);
    t.i.insert(t.i.end(), p.i.begin(), p.i.end());
    t.x.insert(t.x.end(), p.x.begin(), p.x.end());
  }
  return t;
}

/// Returns the rows of a join by its definition; in semi and anti joins, the other side's row is
/// `none`.
pairs expected(table const& left, table const& right, join_kind kind) {
  auto const n = left.i.size(), m = right.i.size();
  std::vector<bool> left_found(n), right_found(m);
  pairs matches, all;
  for (number l = 0; l < n; ++l)
    for (number r = 0; r < m; ++r)
      if (left.i[l] == right.i[r] && left.x[l] == right.x[r]) {
        left_found[l] = right_found[r] = true;
        matches.emplace_back(l, r);
      }
  bool const has_pairs = kind <= join_kind::full;
  if (has_pairs) all = matches;
  auto const add_left = [&](bool found) {
    for (number l = 0; l < n; ++l)
      if (left_found[l] == found) all.emplace_back(l, none);
  };
  auto const add_right = [&](bool found) {
    for (number r = 0; r < m; ++r)
      if (right_found[r] == found) all.emplace_back(none, r);
  };
  if (kind == join_kind::left || kind == join_kind::full) add_left(false);
  if (kind == join_kind::right || kind == join_kind::full) add_right(false);
  if (kind == join_kind::left_semi || kind == join_kind::left_anti)
    add_left(kind == join_kind::left_semi);
  if (kind == join_kind::right_semi || kind == join_kind::right_anti)
    add_right(kind == join_kind::right_semi);
  std::sort(all.begin(), all.end());
  return all;
}

void check_join(communicator const& ranks, std::size_t left_rows, std::size_t right_rows,
                int values, join_kind kind) {
  auto const l = rows_of_rank(ranks.rank(), 1, left_rows, values);
  auto const r = rows_of_rank(ranks.rank(), 2, right_rows, values);
  auto const joined = karpos::distributed::join(ranks, karpos::rows(to_view(l.i), to_view(l.x)),
                                                karpos::rows(to_view(r.i), to_view(r.x)), kind);
  auto left = to_vector(joined.left), right = to_vector(joined.right);
  if (left.empty()) left.resize(right.size(), none);
  if (right.empty()) right.resize(left.size(), none);
  REQUIRE(left.size() == right.size());
  auto const all_left = gathered(ranks, left), all_right = gathered(ranks, right);
  pairs all;
  for (std::size_t k = 0; k < all_left.size(); ++k) all.emplace_back(all_left[k], all_right[k]);
  std::sort(all.begin(), all.end());
  CHECK(joined.total == all.size());
  CHECK(all ==
        expected(whole(ranks, 1, left_rows, values), whole(ranks, 2, right_rows, values), kind));
}

TEST_CASE("rows of two tables over ranks are joined, in every kind") {
  auto const ranks = world();
  for (auto const kind :
       {join_kind::inner, join_kind::left, join_kind::right, join_kind::full, join_kind::left_semi,
        join_kind::left_anti, join_kind::right_semi, join_kind::right_anti}) {
    check_join(ranks, 120, 90, 40, kind);
    check_join(ranks, 30, 20, 1, kind);  // all rows on few ranks
    check_join(ranks, 0, 50, 9, kind);
    check_join(ranks, 50, 0, 9, kind);
  }
}

TEST_CASE("ranks that want different joins are refused") {
  auto const ranks = world();
  if (ranks.size() == 1) return;
  auto const t = rows_of_rank(0, 1, 5, 5);
  auto const rows = karpos::rows(to_view(t.i));
  CHECK_THROWS_WITH_AS(
      karpos::distributed::join(ranks, rows, rows,
                                ranks.rank() == 0 ? join_kind::inner : join_kind::left),
      doctest::Contains("the kind of a join is not the same on all ranks"),
      karpos::distributed::collective_error);
}

TEST_CASE("without memory, a join over ranks names itself and nothing that it uses") {
  auto const ranks = world();
  if (ranks.size() > 1 || !can_exhaust_memory()) return;  // MPI itself may need memory to exchange
  karpos_test::view<std::uint32_t> const column("column", 1 << 17);
  auto const rows = karpos::rows(column);
  auto const numbers = Kokkos::create_mirror_view(column);
  for (std::size_t i = 0; i < numbers.extent(0); ++i) numbers(i) = static_cast<std::uint32_t>(i);
  Kokkos::deep_copy(column, numbers);
  check_messages(
      messages_without_memory(
          1 << 16, [&] { karpos::distributed::join(ranks, rows, rows, join_kind::inner); }),
      "karpos::distributed::join: ", {"row_index", "an index", "exchange_plan", "partition"});
}

}  // namespace
