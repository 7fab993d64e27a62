// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/components/measure.hpp"

#include <algorithm>
#include <karpos/connected_components.hpp>
#include <numeric>
#include <utility>

#include "perf/measure/components/peers.hpp"
#include "perf/measure/graph/memory_needed.hpp"
#include "perf/measure/support/output_file.hpp"
#include "perf/measure/support/timer.hpp"

namespace karpos::perf {
namespace {

/// Returns the correct component ids, computed by disjoint sets on the host.
template <class Graph>
std::vector<std::uint32_t> expected_component_ids(Graph const& graph) {
  auto const offsets =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.row_offsets());
  auto const columns =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.column_indices());
  std::vector<std::uint32_t> parent(graph.vertices());
  std::iota(parent.begin(), parent.end(), 0u);
  auto const root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (std::uint32_t u = 0; u < parent.size(); ++u)
    for (auto e = offsets(u); e < offsets(u + 1); ++e) {
      std::uint32_t const a = root(u), b = root(columns(e));
      parent[std::max(a, b)] = std::min(a, b);
    }
  for (std::uint32_t v = 0; v < parent.size(); ++v) parent[v] = root(v);
  return parent;
}

std::uint64_t differences(std::vector<std::uint32_t> const& expected,
                          array<std::uint32_t> const& component_ids) {
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), component_ids);
  std::uint64_t count = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) count += got(v) != expected[v] ? 1 : 0;
  return count;
}

/// Counts the components and their sizes by their ids.
void count_components(components_run& run, std::vector<std::uint32_t> const& component_ids) {
  std::vector<std::uint32_t> size(component_ids.size(), 0);
  for (std::uint32_t const id : component_ids) ++size[id];
  for (std::size_t v = 0; v < size.size(); ++v) {
    run.isolated += size[v] == 1 ? 1 : 0;
    if (size[v] > run.largest) run.largest = size[v], run.largest_id = v;
  }
}

template <class Offset>
class components_measurement {
 public:
  using graph_type = csr_graph<std::uint32_t, Offset, memory>;

  explicit components_measurement(components_run& run) : m_run(run), m_timer(m_exec) {}

  void operator()(opened_graph graph, reporter const& report) {
    m_graph = build_graph<Offset>(m_exec, graph.source, m_run.parameters.directed,
                                  [&](double part, auto& w) { report(0.5 + 0.3 * part, w); });
    graph.source = {};  // frees the memory
    m_run.load_seconds = graph.clock.seconds();
    m_run.vertices = m_graph.vertices();
    m_run.edges = m_graph.edges();
    m_run.undirected = m_graph.is_undirected();
    report(0.8, "components");
    auto const component_ids = make_array<std::uint32_t>("component ids", m_graph.vertices());
    std::uint64_t const found = find_components(component_ids);
    report(0.85, "disjoint sets on the host");
    auto const expected = expected_component_ids(m_graph);
    m_run.wrong_component_ids = differences(expected, component_ids);
    count_components(m_run, expected);
    m_run.components = found;
    std::uint64_t roots = 0;
    for (std::uint32_t v = 0; v < expected.size(); ++v) roots += expected[v] == v ? 1 : 0;
    m_run.wrong_count = roots != found;
    if (!m_run.parameters.output.empty()) write(component_ids);
    if (m_run.parameters.baseline) measure_peers(expected, component_ids, report);
  }

 private:
  std::uint64_t find_components(array<std::uint32_t> const& component_ids) {
    m_run.workspace_bytes = connected_components_bytes(m_exec, m_graph);
    auto const bytes = make_array<std::byte>("workspace", m_run.workspace_bytes);
    components_options const options{.sampled_neighbours = m_run.parameters.sampled,
                                     .workspace = {bytes.data(), bytes.extent(0)}};
    std::uint64_t found = 0;
    m_run.time = m_timer.repeat(
        m_run.parameters.repetitions, [] {},
        [&] { found = connected_components(m_exec, m_graph, component_ids, options).components; });
    return found;
  }
  void measure_peers(std::vector<std::uint32_t> const& expected,
                     array<std::uint32_t> const& component_ids, reporter const& report) {
    auto const add = [&](char const* name, auto const& work) {
      report(0.9, name);
      components_peer peer{name,
                           m_timer.repeat(
                               m_run.parameters.repetitions, [] {}, work),
                           0};
      peer.wrong = differences(expected, component_ids);
      m_run.peers.push_back(std::move(peer));
    };
    if (m_graph.vertices() == 0) return;
    add("plain afforest", [&] { plain_afforest(m_exec, m_graph, component_ids); });
    add("label propagation", [&] { label_propagation(m_exec, m_graph, component_ids); });
  }
  void write(array<std::uint32_t> const& component_ids) const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), component_ids);
    output_file out(m_run.parameters.output);
    for (std::size_t v = 0; v < host.extent(0); ++v)
      out.write(line_begin(m_run.names, v) + m_run.names[host(v)] + '\n');
    out.close();
  }

  components_run& m_run;
  space m_exec;
  timer<space> m_timer;
  graph_type m_graph;
};

}  // namespace

components_run run_components(components_parameters const& p, opened_graph graph,
                              reporter const& report) {
  components_run run;
  run.parameters = p;
  run.graph = graph.name;
  run.names = std::move(graph.names);
  run.layout = std::move(graph.layout);
  run.lacks_vertex_0 = graph.lacks_vertex_0;
  bool const narrow = fits_31_bits(graph.source, p.directed);
  bfs_parameters memory_of;  // a search takes as much memory
  memory_of.directed = p.directed;
  require_bfs_memory(graph.source, memory_of, narrow ? 32 : 64);
  if (narrow)
    components_measurement<std::uint32_t>{run}(std::move(graph), report);
  else
    components_measurement<std::uint64_t>{run}(std::move(graph), report);
  return run;
}

}  // namespace karpos::perf
