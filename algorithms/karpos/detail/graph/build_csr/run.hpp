// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <algorithm>
#include <cstdint>

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
// the edges as words, and write the rows by prefix sums (csr_by_sorting). Tests: build_csr.

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
template <class List, class Offsets, class Columns>
struct scatter_targets {
  List list;
  Offsets begins;
  Columns columns;
  csr_options options;

  void operator()(std::uint64_t i) const {
    for_each_direction(list(i), options, [&](std::uint64_t source, std::uint64_t target) {
      columns(Kokkos::atomic_fetch_add(&begins(source), 1)) =
          static_cast<typename Columns::value_type>(target);
    });
  }
};

/// Sorts a row, compacts its targets to distinct ones if `distinct`, and writes its size.
template <class Offsets, class Columns>
struct sort_row {
  Offsets ends;
  Columns columns;
  Offsets sizes;
  bool distinct;

  void operator()(std::uint64_t v) const {
    auto* const begin = columns.data() + (v == 0 ? 0 : ends(v - 1));
    auto* end = columns.data() + ends(v);
    std::sort(begin, end);
    if (distinct) end = std::unique(begin, end);
    sizes(v) = static_cast<typename Offsets::value_type>(end - begin);
  }
};

/// Copies a row to its position in an array without gaps.
template <class Offsets, class Columns>
struct move_row {
  Offsets old_ends, offsets;
  Columns from, to;

  void operator()(std::uint64_t v) const {
    auto const* const begin = from.data() + (v == 0 ? 0 : old_ends(v - 1));
    std::copy(begin, begin + (offsets(v + 1) - offsets(v)), to.data() + offsets(v));
  }
};

/// Builds a graph by counting. Complexity: linear, except for the sort of each row, by one thread.
/// Memory: the columns twice if some are removed.
template <class Graph, class ExecSpace, class List>
Graph csr_by_counting(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                      csr_options const& options) {
  using columns_view = typename Graph::columns_view::non_const_type;
  using offsets_view = typename Graph::offsets_view::non_const_type;
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
  auto columns = graph_array<columns_view>(exec, "columns", static_cast<std::uint64_t>(total));
  Kokkos::parallel_for(
      "karpos::build_csr: scatter", each_edge,
      scatter_targets<List, offsets_view, columns_view>{list, ends, columns, options});

  auto const offsets = zeroed_graph_array<offsets_view>(exec, "row offsets", vertices + 1);
  Kokkos::parallel_for(
      "karpos::build_csr: sort rows", rows,
      sort_row<offsets_view, columns_view>{ends, columns, offsets, options.remove_duplicates});
  Kokkos::parallel_scan("karpos::build_csr: offsets", index_range(exec, vertices + 1),
                        scan{offsets}, total);
  if (static_cast<std::uint64_t>(total) != columns.extent(0)) {
    auto const kept =
        graph_array<columns_view>(exec, "kept columns", static_cast<std::uint64_t>(total));
    Kokkos::parallel_for("karpos::build_csr: compact rows", rows,
                         move_row<offsets_view, columns_view>{ends, offsets, columns, kept});
    exec.fence("karpos::build_csr: before the columns with gaps are freed");
    columns = kept;
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
  std::uint64_t edges;
  csr_options options;

  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    edge const e = list(i);
    bool const loop = e.source == e.target;
    keys(i) = loop && options.remove_self_loops ? dropped_key : pack(e);
    if (options.symmetrise) keys(edges + i) = loop ? dropped_key : pack({e.target, e.source});
  }
};

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

/// Compacts the kept keys by a prefix sum: writes targets, and the ends of rows that have any.
template <class Keys, class Columns, class Offsets>
struct write_rows {
  using value_type = typename Offsets::value_type;
  kept_keys<Keys> kept;
  Columns columns;
  Offsets offsets;

  KOKKOS_FUNCTION void operator()(std::uint64_t i, value_type& at, bool last_pass) const {
    bool const keep = kept(i);
    std::uint64_t const key = kept.keys(i);
    if (last_pass && keep) columns(at) = static_cast<typename Columns::value_type>(target_of(key));
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

/// Builds a graph by sorting its edges. Memory: three words of 64 bits for each directed edge.
template <class Graph, class ExecSpace, class List>
Graph csr_by_sorting(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                     csr_options const& options) {
  using keys_view = Kokkos::View<std::uint64_t*, typename Graph::memory_space>;
  using columns_view = typename Graph::columns_view::non_const_type;
  using offsets_view = typename Graph::offsets_view::non_const_type;

  std::uint64_t const edges = list.size();
  auto const keys = graph_array<keys_view>(exec, "keys", options.symmetrise ? 2 * edges : edges);
  Kokkos::parallel_for("karpos::build_csr: pack", index_range(exec, edges),
                       pack_edges<List, keys_view>{list, keys, edges, options});
  Kokkos::sort(exec, keys);

  kept_keys<keys_view> const kept{keys, options.remove_duplicates};
  auto const each_key = index_range(exec, keys.extent(0));
  std::uint64_t count = 0;
  Kokkos::parallel_reduce("karpos::build_csr: count", each_key, kept,
                          Kokkos::Sum<std::uint64_t>(count));
  auto const columns = graph_array<columns_view>(exec, "columns", count);
  auto const offsets = zeroed_graph_array<offsets_view>(exec, "row offsets", vertices + 1);
  Kokkos::parallel_scan("karpos::build_csr: rows", each_key,
                        write_rows<keys_view, columns_view, offsets_view>{kept, columns, offsets});
  Kokkos::parallel_scan("karpos::build_csr: empty rows", index_range(exec, vertices + 1),
                        fill_empty_rows<offsets_view>{offsets});
  exec.fence("karpos::build_csr: before the keys are freed");
  return Graph(offsets, columns);
}

/// CPUs count and GPUs sort; with the methods swapped, each would be several times slower.
template <class ExecSpace>
inline constexpr bool sorts_edges = device::is_device<ExecSpace>;

/// Builds the graph of an edge list. Requires: all ids are below `vertices`.
template <class Graph, class ExecSpace, class List>
Graph csr_of_edges(ExecSpace const& exec, std::uint64_t vertices, List const& list,
                   csr_options const& options) {
  require_graph_fits<Graph>(vertices, list.size(), options);
  Graph graph;
  if constexpr (sorts_edges<ExecSpace>)
    graph = csr_by_sorting<Graph>(exec, vertices, list, options);
  else
    graph = csr_by_counting<Graph>(exec, vertices, list, options);
  return options.symmetrise ? graph.undirected() : graph;
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

}  // namespace karpos::detail::build_csr
