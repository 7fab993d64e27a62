// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/tables/placement.hpp"
#include "karpos/hash_table.hpp"

// Kernels that insert into a table which grows: ref() of a table cannot grow, and says `full`; the
// host enlarges the table, and runs what was left again.

namespace karpos {

/// Calls f(ref, i) in a kernel, for i in [0, n), with a ref of the table. If the table has no slot
/// for some keys, enlarges it and calls f again for the indices that were not placed, until all
/// are.
///
/// f inserts by the ref as often as it likes, and returns an outcome or a map_result, as ref.insert
/// and ref.find_or_insert do. outcome::full says that i is not placed: f has to return it if one of
/// its insertions did. Then f is called for i again, with another ref; keys that it inserted before
/// are found. So f merges no values and writes no results before the last of its insertions that
/// may say full. If f returns anything else, it is not called again for i.
///
///   karpos::for_each_until_placed(exec, map, edges.extent(0),
///       KOKKOS_LAMBDA(decltype(map)::ref_type const& ref, std::uint64_t e) {
///         auto const r = ref.find_or_insert(edges(e), e);
///         if (r.outcome != karpos::outcome::full) midpoint(e) = r.value;
///         return r;
///       });
///
/// Returns: how often an index was put off; one that was put off twice counts twice. Blocks.
/// Complexity: n calls, and one more for each time that an index found no slot. If the table may
///   grow, about as many indices as it has free slots run at once: more are put off if f inserts
///   several keys. When a call has found no slot, calls that have not begun are put off: few
///   threads search a full table. Afterwards size, apply and insertions of the table may count its
///   slots, as after ref() (hash_table.hpp).
/// Requires: f obeys operations.hpp, except that it may use the table by its ref. The keys that f
///   inserts for an index are the same in every call.
/// Concurrency: as blocking insertions; refs from before are invalid if the table grows.
/// Memory: 16 bytes for each index taken at once, and what growth takes.
/// Throws: capacity_error if the table is full and does not grow (growth::fixed, the default of
///   hash_map and hash_set), or has grown to 16 slots a key: some indices have been placed then,
///   and others not. allocation_error.
template <execution_space ExecSpace, class Storage, class F>
std::uint64_t for_each_until_placed(ExecSpace const& exec, hash_table<Storage>& table,
                                    std::uint64_t n, F const& f) {
  using ref = typename hash_table<Storage>::ref_type;
  static_assert(std::is_same_v<ExecSpace, typename hash_table<Storage>::execution_space>,
                "karpos: bulk calls take an instance of the container's execution space first");
  static_assert(
      requires(ref const& t, std::uint64_t i) { detail::outcome_of(f(t, i)); },
      "karpos: this function is called as f(ref, i), const, and returns an outcome or a "
      "map_result");
  detail::user_call const call("for_each_until_placed");
  return detail::insertion_access::place(exec, table, n, f);
}

}  // namespace karpos
