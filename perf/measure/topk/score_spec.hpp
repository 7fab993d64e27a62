// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace karpos::perf {

/// Describes scores that are generated instead of read: m objects, each with a score in n lists.
///
///   uniform:m=1e7,n=4          independent, uniform in (0, 1)
///   correlated:m=1e7,n=4       all scores of an object are close to one number; at most 15 lists
///   anticorrelated:m=1e7,n=4   all objects have about the same sum: high in one, low in another
///   zipf:m=1e7,n=4,s=1         1 / rank^s with a rank uniform in (1, m), independent
///
/// Source: the distributions of Börzsönyi, Kossmann, Stocker, "The skyline operator", ICDE 2001,
/// and Zipf's law.
struct score_spec {
  enum class families { uniform, correlated, anticorrelated, zipf };

  families family = families::uniform;
  std::uint64_t objects = 1000000;
  int lists = 4;
  double exponent = 1;  ///< zipf
  std::uint64_t seed = 1;
};

/// Parses a spec. Throws std::invalid_argument that lists the valid ones, for an unknown name or
/// key or a value out of range.
score_spec parse_score_spec(std::string const& text);

/// Returns the whole spec but its seed, defaults included; parse_score_spec accepts the result.
std::string to_string(score_spec const& spec);

}  // namespace karpos::perf
