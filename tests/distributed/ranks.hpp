// SPDX-License-Identifier: Apache-2.0
/// \file
/// Helpers that the tests with several ranks share.
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "karpos/csr_graph.hpp"
#include "karpos/distributed/communicator.hpp"
#include "karpos/distributed/csr_graph.hpp"

namespace karpos_test {

using space = KARPOS_TEST_SPACE;
using memory = space::memory_space;
using communicator = karpos::distributed::communicator<space>;

inline communicator world(karpos::distributed::communicator_options const& o = {}) {
  return communicator(MPI_COMM_WORLD, space{}, o);
}
/// Returns a communicator of all ranks but the first; on the first rank, of itself.
inline communicator all_but_first() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 1 : 0, 0, &some);
  communicator ranks(some);
  MPI_Comm_free(&some);
  return ranks;
}

template <class T>
Kokkos::View<T*, memory> to_view(std::vector<T> const& from) {
  Kokkos::View<T*, memory> const view("test", from.size());
  Kokkos::deep_copy(view, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              from.data(), from.size()));
  return view;
}
template <class View>
auto to_vector(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return std::vector<typename View::non_const_value_type>(host.data(),
                                                          host.data() + host.extent(0));
}

/// Returns the call that the error thrown by f() names: "bfs" if the message begins with
/// "karpos::distributed::bfs: ".
template <class F>
std::string refused_by(F const& f) {
  std::string what;
  try {
    f();
  } catch (std::exception const& e) {
    what = e.what();
  }
  std::string const prefix = "karpos::distributed::";
  if (what.rfind(prefix, 0) != 0) return "no call: " + what;
  return what.substr(prefix.size(), what.find(": ") - prefix.size());
}

inline constexpr char too_large[] =
    "a graph has 4294967233 vertices (at most 4294967232, for queues hold 32-bit entries): leave "
    "out vertices without edges";
/// Returns a graph of one vertex more than queues of searches number, all on the first rank. Its
/// offsets must not be read.
inline auto too_large_graph(communicator const& ranks) {
  using unowned = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  static std::uint64_t offset = 0;
  std::uint64_t const vertices = ranks.rank() == 0 ? (std::uint64_t(1) << 32) - 63 : 0;
  Kokkos::View<std::uint64_t const*, memory, unowned> const offsets(&offset, vertices + 1);
  Kokkos::View<std::uint32_t const*, memory> const columns;
  return karpos::distributed::csr_graph(
      ranks, karpos::csr_graph<std::uint32_t, std::uint64_t, memory>(offsets, columns));
}

/// Returns the elements of all ranks, ordered by rank.
template <class T>
std::vector<T> gathered(communicator const& ranks, std::vector<T> const& mine) {
  auto const counts = ranks.all_gather(std::uint64_t(mine.size()));
  std::uint64_t total = 0;
  for (auto const n : counts) total += n;
  Kokkos::View<T*, memory> const all("all", total);
  ranks.all_gather(to_view(mine), all, counts);
  return to_vector(all);
}

}  // namespace karpos_test
