// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "karpos/detail/graph/build_csr/edge_list.hpp"

// Builds rows by counting, for CPUs, whose caches hold a row.

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

}  // namespace karpos::detail::build_csr
