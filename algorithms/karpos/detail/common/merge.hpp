// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "karpos/device/atomics.hpp"
#include "karpos/hash.hpp"
#include "karpos/operations.hpp"

namespace karpos::detail {

/// Merges a value into the one whose bits are a word of a team's scratch (a block's shared memory),
/// while other threads of the team do so, too.
template <class Word, class T, class Op>
KARPOS_STEP_FUNCTION void merge_in_scratch(Word* at, T const& value, Op const& op) {
  if constexpr (std::is_same_v<Op, plus> && std::is_integral_v<T>) {
    device::add(device::scratch(at), to_bits<Word>(value));
  } else {
    Word old = device::load_relaxed(device::scratch(at));
    for (;;) {
      Word const merged = to_bits<Word>(static_cast<T>(op(from_bits<T>(old), value)));
      if (merged == old) return;
      Word const found = device::compare_and_swap(device::scratch(at), old, merged);
      if (found == old) return;
      old = found;
    }
  }
}

}  // namespace karpos::detail
