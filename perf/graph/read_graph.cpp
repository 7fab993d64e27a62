// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/read_graph.hpp"

#include <algorithm>
#include <cstring>

#include "perf/graph/input.hpp"
#include "perf/graph/input_file.hpp"
#include "perf/graph/text_lines.hpp"

namespace karpos::perf {
namespace {

using graph_input::fail;
using graph_input::input;

constexpr char known[] = "give a MatrixMarket, DIMACS, SNAP or .sg file, gzip'ed or not";

graph_file read_text(input const& in) {
  // Two marks even if the word is broken: as a comment it would make an edge of the line of sizes.
  if (in.bytes.substr(0, 2) == "%%") return graph_input::read_matrix_market(in);
  graph_progress const silent;
  input const first_look{in.bytes, in.name, silent};
  graph_input::text_lines lines(first_look);
  if (!lines.next_data("#%")) return graph_input::read_snap(in);
  std::string_view const line = lines.rest();
  char const first = line.front();
  if ((first >= '0' && first <= '9') || first == '-') return graph_input::read_snap(in);
  bool const one_letter = line.size() == 1 || graph_input::is_blank(line[1]);
  if (one_letter && std::strchr("cpae", first)) return graph_input::read_dimacs(in);
  lines.fail("the line " + graph_input::quoted(line) + " begins no graph", known);
}

graph_file read_content(input const& in) {
  if (in.bytes.empty()) fail(in.name, "it is empty", "check that the file is whole");
  if (in.bytes[0] == 0 || in.bytes[0] == 1) return graph_input::read_serialized(in);
  graph_input::require_text(in.bytes, in.name, "neither a text nor a .sg graph", known);
  return read_text({in.bytes.substr(graph_input::byte_order_mark_size(in.bytes)), in.name,
                    in.progress, in.progress_begin});
}

}  // namespace

graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress) {
  if (bytes.substr(0, 2) != "\x1f\x8b") return read_content({bytes, name, progress});
  // The two take about as long; a caller sees one bar.
  constexpr double unpacked = 0.5;
  graph_progress const first_half = [&](double part, std::string const& note) {
    if (progress) progress(part * unpacked, note);
  };
  std::string const content = graph_input::gunzip({bytes, name, first_half});
  return read_content({content, name, progress, unpacked});
}

graph_file read_graph(std::string const& path, graph_progress const& progress) {
  graph_input::input_file const file(path);
  return parse_graph(file.bytes(), file.name(), progress);
}

}  // namespace karpos::perf
