// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/distributed/ranks.hpp"

namespace {
using namespace karpos_test;
using counts = communicator::counts_type;

TEST_CASE("a communicator knows its ranks, and can be moved") {
  auto first = world();
  int rank = -1, size = -1, result = MPI_UNEQUAL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  communicator const ranks = std::move(first);
  CHECK(ranks.rank() == rank);
  CHECK(ranks.size() == size);
  MPI_Comm_compare(ranks.mpi(), MPI_COMM_WORLD, &result);
  CHECK(result == MPI_CONGRUENT);  // a duplicate, not the same communicator
  ranks.barrier();
}

TEST_CASE("numbers are reduced") {
  auto const ranks = world();
  int const p = ranks.size(), r = ranks.rank();
  CHECK(ranks.all_reduce(r + 1) == p * (p + 1) / 2);
  CHECK(ranks.all_reduce(double(r), karpos::minimum{}) == 0.0);
  CHECK(ranks.all_reduce(std::uint64_t(r) << 40, karpos::maximum{}) == std::uint64_t(p - 1) << 40);
  CHECK(ranks.all_reduce(std::uint16_t(1u << r), karpos::distributed::bit_or{}) == (1 << p) - 1);
  auto const data = to_view(std::vector<std::int64_t>{r, -r, 1});
  ranks.all_reduce(data);
  CHECK(to_vector(data) == std::vector<std::int64_t>{p * (p - 1) / 2, -p * (p - 1) / 2, p});
}

TEST_CASE("a value, a view and a text are broadcast from any rank") {
  auto const ranks = world();
  for (int root = 0; root < ranks.size(); ++root) {
    CHECK(ranks.broadcast(ranks.rank() * 10, root) == root * 10);
    auto const data = to_view(std::vector<int>{ranks.rank(), 5});
    ranks.broadcast(data, root);
    CHECK(to_vector(data) == std::vector<int>{root, 5});
    auto const sent = ranks.bytes_sent();
    std::string const expected(std::size_t(root) + 1, 'x');
    CHECK(ranks.broadcast(std::string(std::size_t(ranks.rank()) + 1, 'x'), root) == expected);
    auto const length_and_text = sizeof(std::uint64_t) + expected.size();
    CHECK(ranks.bytes_sent() - sent == (ranks.rank() == root ? length_and_text : 0));
  }
}

TEST_CASE("unequal numbers of elements are gathered, also none") {
  auto const ranks = world();
  auto const n = std::size_t(ranks.rank() % 3);
  auto const all = gathered(ranks, std::vector<int>(n, ranks.rank()));
  std::vector<int> expected;
  for (int r = 0; r < ranks.size(); ++r) expected.insert(expected.end(), std::size_t(r % 3), r);
  CHECK(all == expected);
}

struct element {
  int from, to, number;
  bool operator==(element const&) const = default;
};
/// Sends r + s elements to rank r from each rank s. Each element names its source and target.
void exchange_all(communicator const& ranks) {
  int const p = ranks.size(), me = ranks.rank();
  std::vector<element> mine, expected;
  counts send;
  for (int to = 0; to < p; ++to) {
    for (int i = 0; i < me + to; ++i) mine.push_back({me, to, i});
    send.push_back(std::uint64_t(me + to));
  }
  for (int from = 0; from < p; ++from)
    for (int i = 0; i < me + from; ++i) expected.push_back({from, me, i});
  auto const receive = ranks.exchange_counts(send);
  Kokkos::View<element*, memory> const got("got", expected.size());
  ranks.all_to_all(to_view(mine), send, got, receive);
  CHECK(to_vector(got) == expected);
}

TEST_CASE("unequal numbers of elements are exchanged, and counted") {
  auto const ranks = world();
  auto const before = ranks.bytes_sent();
  exchange_all(ranks);
  CHECK((ranks.bytes_sent() > before) == (ranks.size() > 1));
}

TEST_CASE("what is longer than a message travels in several") {
  auto const ranks = world({.max_message_bytes = 8});
  exchange_all(ranks);
  auto const all = gathered(ranks, std::vector<std::uint64_t>(5, std::uint64_t(ranks.rank())));
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i / 5);
  Kokkos::View<double*, memory> const data("data", 11);
  Kokkos::deep_copy(data, 0.5);
  ranks.all_reduce(data);
  CHECK(to_vector(data) == std::vector<double>(11, 0.5 * ranks.size()));
  Kokkos::deep_copy(data, ranks.rank());
  ranks.broadcast(data, ranks.size() - 1);
  CHECK(to_vector(data) == std::vector<double>(11, ranks.size() - 1));
}

TEST_CASE("ranks that would split into messages of other lengths agree on the shortest") {
  int const rank = world().rank();
  exchange_all(world({.max_message_bytes = std::uint64_t(8) << rank}));
  auto const ranks = world({.max_message_bytes = std::uint64_t(8) << 20 >> 10 * rank});
  auto const all = gathered(ranks, std::vector<std::uint64_t>(5, std::uint64_t(ranks.rank())));
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i / 5);
}

/// Reduces bits of words of several widths and numbers, by whichever engine moves the data.
void reduce_bits(communicator const& ranks) {
  for (std::size_t const n : {1, 31, 32, 33, 1000, 70001}) {
    std::vector<std::uint32_t> words(n), expected(n);
    std::vector<std::uint8_t> bytes(n), expected_bytes(n);
    for (std::size_t i = 0; i < n; ++i) {
      words[i] = std::uint32_t(i) << ranks.rank();
      bytes[i] = std::uint8_t(i % 16 << ranks.rank() % 4);
      for (int r = 0; r < ranks.size(); ++r) {
        expected[i] |= std::uint32_t(i) << r;
        expected_bytes[i] = std::uint8_t(expected_bytes[i] | i % 16 << r % 4);
      }
    }
    auto const reduced = to_view(words);
    auto const reduced_bytes = to_view(bytes);
    ranks.all_reduce(reduced, karpos::distributed::bit_or{});
    ranks.all_reduce(reduced_bytes, karpos::distributed::bit_or{});
    CHECK(to_vector(reduced) == expected);
    CHECK(to_vector(reduced_bytes) == expected_bytes);
  }
}
void reduce_each_kind(communicator const& ranks) {
  auto const sum_of = [&]<class T>(T) {
    auto const data = to_view(std::vector<T>(5, T(ranks.rank() + 1)));
    ranks.all_reduce(data);
    CHECK(to_vector(data) == std::vector<T>(5, T(ranks.size() * (ranks.size() + 1) / 2)));
  };
  sum_of(std::int8_t{});
  sum_of(std::uint16_t{});
  sum_of(std::int32_t{});
  sum_of(std::uint64_t{});
  sum_of(float{});
  sum_of(double{});
}

TEST_CASE("data travels between devices, or through the host, with the same results") {
  auto const own = world(), staged = world({.stage_on_host = true});
  for (auto const* const ranks : {&own, &staged}) {
    exchange_all(*ranks);
    reduce_bits(*ranks);
    reduce_each_kind(*ranks);
  }
  CHECK(!staged.has_device_of_its_own());
  CHECK(std::string(staged.engine()) == "MPI");
  // One rank that stages on the host suffices for all to stage; else the others would block
  // elsewhere.
  if (own.size() > 1) {
    auto const mixed = world({.stage_on_host = own.rank() == 1});
    CHECK(!mixed.has_device_of_its_own());
    exchange_all(mixed);
  }
}

TEST_CASE("views of other lengths than their counts are refused") {
  auto const ranks = world();
  Kokkos::View<int*, memory> const one("one", 1), none("none", 0);
  counts const zero(std::size_t(ranks.size()), 0);
  CHECK_THROWS_WITH_AS(ranks.all_to_all(one, zero, none, zero),
                       doctest::Contains("what is sent and its counts differ in extent"),
                       std::invalid_argument);
  CHECK_THROWS_AS(ranks.exchange_counts(counts{}), std::invalid_argument);
}

TEST_CASE("errors of a communicator begin with the call") {
  auto const ranks = world();
  Kokkos::View<int*, memory> const one("one", 1), none("none", 0);
  Kokkos::View<int**, Kokkos::LayoutRight, memory> const table("table", 3, 2);
  Kokkos::View<int*, Kokkos::LayoutStride, memory> const gaps =
      Kokkos::subview(table, Kokkos::ALL, 0);
  counts const zero(std::size_t(ranks.size()), 0);
  auto const name = [](char const* member) { return std::string("communicator::") + member; };
  CHECK(refused_by([&] { ranks.all_to_all(one, zero, none, zero); }) == name("all_to_all"));
  CHECK(refused_by([&] { ranks.exchange_counts(counts{}); }) == name("exchange_counts"));
  CHECK(refused_by([&] { ranks.all_gather(one, one, zero); }) == name("all_gather"));
  CHECK(refused_by([&] { ranks.all_gather(one, none); }) == name("all_gather"));
  CHECK(refused_by([&] { ranks.all_reduce(gaps); }) == name("all_reduce"));
  CHECK(refused_by([&] { ranks.broadcast(gaps, 0); }) == name("broadcast"));
  CHECK(refused_by([&] { ranks.broadcast(1, ranks.size()); }) == name("broadcast"));
  CHECK(refused_by([&] { ranks.broadcast(one, ranks.size()); }) == name("broadcast"));
  CHECK(refused_by([&] { ranks.broadcast(std::string("a"), ranks.size()); }) == name("broadcast"));
  CHECK(karpos::detail::user_call::name() == "karpos");
  for (int const no_rank : {-1, ranks.size()}) {
    CHECK_THROWS_AS(ranks.broadcast(1, no_rank), std::invalid_argument);
    CHECK_THROWS_AS(ranks.broadcast(one, no_rank), std::invalid_argument);
    CHECK_THROWS_AS(ranks.broadcast(std::string("a"), no_rank), std::invalid_argument);
  }
}

TEST_CASE("unequal arguments are refused on all ranks, with both values") {
  auto const ranks = world();
  karpos::distributed::require_same(ranks, "max_keys", 7);
  karpos::distributed::require_same(ranks, "a bool", true);
  if (ranks.size() == 1) return;
  int const mine = ranks.rank() == ranks.size() - 1 ? 8 : 7;
  std::string const last = std::to_string(ranks.size() - 1);
  CHECK_THROWS_WITH_AS(karpos::distributed::require_same(ranks, "max_keys", mine),
                       ("karpos::distributed::require_same: max_keys is not the same on all ranks "
                        "(rank 0 has 7, rank " +
                        last + " has 8): pass one value on every rank")
                           .c_str(),
                       karpos::distributed::collective_error);
}

TEST_CASE("an exception on some ranks is thrown on all, with the message of the first") {
  auto const ranks = world();
  using karpos::detail::distributed::run_collectively;
  CHECK(run_collectively(ranks, [&] { return ranks.rank(); }) == ranks.rank());
  run_collectively(ranks, [] {});
  int const last = ranks.size() - 1;
  auto const fail = [&] {
    if (ranks.rank() == last) throw std::invalid_argument("karpos: nonsense (why): do this");
  };
  std::string const expected = "karpos: rank " + std::to_string(last) + " of " +
                               std::to_string(ranks.size()) + ": nonsense (why): do this";
  CHECK_THROWS_WITH_AS(run_collectively(ranks, fail), expected.c_str(),
                       karpos::distributed::collective_error);
  int named = -2;
  try {
    run_collectively(ranks, [] { throw 5; });
  } catch (karpos::distributed::collective_error const& e) {
    named = e.rank();
  }
  CHECK(named == 0);
  CHECK(ranks.all_reduce(1) == ranks.size());  // later collectives work
}

}  // namespace
