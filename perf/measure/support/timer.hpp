// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "perf/measure/support/statistics.hpp"

namespace karpos::perf {

/// Keeps one device thread busy for about a tenth of a millisecond without touching memory. Work
/// that is enqueued behind it starts without waiting for the host.
struct delay {
  std::uint64_t* sink;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t x = i + 1;
    for (int k = 0; k < 20000; ++k) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    if (x == 0) *sink = x;
  }
};

/// Measures the seconds that work takes. On CUDA it records two events in the stream, and the
/// launches are enqueued ahead of the device, so that no launch latency is measured. On other
/// backends it reads the clock between two fences.
template <class ExecSpace>
class timer {
 public:
  explicit timer(ExecSpace const& exec) : m_exec(exec) {
#if defined(KOKKOS_ENABLE_CUDA)
    cudaEventCreate(&m_begin);
    cudaEventCreate(&m_end);
#endif
  }
  timer(timer const&) = delete;
  timer& operator=(timer const&) = delete;
#if defined(KOKKOS_ENABLE_CUDA)
  ~timer() {
    cudaEventDestroy(m_begin);
    cudaEventDestroy(m_end);
  }
#endif

  /// Returns the seconds that work() takes after prepare(), which is not timed.
  template <class Prepare, class Work>
  double once(Prepare&& prepare, Work&& work) {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same_v<ExecSpace, Kokkos::Cuda>) return on_device(prepare, work);
#endif
    prepare();
    m_exec.fence("karpos::perf: before the clock starts");
    Kokkos::Timer clock;
    work();
    m_exec.fence("karpos::perf: before the clock stops");
    return clock.seconds();
  }

  /// Runs the work once as a warm-up, then takes `repetitions` readings.
  template <class Prepare, class Work>
  samples repeat(int repetitions, Prepare&& prepare, Work&& work) {
    samples s;
    once(prepare, work);
    for (int r = 0; r < repetitions; ++r) s.seconds.push_back(once(prepare, work));
    return s;
  }

  /// Measures work that needs no preparation. Short work is repeated between two readings until it
  /// takes about two milliseconds, but at most 100 times.
  template <class Work>
  samples repeat(int repetitions, Work&& work) {
    samples s;
    double const estimate = once([] {}, work);
    s.batch = estimate >= 2e-3 ? 1 : estimate <= 2e-5 ? 100 : static_cast<int>(2e-3 / estimate) + 1;
    auto const batch = [&] {
      for (int b = 0; b < s.batch; ++b) work();
    };
    for (int r = 0; r < repetitions; ++r) s.seconds.push_back(once([] {}, batch) / s.batch);
    return s;
  }

  static constexpr char const* method() {
#if defined(KOKKOS_ENABLE_CUDA)
    if (std::is_same_v<ExecSpace, Kokkos::Cuda>) return "CUDA events in the stream";
#endif
    return "steady clock between two fences";
  }

 private:
#if defined(KOKKOS_ENABLE_CUDA)
  template <class Prepare, class Work>
  double on_device(Prepare&& prepare, Work&& work) {
    Kokkos::parallel_for("karpos::perf::delay", Kokkos::RangePolicy<ExecSpace>(m_exec, 0, 1),
                         delay{nullptr});
    prepare();
    cudaEventRecord(m_begin, m_exec.cuda_stream());
    work();
    cudaEventRecord(m_end, m_exec.cuda_stream());
    cudaEventSynchronize(m_end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, m_begin, m_end);
    return milliseconds * 1e-3;
  }
  cudaEvent_t m_begin{}, m_end{};
#endif
  ExecSpace m_exec;
};

}  // namespace karpos::perf
