// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "perf/measure/support/rapl.hpp"

namespace karpos::perf {

/// The energy that a loop used, by the counters of the machine.
struct energy_use {
  double seconds = 0;
  std::uint64_t rounds = 0;
  std::optional<double> device_joules, host_joules;
  std::string device_obstacle, host_obstacle;  ///< why a number is missing

  bool is_measured() const { return device_joules || host_joules; }
  double joules() const { return device_joules.value_or(0) + host_joules.value_or(0); }
};

/// Repeats work between two readings of the energy counters. Counter has joules(), which may be
/// empty, and obstacle().
template <class Counter>
class energy_loop {
 public:
  energy_loop(Counter const& counter, rapl const& packages)
      : m_counter(counter),
        m_packages(packages) {}

  /// Calls work(read_counters) for at least `seconds`, or not at all if no counter can be read.
  /// A device's counter moves a few times a second, so it is read just after it moved. The
  /// processors' counters wrap around. Their differences are summed at each call of
  /// read_counters(), which `work` calls in between if it takes longer than a few seconds. `work`
  /// fences what it starts.
  template <class Work>
  energy_use operator()(double seconds, Work const& work) {
    energy_use use;
    use.device_obstacle = m_counter.obstacle();
    use.host_obstacle = m_packages.obstacle();
    if (!m_counter.joules() && !has_host_counters()) return use;
    if (has_host_counters()) m_last = m_packages.read();
    work_until_moved(0, work);
    auto const device_before = m_counter.joules();
    read_counters();
    m_host_joules = 0;
    auto const begin = clock::now();
    use.rounds = work_until_moved(seconds, work);
    use.seconds = since(begin);
    auto const device_after = m_counter.joules();
    read_counters();
    if (device_before && device_after) use.device_joules = *device_after - *device_before;
    if (has_host_counters()) use.host_joules = m_host_joules;
    return use;
  }

 private:
  using clock = std::chrono::steady_clock;

  static double since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
  }
  bool has_host_counters() const { return m_packages.obstacle().empty(); }
  void read_counters() {
    if (!has_host_counters()) return;
    auto const now = m_packages.read();
    m_host_joules += m_packages.joules(m_last, now);
    m_last = now;
  }
  /// Works for at least `seconds` and until the device's counter moves, but for at most a second
  /// longer. Returns the number of calls.
  template <class Work>
  std::uint64_t work_until_moved(double seconds, Work const& work) {
    constexpr double interval = 5e-3;  // seconds between two readings of the counters
    auto const begin = clock::now();
    std::uint64_t rounds = 0;
    auto last = m_counter.joules();
    for (bool moved = !last; !moved || since(begin) < seconds;) {
      auto const read_at = clock::now();
      do {
        work([this] { read_counters(); });
        ++rounds;
      } while (since(read_at) < interval);
      read_counters();
      auto const now = m_counter.joules();
      moved = !now || now != last || since(begin) > seconds + 1;
      last = now;
    }
    return rounds;
  }

  Counter const& m_counter;
  rapl const& m_packages;
  rapl::reading m_last;
  double m_host_joules = 0;
};

}  // namespace karpos::perf
