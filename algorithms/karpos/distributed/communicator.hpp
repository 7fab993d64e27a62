// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/distributed/collective.hpp"
#include "karpos/detail/distributed/engines.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"

// communicator: exchanges data of views between ranks. All of karpos::distributed takes one.
//
//   karpos::distributed::communicator const ranks(MPI_COMM_WORLD, exec);
//   std::uint64_t const all = ranks.all_reduce(mine);                  // the same on every rank
//   ranks.all_to_all(send, counts, receive, ranks.exchange_counts(counts));
//
// Every operation is collective: all ranks call it, in the same order. If a vendor's library moves
// the data of views between devices (engine() names it), the operation is enqueued on exec like a
// kernel, and returns at once. (Exception: sums, minima and maxima of 16-bit integers go through
// MPI.) Every other operation on views first waits for exec, and is complete when it returns.
// Operations on single values, texts and counts do not wait for exec, only for the other ranks. If
// one rank throws, the others wait forever, unless run_ranks runs the program.
//
// A window is memory of a rank that all ranks of the communicator can read and write directly.
// Ranks open windows only if all of them run on one host, and are at most eight; on GPUs, each rank
// also needs a GPU of its own, and the GPUs must reach each other's memory. Tables, joins,
// reductions and searches exchange data in windows if they can (docs/distributed.md).

namespace karpos::detail::distributed {
template <class ExecSpace, class Ranks>
class kept_windows;
}

namespace karpos::distributed {

/// Reduces integers by bitwise OR (all_reduce). Other operations: karpos::plus, minimum, maximum.
struct bit_or {
  template <class T>
  KOKKOS_FUNCTION constexpr T operator()(T const& a, T const& b) const {
    return static_cast<T>(a | b);
  }
};

struct communicator_options {
  /// Exchanges through host memory, even if data could travel between devices or MPI takes device
  /// memory. If one rank sets this, no rank uses a library between devices. Set it on all ranks
  /// alike: ranks that do not set it still pass device memory to a GPU-aware MPI.
  bool stage_on_host = false;
  /// Largest size of one message in bytes, between 8 and 2^30 (values beyond count as these),
  /// rounded down to a multiple of 8. Longer messages are split. All ranks use the smallest value
  /// of any rank.
  std::uint64_t max_message_bytes = std::uint64_t(1) << 30;
  /// Largest number of bytes of windows that each rank keeps for joins without a join_memory and
  /// reductions without a reduction_memory; 0: none. Values beyond 4 GiB, on CPUs 256 MiB, count as
  /// these. All ranks use the smallest value of any rank.
  std::uint64_t max_kept_bytes = std::uint64_t(1) << 32;
};

/// Ranks that work together: an MPI communicator of its own, and an execution space instance. Not
/// copyable. Movable until a plan, table or workspace is made with it: these keep its address.
/// (A join_memory or reduction_memory does not.)
///
/// Requires: MPI is initialised, and finalised after the communicator is destroyed. All ranks make
///   it, and destroy it, together.
/// Concurrency: one operation at a time; from the thread that initialised MPI, unless MPI allows
///   more.
/// Memory: if data of GPUs goes through an MPI that takes no GPU memory (it is asked at run time):
///   up to two host buffers as large as the largest exchange. If data travels between devices: a
///   device buffer for the largest view reduced by bit_or, and what the vendor's library takes. If
///   ranks open windows: those of the last join or reduction without a join_memory or
///   reduction_memory, up to max_kept_bytes a rank, until release_memory(). If an exception
///   destroys the communicator, windows of GPUs stay until the process ends, unless all ranks have
///   called release_memory().
/// Throws, only on the rank concerned: std::invalid_argument for a strided view, and for counts
///   that are not one for each rank; allocation_error; std::runtime_error if MPI or the vendor's
///   library fails. None of these is a collective_error (run_ranks.hpp).
template <execution_space ExecSpace>
class communicator {
 public:
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  /// A number of elements for each rank.
  using counts_type = std::vector<std::uint64_t>;

  /// Duplicates `comm`, which the caller keeps. Collective.
  ///
  /// Throws: std::runtime_error if MPI fails, or if the vendor's library cannot be used. Errors of
  ///   the duplication itself go to the error handler of `comm`, which by default ends the program.
  explicit communicator(MPI_Comm comm, ExecSpace const& exec = {},
                        communicator_options const& options = {})
      : communicator(comm, exec, options, detail::user_call(name)) {}

  int rank() const { return m_rank; }
  int size() const { return m_size; }
  ExecSpace const& exec() const { return m_exec; }
  MPI_Comm mpi() const { return m_comm.get(); }
  /// Returns what moves data of exec's memory: "MPI", "GPU-aware MPI", or a vendor's library.
  char const* engine() const {
    return m_device_engine ? m_device_engine->name() : m_engine->name();
  }
  /// Returns whether devices may exchange without the host: each rank has a device of its own, and
  /// no rank sets stage_on_host. The same on all ranks.
  bool has_device_of_its_own() const { return m_own_device; }
  /// Returns the bytes that this rank has sent to others in messages so far. A reduction, broadcast
  /// or all_gather counts this rank's elements once, for however many ranks.
  std::uint64_t bytes_sent() const { return m_bytes_sent; }

  /// Waits for exec, and until every rank has called this.
  void barrier() const {
    detail::user_call const call(name, "barrier");
    m_exec.fence("karpos::communicator: barrier");
    m_engine->barrier();
  }

  /// Returns, on every rank, all ranks' values reduced by karpos::plus, minimum, maximum or bit_or.
  template <class T, class Op = plus>
    requires std::is_arithmetic_v<T>
  T all_reduce(T value, Op = {}) const {
    detail::user_call const call(name, "all_reduce");
    m_bytes_sent += sizeof(T);
    m_engine->all_reduce(&value, 1, detail::distributed::number_kind_of<T>(), kind_of<Op, T>());
    return value;
  }
  /// Reduces each element of a view over all ranks, in place. Requires: the views of all ranks are
  /// equally long.
  template <view_1d View, class Op = plus>
  void all_reduce(View const& data, Op = {}) const {
    detail::user_call const call(name, "all_reduce");
    using number = typename View::value_type;
    std::uint64_t const bytes = checked_bytes("what is reduced", data);
    using space = typename View::memory_space;
    auto const kind = detail::distributed::number_kind_of<number>();
    m_bytes_sent += bytes;
    if (uses_device_engine<View>() && m_device_engine->reduces(kind, kind_of<Op, number>())) {
      m_device_engine->all_reduce(data.data(), data.extent(0), kind, kind_of<Op, number>());
      return;
    }
    void* const at = m_sent.template at<space>(m_exec, data.data(), bytes, true);
    m_engine->all_reduce(at, data.extent(0), kind, kind_of<Op, number>());
    m_sent.template finish<space>(m_exec, data.data(), bytes);
  }

  /// Returns the value of rank `root` on every rank. Each broadcast throws std::invalid_argument if
  /// there is no such rank.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T broadcast(T value, int root) const {
    detail::user_call const call(name, "broadcast");
    require_rank(root);
    m_bytes_sent += m_rank == root ? sizeof(T) : 0;
    m_engine->broadcast(&value, sizeof(T), root);
    return value;
  }
  /// Writes the elements of rank `root` to the views of all ranks. Requires: the views are equally
  /// long.
  template <class View>
    requires is_view_1d<View>
  void broadcast(View const& data, int root) const {
    detail::user_call const call(name, "broadcast");
    require_rank(root);
    std::uint64_t const bytes = checked_bytes("what is broadcast", data);
    using space = typename View::memory_space;
    m_bytes_sent += m_rank == root ? bytes : 0;
    if (uses_device_engine<View>()) {
      m_device_engine->broadcast(data.data(), bytes, root);
      return;
    }
    void* const at = m_sent.template at<space>(m_exec, data.data(), bytes, m_rank == root);
    m_engine->broadcast(at, bytes, root);
    if (m_rank != root) m_sent.template finish<space>(m_exec, data.data(), bytes);
  }
  /// Returns the text of rank `root` on every rank; the texts of other ranks are ignored.
  std::string broadcast(std::string text, int root) const {
    detail::user_call const call(name, "broadcast");
    text.resize(broadcast(std::uint64_t(text.size()), root));
    m_bytes_sent += m_rank == root ? text.size() : 0;
    m_engine->broadcast(text.data(), text.size(), root);
    return text;
  }

  /// Returns the values of all ranks, by rank.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && !Kokkos::is_view_v<T>)
  std::vector<T> all_gather(T const& value) const {
    detail::user_call const call(name, "all_gather");
    std::vector<T> all(static_cast<std::size_t>(m_size));
    m_bytes_sent += sizeof(T);
    m_engine->all_gather(&value, all.data(), detail::distributed::blocks(m_size, sizeof(T)));
    return all;
  }
  /// Writes the elements of all ranks, by rank, to `receive`. Rank r has counts[r] elements.
  ///
  /// Throws: std::invalid_argument if views have other lengths than the counts say.
  template <view_1d Send, view_1d Receive>
  void all_gather(Send const& send, Receive const& receive, counts_type const& counts) const {
    detail::user_call const call(name, "all_gather");
    require_counts(counts);
    constexpr std::size_t element = sizeof(typename Receive::value_type);
    detail::distributed::blocks const to(counts, element);
    detail::require_same_extent("what a rank gives to all", send.extent(0), "its count",
                                counts[index(m_rank)]);
    detail::require_same_extent("what is gathered", receive.extent(0), "the counts",
                                to.total / element);
    transfer(send, receive, [&](auto& engine, void const* from, void* into) {
      m_bytes_sent += to.count[index(m_rank)];
      engine.all_gather(from, into, to);
    });
  }
  /// Writes the elements of all ranks, by rank, to `receive`; every rank has equally many.
  template <view_1d Send, view_1d Receive>
  void all_gather(Send const& send, Receive const& receive) const {
    all_gather(send, receive, counts_type(index(m_size), send.extent(0)));
  }

  /// Returns how many elements this rank receives from each rank if it sends send[r] to rank r.
  counts_type exchange_counts(counts_type const& send) const {
    detail::user_call const call(name, "exchange_counts");
    require_counts(send);
    counts_type receive(index(m_size));
    detail::distributed::blocks const each(counts_type(index(m_size), 8));
    m_bytes_sent += 8 * (index(m_size) - 1);
    m_engine->all_to_all(send.data(), each, receive.data(), each);
    return receive;
  }
  /// Sends the first send_counts[0] elements to rank 0, the next send_counts[1] to rank 1, …, and
  /// receives receive_counts[r] elements from each rank r, in the order of the ranks.
  ///
  /// Requires: receive_counts are those of exchange_counts(send_counts). The views do not overlap.
  /// Throws: std::invalid_argument if views have other lengths than the counts say.
  template <view_1d Send, view_1d Receive>
  void all_to_all(Send const& send, counts_type const& send_counts, Receive const& receive,
                  counts_type const& receive_counts) const {
    detail::user_call const call(name, "all_to_all");
    require_counts(send_counts);
    require_counts(receive_counts);
    constexpr std::size_t element = sizeof(typename Receive::value_type);
    detail::distributed::blocks const from(send_counts, element), to(receive_counts, element);
    detail::require_same_extent("what is sent", send.extent(0), "its counts", from.total / element);
    detail::require_same_extent("what is received", receive.extent(0), "its counts",
                                to.total / element);
    transfer(send, receive, [&](auto& engine, void const* out, void* in) {
      m_bytes_sent += from.total - from.count[index(m_rank)];
      engine.all_to_all(out, from, in, to);
    });
  }

  /// Frees the windows that are kept for joins and reductions. Collective.
  void release_memory() const { m_windows.reset(); }

 private:
  static constexpr char name[] = "distributed::communicator";
  template <class Space, class Ranks>
  friend class detail::distributed::kept_windows;

  communicator(MPI_Comm comm, ExecSpace const& exec, communicator_options const& options,
               detail::user_call const&)
      : m_exec(exec),
        m_comm(comm) {
    namespace d = detail::distributed;
    MPI_Comm_rank(m_comm.get(), &m_rank);
    MPI_Comm_size(m_comm.get(), &m_size);
    bool const accepts_device_memory = !options.stage_on_host && d::mpi_accepts_device_memory();
    m_engine = std::make_unique<d::mpi_engine>(m_comm.get(), accepts_device_memory,
                                               options.max_message_bytes);
    m_kept_bytes = std::min(options.max_kept_bytes,
                            std::uint64_t(device::is_device<ExecSpace> ? 4096 : 256) << 20);
    m_engine->all_reduce(&m_kept_bytes, 1, d::number_kind_of<std::uint64_t>(),
                         kind_of<minimum, std::uint64_t>());
    m_sent = d::staging<ExecSpace>(accepts_device_memory);
    m_received = d::staging<ExecSpace>(accepts_device_memory);
    m_own_device = device::is_device<ExecSpace> &&
                   d::have_devices_of_their_own(*m_engine, m_size, device::identity_of(exec),
                                                options.stage_on_host);
    if (m_own_device) m_device_engine = d::make_device_engine(exec, *m_engine, m_rank, m_size);
  }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  template <class Op, class Number>
  static constexpr auto kind_of() {
    using kind = detail::distributed::reduction_kind;
    static_assert(std::is_same_v<Op, plus> || std::is_same_v<Op, minimum> ||
                      std::is_same_v<Op, maximum> || std::is_same_v<Op, bit_or>,
                  "karpos: ranks reduce by karpos::plus, minimum, maximum or distributed::bit_or");
    static_assert(!std::is_same_v<Op, bit_or> || std::is_integral_v<Number>,
                  "karpos: distributed::bit_or reduces integers");
    return std::is_same_v<Op, minimum>   ? kind::min
           : std::is_same_v<Op, maximum> ? kind::max
           : std::is_same_v<Op, bit_or>  ? kind::bit_or
                                         : kind::sum;
  }
  void require_rank(int rank) const {
    if (rank < 0 || rank >= m_size)
      detail::reject("there is no rank " + std::to_string(rank), std::to_string(m_size) + " ranks",
                     "name a rank from 0 to " + std::to_string(m_size - 1));
  }
  void require_counts(counts_type const& counts) const {
    detail::require_same_extent("counts of an exchange", counts.size(), "ranks", index(m_size));
  }
  template <class View>
  static std::uint64_t checked_bytes(char const* what, View const& view) {
    static_assert(std::is_trivially_copyable_v<typename View::non_const_value_type>,
                  "karpos: ranks exchange trivially copyable elements");
    detail::require_contiguous(what, view);
    return view.extent(0) * sizeof(typename View::value_type);
  }
  /// Returns whether data of these views travels between devices, in the order of exec.
  template <class... Views>
  bool uses_device_engine() const {
    constexpr bool on_host =
        (... ||
         Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Views::memory_space>::accessible);
    return !on_host && m_device_engine != nullptr;
  }
  /// Runs move(engine, from, to) with addresses that the engine accepts.
  template <class Send, class Receive, class Move>
  void transfer(Send const& send, Receive const& receive, Move const& move) const {
    static_assert(std::is_same_v<typename Send::non_const_value_type, typename Receive::value_type>,
                  "karpos: what is received goes to a view of the type that is sent, not const");
    std::uint64_t const out = checked_bytes("what is sent", send);
    std::uint64_t const in = checked_bytes("what is received", receive);
    if (uses_device_engine<Send, Receive>()) {
      move(*m_device_engine, send.data(), receive.data());
      return;
    }
    using from = typename Send::memory_space;
    using to = typename Receive::memory_space;
    void const* const source = m_sent.template at<from>(m_exec, send.data(), out, true);
    void* const target = m_received.template at<to>(m_exec, receive.data(), in, false);
    move(*m_engine, source, target);
    m_received.template finish<to>(m_exec, receive.data(), in);
  }

  ExecSpace m_exec;
  detail::distributed::duplicated_comm m_comm;
  int m_rank = 0, m_size = 1;
  bool m_own_device = false;
  std::unique_ptr<detail::distributed::mpi_engine> m_engine;
  std::unique_ptr<detail::distributed::engine> m_device_engine;
  mutable detail::distributed::staging<ExecSpace> m_sent, m_received;
  mutable std::uint64_t m_bytes_sent = 0;
  std::uint64_t m_kept_bytes = 0;
  mutable std::shared_ptr<void> m_windows;  // kept_windows
};

/// Throws collective_error on every rank unless all ranks pass the same value. The message names
/// `what`, such as "max_keys", and two of the values with their ranks. Values have at most 8 bytes
/// and are compared bit by bit. Collective.
template <execution_space ExecSpace, class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void require_same(communicator<ExecSpace> const& ranks, std::string const& what, T const& value) {
  detail::user_call const call("distributed::require_same");
  detail::distributed::require_equal<T>(ranks, what,
                                        ranks.all_gather(to_bits<std::uint64_t>(value)));
}

}  // namespace karpos::distributed
