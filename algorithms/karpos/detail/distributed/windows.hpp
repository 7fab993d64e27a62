// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "karpos/detail/distributed/engines.hpp"
#include "karpos/detail/distributed/exchange.hpp"
#include "karpos/device/peers.hpp"
#include "karpos/operations.hpp"

// Windows: memory of each rank of a host that all ranks of the host address.

namespace karpos::detail::distributed {

/// Returns whether all ranks are processes of one host. Collective.
template <class Ranks>
bool are_on_one_host(Ranks const& ranks) {
  MPI_Comm host = MPI_COMM_NULL;
  require_success(MPI_Comm_split_type(ranks.mpi(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                  "MPI_Comm_split_type");
  int size = 0;
  MPI_Comm_size(host, &size);
  MPI_Comm_free(&host);
  return ranks.all_reduce(size, karpos::minimum{}) == ranks.size();
}

/// Returns whether the ranks may open windows: they are processes of one host, at most most_peers,
/// and if they work on devices, each has its own. Collective.
template <class ExecSpace, class Ranks>
bool may_open_windows(Ranks const& ranks) {
  if constexpr (device::has_peer_windows<ExecSpace>)
    return (!device::spans_devices<ExecSpace> || ranks.has_device_of_its_own()) &&
           ranks.size() <= device::most_peers && are_on_one_host(ranks);
  return false;
}

/// A window of each rank that the devices of all ranks address (device/peers.hpp), if they can.
/// Construction and destruction are collective: no window is freed while another rank has it open.
/// An exception closes this rank's alone; its memory goes when no process has it open, on GPUs with
/// the process. (A collective_error may be caught first: see windows_by_ranks.)
template <class ExecSpace, class Ranks>
class rank_windows {
  using window = device::peer_window<ExecSpace>;

 public:
  rank_windows(Ranks const& ranks, std::size_t bytes) : m_exec(ranks.exec()) {
    if (!may_open_windows<ExecSpace>(ranks)) return;
    m_comm.emplace(ranks.mpi());
    typename window::handle mine{};
    bool const made = try_on_all(ranks, [&] { m_window = window(ExecSpace(m_exec), bytes); });
    m_is_open =
        made && try_on_all(ranks, [&] { mine = m_window.share(); }) &&
        try_on_all(ranks, [&, all = ranks.all_gather(mine)] { m_window.open(all, ranks.rank()); });
    m_is_refused = made && !m_is_open;
    if (!m_is_open) close_and_free();
  }
  rank_windows(rank_windows const&) = delete;
  rank_windows& operator=(rank_windows const&) = delete;
  ~rank_windows() {
    if (m_is_open && std::uncaught_exceptions() <= m_exceptions)
      close_and_free();
    else if (m_is_open)
      close_alone();
  }

  bool is_open() const { return m_is_open; }
  /// Returns whether there was memory, but ranks could not share it.
  bool is_refused() const { return m_is_refused; }
  window const& get() const { return m_window; }

 private:
  /// Returns whether f throws on no rank. Collective.
  template <class F>
  static bool try_on_all(Ranks const& ranks, F const& f) {
    bool done = true;
    try {
      f();
    } catch (std::exception const&) {
      done = false;
    }
    return ranks.all_reduce(done ? 1 : 0, karpos::minimum{}) == 1;
  }
  void close_alone() {
    try {
      m_exec.fence("karpos::distributed: before windows are closed");
    } catch (std::exception const&) {
      return;  // kernels may still use them
    }
    m_window.close();
    if constexpr (!device::spans_devices<ExecSpace>) m_window.free();
  }
  void close_and_free() {
    m_exec.fence("karpos::distributed: before windows are closed");
    m_window.close();
    MPI_Barrier(m_comm->get());
    m_window.free();
  }

  typename Ranks::execution_space m_exec;
  std::optional<duplicated_comm> m_comm;  // the ranks' communicator may end before the windows
  window m_window;
  bool m_is_open = false, m_is_refused = false;
  int m_exceptions = std::uncaught_exceptions();
};

/// Stands for rank_windows in spaces without windows.
struct no_windows {
  template <class Ranks>
  no_windows(Ranks const&, std::size_t) {}
  bool is_open() const { return false; }
  bool is_refused() const { return true; }
  no_windows const& get() const { return *this; }
  std::byte* data() const { return nullptr; }
  device::peer_distances distances() const { return {}; }
};
template <class ExecSpace, bool Exist = device::spans_devices<ExecSpace>,
          class Ranks = karpos::distributed::communicator<ExecSpace>>
using windows_of = std::conditional_t<Exist, rank_windows<ExecSpace, Ranks>, no_windows>;

/// Windows that grow, and are kept from one operation to the next. Destruction is collective if
/// there are windows.
template <class ExecSpace, class Ranks>
class reusable_windows {
  using windows = windows_of<ExecSpace, device::has_peer_windows<ExecSpace>, Ranks>;

 public:
  /// Opens windows of at least `bytes` bytes, the same on every rank. Returns whether there are
  /// such windows. Collective.
  bool try_reserve(Ranks const& ranks, std::size_t bytes) {
    if (m_windows != nullptr && bytes <= m_bytes) return true;
    if (bytes >= m_refused) return false;
    m_windows.reset();
    m_bytes = 0;
    m_windows = std::make_unique<windows>(ranks, bytes);
    if (m_windows->is_open())
      m_bytes = bytes;
    else
      m_refused = m_windows->is_refused() ? 0 : bytes;  // smaller windows would be refused as well
    return m_bytes > 0;
  }
  /// Returns whether windows may still be tried. Collective at the first call.
  bool may_open(Ranks const& ranks) {
    if (!m_asked && !may_open_windows<ExecSpace>(ranks)) m_refused = 0;
    m_asked = true;
    return m_refused > 0;
  }
  /// Returns whether there are windows, of at most `bytes` bytes, and none has been refused.
  bool has_at_most(std::size_t bytes) const {
    return m_windows != nullptr && m_bytes > 0 && m_bytes <= bytes && m_refused == ~std::size_t(0);
  }
  std::byte* data() const { return m_windows->get().data(); }
  device::peer_distances distances() const { return m_windows->get().distances(); }

 private:
  std::unique_ptr<windows> m_windows;
  std::size_t m_bytes = 0, m_refused = ~std::size_t(0);
  bool m_asked = false;
};

/// The processes of a communicator, in the order of their ranks, and whether their devices exchange
/// without the host. The communicator may end before.
class rank_group {
 public:
  template <class Ranks>
  explicit rank_group(Ranks const& ranks) : m_between_devices(ranks.has_device_of_its_own()) {
    require_success(MPI_Comm_group(ranks.mpi(), &m_group), "MPI_Comm_group");
  }
  rank_group(rank_group&& other) noexcept
      : m_group(std::exchange(other.m_group, MPI_GROUP_NULL)),
        m_between_devices(other.m_between_devices) {}
  rank_group& operator=(rank_group&&) = delete;
  ~rank_group() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (m_group != MPI_GROUP_NULL && finalized == 0) MPI_Group_free(&m_group);
  }
  bool operator==(rank_group const& other) const {
    int how = MPI_UNEQUAL;
    MPI_Group_compare(m_group, other.m_group, &how);
    return how == MPI_IDENT && m_between_devices == other.m_between_devices;
  }

 private:
  MPI_Group m_group = MPI_GROUP_NULL;
  bool m_between_devices;
};

/// Windows of operations on several communicators: those of one communicator are opened and closed
/// by its ranks alone. Communicators of the same processes, in the same order, share windows,
/// unless only one of them stages on the host (communicator_options). Destruction is collective for
/// each of these groups.
template <class Windows>
class windows_by_ranks {
 public:
  /// Returns the windows of these ranks; new ones at the first call.
  template <class Ranks>
  Windows& of(Ranks const& ranks) {
    rank_group group(ranks);
    for (auto& [known, windows] : m_all)
      if (known == group) return windows;
    return m_all.emplace_back(std::move(group), Windows()).second;
  }
  /// Closes the windows of these ranks. Collective. Called where a collective_error is caught, it
  /// frees what the destructor could not while the exception is thrown.
  template <class Ranks>
  void close(Ranks const& ranks) {
    of(ranks) = {};
  }

 private:
  std::list<std::pair<rank_group, Windows>> m_all;
};

}  // namespace karpos::detail::distributed
