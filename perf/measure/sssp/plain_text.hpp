// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace karpos::perf {

/// Returns whether x is an integer of at most 2^53 in magnitude, up to which doubles represent all
/// integers.
inline bool is_exact_integer(double x) { return std::abs(x) <= 0x1p53 && x == std::floor(x); }

/// Returns the text of a weight or distance: the digits of an integer, or the fewest digits that
/// parse as x.
inline std::string plain_text(double x) {
  if (is_exact_integer(x)) return std::to_string(static_cast<std::int64_t>(x));
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), x).ptr};
}

}  // namespace karpos::perf
