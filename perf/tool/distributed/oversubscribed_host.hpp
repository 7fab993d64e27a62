// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <sched.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "karpos/distributed/communicator.hpp"
#include "perf/measure/support/space.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {

/// The processors that a thread may use. The struct is needed because nvcc 13.0 does not compile a
/// vector of an unnamed type.
struct processor_set {
  cpu_set_t bits;
};

/// Kernel for the host that reads on which processors its thread may run.
struct read_processors {
  processor_set* of_thread;
  void operator()(std::size_t i) const {
    cpu_set_t* const bits = &of_thread[i].bits;
    if (sched_getaffinity(0, sizeof(cpu_set_t), bits) != 0) CPU_ZERO(bits);
  }
};

/// The number of threads of all ranks on one host, and of the processors that they may use.
struct host_load {
  std::uint64_t ranks = 0, threads = 0, processors = 0;
  bool is_oversubscribed() const { return processors > 0 && threads > processors; }
};

/// Reads the load of this rank's host. Collective.
inline host_load load_of_host(distributed::communicator<space> const& ranks) {
  using host = Kokkos::DefaultHostExecutionSpace;
  host const exec;
  auto const threads = static_cast<std::size_t>(exec.concurrency());
  std::vector<processor_set> of_thread(threads);
  using policy = Kokkos::RangePolicy<host, Kokkos::Schedule<Kokkos::Static>, std::size_t>;
  Kokkos::parallel_for("karpos::perf::processors", policy(exec, 0, threads),
                       read_processors{of_thread.data()});
  exec.fence("karpos::perf: processors");
  cpu_set_t mine = of_thread.front().bits, all;
  for (processor_set const& set : of_thread) CPU_OR(&mine, &mine, &set.bits);
  CPU_ZERO(&all);
  MPI_Comm neighbours = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks.mpi(), MPI_COMM_TYPE_SHARED, ranks.rank(), MPI_INFO_NULL, &neighbours);
  MPI_Allreduce(&mine, &all, sizeof(cpu_set_t), MPI_BYTE, MPI_BOR, neighbours);
  std::uint64_t const own[2] = {1, threads};
  std::uint64_t sum[2] = {};
  MPI_Allreduce(own, sum, 2, MPI_UINT64_T, MPI_SUM, neighbours);
  MPI_Comm_free(&neighbours);
  return {sum[0], sum[1], static_cast<std::uint64_t>(CPU_COUNT(&all))};
}

/// Returns the message about a host with more threads than processors. `sleeps`: waiting threads
/// yield their processor.
inline std::string oversubscription_text(host_load const& host, bool sleeps) {
  std::string text = counted(host.ranks, "rank", "ranks") + " of a host have " +
                     counted(host.threads, "thread", "threads") + " on " +
                     counted(host.processors, "processor", "processors");
  if (host.threads == host.ranks) return text + ", which takes longer: start fewer ranks";
  return text + ", which may take many times as long: set OMP_NUM_THREADS=" +
         std::to_string(std::max<std::uint64_t>(host.processors / host.ranks, 1)) +
         (sleeps ? "" : ", or OMP_WAIT_POLICY=passive, by which threads that wait do not spin");
}

/// Returns whether waiting OpenMP threads sleep at once.
inline bool waits_passively() {
  char const* const policy = std::getenv("OMP_WAIT_POLICY");
  return policy != nullptr && lower_case(policy) == "passive";
}

/// Prints a message on the first rank if the ranks of a host have more threads than processors.
/// Collective.
inline void report_oversubscribed_host(distributed::communicator<space> const& ranks) {
  if (!on_host) return;
  std::vector<host_load> const hosts = ranks.all_gather(load_of_host(ranks));
  if (ranks.rank() != 0) return;
  for (host_load const& host : hosts)
    if (host.is_oversubscribed()) {
      std::fprintf(stderr, "karpos: %s\n", oversubscription_text(host, waits_passively()).c_str());
      return;
    }
}

}  // namespace karpos::perf
