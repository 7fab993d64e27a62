// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/vertex_names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "perf/measure/support/nearest_word.hpp"

namespace karpos::perf {

std::optional<std::uint64_t> plain_number(std::string_view word) {
  std::uint64_t value = 0;
  if (word.empty() || (word[0] == '0' && word.size() > 1)) return {};
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value >= number_limit) return {};
  return value;
}

vertex_names::vertex_names(std::vector<std::uint64_t> numbers, std::vector<std::uint64_t> ends,
                           std::string text)
    : m_numbers(std::move(numbers)),
      m_ends(std::move(ends)),
      m_text(std::move(text)),
      m_blanks(m_text.find(' ') != m_text.npos) {}

std::string_view vertex_names::word(std::uint64_t vertex) const {
  std::uint64_t const i = vertex - m_numbers.size();
  std::uint64_t const begin = i == 0 ? 0 : m_ends[i - 1];
  return std::string_view(m_text).substr(begin, m_ends[i] - begin);
}

std::optional<std::uint64_t> vertex_names::find(std::string_view name) const {
  if (auto const value = plain_number(name)) {
    auto const at = std::lower_bound(m_numbers.begin(), m_numbers.end(), *value);
    if (at == m_numbers.end() || *at != *value) return {};
    return static_cast<std::uint64_t>(at - m_numbers.begin());
  }
  std::uint64_t first = m_numbers.size(), last = size();
  while (first < last) {
    std::uint64_t const middle = first + (last - first) / 2;
    (word(middle) < name ? first : last) = word(middle) < name ? middle + 1 : middle;
  }
  if (first == size() || word(first) != name) return {};
  return first;
}

std::string vertex_names::nearest(std::string const& name) const {
  constexpr std::size_t max_candidates = std::size_t(1)
                                         << 20;  // to compare with, which takes about a second
  std::size_t const slack = std::max<std::size_t>(1, name.size() / 3);
  std::vector<std::string> candidates;
  for (std::uint64_t v = m_numbers.size(); v < size() && candidates.size() < max_candidates; ++v)
    if (word(v).size() + slack >= name.size() && word(v).size() <= name.size() + slack)
      candidates.emplace_back(word(v));
  return nearest_word(name, candidates);
}

}  // namespace karpos::perf
