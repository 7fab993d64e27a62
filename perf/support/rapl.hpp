// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace karpos::perf {

/// The energy counters of the processors' packages (RAPL), as Linux shows them in files. They count microjoules up to a
/// range of their own, and begin again at 0: some minutes at full load.
class rapl {
 public:
  using reading = std::vector<std::uint64_t>;  ///< of each package

  explicit rapl(std::filesystem::path const& folder = "/sys/class/powercap");

  /// Why they tell nothing; empty: they do.
  std::string const& obstacle() const { return m_obstacle; }
  std::size_t packages() const { return m_packages.size(); }
  /// Throws: std::runtime_error that names the file, where a counter can no longer be read.
  reading read() const;
  /// Between two readings, of all packages. Requires: no counter has gone round more than once.
  double joules(reading const& before, reading const& after) const;

 private:
  struct package {
    std::filesystem::path counter;
    std::uint64_t range;  ///< its largest value
  };
  std::vector<package> m_packages;
  std::string m_obstacle;
};

}  // namespace karpos::perf
