// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks that for any bytes the reader returns a graph that keeps its promises, or throws a
/// graph_file_error.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "perf/tool/graph/read_graph.hpp"

namespace {

using namespace karpos::perf;

// Replaces assert, since the condition must also hold in a release build.
void require(bool condition, char const* what) {
  if (condition) return;
  std::fprintf(stderr, "read_graph breaks its promise: %s\n", what);
  std::abort();
}

void check_ids(std::vector<std::uint32_t> const& ids, std::uint64_t vertices) {
  require(std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id < vertices; }),
          "ids are below the number of vertices");
}

void check_rows(std::vector<std::uint64_t> const& offsets,
                std::vector<std::uint32_t> const& columns, std::uint64_t vertices) {
  require(offsets.size() == vertices + 1, "there is an offset per vertex and one more");
  require(offsets.front() == 0 && offsets.back() == columns.size(), "offsets span the entries");
  require(std::is_sorted(offsets.begin(), offsets.end()), "offsets ascend");
  check_ids(columns, vertices);
}

void check(edge_list const& g) {
  require(g.vertices <= std::uint64_t(1) << 32, "ids fit into 32 bits");
  require(g.sources.size() == g.targets.size(), "every edge has two ends");
  check_ids(g.sources, g.vertices);
  check_ids(g.targets, g.vertices);
  require(g.weights.empty() || g.weights.size() == g.sources.size(),
          "all edges have weights, or none");
  require(std::all_of(g.weights.begin(), g.weights.end(),
                      [](double w) { return w >= 0 && std::isfinite(w); }),
          "weights are finite and not negative");
}

void check(csr_arrays const& g) {
  check_rows(g.offsets, g.columns, g.vertices);
  if (!g.directed) {
    require(g.in_offsets.empty() && g.in_columns.empty(), "undirected graphs have one half");
    return;
  }
  check_rows(g.in_offsets, g.in_columns, g.vertices);
  require(g.columns.size() == g.in_columns.size(), "both halves have the same edges");
}

}  // namespace

namespace {

/// Parses the bytes as a list of words if they are one, and checks that the numbers given to the
/// words come back.
graph_file parse_words(std::string_view bytes, graph_progress const& progress) {
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  word_numbers const number = [&](auto const& words, std::uint32_t* out) {
    require(words.size() % 2 == 0, "every edge has two words");
    for (std::string_view const word : words) {
      require(!word.empty() && word.find_first_of("\t\n") == word.npos, "words are words");
      auto const next = static_cast<std::uint32_t>(numbers.size());
      *out++ = numbers.try_emplace(std::string(word), next).first->second;
    }
  };
  graph_file g = parse_graph(bytes, "input", progress, number);
  if (!numbers.empty())
    require(std::get<edge_list>(g).vertices == numbers.size(), "every number is a vertex");
  return g;
}

void check_parsed(std::function<graph_file()> const& parse) {
  try {
    std::visit([](auto const& g) { check(g); }, parse());
  } catch (graph_file_error const& e) {
    std::string_view const message = e.what();
    require(message.rfind("karpos: cannot read input", 0) == 0, "messages name the file");
    require(message.find("): ") != std::string_view::npos, "messages say why and what to do");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::string_view const bytes(reinterpret_cast<char const*>(data), size);
  graph_progress const progress = [](double part, std::string const&) {
    require(part >= 0 && part <= 1, "progress is a part of one");
  };
  check_parsed([&] { return parse_graph(bytes, "input", progress); });
  check_parsed([&] { return parse_words(bytes, progress); });
  auto const forced = static_cast<graph_format>(size % 6);
  check_parsed([&] {
    return parse_graph(bytes, "input", progress, {}, {.format = forced, .weights = true});
  });
  return 0;
}
