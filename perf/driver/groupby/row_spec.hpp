// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Rows that are made instead of read: a key and a value of 0 to 15 each.
///
///   uniform:rows=2^26,distinct=1e7         each of so many keys is as likely as any other
///   zipf:rows=2^26,distinct=1e7,s=1        the k-th is about 1 over the power s of k as likely as the first
///
/// Fewer keys than `distinct` may come.
struct row_spec {
  enum class families { uniform, zipf };

  families family = families::uniform;
  std::uint64_t rows = std::uint64_t(1) << 24;
  std::uint64_t distinct = 1000000;
  double exponent = 1;  ///< zipf
  std::uint64_t seed = 1;
};

/// Throws std::invalid_argument that lists what exists: for an unknown name or key, a value out of range.
row_spec parse_row_spec(std::string const& text);

/// The whole of a spec but for its seed, defaults included; parse_row_spec reads it back.
std::string to_string(row_spec const& spec);

}  // namespace karpos::perf
