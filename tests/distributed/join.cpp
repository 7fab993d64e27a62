// SPDX-License-Identifier: Apache-2.0
/// \file
/// Joins over ranks, in messages and in windows, against their definition; on GPUs, on CPUs, and in
/// windows also on a device that a CPU emulates.
#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <random>
#include <type_traits>
#include <utility>

#include "karpos/distributed/join.hpp"
#include "karpos/distributed/reduce_by_key.hpp"
#include "support/emulated_restore.hpp"
#include "support/memory_limit.hpp"
#include "tests/distributed/limits.hpp"
#include "tests/distributed/ranks.hpp"

namespace karpos::detail::distributed {
/// Fewer rows than in programs, so that few rows go through windows.
constexpr std::uint64_t fewest_in_windows = 40;
template <>
struct window_tuning<karpos_test::space> : default_window_tuning<karpos_test::space> {
  static constexpr std::uint64_t min_rows = fewest_in_windows;
};
template <>
struct window_tuning<karpos_test::emulated_space>
    : default_window_tuning<karpos_test::emulated_space> {
  static constexpr std::uint64_t min_rows = fewest_in_windows;
  static inline int max_second_pass_bits = default_window_tuning::max_second_pass_bits;
};
}  // namespace karpos::detail::distributed

namespace {
using namespace karpos_test;
using karpos::join_kind;
using number = std::uint64_t;
using pairs = std::vector<std::pair<number, number>>;
constexpr number none = karpos::no_row<number>;

/// Rows of two columns. rows_of_rank() returns the rows of any rank, equal on every rank that calls
/// it; the third rank has none.
struct table {
  std::vector<std::int32_t> i;
  std::vector<double> x;
};
table rows_of_rank(int rank, unsigned seed, std::size_t rows, int values) {
  std::mt19937 random(seed * 100 + unsigned(rank));
  table t;
  for (std::size_t r = 0; r < (rank % 3 == 2 ? 0 : rows); ++r) {
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

/// Which columns rows are made of.
struct two_columns {
  static constexpr bool has_x = true;
  template <class I, class X>
  static auto rows(I const& i, X const& x) {
    return karpos::rows(i, x);
  }
};
struct one_column {
  static constexpr bool has_x = false;
  template <class I, class X>
  static auto rows(I const& i, X const&) {
    return karpos::rows(i);
  }
};
/// More bytes than are moved as words: such rows go in messages.
struct wide_columns {
  static constexpr bool has_x = true;
  template <class I, class X>
  static auto rows(I const& i, X const& x) {
    return karpos::rows(x, i, x);
  }
};

/// Returns the rows of a join by its definition; in semi and anti joins, the other side's row is
/// `none`.
pairs expected(table const& left, table const& right, join_kind kind, bool has_x) {
  auto const n = left.i.size(), m = right.i.size();
  std::vector<bool> left_found(n), right_found(m);
  pairs matches, all;
  for (number l = 0; l < n; ++l)
    for (number r = 0; r < m; ++r)
      if (left.i[l] == right.i[r] && (!has_x || left.x[l] == right.x[r])) {
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

/// Joins rows in windows as GPUs do. Returns nothing if there are no windows.
template <class Left, class Right>
auto join_on_teams(communicator const& ranks, Left const& left, Right const& right,
                   join_kind kind) {
  namespace d = karpos::detail::distributed;
  using tested = std::conditional_t<karpos::device::is_device<space>, space, emulated_space>;
  d::join_buffers<communicator> buffers;
  d::join_output<communicator> out(ranks, kind, buffers);
  bool const joined =
      d::window_join<tested, communicator, Left, Right>(ranks, left, right, kind, buffers)
          .try_run(out);
  karpos::distributed::joined_rows<memory> rows{out.left(), out.right(), 0};
  rows.total = joined ? ranks.all_reduce(out.size()) : none;
  return rows;
}

enum class how { once, kept, on_teams };
template <class Columns>
void check_join(communicator const& ranks, std::size_t left_rows, std::size_t right_rows,
                int values, join_kind kind, how h = how::once) {
  INFO("kind ", int(kind), ", ", left_rows, " and ", right_rows, " rows of ", values, ", ", int(h));
  auto const l = rows_of_rank(ranks.rank(), 1, left_rows, values);
  auto const r = rows_of_rank(ranks.rank(), 2, right_rows, values);
  auto const left_view = Columns::rows(to_view(l.i), to_view(l.x)),
             right_view = Columns::rows(to_view(r.i), to_view(r.x));
  karpos::distributed::join_memory<space> kept;
  karpos::distributed::joined_rows<memory> joined;
  if (h == how::once) {
    joined = karpos::distributed::join(ranks, left_view, right_view, kind);
  } else if (h == how::kept) {
    auto const others = all_but_first();
    for (auto const& some : {&ranks, &others})
      karpos::distributed::join(*some, left_view, right_view, join_kind::left, kept);
    auto moved = std::move(kept);
    karpos::distributed::join(ranks, left_view, right_view, join_kind::left, moved);
    joined = karpos::distributed::join(ranks, left_view, right_view, kind, kept);
  } else if constexpr (!std::is_same_v<Columns, wide_columns>) {
    joined = join_on_teams(ranks, left_view, right_view, kind);
    if (joined.total == none) {  // a single rank opens no windows, nor do ranks that share a GPU
      CHECK((ranks.size() == 1 || karpos::device::is_device<space>));
      return;
    }
  }
  auto left = to_vector(joined.left), right = to_vector(joined.right);
  if (left.empty()) left.resize(right.size(), none);
  if (right.empty()) right.resize(left.size(), none);
  REQUIRE(left.size() == right.size());
  auto const all_left = gathered(ranks, left), all_right = gathered(ranks, right);
  pairs all;
  for (std::size_t k = 0; k < all_left.size(); ++k) all.emplace_back(all_left[k], all_right[k]);
  std::sort(all.begin(), all.end());
  CHECK(joined.total == all.size());
  CHECK((all == expected(whole(ranks, 1, left_rows, values), whole(ranks, 2, right_rows, values),
                         kind, Columns::has_x)));
}

constexpr join_kind kinds[] = {join_kind::inner,      join_kind::left,      join_kind::right,
                               join_kind::full,       join_kind::left_semi, join_kind::left_anti,
                               join_kind::right_semi, join_kind::right_anti};

TEST_CASE("rows of two tables over ranks are joined, in every kind") {
  auto const ranks = world();
  for (auto const kind : kinds) {
    for (auto const h : {how::once, how::on_teams}) {
      check_join<two_columns>(ranks, 120, 90, 40, kind, h);
      check_join<one_column>(ranks, 50, 40, 1, kind, h);  // all rows on few ranks
    }
    check_join<one_column>(ranks, 0, 50, 9, kind);
    check_join<one_column>(ranks, 50, 0, 9, kind, how::on_teams);
    check_join<two_columns>(ranks, 30, 20, 9, kind);  // in messages
    check_join<wide_columns>(ranks, 120, 90, 40, kind);
    check_join<two_columns>(ranks, 120, 90, 40, kind, how::kept);
  }
}

TEST_CASE("joins of many rows over ranks are split, and too frequent rows are not") {
  auto const ranks = world();
  auto const copies = [] { return emulated_space::launched("karpos::distributed: received rows"); };
  for (auto const h : {how::once, how::on_teams}) {
    auto const before = copies();
    check_join<one_column>(ranks, 3000, 2500, 4000, join_kind::inner, h);
    CHECK(copies() == before);  // partitions are made of the rows in windows
    check_join<one_column>(ranks, 3, 20'000, 1, join_kind::right_semi, h);
    check_join<one_column>(ranks, 3, 20'000, 1, join_kind::left, h);
  }
}

TEST_CASE("rows of a join of more partitions than two passes make are copied from windows") {
  auto const ranks = world();
  bool const in_windows = ranks.size() > 1 && !karpos::device::is_device<space>;
  auto& most = karpos::detail::distributed::window_tuning<emulated_space>::max_second_pass_bits;
  auto const before = std::exchange(most, 0);
  auto const copies = [] { return emulated_space::launched("karpos::distributed: received rows"); };
  auto const copied = copies();
  check_join<one_column>(ranks, 800, 700, 900, join_kind::inner, how::on_teams);
  if (in_windows) CHECK(copies() - copied == 2);
  check_join<two_columns>(ranks, 120, 90, 40, join_kind::full, how::on_teams);
  check_join<one_column>(ranks, 3, 2000, 1, join_kind::left, how::on_teams);
  most = before;
}

TEST_CASE("skewed joins over ranks split no side again that has not overflowed") {
  auto const ranks = world();
  bool const in_windows = ranks.size() > 1 && !karpos::device::is_device<space>;
  auto const splits_of = [&](std::size_t left, std::size_t right) {
    auto const splits = [] {
      return emulated_space::launched("karpos::partition: move into fixed partitions");
    };
    auto const before = splits();
    check_join<one_column>(ranks, left, right, 1, join_kind::left_semi, how::on_teams);
    return splits() - before;
  };
  // A side that has overflowed is split once more, into partitions that hold all rows.
  if (in_windows) {
    CHECK(splits_of(2000, 3000) == 4);
    CHECK(splits_of(3, 3000) == 3);
    CHECK(splits_of(3000, 3) == 3);
  }
}

TEST_CASE("a join in windows sends no rows") {
  auto const ranks = world();
  if (karpos::device::is_device<space>) return;  // ranks may share a GPU
  std::vector<std::int32_t> keys(5000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = std::int32_t(i);
  auto const rows = karpos::rows(to_view(keys));
  auto const before = ranks.bytes_sent();
  auto const joined = karpos::distributed::join(ranks, rows, rows, join_kind::left_semi);
  CHECK(joined.total == keys.size() * std::size_t(ranks.size()));
  CHECK(ranks.bytes_sent() - before < keys.size());
}

TEST_CASE(
    "calls without memory share windows, which their communicator keeps until it frees them") {
  auto const ranks = world();
  if (karpos::device::is_device<space>) return;  // their windows are not counted
  int const before = addressed_windows();
  auto const keys = to_view(rows_of_rank(ranks.rank(), 1, 3000, 900).i);
  auto const groups = karpos::distributed::reduce_by_key(ranks, keys, keys).total;
  int const of_a_call = addressed_windows() - before;
  CHECK((of_a_call > 0) == (ranks.size() > 1));
  for (std::size_t const rows : {60u, 400u, 100u}) {  // they grow, then are larger than needed
    check_join<two_columns>(ranks, rows, rows, 50, join_kind::inner);
    CHECK(addressed_windows() == before + of_a_call);
  }
  {
    auto const others = all_but_first();  // keeps its own
    check_join<one_column>(others, 90, 90, 50, join_kind::left);
    check_join<one_column>(ranks, 90, 90, 50, join_kind::left);
  }
  CHECK(addressed_windows() == before + of_a_call);
  CHECK(karpos::distributed::reduce_by_key(ranks, keys, keys).total == groups);
  int const kept = addressed_windows();
  check_join<two_columns>(world({.max_kept_bytes = 1000}), 400, 400, 50, join_kind::inner);
  CHECK(addressed_windows() == kept);
  {
    // The least value of any rank holds.
    auto const some = world({.max_kept_bytes = ranks.rank() == 0 ? 0u : 1u << 20});
    check_join<two_columns>(some, 400, 400, 50, join_kind::inner);
    CHECK(addressed_windows() == kept);
  }
  auto const fewer = Kokkos::subview(keys, Kokkos::make_pair(std::size_t(0), keys.extent(0) / 2));
  if (keys.extent(0) > 0)
    CHECK_THROWS_AS(karpos::distributed::reduce_by_key(ranks, keys, fewer),
                    karpos::distributed::collective_error);
  else
    CHECK_THROWS_AS(karpos::distributed::reduce_by_key(ranks, keys, keys),
                    karpos::distributed::collective_error);
  CHECK(addressed_windows() == before);  // closed by the error, and opened again
  check_join<two_columns>(ranks, 400, 400, 50, join_kind::inner);
  CHECK(addressed_windows() == before + of_a_call);
  ranks.release_memory();
  CHECK(addressed_windows() == before);
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

TEST_CASE("a number that is no kind of join is refused on all ranks") {
  auto const ranks = world();
  auto const t = rows_of_rank(0, 1, 50, 5);
  auto const rows = karpos::rows(to_view(t.i));
  karpos::distributed::join_memory<space> kept;
  int const before = addressed_windows();
  karpos::distributed::join(ranks, rows, rows, join_kind::inner, kept);
  if (!karpos::device::is_device<space>)
    CHECK((addressed_windows() > before) == (ranks.size() > 1));
  CHECK_THROWS_WITH_AS(karpos::distributed::join(ranks, rows, rows, join_kind(99), kept),
                       doctest::Contains("kind of join"), karpos::distributed::collective_error);
  CHECK(addressed_windows() == before);
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
