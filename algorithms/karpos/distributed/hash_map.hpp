// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "karpos/concepts.hpp"
#include "karpos/distributed/hash_table.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_map.hpp"

// distributed::hash_map. Its operations are in karpos/distributed/hash_table.hpp.

namespace karpos::distributed {

/// Hash map over ranks: every rank has a karpos::hash_map of the keys that it owns.
///
/// Complexity: an operation is a partition of the caller's keys, one exchange (and one back if
///   there are answers), and the operation of the local table on what a rank receives.
/// Source: Jünger, Kobus, Müller, et al., "WarpCore", HiPC 2020, for tables that devices share.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
using hash_map = hash_table<karpos::hash_map<Key, T, ExecSpace, Hash, KeyEqual>>;

}  // namespace karpos::distributed
