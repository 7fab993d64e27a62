// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <Kokkos_Timer.hpp>
#include <cstdio>
#include <karpos/distributed/communicator.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "perf/measure/support/context.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/tool/command.hpp"
#include "perf/tool/distributed/oversubscribed_host.hpp"

namespace karpos::perf {

using rank_communicator = distributed::communicator<space>;

/// Initializes MPI and runs f(ranks). Returns the result of f, or 2 after a bad_input, which all
/// ranks must throw or none, and after an error that the library throws on all ranks.
template <class F>
int on_ranks(F const& f) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) MPI_Init(nullptr, nullptr);
  int const code = distributed::run_ranks(MPI_COMM_WORLD, [&] {
    rank_communicator const ranks(MPI_COMM_WORLD);
    report_oversubscribed_host(ranks);
    try {
      return f(ranks);
    } catch (bad_input const& e) {
      if (ranks.rank() == 0) std::fprintf(stderr, "karpos: %s\n", e.what());
    } catch (distributed::collective_error const& e) {
      if (ranks.rank() == 0) std::fprintf(stderr, "%s\n", e.what());
    }
    return 2;
  });
  if (started == 0) MPI_Finalize();
  return code;
}

/// The range [first, last) of n elements that a rank has.
struct rank_range {
  std::uint64_t first, last;
  rank_range(rank_communicator const& ranks, std::uint64_t n) {
    auto const p = static_cast<std::uint64_t>(ranks.size());
    auto const begin = [&](std::uint64_t r) { return n / p * r + Kokkos::min(n % p, r); };
    first = begin(static_cast<std::uint64_t>(ranks.rank()));
    last = begin(static_cast<std::uint64_t>(ranks.rank()) + 1);
  }
  std::uint64_t size() const { return last - first; }
};

/// Returns the seconds that f takes on each rank. All ranks start together.
template <class F>
std::vector<double> seconds_of_ranks(rank_communicator const& ranks, F const& f) {
  ranks.barrier();
  Kokkos::Timer const clock;
  f();
  ranks.exec().fence("karpos::perf: before the clock stops");
  return ranks.all_gather(clock.seconds());
}

}  // namespace karpos::perf
