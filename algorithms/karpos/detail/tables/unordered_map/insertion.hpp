// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_UnorderedMap.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"
#include "karpos/outcome.hpp"

// The result of an insertion, and what inserting a key that is already stored does with its value.

namespace karpos::detail::unordered_map {

/// The outcome of an insertion, the index of the key, and the number of buckets probed.
struct place {
  outcome what;
  std::uint64_t index;
  std::uint32_t buckets;  ///< probed
};
/// Returns p as Kokkos' result of an insertion. Its list position is the number of buckets probed
/// before the last one, or 0 for a failure. Sets the outcome last, so that compilers drop the count
/// if the caller does not read it.
KOKKOS_INLINE_FUNCTION Kokkos::UnorderedMapInsertResult result_of(place const& p) {
  Kokkos::UnorderedMapInsertResult result;
  auto const index = static_cast<std::uint32_t>(p.index);
  if (p.what == outcome::inserted) {
    for (std::uint32_t b = 1; b < p.buckets; ++b) result.increment_list_position();
    result.set_success(index);
  } else if (p.what == outcome::existing) {
    for (std::uint32_t b = 1; b < p.buckets; ++b) result.increment_list_position();
    result.set_existing(index, false);
  }
  return result;
}

/// An operation with Kokkos' interface: op.op(values, index, value), where the stored value is
/// values(index), or at values.data() + index.
template <class Op, class Values, class Value>
concept indexed_op =
    requires(Op const& op, Values const& values, Value const& v) { op.op(values, 0u, v); };

/// Replaces *at by op(*at, value) atomically.
template <class Value, class Op>
KOKKOS_FUNCTION void combine_value(Value* at, Value const& value, Op const& op) {
  if constexpr (std::is_same_v<Op, plus>) {
    Kokkos::atomic_add(at, value);
  } else {
    static_assert(
        sizeof(Value) == 4 || sizeof(Value) == 8,
        "karpos: op(stored, value) is for values of four or eight bytes, plus for all that "
        "Kokkos::atomic_add takes; others change them by op.op(values, index, value)");
    using bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    auto* const word = reinterpret_cast<bits*>(at);
    bits seen = device::load_relaxed(word);
    for (;;) {
      bits const before = device::compare_and_swap(
          word, seen, to_bits<bits>(static_cast<Value>(op(from_bits<Value>(seen), value))));
      if (before == seen) return;
      seen = before;
    }
  }
}

/// Applies an operation of either interface to the stored value at an index. An operation with
/// Kokkos' interface gets a view whose element `index` is this value. Our values are not
/// contiguous, so no other element of the view is a value.
template <class Device, class Value, class Op>
KOKKOS_FUNCTION void apply_op(Value* at, std::uint64_t index, Value const& value, Op const& op) {
  using values_view = Kokkos::View<Value*, Device>;
  if constexpr (std::is_same_v<Op, keep_stored>) {
    return;
  } else if constexpr (indexed_op<Op, values_view, Value>) {
    auto const narrow = static_cast<std::uint32_t>(index);  // Kokkos' indices have 32 bits
    auto const origin = reinterpret_cast<std::uintptr_t>(at) - narrow * sizeof(Value);
    op.op(values_view(reinterpret_cast<Value*>(origin), std::size_t(narrow) + 1), narrow, value);
  } else {
    device::order_used_reads();
    combine_value(at, value, op);
  }
}

}  // namespace karpos::detail::unordered_map
