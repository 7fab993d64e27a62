// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "karpos/distributed/exchange_plan.hpp"
#include "tests/distributed/ranks.hpp"

namespace {
using namespace karpos_test;
using plan = karpos::distributed::exchange_plan<space>;

/// A row larger than those a partition moves.
struct large_row {
  std::uint64_t from, number;
  double payload[3];
  bool operator==(large_row const&) const = default;
};

/// Checks an exchange of rows_of(r) rows from each rank r to the owners by a rule: every rank must
/// receive the expected rows.
template <class OwnerOf>
void check_exchange(communicator const& ranks, std::uint64_t (*rows_of)(int), OwnerOf owner_of) {
  auto const row = [](int r, std::uint64_t i) {
    return large_row{std::uint64_t(r), i, {double(i), 1.5, -double(r)}};
  };
  std::vector<std::uint32_t> owners;
  std::vector<large_row> mine, expected;
  for (std::uint64_t i = 0; i < rows_of(ranks.rank()); ++i) {
    owners.push_back(owner_of(ranks.rank(), i));
    mine.push_back(row(ranks.rank(), i));
  }
  for (int r = 0; r < ranks.size(); ++r)
    for (std::uint64_t i = 0; i < rows_of(r); ++i)
      if (owner_of(r, i) == std::uint32_t(ranks.rank())) expected.push_back(row(r, i));

  plan const p(ranks, to_view(owners));
  CHECK(p.sends() == mine.size());
  CHECK(p.receives() == expected.size());
  for (int again = 0; again < 2; ++again) {
    auto const received = p.exchange(to_view(mine));
    CHECK(to_vector(received) == expected);
    Kokkos::View<large_row*, memory> const back("back", mine.size());
    p.exchange_back(received, back);
    CHECK(to_vector(back) == mine);
  }
  CHECK(to_vector(karpos::distributed::repartition(ranks, to_view(mine), to_view(owners))) ==
        expected);
  std::vector<std::uint8_t> answer(expected.size());
  for (std::size_t j = 0; j < answer.size(); ++j)
    answer[j] = std::uint8_t(expected[j].number % 251);
  Kokkos::View<std::uint8_t*, memory> const answers("answers", mine.size());
  p.exchange_back(to_view(answer), answers);
  auto const got = to_vector(answers);
  CHECK(std::all_of(mine.begin(), mine.end(),
                    [&](large_row const& m) { return got[m.number] == m.number % 251; }));
}

TEST_CASE("rows go to their owners, and answers back") {
  auto const ranks = world();
  auto const p = std::uint32_t(ranks.size());
  auto const scattered = [p](int r, std::uint64_t i) {
    return std::uint32_t(std::mt19937_64(i * 64 + std::uint64_t(r))() % p);
  };
  check_exchange(
      ranks, [](int) { return std::uint64_t(0); }, scattered);
  check_exchange(
      ranks, [](int) { return std::uint64_t(1); }, scattered);
  check_exchange(
      ranks, [](int) { return std::uint64_t(4); }, scattered);
  check_exchange(
      ranks, [](int r) { return std::uint64_t(r % 2 == 1 ? 0 : 3000); }, scattered);
  check_exchange(
      ranks, [](int r) { return std::uint64_t(500 * r); }, [](int, std::uint64_t) { return 0u; });
  check_exchange(
      ranks, [](int r) { return std::uint64_t(r == 0 ? 2000 : 0); },
      [p](int, std::uint64_t) { return p - 1; });
}

struct by_modulus {
  std::uint32_t ranks;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key % ranks);
  }
};

TEST_CASE("owners may be computed from keys") {
  auto const ranks = world();
  auto const p = std::uint64_t(ranks.size());
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 100; ++i) keys.push_back((i << 33) + std::uint64_t(ranks.rank()));
  auto const view = to_view(keys);
  plan const all(ranks, view, by_modulus{std::uint32_t(p)});
  for (std::uint64_t const key : to_vector(all.exchange(view)))
    CHECK(key % p == std::uint64_t(ranks.rank()));
  CHECK(ranks.all_reduce(all.receives()) == 100 * p);
}

TEST_CASE("columns and answers of other lengths on one rank are refused, on all ranks") {
  using karpos::distributed::collective_error;
  auto const ranks = world();
  std::vector<std::uint32_t> const owners(3, 0);
  plan const p(ranks, to_view(owners));
  bool const is_last = ranks.rank() == ranks.size() - 1;
  std::string const who = "rank " + std::to_string(ranks.size() - 1) + " of ";
  auto const column = [&](std::uint64_t n) { return Kokkos::View<double*, memory>("column", n); };
  std::uint64_t const sends = is_last ? 2 : 3, receives = p.receives() + (is_last ? 1 : 0);
  auto const refused = [&](auto const& move) {
    CHECK_THROWS_WITH_AS(move(), doctest::Contains(who.c_str()), collective_error);
  };
  refused([&] { p.exchange(column(sends)); });
  refused([&] { p.exchange(column(3), column(receives)); });
  refused([&] { p.exchange_back(column(receives), column(3)); });
  refused([&] { p.exchange_back(column(p.receives()), column(sends)); });
  CHECK(ranks.all_reduce(p.exchange(column(3)).extent(0)) == 3 * std::size_t(ranks.size()));
  // One rank passes a strided view.
  using strided = Kokkos::View<double*, Kokkos::LayoutStride, memory>;
  Kokkos::View<double**, Kokkos::LayoutRight, memory> const table("table", 3, 2);
  Kokkos::View<double**, Kokkos::LayoutRight, memory> const all("all", p.receives(), 2);
  bool const receives_some = p.receives() > 1;  // true only on the first rank, the owner of all
  strided const gaps = Kokkos::subview(all, Kokkos::ALL, 0), whole = column(p.receives());
  strided const in = Kokkos::subview(table, Kokkos::ALL, 0);
  std::string const first = "rank 0 of ";
  CHECK_THROWS_WITH_AS(p.exchange(in, receives_some ? gaps : whole),
                       doctest::Contains(first.c_str()), collective_error);
  CHECK_THROWS_WITH_AS(p.exchange_back(receives_some ? gaps : whole, in),
                       doctest::Contains(first.c_str()), collective_error);
  p.exchange(in, whole);
  p.exchange_back(whole, in);
}

TEST_CASE("an owner that is no rank is refused, on all ranks") {
  auto const ranks = world();
  std::vector<std::int32_t> owners(3, 0);
  if (ranks.rank() == ranks.size() - 1) owners[1] = -1;
  CHECK_THROWS_WITH_AS(
      plan(ranks, to_view(owners)),
      doctest::Contains(
          ("rank " + std::to_string(ranks.size() - 1) + " of " + std::to_string(ranks.size()) +
           ": the owner of row 1 is no rank (there are " + std::to_string(ranks.size()))
              .c_str()),
      karpos::distributed::collective_error);
  owners.assign(3, 0);
  std::vector<double> const rows(ranks.rank() == 0 ? 2 : 3, 0.0);
  CHECK_THROWS_WITH_AS(karpos::distributed::repartition(ranks, to_view(rows), to_view(owners)),
                       doctest::Contains("rows and owners differ in extent"),
                       karpos::distributed::collective_error);
}

}  // namespace
