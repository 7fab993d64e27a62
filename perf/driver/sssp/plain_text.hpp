// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace karpos::perf {

/// Whether a double is an integer that all doubles around it tell apart.
inline bool is_exact_integer(double x) { return std::abs(x) <= 0x1p53 && x == std::floor(x); }

/// A weight or a distance: the digits of an integer, or the fewest digits that are read back as the number.
inline std::string plain_text(double x) {
  if (is_exact_integer(x)) return std::to_string(static_cast<std::int64_t>(x));
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), x).ptr};
}

}  // namespace karpos::perf
