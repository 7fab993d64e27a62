// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "karpos/detail/index_range.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/native/step_function.hpp"
#include "karpos/device/space.hpp"

// Loops and reductions over indices. On GPUs each loop is a kernel of its own. On CPUs one kernel
// runs all loops, and the steps of programs (program.hpp), through a pointer to a function.
// Compilers spend more time on a Kokkos kernel than on most bodies, and the call through the
// pointer is made once for each part of the indices. Bodies hold views by for_loop
// (loop_arguments.hpp).

namespace karpos::device {

namespace detail {

/// Kernel that splits [0, n) into parts and calls run(body, first, last) for each part: indices
/// [first, last).
struct part_kernel {
  void (*run)(void const* body, std::uint64_t first, std::uint64_t last);
  void const* body;
  std::uint64_t n, parts;

  void operator()(std::uint64_t p) const { run(body, begin(p), begin(p + 1)); }
  std::uint64_t begin(std::uint64_t p) const { return n / parts * p + Kokkos::min(n % parts, p); }
};

/// Runs a body for the indices of a part. Calls in the body are inlined by force, however large the
/// source is.
template <class Body>
KARPOS_FLATTEN void run_part(void const* body, std::uint64_t first, std::uint64_t last) {
  Body const work = copy_for_loop(*static_cast<Body const*>(body));
  for (std::uint64_t i = first; i < last; ++i) work(i);
}

/// A reduction: its body, and the total, which each part's result is joined to under a mutex.
template <class Reducer, class Body>
struct reduction {
  using value_type = typename Reducer::value_type;
  Body const& body;
  value_type& result;
  std::mutex mutex;

  KARPOS_FLATTEN value_type of_part(std::uint64_t first, std::uint64_t last) const {
    Body const work = copy_for_loop(body);
    value_type value;
    Reducer(value).init(value);
    for (std::uint64_t i = first; i < last; ++i) work(i, value);
    return value;
  }
  static void run(void const* self, std::uint64_t first, std::uint64_t last) {
    auto& all = *static_cast<reduction*>(const_cast<void*>(self));
    value_type value = all.of_part(first, last);
    std::lock_guard const lock(all.mutex);
    Reducer(value).join(all.result, value);
  }
};

/// Runs a kernel with a part for each thread. Requires: Kokkos::parallel_for returns when the loop
/// has ended, as in Serial, OpenMP and Threads. HPX runs loops asynchronously: it is not supported.
template <class ExecSpace>
void run_parts(std::string_view label, ExecSpace const& exec, part_kernel kernel) {
  kernel.parts =
      Kokkos::clamp(kernel.n, std::uint64_t(1), static_cast<std::uint64_t>(exec.concurrency()));
  Kokkos::parallel_for(std::string(label), karpos::detail::index_range(exec, kernel.parts), kernel);
}

}  // namespace detail

/// Runs body(i) for i in [0, n). Asynchronous to the host on GPUs; on CPUs returns when the loop
/// has ended.
template <class ExecSpace, class Body>
void loop_over(std::string_view label, ExecSpace const& exec, std::uint64_t n, Body const& body) {
  if constexpr (is_device<ExecSpace>)
    Kokkos::parallel_for(std::string(label), karpos::detail::index_range(exec, n), body);
  else
    detail::run_parts(label, exec, {detail::run_part<Body>, &body, n, 1});
}

/// Runs body(i) for i in [0, n), for loops in which some indices cost far more than others: each
/// CPU thread claims the next `turn` indices when it is idle. Asynchronous to the host on GPUs; on
/// CPUs returns when the loop has ended.
template <class ExecSpace, class Body>
void loop_in_turns(std::string_view label, ExecSpace const& exec, std::uint64_t n, Body const& body,
                   [[maybe_unused]] std::uint64_t turn = 4096) {
  if constexpr (is_device<ExecSpace>) {
    loop_over(label, exec, n, body);
  } else {
    using policy = Kokkos::RangePolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::uint64_t>>;
    std::uint64_t const parts = (n + turn - 1) / turn;
    Kokkos::parallel_for(std::string(label), policy(exec, 0, parts, Kokkos::ChunkSize(1)),
                         detail::part_kernel{detail::run_part<Body>, &body, n, parts});
  }
}

/// Returns the reduction of body(i, value) over i in [0, n) by a reducer of Kokkos. Blocks. CPUs
/// join the parts in the order in which they end: floating-point sums are not reproducible.
template <class Reducer, class ExecSpace, class Body>
typename Reducer::value_type reduce_over(std::string_view label, ExecSpace const& exec,
                                         std::uint64_t n, Body const& body) {
  using value_type = typename Reducer::value_type;
  value_type result{};
  if constexpr (is_device<ExecSpace>) {
    Kokkos::parallel_reduce(std::string(label), karpos::detail::index_range(exec, n), body,
                            Reducer(result));
  } else {
    using reduction = detail::reduction<Reducer, Body>;
    Reducer(result).init(result);
    reduction all{body, result, {}};
    detail::run_parts(label, exec, {reduction::run, &all, n, 1});
    exec.fence(std::string(label));  // as a Kokkos reduction does: tools see that this blocks
  }
  return result;
}

}  // namespace karpos::device
