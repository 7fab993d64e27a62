// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How often a test tries its luck.
#include <cstdint>

namespace karpos_test {

/// n, but an eighth of it in everyday builds without optimisation, as those of the sanitizers are, where a row costs ten to
/// thirty times as much: for numbers of rows and operations that are large for the sake of chance alone.
constexpr std::uint64_t rows_for_luck(std::uint64_t n) {
#if defined(__OPTIMIZE__) || KARPOS_FULL_TESTS
  return n;
#else
  return n / 8;
#endif
}

}  // namespace karpos_test
