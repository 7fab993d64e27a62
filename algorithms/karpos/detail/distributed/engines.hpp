// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/native/collectives.hpp"
#include "karpos/device/number_kind.hpp"
#include "karpos/device/peers.hpp"

// The engines that move bytes between ranks for a communicator, in blocks: MPI, or a library that
// moves data between devices by itself.
//
//   rank 0   send | to 0 | to 1 |    all_to_all    receive | from 0 | from 1 |
//   rank 1   send | to 0 | to 1 |       -->        receive | from 0 | from 1 |
//
// Rows are ordered by owner before they are sent (exchange.hpp); tables merge equal keys first
// (combine.hpp). A search sends the vertices of each level (bfs_exchange.hpp, bfs_run.hpp).
// Tests: communicator, exchange_plan, hash_map, join, bfs, bfs_random, failing (distributed).

namespace karpos::detail::distributed {

/// One block for each rank, stored one after the other.
struct blocks {
  std::vector<std::uint64_t> count, begin;  // in bytes; with elements of one byte, in elements
  std::uint64_t total = 0;

  explicit blocks(std::vector<std::uint64_t> const& counts, std::size_t element_bytes = 1) {
    for (std::uint64_t const n : counts) {
      count.push_back(n * element_bytes);
      begin.push_back(total);
      total += count.back();
    }
  }
  /// Makes blocks of `bytes` bytes for each of `ranks` ranks.
  blocks(int ranks, std::size_t bytes) {
    for (; ranks > 0; --ranks) {
      count.push_back(bytes);
      begin.push_back(total);
      total += bytes;
    }
  }
};

using device::number_kind, device::number_kind_of, device::reduction_kind;

/// All ranks call every member in the same order. mpi_engine blocks; device_engine enqueues.
/// Requires: data is in memory that the engine accepts.
class engine {
 public:
  virtual ~engine() = default;
  virtual char const* name() const = 0;
  virtual void broadcast(void* data, std::uint64_t bytes, int root) = 0;
  virtual bool reduces(number_kind, reduction_kind) const = 0;
  virtual void all_reduce(void* data, std::uint64_t n, number_kind, reduction_kind) = 0;
  /// Gathers the blocks of all ranks; `send` is this rank's block.
  virtual void all_gather(void const* send, void* receive, blocks const& to) = 0;
  /// Sends block r of `send` to rank r, and receives block r of `receive` from it.
  virtual void all_to_all(void const* send, blocks const& from, void* receive,
                          blocks const& to) = 0;
};

/// Throws for an error code of MPI: ends all ranks (run_ranks), as others may wait for this one.
inline void require_success(int code, char const* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  reject<std::runtime_error>(std::string(what) + " failed", text, "see what MPI says");
}

/// A duplicate of a communicator, so that no other library's messages interfere. An exception that
/// ends this rank does not free it: freeing is collective, and other ranks may never get there.
class duplicated_comm {
 public:
  explicit duplicated_comm(MPI_Comm of) {
    require_success(MPI_Comm_dup(of, &m_comm), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(m_comm, MPI_ERRORS_RETURN);
  }
  duplicated_comm(duplicated_comm&& other) noexcept
      : m_comm(std::exchange(other.m_comm, MPI_COMM_NULL)),
        m_exceptions(other.m_exceptions) {}
  duplicated_comm& operator=(duplicated_comm&& other) noexcept {
    std::swap(m_comm, other.m_comm);
    std::swap(m_exceptions, other.m_exceptions);
    return *this;
  }
  ~duplicated_comm() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (m_comm != MPI_COMM_NULL && finalized == 0 && std::uncaught_exceptions() <= m_exceptions)
      MPI_Comm_free(&m_comm);
  }
  MPI_Comm get() const { return m_comm; }

 private:
  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_exceptions = std::uncaught_exceptions();
};

/// Returns whether MPI says at run time that it accepts GPU memory; false if it cannot be asked.
inline bool mpi_accepts_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  if (MPIX_Query_rocm_support() == 1) return true;
#endif
  return false;
}

/// The engine on MPI. Counts of MPI are ints, so longer data is sent in several messages, each of
/// at most the smallest `max_message` of any rank. Constructing it is collective.
class mpi_engine final : public engine {
 public:
  mpi_engine(MPI_Comm comm, bool accepts_device_memory, std::uint64_t max_message)
      : m_comm(comm),
        m_accepts_device_memory(accepts_device_memory),
        m_max_message(std::clamp(max_message, std::uint64_t(8), std::uint64_t(1) << 30) / 8 * 8) {
    MPI_Comm_rank(comm, &m_rank);
    MPI_Comm_size(comm, &m_size);
    require_success(MPI_Allreduce(MPI_IN_PLACE, &m_max_message, 1, MPI_UINT64_T, MPI_MIN, m_comm),
                    "MPI_Allreduce");
  }

  char const* name() const override { return m_accepts_device_memory ? "GPU-aware MPI" : "MPI"; }
  void barrier() { require_success(MPI_Barrier(m_comm), "MPI_Barrier"); }
  bool reduces(number_kind, reduction_kind) const override { return true; }

  void broadcast(void* data, std::uint64_t bytes, int root) override {
    for_each_message(bytes, [&](std::uint64_t at, int n) {
      require_success(MPI_Bcast(static_cast<std::byte*>(data) + at, n, MPI_BYTE, root, m_comm),
                      "MPI_Bcast");
    });
  }

  void all_reduce(void* data, std::uint64_t n, number_kind kind, reduction_kind op) override {
    std::uint64_t const each = device::bytes_of(kind);
    for_each_message(n * each, [&](std::uint64_t at, int bytes) {
      require_success(
          MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(data) + at,
                        bytes / static_cast<int>(each), type_of(kind), operation(op), m_comm),
          "MPI_Allreduce");
    });
  }

  void all_gather(void const* send, void* receive, blocks const& to) override {
    auto* const bytes = static_cast<std::byte*>(receive);
    auto const me = static_cast<std::size_t>(m_rank);
    if (to.total > m_max_message) {  // all ranks know this
      copy(bytes + to.begin[me], send, to.count[me]);
      for (std::size_t r = 0; r < to.count.size(); ++r)
        broadcast(bytes + to.begin[r], to.count[r], static_cast<int>(r));
      return;
    }
    std::vector<int> counts(to.count.size()), begins(to.count.size());
    for (std::size_t r = 0; r < counts.size(); ++r) {
      counts[r] = static_cast<int>(to.count[r]);
      begins[r] = static_cast<int>(to.begin[r]);
    }
    require_success(MPI_Allgatherv(send, counts[me], MPI_BYTE, receive, counts.data(),
                                   begins.data(), MPI_BYTE, m_comm),
                    "MPI_Allgatherv");
  }

  /// Exchanges point to point: not all ranks know whether a count is too large for MPI_Alltoallv.
  void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to) override {
    auto const* const out = static_cast<std::byte const*>(send);
    auto* const in = static_cast<std::byte*>(receive);
    std::vector<MPI_Request> pending;
    for (int step = 1; step < m_size; ++step) {
      auto const r = static_cast<std::size_t>((m_rank + m_size - step) % m_size);
      for_each_message(to.count[r], [&](std::uint64_t at, int n) {
        pending.emplace_back();
        require_success(MPI_Irecv(in + to.begin[r] + at, n, MPI_BYTE, static_cast<int>(r), tag,
                                  m_comm, &pending.back()),
                        "MPI_Irecv");
      });
    }
    for (int step = 1; step < m_size; ++step) {
      auto const r = static_cast<std::size_t>((m_rank + step) % m_size);
      for_each_message(from.count[r], [&](std::uint64_t at, int n) {
        pending.emplace_back();
        require_success(MPI_Isend(out + from.begin[r] + at, n, MPI_BYTE, static_cast<int>(r), tag,
                                  m_comm, &pending.back()),
                        "MPI_Isend");
      });
    }
    auto const me = static_cast<std::size_t>(m_rank);
    copy(in + to.begin[me], out + from.begin[me], from.count[me]);
    require_success(
        MPI_Waitall(static_cast<int>(pending.size()), pending.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  }

 private:
  static constexpr int tag = 0;  // messages between two ranks arrive in order

  /// Copies the data that stays on this rank; by MPI if it may be device memory.
  void copy(std::byte* target, void const* from, std::uint64_t bytes) {
    if (bytes == 0) return;
    if (!m_accepts_device_memory) {
      std::memcpy(target, from, bytes);
      return;
    }
    auto const* const source = static_cast<std::byte const*>(from);
    for_each_message(bytes, [&](std::uint64_t at, int n) {
      require_success(MPI_Sendrecv(source + at, n, MPI_BYTE, m_rank, tag, target + at, n, MPI_BYTE,
                                   m_rank, tag, m_comm, MPI_STATUS_IGNORE),
                      "MPI_Sendrecv");
    });
  }
  template <class F>
  void for_each_message(std::uint64_t bytes, F const& f) const {
    for (std::uint64_t at = 0; at < bytes; at += m_max_message)
      f(at, static_cast<int>(std::min(m_max_message, bytes - at)));
  }
  // Both in the order of the enumerators.
  static MPI_Op operation(reduction_kind op) {
    MPI_Op const operations[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_BOR};
    return operations[static_cast<int>(op)];
  }
  static MPI_Datatype type_of(number_kind kind) {
    MPI_Datatype const types[] = {MPI_INT8_T,  MPI_UINT8_T,  MPI_INT16_T, MPI_UINT16_T,
                                  MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T,
                                  MPI_FLOAT,   MPI_DOUBLE};
    return types[static_cast<int>(kind)];
  }

  MPI_Comm m_comm;
  bool m_accepts_device_memory;
  std::uint64_t m_max_message;
  int m_rank = 0, m_size = 1;
};

/// Computes to[i], the OR of the i-th words of `count` parts, which are stored one after the other.
template <class Word>
struct or_parts {
  Word const* parts;
  std::uint64_t each, count;
  Word* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    Word w = 0;
    for (std::uint64_t r = 0; r < count; ++r) w = static_cast<Word>(w | parts[r * each + i]);
    to[i] = w;
  }
};

/// The engine between devices (device/native/collectives.hpp).
template <class ExecSpace>
class device_engine final : public engine {
  using collectives = device::collectives<ExecSpace>;
  using sizes = std::vector<std::uint64_t>;

 public:
  device_engine(ExecSpace const& exec, typename collectives::id const& id, int rank, int ranks)
      : m_exec(exec),
        m_collectives(exec, id, rank, ranks),
        m_rank(static_cast<std::size_t>(rank)),
        m_ranks(static_cast<std::size_t>(ranks)) {}

  char const* name() const override { return collectives::name; }
  void broadcast(void* data, std::uint64_t bytes, int root) override {
    m_collectives.broadcast(data, bytes, root);
  }
  bool reduces(number_kind kind, reduction_kind op) const override {
    return op == reduction_kind::bit_or || collectives::reduces(kind, op);
  }
  void all_reduce(void* data, std::uint64_t n, number_kind kind, reduction_kind op) override {
    std::uint64_t const bytes = n * device::bytes_of(kind);
    if (op != reduction_kind::bit_or)
      m_collectives.all_reduce(data, n, kind, op);
    else if (bytes % sizeof(std::uint32_t) == 0)
      or_bits(static_cast<std::uint32_t*>(data), bytes / sizeof(std::uint32_t));
    else
      or_bits(static_cast<std::uint8_t*>(data), bytes);
  }
  void all_gather(void const* send, void* receive, blocks const& to) override {
    m_collectives.exchange(static_cast<std::byte const*>(send), sizes(m_ranks, 0),
                           sizes(m_ranks, to.count[m_rank]), static_cast<std::byte*>(receive),
                           to.begin, to.count);
  }
  void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to) override {
    m_collectives.exchange(static_cast<std::byte const*>(send), from.begin, from.count,
                           static_cast<std::byte*>(receive), to.begin, to.count);
  }

 private:
  /// Computes the OR of all ranks' words: each rank computes a part, and sends it to the others.
  template <class Word>
  void or_bits(Word* data, std::uint64_t n) {
    if (n == 0) return;
    // Words of a cache line: parts begin at multiples of it.
    std::uint64_t const line = 128 / sizeof(Word);
    std::uint64_t const each = (n + m_ranks * line - 1) / (m_ranks * line) * line;
    sizes part_bytes, begin_bytes, slot_begin;
    for (std::uint64_t r = 0; r < m_ranks; ++r) {
      std::uint64_t const begin = std::min(r * each, n);
      begin_bytes.push_back(begin * sizeof(Word));
      part_bytes.push_back((std::min((r + 1) * each, n) - begin) * sizeof(Word));
      slot_begin.push_back(r * each * sizeof(Word));
    }
    if (m_parts.extent(0) < m_ranks * each * sizeof(Word))
      m_parts = allocate_byte_array<typename ExecSpace::memory_space>(
          m_exec, "karpos::communicator: parts", m_ranks * each * sizeof(Word),
          "a reduction over ranks", "reduce fewer numbers at once");
    auto* const bytes = reinterpret_cast<std::byte*>(data);
    std::uint64_t const mine = part_bytes[m_rank];
    m_collectives.exchange(bytes, begin_bytes, part_bytes, m_parts.data(), slot_begin,
                           sizes(m_ranks, mine));
    Word* const own = data + begin_bytes[m_rank] / sizeof(Word);
    device::loop_over(
        "karpos::communicator: or bits", m_exec, mine / sizeof(Word),
        or_parts<Word>{reinterpret_cast<Word const*>(m_parts.data()), each, m_ranks, own});
    m_collectives.exchange(bytes, sizes(m_ranks, begin_bytes[m_rank]), sizes(m_ranks, mine), bytes,
                           begin_bytes, part_bytes);
  }

  ExecSpace m_exec;
  collectives m_collectives;
  std::size_t m_rank, m_ranks;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_parts;
};

/// The identity of a rank's device, and whether the rank wants to exchange through the host.
struct device_of_rank {
  device::device_identity id;
  bool stage_on_host;
};
/// Returns whether each rank has a device of its own, and none wants to exchange through the host.
/// Kernels that wait for each other would wait forever on one device. Collective.
inline bool have_devices_of_their_own(engine& host, int ranks, device::device_identity const& mine,
                                      bool stage_on_host) {
  device_of_rank const of_this{mine, stage_on_host};
  std::vector<device_of_rank> all(static_cast<std::size_t>(ranks));
  host.all_gather(&of_this, all.data(), blocks(static_cast<int>(all.size()), sizeof of_this));
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].stage_on_host) return false;
    for (std::size_t q = 0; q < r; ++q)
      if (std::memcmp(all[r].id.bytes, all[q].id.bytes, sizeof all[r].id.bytes) == 0) return false;
  }
  return true;
}

/// Returns: the engine between the devices of all ranks, each of its own; null without one. Throws:
/// std::runtime_error if its library cannot be used, which ends all ranks (run_ranks). Collective.
template <class ExecSpace>
std::unique_ptr<engine> make_device_engine([[maybe_unused]] ExecSpace const& exec,
                                           [[maybe_unused]] engine& host, [[maybe_unused]] int rank,
                                           [[maybe_unused]] int ranks) {
  if constexpr (device::has_collectives<ExecSpace>) {
    using collectives = device::collectives<ExecSpace>;
    std::string const obstacle = collectives::obstacle();
    if (!obstacle.empty())
      throw std::runtime_error(user_call::name() + ": " + obstacle +
                               ": install one release of both, or set "
                               "communicator_options::stage_on_host");
    typename collectives::id id{};
    if (rank == 0) id = collectives::make_id();
    host.broadcast(&id, sizeof id, 0);
    return std::make_unique<device_engine<ExecSpace>>(exec, id, rank, ranks);
  } else {
    return nullptr;
  }
}

/// A buffer in pinned memory for data of a device, if the engine does not accept device memory. It
/// grows, and is kept. Other data is passed without a copy.
template <class ExecSpace>
class staging {
  template <class Space>
  using bytes_in = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;

 public:
  explicit staging(bool accepts_device_memory = false)
      : m_accepts_device_memory(accepts_device_memory) {}

  /// Returns: an address that an engine accepts for the bytes, copied there if `filled`. Blocks.
  template <class MemorySpace>
  std::byte* at(ExecSpace const& exec, void const* data, std::uint64_t bytes, bool filled) {
    auto* const here = static_cast<std::byte*>(const_cast<void*>(data));
    if constexpr (!on_host<MemorySpace>) {
      if (!m_accepts_device_memory && bytes > 0) {
        if (m_bytes.extent(0) < bytes)
          m_bytes = allocate_byte_array<pinned_space>(
              Kokkos::DefaultHostExecutionSpace{}, "karpos::communicator: staging", bytes,
              "an exchange between ranks", "exchange fewer rows at once");
        if (filled)
          Kokkos::deep_copy(exec, bytes_in<pinned_space>(m_bytes.data(), bytes),
                            bytes_in<MemorySpace>(here, bytes));
        exec.fence("karpos::communicator: what is sent");
        return m_bytes.data();
      }
    }
    exec.fence("karpos::communicator: what is sent");
    return here;
  }
  /// Copies bytes that an engine has written back to `data`, if they were staged. Blocks.
  template <class MemorySpace>
  void finish(ExecSpace const& exec, void* data, std::uint64_t bytes) const {
    if constexpr (!on_host<MemorySpace>) {
      if (m_accepts_device_memory || bytes == 0) return;
      Kokkos::deep_copy(exec, bytes_in<MemorySpace>(static_cast<std::byte*>(data), bytes),
                        bytes_in<pinned_space>(m_bytes.data(), bytes));
      exec.fence("karpos::communicator: what was received");
    }
  }

 private:
  template <class MemorySpace>
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  bool m_accepts_device_memory;
  Kokkos::View<std::byte*, pinned_space> m_bytes;
};

}  // namespace karpos::detail::distributed
