// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include "karpos/detail/graph/bfs/state.hpp"
#include "karpos/detail/graph/frontier/degrees.hpp"

// Prepares a graph once for many searches: finds isolated vertices, the sizes of the degree classes
// and the hub vertices.

namespace karpos::detail::bfs {

/// Computes the status bitmap that every search starts from. Isolated vertices, and bits beyond the
/// last vertex, count as visited.
template <class Rows>
struct find_isolated {
  Rows out, in;
  bool has_in;
  std::uint64_t vertices;
  std::uint32_t* isolated;

  KOKKOS_FUNCTION void operator()(std::uint64_t w) const {
    std::uint32_t bits = 0;
    for (std::uint64_t i = 0; i < 32; ++i) {
      std::uint64_t const v = w * 32 + i;
      // Without a transpose the in-degree of v is unknown, so v is not called isolated.
      bool const alone = v >= vertices || (has_in && out.degree(v) == 0 && in.degree(v) == 0);
      bits |= static_cast<std::uint32_t>(alone) << i;
    }
    isolated[w] = bits;
  }
};

/// Copies each row of at most padded_row::size edges into 16 bytes; marks longer rows.
template <class Rows>
struct pad_row {
  Rows out;
  padded_row* padded;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    padded_row r = padded_row::empty();
    auto const begin = out.begin(v), degree = out.end(v) - begin;
    if (degree > padded_row::size)
      r.neighbour[0] = padded_row::longer;
    else
      for (int i = 0; i < padded_row::size; ++i)
        if (static_cast<std::uint64_t>(i) < degree)
          r.neighbour[i] =
              static_cast<local_vertex>(out.column[begin + static_cast<typename Rows::edge>(i)]);
    padded[v] = r;
  }
};

/// Builds the row of all vertices within two hops from the padded rows of an undirected graph.
struct make_two_hop_row {
  padded_row const* padded;
  two_hop_row* to;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    two_hop_row r;
    for (padded_row& part : r.part) part = padded_row::empty();
    padded_row const mine = padded[v];
    bool fits = !mine.is_long();
    for (int i = 0; fits && i < two_hop_row::parts; ++i) {
      local_vertex const w = mine.neighbour[i];
      if (w == padded_row::none || w == v) continue;
      padded_row const next = padded[w];
      r.part[i].neighbour[0] = w;
      fits = !next.is_long() && add(next, static_cast<local_vertex>(v), mine, r, i);
    }
    if (!fits) {
      for (padded_row& part : r.part) part = padded_row::empty();
      r.part[0].neighbour[0] = padded_row::longer;
    }
    to[v] = r;
  }

 private:
  /// Adds the neighbours in `row` to a part, except v, v's neighbours and vertices that are in a
  /// part already. Returns: whether they fit.
  KOKKOS_FUNCTION static bool add(padded_row const& row, local_vertex v, padded_row const& mine,
                                  two_hop_row& r, int part) {
    int at = 1;
    for (local_vertex const x : row.neighbour) {
      if (x == padded_row::none || x == v || is_in(mine, x)) continue;
      bool known = false;
      for (int i = 0; i <= part; ++i) known = known || is_in(r.part[i], x);
      if (known) continue;
      if (at == padded_row::size) return false;
      r.part[part].neighbour[at++] = x;
    }
    return true;
  }
  KOKKOS_FUNCTION static bool is_in(padded_row const& row, local_vertex x) {
    bool found = false;
    for (local_vertex const y : row.neighbour) found = found || y == x;
    return found;
  }
};

/// Lists the hub vertices, in no particular order.
template <class Rows>
struct list_hubs {
  Rows out;
  std::uint64_t hub_degree;
  local_vertex* hubs;
  std::uint32_t* count;

  KOKKOS_FUNCTION void operator()(std::uint64_t v) const {
    if (out.degree(v) > hub_degree)
      hubs[Kokkos::atomic_fetch_add(count, 1u)] = static_cast<local_vertex>(v);
  }
};

}  // namespace karpos::detail::bfs
