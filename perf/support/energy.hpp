// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <karpos/device/native/energy.hpp>
#include <karpos/device/space.hpp>
#include <optional>
#include <string>

#include "perf/support/rapl.hpp"

namespace karpos::perf {

/// What a loop has used, by the counters of the machine.
struct energy_use {
  double seconds = 0;
  std::uint64_t rounds = 0;
  std::optional<double> device_joules, host_joules;
  std::string device_obstacle, host_obstacle;  ///< why there is no number

  bool is_told() const { return device_joules || host_joules; }
  double joules() const { return device_joules.value_or(0) + host_joules.value_or(0); }
};

/// Works for some time at least, and until the counter moves, for a second at most. Returns: how often.
template <class Counter, class Work>
std::uint64_t work_until_moved(Counter const& counter, double seconds, Work const& work) {
  constexpr double stretch = 5e-3;  // between two looks at the counter
  Kokkos::Timer clock;
  std::uint64_t rounds = 0;
  auto last = counter.joules();
  for (bool moved = !last; !moved || clock.seconds() < seconds;) {
    Kokkos::Timer looked;
    do {
      work();
      ++rounds;
    } while (looked.seconds() < stretch);
    auto const now = counter.joules();
    moved = !now || now != last || clock.seconds() > seconds + 1;
    last = now;
  }
  return rounds;
}

/// Repeats work() for at least so long, between two readings of the counters that the machine has; not at all where it has
/// none. Counters of GPUs move a few times a second: a reading is one that has just moved. work() waits for what it starts.
template <class ExecSpace, class Work>
energy_use energy_of(ExecSpace const& exec, double seconds, Work const& work) {
  device::energy_counter<ExecSpace> const counter(exec);
  rapl const packages;
  bool const host_tells = packages.obstacle().empty();
  energy_use use;
  if (device::is_device<ExecSpace>) use.device_obstacle = counter.obstacle();
  use.host_obstacle = packages.obstacle();
  if (!counter.joules() && !host_tells) return use;
  work_until_moved(counter, 0, work);
  auto const device_before = counter.joules();
  auto const host_before = host_tells ? packages.read() : rapl::reading{};
  Kokkos::Timer const clock;
  use.rounds = work_until_moved(counter, seconds, work);
  use.seconds = clock.seconds();
  auto const device_after = counter.joules();
  if (device_before && device_after) use.device_joules = *device_after - *device_before;
  if (host_tells) use.host_joules = packages.joules(host_before, packages.read());
  return use;
}

}  // namespace karpos::perf
