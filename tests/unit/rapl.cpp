// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/rapl.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "perf/measure/support/energy_use.hpp"

namespace {
namespace fs = std::filesystem;
using karpos::perf::rapl;

/// A folder like Linux's powercap folder, with the test's own counters.
struct stand_in {
  fs::path folder = fs::temp_directory_path() / ("karpos_rapl." + std::to_string(getpid()));
  stand_in() { fs::create_directories(folder); }
  stand_in(stand_in const&) = delete;
  ~stand_in() { fs::remove_all(folder); }

  void zone(char const* called, char const* name, std::uint64_t energy, std::uint64_t range) const {
    fs::create_directories(folder / called);
    write(called, "name", name);
    write(called, "max_energy_range_uj", std::to_string(range));
    write(called, "energy_uj", std::to_string(energy));
  }
  void write(char const* zone, char const* file, std::string const& text) const {
    std::ofstream(folder / zone / file) << text << "\n";
  }
};

TEST_CASE("packages are added up, and no part of one twice") {
  stand_in const s;
  s.zone("intel-rapl:0", "package-0", 1000, 262143328850);
  s.zone("intel-rapl:1", "package-1", 5'000'000, 262143328850);
  s.zone("intel-rapl:0:0", "core", 1, 262143328850);
  s.zone("intel-rapl:2", "psys", 7, 262143328850);
  s.zone("intel-rapl-mmio:0", "package-0", 9, 262143328850);
  rapl const r(s.folder);
  CHECK(r.obstacle() == "");
  REQUIRE(r.packages() == 2);
  auto const before = r.read();
  CHECK(before == rapl::reading{1000, 5'000'000});
  s.write("intel-rapl:0", "energy_uj", "2001000");
  s.write("intel-rapl:1", "energy_uj", "5500000");
  s.write("intel-rapl:0:0", "energy_uj", "999999999");
  CHECK(r.joules(before, r.read()) == doctest::Approx(2.5));
  CHECK(r.joules(before, before) == 0.0);
}

TEST_CASE("a counter that has gone round goes on") {
  stand_in const s;
  s.zone("intel-rapl:0", "package-0", 262'143'000'000, 262143328850);
  s.zone("intel-rapl:1", "package-1", 10, 65'532'610'987);
  rapl const r(s.folder);
  auto const before = r.read();
  s.write("intel-rapl:0", "energy_uj", "1671150");
  CHECK(r.joules(before, r.read()) == doctest::Approx(2.0));
  s.write("intel-rapl:1", "energy_uj", "9");  // wraps around, at its own range
  CHECK(r.joules(before, r.read()) == doctest::Approx(2.0 + 65532.610986));
}

TEST_CASE("what tells nothing says why") {
  stand_in const s;
  CHECK(rapl(s.folder).obstacle() == "no counter of a package in " + s.folder.string());
  CHECK(rapl(s.folder / "nowhere").obstacle() ==
        "no counter of a package in " + (s.folder / "nowhere").string());
  s.zone("intel-rapl:0", "package-0", 1, 100);
  fs::remove(s.folder / "intel-rapl:0" / "energy_uj");  // as if it may not be read
  std::string const counter = (s.folder / "intel-rapl:0" / "energy_uj").string();
  CHECK(rapl(s.folder).obstacle() == counter + ": No such file or directory");
  s.write("intel-rapl:0", "energy_uj", "none");
  CHECK(rapl(s.folder).obstacle() == counter + ": no number");
  s.write("intel-rapl:0", "energy_uj", "5");
  rapl const r(s.folder);
  CHECK(r.obstacle() == "");
  fs::remove(counter);
  CHECK_THROWS_WITH(
      r.read(),
      ("karpos: " + counter + ": No such file or directory: measure without --energy").c_str());
}

/// A device whose counter increases by `step` joules after every `rounds_a_step` rounds of work.
struct stand_in_device {
  std::uint64_t const& rounds;
  std::uint64_t rounds_a_step;
  double step;
  std::string obstacle() const { return step > 0 ? "" : "it tells nothing"; }
  std::optional<double> joules() const {
    if (step == 0) return {};
    return 1000 + step * static_cast<double>(rounds / rounds_a_step);
  }
};
using karpos::perf::energy_loop;
void rest() { std::this_thread::sleep_for(std::chrono::microseconds(500)); }

TEST_CASE("the energy of a device is that between two steps of its counter") {
  stand_in const none;
  rapl const packages(none.folder);
  std::uint64_t rounds = 0;
  stand_in_device const device{rounds, 40, 7.0};
  auto const use = energy_loop(device, packages)(0.3, [&](auto const&) {
    ++rounds;
    rest();
  });
  REQUIRE(use.device_joules.has_value());
  CHECK(!use.host_joules.has_value());
  CHECK(use.seconds >= 0.3);
  CHECK(use.rounds < rounds);  // rounds before the first step do not count
  double const steps = *use.device_joules / 7;
  CHECK(steps == doctest::Approx(std::round(steps)));
  CHECK(steps >= 1);
  // A step is seen some rounds late, at most as many as lie between two reads of the counter.
  CHECK(std::abs(static_cast<double>(use.rounds) - 40 * steps) <= 30);
  CHECK(use.joules() == *use.device_joules);
  CHECK(use.device_obstacle == "");
}

TEST_CASE("counters of processors are added up, however often they go round meanwhile") {
  stand_in const s;
  s.zone("intel-rapl:0", "package-0", 0, 1000);
  rapl const packages(s.folder);
  std::uint64_t rounds = 0;
  stand_in_device const device{rounds, 1, 0.0};
  auto const use = energy_loop(device, packages)(0.02, [&](auto const& read_counters) {
    for (
        int i = 0; i < 3;
        ++i) {  // adds 900 microjoules a round to a counter of 1000; one look for every 300 of them
      s.write("intel-rapl:0", "energy_uj", std::to_string(300 * (3 * rounds + i + 1) % 1000));
      read_counters();
    }
    ++rounds;
  });
  REQUIRE(use.host_joules.has_value());
  CHECK(use.rounds >= 1);
  CHECK(*use.host_joules == doctest::Approx(900e-6 * static_cast<double>(use.rounds)));
  CHECK(!use.device_joules.has_value());
  CHECK(use.device_obstacle == "it tells nothing");
}

TEST_CASE("where no counter tells, nothing is repeated") {
  stand_in const none;
  rapl const packages(none.folder);
  std::uint64_t rounds = 0;
  stand_in_device const device{rounds, 1, 0.0};
  auto const use = energy_loop(device, packages)(5, [&](auto const&) { ++rounds; });
  CHECK(rounds == 0);
  CHECK(!use.is_measured());
  CHECK(use.host_obstacle == "no counter of a package in " + none.folder.string());
  CHECK(use.device_obstacle == "it tells nothing");
}

}  // namespace
