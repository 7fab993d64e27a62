// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/hash.hpp"

// Checks of compressed sparse rows: whether offsets rise from 0 to the number of edges, whether
// columns are vertices, and whether two sets of rows are transposes of each other.

namespace karpos::detail {

/// The rows that are checked, for messages and bounds.
struct rows_under_check {
  char const* name;             ///< "the graph", say
  std::uint64_t vertices;       ///< columns are below this
  std::uint64_t first_row = 0;  ///< the vertex of row 0; above 0 for the rows of a rank
};

/// Kernel that finds the first wrong place of rows. Places 0 to `last_offset` are the offsets, and
/// the places after them are the edges. So an edge is reported only if all offsets are right. Index
/// i <= last_offset checks an offset, each later index a block of edges.
///
/// Negative numbers of signed types become huge ones, which are out of range.
template <class VertexId, class EdgeOffset>
struct find_wrong_place {
  EdgeOffset const* offset;
  VertexId const* column;
  std::uint64_t last_offset, edges, vertices;

  static constexpr std::uint64_t none = ~std::uint64_t(0);
  /// Edges that one index checks: GPUs read whole sectors, and compilers of CPUs make a few vector
  /// instructions of them.
  static constexpr std::uint64_t block = 8;

  std::uint64_t indices() const { return last_offset + 1 + (edges + block - 1) / block; }

  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    if (i <= last_offset) {
      if (!is_offset(i)) first = Kokkos::min(first, i);
      return;
    }
    std::uint64_t e = (i - last_offset - 1) * block;
    if (vertices > 0 && e + block <= edges && are_edges(e)) return;
    std::uint64_t const end = Kokkos::min(e + block, edges);
    while (e < end && is_edge(e)) ++e;
    if (e < end) first = Kokkos::min(first, last_offset + 1 + e);
  }

 private:
  KOKKOS_FUNCTION bool is_edge(std::uint64_t e) const {
    return static_cast<std::uint64_t>(column[e]) < vertices;
  }
  /// Returns whether all edges of the full block that begins at e lead to vertices. Compares in the
  /// width of the ids and without a branch, so that compilers make vector instructions of it.
  KOKKOS_FUNCTION bool are_edges(std::uint64_t e) const {
    using word = std::make_unsigned_t<VertexId>;
    constexpr std::uint64_t most = Kokkos::Experimental::finite_max_v<VertexId>;
    auto const last = static_cast<word>(Kokkos::min(vertices - 1, most));
    word wrong = 0;
    for (std::uint64_t k = 0; k < block; ++k)
      wrong |= static_cast<word>(static_cast<word>(column[e + k]) > last ? 1 : 0);
    return wrong == 0;
  }
  KOKKOS_FUNCTION bool is_offset(std::uint64_t i) const {
    auto const at = static_cast<std::uint64_t>(offset[i]);
    auto const least = i == 0 ? std::uint64_t(0) : static_cast<std::uint64_t>(offset[i - 1]);
    if (i == 0 && at != 0) return false;
    return at >= least && at <= edges && (i != last_offset || at == edges);
  }
};

/// Returns element i of a contiguous view. Blocks.
template <class ExecSpace, class View>
auto element_of(ExecSpace const& exec, View const& view, std::uint64_t i) {
  char const* const why = "karpos::csr_graph::validate: a wrong place";
  if constexpr (reaches<Kokkos::HostSpace, View>) {
    exec.fence(why);
    return view.data()[i];
  } else {
    typename View::non_const_value_type value{};
    Kokkos::deep_copy(exec, value, Kokkos::subview(view, i));
    exec.fence(why);
    return value;
  }
}

/// Throws std::invalid_argument for offset i, whose value is `at`; the value of the offset before
/// it is `before`.
[[noreturn]] inline void reject_offset(rows_under_check const& rows, std::uint64_t edges,
                                       std::uint64_t i, std::string const& before,
                                       std::string const& at) {
  using number = unsigned long long;
  char what[128], why[192];
  std::snprintf(what, sizeof(what), "row offset %llu of %s is wrong", number(i), rows.name);
  if (i == 0)
    std::snprintf(why, sizeof(why), "%s with %llu column indices", at.c_str(), number(edges));
  else
    std::snprintf(why, sizeof(why), "vertex %llu has the edges from %s to %s, of %llu",
                  number(rows.first_row + i - 1), before.c_str(), at.c_str(), number(edges));
  reject(what, why, "offsets rise from 0 to the number of column indices");
}

/// Throws std::invalid_argument for edge e of a row, which leads to `to`, and that is no vertex.
[[noreturn]] inline void reject_edge(rows_under_check const& rows, std::uint64_t e,
                                     std::uint64_t row, std::string const& to) {
  using number = unsigned long long;
  char what[128], why[192];
  std::snprintf(what, sizeof(what), "edge %llu of %s leads to no vertex", number(e), rows.name);
  std::snprintf(why, sizeof(why), "from vertex %llu to %s, with %llu vertices",
                number(rows.first_row + row), to.c_str(), number(rows.vertices));
  reject(what, why, "column indices are 0 to one less than the number of vertices");
}

/// Throws std::invalid_argument if an array has a length, but no memory.
inline void require_memory(rows_under_check const& rows, void const* offsets, void const* columns,
                           std::uint64_t edges) {
  if (offsets == nullptr || (columns == nullptr && edges > 0))
    reject(std::string("offsets or columns of ") + rows.name + " have no memory", "a null pointer",
           "allocate them");
}

/// Returns the row of edge e. Requires: the offsets are right.
template <class ExecSpace, class Offsets>
std::uint64_t row_of_edge(ExecSpace const& exec, Offsets const& offsets, std::uint64_t e) {
  std::uint64_t row = 0, end = offsets.extent(0) - 1;  // offset(row) <= e < offset(end)
  while (end - row > 1) {
    std::uint64_t const middle = row + (end - row) / 2;
    (static_cast<std::uint64_t>(element_of(exec, offsets, middle)) <= e ? row : end) = middle;
  }
  return row;
}

/// Throws std::invalid_argument if these are no valid rows; it names the first wrong offset, or
/// else the first wrong edge.
/// Complexity: one pass over offsets and columns. Blocks.
template <class ExecSpace, class Offsets, class Columns>
void require_rows(ExecSpace const& exec, Offsets const& offsets, Columns const& columns,
                  rows_under_check const& rows) {
  using find = find_wrong_place<typename Columns::non_const_value_type,
                                typename Offsets::non_const_value_type>;
  if (offsets.extent(0) == 0) return;
  std::uint64_t const last = offsets.extent(0) - 1, edges = columns.extent(0);
  require_memory(rows, offsets.data(), columns.data(), edges);
  find const check{offsets.data(), columns.data(), last, edges, rows.vertices};
  std::uint64_t place = find::none;
  Kokkos::parallel_reduce("karpos::csr_graph::validate", index_range(exec, check.indices()), check,
                          Kokkos::Min<std::uint64_t>(place));
  if (place == find::none) return;
  auto const text = [&](auto const& view, std::uint64_t i) {
    return std::to_string(element_of(exec, view, i));
  };
  if (place <= last)
    reject_offset(rows, edges, place, place == 0 ? std::string() : text(offsets, place - 1),
                  text(offsets, place));
  std::uint64_t const e = place - last - 1;
  reject_edge(rows, e, row_of_edge(exec, offsets, e), text(columns, e));
}

/// Adds up a hash of every edge; if `reversed`, of the edge in the other direction.
template <class Offsets, class Columns>
struct sum_edges {
  Offsets offsets;
  Columns columns;
  bool reversed;

  KOKKOS_FUNCTION void operator()(std::uint64_t v, std::uint64_t& sum) const {
    auto const end = static_cast<std::uint64_t>(offsets(v + 1));
    for (auto e = static_cast<std::uint64_t>(offsets(v)); e < end; ++e) {
      auto const w = static_cast<std::uint64_t>(columns(e));
      sum += reversed ? mix(mix(w) + v) : mix(mix(v) + w);
    }
  }
};
template <class ExecSpace, class Offsets, class Columns>
std::uint64_t sum_of_edges(ExecSpace const& exec, Offsets const& offsets, Columns const& columns,
                           bool reversed) {
  std::uint64_t sum = 0;
  std::uint64_t const rows = offsets.extent(0);
  Kokkos::parallel_reduce("karpos::csr_graph::validate: transpose",
                          index_range(exec, rows - (rows > 0)),
                          sum_edges<Offsets, Columns>{offsets, columns, reversed}, sum);
  return sum;
}

/// Throws std::invalid_argument unless the edges of `in` are those of `out` in the other direction.
/// Compares sums of 64 bits. If the edges differ, the sums are equal by a chance of 2^-64, or by
/// design.
/// Requires: both are valid rows. Complexity: a pass over each, with a thread for each row. Blocks.
template <class ExecSpace, class Offsets, class Columns>
void require_transposed(ExecSpace const& exec, Offsets const& out_offsets,
                        Columns const& out_columns, Offsets const& in_offsets,
                        Columns const& in_columns) {
  if (sum_of_edges(exec, out_offsets, out_columns, false) !=
      sum_of_edges(exec, in_offsets, in_columns, true))
    reject(
        "the transpose of a graph has other edges",
        "they are not those of the graph the other way round",
        "make it by karpos::transpose; undirected() is for graphs that have every edge both ways");
}

}  // namespace karpos::detail
