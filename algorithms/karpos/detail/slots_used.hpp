// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace karpos::detail {

/// Whether bulk insertions into a full table rehash it: a storage says so by a constant of that name.
template <class Storage>
inline constexpr bool grows = requires { requires Storage::grows; };
/// Whether erased slots stay tombstones, which no insertion takes, until the table is compacted.
template <class Storage>
inline constexpr bool has_tombstones = requires { requires Storage::has_tombstones; };

/// What the host knows of the slots of a table: how many may have been taken, live or erased since, and whether there may
/// be tombstones. Kernels that use a ref change both unseen, so this decides when compacting pays, never what is right.
struct slots_used {
  std::uint64_t most = 0;
  bool erased = false;
  std::uint64_t live = 0;  ///< keys that are in
  bool exact = true;       ///< whether `live` is that: only calls that wait have changed the table

  /// What a call that waits has done.
  void inserted(std::uint64_t n) {
    most += n;
    live += n;
  }
  void removed(std::uint64_t n) {
    erased = erased || n != 0;
    live -= n;
  }
  /// What a kernel that was only enqueued may do.
  void may_insert(std::uint64_t n) {
    most += n;
    exact = false;
  }
  void may_erase() {
    erased = true;
    exact = false;
  }
};

}  // namespace karpos::detail
