// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"

namespace karpos::detail::distributed {

/// A buffer on the host for data of a device, used if the engine does not accept device memory. It
/// grows, and is kept from call to call. Other data is passed without a copy.
template <class ExecSpace>
class staging {
  template <class Space>
  using bytes_in = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;

 public:
  explicit staging(bool accepts_device_memory = false)
      : m_accepts_device_memory(accepts_device_memory) {}

  /// Returns: an address that an engine accepts for these bytes of a memory space. If `filled`,
  /// copies the bytes there first if needed. Blocks until exec is done.
  template <class MemorySpace>
  std::byte* at(ExecSpace const& exec, void const* data, std::uint64_t bytes, bool filled) {
    auto* const here = static_cast<std::byte*>(const_cast<void*>(data));
    if constexpr (!on_host<MemorySpace>) {
      if (!m_accepts_device_memory && bytes > 0) {
        if (m_bytes.extent(0) < bytes)
          m_bytes = allocate_byte_array<Kokkos::HostSpace>(
              Kokkos::DefaultHostExecutionSpace{}, "karpos::communicator: staging", bytes,
              "an exchange between ranks", "exchange fewer rows at once");
        if (filled)
          Kokkos::deep_copy(exec, bytes_in<Kokkos::HostSpace>(m_bytes.data(), bytes),
                            bytes_in<MemorySpace>(here, bytes));
        exec.fence("karpos::communicator: what is sent");
        return m_bytes.data();
      }
    }
    exec.fence("karpos::communicator: what is sent");
    return here;
  }
  /// Copies bytes that an engine has written to that address back to `data`, if they were staged.
  /// Blocks.
  template <class MemorySpace>
  void finish(ExecSpace const& exec, void* data, std::uint64_t bytes) const {
    if constexpr (!on_host<MemorySpace>) {
      if (m_accepts_device_memory || bytes == 0) return;
      Kokkos::deep_copy(exec, bytes_in<MemorySpace>(static_cast<std::byte*>(data), bytes),
                        bytes_in<Kokkos::HostSpace>(m_bytes.data(), bytes));
      exec.fence("karpos::communicator: what was received");
    }
  }

 private:
  template <class MemorySpace>
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  bool m_accepts_device_memory;
  Kokkos::View<std::byte*, Kokkos::HostSpace> m_bytes;
};

}  // namespace karpos::detail::distributed
