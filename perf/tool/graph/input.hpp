// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declarations that the readers of all formats share: the bytes and their name, messages,
/// progress.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perf/tool/graph/read_graph.hpp"

namespace karpos::perf::graph_input {

/// Ids are unsigned 32-bit integers.
constexpr std::uint64_t max_vertices = std::uint64_t(1) << 32;
constexpr std::size_t report_bytes = std::size_t(4) << 20;

[[noreturn]] inline void fail(std::string const& place, std::string const& why,
                              std::string const& advice) {
  throw graph_file_error("karpos: cannot read " + place + " (" + why + "): " + advice);
}

/// The content of a file. If it was decompressed, that was the first part of the work.
struct input {
  std::string_view bytes;
  std::string const& name;
  graph_progress const& progress;
  double progress_begin = 0;
  graph_read_options options = {};

  void show(std::size_t done, std::string const& note) const {
    if (!progress) return;
    double const part = static_cast<double>(done) / static_cast<double>(bytes.size());
    progress(progress_begin + (1 - progress_begin) * part, note);
  }
};

/// Returns a part of a file for a message: short, and safe to print on a terminal.
inline std::string quoted(std::string_view s) {
  constexpr std::size_t longest = 40;
  std::string q = "'";
  for (char const c : s.substr(0, longest)) q += c >= ' ' && c <= '~' ? c : '?';
  return q + (s.size() > longest ? "...'" : "'");
}

/// Returns the advice in messages about a file that could have several formats. It does not mention
/// the format `not_this`, which would not help or was given.
inline std::string choose_format(graph_format not_this) {
  std::string const first = not_this == graph_format::edges ? "metis" : "edges";
  std::string const second = not_this == graph_format::matrix_market ? "metis" : "matrixmarket";
  return "`--format " + first + "`, `--format " + second + "` or the like says what it is";
}

// Readers of whole files. Each returns a whole graph or throws a graph_file_error.
edge_list read_matrix_market(input const& in);
edge_list read_dimacs(input const& in);
edge_list read_metis(input const& in, std::string_view comment_marks = "%");
edge_list read_snap(input const& in);
edge_list read_words(input const& in, word_numbers const& number);
csr_arrays read_serialized(input const& in);

/// Returns the size of the byte order mark at the beginning of a text, or 0.
inline std::size_t byte_order_mark_size(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(0, mark.size()) == mark ? mark.size() : 0;
}

/// Refuses content that does not begin like text, and a text whose lines end in carriage returns
/// alone.
void require_text(std::string_view bytes, std::string const& name, std::string const& why_binary,
                  std::string const& advice);

/// Decompresses a gzip file, which may consist of several members.
std::string gunzip(input const& in, std::uint64_t max_bytes = std::uint64_t(64) << 30);

}  // namespace karpos::perf::graph_input
