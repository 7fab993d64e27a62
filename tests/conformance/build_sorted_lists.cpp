// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists built from a table equal its columns sorted by std::stable_sort.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <karpos/build_sorted_lists.hpp>
#include <karpos/validate_sorted_lists.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/keys.hpp"
#include "support/space.hpp"

namespace {

using karpos_test::random_numbers;
using karpos_test::same;
using karpos_test::space;
using karpos_test::throws;
using memory = space::memory_space;

template <class Score, class Layout = Kokkos::LayoutRight>
using table = Kokkos::View<Score**, Layout, memory>;
template <class Score>
using columns = std::vector<std::vector<Score>>;

template <class Table, class Score>
void fill(Table const& t, columns<Score> const& from) {
  auto const mirror = Kokkos::create_mirror_view(t);
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t o = 0; o < from[i].size(); ++o) mirror(o, i) = from[i][o];
  Kokkos::deep_copy(t, mirror);
}

template <class T>
std::vector<T> read(T const* p, std::uint64_t n) {
  Kokkos::View<T const*, memory, Kokkos::MemoryUnmanaged> const from(p, n);
  return karpos_test::to_host(from);
}

template <class Lists, class Score>
void check_lists(std::string const& what, Lists const& got, columns<Score> const& want) {
  same(what + ": lists", static_cast<std::uint64_t>(got.lists()), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::vector<std::uint32_t> order(want[i].size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return want[i][a] > want[i][b]; });
    std::vector<Score> scores;
    for (std::uint32_t const o : order) scores.push_back(want[i][o]);
    auto const& list = got.ref()[static_cast<int>(i)];
    same(what + ": length", list.length, order.size());
    karpos_test::holds(what + ": ids", read(list.ids, list.length) == order);
    karpos_test::holds(what + ": scores", read(list.scores, list.length) == scores);
  }
  karpos_test::holds(what + ": dense", got.is_dense());
  if (!want.empty()) same(what + ": objects", got.objects(), want[0].size());
  karpos::validate_sorted_lists(space(), got);
}

/// Checks tables in both layouts.
template <class Score>
void check(std::string const& what, columns<Score> const& scores) {
  std::size_t const n = scores.empty() ? 0 : scores[0].size();
  table<Score> const right("table", n, scores.size());
  fill(right, scores);
  check_lists(what, karpos::build_sorted_lists(space(), right), scores);
  table<Score, Kokkos::LayoutLeft> const left("table", n, scores.size());
  fill(left, scores);
  check_lists(what + ", by columns", karpos::build_sorted_lists(space(), left), scores);
}

template <class Score>
columns<Score> random_columns(std::size_t n, std::size_t lists, std::uint64_t seed) {
  random_numbers random(seed);
  Score const inf = std::numeric_limits<Score>::infinity();
  Score const special[] = {Score(0),
                           Score(-0.0),
                           inf,
                           -inf,
                           std::numeric_limits<Score>::max(),
                           std::numeric_limits<Score>::lowest(),
                           std::numeric_limits<Score>::denorm_min(),
                           -std::numeric_limits<Score>::denorm_min()};
  columns<Score> c(lists, std::vector<Score>(n));
  for (std::size_t i = 0; i < lists; ++i)
    for (Score& s : c[i]) {
      double const u = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
      s = static_cast<Score>(u);
      if (i % 4 == 1) s = static_cast<Score>(std::floor(u * 8));
      if (i % 4 == 2) s = static_cast<Score>(u * std::pow(10.0, double(random.below(60)) - 30));
      if (i % 4 == 3) s = special[random.below(8)];
    }
  return c;
}

template <class Score>
void check_type() {
  check<Score>("nothing", {});
  check<Score>("no objects", columns<Score>(3));
  check<Score>("one", {{Score(3)}});
  check<Score>("two", {{Score(3), Score(4)}, {Score(1), Score(1)}});
  check<Score>("equal", columns<Score>(2, std::vector<Score>(1000, Score(-2))));
  check("random", random_columns<Score>(5000, 8, 1));
  check("most lists", random_columns<Score>(100, 32, 2));
  check("large", random_columns<Score>(60000, 3, 3));
  columns<Score> rising(1), falling(1);
  for (int i = 0; i < 5000; ++i) {
    rising[0].push_back(static_cast<Score>(i));
    falling[0].push_back(static_cast<Score>(-i));
  }
  check("rising", rising);
  check("falling", falling);
}

}  // namespace

TEST_CASE("tables against std::stable_sort") {
  SUBCASE("float") { check_type<float>(); }
  SUBCASE("double") { check_type<double>(); }
}

TEST_CASE("a subview of a constant table") {
  auto const all = random_columns<float>(300, 6, 4);
  table<float> const whole("table", 300, 6);
  fill(whole, all);
  Kokkos::View<float const**, Kokkos::LayoutRight, memory> const constant = whole;
  auto const part =
      Kokkos::subview(constant, std::pair<int, int>{100, 250}, std::pair<int, int>{1, 4});
  columns<float> want;
  for (int i = 1; i < 4; ++i) want.emplace_back(all[i].begin() + 100, all[i].begin() + 250);
  check_lists("part", karpos::build_sorted_lists(space(), part), want);
}

TEST_CASE("-0.0 is 0.0") {
  table<float> const t("table", 1, 1);
  Kokkos::deep_copy(t, -0.0f);
  auto const lists = karpos::build_sorted_lists(space(), t);
  CHECK(!std::signbit(read(lists.ref()[0].scores, 1)[0]));
}

TEST_CASE("tables that are refused") {
  auto scores = random_columns<double>(1000, 4, 5);
  table<double> const t("table", 1000, 4);
  scores[1][901] = scores[3][900] = scores[2][900] = std::nan("");
  fill(t, scores);
  throws<std::invalid_argument>([&] { karpos::build_sorted_lists(space(), t); }, "not a number",
                                "object 900", "list 2");
  throws<std::invalid_argument>(
      [] { karpos::build_sorted_lists(space(), table<float>("table", 3, 33)); }, "too many", "33",
      "32");
  Kokkos::View<float const**, Kokkos::LayoutRight, memory, Kokkos::MemoryUnmanaged> const endless(
      reinterpret_cast<float const*>(64), std::size_t(1) << 32, 1);
  throws<std::invalid_argument>([&] { karpos::build_sorted_lists(space(), endless); },
                                "too many objects", "4294967296");
}
