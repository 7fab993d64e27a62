// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/device/memory.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/table_options.hpp"

// The memory that one call works in.

namespace karpos::detail {

/// Returns whether the caller gave memory. A pointer without bytes, as an empty view has, is none.
inline bool is_given(wrapped_memory const& memory) {
  return memory.data != nullptr && memory.bytes > 0;
}

/// Returns whether a call that can do without a workspace may use one of that many bytes. A table
/// that has grown meanwhile may need more bytes than the caller was told.
inline bool can_use_workspace(wrapped_memory const& given, std::size_t bytes) {
  return !is_given(given) ||
         (given.bytes >= bytes &&
          reinterpret_cast<std::uintptr_t>(given.data) % device::line_bytes == 0);
}

/// Returns the memory's range, for require_apart.
inline memory_range range_of(wrapped_memory const& given) {
  auto const* const begin = static_cast<char const*>(given.data);
  return {begin, begin + (begin == nullptr ? 0 : given.bytes)};
}

/// Throws std::invalid_argument if the caller's memory is too small or not aligned. bytes_call: the
/// call that returns its bytes.
inline void require_workspace(char const* bytes_call, wrapped_memory const& given,
                              std::size_t bytes, std::string const& what = "the workspace") {
  if (!is_given(given)) return;
  if (given.bytes < bytes)
    reject(what + " is too small",
           std::to_string(given.bytes) + " bytes for " + std::to_string(bytes),
           std::string("allocate ") + bytes_call);
  if (reinterpret_cast<std::uintptr_t>(given.data) % device::line_bytes != 0)
    reject(what + " is not aligned", "to " + std::to_string(device::line_bytes) + " bytes",
           "align it to that");
}

/// How long memory lives: as long as one call, or as long as an object.
enum class workspace_lifetime { call, object };

/// The caller's memory, or memory of its own. The destructor waits until the kernels that use the
/// memory have run, unless release() was called. A call's own memory comes from a pool, if a device
/// allocates in the order of its work.
template <class ExecSpace>
class workspace {
 public:
  workspace(ExecSpace const& exec, char const* bytes_call, wrapped_memory const& given,
            std::size_t bytes, workspace_lifetime lifetime = workspace_lifetime::call)
      : m_exec(exec),
        m_label(user_call::name()) {
    require_workspace(bytes_call, given, bytes);
    m_data = is_given(given) ? static_cast<std::byte*>(given.data) : allocate(bytes, lifetime);
  }
  std::byte* data() const { return m_data; }
  /// Waits until the kernels that use the memory have run, if it is its own.
  void finish() const {
    if (m_array.data() != nullptr || m_pooled != nullptr) m_exec.fence(why());
    release();
  }
  /// Lets memory of its own be freed when the kernels that use it have run. Waits for them only if
  /// the memory is not of the pool.
  void release() const {
    if (m_pooled != nullptr)
      m_pooled->is_released = true;
    else if (m_array.data() != nullptr)
      m_exec.fence(why());
  }

 private:
  struct pooled_memory {
    ExecSpace exec;
    std::string why;
    device::ordered_memory<ExecSpace> memory;
    bool is_released = false;

    ~pooled_memory() {
      if (!is_released) exec.fence(why);
    }
  };
  std::string why() const { return m_label + ": before its workspace is freed"; }
  std::byte* allocate(std::size_t bytes, workspace_lifetime lifetime) {
    using memory_space = typename ExecSpace::memory_space;
    std::string const label = m_label + ": workspace";
    if constexpr (device::has_ordered_memory<ExecSpace>) {
      if (lifetime == workspace_lifetime::call) {
        m_pooled = std::shared_ptr<pooled_memory>(
            new pooled_memory{m_exec, why(), {m_exec, label, bytes}});
        if (std::byte* const data = m_pooled->memory.data()) return data;
        m_pooled = nullptr;
      }
    }
    m_array =
        allocate_byte_array<memory_space>(m_exec, label, bytes, "its workspace", "pass fewer rows");
    return m_array.data();
  }

  ExecSpace m_exec;
  std::string m_label;
  std::shared_ptr<pooled_memory> m_pooled;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_array;
  std::byte* m_data = nullptr;
};

/// Returns a workspace for a call that can do without one; nothing if there is no usable memory.
template <class ExecSpace>
std::optional<workspace<ExecSpace>> try_workspace(ExecSpace const& exec,
                                                  wrapped_memory const& given, std::size_t bytes) {
  if (!can_use_workspace(given, bytes)) return {};
  try {
    return workspace<ExecSpace>(exec, "", given, bytes);
  } catch (allocation_error const&) {
    return {};
  }
}

}  // namespace karpos::detail
