// SPDX-License-Identifier: Apache-2.0
#pragma once

// NCCL, if the build has found it (KARPOS_HAS_NCCL), for collectives.hpp. Only its host API is
// used. Every library from 2.7 on has the functions called here.

#if defined(KARPOS_HAS_NCCL) && __has_include(<nccl.h>)

#include <nccl.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "karpos/device/number_kind.hpp"

#if defined(KOKKOS_ENABLE_CUDA)

namespace karpos::device::cuda {

inline void require_nccl(ncclResult_t r, char const* what) {
  if (r != ncclSuccess)
    throw std::runtime_error(std::string("karpos: ") + what + " failed (" + ncclGetErrorString(r) +
                             ": " + ncclGetLastError(nullptr) +
                             "): NCCL_DEBUG=WARN says more; or exchange through the host");
}

/// A rank's end of a group. All calls are enqueued to the instance's stream.
class collectives {
 public:
  static constexpr char const* name = "NCCL";
  struct id {
    ncclUniqueId of_group;
  };
  static id make_id() {
    id made;
    require_nccl(ncclGetUniqueId(&made.of_group), "ncclGetUniqueId");
    return made;
  }
  /// Returns why the library found at run time cannot be used; an empty string if it can.
  static std::string obstacle() {
    int version = 0;
    require_nccl(ncclGetVersion(&version), "ncclGetVersion");
    constexpr int oldest = 2700;
    bool const same_major = (version < 10000 ? version / 1000 : version / 10000) == NCCL_MAJOR;
    if (same_major && version >= oldest) return {};
    return "NCCL's library is of version " + std::to_string(version) +
           ", and this program was built with the headers of " + std::to_string(NCCL_VERSION_CODE);
  }

  /// Joins the group: all ranks call this together. `of` is the id that rank 0 has made.
  collectives(Kokkos::Cuda const& exec, id const& of, int rank, int ranks)
      : m_exec(exec),
        m_rank(rank) {
    if (cudaSetDevice(exec.cuda_device()) != cudaSuccess)
      throw std::runtime_error("karpos: cudaSetDevice failed: see what the driver says");
    require_nccl(ncclCommInitRank(&m_group, ranks, of.of_group, rank), "ncclCommInitRank");
  }
  collectives(collectives const&) = delete;
  collectives& operator=(collectives const&) = delete;
  ~collectives() {
    if (std::uncaught_exceptions() > m_exceptions)
      ncclCommAbort(m_group);  // the other ranks may never come here
    else
      ncclCommDestroy(m_group);
  }

  void broadcast(void* data, std::uint64_t bytes, int root) const {
    if (bytes > 0)
      require_nccl(ncclBroadcast(data, data, bytes, ncclUint8, root, m_group, stream()),
                   "ncclBroadcast");
  }
  static bool reduces(number_kind kind, reduction_kind op) {
    return op != reduction_kind::bit_or && kind != number_kind::i16 && kind != number_kind::u16;
  }
  /// Reduces n numbers of all ranks, in place. Requires: reduces(kind, op).
  void all_reduce(void* data, std::uint64_t n, number_kind kind, reduction_kind op) const {
    if (n > 0)
      require_nccl(ncclAllReduce(data, data, n, type_of(kind), operation(op), m_group, stream()),
                   "ncclAllReduce");
  }
  /// Sends send_bytes[r] bytes from send + send_begin[r] to rank r, and receives likewise. Copies
  /// what stays on this rank. Fastest if every piece begins at a multiple of 128 bytes.
  void exchange(std::byte const* send, std::vector<std::uint64_t> const& send_begin,
                std::vector<std::uint64_t> const& send_bytes, std::byte* receive,
                std::vector<std::uint64_t> const& receive_begin,
                std::vector<std::uint64_t> const& receive_bytes) const {
    require_nccl(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t r = 0; r < send_bytes.size(); ++r) {
      int const peer = static_cast<int>(r);
      if (peer != m_rank && send_bytes[r] > 0)
        require_nccl(
            ncclSend(send + send_begin[r], send_bytes[r], ncclUint8, peer, m_group, stream()),
            "ncclSend");
      if (peer != m_rank && receive_bytes[r] > 0)
        require_nccl(ncclRecv(receive + receive_begin[r], receive_bytes[r], ncclUint8, peer,
                              m_group, stream()),
                     "ncclRecv");
    }
    require_nccl(ncclGroupEnd(), "ncclGroupEnd");
    auto const me = static_cast<std::size_t>(m_rank);
    copy(receive + receive_begin[me], send + send_begin[me], send_bytes[me]);
  }
  /// Copies bytes within this rank's memory.
  void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) const {
    if (bytes > 0 && to != from &&
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()) != cudaSuccess)
      throw std::runtime_error("karpos: a copy between arrays failed: see what the driver says");
  }

 private:
  cudaStream_t stream() const { return m_exec.cuda_stream(); }
  static ncclRedOp_t operation(reduction_kind op) {
    return op == reduction_kind::min ? ncclMin : op == reduction_kind::max ? ncclMax : ncclSum;
  }
  static ncclDataType_t type_of(number_kind kind) {
    switch (kind) {
      case number_kind::i8:
        return ncclInt8;
      case number_kind::u8:
        return ncclUint8;
      case number_kind::i32:
        return ncclInt32;
      case number_kind::u32:
        return ncclUint32;
      case number_kind::i64:
        return ncclInt64;
      case number_kind::u64:
        return ncclUint64;
      case number_kind::f32:
        return ncclFloat32;
      default:
        return ncclFloat64;
    }
  }

  Kokkos::Cuda m_exec;
  int m_rank;
  int m_exceptions = std::uncaught_exceptions();
  ncclComm_t m_group = nullptr;
};

}  // namespace karpos::device::cuda

#endif  // KOKKOS_ENABLE_CUDA
#endif  // KARPOS_HAS_NCCL
