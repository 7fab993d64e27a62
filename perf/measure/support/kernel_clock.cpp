// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/kernel_clock.hpp"

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "perf/measure/support/stopwatch.hpp"

namespace karpos::perf {
namespace {

namespace tools = Kokkos::Tools::Experimental;

// Callbacks are functions without an object.
struct kernel_record {
  stopwatch clock;
  std::vector<timed_kernel> kernels;
  tools::EventSet before;
};
kernel_record* record_of_clock = nullptr;

void begin_kernel(char const* label, std::uint32_t, std::uint64_t*) {
  record_of_clock->kernels.push_back({label, record_of_clock->clock.seconds(), 0});
}
void end_kernel(std::uint64_t) {
  timed_kernel& k = record_of_clock->kernels.back();
  k.seconds = record_of_clock->clock.seconds() - k.begin;
}

}  // namespace

kernel_clock::kernel_clock() {
  static kernel_record record;
  record = {{}, {}, tools::get_callbacks()};
  record_of_clock = &record;
  tools::pause_tools();
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_begin_parallel_reduce_callback(begin_kernel);
  tools::set_begin_parallel_scan_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  tools::set_end_parallel_reduce_callback(end_kernel);
  tools::set_end_parallel_scan_callback(end_kernel);
}
kernel_clock::~kernel_clock() { tools::set_callbacks(record_of_clock->before); }

std::vector<timed_kernel> const& kernel_clock::kernels() const { return record_of_clock->kernels; }
double kernel_clock::seconds() const { return record_of_clock->clock.seconds(); }

}  // namespace karpos::perf
