// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/device/space.hpp"

namespace karpos::device {

/// Whether memory can be allocated and freed in the order of an execution space's work.
template <class ExecSpace>
concept has_ordered_memory = requires(ExecSpace const& exec) {
  native_part<ExecSpace>::allocate_in_order(exec, std::size_t());
};

/// Memory of one operation on `exec`. Work that is enqueued after the construction may use it; it
/// is freed when the work enqueued before its destruction has run. The host does not wait for
/// either. The machine keeps freed memory for the next operation, up to a sixteenth of the device's
/// memory.
/// Requires: has_ordered_memory.
template <class ExecSpace>
class ordered_memory {
 public:
  /// Allocates `bytes`. If there is not enough memory, data() is null.
  ordered_memory(ExecSpace const& exec, std::string const& label, std::size_t bytes)
      : m_exec(exec),
        m_label(label),
        m_bytes(bytes),
        m_data(native_part<ExecSpace>::allocate_in_order(exec, bytes > 0 ? bytes : 1)) {
    if (m_data != nullptr) Kokkos::Tools::allocateData(space(), m_label, m_data, m_bytes);
  }
  ~ordered_memory() {
    if (m_data == nullptr) return;
    Kokkos::Tools::deallocateData(space(), m_label, m_data, m_bytes);
    native_part<ExecSpace>::free_in_order(m_exec, m_data);
  }
  ordered_memory(ordered_memory const&) = delete;
  ordered_memory& operator=(ordered_memory const&) = delete;

  std::byte* data() const { return m_data; }

 private:
  static Kokkos::Tools::SpaceHandle space() {
    return Kokkos::Tools::make_space_handle(ExecSpace::memory_space::name());
  }

  ExecSpace m_exec;
  std::string m_label;
  std::size_t m_bytes;
  std::byte* m_data;
};

}  // namespace karpos::device
