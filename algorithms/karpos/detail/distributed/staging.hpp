// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "karpos/detail/arrays.hpp"

namespace karpos::detail::distributed {

/// Memory on the host through which data of a device travels, where the engine takes none of a device. It grows, and is kept
/// from call to call. Other data is passed as it is.
template <class ExecSpace>
class staging {
  template <class Space>
  using bytes_in = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;

 public:
  explicit staging(bool takes_device_memory = false) : m_takes_device_memory(takes_device_memory) {}

  /// Returns: where an engine finds these bytes of a memory space, or room for as many. Waits for exec.
  template <class MemorySpace>
  std::byte* at(ExecSpace const& exec, void const* data, std::uint64_t bytes, bool filled) {
    auto* const here = static_cast<std::byte*>(const_cast<void*>(data));
    if constexpr (!on_host<MemorySpace>) {
      if (!m_takes_device_memory && bytes > 0) {
        if (m_bytes.extent(0) < bytes)
          m_bytes = allocated_bytes<Kokkos::HostSpace>(
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
  /// Brings back what an engine has written to room for these bytes. Waits.
  template <class MemorySpace>
  void finish(ExecSpace const& exec, void* data, std::uint64_t bytes) const {
    if constexpr (!on_host<MemorySpace>) {
      if (m_takes_device_memory || bytes == 0) return;
      Kokkos::deep_copy(exec, bytes_in<MemorySpace>(static_cast<std::byte*>(data), bytes),
                        bytes_in<Kokkos::HostSpace>(m_bytes.data(), bytes));
      exec.fence("karpos::communicator: what was received");
    }
  }

 private:
  template <class MemorySpace>
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  bool m_takes_device_memory;
  Kokkos::View<std::byte*, Kokkos::HostSpace> m_bytes;
};

}  // namespace karpos::detail::distributed
