// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/detail/distributed/engine.hpp"

namespace karpos::detail::distributed {

/// Throws for an error code of MPI. That ends all ranks (run_ranks), because others may wait for
/// this one.
inline void require_success(int code, char const* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string("karpos: ") + what + " failed (" + text +
                           "): see what MPI says");
}

/// A duplicate of a communicator, so that no other library's messages interfere. It is freed at the
/// end, but not if an exception ends this rank: freeing is collective, and other ranks may never
/// get there.
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

/// Returns whether this MPI accepts GPU memory, as it says at run time; false for an MPI that
/// cannot be asked.
inline bool mpi_accepts_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  if (MPIX_Query_rocm_support() == 1) return true;
#endif
  return false;
}

/// The engine on MPI. Counts of MPI are ints: data of more than `max_message` bytes, the smallest
/// value of all ranks, is sent in several messages. Constructing it is collective.
class mpi_engine final : public engine {
 public:
  mpi_engine(MPI_Comm comm, bool accepts_device_memory, std::uint64_t max_message)
      : m_comm(comm),
        m_accepts_device_memory(accepts_device_memory),
        m_max_message(std::clamp(max_message, std::uint64_t(8), std::uint64_t(1) << 30)) {
    MPI_Comm_rank(comm, &m_rank);
    MPI_Comm_size(comm, &m_size);
    require_success(MPI_Allreduce(MPI_IN_PLACE, &m_max_message, 1, MPI_UINT64_T, MPI_MIN, m_comm),
                    "MPI_Allreduce");
  }

  char const* name() const override { return m_accepts_device_memory ? "GPU-aware MPI" : "MPI"; }
  bool accepts_device_memory() const override { return m_accepts_device_memory; }

  void barrier() override { require_success(MPI_Barrier(m_comm), "MPI_Barrier"); }

  void broadcast(void* data, std::uint64_t bytes, int root) override {
    for_each_message(bytes, [&](std::uint64_t at, int n) {
      require_success(MPI_Bcast(static_cast<std::byte*>(data) + at, n, MPI_BYTE, root, m_comm),
                      "MPI_Bcast");
    });
  }

  void all_reduce(void* data, std::uint64_t n, number_kind kind, reduction_kind op) override {
    std::uint64_t const bytes = device::bytes_of(kind);
    std::uint64_t const each = m_max_message / bytes;
    for (std::uint64_t i = 0; i < n; i += each)
      require_success(MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(data) + i * bytes,
                                    static_cast<int>(std::min(each, n - i)), type_of(kind),
                                    operation(op), m_comm),
                      "MPI_Allreduce");
  }

  void all_gather(void const* send, void* receive, blocks const& to,
                  std::size_t element_bytes) override {
    auto* const bytes = static_cast<std::byte*>(receive);
    auto const me = static_cast<std::size_t>(m_rank);
    if (to.total * element_bytes > m_max_message) {  // all ranks know this
      copy(bytes + to.begin[me] * element_bytes, send, to.count[me] * element_bytes);
      for (std::size_t r = 0; r < to.count.size(); ++r)
        broadcast(bytes + to.begin[r] * element_bytes, to.count[r] * element_bytes,
                  static_cast<int>(r));
      return;
    }
    std::vector<int> counts(to.count.size()), begins(to.count.size());
    for (std::size_t r = 0; r < counts.size(); ++r) {
      counts[r] = static_cast<int>(to.count[r] * element_bytes);
      begins[r] = static_cast<int>(to.begin[r] * element_bytes);
    }
    require_success(MPI_Allgatherv(send, counts[me], MPI_BYTE, receive, counts.data(),
                                   begins.data(), MPI_BYTE, m_comm),
                    "MPI_Allgatherv");
  }

  /// Exchanges blocks point to point: for MPI_Alltoallv, all ranks would have to agree whether some
  /// count is too large for it.
  void all_to_all(void const* send, blocks const& from, void* receive, blocks const& to,
                  std::size_t element_bytes) override {
    auto const* const out = static_cast<std::byte const*>(send);
    auto* const in = static_cast<std::byte*>(receive);
    std::vector<MPI_Request> pending;
    for (int step = 1; step < m_size; ++step) {
      auto const r = static_cast<std::size_t>((m_rank + m_size - step) % m_size);
      for_each_message(to.count[r] * element_bytes, [&](std::uint64_t at, int n) {
        pending.emplace_back();
        require_success(MPI_Irecv(in + to.begin[r] * element_bytes + at, n, MPI_BYTE,
                                  static_cast<int>(r), tag, m_comm, &pending.back()),
                        "MPI_Irecv");
      });
    }
    for (int step = 1; step < m_size; ++step) {
      auto const r = static_cast<std::size_t>((m_rank + step) % m_size);
      for_each_message(from.count[r] * element_bytes, [&](std::uint64_t at, int n) {
        pending.emplace_back();
        require_success(MPI_Isend(out + from.begin[r] * element_bytes + at, n, MPI_BYTE,
                                  static_cast<int>(r), tag, m_comm, &pending.back()),
                        "MPI_Isend");
      });
    }
    auto const me = static_cast<std::size_t>(m_rank);
    copy(in + to.begin[me] * element_bytes, out + from.begin[me] * element_bytes,
         from.count[me] * element_bytes);
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

}  // namespace karpos::detail::distributed
