// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/hash_map.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perf/driver/bfs/vertex_names.hpp"
#include "perf/graph/edge_list.hpp"
#include "perf/support/space.hpp"

namespace karpos::perf {

/// Gives what a file calls its vertices the numbers 0, 1, …, so that none is without an edge. A hash_map where the driver
/// runs holds the number of each name by its key: a number is its own, a word's is a hash, and words are compared, so
/// that the few of one hash differ all the same.
///
/// Throws: allocation_error; std::length_error above 2^32 names.
/// Memory: the map, 16-byte slots for up to twice as many names as there are; 8 bytes a name; the words.
class vertex_numbers {
 public:
  explicit vertex_numbers(space const& exec);

  std::uint64_t size() const { return m_codes.size(); }

  /// Writes a number for each word, those of new ones without gaps, in no order that is told.
  void number(std::vector<std::string_view> const& words, std::uint32_t* numbers);
  /// Puts numbers in the place of ids, the smallest of which the file calls first_id.
  void replace(std::vector<std::uint32_t>& ids, std::uint64_t first_id);

  /// Numbers anew in the order of vertex_names, also in the list. Returns: the names. The object is empty then.
  vertex_names finish(edge_list& list);

 private:
  using map_type = hash_map<std::uint64_t, std::uint64_t, space>;

  void make_room(std::uint64_t names);
  void number_keys(std::uint64_t n, std::string_view const* words, std::uint32_t* numbers);
  std::uint64_t take_new(std::uint64_t n, std::string_view const* words, std::uint32_t* numbers);
  void tell_apart(std::uint64_t n, std::string_view const* words, std::uint32_t* numbers);
  std::uint32_t add_word(std::string_view word);
  bool is_word(std::uint32_t number) const { return m_codes[number] >= number_limit; }
  std::string_view word_of(std::uint32_t number) const;
  bool comes_before(std::uint32_t a, std::uint32_t b) const;
  vertex_names names_in(std::vector<std::uint32_t> const& order) const;

  space m_exec;
  map_type m_map;  ///< key to number; for a moment first_tag + i of a new key, the i-th of a part
  array<std::uint64_t> m_keys, m_values, m_tags;
  array<std::uint64_t>::host_mirror_type m_host_keys, m_host_values;
  std::vector<std::uint64_t> m_codes;  ///< by number: a number, or number_limit + place of a word
  std::vector<std::uint64_t> m_ends;   ///< of the words in m_text
  std::string m_text;
  std::unordered_map<std::string, std::uint32_t> m_collided;  ///< words whose key another one has
};

}  // namespace karpos::perf
