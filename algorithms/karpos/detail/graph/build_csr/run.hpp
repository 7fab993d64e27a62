// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/graph/build_csr/plan.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/device/space.hpp"

// Converts an edge list to compressed rows, and rows to the sources of their edges.
//
//   edges     | 2,3 | 0,2 | 2,0 | 0,1 |     source, target (plan.hpp)
//   offsets   | 0 | 2 | 2 | 4 | 4 |         where the rows of vertices 0 … 3 begin
//   columns   | 1 | 2 | 0 | 3 |             their targets, sorted
//   sources   | 0 | 0 | 2 | 2 |             write_sources: back to coordinates
//
// CPUs, whose caches hold a row, count the edges of each row, scatter its targets there, and sort
// them (csr_by_counting). GPUs, whose radix sorts reach a good part of the memory bandwidth, sort
// the edges as words, and write the rows by prefix sums (csr_by_sorting).
//
// If edges have weights, the index of each edge in the list is sorted with it. Duplicates then lie
// in the order of the list, and their weights are merged in that order. Tests: build_csr.

namespace karpos::detail::build_csr {

/// Calls f(source, target) for every directed edge that an edge becomes under csr_options.
template <class F>
void for_each_direction(edge e, csr_options const& options, F const& f) {
  bool const loop = e.source == e.target;
  if (loop && options.remove_self_loops) return;
  f(e.source, e.target);
  if (options.symmetrise && !loop) f(e.target, e.source);
}

template <class List, class Offsets>
struct count_row_sizes {
  List list;
  Offsets counts;
  csr_options options;

  void operator()(std::uint64_t i) const {
    for_each_direction(list(i), options, [&](std::uint64_t source, std::uint64_t) {
      Kokkos::atomic_inc(&counts(source));
    });
  }
};

/// A target in its row, with the index of its edge in the list, where its weight is.
template <class VertexId, class Index>
struct indexed_target {
  VertexId target;
  Index edge;
  friend bool operator<(indexed_target const& a, indexed_target const& b) {
    return a.target != b.target ? a.target < b.target : a.edge < b.edge;
  }
};

/// Returns what a row stores of an edge: its target, with weights also the edge's index.
template <class Entry>
Entry entry_of(std::uint64_t target, [[maybe_unused]] std::uint64_t edge) {
  if constexpr (std::is_integral_v<Entry>)
    return static_cast<Entry>(target);
  else
    return {static_cast<decltype(Entry::target)>(target), static_cast<decltype(Entry::edge)>(edge)};
}

/// Turns the sizes of rows into their begins, by an exclusive prefix sum.
template <class Offsets>
struct sizes_to_begins {
  using value_type = typename Offsets::value_type;
  Offsets offsets;

  void operator()(std::uint64_t v, value_type& begin, bool last_pass) const {
    value_type const size = offsets(v);
    if (last_pass) offsets(v) = begin;
    begin += size;
  }
};

/// Scatters every target into the row of its source. begins(v) is the cursor of row v, so at the
/// end it is the row's end: row v then begins at begins(v - 1).
template <class List, class Offsets, class Entries>
struct scatter_targets {
  List list;
  Offsets begins;
  Entries entries;
  csr_options options;

  void operator()(std::uint64_t i) const {
    for_each_direction(list(i), options, [&](std::uint64_t source, std::uint64_t target) {
      entries(Kokkos::atomic_fetch_add(&begins(source), 1)) =
          entry_of<typename Entries::value_type>(target, i);
    });
  }
};

/// Returns the end of the duplicates that begin at `first`, in a sorted row that ends at `end`.
template <class Entry>
Entry const* end_of_duplicates(Entry const* first, Entry const* end) {
  auto const* next = first + 1;
  while (next != end && next->target == first->target) ++next;
  return next;
}

/// Sorts a row, and writes its size. If `distinct`, targets without weights are compacted to
/// distinct ones; with weights their number is the size, and move_row merges duplicates.
template <class Offsets, class Entries>
struct sort_row {
  using size = typename Offsets::value_type;
  Offsets ends;
  Entries entries;
  Offsets sizes;
  bool distinct;

  void operator()(std::uint64_t v) const {
    auto* const begin = entries.data() + (v == 0 ? 0 : ends(v - 1));
    auto* end = entries.data() + ends(v);
    std::sort(begin, end);
    if constexpr (std::is_integral_v<typename Entries::value_type>) {
      if (distinct) end = std::unique(begin, end);
      sizes(v) = static_cast<size>(end - begin);
    } else {
      size count = distinct ? 0 : static_cast<size>(end - begin);
      if (distinct)
        for (auto const* e = begin; e != end; e = end_of_duplicates(e, end)) ++count;
      sizes(v) = count;
    }
  }
};

/// Copies a row to its position in an array without gaps, with its weights if it has any.
template <class Offsets, class Entries, class Columns, class Weights>
struct move_row {
  Offsets old_ends, offsets;
  Entries from;
  Columns to;
  Weights weights;
  bool distinct;

  void operator()(std::uint64_t v) const {
    auto const* const begin = from.data() + (v == 0 ? 0 : old_ends(v - 1));
    if constexpr (Weights::has_weights) {
      auto const* const end = from.data() + old_ends(v);
      auto at = offsets(v);
      for (auto const* e = begin; e != end; ++at) {
        auto const* const next = distinct ? end_of_duplicates(e, end) : e + 1;
        to(at) = e->target;
        weights.write(static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(next - e),
                      [e](std::uint64_t k) { return static_cast<std::uint64_t>(e[k].edge); });
        e = next;
      }
    } else {
      std::copy(begin, begin + (offsets(v + 1) - offsets(v)), to.data() + offsets(v));
    }
  }
};

/// Builds a graph by counting. Complexity: linear, except for the sort of each row, by one thread.
/// Memory: the columns twice if some are removed. With weights, also an indexed_target an edge.
template <class Graph, class ExecSpace, class List, class Weights>
Graph csr_by_counting(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                      csr_options const& options, Weights& weights) {
  using columns_view = typename Graph::columns_view::non_const_type;
  using offsets_view = typename Graph::offsets_view::non_const_type;
  using vertex = typename Graph::vertex_type;
  using entry = std::conditional_t<Weights::has_weights,
                                   indexed_target<vertex, typename Graph::offset_type>, vertex>;
  using entries_view = Kokkos::View<entry*, typename Graph::memory_space>;
  using dynamic = Kokkos::RangePolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                                      Kokkos::IndexType<std::uint64_t>>;
  // Rows differ in length by orders of magnitude.
  dynamic const rows(exec, 0, vertices, Kokkos::ChunkSize(64));
  auto const each_edge = index_range(exec, list.size());
  using scan = sizes_to_begins<offsets_view>;

  auto const ends = zeroed_graph_array<offsets_view>(exec, "row ends", vertices);
  Kokkos::parallel_for("karpos::build_csr: count", each_edge,
                       count_row_sizes<List, offsets_view>{list, ends, options});
  typename offsets_view::value_type total = 0;
  Kokkos::parallel_scan("karpos::build_csr: begins", index_range(exec, vertices), scan{ends},
                        total);
  auto const entries =
      graph_array<entries_view>(exec, "columns", static_cast<std::uint64_t>(total));
  Kokkos::parallel_for(
      "karpos::build_csr: scatter", each_edge,
      scatter_targets<List, offsets_view, entries_view>{list, ends, entries, options});

  bool const distinct = options.remove_duplicates;
  auto const offsets = zeroed_graph_array<offsets_view>(exec, "row offsets", vertices + 1);
  Kokkos::parallel_for("karpos::build_csr: sort rows", rows,
                       sort_row<offsets_view, entries_view>{ends, entries, offsets, distinct});
  Kokkos::parallel_scan("karpos::build_csr: offsets", index_range(exec, vertices + 1),
                        scan{offsets}, total);
  auto const kept = static_cast<std::uint64_t>(total);
  columns_view columns;
  if constexpr (!Weights::has_weights) columns = entries;
  if (Weights::has_weights || kept != entries.extent(0)) {
    columns = graph_array<columns_view>(exec, "kept columns", kept);
    weights.allocate(exec, kept);
    Kokkos::parallel_for("karpos::build_csr: compact rows", rows,
                         move_row<offsets_view, entries_view, columns_view, Weights>{
                             ends, offsets, entries, columns, weights, distinct});
    exec.fence("karpos::build_csr: before the columns with gaps are freed");
  }
  exec.fence("karpos::build_csr: before the row ends are freed");
  return Graph(offsets, columns);
}

/// Returns an edge as a word that sorts by source, then by target.
KOKKOS_FUNCTION constexpr std::uint64_t pack(edge e) { return e.source << 32 | e.target; }
KOKKOS_FUNCTION constexpr std::uint64_t source_of(std::uint64_t key) { return key >> 32; }
KOKKOS_FUNCTION constexpr std::uint64_t target_of(std::uint64_t key) { return key & 0xffffffffu; }

/// Stands for a dropped edge; sorts behind all others.
inline constexpr std::uint64_t dropped_key = ~std::uint64_t(0);

template <class List, class Keys>
struct pack_edges {
  List list;
  Keys keys;
  csr_options options;

  /// The directed edges of an edge are neighbours, so that a stable sort keeps the list's order.
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    edge const e = list(i);
    bool const loop = e.source == e.target;
    std::uint64_t const at = options.symmetrise ? 2 * i : i;
    keys(at) = loop && options.remove_self_loops ? dropped_key : pack(e);
    if (options.symmetrise) keys(at + 1) = loop ? dropped_key : pack({e.target, e.source});
  }
};

/// Writes the index of the edge in the list that each key comes from.
template <class Edges>
struct write_edges {
  Edges edges;
  csr_options options;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    edges(i) = static_cast<typename Edges::value_type>(options.symmetrise ? i / 2 : i);
  }
};

/// Sorts n numbers, by heapsort.
template <class T>
KOKKOS_FUNCTION void heap_sort(T* a, std::uint64_t n) {
  auto const sift_down = [a](std::uint64_t parent, std::uint64_t end) {
    T const moved = a[parent];
    for (std::uint64_t child = 2 * parent + 1; child < end; child = 2 * parent + 1) {
      if (child + 1 < end && a[child] < a[child + 1]) ++child;
      if (a[child] <= moved) break;
      a[parent] = a[child];
      parent = child;
    }
    a[parent] = moved;
  };
  for (std::uint64_t i = n / 2; i > 0; --i) sift_down(i - 1, n);
  for (std::uint64_t end = n; end > 1; --end) {
    T const largest = a[0];
    a[0] = a[end - 1];
    a[end - 1] = largest;
    sift_down(0, end - 1);
  }
}

/// Puts the indices of duplicate edges into the order of the list, if the sort was not stable.
template <class Keys, class Edges>
struct order_duplicates {
  Keys keys;
  Edges edges;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    std::uint64_t const key = keys(i);
    if (key == dropped_key || (i > 0 && keys(i - 1) == key)) return;
    bool is_ordered = true;
    std::uint64_t end = i + 1;
    for (; end < keys.extent(0) && keys(end) == key; ++end)
      if (edges(end) < edges(end - 1)) is_ordered = false;
    if (!is_ordered) heap_sort(edges.data() + i, end - i);
  }
};

/// Sorts keys, and with weights the indices of their edges, which are returned.
template <class Weights, class ExecSpace, class Keys, class Index>
auto sort_keys(ExecSpace const& exec, Keys const& keys, [[maybe_unused]] csr_options const& options,
               std::type_identity<Index>) {
  using edges_view = Kokkos::View<Index*, typename Keys::memory_space>;
  if constexpr (Weights::has_weights) {
    auto const edges = graph_array<edges_view>(exec, "indices of edges", keys.extent(0));
    auto const each_key = index_range(exec, keys.extent(0));
    Kokkos::parallel_for("karpos::build_csr: indices", each_key,
                         write_edges<edges_view>{edges, options});
    Kokkos::Experimental::sort_by_key(exec, keys, edges);
    Kokkos::parallel_for("karpos::build_csr: order duplicates", each_key,
                         order_duplicates<Keys, edges_view>{keys, edges});
    return edges;
  } else {
    Kokkos::sort(exec, keys);
    return edges_view();
  }
}

/// Tells whether a sorted key becomes an edge, or counts such keys: it is not dropped and, if
/// `distinct`, is the first of its duplicates.
template <class Keys>
struct kept_keys {
  Keys keys;
  bool distinct;

  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    std::uint64_t const key = keys(i);
    return key != dropped_key && !(distinct && i > 0 && keys(i - 1) == key);
  }
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const {
    count += (*this)(i);
  }
};

/// Compacts the kept keys by a prefix sum: writes targets, weights, and the ends of rows that have
/// any. One thread merges the weights of an edge's duplicates.
template <class Keys, class Edges, class Columns, class Offsets, class Weights>
struct write_rows {
  using value_type = typename Offsets::value_type;
  kept_keys<Keys> kept;
  Edges edges;
  Columns columns;
  Offsets offsets;
  Weights weights;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, value_type& at, bool last_pass) const {
    bool const keep = kept(i);
    std::uint64_t const key = kept.keys(i);
    if (last_pass && keep) {
      columns(at) = static_cast<typename Columns::value_type>(target_of(key));
      if constexpr (Weights::has_weights) {
        std::uint64_t count = 1;
        while (kept.distinct && i + count < kept.keys.extent(0) && kept.keys(i + count) == key)
          ++count;
        auto const* const edge = edges.data() + i;
        weights.write(static_cast<std::uint64_t>(at), count,
                      [edge](std::uint64_t k) { return static_cast<std::uint64_t>(edge[k]); });
      }
    }
    at += keep;
    if (!last_pass || key == dropped_key) return;
    bool const row_ends =
        i + 1 == kept.keys.extent(0) || source_of(kept.keys(i + 1)) != source_of(key);
    if (row_ends) offsets(source_of(key) + 1) = at;
  }
};

/// Gives empty rows the end of the last row before them: by a maximum scan, not by a serial loop.
template <class Offsets>
struct fill_empty_rows {
  using value_type = typename Offsets::value_type;
  Offsets offsets;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, value_type& end, bool last_pass) const {
    join(end, offsets(v));
    if (last_pass) offsets(v) = end;
  }
  KOKKOS_FUNCTION void init(value_type& end) const { end = 0; }
  KOKKOS_FUNCTION void join(value_type& end, value_type const& other) const {
    end = Kokkos::max(end, other);
  }
};

/// Builds a graph by sorting its edges. Memory: three words of 64 bits for each directed edge; with
/// weights also three offsets.
template <class Graph, class ExecSpace, class List, class Weights>
Graph csr_by_sorting(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                     csr_options const& options, Weights& weights) {
  using keys_view = Kokkos::View<std::uint64_t*, typename Graph::memory_space>;
  using columns_view = typename Graph::columns_view::non_const_type;
  using offsets_view = typename Graph::offsets_view::non_const_type;

  std::uint64_t const edges = list.size();
  auto const keys = graph_array<keys_view>(exec, "keys", options.symmetrise ? 2 * edges : edges);
  Kokkos::parallel_for("karpos::build_csr: pack", index_range(exec, edges),
                       pack_edges<List, keys_view>{list, keys, options});
  auto const indices =
      sort_keys<Weights>(exec, keys, options, std::type_identity<typename Graph::offset_type>{});

  kept_keys<keys_view> const kept{keys, options.remove_duplicates};
  auto const each_key = index_range(exec, keys.extent(0));
  std::uint64_t count = 0;
  Kokkos::parallel_reduce("karpos::build_csr: count", each_key, kept,
                          Kokkos::Sum<std::uint64_t>(count));
  auto const columns = graph_array<columns_view>(exec, "columns", count);
  auto const offsets = zeroed_graph_array<offsets_view>(exec, "row offsets", vertices + 1);
  weights.allocate(exec, count);
  Kokkos::parallel_scan(
      "karpos::build_csr: rows", each_key,
      write_rows<keys_view, std::decay_t<decltype(indices)>, columns_view, offsets_view, Weights>{
          kept, indices, columns, offsets, weights});
  Kokkos::parallel_scan("karpos::build_csr: empty rows", index_range(exec, vertices + 1),
                        fill_empty_rows<offsets_view>{offsets});
  exec.fence("karpos::build_csr: before the keys are freed");
  return Graph(offsets, columns);
}

/// CPUs count and GPUs sort; with the methods swapped, each would be several times slower.
template <class ExecSpace>
inline constexpr bool sorts_edges = device::is_device<ExecSpace>;

/// Builds the graph of an edge list, and writes the weights of its edges to weights.to. Requires:
/// all ids are below `vertices`.
template <class Graph, class ExecSpace, class List, class Weights>
Graph csr_of_edges(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                   csr_options const& options, Weights& weights) {
  require_graph_fits<Graph>(vertices, list.size(), options);
  Graph graph;
  if constexpr (sorts_edges<ExecSpace>)
    graph = csr_by_sorting<Graph>(exec, vertices, list, options, weights);
  else
    graph = csr_by_counting<Graph>(exec, vertices, list, options, weights);
  return options.symmetrise ? graph.undirected() : graph;
}

/// Builds the graph of an edge list without weights.
template <class Graph, class ExecSpace, class List>
Graph csr_of_edges(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                   csr_options const& options) {
  no_weights none;
  return csr_of_edges<Graph>(exec, vertices, list, options, none);
}

/// Checks edges in views, and builds their graph. The steps of build_csr.
template <class EdgeOffset, class ExecSpace, class Sources, class Targets, class Weights>
auto csr_of_views(ExecSpace const& exec, std::uint64_t vertices, Sources const& sources,
                  Targets const& targets, csr_options const& options, Weights& weights) {
  using vertex = typename Sources::non_const_value_type;
  static_assert(std::is_same_v<vertex, typename Targets::non_const_value_type>,
                "karpos: sources and targets of edges must be of the same type");
  require_reachable<ExecSpace, Sources, Targets>();
  require_same_extent("sources", sources.extent(0), "targets", targets.extent(0));
  require_enumerators(options.merge);
  using graph = csr_graph<vertex, EdgeOffset, typename Sources::memory_space>;
  edges_in_views<Sources, Targets> const list{sources, targets};
  require_graph_fits<graph>(vertices, list.size(), options);
  require_in_range(exec, vertices, list);
  return csr_of_edges<graph>(exec, vertices, list, options, weights).trusted();
}

/// Writes the source of each edge: from compressed rows to coordinates. A thread finds the row of
/// its first edge by bisection, and walks on from there for a block of edges.
template <int Block, class Offsets, class Rows>
struct find_sources {
  Offsets offsets;
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::uint64_t block) const {
    std::uint64_t e = block * Block;
    std::uint64_t const end = Kokkos::min(e + Block, std::uint64_t(rows.extent(0)));
    std::uint64_t low = 0, high = offsets.extent(0) - 1;  // offsets(low) <= e < offsets(high)
    while (high - low > 1) {
      std::uint64_t const middle = (low + high) / 2;
      (static_cast<std::uint64_t>(offsets(middle)) <= e ? low : high) = middle;
    }
    for (; e < end; ++e) {
      while (static_cast<std::uint64_t>(offsets(low + 1)) <= e) ++low;
      rows(e) = static_cast<typename Rows::value_type>(low);
    }
  }
};

template <class ExecSpace, class Offsets, class Rows>
void write_sources(ExecSpace const& exec, Offsets const& offsets, Rows const& rows) {
  // One edge a thread on GPUs: neighbouring threads write neighbouring words.
  constexpr int block = sorts_edges<ExecSpace> ? 1 : 1024;
  Kokkos::parallel_for("karpos::transpose: sources",
                       index_range(exec, (rows.extent(0) + block - 1) / block),
                       find_sources<block, Offsets, Rows>{offsets, rows});
}

/// Reverses the edges of a graph. The steps of transpose.
template <class ExecSpace, class VertexId, class EdgeOffset, class MemorySpace, class Weights>
auto reverse_graph(ExecSpace const& exec, csr_graph<VertexId, EdgeOffset, MemorySpace> const& graph,
                   Weights& weights) {
  using graph_type = csr_graph<VertexId, EdgeOffset, MemorySpace>;
  using rows_view = Kokkos::View<VertexId*, MemorySpace>;
  require_reachable<ExecSpace, rows_view>();
  graph.validate_unless_trusted(exec);
  auto const rows = graph_array<rows_view>(exec, "sources", graph.edges());
  write_sources(exec, graph.row_offsets(), rows);
  edges_in_views<typename graph_type::columns_view, rows_view> const list{graph.column_indices(),
                                                                          rows};
  return csr_of_edges<graph_type>(exec, graph.vertices(), list,
                                  {.remove_self_loops = false, .remove_duplicates = false}, weights)
      .trusted();
}

}  // namespace karpos::detail::build_csr
