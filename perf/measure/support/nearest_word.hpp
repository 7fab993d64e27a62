// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// Returns the candidate nearest to a mistyped word by edit distance, or an empty string if none is
/// near.
std::string nearest_word(std::string const& word, std::vector<std::string> const& candidates);

}  // namespace karpos::perf
