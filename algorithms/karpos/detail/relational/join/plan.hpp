// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "karpos/detail/common/arrays.hpp"

// The memory in which a join keeps its matches.

namespace karpos::detail::join {

template <class RowNumber>
struct arrays {
  RowNumber* begins;          // of the run of each left row
  std::uint64_t* offsets;     // of each left row in the output
  std::uint64_t* candidates;  // of each left row among all candidates, for a predicate
  std::uint32_t* marks;       // of right rows, or of their runs
  std::size_t bytes;

  arrays(std::uint64_t left, std::uint64_t right, bool marks_right, bool has_predicate,
         std::byte* memory = nullptr) {
    arena a(memory);
    a.allocate(begins, left);
    a.allocate(offsets, left + 1);
    a.allocate(candidates, has_predicate ? left + 1 : 0);
    a.allocate(marks, marks_right ? right : 0);
    bytes = a.bytes();
  }
};

/// A bit for each candidate, in words, and the number of accepted candidates before each word.
struct candidate_bits {
  std::uint64_t *bits, *ranks;
  std::uint64_t words;
  std::size_t bytes;

  explicit candidate_bits(std::uint64_t candidates, std::byte* memory = nullptr)
      : words(candidates / 64 + 1) {
    arena a(memory);
    a.allocate(bits, words);
    a.allocate(ranks, words + 1);
    bytes = a.bytes();
  }
};

}  // namespace karpos::detail::join
