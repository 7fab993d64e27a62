// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

namespace karpos::device {

/// Address of a word in the scratch of a team, a type of its own because GPUs have other instructions for shared
/// memory. It takes these calls of atomics.hpp: load_relaxed, set_bits, add, fetch_add, compare_and_swap, as pointers to
/// global memory do; exchange and fetch_max, which those lack; of 8 bytes load_relaxed, add and compare_and_swap. Stores are plain
/// ones, between barriers of the team.
template <class Word>
struct scratch_pointer {
  Word* address;
};

/// The word at p as a word of scratch: fetch_add(scratch(p), 1).
template <class Word>
KOKKOS_FUNCTION constexpr scratch_pointer<Word> scratch(Word* p) {
  return {p};
}

}  // namespace karpos::device
