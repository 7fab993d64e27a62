// SPDX-License-Identifier: Apache-2.0
/// \file
/// Readers of graph files: what each format means, and the messages about files that break its
/// rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "perf/tool/graph/input.hpp"
#include "perf/tool/graph/read_graph.hpp"
#include "support/check.hpp"

namespace {

using namespace karpos::perf;
using edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

graph_file parse(std::string const& bytes, graph_read_options const& how = {}) {
  return parse_graph(bytes, "g", {}, {}, how);
}
edge_list list_of(std::string const& bytes, graph_read_options const& how = {},
                  std::string const& name = "g") {
  return std::get<edge_list>(parse_graph(bytes, name, {}, {}, how));
}

edges edges_of(edge_list const& g) {
  edges list;
  REQUIRE(g.sources.size() == g.targets.size());
  for (std::size_t i = 0; i < g.sources.size(); ++i) list.emplace_back(g.sources[i], g.targets[i]);
  return list;
}
edges edges_of(std::vector<std::uint64_t> const& offsets,
               std::vector<std::uint32_t> const& columns) {
  edges list;
  for (std::uint32_t v = 0; v + 1 < offsets.size(); ++v)
    for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) list.emplace_back(v, columns[i]);
  return list;
}

void reads(std::string const& bytes, std::uint64_t vertices, edges const& expected,
           bool undirected = false) {
  INFO(bytes);
  graph_file const file = parse(bytes);
  edge_list const* const g = std::get_if<edge_list>(&file);
  REQUIRE(g != nullptr);
  CHECK(g->vertices == vertices);
  CHECK(edges_of(*g) == expected);
  CHECK(g->undirected == undirected);
}

/// Checks that parsing fails with a message that begins with the file and the place and contains
/// the words.
template <class... Words>
void refuses(std::string const& bytes, std::string const& place, Words const&... words) {
  karpos_test::throws<graph_file_error>([&] { parse(bytes); }, "karpos: cannot read g" + place,
                                        "): ", words...);
}

/// Checks, like refuses(), a file with that name that is read in the given way.
template <class... Words>
void refuses_as(graph_read_options const& how, std::string const& name, std::string const& bytes,
                Words const&... words) {
  INFO(bytes);
  karpos_test::throws<graph_file_error>([&] { list_of(bytes, how, name); },
                                        "karpos: cannot read " + name, "): ", words...);
}

constexpr graph_read_options with_weights{.weights = true};
constexpr graph_read_options as(graph_format format) { return {.format = format}; }

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes.append(raw, sizeof(T));
}

/// Returns half of a .sg file: offsets and entries of the edges, ordered by source.
std::string sg_half(std::uint64_t vertices, edges list) {
  std::stable_sort(list.begin(), list.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  std::string bytes;
  for (std::uint64_t v = 0; v <= vertices; ++v)
    put(bytes, std::int64_t(std::count_if(list.begin(), list.end(),
                                          [&](auto const& e) { return e.first < v; })));
  for (auto const& e : list) put(bytes, std::int32_t(e.second));
  return bytes;
}
edges reversed(edges list) {
  for (auto& e : list) std::swap(e.first, e.second);
  return list;
}
std::string sg(bool directed, std::uint64_t vertices, edges const& list) {
  std::string bytes(1, directed ? '\1' : '\0');
  put(bytes, std::int64_t(list.size()));
  put(bytes, std::int64_t(vertices));
  bytes += sg_half(vertices, list);
  return directed ? bytes + sg_half(vertices, reversed(list)) : bytes;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t(0);
  for (char const c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}
/// Returns a gzip member that stores its content uncompressed (RFC 1951, 1952), in blocks of at
/// most 65535 bytes.
std::string packed(std::string const& content) {
  std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (std::size_t at = 0;;) {
    auto const size = static_cast<std::uint16_t>(std::min<std::size_t>(65535, content.size() - at));
    bytes += at + size == content.size() ? '\1' : '\0';
    put(bytes, size);
    put(bytes, static_cast<std::uint16_t>(~size));
    bytes.append(content, at, size);
    at += size;
    if (at == content.size()) break;
  }
  put(bytes, crc32(content));
  put(bytes, static_cast<std::uint32_t>(content.size()));
  return bytes;
}

constexpr char pattern[] = "%%MatrixMarket matrix coordinate pattern general\n";

TEST_CASE("graph files: MatrixMarket") {
  edges const three = {{0, 1}, {2, 0}, {1, 1}};
  reads(std::string(pattern) + "3 3 3\n1 2\n3 1\n2 2\n", 3, three);
  reads(std::string(pattern) + "%a\n\n3 3 3\n1 2\n% in the middle\n3\t1 \n\n 2 2", 3, three);
  reads("%%matrixmarket MATRIX Coordinate REAL General\n3 3 3\n1 2 1\n3 1 -2e-3\n2 2 +.5\n", 3,
        three);
  reads("%%MatrixMarket matrix coordinate integer general\r\n3 3 3\r\n1 2 1\r\n3 1 -7\r\n2 2 0\r\n",
        3, three);
  reads("%%MatrixMarket matrix coordinate complex hermitian\n3 3 1\n3 1 1e400 -1\n", 3, {{2, 0}},
        true);
  reads("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n", 3, {{2, 0}}, true);
  reads("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n3 1 nan\n", 3, {{2, 0}},
        true);
  reads(std::string(pattern) + "7 7 0\n", 7, {});
}

TEST_CASE("graph files: DIMACS") {
  edges const two = {{0, 1}, {2, 0}};
  reads("c a comment\np sp 4 2\na 1 2 30\nc\na 3 1 -1.5\n", 4, two);
  reads("p sp 4 2\r\na 1 2 30\r\na 3 1 7", 4, two);
  reads("p edge 3 2\ne 1 2\ne 3 1\n", 3, two, true);
  reads("p col 3 2\ne 1 2\ne 3 1\n", 3, two, true);
}

TEST_CASE("graph files: SNAP edge lists") {
  edges const two = {{0, 1}, {5, 0}};
  reads("0 1\n5 0\n", 6, two);
  reads("# name 75877 405739 10\n0\t1\r\n% another comment\r\n\r\n  5 \t 0 \r\n", 6, two);
  reads("0 1 0.25\n5 0 -3 1082040961", 6, two);
  reads("0 4294967295\n", std::uint64_t(1) << 32, {{0, 4294967295u}});
}

TEST_CASE("graph files: edge lists with commas or semicolons") {
  reads("# a comment, too\n0,1\n1 , 2\r\n", 3, {{0, 1}, {1, 2}});
  reads("0;1;0.5;1300000000\n2;1;-1;1300000001", 3, {{0, 1}, {2, 1}});
  reads("0,1,7\n1,2\n", 3, {{0, 1}, {1, 2}});
  reads("0\t,1\n1 2\n", 3, {{0, 1}, {1, 2}});
}

TEST_CASE("graph files: serialized graphs of the GAP suite") {
  edges const directed = {{0, 1}, {0, 2}, {2, 2}, {3, 0}};
  graph_file file = parse(sg(true, 4, directed));
  csr_arrays const& d = std::get<csr_arrays>(file);
  CHECK(d.vertices == 4);
  CHECK(d.directed);
  CHECK(edges_of(d.offsets, d.columns) == directed);
  CHECK(edges_of(d.in_offsets, d.in_columns) == edges{{0, 3}, {1, 0}, {2, 0}, {2, 2}});

  edges const both = {{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  file = parse(sg(false, 3, both));
  csr_arrays const& u = std::get<csr_arrays>(file);
  CHECK_FALSE(u.directed);
  CHECK(edges_of(u.offsets, u.columns) == both);
  CHECK(u.in_offsets.empty());
  CHECK(std::get<csr_arrays>(parse(sg(false, 2, {}))).offsets ==
        std::vector<std::uint64_t>{0, 0, 0});
}

// The content "0 1\n1 2\n2 0\n" as gzip compresses it.
constexpr unsigned char really_packed[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x33, 0x50, 0x30, 0xe4, 0x32, 0x54,
    0x30, 0xe2, 0x32, 0x52, 0x30, 0xe0, 0x02, 0x00, 0x7b, 0x61, 0x5b, 0x23, 0x0c, 0x00, 0x00, 0x00};

TEST_CASE("graph files: gzip'ed") {
  std::string const text = "0 1\n1 2\n2 0\n", gz = packed(text);
  edges const ring = {{0, 1}, {1, 2}, {2, 0}};
  if (!reads_gzip()) {
    refuses(gz, " ", "no zlib", "gunzip");
    return;
  }
  reads(gz, 3, ring);
  reads(std::string(really_packed, std::end(really_packed)), 3, ring);
  reads(packed("0 1\n1 ") + packed("") + packed("2\n2 0\n") + std::string(5, '\0'), 3, ring);
  reads(packed(std::string(pattern) + "2 2 1\n1 2\n"), 2, {{0, 1}});
  CHECK(std::get<csr_arrays>(parse(packed(sg(false, 5, {})))).vertices == 5);

  // Line numbers count lines of the content; byte numbers count bytes of the compressed file.
  refuses(packed("0 1\n1 x\n"), ":2 ", "'x'");
  for (std::size_t size = 2; size < gz.size(); ++size)
    refuses(gz.substr(0, size), " at byte ", "too early");
  std::string broken = gz;
  broken[16] ^= 1;
  refuses(broken, " at byte ", "gzip", "check that the file is whole");
  refuses(gz + "rest", " at byte ", "after the end");
  refuses(packed(gz), " at byte 0", "neither a text nor");
  refuses(packed(""), " ", "it is empty");
}

TEST_CASE("graph files: gzip'ed content has a bound, and may be large") {
  if (!reads_gzip()) return;
  std::string const large(3'000'000, '\n'), gz = packed(large), name = "g";
  graph_progress const silent;
  CHECK(graph_input::gunzip({gz, name, silent}) == large);
  CHECK(graph_input::gunzip({gz, name, silent}, large.size()) == large);
  karpos_test::throws<graph_file_error>(
      [&] {
        graph_input::gunzip({gz, name, silent}, large.size() - 1);
      },
      "more than 2999999 bytes");
}

TEST_CASE("graph files: every format gives the same graph") {
  constexpr std::uint32_t vertices = 50;
  std::mt19937 next(1);
  edges list = {{0, vertices - 1}};
  for (int i = 0; i < 300; ++i) list.emplace_back(next() % vertices, next() % vertices);
  std::stable_sort(list.begin(), list.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  std::string const sizes = " " + std::to_string(list.size()) + "\n";
  std::string mtx = pattern + ("50 50" + sizes), gr = "p sp 50" + sizes, snap;
  for (auto const& [u, v] : list) {
    std::string const from_one = std::to_string(u + 1) + " " + std::to_string(v + 1);
    mtx += from_one + "\n";
    gr += "a " + from_one + " 1\n";
    snap += std::to_string(u) + "\t" + std::to_string(v) + "\r\n";
  }
  for (std::string const& text : {mtx, gr, snap}) {
    reads(text, vertices, list);
    if (reads_gzip()) reads(packed(text), vertices, list);
  }
  csr_arrays const g = std::get<csr_arrays>(parse(sg(true, vertices, list)));
  CHECK(edges_of(g.offsets, g.columns) == list);
}

TEST_CASE("graph files: ids that are none") {
  std::string const mtx = std::string(pattern) + "3 3 1\n";
  refuses(mtx + "0 1\n", ":3 ", "vertex id 0", "count from 1");
  refuses(mtx + "1 4\n", ":3 ", "vertex id 4", "announces 3 vertices");
  refuses(mtx + "1 -2\n", ":3 ", "'-2'", "negative");
  refuses(mtx + "1 99999999999999999999999\n", ":3 ", "32 bits");
  refuses("p sp 3 1\na 0 1 1\n", ":2 ", "vertex id 0", "count from 1");
  refuses("p sp 3 1\na 1 4 1\n", ":2 ", "vertex id 4", "announces 3 vertices");
  refuses("0 1\n\n# c\n-1 2\n", ":4 ", "'-1'", "negative", "renumber");
  refuses("-1 2\n", ":1 ", "'-1'", "negative");
  refuses("0 1\n1 4294967296\n", ":2 ", "vertex id 4294967296", "32 bits");
  refuses("0 1\n1 18446744073709551616\n", ":2 ", "18446744073709551616", "32 bits");
}

TEST_CASE("graph files: lines that are none") {
  refuses("0 1\n1 2x\n", ":2 ", "'2x'", "no unsigned integer");
  refuses("0 1\n1 2.0\n", ":2 ", "'2.0'", "no unsigned integer");
  refuses("0x1\n", ":1 ", "'0x1'", "blanks or tabs");
  refuses("0,,1\n", ":1 ", "'' is no unsigned integer");
  refuses("0,1\n1;2\n", ":2 ", "'1;2'");
  refuses("0 1\n1,2\n", ":2 ", "'1,2'");
  refuses("0,1,\n", ":1 ", "ends behind ','");
  refuses("0,\n", ":1 ", "ends behind ','");
  refuses("0,1,x\n", ":1 ", "'x' is no number");
  refuses("0,1,2,3,4\n", ":1 ", "goes on with '4'");
  refuses("0 1\n7\n", ":2 ", "the line ends before a vertex id");
  refuses("0 1 heavy\n", ":1 ", "'heavy' is no number", "the weight");
  refuses("0 1 +-2\n", ":1 ", "'+-2' is no number");
  refuses("0 1 1 1 1\n", ":1 ", "goes on with '1'");
  refuses("# " + std::string(5000, '-') + "\n1 \x1b[2J\x80\n", ":2 ", "'?[2J?'");
  refuses("0 1\n1 " + std::string(100, 'y') + "\n", ":2 ", std::string(40, 'y') + "...'");
  refuses("0 1\n" + std::string(70000, '1') + "\n", ":2 ", "a line of 70000 bytes");
  refuses(std::string(pattern) + "2 2 1\n1 2 5\n", ":3 ", "goes on with '5'");
  refuses("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2   \n", ":3 ",
          "ends before the value");
  refuses("p sp 2 1\ne 1 2 5\n", ":2 ", "kind 'e'");
  refuses("p sp 2 1\nc\na 1\n", ":3 ", "ends before a vertex id");
  refuses("p sp 2 1\na 1 2 x\n", ":2 ", "'x' is no number");
}

TEST_CASE("graph files: headers that do not fit") {
  std::string const banner = "%%MatrixMarket matrix ";
  refuses(banner + "array real general\n2 2\n", ":1 ", "dense", "coordinate");
  refuses(banner + "sparse real general\n", ":1 ", "'sparse'", "coordinate");
  refuses(banner + "coordinate quaternion general\n", ":1 ", "'quaternion'", "pattern, real");
  refuses(banner + "coordinate real diagonal\n", ":1 ", "'diagonal'", "general, symmetric");
  refuses(banner + "coordinate real\n", ":1 ", "the line ends before the symmetry");
  refuses("%%MatrixMarke matrix coordinate real general\n", ":1 ", "'%%matrixmarke'");
  refuses("%%MatrixMarket vector coordinate real general\n", ":1 ", "'vector'");
  refuses(std::string(pattern) + "%\n", ":2 ", "no line of sizes");
  refuses(std::string(pattern) + "2 3 1\n1 2\n", ":2 ", "2 by 3", "square");
  refuses(std::string(pattern) + "2 2\n", ":2 ", "ends before the number of entries");
  refuses(std::string(pattern) + "-2 2 1\n", ":2 ", "negative");
  refuses("c\na 1 2 3\n", ":2 ", "before the line 'p sp");
  refuses("c\nc\n", ":2 ", "nothing but comments");
  refuses("p max 2 1\n", ":1 ", "'max'", "sp, edge, col");
  refuses("p sp 2\n", ":1 ", "ends before the number of edges");
}

TEST_CASE("graph files: numbers of entries that do not fit") {
  std::string const mtx = std::string(pattern) + "3 3 2\n1 2\n";
  refuses(mtx + "% long enough for two\n", ":4 ", "after 1 of the 2 entries", "whole");
  refuses(mtx + "2 1\n3 1\n", ":5 ", "more entries than the 2");
  refuses("p sp 3 2\na 1 2 3\nc long enough\n", ":3 ", "after 1 of the 2 entries");
  refuses("p sp 3 1\na 1 2 3\na 1 2 3\n", ":3 ", "more entries than the 1");
  // The memory that a header claims is bounded by the bytes that follow.
  std::string const absurd = "1000000000000";
  refuses(std::string(pattern) + "3 3 " + absurd + "\n1 2\n", ":2 ", absurd, "4 bytes follow");
  refuses(std::string(pattern) + absurd + " " + absurd + " 1\n1 2\n", ":2 ", absurd, "32 bits");
  refuses("p sp 3 " + absurd + "\na 1 2 3\n", ":1 ", absurd, "8 bytes follow");
  refuses("p edge " + absurd + " 1\ne 1 2\n", ":1 ", absurd, "32 bits");
}

/// Returns the file with one 64-bit or 32-bit word replaced.
template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
  return bytes;
}

TEST_CASE("graph files: serialized graphs that break") {
  std::string const good = sg(true, 3, {{0, 1}, {1, 2}});
  // The header ends at byte 17, four offsets at 49, two entries at 57, four offsets at 89; two
  // entries follow.
  for (std::size_t size = 1; size < 17; ++size)
    refuses(good.substr(0, size), " at byte 0 ", "ends within its header");
  for (std::size_t size = 17; size < good.size(); ++size)
    refuses(good.substr(0, size), " at byte 0 ", "3 vertices and 2 entries", "whole");
  refuses(good + "x", " at byte 0 ", std::to_string(good.size() + 1) + " bytes");
  refuses(with(good, 1, std::int64_t(1) << 60), " at byte 0 ", "1152921504606846976 entries");
  refuses(with(good, 9, std::int64_t(-5)), " at byte 0 ", "-5 vertices");
  refuses(with(good, 17, std::int64_t(1)), " at byte 17 ", "first offset");
  refuses(with(good, 33, std::int64_t(0)), " at byte 33 ", "descend at vertex 1");
  refuses(with(good, 41, std::int64_t(7)), " at byte 41 ", "last offset is 7");
  refuses(with(good, 53, std::int32_t(3)), " at byte 53 ", "vertex id 3", "3 vertices");
  refuses(with(good, 81, std::int64_t(1)), " at byte 81 ", "last offset is 1");
  refuses(with(good, 93, std::int32_t(-2)), " at byte 93 ", "vertex id -2");
  refuses(with(good, 93, std::int32_t(2)), " at byte 0 ", "not the outgoing ones reversed");
  refuses(sg(false, 2, {{0, 1}}), " at byte 0 ", "not every edge", "reverse");

  std::string weighted = sg(false, 2, {{0, 1}, {1, 0}});
  weighted += std::string(8, '\1');
  refuses(weighted, " at byte 0 ", "with weights", "without");
}

// Files that look like another format.

constexpr char sized[] = "5 5 3\n2 3 1.0\n3 4 2.0\n3 5 3.0\n";  // MatrixMarket without its banner

TEST_CASE("graph files: a banner behind empty lines") {
  std::string const rest = "matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n";
  for (std::string const before : {"", "\n", "\r\n", " \t \n", "\n\n\n", " "}) {
    reads(before + "%%MatrixMarket " + rest, 3, {{1, 0}, {2, 0}}, true);
    if (reads_gzip()) reads(packed(before + "%%MatrixMarket " + rest), 3, {{1, 0}, {2, 0}}, true);
  }
  reads("\xef\xbb\xbf\n%%MatrixMarket " + rest, 3, {{1, 0}, {2, 0}}, true);
}

TEST_CASE("graph files: a banner that is none") {
  std::string const rest = " matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n";
  for (std::string const mark : {"", "%", "#", "% ", "# ", "#%", "%#%", "  % "})
    for (std::string const word : {"MatrixMarket", "matrixmarket", "MATRIXMARKET"})
      for (std::string const before : {"", "\n"})
        refuses(before + mark + word + rest, before.empty() ? ":1 " : ":2 ", "'%%MatrixMarket'",
                "--format");
  for (std::string const before : {"% exported\n", "#\n", "% a\n\n# b\n"})
    refuses(before + "%%MatrixMarket" + rest, ":", "not its first line", "--format");
  // The user may force a banner with one percent sign, but not a missing one.
  CHECK(list_of("%MatrixMarket" + rest, as(graph_format::matrix_market)).vertices == 3);
  refuses_as(as(graph_format::matrix_market), "g", sized, "in the place of '%%MatrixMarket'");
}

TEST_CASE("graph files: sizes above the edges, without a banner") {
  for (std::string const before : {"", "\n", "# c\n", "#\n\n"}) {
    refuses(before + sized, ":", "'5 5 3'", "sizes", "--format edges");
    refuses(before + "3 3 2\n2 1\n3 1\n", ":", "'3 3 2'", "sizes", "--format");
    refuses(before + "3 3 5\n2 1\n3 1\n", ":", "'3 3 5'");  // truncated
    refuses(before + "3 4 2\n2 1\n3 4\n", ":", "'3 4 2'");  // not square
    refuses(before + "4 3\n1 2\n2 3\n3 4\n", ":", "'4 3'", "sizes", "--format");
    refuses(before + "4 3\n0 1 .5\n1 2 .5\n2 3 .5\n", ":", "'4 3'", "sizes", "--format");
  }
  refuses("5\t5\t3\r\n2\t3\t1.0\r\n3\t4\t2.0\r\n3\t5\t3.0\r\n", ":1 ", "sizes");
  CHECK(list_of(sized, as(graph_format::edges)).sources.size() == 4);
  // Lists of edges that begin with large numbers.
  reads("5 4\n5 3\n5 2\n5 1\n5 0\n", 6, {{5, 4}, {5, 3}, {5, 2}, {5, 1}, {5, 0}});
  reads("5 5 3\n0 1 2\n", 6, {{5, 5}, {0, 1}});
  reads("5 5 3\n6 1 2\n", 7, {{5, 5}, {6, 1}});
  reads("3 4 1\n1 2 1\n2 3 1\n", 5, {{3, 4}, {1, 2}, {2, 3}});
}

/// Returns a line of numbers, with `mark` between them.
std::string joined(std::vector<std::uint32_t> const& numbers, std::string const& mark) {
  std::string line;
  for (std::uint32_t const n : numbers) line += (line.empty() ? "" : mark) + std::to_string(n);
  return line;
}

/// Returns a ring of n vertices whose ids begin at `first`: lines of one edge each.
std::vector<std::string> ring(std::uint32_t n, std::uint32_t first, bool weights,
                              std::string const& mark, std::string const& end) {
  std::vector<std::string> lines;
  for (std::uint32_t v = 0; v < n; ++v) {
    std::vector<std::uint32_t> edge = {first + v, first + (v + 1) % n};
    if (weights) edge.push_back(90 + v);
    lines.push_back(joined(edge, mark) + end);
  }
  return lines;
}

TEST_CASE("graph files: sizes of any list") {
  word_numbers const any = [](auto const& words, std::uint32_t* out) {
    std::fill(out, out + words.size(), 0u);
  };
  for (std::string const mark : {" ", "\t", ",", ";", ", ", " ; ", "  "})
    for (std::string const before : {"", "# c\n\n"})
      for (std::uint32_t const first : {0u, 1u})
        for (bool const weights : {false, true})
          for (bool const matrix : {false, true})
            for (std::uint32_t const n : {1u, 2u, 5u, 30u}) {
              auto const lines = ring(n, first, weights, mark, first == 0 ? "\r\n" : "\n");
              std::string text = before, more;
              std::vector<std::uint32_t> sizes = {n, n};
              if (matrix) sizes.insert(sizes.begin(), n);
              text += joined(sizes, mark) + "\n";
              for (std::string const& line : lines) text += line;
              std::string const place = before.empty() ? ":1 " : ":3 ";
              if (mark != " " && mark != "  " && mark != "\t") {
                refuses(text, place, "'" + joined(sizes, mark) + "'", "sizes", "--format edges");
              } else {  // also a possible METIS file
                refuses(text, place, "--format");
              }
              karpos_test::throws<graph_file_error>([&] { parse_graph(text, "g", {}, any); },
                                                    "--format");
              CHECK(list_of(text, as(graph_format::edges)).sources.size() == n + 1);
              // With one line more, or fewer vertices, the first line is an edge.
              if (n < 5 || (matrix && first == 1) || matrix != weights) continue;
              std::string const last = lines.front();
              CHECK(list_of(text + last).sources.size() == n + 2);
              sizes.front() -= 1;
              more = joined(sizes, mark) + "\n";
              for (std::string const& line : lines) more += line;
              CHECK(list_of(more).sources.size() == n + 1);
            }
}

TEST_CASE("graph files: sizes, in other words") {
  // The separator of the sizes may differ from that of the ids.
  refuses("3,2\n0 1\n1 2\n", ":1 ", "'3,2'", "--format edges");
  refuses("10,10,3\n1 2 7\n2 3 7\n9 10 7\n", ":1 ", "'10,10,3'", "--format edges");
  refuses("5 0\n", ":1 ", "'5 0'", "--format edges");
  refuses("3 2\n0 1 {}\n1 2 {}\n", ":1 ", "'3 2'");
  refuses("4,3,2\n0,2\n3,1\n", ":1 ", "'4,3,2'");
  refuses("# c\nvertices,edges\n3,2\n0,1\n1,2\n", ":3 ", "'3,2'", "--format edges");
  refuses("n\tm\n3\t2\n0\t1\n1\t2\n", ":2 ", "--format edges");
  refuses("rows cols nnz\n3 3 2\n1 2 .5\n3 2 .5\n", ":2 ", "'3 3 2'");
  word_numbers const any = [](auto const& words, std::uint32_t* out) {
    std::fill(out, out + words.size(), 0u);
  };
  karpos_test::throws<graph_file_error>(
      [&] { parse_graph("\"3\",\"2\"\n\"0\",\"1\"\n\"1\",\"2\"\n", "g", {}, any); }, "sizes");
  // If ids begin at 0, the largest is below the number of vertices; if they begin at 1, it may be
  // equal.
  reads("5,4\n5,3\n5,2\n5,1\n5,0\n", 6, {{5, 4}, {5, 3}, {5, 2}, {5, 1}, {5, 0}});
  reads("5 5 4\n0 1 9\n1 2 9\n2 3 9\n3 5 9\n", 6, {{5, 5}, {0, 1}, {1, 2}, {2, 3}, {3, 5}});
  reads("source,target\n3,2\n0,1\n1,2\n", 4, {{3, 2}, {0, 1}, {1, 2}});
  reads("0 0\n", 1, {{0, 0}});
  reads("3 2 0.5\n0 1 0.5\n1 2 0.5\n", 4, {{3, 2}, {0, 1}, {1, 2}});
}

TEST_CASE("graph files: rows of neighbours that are as long as edges with weights") {
  // Every vertex has a row, and so has each of its neighbours.
  for (std::string const mark : {" ", "\t"})
    for (std::uint32_t const n : {3u, 4u, 9u})
      for (std::uint32_t const degree : {2u, 3u}) {
        if (degree >= n) continue;
        std::string text;
        for (std::uint32_t v = 0; v < n; ++v) {
          std::vector<std::uint32_t> row = {v};
          for (std::uint32_t i = 1; i <= degree; ++i) row.push_back((v + i) % n);
          text += joined(row, mark) + "\n";
        }
        refuses(text, ":1 ", "neighbours", "--format edges");
        CHECK(list_of(text, as(graph_format::edges)).sources.size() == n);
        text.replace(0, 1, "1");  // two rows for one vertex
        CHECK(list_of(text).sources.size() == n);
      }
  edge_list const g = list_of("0 1 9\n1 2 7\n2 0 8\n", with_weights);  // no vertex has the id 9
  CHECK(g.weights == std::vector<double>{9, 7, 8});
  CHECK(g.layout.columns == 3);
  reads("0 1 1\n1 2 1\n2 0 1\n", 3, {{0, 1}, {1, 2}, {2, 0}});
  reads("0 1 2 5\n1 2 0 5\n2 0 1 5\n", 3, {{0, 1}, {1, 2}, {2, 0}});
  // The comment that networkx writes above such rows.
  std::string const head = "#write.py\n# GMT Thu Nov 26 06:00:00 2026\n# \n";
  refuses(head + "0 1 2\n1 5 6\n", ":4 ", "networkx", "write_edgelist", "--format edges");
  refuses(head + "0\n1 5\n", ":4 ", "networkx");
  refuses(head + "ann bob carol\n", ":4 ", "networkx");
  reads(head + "0 1\n1 2\n", 3, {{0, 1}, {1, 2}});
}

TEST_CASE("graph files: columns of a list") {
  auto const columns = [](std::string const& text) { return list_of(text).layout.columns; };
  CHECK(columns("0 1\n1 2\n") == 2);
  CHECK(columns("0 1 {'weight': 7}\n") == 2);
  CHECK(columns("u,v,w\n0,1,7\n") == 3);
  CHECK(columns("0 1 7 1300000000\n") == 4);
  word_numbers const any = [](auto const& words, std::uint32_t* out) {
    std::fill(out, out + words.size(), 0u);
  };
  CHECK(std::get<edge_list>(parse_graph("ann bob 3\n", "g", {}, any)).layout.columns == 3);
  CHECK(columns("p sp 2 1\na 1 2 7\n") == 0);
}

TEST_CASE("graph files: a message does not advise what was given") {
  struct wrong {
    graph_format format;
    std::string text;
  };
  wrong const all[] = {{graph_format::matrix_market, sized},
                       {graph_format::matrix_market, "0 1\n"},
                       {graph_format::metis, "0 1\n"},
                       {graph_format::metis, "3 2\n2\n1 3\n"},
                       {graph_format::metis, "2 2\n2\n1 2\n1\n"},
                       {graph_format::metis, "# c\n2 1\n2\n1\n"},
                       {graph_format::edges, "0\n"},
                       {graph_format::edges, "a b\n"},
                       {graph_format::edges, "0 1 2 3 4\n"},
                       {graph_format::edges, "0 " + std::string(70000, '1') + "\n"},
                       {graph_format::dimacs, "0 1\n"},
                       {graph_format::dimacs, "p sp 2 1\n"}};
  for (auto const& [format, text] : all) {
    std::string const given = "--format " + graph_format_names()[static_cast<std::size_t>(format)];
    INFO(given, ": ", text);
    std::string said;
    try {
      list_of(text, as(format));
    } catch (graph_file_error const& e) {
      said = e.what();
    }
    CHECK(said.find("karpos: cannot read") == 0);
    CHECK(said.find(given) == said.npos);
    CHECK(said.find("say what it is by `--format`") == said.npos);
  }
  // The message suggests no format that would refuse the file as well.
  for (std::string const text :
       {"% c\n%%MatrixMarket matrix coordinate pattern general\n",
        "#MatrixMarket matrix coordinate pattern general\n", "% c\n0 1\n"}) {
    std::string said;
    try {
      list_of(text);
    } catch (graph_file_error const& e) {
      said = e.what();
    }
    CHECK(said.find("--format edges") != said.npos);
    CHECK(said.find("--format matrixmarket") == said.npos);
  }
}

TEST_CASE("graph files: METIS with comments of another format") {
  for (std::string const text : {"# c\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
                                 "4 3\n2 3 4\n# c\n1\n1\n1\n", "4 3\n2 3 4\n1\n1\n1\n# c\n",
                                 "# c\n# d\n3 2 001\n2 5\n1 5 3 6\n2 6\n"}) {
    refuses(text, ":", "a comment with '#'", "METIS marks comments by '%'");
    refuses_as(as(graph_format::metis), "g", text, "METIS marks comments by '%'");
    refuses_as({}, "g.graph", text, "METIS marks comments by '%'");
  }
  refuses("# c\n4 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n", ":2 ", "METIS graph, and a list of edges");
}

TEST_CASE("graph files: arcs of DIMACS without weights") {
  for (std::string const arcs : {"a 1 2\na 2 3\n", "a 1 2 4\na 2 3\n", "a 1 2\na 2 3 4\n"}) {
    reads("p sp 3 2\n" + arcs, 3, {{0, 1}, {1, 2}});
    refuses_as(with_weights, "g", "p sp 3 2\n" + arcs, "the arc has no weight", "--random-weights");
  }
  CHECK(list_of("p edge 3 2\ne 1 2\ne 2 3\n", with_weights).weights.empty());
}

TEST_CASE("graph files: comments with percents") {
  refuses("% c\n0 1\n1 2\n", ":2 ", "'%'", "--format edges");
  refuses("\n%\n% c\n0 1\n", ":4 ", "'%'", "--format edges");
  edges const two = {{0, 1}, {1, 2}};
  CHECK(edges_of(list_of("% c\n0 1\n1 2\n", as(graph_format::edges))) == two);
  for (std::string const kind : {"sym unweighted", "asym positive"})
    reads("% " + kind + "\n% 2 3 3\n0 1\n1 2\n", 3, two);  // as KONECT writes them
  refuses("% bip unweighted\n% 2 2 2\n1 1\n1 2\n", ":1 ", "two sides", "--format edges");
  reads("# c\n% c\n0 1\n1 2\n", 3, two);
}

TEST_CASE("graph files: names tell the format where the content does not") {
  for (std::string const end : {"mtx", "MTX", "mtx.gz", "mm"})
    refuses_as({}, "g." + end, "0 1\n1 2\n", "without the banner", "--format");
  for (std::string const end : {"gr", "col", "dimacs", "gr.gz"})
    refuses_as({}, "g." + end, "0 1\n1 2\n", "without a line 'p sp", "--format");
  for (std::string const end : {"graph", "metis", "graph.gz"}) {
    CHECK(edges_of(list_of("3 2\n2\n1 3\n2\n", {}, "a/g." + end)) == edges{{0, 1}, {1, 2}});
    refuses_as({}, "g." + end, "0 1\n1 2\n", "--format");
  }
  std::string const matrix = std::string(pattern) + "2 2 1\n1 2\n", dimacs = "p sp 2 1\na 1 2 1\n";
  for (std::string const name : {"g.graph", "g.gr", "g.txt", "graph", "g.mtx"}) {
    CHECK(edges_of(list_of(matrix, {}, name)) == edges{{0, 1}});
    CHECK(edges_of(list_of(dimacs, {}, name)) == edges{{0, 1}});
  }
  for (std::string const name : {"g.txt", "mtx", "a.mtx/g", "g.mtx.txt", "graph", "a.graph/g"})
    CHECK(edges_of(list_of("0 1\n1 2\n", {}, name)) == edges{{0, 1}, {1, 2}});
  CHECK(edges_of(list_of("0 1\n", as(graph_format::edges), "g.mtx")) == edges{{0, 1}});
}

TEST_CASE("graph files: a format that is forced") {
  refuses_as(as(graph_format::dimacs), "g", "0 1\n", ":1 ", "before the line 'p sp");
  refuses_as(as(graph_format::metis), "g", "0 1\n", ":1 ");
  refuses_as(as(graph_format::edges), "g", "a b\n", ":1 ", "'a'", "--format");
  refuses_as(as(graph_format::serialized), "g", "0 1\n", " at byte 0");
  CHECK(parse_graph_format("metis") == graph_format::metis);
  CHECK(parse_graph_format("auto") == graph_format::automatic);
  CHECK(parse_graph_format("sg") == graph_format::serialized);
  karpos_test::throws<std::invalid_argument>([] { parse_graph_format("chaco"); }, "'chaco'",
                                             "auto, edges, matrixmarket, dimacs, metis, sg");
}

// METIS files.

constexpr char metis[] =
    "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";  // the example of its manual
edges const of_metis = {{0, 4}, {0, 2}, {0, 1}, {1, 2}, {1, 3}, {2, 4},
                        {2, 3}, {3, 5}, {3, 6}, {4, 5}, {5, 6}};

TEST_CASE("graph files: METIS") {
  reads(metis, 7, of_metis, true);
  if (reads_gzip()) reads(packed(metis), 7, of_metis, true);
  std::string lines = metis;
  for (std::size_t at = 0; (at = lines.find('\n', at)) != lines.npos; at += 4)
    lines.replace(at, 1, " \r\n%");
  lines.resize(lines.size() - 1);
  for (std::size_t at = 0; (at = lines.find('%', at)) != lines.npos; at += 9)
    lines.insert(at + 1, " comment\n");
  reads("\xef\xbb\xbf% a\n\n%\n" + lines, 7, of_metis, true);
  // Vertices without neighbours have empty rows, even the first and the last vertex.
  reads("5 2\n\n3\n2 4\n3\n\n", 5, {{1, 2}, {2, 3}}, true);
  graph_read_options const forced = as(graph_format::metis);
  CHECK(list_of("3 0\n\n\n\n", forced).vertices == 3);
  CHECK(list_of("0 0\n", forced).vertices == 0);
  CHECK(edges_of(list_of("2 1\n2\n1", forced)) == edges{{0, 1}});
  CHECK(edges_of(list_of("2 1\n2\n1\n\n \n", forced)) == edges{{0, 1}});
  // A row may be longer than any line of an edge.
  std::string star = "20001 20000\n", rest;
  for (int i = 2; i <= 20001; ++i) star += std::to_string(i) + " ", rest += "1\n";
  CHECK(list_of(star + "\n" + rest).sources.size() == 20000);
}

TEST_CASE("graph files: METIS with weights") {
  edges const path = {{0, 1}, {1, 2}};
  struct flagged {
    std::string fmt, text;
  };
  flagged const all[] = {
      {"", "2\n1 3\n2\n"},
      {" 0", "2\n1 3\n2\n"},
      {" 000", "2\n1 3\n2\n"},
      {" 1", "2 5\n1 5 3 6\n2 6\n"},
      {" 001", "2 5\n1 5 3 6\n2 6\n"},
      {" 10", "9 2\n9 1 3\n9 2\n"},
      {" 010 1", "9 2\n9 1 3\n9 2\n"},
      {" 010 3", "9 8 7 2\n9 8 7 1 3\n9 8 7 2\n"},
      {" 11", "9 2 5\n9 1 5 3 6\n9 2 6\n"},
      {" 100", "4 2\n4 1 3\n4 2\n"},
      {" 110 2", "4 9 8 2\n4 9 8 1 3\n4 9 8 2\n"},
      {" 101", "4 2 5\n4 1 5 3 6\n4 2 6\n"},
      {" 111 2", "4 9 8 2 5\n4 9 8 1 5 3 6\n4 9 8 2 6\n"},
  };
  for (auto const& [fmt, text] : all)
    for (bool const weights : {false, true}) {
      INFO(fmt);
      edge_list const g =
          list_of("3 2" + fmt + "\n" + text, {.format = graph_format::metis, .weights = weights});
      CHECK(edges_of(g) == path);
      bool const told = weights && fmt.find('1') != fmt.npos &&
                        fmt[fmt.find_last_of("01")] == '1' && fmt != " 010 1";
      CHECK(g.weights == (told ? std::vector<double>{5, 6} : std::vector<double>{}));
    }
}

TEST_CASE("graph files: METIS that breaks") {
  auto const refuses_metis = [](std::string const& bytes, auto const&... words) {
    refuses_as(as(graph_format::metis), "g", bytes, words...);
  };
  refuses_metis("3 3\n2\n1 3\n2\n", "4 neighbours", "are 6");
  refuses_metis("3 4\n2\n1 3\n2\n", "the rows have 4 neighbours", "are 8");  // m counts both ways
  refuses_metis("3 1\n2\n1 3\n2\n", ":3 ", "more neighbours than the two for each of the 1");
  refuses_metis("4 2\n2\n1 3\n2\n", ":4 ", "ends after 3 of the 4 rows", "empty row");
  refuses_metis("2 2\n2\n1 2\n1\n", ":3 ", "vertex 2 is its own neighbour");
  refuses_metis("2 1\n2\n1\n\n1\n", ":5 ", "more rows than the 2");
  refuses_metis("3 2\n2\n1 4\n2\n", ":3 ", "vertex id 4", "3 vertices");
  refuses_metis("3 2\n0\n1 2\n1\n", "count from 1");
  refuses_metis("% c\n4 2\n2\n3 1\n4\n\n", ":4 ", "vertex 2 has the neighbour 3",
                "row of 3 lacks it");
  refuses_metis("4 2\n2\n3 1\n\n3\n", "vertex 2 has the neighbour 3", "row of 3 lacks it");
  refuses_metis("3 2 1\n2 5\n1 5 3\n2 6\n", ":3 ", "ends before the weight");
  refuses_metis("3 2 010 2\n1 2\n\n1 1\n", ":3 ", "before the size or weight of the vertex");
  refuses_metis("3 2 2\n", ":1 ", "the format '2'", "three digits");
  refuses_metis("3 2 0011\n", ":1 ", "the format '0011'");
  refuses_metis("3 2 1 1 1\n", ":1 ", "goes on with '1'");
  refuses_metis("3\n", ":1 ", "ends before the number of edges");
  refuses_metis("% c\n", "no line 'VERTICES EDGES'");
  refuses_metis("-3 2\n", ":1 ", "negative");
  refuses_metis("99999999999 2\n", ":1 ", "32 bits");
  refuses_metis("4000000000 2\n1\n", ":1 ", "4000000000 rows", "2 bytes follow");
  refuses_metis("3 9999999999999\n1\n", ":1 ", "bytes follow");
  refuses_metis("3 2 010 9999999999999\n1\n", ":1 ", "bytes follow");
  refuses_metis("99999999999999999999 2\n", ":1 ", "too large");
  refuses_as({.format = graph_format::metis, .weights = true}, "g", "3 2 1\n2 5\n1 7 3 6\n2 6\n",
             "has another weight");
  refuses_as({.format = graph_format::metis, .weights = true}, "g", "2 1 1\n2 -5\n1 -5\n", ":2 ",
             "'-5' is negative", "--random-weights");
}

TEST_CASE("graph files: METIS that nobody names") {
  reads("4 3\n2 3 4\n1\n1\n1\n", 4, {{0, 1}, {0, 2}, {0, 3}}, true);
  reads("% c\n3 2 001\n2 5\n1 5 3 6\n2 6\n", 3, {{0, 1}, {1, 2}}, true);
  // Files that could be either format are refused: a ring, a graph of four neighbours, ...
  refuses("4 4\n2 4\n1 3\n2 4\n1 3\n", ":1 ", "METIS graph, and a list of edges", "--format");
  refuses("4 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n", ":1 ", "METIS graph, and a list of edges");
  // ... and METIS files with a mistake, since rows of numbers rarely differ in length by chance.
  std::string wrong = metis;
  wrong.replace(0, 4, "7 12");
  refuses(wrong, ":2 ", "a row of 3 numbers", "--format metis");
  refuses("3 3\n2 3\n1 3\n1\n", ":4 ", "--format");
  refuses("0 1 7\n1 2\n", ":2 ", "a row of 2 numbers behind rows of 3", "--format edges");
  refuses("0 1\n1 2 7\n", ":2 ", "a row of 3 numbers behind rows of 2", "--format edges");
  refuses("0 1 2 3 4\n", ":1 ", "goes on with '4'", "--format metis");
  edge_list const g = list_of("0 1 7\n1 2\n", as(graph_format::edges));
  CHECK(edges_of(g) == edges{{0, 1}, {1, 2}});
}

// Weights and other values.

TEST_CASE("graph files: unsigned integers in a MatrixMarket file") {
  std::string const head = "%%MatrixMarket matrix coordinate unsigned-integer ";
  reads(head + "general\n3 3 1\n1 2 1\n", 3, {{0, 1}});
  reads(head + "symmetric\n3 3 1\n2 1 18446744073709551615\n", 3, {{1, 0}}, true);
  refuses(head + "general\n3 3 1\n1 2   \n", ":3 ", "ends before the value");
}

TEST_CASE("graph files: comments of any length") {
  std::string const filling(200'000, 'x');
  edges const one = {{0, 1}};
  reads("#" + filling + "\n0 1\n#" + filling + "\n", 2, one);
  reads(std::string(pattern) + "%" + filling + "\n2 2 1\n%" + filling + "\n1 2\n%" + filling, 2,
        one);
  reads("c " + filling + "\np sp 2 1\nc " + filling + "\na 1 2 1\nc " + filling, 2, one);
  CHECK(edges_of(list_of("%" + filling + "\n2 1\n%" + filling + "\n2\n1\n%" + filling,
                         as(graph_format::metis))) == one);
  refuses("0 1 " + filling + "\n", ":1 ", "a line of 200004 bytes");
}

TEST_CASE("graph files: DIMACS with lines of vertices") {
  reads("p edge 3 2\nn 1 5\nn 3 -2\ne 1 2\nn 2\ne 3 1\n", 3, {{0, 1}, {2, 0}}, true);
  reads("c g\np col 3 1\nd 2\nv 1 .5\nx seed 7\ne 1 2\n", 3, {{0, 1}}, true);
  reads("p sp 3 1\nn 1 s\na 1 2 4\n", 3, {{0, 1}});
  refuses("p edge 3 1\nn 4 1\ne 1 2\n", ":2 ", "vertex id 4");
  refuses("p edge 3 1\nn\ne 1 2\n", ":2 ", "ends before a vertex id");
  refuses("p sp 3 1\nd 2\na 1 2 4\n", ":2 ", "kind 'd'");
}

TEST_CASE("graph files: attributes of networkx") {
  edges const two = {{1, 2}, {2, 3}};
  reads("1 2 {}\n2 3 {}\n", 4, two);
  reads("1 2 {'weight': 3.5}\n2 3 {'colour': 'a}b', \"x\": [1, {2: (3)}], 'weight': 1e2}\r\n", 4,
        two);
  reads("1,2,{}\n2,3,{'a': 1, 'b': None}\n", 4, two);
  reads("1\t2\t{}\n2\t3\t{'a': 'it\\'s'}\n", 4, two);
  refuses("1 2 {'weight': 3\n", ":1 ", "do not end");
  refuses("1 2 {'weight: 3}\n", ":1 ", "do not end");
  refuses("1 2 {} 3\n", ":1 ", "goes on with '3'");
  auto const weights = [](std::string const& text) { return list_of(text, with_weights).weights; };
  CHECK(weights("1 2 {}\n2 3 {}\n").empty());
  CHECK(weights("1 2 {'weight': 3.5}\n2 3 {'a': {'weight': 7}, 'weight': 2}\n") ==
        std::vector<double>{3.5, 2});
  CHECK(weights("1 2 {'weight': 2, 'a': {'weight': 7}}\n") == std::vector<double>{2});
  CHECK(weights("1 2 {'a': 'weight', 'weights': 9, \"weight\":4 , 'z': ','}\n") ==
        std::vector<double>{4});
  refuses_as(with_weights, "g", "1 2 {'weight': 1}\n2 3 {}\n", ":2 ", "no weight",
             "--random-weights");
  refuses_as(with_weights, "g", "1 2 {'weight': 'x'}\n", ":1 ", "no number");
  refuses_as(with_weights, "g", "1 2 {'weight': -1}\n", ":1 ", "'-1' is negative");
}

TEST_CASE("graph files: weights") {
  auto const weights = [](std::string const& text) { return list_of(text, with_weights).weights; };
  using numbers = std::vector<double>;
  std::string const banner = "%%MatrixMarket matrix coordinate ";
  CHECK(weights(banner + "real general\n3 3 2\n1 2 2.5\n2 3 +1e-3\n") == numbers{2.5, 1e-3});
  CHECK(weights(banner + "integer symmetric\n3 3 2\n2 1 7\n3 2 0\n") == numbers{7, 0});
  CHECK(weights(banner + "unsigned-integer general\n3 3 1\n2 1 7\n") == numbers{7});
  CHECK(weights(std::string(pattern) + "3 3 1\n2 1\n").empty());
  CHECK(weights("p sp 3 2\na 1 2 30\na 2 3 1.5\n") == numbers{30, 1.5});
  CHECK(weights("p edge 3 2\ne 1 2\ne 2 3\n").empty());
  CHECK(weights("0 1 0.25\n1 2 3\n") == numbers{0.25, 3});
  CHECK(weights("0 1 7 1300000000\n1 2 8 1300000001\n") == numbers{7, 8});
  CHECK(weights("0,1,7\n1,2,8\n") == numbers{7, 8});
  CHECK(weights("0 1\n1 2\n").empty());
  CHECK(weights("0 1 1e-400\n1 2 5e-324\n") == numbers{0, 5e-324});
  CHECK_FALSE(std::signbit(weights("0 1 -0\n1 2 1\n")[0]));
  CHECK(list_of("0 1 7\n").weights.empty());  // not requested

  for (std::string const word : {"-1", "-1e-300", "nan", "-nan", "inf", "-inf", "1e400"}) {
    std::string const said = "'" + word + "' is ";
    refuses_as(with_weights, "g", "0 1 1\n1 2 " + word + "\n", ":2 ", said, "--random-weights");
    refuses_as(with_weights, "g", banner + "real general\n3 3 1\n1 2 " + word + "\n", ":3 ", said,
               "--random-weights");
    refuses_as(with_weights, "g", "p sp 3 1\na 1 2 " + word + "\n", ":2 ", said);
    CHECK(list_of("0 1 1\n1 2 " + word + "\n").sources.size() == 2);
  }
  refuses_as(with_weights, "g", banner + "complex hermitian\n3 3 1\n3 1 1 -1\n", ":1 ", "complex",
             "--random-weights");
  refuses_as(with_weights, "g", banner + "real skew-symmetric\n3 3 1\n3 1 1\n", ":1 ", "negative",
             "--random-weights");
  refuses_as(with_weights, "g", "0 1 1.5\n1 2\n", ":2 ", "no weight, but those before");
  refuses_as(with_weights, "g", "0,1\n1,2,5\n", ":2 ", "a weight, but those before have none");
  refuses_as(with_weights, "g", "p sp 3 2\na 1 2 4\na 2 3\n", ":3 ", "no weight");
}

/// Returns the edges of a list as pairs of words.
std::vector<std::pair<std::string, std::string>> words_of(std::string const& bytes) {
  std::vector<std::string> seen;
  word_numbers const number = [&](auto const& words, std::uint32_t* out) {
    for (std::string_view const word : words) {
      auto const at = std::find(seen.begin(), seen.end(), word);
      *out++ = static_cast<std::uint32_t>(at - seen.begin());
      if (at == seen.end()) seen.emplace_back(word);
    }
  };
  auto const g = std::get<edge_list>(parse_graph(bytes, "g", {}, number));
  CHECK(g.vertices == seen.size());
  std::vector<std::pair<std::string, std::string>> list;
  for (auto const& [u, v] : edges_of(g)) list.emplace_back(seen.at(u), seen.at(v));
  return list;
}

TEST_CASE("graph files: words for vertices") {
  using names = std::vector<std::pair<std::string, std::string>>;
  CHECK(words_of("ann bob\n# x y\n  bob\tcarol 2.5 1e9\r\n") ==
        names{{"ann", "bob"}, {"bob", "carol"}});
  CHECK(words_of("7 007\n18446744073709551616 -1\n") ==
        names{{"7", "007"}, {"18446744073709551616", "-1"}});
  CHECK(words_of("New York , St. Louis\n\"Rome, NY\",Bath,3\n") ==
        names{{"New York", "St. Louis"}, {"Rome, NY", "Bath"}});
  CHECK(words_of("\"a;b\" c\n") == names{{"a;b", "c"}});
  CHECK(words_of("a;b\nc d;e,f\n") == names{{"a", "b"}, {"c d", "e,f"}});
  CHECK(words_of("Bath\tNew York\nNew York\tRome\t5\n") ==
        names{{"Bath", "New York"}, {"New York", "Rome"}});
  CHECK(words_of("1 2\n3\t4\n") == names{{"1", "2"}, {"3", "4"}});
  // Lines that begin with one letter occur in DIMACS files too.
  CHECK(words_of("c d\np q\na b\ne sp\n") ==
        names{{"c", "d"}, {"p", "q"}, {"a", "b"}, {"e", "sp"}});
}

TEST_CASE("graph files: formats whose vertices are numbers have no words") {
  word_numbers const none = [](auto const&, std::uint32_t*) { FAIL("there are no words"); };
  for (std::string const& bytes :
       {std::string("c ann bob\np sp 3 1\na 1 3 1\n"), std::string(pattern) + "3 3 1\n1 3\n"})
    CHECK(edges_of(std::get<edge_list>(parse_graph(bytes, "g", {}, none))) == edges{{0, 2}});
}

TEST_CASE("graph files: a header above a list") {
  using names = std::vector<std::pair<std::string, std::string>>;
  names const numbers = {{"1", "2"}, {"2", "3"}};
  CHECK(words_of("source,target\n1,2\n2,3\n") == numbers);
  CHECK(words_of("x y\n1 2\n2 3\n") == numbers);
  CHECK(words_of("# c\n\n\"Source\"\t\"Target\"\t\"Weight\"\n1\t2\t5\n2\t3\t6\n") == numbers);
  CHECK(words_of("from;to\r\nann;bob\r\n") == names{{"ann", "bob"}});
  CHECK(words_of("who,whom,how much\nann,bob,3\n") == names{{"ann", "bob"}});
  reads("source,target\n1,2\n2,3\n", 4, {{1, 2}, {2, 3}});
  reads("a b c\n1 2 0.5\n2 3 0.5\n", 4, {{1, 2}, {2, 3}});
  CHECK(list_of("u,v,w\n1,2,5\n", with_weights).weights == std::vector<double>{5});
  CHECK(list_of("u,v,w\n1,2,5\n").layout.header == "u,v,w");
  CHECK(list_of("1,2,5\n").layout.header == "");
  // These first lines are edges, not headers.
  CHECK(words_of("ann bob\n1 2\nbob 3\n") == names{{"ann", "bob"}, {"1", "2"}, {"bob", "3"}});
  CHECK(words_of("source drain\nann bob\n") == names{{"source", "drain"}, {"ann", "bob"}});
  CHECK(words_of("ann 1\n1 2\n") == names{{"ann", "1"}, {"1", "2"}});
  CHECK(words_of("from to\n") == names{{"from", "to"}});
}

TEST_CASE("graph files: words do not hide a format") {
  word_numbers const none = [](auto const&, std::uint32_t*) { FAIL("there are no words"); };
  for (std::string const& bytes :
       {std::string(sized),
        std::string("%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n")})
    karpos_test::throws<graph_file_error>([&] { parse_graph(bytes, "g", {}, none); }, "--format");
  CHECK(edges_of(std::get<edge_list>(parse_graph(metis, "g.graph", {}, none))) == of_metis);
  CHECK(edges_of(std::get<edge_list>(parse_graph(metis, "g", {}, none))) == of_metis);
  CHECK(words_of("a b {}\nb c {'weight': 2, 'x': 'y z'}\n") ==
        std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"b", "c"}});
}

TEST_CASE("graph files: many words") {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += "v" + std::to_string(i) + " hub\n";
  std::uint32_t next = 0;
  word_numbers const number = [&](auto const& words, std::uint32_t* out) {
    for (std::string_view const word : words) *out++ = word == "hub" ? 0 : ++next;
  };
  auto const g = std::get<edge_list>(parse_graph(bytes, "g", {}, number));
  REQUIRE(g.sources.size() == 300'000);
  for (std::uint32_t i = 0; i < 300'000; ++i)
    if (g.sources[i] != i + 1 || g.targets[i] != 0) FAIL("edge " << i);
}

TEST_CASE("graph files: words that are none") {
  auto const refuses_words = [](std::string const& bytes, auto const&... words) {
    karpos_test::throws<graph_file_error>([&] { words_of(bytes); },
                                          "karpos: cannot read g:", words...);
  };
  refuses_words("ann bob\nann\n", "g:2 ", "ends before the target");
  refuses_words("ann,,bob\n", "g:1 ", "the target has no letter");
  refuses_words("\"\" bob\n", "the source has no letter");
  refuses_words("\"ann bob\n", "does not end");
  refuses_words("\"ann\"x bob\n", "'ann' goes on with 'x'");
  refuses_words("\"an\"\"n\" bob\n", "doubled quotes");
  refuses_words("an\tn,bob\n", "a tab in");
  refuses_words("1 2\t0.5\n", "g:1 ", "both tabs and other blanks");
  refuses_words("ann\tbob\n1 2\n", "g:2 ", "ends before the target");
  refuses_words("once upon a time\n", "'a' is no number");
  refuses_words("# nothing\n", "no edge");
}

TEST_CASE("graph files: what is no graph at all") {
  refuses("", " ", "it is empty");
  refuses("# only\n# comments\n", ":2 ", "no edge");
  refuses("\n\nonce upon a time\n", ":3 ", "'once upon a time' begins no graph", "MatrixMarket",
          "--relabel");
  refuses("graph {\n", ":1 ", "begins no graph");
  // Words that are letters of DIMACS.
  refuses("a b\nb c\n", ":1 ", "'a b' begins no graph", "--relabel");
  refuses("c d\np q\n", ":1 ", "'c d' begins no graph", "--relabel");
  refuses("p sp\n", ":1 ", "'p sp' begins no graph", "--relabel");
  refuses("e f 1\n", ":1 ", "'e f 1' begins no graph", "--relabel");
  refuses(std::string("\x7f"
                      "ELF\x02\x01\0\0\0\0",
                      10),
          " at byte 0 ", "neither a text nor");
  refuses(std::string("0 1\n0 \0 2\n", 10), " at byte 6 ", "neither a text nor");
}

/// A file that is removed at the end of the scope.
struct temporary_file {
  explicit temporary_file(std::string const& content)
      : path((std::filesystem::temp_directory_path() /
              ("karpos_graph_files_" + std::to_string(std::random_device()())))
                 .string()) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~temporary_file() { std::filesystem::remove(path); }
  std::string path;
};

TEST_CASE("graph files: from the disk") {
  temporary_file const good("0 1\n1 2\n"), bad("0 1\n1 z\n"), empty("");
  graph_file const file = read_graph(good.path);
  CHECK(edges_of(std::get<edge_list>(file)) == edges{{0, 1}, {1, 2}});
  auto const refuses_file = [](std::string const& path, auto const&... words) {
    karpos_test::throws<graph_file_error>([&] { read_graph(path); }, "karpos: cannot read " + path,
                                          words...);
  };
  refuses_file(bad.path, ":2 ", "'z'");
  refuses_file(empty.path, "it is empty");
  refuses_file(good.path + ".missing", "No such file", "check the path");
  refuses_file(std::filesystem::temp_directory_path().string(), "directory", "name a file");
}

TEST_CASE("graph files: progress goes from 0 to 1 and never back") {
  std::string large;
  while (large.size() < 10'000'000) large += "1234567 7654321\n";
  for (std::string const& bytes : {large, reads_gzip() ? packed(large) : large}) {
    double last = 0;
    int calls = 0;
    parse_graph(bytes, "g", [&](double part, std::string const& note) {
      CHECK(part >= last);
      CHECK(part <= 1);
      CHECK_FALSE(note.empty());
      last = part;
      ++calls;
    });
    CHECK(calls >= 3);
    CHECK(last > 0.5);
  }
}

}  // namespace
