// SPDX-License-Identifier: Apache-2.0
/// \file
/// The checker of histories must be able to fail, or the concurrency tests prove nothing.
#include "support/history.hpp"

#include <doctest/doctest.h>

#include "support/keys.hpp"

namespace {

using enum karpos_test::action;
using karpos_test::event;
using karpos_test::is_linearizable;

constexpr bool yes = true, no = false;

TEST_CASE("sequential histories are accepted exactly when the answers are right") {
  CHECK(is_linearizable({}));
  CHECK(is_linearizable({{find, 0, no, 0, 1}}));
  CHECK(is_linearizable({{insert, 7, yes, 0, 1}, {find, 7, yes, 2, 3}}));
  CHECK(is_linearizable({{insert, 7, yes, 0, 1}, {insert, 8, no, 2, 3}, {find, 7, yes, 4, 5}}));
  CHECK(is_linearizable({{insert, 7, yes, 0, 1}, {assign, 8, no, 2, 3}, {find, 8, yes, 4, 5}}));
  CHECK(is_linearizable({{add, 7, yes, 0, 1}, {add, 8, no, 2, 3}, {find, 15, yes, 4, 5}}));
  CHECK(is_linearizable({{insert, 7, yes, 0, 1}, {erase, 0, yes, 2, 3}, {insert, 9, yes, 4, 5}}));

  CHECK_FALSE(is_linearizable({{find, 0, yes, 0, 1}}));
  CHECK_FALSE(is_linearizable({{erase, 0, yes, 0, 1}}));
  CHECK_FALSE(is_linearizable({{insert, 7, no, 0, 1}}));
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 1}, {find, 0, no, 2, 3}}));     // lost
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 1}, {find, 8, yes, 2, 3}}));    // torn
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 1}, {insert, 8, yes, 2, 3}}));  // twice
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 1}, {erase, 0, no, 2, 3}}));
  CHECK_FALSE(is_linearizable({{add, 7, yes, 0, 1}, {add, 8, no, 2, 3}, {find, 8, yes, 4, 5}}));
}

TEST_CASE("operations that overlap may take effect in either order") {
  CHECK(is_linearizable({{insert, 7, yes, 0, 9}, {find, 0, no, 1, 2}, {find, 7, yes, 3, 4}}));
  CHECK(is_linearizable({{insert, 7, yes, 0, 5}, {insert, 8, no, 1, 4}, {find, 7, yes, 6, 7}}));
  CHECK(is_linearizable({{insert, 7, no, 0, 5}, {insert, 8, yes, 1, 4}, {find, 8, yes, 6, 7}}));
  CHECK(is_linearizable({{erase, 0, yes, 0, 9}, {insert, 5, yes, 1, 8}}));

  // If one reader has seen the key, a later reader must see it too.
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 9}, {find, 7, yes, 1, 2}, {find, 0, no, 3, 4}}));
  // Exactly one of two overlapping insertions of an absent key inserts.
  CHECK_FALSE(is_linearizable({{insert, 7, yes, 0, 5}, {insert, 8, yes, 1, 4}}));
  CHECK_FALSE(is_linearizable({{insert, 7, no, 0, 5}, {insert, 8, no, 1, 4}}));
  // Two erasures of one key cannot both succeed.
  CHECK_FALSE(
      is_linearizable({{insert, 7, yes, 0, 1}, {erase, 0, yes, 2, 5}, {erase, 0, yes, 3, 4}}));
  // One addition was lost.
  CHECK_FALSE(is_linearizable({{insert, 0, yes, 0, 1},
                               {add, 1, no, 2, 6},
                               {add, 1, no, 3, 5},
                               {add, 1, no, 4, 7},
                               {find, 2, yes, 8, 9}}));
}

TEST_CASE("an operation that lasts long may take effect behind many others") {
  std::vector<event> history{{erase, 0, yes, 0, 10000}};
  for (std::uint64_t i = 1; i <= 600; i += 2) {
    history.push_back({i == 1 ? insert : assign, i, i == 1, 10 * i, 10 * i + 1});
    history.push_back({find, i, yes, 10 * i + 2, 10 * i + 3});
  }
  CHECK(is_linearizable(history));
  history.push_back({find, 0, no, 10001, 10002});
  CHECK(is_linearizable(history));
  history.push_back({find, 599, yes, 10003, 10004});
  CHECK_FALSE(is_linearizable(history));
}

TEST_CASE("operations that all overlap are checked without trying every order of them") {
  constexpr std::uint64_t n = 40, most_steps = 1000;
  std::vector<event> history;
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t const instant = 10 + i;
    history.push_back({find, 0, no, instant, 1000 + i});
    history.push_back({erase, 0, no, instant, 1000 + i});
    history.push_back({find, 7, yes, instant, 1000 + i});
    history.push_back({insert, i, no, instant, 1000 + i});
  }
  history.push_back({insert, 7, yes, 0, 2000});
  CHECK(karpos_test::is_linearizable_within(most_steps, history) == true);
  history.push_back({find, 8, yes, 1, 1999});
  CHECK(karpos_test::is_linearizable_within(most_steps, history) == false);

  // Eight threads whose operations overlap, and a lookup that no order explains.
  history.clear();
  for (std::uint64_t i = 0; i < 80; ++i)
    history.push_back({i % 2 == 0 ? insert : erase, i, yes, 10 * i, 10 * i + 75});
  CHECK(karpos_test::is_linearizable_within(100000, history) == true);
  history.push_back({find, 1, yes, 400, 475});
  CHECK(karpos_test::is_linearizable_within(100000, history) == false);

  // Changes that overlap may have to be tried in many orders.
  history.clear();
  for (std::uint64_t i = 0; i < n; ++i) history.push_back({assign, i, i == 20, i, 1000 + i});
  history.push_back({find, n, yes, 3000, 3001});
  CHECK_FALSE(karpos_test::is_linearizable_within(most_steps, history).has_value());
}

TEST_CASE(
    "histories of a real sequential map with blurred instants are accepted, forged ones are not") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    karpos_test::random_numbers random(seed);
    std::vector<event> history;
    bool here = false;
    std::uint64_t now = 0;
    for (std::uint64_t t = 100; t < 300 * 10; t += 10) {
      event e{static_cast<karpos_test::action>(random.below(5)), random.below(4), no, t, t};
      switch (e.what) {
        case insert:
          now = here ? now : e.value;
          break;
        case assign:
          now = e.value;
          break;
        case add:
          now = e.value + (here ? now : 0);
          break;
        case erase:
          break;
        case find:
          e.value = now;
          break;
      }
      bool const reads = e.what == erase || e.what == find;
      e.answer = reads ? here : !here;
      here = e.what == find ? here : e.what != erase;
      e.invoked -= random.below(30);  // widens the interval around the effect
      e.responded += 1 + random.below(30);
      history.push_back(e);
    }
    CHECK(is_linearizable(history));
    history.push_back({find, 1u << 20, yes, 5000, 5001});
    CHECK_FALSE(is_linearizable(history));
  }
}

}  // namespace
