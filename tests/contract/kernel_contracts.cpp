// SPDX-License-Identifier: Apache-2.0
/// \file
/// With KARPOS_CONTRACTS, misuse of a ref ends the program with a sentence; right use does not notice.
#undef KARPOS_CONTRACTS
#define KARPOS_CONTRACTS 1
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <karpos/hash_map.hpp>
#include <string>

#include "concurrency/histories.hpp"

namespace {

/// Runs f in a process of its own. Returns: what it wrote to stderr when it aborted, or nothing.
template <class F>
std::string last_words(F const& f) {
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  std::cout.flush();  // or the child would write it once more
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
  CHECK(last_words(insert(7)).empty());
  auto const words = last_words(insert(sentinel));
  CHECK(words.find("karpos: contract violated") != std::string::npos);
  CHECK(words.find("a key equal to a sentinel cannot be inserted") != std::string::npos);
  CHECK(last_words(insert(sentinel - 1)).find("sentinel") != std::string::npos);
}

TEST_CASE("a key equal to a sentinel, looked up on the host, is not there") {
  using u32 = std::uint32_t;
  using host = Kokkos::DefaultHostExecutionSpace;
  CHECK(last_words([] {
          Kokkos::ScopeGuard const kokkos;
          karpos::hash_map<u32, u32, host> const map(host{}, 10);
          if (map.find(~u32(0)).present || map.contains(~u32(1))) std::abort();
        }).empty());
}

TEST_CASE("the macro evaluates its condition once and only tells when it is false") {
  int calls = 0;
  auto const holds = [&] { return ++calls > 0; };
  KARPOS_EXPECTS(holds(), "never said");
  CHECK(calls == 1);
  CHECK(last_words([] { KARPOS_EXPECTS(1 + 1 == 3, "arithmetic"); }).find("arithmetic") !=
        std::string::npos);
}

}  // namespace
