// SPDX-License-Identifier: Apache-2.0
/// \file
/// Limits of a process, which tests lower so that the system refuses memory or files.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <fstream>
#include <string>

namespace karpos_test {

/// Lowers a limit of this process, if `applies`, until it is destroyed.
class lower_limit {
 public:
  lower_limit(decltype(RLIMIT_FSIZE) limit, rlim_t to, bool applies = true) : m_limit(limit) {
    REQUIRE(getrlimit(limit, &m_before) == 0);
    rlimit lower = m_before;
    if (applies) lower.rlim_cur = to;
    REQUIRE(setrlimit(limit, &lower) == 0);
  }
  lower_limit(lower_limit const&) = delete;
  lower_limit& operator=(lower_limit const&) = delete;
  ~lower_limit() { setrlimit(m_limit, &m_before); }

 private:
  decltype(RLIMIT_FSIZE) m_limit;
  rlimit m_before{};
};

/// Returns the number that the next opened file will have.
inline rlim_t next_file() {
  int const file = dup(2);
  REQUIRE(file >= 0);
  close(file);
  return static_cast<rlim_t>(file);
}

/// Returns how many windows of CPUs this process addresses.
inline int addressed_windows() {
  std::ifstream maps("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(maps, line);)
    n += line.find("memfd:karpos") != std::string::npos;
  return n;
}

}  // namespace karpos_test
