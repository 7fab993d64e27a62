// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How many rows and operations a test by chance uses.
#include <cstdint>

namespace karpos_test {

/// Returns n, or n / 8 in everyday builds without optimisation or with the address sanitizer, where
/// a row costs up to thirty times as much. For numbers of rows and operations that are large only
/// so that rare events happen.
constexpr std::uint64_t rows_for_random_test(std::uint64_t n) {
#if KARPOS_FULL_TESTS || (defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__))
  return n;
#else
  return n / 8;
#endif
}

}  // namespace karpos_test
