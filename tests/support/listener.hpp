// SPDX-License-Identifier: Apache-2.0
/// \file
/// A call as a profiler sees it: labels, instances, fences and allocations.
///
/// Source: ArborX tests behaviour through profiling callbacks
/// (test/tstKokkosToolsExecutionSpaceInstances.cpp).
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// Everything the callbacks have seen since the last reset.
struct recorded {
  struct launch {
    std::string label;
    std::uint32_t device;
  };
  std::vector<launch> launches, fences;
  std::vector<std::string> allocations, regions;
  std::uint64_t allocated = 0, freed = 0;
  int open_regions = 0, open_kernels = 0;
  std::string unfenced;  ///< label of a launch that no fence followed
};
inline recorded record;

inline void on_launch(char const* label, std::uint32_t device, std::uint64_t*) {
  record.launches.push_back({label, device});
  record.unfenced = label;
  ++record.open_kernels;
}
inline void on_end(std::uint64_t) { --record.open_kernels; }
inline void on_fence(char const* label, std::uint32_t device, std::uint64_t*) {
  // Kokkos fences before every callback while a tool listens; these fences are not the library's.
  if (std::string(label).find("Kokkos Profile Tool Fence") != std::string::npos) return;
  record.fences.push_back({label, device});
  record.unfenced.clear();
}
inline void on_allocate(Kokkos::Tools::SpaceHandle, char const* label, void const*,
                        std::uint64_t bytes) {
  if (bytes == 0) return;  // Kokkos requests a team's scratch memory even if its size is 0
  record.allocations.push_back(label);
  record.allocated += bytes;
}
inline void on_free(Kokkos::Tools::SpaceHandle, char const*, void const*, std::uint64_t bytes) {
  record.freed += bytes;
}
inline void on_push(char const* label) {
  record.regions.push_back(label);
  ++record.open_regions;
}
inline void on_pop() { --record.open_regions; }

/// Records the callbacks during its lifetime.
class listener {
 public:
  listener() {
    namespace tools = Kokkos::Tools::Experimental;
    record = {};
    tools::set_begin_parallel_for_callback(on_launch);
    tools::set_begin_parallel_reduce_callback(on_launch);
    tools::set_begin_parallel_scan_callback(on_launch);
    tools::set_end_parallel_for_callback(on_end);
    tools::set_end_parallel_reduce_callback(on_end);
    tools::set_end_parallel_scan_callback(on_end);
    tools::set_begin_fence_callback(on_fence);
    tools::set_allocate_data_callback(on_allocate);
    tools::set_deallocate_data_callback(on_free);
    tools::set_push_region_callback(on_push);
    tools::set_pop_region_callback(on_pop);
  }
  listener(listener const&) = delete;
  ~listener() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
    tools::set_end_parallel_for_callback(nullptr);
    tools::set_end_parallel_reduce_callback(nullptr);
    tools::set_end_parallel_scan_callback(nullptr);
    tools::set_begin_fence_callback(nullptr);
    tools::set_allocate_data_callback(nullptr);
    tools::set_deallocate_data_callback(nullptr);
    tools::set_push_region_callback(nullptr);
    tools::set_pop_region_callback(nullptr);
  }
};

inline std::uint32_t id_of(space const& exec) {
  return Kokkos::Tools::Experimental::device_id(exec);
}

/// Whether a call fences: never; until all of its kernels have run; or before its last kernel, for
/// what the host must know.
enum class waits { never, on_the_instance, before_the_last_kernel };

/// Checks the labels, instances, fences and allocations of f. Calls f once to warm up (Kokkos
/// allocates scratch memory of its own), then records a second call.
template <class F>
void check_call(std::string const& what, space const& exec, waits allowed, F const& f) {
  f();
  exec.fence();
  recorded seen;
  {
    listener const recorder;
    f();
    seen = record;
  }
  exec.fence();
  holds(what + " launches something", !seen.launches.empty() || !seen.regions.empty());
  same(what + ": kernels that do not end", static_cast<std::uint64_t>(seen.open_kernels), 0);
  for (auto const& [label, device] : seen.launches) {
    holds(what + ": the label '" + label + "' starts with karpos::",
          label.rfind("karpos::", 0) == 0);
    same(what + ": '" + label + "' runs on the instance that was passed", device, id_of(exec));
  }
  for (auto const& [label, device] : seen.fences) {
    holds(what + ": hidden fence '" + label + "'", allowed != waits::never);
    same(what + ": fence '" + label + "' is of the instance that was passed", device, id_of(exec));
  }
  if (allowed == waits::on_the_instance)
    holds(what + ": returns before '" + seen.unfenced + "' has run", seen.unfenced.empty());
  if (allowed == waits::before_the_last_kernel)
    holds(what + ": waits for its last kernel", !seen.unfenced.empty());
  for (std::string const& label : seen.allocations)
    holds(what + ": hidden allocation '" + label + "'", false);
  same(what + ": regions are closed", static_cast<std::uint64_t>(seen.open_regions), 0);
  for (std::string const& label : seen.regions)
    holds(what + ": region '" + label + "'", label.rfind("karpos::", 0) == 0);
}

}  // namespace karpos_test
