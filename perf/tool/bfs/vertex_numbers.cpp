// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/bfs/vertex_numbers.hpp"

#include <algorithm>
#include <cstring>
#include <karpos/hash.hpp>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "perf/measure/support/host_memory.hpp"
#include "perf/measure/support/text.hpp"

namespace karpos::perf {
namespace {

/// Keys that are numbered in one batch.
constexpr std::uint64_t batch_size = std::uint64_t(1) << 18;
/// The first tag of new keys, which exceeds every vertex number.
constexpr std::uint64_t first_tag = std::uint64_t(1) << 32;

std::pair<std::uint64_t, std::uint64_t> first_n(std::uint64_t n) { return {0, n}; }

/// Returns a hash without a secret seed: tests/driver/bfs.py constructs words with equal hashes.
std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = word.size();
  for (std::size_t at = 0; at < word.size(); at += sizeof(hash)) {
    std::uint64_t letters = 0;
    std::memcpy(&letters, word.data() + at, std::min(sizeof(letters), word.size() - at));
    hash = mix(hash + letters);
  }
  return hash;
}

/// Returns the key of a word, which is below the sentinels of a map.
std::uint64_t key_of(std::string_view word) {
  if (auto const number = plain_number(word)) return *number;
  return number_limit | (hash_of(word) & (number_limit - 1));
}

void require_host_memory(double bytes, std::uint64_t names) {
  require_memory(bytes, "numbering " + counted(names, "vertex", "vertices"),
                 "choose a smaller graph, or free memory");
}

}  // namespace

vertex_numbers::vertex_numbers(space const& exec)
    : m_exec(exec),
      m_map(exec, batch_size),
      m_keys(make_array<std::uint64_t>("keys of names", batch_size)),
      m_values(make_array<std::uint64_t>("numbers of names", batch_size)),
      m_tags(make_array<std::uint64_t>("tags of names", batch_size)),
      m_host_keys(Kokkos::create_mirror_view(m_keys)),
      m_host_values(Kokkos::create_mirror_view(m_values)) {
  auto const tags = Kokkos::create_mirror_view(m_tags);
  for (std::uint64_t i = 0; i < batch_size; ++i) tags(i) = first_tag + i;
  Kokkos::deep_copy(m_tags, tags);
}

void vertex_numbers::number(std::vector<std::string_view> const& words, std::uint32_t* numbers) {
  for (std::size_t begin = 0; begin < words.size(); begin += batch_size) {
    std::uint64_t const n = std::min<std::uint64_t>(batch_size, words.size() - begin);
    for (std::uint64_t i = 0; i < n; ++i) m_host_keys(i) = key_of(words[begin + i]);
    number_keys(n, words.data() + begin, numbers + begin);
  }
}

void vertex_numbers::replace(std::vector<std::uint32_t>& ids, std::uint64_t first_id) {
  for (std::size_t begin = 0; begin < ids.size(); begin += batch_size) {
    std::uint64_t const n = std::min<std::uint64_t>(batch_size, ids.size() - begin);
    for (std::uint64_t i = 0; i < n; ++i) m_host_keys(i) = first_id + ids[begin + i];
    number_keys(n, nullptr, ids.data() + begin);
  }
}

void vertex_numbers::reserve(std::uint64_t names) {
  std::uint64_t const most = size() + names;
  if (most <= m_map.max_keys()) return;
  std::uint64_t const next = std::max(2 * m_map.max_keys(), most);
  if constexpr (on_host)
    require_host_memory(static_cast<double>(map_type::bytes_for(next)), size());
  m_map.rehash(m_exec, next);
}

/// Numbers n keys, which are in m_host_keys.
void vertex_numbers::number_keys(std::uint64_t n, std::string_view const* words,
                                 std::uint32_t* numbers) {
  reserve(n);
  auto const keys = Kokkos::subview(m_keys, first_n(n));
  auto const values = Kokkos::subview(m_values, first_n(n));
  Kokkos::deep_copy(m_exec, m_keys, m_host_keys);
  insert_report const report =
      m_map.find_or_insert(m_exec, keys, Kokkos::subview(m_tags, first_n(n)), values);
  if (report.rejected != 0)
    throw std::logic_error("names were lost although the map has enough slots");
  Kokkos::deep_copy(m_exec, m_host_values, m_values);
  m_exec.fence("karpos::perf: numbers of names");
  std::uint64_t const found = number_new_keys(n, words, numbers);
  if (words != nullptr) resolve_collisions(n, words, numbers);
  if (size() > first_tag)
    throw std::length_error(
        "karpos: the graph has more than 4,294,967,296 vertices, whose numbers "
        "must fit into 32 bits: split the graph");
  if (found == 0) return;
  Kokkos::deep_copy(m_exec, m_keys, m_host_keys);
  Kokkos::deep_copy(m_exec, m_values, m_host_values);
  m_map.insert_or_assign(m_exec, Kokkos::subview(m_keys, first_n(found)),
                         Kokkos::subview(m_values, first_n(found)));
}

/// Numbers the keys by the map's answers. An answer is a number, or, for new keys, the tag of the
/// first of equal ones. Returns the number of new keys; these and their numbers then come first in
/// m_host_keys and m_host_values.
std::uint64_t vertex_numbers::number_new_keys(std::uint64_t n, std::string_view const* words,
                                              std::uint32_t* numbers) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (m_host_values(i) != first_tag + i) continue;
    std::uint64_t const key = m_host_keys(i);
    numbers[i] = static_cast<std::uint32_t>(size());
    if (words != nullptr && key >= number_limit)
      add_word(words[i]);
    else
      m_codes.push_back(key);
  }
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t const value = m_host_values(i);
    if (value == first_tag + i) {
      m_host_keys(found) = m_host_keys(i);
      m_host_values(found++) = numbers[i];
    } else {
      numbers[i] =
          value >= first_tag ? numbers[value - first_tag] : static_cast<std::uint32_t>(value);
    }
  }
  return found;
}

/// Gives numbers of their own to words that share a key with another word.
void vertex_numbers::resolve_collisions(std::uint64_t n, std::string_view const* words,
                                        std::uint32_t* numbers) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (!is_word(numbers[i]) || word_of(numbers[i]) == words[i]) continue;
    auto const [at, is_new] = m_collided.try_emplace(std::string(words[i]), 0);
    if (is_new) at->second = add_word(words[i]);
    numbers[i] = at->second;
  }
}

std::uint32_t vertex_numbers::add_word(std::string_view word) {
  if (m_text.size() + word.size() > m_text.capacity())
    require_host_memory(2.0 * static_cast<double>(m_text.capacity()), size());
  m_text += word;
  m_codes.push_back(number_limit + m_ends.size());
  m_ends.push_back(m_text.size());
  return static_cast<std::uint32_t>(size() - 1);
}

std::string_view vertex_numbers::word_of(std::uint32_t number) const {
  std::uint64_t const i = m_codes[number] - number_limit;
  std::uint64_t const begin = i == 0 ? 0 : m_ends[i - 1];
  return std::string_view(m_text).substr(begin, m_ends[i] - begin);
}

bool vertex_numbers::precedes(std::uint32_t a, std::uint32_t b) const {
  if (is_word(a) && is_word(b)) return word_of(a) < word_of(b);
  return m_codes[a] < m_codes[b];  // numbers are below all words
}

vertex_names vertex_numbers::names_in(std::vector<std::uint32_t> const& order) const {
  std::vector<std::uint64_t> numbers, ends;
  std::string text;
  text.reserve(m_text.size());
  for (std::uint32_t const number : order) {
    if (is_word(number)) {
      text += word_of(number);
      ends.push_back(text.size());
    } else {
      numbers.push_back(m_codes[number]);
    }
  }
  return {std::move(numbers), std::move(ends), std::move(text)};
}

vertex_names vertex_numbers::finish(edge_list& list) {
  m_map = {};
  constexpr double each = 2 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);
  require_host_memory(each * static_cast<double>(size()) + static_cast<double>(m_text.size()),
                      size());
  std::vector<std::uint32_t> order(size()), rank(size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return precedes(a, b); });
  for (std::uint64_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);
  for (std::uint32_t& number : list.sources) number = rank[number];
  for (std::uint32_t& number : list.targets) number = rank[number];
  list.vertices = size();
  vertex_names names = names_in(order);
  m_codes = m_ends = {};
  m_text = {};
  m_collided = {};
  return names;
}

}  // namespace karpos::perf
