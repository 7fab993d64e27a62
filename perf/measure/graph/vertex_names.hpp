// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

/// The limit below which words in the form of std::to_string are numbers that stand for themselves.
inline constexpr std::uint64_t number_limit = std::uint64_t(1) << 62;

/// Returns the number that a word is, if it is below number_limit; "007" is not one.
std::optional<std::uint64_t> plain_number(std::string_view word);

/// The names of a file's vertices: numbers in ascending order, then words in byte order. A vertex
/// without a name is named by its number.
class vertex_names {
 public:
  vertex_names() = default;
  /// Takes the numbers and the words; word i ends before ends[i] in the text.
  vertex_names(std::vector<std::uint64_t> numbers, std::vector<std::uint64_t> ends,
               std::string text);

  bool empty() const { return size() == 0; }
  std::uint64_t size() const { return m_numbers.size() + m_ends.size(); }
  std::uint64_t words() const { return m_ends.size(); }
  /// Returns whether a word contains a blank.
  bool blanks() const { return m_blanks; }

  bool is_word(std::uint64_t vertex) const { return vertex >= m_numbers.size() && vertex < size(); }
  std::uint64_t number(std::uint64_t vertex) const {
    return vertex < m_numbers.size() ? m_numbers[vertex] : vertex;
  }
  std::string_view word(std::uint64_t vertex) const;
  std::string operator[](std::uint64_t vertex) const {
    return is_word(vertex) ? std::string(word(vertex)) : std::to_string(number(vertex));
  }

  /// Returns the vertex with that name.
  std::optional<std::uint64_t> find(std::string_view name) const;
  /// Returns the most similar name, or nothing. Compares names of about the same length only.
  std::string nearest(std::string const& name) const;

 private:
  std::vector<std::uint64_t> m_numbers, m_ends;
  std::string m_text;
  bool m_blanks = false;
};

}  // namespace karpos::perf
