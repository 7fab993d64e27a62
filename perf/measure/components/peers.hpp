// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <map>

#include "perf/measure/support/space.hpp"

// Straightforward component algorithms in plain Kokkos loops: the baselines of
// connected_components.

namespace karpos::perf {

struct own_number {
  array<std::uint32_t> component;
  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    component(v) = static_cast<std::uint32_t>(v);
  }
};

/// Lowers the ids of a vertex and of its neighbours to the smallest among them.
template <class Graph>
struct propagate_label {
  typename Graph::offsets_view offsets;
  typename Graph::columns_view columns;
  array<std::uint32_t> label;
  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& changes) const {
    std::uint32_t least = label(v);
    auto const first = offsets(v), last = offsets(v + 1);
    for (auto e = first; e < last; ++e) least = Kokkos::min(least, label(columns(e)));
    if (least < label(v)) {
      Kokkos::atomic_min(&label(v), least);
      ++changes;
    }
    for (auto e = first; e < last; ++e) {
      std::uint32_t const w = columns(e);
      if (label(w) <= least) continue;
      Kokkos::atomic_min(&label(w), least);
      ++changes;
    }
  }
};

/// Label propagation: rounds over all edges until nothing changes. Their number is about the
/// largest diameter of a component.
template <class Graph>
void label_propagation(space const& exec, Graph const& graph, array<std::uint32_t> const& label) {
  Kokkos::parallel_for("karpos::perf::own_number", range(exec, graph.vertices()),
                       own_number{label});
  std::uint64_t changes = 1;
  while (changes > 0) {
    Kokkos::parallel_reduce(
        "karpos::perf::propagate_label", range(exec, graph.vertices()),
        propagate_label<Graph>{graph.row_offsets(), graph.column_indices(), label}, changes);
    exec.fence("karpos::perf: label propagation");
  }
}

/// The steps of Afforest, as in GAP's benchmark.
template <class Graph>
struct afforest_step {
  typename Graph::offsets_view offsets, in_offsets;
  typename Graph::columns_view columns, in_columns;
  bool undirected;
  array<std::uint32_t> component;
  std::uint64_t round;
  std::uint32_t frequent;

  struct link_round {};
  struct compress {};
  struct finish {};

  KOKKOS_FUNCTION void link(std::uint32_t u, std::uint32_t v) const {
    std::uint32_t a = load(u), b = load(v);
    while (a != b) {
      std::uint32_t const high = a > b ? a : b, low = a > b ? b : a, above = load(high);
      if (above == low) return;
      if (above == high && Kokkos::atomic_compare_exchange(&component(high), high, low) == high)
        return;
      a = load(load(high));
      b = load(low);
    }
  }
  KOKKOS_FUNCTION std::uint32_t load(std::uint32_t v) const {
    return *static_cast<std::uint32_t const volatile*>(&component(v));
  }
  KOKKOS_FUNCTION void operator()(link_round, std::uint64_t v) const {
    auto const e = offsets(v) + round;
    if (e < offsets(v + 1)) link(static_cast<std::uint32_t>(v), columns(e));
  }
  KOKKOS_FUNCTION void operator()(compress, std::uint64_t v) const {
    auto const u = static_cast<std::uint32_t>(v);
    while (load(u) != load(load(u))) component(u) = load(load(u));
  }
  KOKKOS_FUNCTION void operator()(finish, std::uint64_t v) const {
    auto const u = static_cast<std::uint32_t>(v);
    if (component(u) == frequent) return;
    for (auto e = offsets(v) + round; e < offsets(v + 1); ++e) link(u, columns(e));
    if (undirected) return;
    for (auto e = in_offsets(v); e < in_offsets(v + 1); ++e) link(u, in_columns(e));
  }
};

template <class Graph>
std::uint32_t most_frequent_component(array<std::uint32_t> const& component) {
  constexpr std::uint64_t samples = 1024;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), component);
  std::map<std::uint32_t, std::uint64_t> counts;
  for (std::uint64_t i = 0; i < samples; ++i)
    ++counts[host(i * 0x9e3779b97f4a7c15u % host.extent(0))];
  std::uint32_t best = host(0);
  for (auto const& [l, count] : counts)
    if (count > counts[best]) best = l;
  return best;
}

/// Computes components by Afforest. Requires: the graph has its transpose.
template <class Graph>
void plain_afforest(space const& exec, Graph const& graph, array<std::uint32_t> const& component) {
  using step = afforest_step<Graph>;
  auto const run = [&]<class Tag>(Tag, std::uint64_t round, std::uint32_t frequent) {
    Kokkos::parallel_for(
        "karpos::perf::afforest",
        Kokkos::RangePolicy<space, Tag, Kokkos::Schedule<Kokkos::Dynamic>,
                            Kokkos::IndexType<std::uint64_t>>(exec, 0, graph.vertices(),
                                                              Kokkos::ChunkSize(16384)),
        step{graph.row_offsets(), graph.in_row_offsets(), graph.column_indices(),
             graph.in_column_indices(), graph.is_undirected(), component, round, frequent});
  };
  Kokkos::parallel_for("karpos::perf::own_number", range(exec, graph.vertices()),
                       own_number{component});
  for (std::uint64_t round = 0; round < 2; ++round) {
    run(typename step::link_round{}, round, 0);
    run(typename step::compress{}, round, 0);
  }
  exec.fence("karpos::perf: afforest");
  run(typename step::finish{}, 2, most_frequent_component<Graph>(component));
  run(typename step::compress{}, 2, 0);
}

}  // namespace karpos::perf
