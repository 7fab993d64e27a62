// SPDX-License-Identifier: Apache-2.0
#include "perf/graph/read_graph.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "perf/graph/input.hpp"
#include "perf/graph/input_file.hpp"
#include "perf/graph/text_lines.hpp"

namespace karpos::perf {
namespace {

using graph_input::fail;
using graph_input::input;

constexpr char known[] =
    "give a MatrixMarket, DIMACS, SNAP or .sg file, gzip'ed or not; `--relabel` "
    "takes words for vertices";

/// The first fields of the next line that is no comment "c ..."; none at the end.
std::vector<std::string_view> next_fields(graph_input::text_lines& lines) {
  while (lines.next()) {
    std::vector<std::string_view> fields;
    while (!lines.at_end() && fields.size() < 6) fields.push_back(lines.take_field("a field"));
    if (fields.front() != "c") return fields;
  }
  return {};
}

bool are_numbers(std::vector<std::string_view> const& fields, std::size_t from) {
  return std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(from), fields.end(),
                     graph_input::is_number);
}

/// "a U V W" or "e U V".
bool is_dimacs_edge(std::vector<std::string_view> const& fields) {
  return fields.size() > 1 && (fields[0] == "a" || fields[0] == "e") && are_numbers(fields, 1);
}

/// Whether the lines that are no comments begin with "p sp VERTICES ARCS" or the like, and go on with an edge: a list of
/// words may begin with vertices c, p, a or e.
bool begins_as_dimacs(input const& in) {
  constexpr std::string_view kinds[] = {"sp", "edge", "col"};
  graph_progress const silent;
  input const first_look{in.bytes, in.name, silent};
  graph_input::text_lines lines(first_look);
  auto const header = next_fields(lines);
  if (header.size() != 4 || header[0] != "p" || !are_numbers(header, 2) ||
      std::find(std::begin(kinds), std::end(kinds), header[1]) == std::end(kinds))
    return false;
  auto const edge = next_fields(lines);
  return edge.empty() || is_dimacs_edge(edge);
}

/// Whether a text without words for vertices is best told what is wrong with it as DIMACS: it has nothing but comments, its
/// problem is another, or an edge comes first.
bool resembles_dimacs(input const& in) {
  graph_progress const silent;
  input const first_look{in.bytes, in.name, silent};
  graph_input::text_lines lines(first_look);
  auto const fields = next_fields(lines);
  bool const header =
      fields.size() > 2 && fields.size() < 5 && fields[0] == "p" && are_numbers(fields, 2);
  return fields.empty() || header || is_dimacs_edge(fields);
}

graph_file read_text(input const& in, word_numbers const& words) {
  // Two marks even if the word is broken: as a comment it would make an edge of the line of sizes.
  if (in.bytes.substr(0, 2) == "%%") return graph_input::read_matrix_market(in);
  if (words) {
    if (begins_as_dimacs(in)) return graph_input::read_dimacs(in);
    return graph_input::read_words(in, words);
  }
  graph_progress const silent;
  input const first_look{in.bytes, in.name, silent};
  graph_input::text_lines lines(first_look);
  if (!lines.next_data("#%")) return graph_input::read_snap(in);
  std::string_view const line = lines.rest();
  char const first = line.front();
  if ((first >= '0' && first <= '9') || first == '-') return graph_input::read_snap(in);
  bool const one_letter = line.size() == 1 || graph_input::is_blank(line[1]);
  if (one_letter && std::strchr("cpae", first) && resembles_dimacs(in))
    return graph_input::read_dimacs(in);
  lines.fail("the line " + graph_input::quoted(line) + " begins no graph", known);
}

graph_file read_content(input const& in, word_numbers const& words) {
  if (in.bytes.empty()) fail(in.name, "it is empty", "check that the file is whole");
  if (in.bytes[0] == 0 || in.bytes[0] == 1) return graph_input::read_serialized(in);
  graph_input::require_text(in.bytes, in.name, "neither a text nor a .sg graph", known);
  return read_text({in.bytes.substr(graph_input::byte_order_mark_size(in.bytes)), in.name,
                    in.progress, in.progress_begin},
                   words);
}

}  // namespace

graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress, word_numbers const& words) {
  if (bytes.substr(0, 2) != "\x1f\x8b") return read_content({bytes, name, progress}, words);
  // The two take about as long; a caller sees one bar.
  constexpr double unpacked = 0.5;
  graph_progress const first_half = [&](double part, std::string const& note) {
    if (progress) progress(part * unpacked, note);
  };
  std::string const content = graph_input::gunzip({bytes, name, first_half});
  return read_content({content, name, progress, unpacked}, words);
}

graph_file read_graph(std::string const& path, graph_progress const& progress,
                      word_numbers const& words) {
  graph_input::input_file const file(path);
  return parse_graph(file.bytes(), file.name(), progress, words);
}

}  // namespace karpos::perf
