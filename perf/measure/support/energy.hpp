// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <karpos/device/native/energy.hpp>
#include <karpos/device/space.hpp>

#include "perf/measure/support/energy_use.hpp"

namespace karpos::perf {

/// Measures the energy of calling work(read_counters) for at least `seconds`, by the counters of
/// this machine (energy_loop).
template <class ExecSpace, class Work>
energy_use energy_of(ExecSpace const& exec, double seconds, Work const& work) {
  device::energy_counter<ExecSpace> const counter(exec);
  rapl const packages;
  energy_use use = energy_loop(counter, packages)(seconds, work);
  if (!device::is_device<ExecSpace>) use.device_obstacle.clear();  // there is none
  return use;
}

}  // namespace karpos::perf
