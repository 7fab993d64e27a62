// SPDX-License-Identifier: Apache-2.0
/// \file
/// With KARPOS_CONTRACTS, misuse of a ref and indices that a kernel finds out of range end the
/// program with a message; correct use is unaffected.
#undef KARPOS_CONTRACTS
#define KARPOS_CONTRACTS 1
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <karpos/csr_graph.hpp>
#include <karpos/hash_map.hpp>
#include <karpos/join.hpp>
#include <karpos/partition.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "concurrency/histories.hpp"

namespace {

/// Runs f in a child process. Returns: what it wrote to stderr if it aborted, or nothing.
template <class F>
std::string abort_message(F const& f) {
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  std::cout.flush();  // or the child would print it again
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(channel[1], STDERR_FILENO);
    close(channel[0]);
    std::signal(SIGABRT, SIG_DFL);  // doctest's handler would report a failure
    f();
    _exit(0);
  }
  close(channel[1]);
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = read(channel[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string() : text;
}

TEST_CASE("a key equal to a sentinel ends the program") {
  karpos_test::host_table<std::uint32_t, std::uint32_t, karpos::double_hashing, 4, true> table(160);
  karpos::device::host_tile<1> const tile;
  constexpr std::uint32_t sentinel = ~std::uint32_t(0);
  auto const ref = table.ref();
  auto const insert = [&](std::uint32_t key) {
    return [&ref, &tile, key] { ref.insert(tile, key, 1u); };
  };
  CHECK(abort_message(insert(7)).empty());
  auto const words = abort_message(insert(sentinel));
  CHECK(words.find("karpos: contract violated") != std::string::npos);
  CHECK(words.find("a key equal to a sentinel cannot be inserted") != std::string::npos);
  CHECK(abort_message(insert(sentinel - 1)).find("sentinel") != std::string::npos);
}

TEST_CASE("a lookup on the host does not find a key equal to a sentinel") {
  using u32 = std::uint32_t;
  using host = Kokkos::DefaultHostExecutionSpace;
  CHECK(abort_message([] {
          Kokkos::ScopeGuard const kokkos;
          karpos::hash_map<u32, u32, host> const map(host{}, 10);
          if (map.find(~u32(0)).present || map.contains(~u32(1))) std::abort();
        }).empty());
}

using host_space = Kokkos::DefaultHostExecutionSpace;
template <class T>
using host_view = Kokkos::View<T*, Kokkos::HostSpace>;

template <class T>
host_view<T> view_of(std::vector<T> const& from) {
  host_view<T> const to("view", from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to(i) = from[i];
  return to;
}

/// Gathers these rows of a column of three, or of one with nulls. Returns: what the process wrote
/// when it aborted.
template <class Row>
std::string gathers(std::vector<Row> const& rows, bool with_nulls) {
  return abort_message([&] {
    Kokkos::ScopeGuard const kokkos;
    auto const column = view_of<int>({7, 8, 9});
    auto const indices = view_of(rows);
    if (with_nulls)
      karpos::gather(host_space{}, indices, karpos::nullable(column, view_of<int>({1, 0, 1})), -1);
    else
      karpos::gather(host_space{}, indices, column, -1);
    Kokkos::fence();
  });
}

TEST_CASE("a row that is gathered beyond its column ends the program") {
  using u64 = std::uint64_t;
  for (bool const with_nulls : {false, true}) {
    CHECK(gathers<u64>({0, 2, 1, karpos::no_row<u64>}, with_nulls).empty());
    CHECK(gathers<int>({-1, 2, 0}, with_nulls).empty());
    CHECK(gathers<std::uint32_t>({~0u}, with_nulls).empty());
    auto const refused = [](std::string const& words) {
      return words.find("a row that is gathered is below the length of the column, or no_row") !=
             std::string::npos;
    };
    CHECK(refused(gathers<u64>({0, 3, 1}, with_nulls)));
    CHECK(refused(gathers<u64>({0, u64(1) << 32}, with_nulls)));
    CHECK(refused(gathers<u64>({~u64(0) - 1}, with_nulls)));
    CHECK(refused(gathers<u64>({0xffffffffu}, with_nulls)));  // no_row of a narrower type
    CHECK(refused(gathers<int>({0, -2}, with_nulls)));
    CHECK(refused(gathers<int>({0, 1, 1 << 30}, with_nulls)));
  }
}

struct partition_of_some {
  std::int64_t partition;  // of key 5
  KOKKOS_FUNCTION std::int64_t operator()(std::uint32_t key) const {
    return key == 5 ? partition : 1;
  }
};

TEST_CASE("a partition number out of range ends the program") {
  auto const splits = [](std::int64_t partition) {
    return abort_message([&] {
      Kokkos::ScopeGuard const kokkos;
      auto const keys = view_of<std::uint32_t>({3, 4, 5, 6});
      host_view<std::uint32_t> const out("out", 4);
      host_view<std::uint64_t> const offsets("offsets", 5);
      karpos::partition(host_space{}, keys, out, offsets, partition_of_some{partition});
      if (offsets(4) != 4) std::abort();
    });
  };
  auto const refused = [&](std::int64_t partition) {
    return splits(partition).find("a partitioner's result is below the number of partitions") !=
           std::string::npos;
  };
  CHECK(splits(0).empty());
  CHECK(splits(3).empty());
  CHECK(refused(4));
  CHECK(refused(-1));
  CHECK(refused(std::int64_t(1) << 32));  // 0 in 32 bits
  CHECK(refused((std::int64_t(1) << 40) + 2));
}

TEST_CASE("a graph that is trusted is checked all the same") {
  CHECK(abort_message([] {
          Kokkos::ScopeGuard const kokkos;
          auto const offsets = view_of<std::uint64_t>({0, 1, 2, 3});
          karpos::csr_graph const wrong(offsets, view_of<std::uint32_t>({1, 77, 0}));
          karpos::csr_graph const right(offsets, view_of<std::uint32_t>({1, 2, 0}));
          right.trusted().validate_unless_trusted(host_space{});
          try {
            wrong.trusted().validate_unless_trusted(host_space{});
          } catch (std::invalid_argument const&) {
            return;
          }
          std::abort();
        }).empty());
}

TEST_CASE("the macro evaluates its condition once and reports only if it is false") {
  int calls = 0;
  auto const holds = [&] { return ++calls > 0; };
  KARPOS_EXPECTS(holds(), "never said");
  CHECK(calls == 1);
  CHECK(abort_message([] { KARPOS_EXPECTS(1 + 1 == 3, "arithmetic"); }).find("arithmetic") !=
        std::string::npos);
}

}  // namespace
