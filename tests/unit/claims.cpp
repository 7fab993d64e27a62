// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/paper/claims.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {
using namespace karpos::perf::paper;

/// Values at ranges of 100, 1,000, 10,000 and 100,000.
std::vector<point> at_ranges(double a, double b, double c, double d) {
  return {{1e5, d}, {1e2, a}, {1e3, b}, {1e4, c}};
}

/// "2 to 3 times as fast, 1 to 2 times at large ranges"
claim two_halves(std::vector<point> const& values) {
  return judge("leads", {about(between(values, 0, 1e3), 2, 3, " times below"),
                         {between(values, 1e4, 1e5), 1, 2, " times above"}});
}

TEST_CASE("a claim holds if all values of all its parts are in range") {
  claim const c = two_halves(at_ranges(3.75, 1.5, 1, 2));
  CHECK(c.holds == true);
  CHECK(c.text == "leads (here: 1.5 to 3.75 times below, 1 to 2 times above)");
  CHECK(c.because == "1.50 to 3.75 times below; 1.00 to 2.00 times above");
  CHECK(verdict(c) == "holds");
  CHECK(verdict(two_halves(at_ranges(1, 1, 1, 1))) == "does not hold");        // no lead
  CHECK(verdict(two_halves(at_ranges(2, 3, 2.5, 1.5))) == "does not hold");    // too much, late
  CHECK(verdict(two_halves(at_ranges(2, 3.8, 1.5, 1.5))) == "does not hold");  // too much, early
  CHECK(verdict(two_halves(at_ranges(2, 3, 1.5, 0.9))) == "does not hold");    // falls behind
  CHECK(verdict(two_halves(at_ranges(2, 3, 1.5, std::nan("")))) == "does not hold");
}

TEST_CASE("a claim without all its values is not tried, and says why") {
  std::vector<point> const values = {{1, 3}};
  claim c = judge("leads", {{values, 2, 4, " times", "10^7 would take an hour"}});
  CHECK(verdict(c) == "not tried");
  CHECK(c.because == "3.00 times; 10^7 would take an hour");
  c = judge("leads", {{values, 2, 4, " times"}, {{}, 1, 2, " times above"}});
  CHECK(verdict(c) == "not tried");
  CHECK(c.because == "3.00 times; values are missing");
}

TEST_CASE("ranges that are open say so") {
  expectation some;
  some.values.push_back({0, 7});
  some.low = 5;
  CHECK(judge("a", {some}).text == "a (here: at least 5)");
  CHECK(judge("a", {some}).holds == true);
  CHECK(judge("a", {{some.values, 0, 1.425, " times"}}).text == "a (here: at most 1.425 times)");
  CHECK(judge("a", {{some.values, 0, 1.425, " times"}}).holds == false);
}

TEST_CASE("--quick judges nothing, and a CPU no claim about a GPU") {
  for (bool const quick : {false, true})
    for (bool const on_gpu : {false, true})
      for (bool const about_gpu : {false, true}) {
        claim c{"text", true, "1.2 times", about_gpu};
        withhold_verdict(c, quick, on_gpu);
        std::string const why = quick                  ? "--quick measures too little to judge: "
                                : about_gpu && !on_gpu ? "it is one about a GPU: "
                                                       : "";
        CHECK(c.holds.has_value() == why.empty());
        CHECK(c.because == why + "1.2 times");
      }
}

TEST_CASE("ratios are those of the values that both series have") {
  series const a{"a", origin::ours, {{1, 6}, {2, 8}, {3, 1}}},
      b{"b", origin::peer, {{2, 4}, {1, 2}}};
  auto const r = ratio(a, b);
  REQUIRE(r.size() == 2);
  CHECK(r[0].y == 3);
  CHECK(r[1].y == 2);
  CHECK(least({"", origin::ours, r}) == 2.0);
  CHECK(largest({"", origin::ours, r}) == 3.0);
  CHECK(!least({"", origin::ours, {}}));
  CHECK(!value_at(b, 3));
}

}  // namespace
