// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "perf/measure/graph/opened_graph.hpp"
#include "perf/tool/graph/read_graph.hpp"

// How the commands that search a graph open it.

namespace karpos::perf {

/// Reads a file, or parses the spec of a generator. Edges of a file count in both directions unless
/// `directed` is set, or the file itself says whether they do. With `words`, the vertices may have
/// any names.
/// Throws: graph_file_error; std::invalid_argument for an unknown generator, and for a format given
/// with a generator.
graph_source open_graph(std::string const& name, bool directed, reporter const& report,
                        word_numbers const& words = {}, graph_read_options const& options = {});

/// Opens a file or a generator, with vertices numbered without gaps if `relabel` is set. Throws: as
/// open_graph; std::invalid_argument for --relabel of a graph whose ids have no gaps.
opened_graph open_named_graph(std::string const& graph, bool directed, bool relabel,
                              reporter const& report, graph_read_options const& options);

/// Opens the graph that the parameters of a command name.
template <class Parameters>
opened_graph open_graph_of(Parameters const& p, reporter const& report, bool weights = false) {
  return open_named_graph(p.graph, p.directed, p.relabel, report,
                          {.format = parse_graph_format(p.format), .weights = weights});
}

/// Returns the value of --source in the form that is kept: a name with --relabel, otherwise a
/// number. Throws: bad_input.
std::string source_word(std::string const& word, bool relabel);

}  // namespace karpos::perf
