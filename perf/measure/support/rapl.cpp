// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/rapl.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace karpos::perf {
namespace {

namespace fs = std::filesystem;

/// The number that a file consists of, or why there is none.
struct file_number {
  std::optional<std::uint64_t> value;
  std::string why;
};
file_number number_in(fs::path const& file) {
  errno = 0;
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return {value, {}};
  return {{}, file.string() + ": " + (errno != 0 ? std::strerror(errno) : "no number")};
}

/// Returns whether a zone is a whole package. The zones of packages are called intel-rapl:N, also
/// for other vendors' processors; intel-rapl:N:M is a part of one.
bool is_package(fs::path const& zone) {
  std::string const prefix = "intel-rapl:", name = zone.filename().string();
  if (name.rfind(prefix, 0) != 0 || name.find(':', prefix.size()) != std::string::npos)
    return false;
  std::string called;
  std::ifstream file(zone / "name");
  std::getline(file, called);
  return called.rfind("package", 0) == 0;
}

}  // namespace

rapl::rapl(fs::path const& folder) {
  std::error_code ignored;
  std::vector<fs::path> zones;
  for (auto const& entry : fs::directory_iterator(folder, ignored))
    if (is_package(entry.path())) zones.push_back(entry.path());
  std::sort(zones.begin(), zones.end());
  if (zones.empty()) m_obstacle = "no counter of a package in " + folder.string();
  for (fs::path const& zone : zones) {
    auto const range = number_in(zone / "max_energy_range_uj");
    auto const now = number_in(zone / "energy_uj");
    for (file_number const& n : {range, now})
      if (!n.value && m_obstacle.empty()) m_obstacle = n.why;
    if (range.value) m_packages.push_back({zone / "energy_uj", *range.value});
  }
}

rapl::reading rapl::read() const {
  reading all;
  for (package const& p : m_packages) {
    auto const n = number_in(p.counter);
    if (!n.value) throw std::runtime_error("karpos: " + n.why + ": measure without --energy");
    all.push_back(*n.value);
  }
  return all;
}

double rapl::joules(reading const& before, reading const& after) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < m_packages.size(); ++i)
    sum +=
        after[i] >= before[i] ? after[i] - before[i] : m_packages[i].range - before[i] + after[i];
  return 1e-6 * static_cast<double>(sum);
}

}  // namespace karpos::perf
