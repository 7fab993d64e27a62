// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>
#include <cstdint>

#include "karpos/detail/graph/build_csr/edge_list.hpp"

// Builds rows by sorting, for GPUs, whose radix sorts reach a good part of the memory bandwidth.

namespace karpos::detail::build_csr {

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

/// Tells whether a sorted key becomes an edge: it is not dropped and, if `distinct`, is the first
/// of its duplicates.
template <class Keys>
struct kept_keys {
  Keys keys;
  bool distinct;

  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    std::uint64_t const key = keys(i);
    return key != dropped_key && !(distinct && i > 0 && keys(i - 1) == key);
  }
};

template <class Keys>
struct count_kept {
  kept_keys<Keys> kept;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& count) const { count += kept(i); }
};

/// Compacts the kept keys by a prefix sum: writes their targets, and the ends of the rows that are
/// not empty.
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

/// Gives empty rows the end of the last row before them, by a maximum scan, so that many empty rows
/// in a row are no serial loop.
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

/// Builds a graph by sorting. Complexity: a sort of the edges. Memory: three words of 64 bits for
/// each directed edge while it sorts.
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
  Kokkos::parallel_reduce("karpos::build_csr: count", each_key, count_kept<keys_view>{kept}, count);
  auto const columns = graph_array<columns_view>(exec, "columns", count);
  auto const offsets = zeroed_graph_array<offsets_view>(exec, "row offsets", vertices + 1);
  Kokkos::parallel_scan("karpos::build_csr: rows", each_key,
                        write_rows<keys_view, columns_view, offsets_view>{kept, columns, offsets});
  Kokkos::parallel_scan("karpos::build_csr: empty rows", index_range(exec, vertices + 1),
                        fill_empty_rows<offsets_view>{offsets});
  exec.fence("karpos::build_csr: before the keys are freed");
  return Graph(offsets, columns);
}

}  // namespace karpos::detail::build_csr
