// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "perf/tool/graph/text_lines.hpp"

namespace karpos::perf::graph_input {

/// Edges of a text whose header announces the numbers of vertices and entries; checks that these
/// entries follow. Ids count from 1.
class announced_edges {
 public:
  /// Refuses a header that announces more entries than can follow, so that it cannot claim memory.
  /// `shortest_line` is the length of the shortest possible line of an entry, "1 1" or "a 1 1" with
  /// its end.
  announced_edges(text_lines const& lines, std::uint64_t vertices, std::uint64_t entries,
                  std::size_t shortest_line)
      : m_entries(entries) {
    if (vertices > max_vertices)
      lines.fail(std::to_string(vertices) + " vertices, but ids must fit into 32 bits",
                 "split the graph");
    std::uint64_t const max_entries = (lines.bytes_left() + 1) / shortest_line;
    if (entries > max_entries)
      lines.fail("the header announces " + std::to_string(entries) +
                     (entries == 1 ? " entry" : " entries") + ", but " +
                     std::to_string(lines.bytes_left()) + " bytes follow, enough for at most " +
                     std::to_string(max_entries),
                 "check that the file is whole");
    m_edges.vertices = vertices;
    m_edges.sources.reserve(entries);
    m_edges.targets.reserve(entries);
  }

  /// Reads the two ids of an entry from the current line.
  void read_ids(text_lines& lines) {
    if (m_edges.sources.size() == m_entries)
      lines.fail("more entries than the " + std::to_string(m_entries) + " of the header",
                 "correct the header");
    m_edges.sources.push_back(lines.read_id(1, m_edges.vertices));
    m_edges.targets.push_back(lines.read_id(1, m_edges.vertices));
  }

  /// Reads the value of this entry.
  void read_value(text_lines& lines, char const* what) { lines.read_value(what, m_edges.weights); }
  /// Reads the weight of this entry if the line has one.
  void read_optional_weight(text_lines& lines) {
    lines.require_consistent_weights(!lines.at_end(), m_edges.weights.size(),
                                     m_edges.sources.size() - 1);
    if (!lines.at_end()) lines.read_value("the weight", m_edges.weights);
  }

  /// Returns the edges after the end of the text. Fails if entries are missing.
  edge_list finish(text_lines const& lines, bool undirected) {
    if (m_edges.sources.size() != m_entries)
      lines.fail("the file ends after " + std::to_string(m_edges.sources.size()) + " of the " +
                     std::to_string(m_entries) + " entries that the header announces",
                 "check that the file is whole");
    m_edges.undirected = undirected;
    return std::move(m_edges);
  }

 private:
  std::uint64_t m_entries;
  edge_list m_edges;
};

}  // namespace karpos::perf::graph_input
