// SPDX-License-Identifier: Apache-2.0
/// \file
/// A graph in the space under test that is searched repeatedly; every result is compared with the
/// oracle.
///
/// The kernels of a search take long to compile: each bfs_subject_*.cpp instantiates one pair of
/// types, for all suites.
#pragma once

#include <algorithm>
#include <karpos/bfs.hpp>
#include <karpos/validate_bfs.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "support/check.hpp"
#include "support/host_graph.hpp"
#include "support/space.hpp"

namespace karpos_test {

/// The answer of one search.
struct bfs_answer {
  std::vector<std::int32_t> distance;
  std::vector<std::int64_t> parent;  ///< empty if not requested
  karpos::bfs_report report;
  karpos::bfs_defects defects;
};

enum class parents { requested, not_requested };

/// Copies the offsets and columns of host rows to views.
template <class Vertex, class Offset>
karpos::csr_graph<Vertex, Offset, space::memory_space> to_space(host_rows const& rows) {
  return {to_space(std::vector<Offset>(rows.offsets.begin(), rows.offsets.end())),
          to_space(std::vector<Vertex>(rows.columns.begin(), rows.columns.end()))};
}
template <class Vertex, class Offset>
karpos::csr_graph<Vertex, Offset, space::memory_space> to_space(host_graph const& g) {
  auto const out = to_space<Vertex, Offset>(g.out);
  if (g.kind == sides::undirected) return out.undirected();
  return g.kind == sides::directed ? out : out.with_transpose(to_space<Vertex, Offset>(g.in));
}

template <class Vertex, class Offset>
class bfs_subject {
 public:
  using graph_type = karpos::csr_graph<Vertex, Offset, space::memory_space>;

  explicit bfs_subject(host_graph const& g);
  /// Searches from one vertex if `sources` has one, else from a view of all of them.
  bfs_answer search(std::vector<std::uint64_t> const& sources, karpos::bfs_options const& o = {},
                    parents p = parents::requested) const;
  /// Pads the rows of the workspace for later searches. Returns: the hops of these rows.
  int pad_rows(int hops = 1) { return m_workspace.pad_rows(space(), hops); }
  std::size_t padded_bytes() const { return m_workspace.padded_bytes(); }
  graph_type const& graph() const { return m_graph; }

 private:
  template <class Source>
  bfs_answer search_from(Source const& source, karpos::bfs_options const& o, parents p) const;

  graph_type m_graph;
  karpos::bfs_workspace<space, graph_type> m_workspace;
  view<std::int32_t> m_distance;
  view<Vertex> m_parent;
};

template <class Vertex, class Offset>
bfs_subject<Vertex, Offset>::bfs_subject(host_graph const& g)
    : m_graph(to_space<Vertex, Offset>(g)),
      m_workspace(space(), m_graph),
      m_distance("distance", g.vertices),
      m_parent("parent", g.vertices) {}

template <class Vertex, class Offset>
bfs_answer bfs_subject<Vertex, Offset>::search(std::vector<std::uint64_t> const& sources,
                                               karpos::bfs_options const& o, parents p) const {
  if (sources.size() == 1) return search_from(static_cast<Vertex>(sources[0]), o, p);
  return search_from(to_space(std::vector<Vertex>(sources.begin(), sources.end())), o, p);
}

template <class Vertex, class Offset>
template <class Source>
bfs_answer bfs_subject<Vertex, Offset>::search_from(Source const& source,
                                                    karpos::bfs_options const& o, parents p) const {
  space const exec;
  view<Vertex> const parent = p == parents::requested ? m_parent : view<Vertex>();
  Kokkos::deep_copy(exec, m_distance, 77);  // shows what a search does not write
  Kokkos::deep_copy(exec, m_parent, Vertex(0));
  bfs_answer a;
  a.report = karpos::bfs(exec, m_workspace, source, m_distance, parent, o);
  a.defects = karpos::validate_bfs(exec, m_graph, source, m_distance, parent);
  a.distance = to_host(m_distance);
  for (Vertex const v : to_host(parent))
    a.parent.push_back(v == static_cast<Vertex>(-1) ? -1 : static_cast<std::int64_t>(v));
  return a;
}

extern template class bfs_subject<std::uint32_t, std::uint64_t>;
extern template class bfs_subject<std::uint32_t, std::uint32_t>;
extern template class bfs_subject<std::uint64_t, std::uint32_t>;
extern template class bfs_subject<std::uint64_t, std::uint64_t>;
extern template class bfs_subject<std::int32_t, std::uint32_t>;

/// Returns every combination of options that the space under test supports.
inline std::vector<karpos::bfs_options> all_options() {
  using direction = karpos::bfs_direction;
  std::vector<karpos::bfs_options> all{{}};
  auto const add = [&](direction d, double alpha, double beta, karpos::launch_mode driver) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      karpos::bfs_options o;
      o.direction = d;
      o.queue = (bits & 1) != 0 ? karpos::bfs_queue::scanned : karpos::bfs_queue::collected;
      o.degree_classes = (bits & 2) != 0;
      o.hub_cache = (bits & 4) != 0;
      o.unvisited_queue = (bits & 8) != 0;
      o.alpha = alpha;
      o.beta = beta;
      o.driver = driver;
      all.push_back(o);
    }
  };
  std::vector<karpos::launch_mode> drivers{karpos::launch_mode::kernel_per_step};
  if (karpos::device::has_grid_barrier<space>)
    drivers.push_back(karpos::launch_mode::persistent_kernel);
  for (auto const driver : drivers) {
    for (auto const d :
         {direction::automatic, direction::top_down, direction::gamma, direction::beamer})
      add(d, 15, 18, driver);
    add(direction::beamer, 1e18, 1e18, driver);  // bottom-up from the sources on
    add(direction::beamer, 1e18, 0, driver);     // switches as often as it can
  }
  return all;
}

inline std::string print(karpos::bfs_options const& o) {
  static char const* const directions[] = {"automatic", "top-down", "gamma", "beamer"};
  static char const* const queues[] = {"automatic", "collected", "scanned"};
  static char const* const drivers[] = {"automatic", "kernel per step", "persistent kernel"};
  return std::string(directions[static_cast<int>(o.direction)]) + ", queue " +
         queues[static_cast<int>(o.queue)] + (o.degree_classes ? ", classes" : ", no classes") +
         (o.hub_cache ? ", hub cache" : "") +
         (o.local_search_hops != 64 ? ", hops " + std::to_string(o.local_search_hops) : "") +
         (o.unvisited_queue ? ", unvisited queue" : "") +
         (o.alpha > 1e9 ? o.beta > 1e9 ? ", always up" : ", up and down" : "") + ", driver " +
         drivers[static_cast<int>(o.driver)];
}

inline std::string print(std::vector<std::uint64_t> const& sources) {
  std::string text = "from";
  for (std::size_t i = 0; i < sources.size() && i < 8; ++i)
    text += " " + std::to_string(sources[i]);
  return text + (sources.size() > 8 ? " …" : "");
}

/// Checks the report of a search of g that found these distances.
void check_report(std::string const& what, host_graph const& g, karpos::bfs_options const& o,
                  std::vector<std::int32_t> const& distance, karpos::bfs_report const& r);

/// Compares an answer with the distances of the oracle.
void check_answer(std::string const& what, host_graph const& g,
                  std::vector<std::uint64_t> const& sources, karpos::bfs_options const& o,
                  std::vector<std::int32_t> const& expected, bfs_answer const& a);

/// Searches g from the sources with each of the options and compares with the oracle.
template <class Vertex = std::uint32_t, class Offset = std::uint64_t>
void check_searches(host_graph const& g, std::vector<std::vector<std::uint64_t>> const& sources,
                    std::vector<karpos::bfs_options> const& options) {
  bfs_subject<Vertex, Offset> const subject(g);
  for (auto const& from : sources) {
    auto const expected = serial_bfs(g, from);
    for (auto const& o : options)
      check_answer(g.name + ", " + print(from) + ", " + print(o), g, from, o, expected,
                   subject.search(from, o));
    check_answer(g.name + ", " + print(from) + ", without parents", g, from, {}, expected,
                 subject.search(from, {}, parents::not_requested));
  }
  bfs_subject<Vertex, Offset> padded(g);
  for (int const hops : {1, 2}) {
    if (padded.pad_rows(hops) < hops) return;
    for (auto const& from : sources)
      for (auto const& o : {options.front(), options.back()})
        check_answer(g.name + ", " + print(from) + ", " + print(o) + ", rows of " +
                         std::to_string(hops) + " hops",
                     g, from, o, serial_bfs(g, from), padded.search(from, o));
  }
}

}  // namespace karpos_test
