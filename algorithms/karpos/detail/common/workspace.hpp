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
#include "karpos/device/space.hpp"
#include "karpos/device/streaming.hpp"
#include "karpos/table_options.hpp"

// The memory that one call works in.

namespace karpos::detail {

/// The function that uses a workspace, and the call that returns its bytes, for messages.
struct workspace_user {
  char const* name;
  char const* bytes_call;
};

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

/// Throws std::invalid_argument if the caller's memory is too small or not aligned.
inline void require_workspace(workspace_user const& user, wrapped_memory const& given,
                              std::size_t bytes) {
  if (!is_given(given)) return;
  std::string const what = std::string("the workspace of karpos::") + user.name;
  if (given.bytes < bytes)
    reject(what + " is too small",
           std::to_string(given.bytes) + " bytes for " + std::to_string(bytes),
           std::string("allocate ") + user.bytes_call);
  if (reinterpret_cast<std::uintptr_t>(given.data) % device::line_bytes != 0)
    reject(what + " is not aligned", "to " + std::to_string(device::line_bytes) + " bytes",
           "align it to that");
}

/// The caller's memory, or memory of its own. It lives until its users have run. If a device
/// allocates memory in the order of its work, nobody waits for that.
template <class ExecSpace>
class workspace {
 public:
  workspace(ExecSpace const& exec, workspace_user const& user, wrapped_memory const& given,
            std::size_t bytes)
      : m_exec(exec),
        m_label(std::string("karpos::") + user.name) {
    if (!is_given(given)) {
      m_data = allocate(bytes);
      return;
    }
    require_workspace(user, given, bytes);
    m_data = static_cast<std::byte*>(given.data);
  }
  std::byte* data() const { return m_data; }
  /// Waits before its own memory is freed, if it must.
  void finish() const {
    if (m_array.data() != nullptr) m_exec.fence(m_label + ": before its workspace is freed");
  }

 private:
  std::byte* allocate(std::size_t bytes) {
    using memory_space = typename ExecSpace::memory_space;
    std::string const label = m_label + ": workspace", what = m_label + "'s workspace";
    char const* const suggestion = "pass fewer rows";
    if constexpr (device::has_ordered_memory<ExecSpace>) {
      m_ordered = std::make_shared<device::ordered_memory<ExecSpace>>(m_exec, label, bytes);
      if (m_ordered->data() != nullptr) return m_ordered->data();
    }
    m_array = allocate_byte_array<memory_space>(m_exec, label, bytes, what.c_str(), suggestion);
    return m_array.data();
  }

  ExecSpace m_exec;
  std::string m_label;
  std::shared_ptr<device::ordered_memory<ExecSpace>> m_ordered;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_array;
  std::byte* m_data = nullptr;
};

/// Returns a workspace for a call that can do without one; nothing if there is no usable memory.
template <class ExecSpace>
std::optional<workspace<ExecSpace>> try_workspace(ExecSpace const& exec, workspace_user const& user,
                                                  wrapped_memory const& given, std::size_t bytes) {
  if (!can_use_workspace(given, bytes)) return {};
  try {
    return workspace<ExecSpace>(exec, user, given, bytes);
  } catch (allocation_error const&) {
    return {};
  }
}

}  // namespace karpos::detail
