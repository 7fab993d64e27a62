// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Describes rows that are generated instead of read: each has a key, and a value from 0 to 15.
///
///   uniform:rows=2^26,distinct=1e7         all `distinct` keys are equally likely
///   zipf:rows=2^26,distinct=1e7,s=1        the k-th key is about 1 / k^s as likely as the first
///
/// Some of the `distinct` keys may not occur.
struct row_spec {
  enum class families { uniform, zipf };

  families family = families::uniform;
  std::uint64_t rows = std::uint64_t(1) << 24;
  std::uint64_t distinct = 1000000;
  double exponent = 1;  ///< zipf
  std::uint64_t seed = 1;
};

/// Parses a spec. Throws std::invalid_argument that lists the valid ones, for an unknown name or
/// key or a value out of range.
row_spec parse_row_spec(std::string const& text);

/// Returns the whole spec but its seed, defaults included; parse_row_spec accepts the result.
std::string to_string(row_spec const& spec);

}  // namespace karpos::perf
