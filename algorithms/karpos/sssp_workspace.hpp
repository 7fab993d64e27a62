// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/csr_graph.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/graph/frontier/plan.hpp"
#include "karpos/detail/graph/sssp/plan.hpp"
#include "karpos/detail/graph/sssp/run.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/device/program.hpp"
#include "karpos/sssp_options.hpp"

namespace karpos {

/// Memory of shortest paths, and what they need to know of a graph and its weights in advance. Made
/// once, for any number of calls. A workspace holds the views of the graph and of the weights, so
/// that managed memory stays allocated.
///
/// Weight: float, double, or integers of 32 or 64 bits. weights(e) is the weight of the edge
/// column_indices()(e).
/// Requires: neither the graph nor its weights change while the workspace is used, which is not
///   checked.
/// Concurrency: copies share the memory. One call at a time: two concurrent ones may deadlock.
/// Memory: 16.25 bytes a vertex, some KB, and 150 KB for each CPU thread (sssp_workspace_bytes);
///   after sort_rows also 16 bytes a vertex, and a vertex id and a weight for each edge.
template <execution_space ExecSpace, class Graph, class Weight>
class sssp_workspace {
 public:
  using graph_type = Graph;
  using weight_type = Weight;
  using vertex_type = typename Graph::vertex_type;
  using memory_space = typename Graph::memory_space;

  /// Checks the graph unless it is trusted, and reads all degrees and weights. Calls do not check
  /// them again. Blocks.
  ///
  /// Complexity: a pass over the weights, and one over the degrees; for undirected graphs of 16
  ///   edges a vertex or more, another one over degrees and edges. Unless the graph is trusted,
  ///   also one over offsets and columns.
  /// Throws: std::invalid_argument if the graph is not valid (csr_graph::validate), if weights are
  ///   strided or not as many as the edges, or if a weight is negative (-0.0 is not) or NaN;
  ///   std::length_error for more than 2^31 - 64 vertices, for 2^31 out-edges or more at a vertex,
  ///   or for more than 2^32 - 2^21 edges with offsets of 32 bits; allocation_error if there is not
  ///   enough memory.
  template <view_1d Weights>
    requires(std::is_same_v<typename Weights::non_const_value_type, Weight>)
  sssp_workspace(ExecSpace const& exec, Graph const& graph, Weights const& weights)
      : m_graph(graph),
        m_words((graph.vertices() + 31) / 32) {
    static_assert(detail::sssp::weight<Weight>,
                  "karpos: weights are float, double or integers of 32 or 64 bits");
    detail::require_reachable<ExecSpace, typename Graph::offsets_view, Weights>();
    detail::user_call const call("sssp_workspace");
    detail::require_contiguous("weights", weights);
    detail::require_same_extent("weights", weights.extent(0), "edges", graph.edges());
    m_weights = weights;  // not before: Kokkos aborts if a strided view is assigned
    detail::frontier::require_size(graph, max_vertices);
    graph.validate_unless_trusted(exec);
    read_weights(exec);
    m_bytes = bytes_for(exec, graph);
    detail::allocate_or_explain<memory_space>(m_bytes, "shortest paths",
                                              "free memory or choose a smaller graph",
                                              [&] { allocate(exec); });
    if (graph.vertices() > 0)
      read_degrees(exec);
    else
      exec.fence("karpos::sssp_workspace: made");
  }

  /// Copies all rows, each sorted by weight. This pays if many calls use one graph and a reach.
  /// They then leave out edges at the end of a row:
  /// - when a vertex pushes, edges too heavy to lead to a distance below the reach;
  /// - when a vertex pulls, edges too heavy to lower its own distance.
  ///
  /// reach: as in sssp_options; 0: automatic. The copy counts, for each row, the edges lighter than
  /// 1/2, 1, 2 and 4 times this reach. Calls with another reach give the same distances, but are
  /// slower. Once rows are sorted, another sort_rows changes nothing.
  /// Returns: whether calls with this reach gain from sorted rows. They do not if the reach is
  ///   infinite, the graph is directed, or weights differ by direction. If they do not, nothing is
  ///   done, and rows sorted before stay in use.
  /// Complexity: a sort of the edges; on CPUs each row is sorted by one thread. Blocks.
  /// Concurrency: not during a call with this workspace. Copies of it that were made before do not
  ///   get these rows.
  /// Memory: 16 bytes a vertex, and a vertex id and a weight for each edge. While it sorts, also
  ///   about the bytes of all ids and weights: once on CPUs, four times on GPUs (for ids and
  ///   weights of 4 bytes).
  /// Throws: std::invalid_argument if the reach is negative or NaN; allocation_error if there is
  ///   not enough memory: calls go on without these rows.
  bool sort_rows(ExecSpace const& exec, double reach = 0) {
    detail::user_call const call("sssp_workspace", "sort_rows");
    detail::sssp::require_reach(reach);
    if (reach == 0) reach = m_reach;
    std::uint64_t const n = m_graph.vertices(), m = m_graph.edges();
    if (m == 0 ||
        effective_reach(exec, reach) == detail::sssp::distance_traits<Weight>::infinite_weight())
      return false;
    if (m_sorted.is_allocated()) return true;
    detail::allocate_or_explain<memory_space>(
        m_sorted.bytes_for(n, m), "rows in order of weight", "search without them", [&] {
          m_sorted.build(exec, out_rows(), m_weights.data(), n, m, reach,
                         m_weight_sum / static_cast<double>(m));
        });
    count_classes(exec, detail::sssp::probed_rows<state_type>{state(exec, Weight(1), 0, 0)});
    return true;
  }

  /// Returns the width of a bucket that sssp chooses if options.delta is 0.
  double delta() const { return m_delta; }
  /// Returns the reach that sssp chooses if options.reach is 0; infinity: none.
  double reach() const { return m_reach; }

  /// Returns the bytes that the workspace has allocated.
  std::size_t bytes() const {
    return m_bytes +
           (m_sorted.is_allocated() ? m_sorted.bytes_for(m_graph.vertices(), m_graph.edges()) : 0);
  }
  /// Returns the bytes that a workspace for this graph allocates, without the rows of sort_rows.
  static std::size_t bytes_for(ExecSpace const& exec, Graph const& graph) {
    state_type s{};
    return lay_out(detail::arena(), graph.vertices(), s) +
           device::grid_memory<ExecSpace>::bytes_for(shape_of(exec));
  }

 private:
  friend struct detail::sssp::workspace_access;
  template <class T>
  using array = Kokkos::View<T*, memory_space>;
  using tuned = detail::sssp::tuning<ExecSpace>;
  using rows = detail::frontier::rows<vertex_type, typename Graph::offset_type>;
  using state_type = typename detail::sssp::state_for<ExecSpace, Graph, Weight>::type;

  static constexpr std::uint64_t max_vertices = (std::uint64_t(1) << 31) - 64;

  static device::grid_shape shape_of(ExecSpace const& exec) {
    return device::shape_for<tuned::team_threads, tuned::teams_per_processor, tuned::tile_width>(
        exec, detail::sssp::team_queue_bytes<ExecSpace, typename state_type::word>,
        detail::sssp::bins<state_type>::bytes);
  }

  void read_weights(ExecSpace const& exec) {
    using namespace detail::sssp;
    auto const sums = device::reduce_over<Kokkos::Sum<weight_sums>>(
        "karpos::sssp::weights", exec, m_graph.edges(), sum_weights<Weight>{m_weights.data()});
    if (sums.invalid > 0)
      detail::reject(
          std::to_string(sums.invalid) + " weights are refused",
          "negative, or no numbers, the first that of edge " + std::to_string(sums.first_invalid),
          "pass weights of zero or more");
    m_weight_sum = sums.sum;
  }

  /// Places the arrays of a search. Returns: their bytes.
  template <class Arena>
  static std::size_t lay_out(Arena a, std::uint64_t vertices, state_type& s) {
    a.allocate(s.queue, 4 * vertices);
    for (auto& b : s.near_bits) a.allocate(b, (vertices + 31) / 32);
    a.allocate(s.fixed, 1);
    return a.bytes();
  }

  void allocate(ExecSpace const& exec) {
    state_type s{};
    m_memory = detail::uninitialized_array<array<std::byte>>(
        exec, "karpos::sssp::memory", lay_out(detail::arena(), m_graph.vertices(), s));
    lay_out(detail::frontier::zeroing_arena<ExecSpace>{exec, detail::arena(m_memory.data())},
            m_graph.vertices(), s);
    m_grid = device::grid_memory<ExecSpace>(exec, shape_of(exec));
  }

  template <class Rows>
  void count_classes(ExecSpace const& exec, Rows const& of) {
    auto const sums =
        detail::frontier::read_degrees<tuned>(exec, m_graph.vertices(), of, of, false, nullptr);
    std::copy_n(sums.data(), detail::frontier::degree_classes, m_class_size);
  }

  /// Counts degree classes; chooses delta, and a reach if there are hubs and symmetric weights.
  /// Ranks choose delta together.
  void read_degrees(ExecSpace const& exec) {
    using namespace detail::sssp;
    count_classes(exec, out_rows());
    if (state_type::over_ranks) return;
    auto const edges = static_cast<double>(m_graph.edges());
    double const mean_degree = edges / static_cast<double>(m_graph.vertices());
    double const mean_weight = edges > 0 ? m_weight_sum / edges : 0;
    if (mean_weight > 0) {
      if (mean_degree >= tuned::reach_degree && is_symmetric(exec))
        m_reach = tuned::reach(mean_weight, mean_degree,
                               device::reduce_over<Kokkos::Sum<double>>(
                                   "karpos::sssp::square_degrees", exec, m_graph.vertices(),
                                   square_degree<rows>{out_rows()}) /
                                   edges);
      m_delta = m_reach < std::numeric_limits<double>::infinity()
                    ? tuned::delta_of_reach(m_reach)
                    : automatic_delta<ExecSpace>(mean_weight, mean_degree,
                                                 draw(exec, weight_sample::max_size));
    }
    m_delta = usable_delta<Weight>(m_delta);
  }

  /// Draws a sample of at most n weights. Uses memory that no search must use meanwhile.
  detail::sssp::weight_sample draw(ExecSpace const& exec, std::uint64_t n) const {
    return {exec, m_weights.data(), m_graph.edges(), reinterpret_cast<double*>(m_memory.data()),
            std::min(n, 2 * m_graph.vertices())};
  }

  Weight effective_reach(ExecSpace const& exec, double distance) const {
    constexpr Weight unlimited = detail::sssp::distance_traits<Weight>::infinite_weight();
    bool const pulling = distance < static_cast<double>(unlimited) / 2 && is_symmetric(exec);
    return pulling ? static_cast<Weight>(distance) : unlimited;
  }

  /// Returns whether edges have one weight in both directions. The first call inspects all edges.
  bool is_symmetric(ExecSpace const& exec) const {
    detail::sssp::all_edges<rows> const all{out_rows(), m_graph.vertices(), m_graph.edges()};
    if (*m_symmetric < 0)
      *m_symmetric = m_graph.is_undirected() &&
                     device::reduce_over<Kokkos::Sum<std::uint64_t>>(
                         "karpos::sssp::directions", exec, all.chunks(),
                         detail::sssp::sum_directions<rows, Weight>{all, m_weights.data()}) == 0;
    return *m_symmetric == 1;
  }

  rows out_rows() const { return {m_graph.row_offsets().data(), m_graph.column_indices().data()}; }

  /// Returns what the steps share, without the results.
  state_type state(ExecSpace const& exec, Weight delta, double reach,
                   std::uint32_t fusion_hops) const {
    state_type s{};
    lay_out(detail::arena(m_memory.data()), m_graph.vertices(), s);
    s.vertices = m_graph.vertices();
    s.words = m_words;
    s.edges = m_graph.edges();
    s.out = out_rows();
    s.weight = m_weights.data();
    if (m_sorted.is_allocated()) {
      s.out.column = m_sorted.columns.data();
      s.weight = m_sorted.weights.data();
      s.lighter = m_sorted.lighter.data();
      s.lighter_than = m_sorted.lighter_than;
    }
    s.delta = delta;
    s.reach = effective_reach(exec, reach);
    s.fusion_hops = fusion_hops;
    s.teams = static_cast<std::uint32_t>(m_grid.shape().teams);
    s.template set_classes<tuned>(m_class_size);
    s.hub_degree = ~std::uint64_t(0);  // above every degree: sssp has no hub cache
    return s;
  }

  Graph m_graph;
  Kokkos::View<Weight const*, memory_space> m_weights;
  std::uint64_t m_words = 0;
  std::size_t m_bytes = 0;
  std::uint64_t m_class_size[detail::frontier::degree_classes] = {};
  double m_weight_sum = 0, m_delta = 1, m_reach = std::numeric_limits<double>::infinity();
  std::shared_ptr<int> m_symmetric = std::make_shared<int>(-1);  // 1, 0; -1: not known yet
  array<std::byte> m_memory;
  detail::sssp::sorted_rows<vertex_type, Weight, memory_space> m_sorted;
  device::grid_memory<ExecSpace> m_grid;
};

template <class ExecSpace, class Graph, class Weights>
sssp_workspace(ExecSpace const&, Graph const&, Weights const&)
    -> sssp_workspace<ExecSpace, Graph, typename Weights::non_const_value_type>;

/// Returns the bytes that an sssp_workspace for this graph allocates, with weights of type Weight.
template <class Weight, execution_space ExecSpace, class Graph>
std::size_t sssp_workspace_bytes(ExecSpace const& exec, Graph const& graph) {
  return sssp_workspace<ExecSpace, Graph, Weight>::bytes_for(exec, graph);
}

}  // namespace karpos
