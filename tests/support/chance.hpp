// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How often a test tries its luck.
#include <cstdint>

namespace karpos_test {

/// n, but an eighth of it in everyday builds without optimisation or under the address sanitizer, where a row costs up to
/// thirty times as much: for numbers of rows and operations that are large for the sake of chance alone.
constexpr std::uint64_t rows_for_luck(std::uint64_t n) {
#if KARPOS_FULL_TESTS || (defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__))
  return n;
#else
  return n / 8;
#endif
}

}  // namespace karpos_test
