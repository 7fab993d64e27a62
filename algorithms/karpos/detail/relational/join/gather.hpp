// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/contract.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/join_options.hpp"
#include "karpos/rows.hpp"

namespace karpos::detail::join {

/// Writes the values of a column at given row numbers. no_row and nulls give `missing`.
template <class Indices, class Column, class T, class Out>
struct gather_values {
  Indices indices;
  Column column;
  T missing;
  Out out;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const row = device::element(indices, i);
    KARPOS_EXPECTS(row == no_row_of(row) || static_cast<std::uint64_t>(row) < rows(),
                   "a row that is gathered is below the length of the column, or no_row");
    out(i) = row == no_row_of(row) ? missing : value(row);
  }

 private:
  template <class Row>
  KOKKOS_FUNCTION static constexpr Row no_row_of(Row) {
    return karpos::no_row<Row>;
  }
  KOKKOS_FUNCTION std::uint64_t rows() const {
    if constexpr (is_nullable<Column>)
      return column.values().extent(0);
    else
      return column.extent(0);
  }
  template <class Row>
  KOKKOS_FUNCTION T value(Row row) const {
    if constexpr (is_nullable<Column>)
      return column.is_valid(row) ? column.values()(row) : missing;
    else
      return column(row);
  }
};

/// Writes column(indices(i)) to out(i) for each i. Asynchronous.
template <class ExecSpace, class Indices, class Column, class T, class Out>
void gather(ExecSpace const& exec, Indices const& indices, Column const& column, T const& missing,
            Out const& out) {
  device::loop_over("karpos::gather", exec, indices.extent(0),
                    device::make_body<ExecSpace, gather_values>(indices, column, missing, out));
}

}  // namespace karpos::detail::join
