// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <karpos/hash_map.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perf/measure/graph/edge_list.hpp"
#include "perf/measure/graph/vertex_names.hpp"
#include "perf/measure/support/space.hpp"

namespace karpos::perf {

/// Numbers the names of a file's vertices 0, 1, …, without gaps. A hash_map in the driver's
/// execution space stores the number of each name by the name's key. The key of a number is the
/// number itself, that of a word is a hash. Words are compared, so that words with equal hashes get
/// different numbers.
///
/// Throws: allocation_error; std::length_error above 2^32 names.
/// Memory: the map, 16-byte slots for up to twice the number of names; 8 bytes per name; the words.
class vertex_numbers {
 public:
  explicit vertex_numbers(space const& exec);

  std::uint64_t size() const { return m_codes.size(); }

  /// Writes a number for each word. New words get numbers without gaps, in unspecified order.
  void number(std::vector<std::string_view> const& words, std::uint32_t* numbers);
  /// Replaces ids by numbers. first_id is the file's name for id 0.
  void replace(std::vector<std::uint32_t>& ids, std::uint64_t first_id);

  /// Renumbers all names in the order of vertex_names, also in the list. Returns the names, and
  /// leaves this object empty.
  vertex_names finish(edge_list& list);

 private:
  using map_type = hash_map<std::uint64_t, std::uint64_t, space>;

  void reserve(std::uint64_t names);
  void number_keys(std::uint64_t n, std::string_view const* words, std::uint32_t* numbers);
  std::uint64_t number_new_keys(std::uint64_t n, std::string_view const* words,
                                std::uint32_t* numbers);
  void resolve_collisions(std::uint64_t n, std::string_view const* words, std::uint32_t* numbers);
  std::uint32_t add_word(std::string_view word);
  bool is_word(std::uint32_t number) const { return m_codes[number] >= number_limit; }
  std::string_view word_of(std::uint32_t number) const;
  bool precedes(std::uint32_t a, std::uint32_t b) const;
  vertex_names names_in(std::vector<std::uint32_t> const& order) const;

  space m_exec;
  map_type m_map;  ///< key to number; temporarily first_tag + i for a new key, the i-th of a batch
  array<std::uint64_t> m_keys, m_values, m_tags;
  array<std::uint64_t>::host_mirror_type m_host_keys, m_host_values;
  std::vector<std::uint64_t> m_codes;  ///< by number: a number, or number_limit + index of a word
  std::vector<std::uint64_t> m_ends;   ///< of the words in m_text
  std::string m_text;
  /// Words whose key belongs to another word.
  std::unordered_map<std::string, std::uint32_t> m_collided;
};

}  // namespace karpos::perf
