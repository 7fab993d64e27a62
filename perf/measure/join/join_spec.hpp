// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Describes two tables that are generated instead of read, with one column of keys each:
///
///   join:left=2^27,right=2^27,multiplicity=1,match=0.5,skew=zipf:1
///
/// Each key of the right table is in `multiplicity` of its rows (the last key in fewer, if that
/// does not divide their number). Each left row has one of these keys with probability `match`, and
/// otherwise a key of its own. With skew=uniform all right keys are equally likely; with
/// skew=zipf:s, the k-th is about 1 / k^s as likely as the first.
struct join_spec {
  std::uint64_t left = std::uint64_t(1) << 24, right = std::uint64_t(1) << 24;
  std::uint64_t multiplicity = 1;
  double match = 0.5;
  double skew = 0;  ///< the exponent; 0: uniform
  std::uint64_t seed = 1;

  /// Returns the number of distinct keys of the right table.
  std::uint64_t keys() const { return (right + multiplicity - 1) / multiplicity; }
};

/// Parses a spec. Throws std::invalid_argument that lists the valid ones, for an unknown name or
/// key or a value out of range.
join_spec parse_join_spec(std::string const& text);

/// Returns the whole spec but its seed, defaults included; parse_join_spec accepts the result.
std::string to_string(join_spec const& spec);

}  // namespace karpos::perf
