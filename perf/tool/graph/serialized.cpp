// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "perf/tool/graph/input.hpp"

// Source: S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark Suite (2015), its Reader and
// Writer. The file holds, in the byte order of the machine:
// - a byte that is 1 for directed graphs,
// - the number of entries and the number of vertices, in 64 bits each,
// - offsets in 64 bits, entries in 32 bits,
// - for directed graphs the offsets and entries of the reversed edges.
// An edge of an undirected graph has two entries.

namespace karpos::perf::graph_input {
namespace {

constexpr std::size_t header_bytes = 1 + 2 * sizeof(std::uint64_t);

/// Reads values and arrays from the bytes, which begin at an odd address.
class byte_reader {
 public:
  explicit byte_reader(input const& in) : m_in(in) {}

  std::size_t offset() const { return m_offset; }

  template <class T>
  T read() {
    T value{};
    std::memcpy(&value, m_in.bytes.data() + m_offset, sizeof(T));
    m_offset += sizeof(T);
    return value;
  }
  template <class T>
  std::vector<T> read(std::uint64_t count) {
    std::vector<T> values(count);
    char* const to = reinterpret_cast<char*>(values.data());
    for (std::size_t done = 0, all = count * sizeof(T); done < all;) {
      std::size_t const part = std::min(report_bytes, all - done);
      std::memcpy(to + done, m_in.bytes.data() + m_offset, part);
      done += part;
      m_offset += part;
      m_in.show(m_offset, "reading arrays");
    }
    return values;
  }

  [[noreturn]] void fail_at(std::size_t offset, std::string const& why) const {
    fail(m_in.name + " at byte " + std::to_string(offset), why, "write the .sg file anew");
  }

 private:
  input const& m_in;
  std::size_t m_offset = 0;
};

/// Returns the size of a file whose entries have `entry_bytes` bytes, or 0 if the counts exceed the
/// file anyway.
std::uint64_t bytes_of(input const& in, bool directed, std::uint64_t vertices,
                       std::uint64_t entries, std::size_t entry_bytes) {
  if (vertices >= in.bytes.size() / 8 || entries > in.bytes.size() / 4) return 0;
  return header_bytes + (directed ? 2u : 1u) * ((vertices + 1) * 8 + entries * entry_bytes);
}

void check_size(input const& in, bool directed, std::uint64_t vertices, std::uint64_t entries) {
  if (bytes_of(in, directed, vertices, entries, 4) == in.bytes.size()) return;
  if (bytes_of(in, directed, vertices, entries, 8) == in.bytes.size())
    fail(in.name + " at byte 0", "a .sg graph with weights, which is called .wsg",
         "write it without weights");
  fail(in.name + " at byte 0",
       "as a .sg graph it announces " + std::to_string(static_cast<std::int64_t>(vertices)) +
           " vertices and " + std::to_string(static_cast<std::int64_t>(entries)) +
           " entries, which do not make its " + std::to_string(in.bytes.size()) + " bytes",
       "check that the file is whole, and a graph");
}

std::vector<std::uint64_t> read_offsets(byte_reader& bytes, std::uint64_t vertices,
                                        std::uint64_t entries) {
  std::size_t const begin = bytes.offset();
  auto offsets = bytes.read<std::uint64_t>(vertices + 1);
  auto const at = [&](std::uint64_t v) { return begin + v * sizeof(std::uint64_t); };
  if (offsets[0] != 0) bytes.fail_at(at(0), "the first offset is not 0");
  for (std::uint64_t v = 0; v < vertices; ++v)
    if (offsets[v + 1] < offsets[v])
      bytes.fail_at(at(v + 1), "the offsets descend at vertex " + std::to_string(v));
  if (offsets[vertices] != entries)
    bytes.fail_at(at(vertices), "the last offset is " + std::to_string(offsets[vertices]) +
                                    ", but there are " + std::to_string(entries) + " entries");
  return offsets;
}

std::vector<std::uint32_t> read_columns(byte_reader& bytes, std::uint64_t vertices,
                                        std::uint64_t entries) {
  std::size_t const begin = bytes.offset();
  auto columns = bytes.read<std::uint32_t>(entries);
  auto const bad = std::find_if(columns.begin(), columns.end(),
                                [&](std::uint32_t id) { return id >= vertices; });
  if (bad != columns.end())
    bytes.fail_at(begin + static_cast<std::size_t>(bad - columns.begin()) * sizeof(std::uint32_t),
                  "vertex id " + std::to_string(static_cast<std::int32_t>(*bad)) +
                      ", but the header announces " + std::to_string(vertices) + " vertices");
  return columns;
}

/// Returns a sum over the edges that does not depend on their order.
template <class Edge>
std::uint64_t fingerprint(std::vector<std::uint64_t> const& offsets,
                          std::vector<std::uint32_t> const& columns, Edge&& edge) {
  std::uint64_t sum = 0;
  for (std::uint64_t v = 0; v + 1 < offsets.size(); ++v)
    for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
      std::uint64_t x = edge(v, std::uint64_t(columns[i])) * 0x9e3779b97f4a7c15u;
      x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
      sum += x ^ (x >> 32);
    }
  return sum;
}

/// Fails unless one half of the edges is the other one reversed: searches would silently return
/// wrong answers.
void check_reversed(byte_reader const& bytes, csr_arrays const& g) {
  auto const& in_offsets = g.directed ? g.in_offsets : g.offsets;
  auto const& in_columns = g.directed ? g.in_columns : g.columns;
  auto const forward = [](std::uint64_t u, std::uint64_t v) { return u << 32 | v; };
  auto const backward = [](std::uint64_t u, std::uint64_t v) { return v << 32 | u; };
  if (fingerprint(g.offsets, g.columns, forward) != fingerprint(in_offsets, in_columns, backward))
    bytes.fail_at(0, g.directed ? "the incoming edges are not the outgoing ones reversed"
                                : "not every edge of the undirected graph has its reverse");
}

}  // namespace

csr_arrays read_serialized(input const& in) {
  byte_reader bytes(in);
  if (in.bytes.size() < header_bytes)
    fail(in.name + " at byte 0", "a .sg graph ends within its header",
         "check that the file is whole, and a graph");
  csr_arrays g;
  g.directed = bytes.read<unsigned char>() == 1;
  auto const entries = bytes.read<std::uint64_t>();
  g.vertices = bytes.read<std::uint64_t>();
  check_size(in, g.directed, g.vertices, entries);
  if (g.vertices > max_vertices)
    bytes.fail_at(9, std::to_string(g.vertices) + " vertices, but ids must fit into 32 bits");
  g.offsets = read_offsets(bytes, g.vertices, entries);
  g.columns = read_columns(bytes, g.vertices, entries);
  if (g.directed) {
    g.in_offsets = read_offsets(bytes, g.vertices, entries);
    g.in_columns = read_columns(bytes, g.vertices, entries);
  }
  check_reversed(bytes, g);
  return g;
}

}  // namespace karpos::perf::graph_input
