// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace karpos::perf {

/// The candidate that a mistyped word may mean, by edit distance. Returns: an empty string if none is near.
std::string nearest_word(std::string const& word, std::vector<std::string> const& candidates);

}  // namespace karpos::perf
