// SPDX-License-Identifier: Apache-2.0
#include "perf/tool/graph/read_graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "perf/tool/graph/input.hpp"
#include "perf/tool/graph/input_file.hpp"
#include "perf/tool/graph/text_format.hpp"

namespace karpos::perf {
namespace {

using graph_input::fail;
using graph_input::input;

constexpr char known[] =
    "give a MatrixMarket, DIMACS, METIS, SNAP or .sg file, gzip'ed or not; `--relabel` takes words "
    "for vertices";

graph_file read_text(input const& in, word_numbers const& words) {
  graph_format const format = in.options.format == graph_format::automatic
                                  ? graph_input::format_of_text(in, static_cast<bool>(words), known)
                                  : in.options.format;
  if (format == graph_format::matrix_market) return graph_input::read_matrix_market(in);
  if (format == graph_format::dimacs) return graph_input::read_dimacs(in);
  if (format == graph_format::metis) return graph_input::read_metis(in);
  if (words) return graph_input::read_words(in, words);
  return graph_input::read_snap(in);
}

graph_file read_content(input const& in, word_numbers const& words) {
  if (in.bytes.empty()) fail(in.name, "it is empty", "check that the file is whole");
  bool const is_serialized = in.options.format == graph_format::automatic
                                 ? in.bytes[0] == 0 || in.bytes[0] == 1
                                 : in.options.format == graph_format::serialized;
  if (is_serialized) return graph_input::read_serialized(in);
  graph_input::require_text(in.bytes, in.name, "neither a text nor a .sg graph", known);
  return read_text({in.bytes.substr(graph_input::byte_order_mark_size(in.bytes)), in.name,
                    in.progress, in.progress_begin, in.options},
                   words);
}

}  // namespace

std::vector<std::string> const& graph_format_names() {
  static std::vector<std::string> const names = {"auto",   "edges", "matrixmarket",
                                                 "dimacs", "metis", "sg"};
  return names;
}

graph_format parse_graph_format(std::string const& name) {
  auto const& names = graph_format_names();
  auto const found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<graph_format>(found - names.begin());
  std::string list;
  for (std::string const& n : names) list += (list.empty() ? "" : ", ") + n;
  throw std::invalid_argument("karpos: there is no format '" + name + "': choose one of " + list);
}

graph_file parse_graph(std::string_view bytes, std::string const& name,
                       graph_progress const& progress, word_numbers const& words,
                       graph_read_options const& options) {
  if (bytes.substr(0, 2) != "\x1f\x8b")
    return read_content({bytes, name, progress, 0, options}, words);
  // Decompression and reading take about the same time; the caller sees one progress bar for both.
  constexpr double unpacked = 0.5;
  graph_progress const first_half = [&](double part, std::string const& note) {
    if (progress) progress(part * unpacked, note);
  };
  std::string const content = graph_input::gunzip({bytes, name, first_half});
  return read_content({content, name, progress, unpacked, options}, words);
}

graph_file read_graph(std::string const& path, graph_progress const& progress,
                      word_numbers const& words, graph_read_options const& options) {
  graph_input::input_file const file(path);
  return parse_graph(file.bytes(), file.name(), progress, words, options);
}

}  // namespace karpos::perf
