// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace karpos::perf {

/// Words that are numbers as std::to_string writes them stand for themselves where they are below this.
inline constexpr std::uint64_t number_limit = std::uint64_t(1) << 62;

/// The number that a word is, if it is one below number_limit; "007" is none.
std::optional<std::uint64_t> plain_number(std::string_view word);

/// What a file calls its vertices: numbers in ascending order, then words in the order of their bytes. Vertices without
/// a name are called by their number.
class vertex_names {
 public:
  vertex_names() = default;
  /// Word i of the text ends before ends[i].
  vertex_names(std::vector<std::uint64_t> numbers, std::vector<std::uint64_t> ends,
               std::string text);

  bool empty() const { return size() == 0; }
  std::uint64_t size() const { return m_numbers.size() + m_ends.size(); }
  std::uint64_t words() const { return m_ends.size(); }
  /// Whether a word has a blank in it.
  bool blanks() const { return m_blanks; }

  bool is_word(std::uint64_t vertex) const { return vertex >= m_numbers.size() && vertex < size(); }
  std::uint64_t number(std::uint64_t vertex) const {
    return vertex < m_numbers.size() ? m_numbers[vertex] : vertex;
  }
  std::string_view word(std::uint64_t vertex) const;
  std::string operator[](std::uint64_t vertex) const {
    return is_word(vertex) ? std::string(word(vertex)) : std::to_string(number(vertex));
  }

  /// The vertex that is called so.
  std::optional<std::uint64_t> find(std::string_view name) const;
  /// The name most like it, or nothing. Compares with all of about its length.
  std::string nearest(std::string const& name) const;

 private:
  std::vector<std::uint64_t> m_numbers, m_ends;
  std::string m_text;
  bool m_blanks = false;
};

}  // namespace karpos::perf
