// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace karpos::perf {

/// The energy counters of the processors' packages (RAPL), which Linux shows as files. They count
/// microjoules up to a range of their own, then start again at 0: after some minutes at full load.
class rapl {
 public:
  using reading = std::vector<std::uint64_t>;  ///< one counter value per package

  explicit rapl(std::filesystem::path const& folder = "/sys/class/powercap");

  /// Returns why the counters cannot be read; empty if they can.
  std::string const& obstacle() const { return m_obstacle; }
  std::size_t packages() const { return m_packages.size(); }
  /// Reads all counters. Throws: std::runtime_error that names the file, if a counter can no longer
  /// be read.
  reading read() const;
  /// Returns the joules of all packages between two readings. Requires: no counter has wrapped
  /// around more than once.
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
