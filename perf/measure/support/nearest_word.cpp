// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/support/nearest_word.hpp"

#include <algorithm>
#include <numeric>

namespace karpos::perf {
namespace {

/// Returns the number of characters to insert, remove, change, or swap with the next one (optimal
/// string alignment).
std::size_t edit_distance(std::string const& a, std::string const& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_word(std::string const& word, std::vector<std::string> const& candidates) {
  if (word.size() < 3) return {};
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (std::string const& candidate : candidates) {
    std::size_t const distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  if (!nearest.empty()) return nearest;
  auto const begins = [&](std::string const& candidate) { return candidate.rfind(word, 0) == 0; };
  auto const found = std::find_if(candidates.begin(), candidates.end(), begins);
  return found == candidates.end() ? "" : *found;
}

}  // namespace karpos::perf
