// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/distributed/split_rows.hpp"

// The kernels of an exchange_plan, and its memory.

namespace karpos::detail::distributed {

/// Memory of a plan. rows: the rows in order while the plan is made, later a column in order.
/// order: the numbers of the rows.
template <class ExecSpace>
struct plan_memory {
  reusable_memory<ExecSpace> rows, order;
};

/// Copies a column in the order in which it is sent.
template <class In, class T>
struct pack_column {
  In in;
  std::uint32_t const* order;
  T* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = in(order[i]); }
};

/// Copies answers back in the order of the rows.
template <class T, class Out>
struct unpack_column {
  T const* from;
  std::uint32_t const* order;
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { out(order[i]) = from[i]; }
};

/// Stores the numbers of rows that are ordered by owner.
template <class Row>
struct store_row_number {
  Row const* rows;
  std::uint32_t* order;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { order[i] = rows[i].value; }
};

/// Finds the first owner that is not a rank.
template <class Owners>
struct find_wrong_owner {
  Owners owners;
  std::uint64_t ranks;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& first) const {
    if (static_cast<std::uint64_t>(owners(i)) >= ranks && i < first) first = i;
  }
};

}  // namespace karpos::detail::distributed
