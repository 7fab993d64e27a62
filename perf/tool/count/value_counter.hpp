// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "karpos/hash_map.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

using value_count = std::pair<std::uint64_t, std::uint64_t>;

/// Counts the occurrences of each 64-bit value on the device, in a hash map that grows with the
/// number of keys.
class value_counter {
 public:
  explicit value_counter(space const& exec);

  /// Counts the values; they are copied.
  void add(std::vector<std::uint64_t> const& values);
  /// Counts the values that were added and not counted yet.
  void flush();

  std::uint64_t total() const { return m_total; }
  std::uint64_t distinct() const;
  double seconds() const { return m_seconds; }  ///< in counting
  /// Returns the distinct values, in no particular order. Requires: all values were flushed.
  std::vector<value_count> all() const;

 private:
  using map = hash_map<std::uint64_t, std::uint64_t, space>;

  void reserve(std::uint64_t more);

  space m_exec;
  map m_map;
  array<std::uint64_t> m_staged;
  array<std::uint64_t>::host_mirror_type m_host;
  std::uint64_t m_filled = 0, m_total = 0, m_distinct = 0;
  double m_seconds = 0;
  std::array<std::uint64_t, 3>
      m_sentinel_counts{};  ///< counts of 2^64 - 1, - 2 and - 3, which are the map's sentinels
};

/// Keeps the k most frequent values, and of equally frequent ones the smaller ones, according to
/// `smaller`.
template <class Value, class Smaller>
void keep_most_frequent(std::vector<std::pair<Value, std::uint64_t>>& list, std::size_t k,
                        Smaller const& smaller) {
  k = std::min(k, list.size());
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(k), list.end(),
                    [&](auto const& a, auto const& b) {
                      return a.second != b.second ? a.second > b.second : smaller(a.first, b.first);
                    });
  list.resize(k);
}

/// Numbers words in the order of their first occurrence, so that equal words, and only these, get
/// equal numbers. The words must outlive this object.
class dictionary {
 public:
  std::uint64_t number_of(std::string_view word) {
    auto const [at, is_new] = m_numbers.try_emplace(word, m_words.size());
    if (is_new) m_words.push_back(word);
    return at->second;
  }
  std::string_view word(std::uint64_t number) const { return m_words[number]; }

 private:
  std::unordered_map<std::string_view, std::uint64_t> m_numbers;
  std::vector<std::string_view> m_words;
};

}  // namespace karpos::perf
