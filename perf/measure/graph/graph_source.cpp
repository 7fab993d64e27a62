// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/graph/graph_source.hpp"

#include <karpos/build_csr.hpp>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "perf/measure/graph/generate.hpp"

namespace karpos::perf {
namespace {

template <class T>
using host_array = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T>
array<T> copy_of(space const& exec, std::vector<T> const& values) {
  auto const copy =
      detail::build_csr::graph_array<array<T>>(exec, "content of a file", values.size());
  Kokkos::deep_copy(exec, copy, host_array<T>(values.data(), values.size()));
  exec.fence("karpos::perf: content of a file");
  return copy;
}

/// Returns the values in memory that kernels can access; on hosts the view refers to `values`.
template <class T>
auto make_accessible(space const& exec, std::vector<T> const& values) {
  if constexpr (std::is_same_v<memory, Kokkos::HostSpace>)
    return host_array<T>(values.data(), values.size());
  else
    return copy_of(exec, values);
}

template <class From, class To>
struct convert {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    to(i) = static_cast<typename To::value_type>(from(i));
  }
};

template <class Offset>
csr_graph<std::uint32_t, Offset, memory> wrapped(space const& exec,
                                                 std::vector<std::uint64_t> const& offsets,
                                                 std::vector<std::uint32_t> const& columns) {
  auto const from = make_accessible(exec, offsets);
  auto const to =
      detail::build_csr::graph_array<array<Offset>>(exec, "row offsets", offsets.size());
  using kernel = convert<decltype(from), decltype(to)>;
  Kokkos::parallel_for("karpos::perf::offsets", range(exec, offsets.size()), kernel{from, to});
  exec.fence("karpos::perf: row offsets");
  return {to, copy_of(exec, columns)};
}

template <class Offset>
auto build(space const& exec, csr_arrays const& arrays) {
  std::uint64_t const widest = std::numeric_limits<Offset>::max();
  detail::build_csr::require_at_most(widest, "edges", arrays.columns.size(),
                                     "choose offsets of 64 bits");
  auto g = wrapped<Offset>(exec, arrays.offsets, arrays.columns);
  g = arrays.directed
          ? g.with_transpose(wrapped<Offset>(exec, arrays.in_offsets, arrays.in_columns))
          : g.undirected();
  g.validate(exec);
  return g.trusted();
}

bool is_directed(edge_list const& list, bool directed) { return directed && !list.undirected; }

/// Returns a graph with its transpose.
template <class Graph>
Graph searchable(space const& exec, Graph const& g) {
  return g.has_transpose() ? g : g.with_transpose(transpose(exec, g));
}

template <class Offset>
auto build(space const& exec, edge_list const& list, bool directed, csr_options options) {
  auto const sources = make_accessible(exec, list.sources),
             targets = make_accessible(exec, list.targets);
  options.symmetrise = !is_directed(list, directed);
  return searchable(exec, build_csr<Offset>(exec, list.vertices, sources, targets, options));
}

/// Returns the weights of a list in a type of their own.
template <class Weight>
array<Weight> weights_of(space const& exec, std::vector<double> const& weights) {
  auto const from = make_accessible(exec, weights);
  auto const to =
      detail::build_csr::graph_array<array<Weight>>(exec, "weights of a file", weights.size());
  Kokkos::parallel_for("karpos::perf::weights", range(exec, weights.size()),
                       convert<std::remove_const_t<decltype(from)>, array<Weight>>{from, to});
  exec.fence("karpos::perf: weights of a file");
  return to;
}

struct edges_of {
  bool directed;
  std::uint64_t operator()(generator_spec const& spec) const { return 2 * spec.candidates(); }
  std::uint64_t operator()(csr_arrays const& arrays) const { return arrays.columns.size(); }
  std::uint64_t operator()(edge_list const& list) const {
    return (is_directed(list, directed) ? 1 : 2) * list.sources.size();
  }
};

}  // namespace

std::uint64_t max_edges(graph_source const& source, bool directed) {
  return std::visit(edges_of{directed}, source);
}

template <class Offset>
csr_graph<std::uint32_t, Offset, memory> build_graph(space const& exec, graph_source const& source,
                                                     bool directed, reporter const& report,
                                                     csr_options const& clean) {
  if (auto const* const spec = std::get_if<generator_spec>(&source))
    return generate<Offset>(exec, *spec, report, clean);
  report(0, "rows");
  if (auto const* const arrays = std::get_if<csr_arrays>(&source))
    return build<Offset>(exec, *arrays);
  return build<Offset>(exec, std::get<edge_list>(source), directed, clean);
}

template <class Weight, class Offset>
weighted_graph<Weight, Offset> build_weighted_graph(space const& exec, edge_list const& list,
                                                    bool directed, reporter const& report) {
  report(0, "rows");
  auto const sources = make_accessible(exec, list.sources),
             targets = make_accessible(exec, list.targets);
  auto built = build_csr<Offset>(exec, list.vertices, sources, targets,
                                 weights_of<Weight>(exec, list.weights),
                                 {.symmetrise = !is_directed(list, directed)});
  built.graph = searchable(exec, built.graph);
  return built;
}

template weighted_graph<std::uint32_t, std::uint32_t> build_weighted_graph(space const&,
                                                                           edge_list const&, bool,
                                                                           reporter const&);
template weighted_graph<std::uint32_t, std::uint64_t> build_weighted_graph(space const&,
                                                                           edge_list const&, bool,
                                                                           reporter const&);
template weighted_graph<double, std::uint64_t> build_weighted_graph(space const&, edge_list const&,
                                                                    bool, reporter const&);

template csr_graph<std::uint32_t, std::uint32_t, memory> build_graph(space const&,
                                                                     graph_source const&, bool,
                                                                     reporter const&,
                                                                     csr_options const&);
template csr_graph<std::uint32_t, std::uint64_t, memory> build_graph(space const&,
                                                                     graph_source const&, bool,
                                                                     reporter const&,
                                                                     csr_options const&);

}  // namespace karpos::perf
