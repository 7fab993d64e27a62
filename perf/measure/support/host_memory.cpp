// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <karpos/contract.hpp>
#include <limits>
#include <new>
#include <optional>
#include <sstream>

#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t without(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

/// Returns the number after `name` in a file of lines "name number", or the file's first number if
/// `name` is empty.
std::optional<std::uint64_t> number_in(std::string const& path, std::string const& name = {}) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  if (!name.empty())
    while (file >> word && word != name) file.ignore(unknown >> 1, '\n');
  if (file >> number) return number;
  return {};
}

std::uint64_t left_on_machine() {
  auto const kilobytes = number_in("/proc/meminfo", "MemAvailable:");
  return kilobytes ? *kilobytes * 1024 : unknown;
}

/// Returns what one control group leaves: its limit minus its use, where files that the kernel can
/// drop do not count as used.
std::uint64_t left_in_group(std::string const& folder, bool second_version) {
  auto const limit =
      number_in(folder + (second_version ? "/memory.max" : "/memory.limit_in_bytes"));
  auto const used =
      number_in(folder + (second_version ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit || !used) return unknown;
  auto const files =
      number_in(folder + "/memory.stat", second_version ? "inactive_file" : "total_inactive_file");
  return without(*limit, without(*used, files.value_or(0)));
}

/// Returns the least that is left in the process's control groups, from its own to the outermost
/// visible one.
std::uint64_t left_in_groups() {
  std::uint64_t least = unknown;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    bool const second_version = line.rfind("0::", 0) == 0;
    std::size_t const path = line.find(second_version ? "::" : ":memory:");
    if (path == std::string::npos) continue;
    std::string const root = second_version ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    std::string group = line.substr(path + (second_version ? 2 : 8));
    for (;;) {
      least = std::min(least, left_in_group(root + group, second_version));
      if (group.empty()) break;
      group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
    }
  }
  return least;
}

std::uint64_t left_of_address_space() {
  rlimit limit{};
  auto const pages = number_in("/proc/self/statm");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || !pages)
    return unknown;
  return without(limit.rlim_cur, *pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::uint64_t memory_left() {
  return std::min({left_on_machine(), left_in_groups(), left_of_address_space()});
}

void require_memory(double bytes, std::string const& what, std::string const& advice) {
  std::uint64_t const left = memory_left();
  if (left == unknown || bytes <= static_cast<double>(left)) return;
  throw allocation_error("out of memory (" + what + " takes " + human_bytes(bytes) + ", " +
                         human_bytes(static_cast<double>(left)) + " are left): " + advice);
}

void require_memory(std::uint64_t bytes, std::string const& what, std::string const& advice) {
  require_memory(static_cast<double>(bytes), what, advice);
}

bool is_lack_of_memory(std::exception const& e) {
  // Kokkos throws a plain std::runtime_error.
  return dynamic_cast<std::bad_alloc const*>(&e) != nullptr ||
         std::strstr(e.what(), "failed to allocate") != nullptr;
}

}  // namespace karpos::perf
