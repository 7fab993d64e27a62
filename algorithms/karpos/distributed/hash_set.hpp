// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "karpos/concepts.hpp"
#include "karpos/distributed/hash_table.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_set.hpp"

// distributed::hash_set. Its operations are in karpos/distributed/hash_table.hpp.

namespace karpos::distributed {

/// Hash set over ranks: every rank has a karpos::hash_set of the keys that it owns.
/// Complexity and source: as hash_map (karpos/distributed/hash_map.hpp).
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>>
using hash_set = hash_table<karpos::hash_set<Key, ExecSpace, Hash, KeyEqual>>;

}  // namespace karpos::distributed
