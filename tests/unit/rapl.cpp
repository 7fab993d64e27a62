// SPDX-License-Identifier: Apache-2.0
#include "perf/support/rapl.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace {
namespace fs = std::filesystem;
using karpos::perf::rapl;

/// A folder as Linux has it, with counters of our own.
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
  s.write("intel-rapl:1", "energy_uj", "9");  // round, of its own range
  CHECK(r.joules(before, r.read()) == doctest::Approx(2.0 + 65532.610986));
}

TEST_CASE("what tells nothing says why") {
  stand_in const s;
  CHECK(rapl(s.folder).obstacle() == "no counter of a package in " + s.folder.string());
  CHECK(rapl(s.folder / "nowhere").obstacle() ==
        "no counter of a package in " + (s.folder / "nowhere").string());
  s.zone("intel-rapl:0", "package-0", 1, 100);
  fs::remove(s.folder / "intel-rapl:0" / "energy_uj");  // as one that may not be read
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

}  // namespace
