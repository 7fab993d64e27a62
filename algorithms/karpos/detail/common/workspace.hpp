// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
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

/// The caller's memory, or memory of its own. It lives until its users have run.
template <class ExecSpace>
class workspace {
 public:
  workspace(ExecSpace const& exec, workspace_user const& user, wrapped_memory const& given,
            std::size_t bytes)
      : m_exec(exec),
        m_label(std::string("karpos::") + user.name) {
    if (!is_given(given)) {
      m_own = allocate_byte_array<typename ExecSpace::memory_space>(
          exec, m_label + ": workspace", bytes, (m_label + "'s workspace").c_str(),
          "pass fewer rows");
      m_data = m_own.data();
      return;
    }
    require_workspace(user, given, bytes);
    m_data = static_cast<std::byte*>(given.data);
  }
  std::byte* data() const { return m_data; }
  /// Waits before its own memory is freed.
  void finish() const {
    if (m_own.data() != nullptr) m_exec.fence(m_label + ": before its workspace is freed");
  }

 private:
  ExecSpace m_exec;
  std::string m_label;
  Kokkos::View<std::byte*, typename ExecSpace::memory_space> m_own;
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
