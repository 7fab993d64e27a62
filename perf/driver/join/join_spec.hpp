// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Two tables that are made instead of read, of one column of keys each:
///
///   join:left=2^27,right=2^27,multiplicity=1,match=0.5,skew=zipf:1
///
/// Each key of the right table stands in so many of its rows (in fewer, if that does not divide them). Each left row has one of
/// these keys with the chance `match`, and else a key of its own. Which of them: skew=uniform, each is as likely as any other;
/// skew=zipf:s, the k-th is about 1 over the power s of k as likely as the first.
struct join_spec {
  std::uint64_t left = std::uint64_t(1) << 24, right = std::uint64_t(1) << 24;
  std::uint64_t multiplicity = 1;
  double match = 0.5;
  double skew = 0;  ///< the exponent; 0: uniform
  std::uint64_t seed = 1;

  /// Different keys of the right table.
  std::uint64_t keys() const { return (right + multiplicity - 1) / multiplicity; }
};

/// Throws std::invalid_argument that lists what exists: for an unknown name or key, a value out of range.
join_spec parse_join_spec(std::string const& text);

/// The whole of a spec but for its seed, defaults included; parse_join_spec reads it back.
std::string to_string(join_spec const& spec);

}  // namespace karpos::perf
