// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <vector>

#include "karpos/device/peers.hpp"
#include "karpos/distributed/communicator.hpp"

namespace karpos::detail::distributed {

/// Returns whether all ranks are processes of one host. Collective.
template <class ExecSpace>
bool are_on_one_host(karpos::distributed::communicator<ExecSpace> const& ranks) {
  MPI_Comm host = MPI_COMM_NULL;
  require_success(MPI_Comm_split_type(ranks.mpi(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                  "MPI_Comm_split_type");
  int size = 0;
  MPI_Comm_size(host, &size);
  MPI_Comm_free(&host);
  return ranks.all_reduce(size, karpos::minimum{}) == ranks.size();
}

/// A window of each rank that the devices of all ranks address (device/peers.hpp), if they can.
/// Construction and destruction are collective, because no window is freed while another rank has
/// it open. If an exception leaves windows open, they end with the process.
template <class ExecSpace>
class rank_windows {
  using communicator = karpos::distributed::communicator<ExecSpace>;
  using window = device::peer_window<ExecSpace>;

 public:
  rank_windows(communicator const& ranks, std::size_t bytes) : m_ranks(ranks) {
    if (!ranks.has_device_of_its_own() || ranks.size() > device::most_peers ||
        !are_on_one_host(ranks))
      return;
    typename window::handle mine{};
    bool const made = try_on_all([&] {
      m_window = window(ranks.exec(), bytes);
      mine = m_window.share();
    });
    m_is_open =
        made && try_on_all([&, all = ranks.all_gather(mine)] { m_window.open(all, ranks.rank()); });
    if (!m_is_open) close_and_free();
  }
  rank_windows(rank_windows const&) = delete;
  rank_windows& operator=(rank_windows const&) = delete;
  ~rank_windows() {
    if (m_is_open && std::uncaught_exceptions() <= m_exceptions) close_and_free();
  }

  bool is_open() const { return m_is_open; }
  window const& get() const { return m_window; }

 private:
  /// Returns whether f throws on no rank. Collective.
  template <class F>
  bool try_on_all(F const& f) const {
    bool done = true;
    try {
      f();
    } catch (std::exception const&) {
      done = false;
    }
    return m_ranks.all_reduce(done ? 1 : 0, karpos::minimum{}) == 1;
  }
  void close_and_free() {
    m_ranks.exec().fence("karpos::bfs: before windows are closed");
    m_window.close();
    m_ranks.barrier();
    m_window.free();
  }

  communicator const& m_ranks;
  window m_window;
  bool m_is_open = false;
  int m_exceptions = std::uncaught_exceptions();
};

/// rank_windows, if the space supports windows at all.
struct no_windows {};
template <class ExecSpace>
using windows_of =
    std::conditional_t<device::spans_devices<ExecSpace>, rank_windows<ExecSpace>, no_windows>;

}  // namespace karpos::detail::distributed
