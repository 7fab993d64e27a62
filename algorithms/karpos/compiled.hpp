// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/compiled/bfs.hpp"
#include "karpos/compiled/hash_map.hpp"
#include "karpos/compiled/join.hpp"
#include "karpos/compiled/reduce_by_key.hpp"
#include "karpos/compiled/sssp.hpp"
#include "karpos/compiled/top_k.hpp"
#include "karpos/compiled/types.hpp"

// Calls that are compiled once, in the library karpos::compiled (CMake: KARPOS_ENABLE_COMPILED=ON),
// not in every source that uses them. These headers include no implementation. docs/compiled.md.
//
// - Calls: the bulk operations of hash_map; reduce_by_key and count_by_key; join by one column; bfs
//   and sssp from one source; top_k by weighted sums.
// - Names and contracts are those of karpos::; the headers of the same names have them in full. A
//   call of this namespace takes views, or what converts to them, in the memory of its execution
//   space, Kokkos::DefaultExecutionSpace. For arrays on the host use karpos.h, which copies them.
// - Keys are std::int32_t, std::uint32_t, std::int64_t or std::uint64_t; values also float or
//   double. docs/compiled.md has the types of graphs and lists. Other types do not compile:
//   include the header of the implementation instead.
// - Types of one size share code: keys are compared, and values stored, by their bits.
// - karpos.h is a C interface to these calls.
