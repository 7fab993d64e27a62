// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/tool/graph/text_format.hpp"
#include "perf/tool/graph/text_lines.hpp"

// Edge lists of the formats of read_snap(), but vertices have names.

namespace karpos::perf::graph_input {
namespace {

/// Edges whose words are numbered in batches.
class numbered_edges {
 public:
  explicit numbered_edges(word_numbers const& number) : m_number(number) {}

  bool empty() const { return size() == 0; }
  std::uint64_t size() const { return m_edges.sources.size() + m_words.size() / 2; }
  std::vector<double>& weights() { return m_edges.weights; }
  void add(std::string_view source, std::string_view target) {
    m_words.push_back(source);
    m_words.push_back(target);
    if (m_words.size() >= part) number_words();
  }
  edge_list finish(list_layout layout) {
    number_words();
    m_edges.layout = std::move(layout);
    return std::move(m_edges);
  }

 private:
  static constexpr std::size_t part = std::size_t(1) << 18;

  void number_words() {
    if (m_words.empty()) return;
    m_numbers.resize(m_words.size());
    m_number(m_words, m_numbers.data());
    std::uint32_t const largest = *std::max_element(m_numbers.begin(), m_numbers.end());
    m_edges.vertices = std::max(m_edges.vertices, std::uint64_t(largest) + 1);
    for (std::size_t i = 0; i < m_numbers.size(); i += 2) {
      m_edges.sources.push_back(m_numbers[i]);
      m_edges.targets.push_back(m_numbers[i + 1]);
    }
    m_words.clear();
  }

  word_numbers const& m_number;
  std::vector<std::string_view> m_words;  // source, target, source, …
  std::vector<std::uint32_t> m_numbers;
  edge_list m_edges;
};

}  // namespace

edge_list read_words(input const& in, word_numbers const& number) {
  text_lines lines(in);
  numbered_edges edges(number);
  list_layout layout{std::string(header_of_list(in))};
  if (!layout.header.empty()) lines.next_data("#%");
  while (lines.next_data("#%")) {
    if (edges.empty()) lines.detect_word_separator();
    std::string_view const source = lines.read_word("the source");
    std::string_view const target = lines.read_word("the target");
    std::size_t const columns = lines.read_rest_of_edge(is_unsigned(source) && is_unsigned(target),
                                                        edges.weights(), edges.size());
    if (edges.empty()) layout.columns = columns;
    edges.add(source, target);
  }
  if (edges.empty())
    lines.fail("the list has no edge, so the number of vertices is unknown",
               "check that the file is whole");
  return edges.finish(std::move(layout));
}

}  // namespace karpos::perf::graph_input
