// SPDX-License-Identifier: Apache-2.0
/// \file
/// The k largest elements are those that std::stable_sort puts first, with each way of selection,
/// of one array and of each of many rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <karpos/select_k.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/chance.hpp"
#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos::select_k_options;
using karpos_test::holds;
using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using karpos_test::to_host;
using karpos_test::to_space;
using karpos_test::view;

/// Compares by falling value; NaN comes last.
template <class T>
bool above(T a, T b) {
  return a > b || (a == a && b != b);
}
/// Returns whether two elements are identical, not merely equal.
template <class T>
bool identical(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b);
  else
    return a == b;
}

template <class T>
std::vector<std::uint64_t> sorted_indices(std::vector<T> const& x) {
  std::vector<std::uint64_t> order(x.size());
  std::iota(order.begin(), order.end(), std::uint64_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return above(x[a], x[b]); });
  return order;
}

template <class T>
struct selection {
  std::vector<T> const& x;
  std::vector<std::uint64_t> order;  // by the oracle
  std::string name;

  /// Checks the results of a selection of k elements.
  template <class Index>
  void check(std::vector<Index> got, std::vector<T> const& values, select_k_options o) const {
    std::size_t const k = got.size();
    bool right = values.size() == k;
    for (std::size_t r = 0; right && r < k; ++r)
      right = static_cast<std::uint64_t>(got[r]) < x.size() &&
              identical(values[r], x[static_cast<std::size_t>(got[r])]);
    holds(name + ": values are those of the indices", right);
    if (!right) return;
    auto want = std::vector<std::uint64_t>(order.begin(), order.begin() + std::ptrdiff_t(k));
    std::vector<std::uint64_t> indices(got.begin(), got.end());
    if (!o.sorted) {
      std::sort(indices.begin(), indices.end());
      auto const same_index = std::adjacent_find(indices.begin(), indices.end());
      holds(name + ": no index twice", same_index == indices.end());
      std::stable_sort(indices.begin(), indices.end(),
                       [&](std::uint64_t a, std::uint64_t b) { return above(x[a], x[b]); });
    }
    for (std::size_t r = 0; right && r < k; ++r) right = indices[r] == want[r];
    holds(name + ": the right elements", right);
    std::sort(indices.begin(), indices.end());
    holds(name + ": each once",
          std::adjacent_find(indices.begin(), indices.end()) == indices.end());
  }
};

/// Checks selections, sorted or not, and by digits for every k.
template <class T>
void check(std::string const& name, std::vector<T> const& x, std::vector<std::uint64_t> const& ks) {
  auto const scores = to_space(x);
  selection<T> want{x, sorted_indices(x), {}};
  for (std::uint64_t const k : ks) {
    want.name = name + " of " + std::to_string(x.size()) + ", k " + std::to_string(k);
    for (bool const sorted : {false, true}) {
      select_k_options const o{.sorted = sorted};
      view<std::uint32_t> const indices("indices", k);
      view<T> const values("values", k);
      karpos::select_k(space(), scores, k, indices, values, o);
      want.check(to_host(indices), to_host(values), o);
    }
    if (k == 0) continue;
    using winner = karpos::detail::ranked<karpos::detail::radix_key<T>>;
    view<winner> const winners("winners", k);
    karpos::detail::select_k::select_by_radix(space(), scores, k, winners);
    std::vector<std::uint64_t> got;
    std::vector<T> values;
    for (winner const& w : to_host(winners)) {
      got.push_back(w.index);
      values.push_back(x[w.index]);
    }
    want.name += ", by digits";
    want.check(got, values, {.sorted = false});
  }
}

enum class kind { random, ties, equal, rising, falling, special, few_finite };

template <class T>
T special_value(std::uint64_t i) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    T const values[] = {T(0),
                        T(-0.0),
                        limits::infinity(),
                        -limits::infinity(),
                        limits::max(),
                        limits::lowest(),
                        limits::quiet_NaN(),
                        -limits::quiet_NaN(),
                        limits::min(),
                        -limits::min(),
                        limits::denorm_min(),
                        -limits::denorm_min(),
                        T(1),
                        T(-1)};
    return values[i % 14];
  } else {
    T const values[] = {T(0),          T(1),          static_cast<T>(-1),
                        limits::max(), limits::min(), static_cast<T>(limits::max() / 2)};
    return values[i % 6];
  }
}

template <class T>
std::vector<T> make(kind what, std::uint64_t n, std::uint64_t seed = 1) {
  random_numbers random(seed);
  std::vector<T> x(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t const r = random();
    T any = static_cast<T>(r >> (64 - 8 * sizeof(T)));
    if constexpr (std::is_floating_point_v<T>)
      any = static_cast<T>(static_cast<double>(r >> 11) * 0x1p-53 - 0.5);
    switch (what) {
      case kind::random:
        x[i] = any;
        break;
      case kind::ties:
        x[i] = static_cast<T>(r % 5);
        break;
      case kind::equal:
        x[i] = static_cast<T>(7);
        break;
      case kind::rising:
        x[i] = static_cast<T>(i);
        break;
      case kind::falling:
        x[i] = static_cast<T>(n - i);
        break;
      case kind::special:
        x[i] = special_value<T>(r >> 7);
        break;
      case kind::few_finite:
        x[i] = r % 1000 == 0 ? any : special_value<T>(6);
        break;
    }
  }
  return x;
}

template <class T>
void check_type() {
  for (std::uint64_t const n : {0, 1, 2, 100, 5000}) {
    std::vector<std::uint64_t> ks{0, n};
    for (std::uint64_t const k : {std::uint64_t(1), std::uint64_t(10), n / 2})
      if (k < n) ks.push_back(k);
    check("random", make<T>(kind::random, n), ks);
    check("ties", make<T>(kind::ties, n), ks);
    check("special", make<T>(kind::special, n), ks);
    check("equal", make<T>(kind::equal, n), ks);
  }
  check("random", make<T>(kind::random, 200000), {10, 100000});
  check("random", make<T>(kind::random, 30000), {30000});
  check("ties", make<T>(kind::ties, 200000), {1, 3000});
  check("equal", make<T>(kind::equal, 40000), {10});
  check("rising", make<T>(kind::rising, 40000), {10, 3000});
  check("falling", make<T>(kind::falling, 40000), {3000});
  check("special", make<T>(kind::special, 40000), {10, 20000});
  check("mostly the same", make<T>(kind::few_finite, 40000), {10, 150});
}

template <class T>
using matrix = Kokkos::View<T**, Kokkos::LayoutRight, space::memory_space>;

/// Rows of any lengths, one after the other, and the right order of each.
template <class T>
struct rows_of {
  std::vector<T> scores;
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::vector<std::uint64_t>> orders;

  void add(std::vector<T> const& row) {
    scores.insert(scores.end(), row.begin(), row.end());
    offsets.push_back(static_cast<std::uint32_t>(scores.size()));
    orders.push_back(sorted_indices(row));
  }
  /// Returns whether the results of every row are right, and no others are written.
  bool is_right(std::uint64_t k, bool sorted, matrix<std::int32_t> const& indices,
                matrix<T> const& values) const {
    auto const i = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), indices);
    auto const v = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    bool right = true;
    for (std::size_t r = 0; r < orders.size(); ++r) {
      auto const n = std::min<std::size_t>(k, orders[r].size());
      std::vector<std::uint64_t> got,
          want(orders[r].begin(), orders[r].begin() + std::ptrdiff_t(n));
      for (std::size_t j = 0; j < k; ++j) {
        if (j >= n) {
          right = right && i(r, j) == -7;
          continue;
        }
        auto const at = static_cast<std::size_t>(i(r, j));
        right = right && at < orders[r].size() && identical(v(r, j), scores[offsets[r] + at]);
        got.push_back(at);
      }
      if (!sorted) std::sort(got.begin(), got.end()), std::sort(want.begin(), want.end());
      right = right && got == want;
    }
    return right;
  }
};

/// Checks the public call and teams, which cut rows at the multiples of several lengths.
template <class T>
void check_rows(std::string const& name, rows_of<T> const& rows, std::uint64_t k) {
  namespace detail = karpos::detail::select_k;
  auto const scores = to_space(rows.scores);
  auto const offsets = to_space(rows.offsets);
  std::uint64_t const n = rows.orders.size(), size = rows.scores.size();
  matrix<std::int32_t> const indices("indices", n, k);
  matrix<T> const values("values", n, k);
  detail::segment_rows<T, std::uint32_t> const segments{scores.data(), offsets.data(), n, size, 1};
  auto const check_call = [&](std::string const& way, bool sorted, auto const& select) {
    Kokkos::deep_copy(indices, -7);
    select();
    holds(name + ", k " + std::to_string(k) + way + (sorted ? ", sorted" : ""),
          rows.is_right(k, sorted, indices, values));
  };
  for (bool const sorted : {false, true}) {
    check_call("", sorted, [&] {
      karpos::select_k_rows(space(), scores, offsets, k, indices, values, {.sorted = sorted});
    });
    if (k > 2048 || size == 0) continue;
    for (std::uint64_t const length : {std::uint64_t(0), k + (k == 64 ? 0 : 777)}) {
      detail::row_windows const windows{length, length == 0 ? 0 : (size + length - 1) / length};
      check_call(" by teams, cut at " + std::to_string(length), sorted, [&] {
        detail::select_by_teams(space(), segments, windows, k,
                                detail::results_of_rows(indices, values), sorted);
      });
    }
  }
}

template <class T>
void check_rows_of_type() {
  random_numbers random(5);
  for (kind const what : {kind::random, kind::ties, kind::equal, kind::rising, kind::falling,
                          kind::special, kind::few_finite}) {
    rows_of<T> rows;
    for (std::uint64_t const n : {0, 1, 2, 100, 0, 0, 4096, 5, 4097, 9000, 1, 40, 0})
      rows.add(make<T>(what, n, random()));
    std::string const name = "kind " + std::to_string(static_cast<int>(what));
    for (std::uint64_t const k : {1, 64, 2000}) check_rows(name, rows, k);
    if (what == kind::special) check_rows(name, rows, 5000);
  }
  rows_of<T> none, empty, long_row;
  for (std::uint64_t const n : {100, 70'001, 5}) long_row.add(make<T>(kind::ties, n));
  check_rows("a long row", long_row, 60);
  check_rows("no rows", none, 3);
  empty.add({});
  check_rows("an empty row", empty, 3);
}

/// Checks sizes at which every block compacts its candidates many times, against std::partial_sort.
template <class T>
void check_large(std::uint64_t seed) {
  random_numbers random(seed);
  for (kind const what : {kind::random, kind::rising, kind::falling, kind::ties}) {
    std::uint64_t const n = karpos_test::rows_for_random_test(500'000 + random.below(500'000)),
                        k = 1 + random.below(300);
    auto x = make<T>(what, n, seed);
    view<T> const values("values", k);
    karpos::select_k(space(), to_space(x), k, view<std::uint32_t>(), values);
    std::partial_sort(x.begin(), x.begin() + std::ptrdiff_t(k), x.end(), std::greater<T>());
    x.resize(k);
    holds(std::to_string(k) + " of " + std::to_string(n) + ", kind " +
              std::to_string(static_cast<int>(what)),
          to_host(values) == x);
  }
}

}  // namespace

TEST_CASE("the k largest of many are those of std::partial_sort") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    check_large<float>(seed);
    check_large<double>(10 + seed);
    check_large<std::uint32_t>(20 + seed);
    check_large<std::int64_t>(30 + seed);
  }
}
/// The k-th element has equal elements everywhere, a few in each chunk that a thread reads. Threads
/// do not read the chunks in order.
TEST_CASE("of many equal elements those with the smallest indices are selected") {
  std::uint64_t const n = std::uint64_t(1) << 20, k = 4000;
  random_numbers random(77);
  std::vector<float> x(n);
  std::vector<std::uint32_t> want;
  for (std::uint64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(random.below(1000)) / 1000.f;
    if (i % 16384 > 8000 && i % 20 == 0) x[i] = 5.f;  // 420 of 16,384
    if (x[i] == 5.f && want.size() < k) want.push_back(static_cast<std::uint32_t>(i));
  }
  view<std::uint32_t> const indices("indices", k);
  karpos::select_k(space(), to_space(x), k, indices, view<float>());
  holds("the first of them, in their order", to_host(indices) == want);
}
TEST_CASE("selections of floats") {
  check_type<float>();
  check("all", make<float>(kind::random, 200000), {200000});
}
TEST_CASE("selections of doubles") { check_type<double>(); }
TEST_CASE("selections of unsigned integers") {
  SUBCASE("32 bits") { check_type<std::uint32_t>(); }
  SUBCASE("64 bits") { check_type<std::uint64_t>(); }
}
TEST_CASE("selections of signed integers") {
  SUBCASE("32 bits") { check_type<std::int32_t>(); }
  SUBCASE("64 bits") { check_type<std::int64_t>(); }
}

TEST_CASE("order of values that are not like others") {
  float const inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  auto const x = to_space(std::vector<float>{nan, -0.0f, -inf, 0.0f, -nan, inf, -1.0f});
  view<std::int64_t> const indices("indices", 7);
  karpos::select_k(space(), x, 7, indices, view<float>());
  CHECK(to_host(indices) == std::vector<std::int64_t>{5, 1, 3, 6, 2, 0, 4});
  view<float> const values("values", 3);
  karpos::select_k(space(), x, 3, view<int>(), values);
  auto const v = to_host(values);
  CHECK(v[0] == inf);
  CHECK(std::signbit(v[1]));  // each zero keeps its sign
  CHECK(!std::signbit(v[2]));
}

TEST_CASE("results may be wider, and what is behind them stays") {
  auto const x = to_space(std::vector<double>{1, 5, 3, 4});
  view<std::int32_t> const indices("indices", 4);
  view<double> const values("values", 3);
  Kokkos::deep_copy(indices, -7);
  Kokkos::deep_copy(values, -7.0);
  karpos::select_k(space(), x, 2, indices, values);
  CHECK(to_host(indices) == std::vector<std::int32_t>{1, 3, -7, -7});
  CHECK(to_host(values) == std::vector<double>{5, 4, -7});
  karpos::select_k(space(), x, 0, indices, values);
  CHECK(to_host(indices) == std::vector<std::int32_t>{1, 3, -7, -7});
  karpos::select_k(space(), x, 4, view<int>(), view<double>());
}

TEST_CASE("every other element, of a view that cannot be written") {
  Kokkos::View<float**, Kokkos::LayoutRight, space::memory_space> const table("table", 30000, 2);
  auto const mirror = Kokkos::create_mirror_view(table);
  auto const x = make<float>(kind::random, 30000);
  for (std::size_t i = 0; i < x.size(); ++i) mirror(i, 0) = 9, mirror(i, 1) = x[i];
  Kokkos::deep_copy(table, mirror);
  Kokkos::View<float const**, Kokkos::LayoutRight, space::memory_space> const constant = table;
  auto const column = Kokkos::subview(constant, Kokkos::ALL, 1);
  auto const order = sorted_indices(x);
  for (std::uint64_t const k : {20u, 20000u}) {
    view<std::uint64_t> const indices("indices", k);
    karpos::select_k(space(), column, k, indices, view<float>());
    holds("k " + std::to_string(k),
          to_host(indices) ==
              std::vector<std::uint64_t>(order.begin(), order.begin() + std::ptrdiff_t(k)));
  }
}

TEST_CASE("selections that are refused") {
  view<float> const x("x", 10), few("few", 3);
  view<int> const indices("indices", 11);
  throws<std::invalid_argument>([&] { karpos::select_k(space(), x, 11, indices, view<float>()); },
                                "more elements", "11 of 10");
  throws<std::invalid_argument>([&] { karpos::select_k(space(), x, 4, indices, few); }, "values",
                                "3 elements for 4 selected");
  throws<std::invalid_argument>(
      [&] { karpos::select_k(space(), x, 4, view<int>("indices", 1), view<float>()); }, "indices",
      "1 elements for 4 selected");
  Kokkos::View<float const*, space::memory_space, Kokkos::MemoryUnmanaged> const endless(
      reinterpret_cast<float const*>(64), (std::size_t(1) << 31) + 1);
  throws<std::invalid_argument>(
      [&] { karpos::select_k(space(), endless, 1, indices, view<float>()); }, "too small a type",
      "2147483648 must fit, at most 2147483647 does", "64-bit");
}

TEST_CASE("selections from rows that are refused") {
  matrix<float> const x("x", 3, 10), few("few", 3, 3), short_of_rows("two rows", 2, 10);
  matrix<int> const indices("indices", 3, 11), none;
  view<int> const offsets("offsets", 4);
  throws<std::invalid_argument>([&] { karpos::select_k_rows(space(), x, 11, indices, x); },
                                "karpos::select_k_rows", "more elements", "11 of 10");
  throws<std::invalid_argument>([&] { karpos::select_k_rows(space(), x, 4, indices, few); },
                                "values", "3 elements for 4 selected");
  throws<std::invalid_argument>([&] { karpos::select_k_rows(space(), x, 4, none, short_of_rows); },
                                "values", "2 elements for 3 rows");
  throws<std::invalid_argument>(
      [&] {
        karpos::select_k_rows(space(), view<float>("x", 10), offsets, 4, matrix<int>("i", 2, 4),
                              few);
      },
      "karpos::select_k_rows", "3 elements for 4 selected");
}

TEST_CASE("memory of a selection") {
  same("nothing", karpos::select_k_bytes<float>(space(), 1000, 0), 0);
  bool const by_teams = karpos::device::is_device<space>;  // these need nothing for one team
  CHECK(karpos::select_k_bytes<float>(space(), 1000, 500) >= (by_teams ? 0 : 500 * 16));
  CHECK(karpos::select_k_bytes<float>(space(), 100000, 3000) >= 3000 * 16);
  CHECK(karpos::select_k_bytes<float>(space(), 100000000, 100) < (1u << 22));
}

TEST_CASE("rows of different lengths") {
  SUBCASE("float") { check_rows_of_type<float>(); }
  SUBCASE("double") { check_rows_of_type<double>(); }
  SUBCASE("32 bits") { check_rows_of_type<std::uint32_t>(); }
#if KARPOS_FULL_TESTS
  SUBCASE("signed") { check_rows_of_type<std::int32_t>(); }
  SUBCASE("64 bits") { check_rows_of_type<std::int64_t>(); }
#endif
}

TEST_CASE("rows of a table, in either layout, and rows longer than a thread selects from") {
  for (std::uint64_t const columns : {64u, 5000u, 70'001u}) {
    std::uint64_t const n = 5, k = 60;
    rows_of<float> rows;
    matrix<float> const right("right", n, columns);
    Kokkos::View<float**, Kokkos::LayoutLeft, space::memory_space> const left("left", n, columns);
    auto const host = Kokkos::create_mirror_view(right);
    auto const host_left = Kokkos::create_mirror_view(left);
    for (std::uint64_t r = 0; r < n; ++r) {
      auto const row = make<float>(r % 2 == 0 ? kind::random : kind::ties, columns, r + 1);
      rows.add(row);
      for (std::uint64_t c = 0; c < columns; ++c) host(r, c) = host_left(r, c) = row[c];
    }
    Kokkos::deep_copy(right, host);
    Kokkos::deep_copy(left, host_left);
    matrix<std::int32_t> const indices("indices", n, k);
    matrix<float> const values("values", n, k);
    auto const check_table = [&](char const* name, auto const& table) {
      Kokkos::deep_copy(indices, -7);
      karpos::select_k_rows(space(), table, k, indices, values);
      holds(std::string(name) + " of " + std::to_string(columns),
            rows.is_right(k, true, indices, values));
    };
    check_table("rows side by side", right);
    check_table("columns side by side", left);
    matrix<float const> const constant = right;
    Kokkos::deep_copy(indices, -7);
    Kokkos::deep_copy(values, 0);
    karpos::select_k_rows(space(), constant, k, matrix<std::int32_t>(), values);
    karpos::select_k_rows(space(), constant, k, indices, matrix<float>());
    holds("indices alone, and values alone", rows.is_right(k, true, indices, values));
  }
}
