// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Macros.hpp>

namespace karpos::device {

/// The address of a word in the scratch of a team (CUDA: a block's shared memory). It is a type of
/// its own because GPUs have other instructions for shared memory. The calls of atomics.hpp that
/// take it are listed there. There is no atomic store: store through the plain pointer, with a
/// barrier of the team before and after.
template <class Word>
struct scratch_pointer {
  Word* address;
};

/// Returns the word at p as a word of scratch: fetch_add(scratch(p), 1).
template <class Word>
KOKKOS_FUNCTION constexpr scratch_pointer<Word> scratch(Word* p) {
  return {p};
}

}  // namespace karpos::device
