// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/join/gather.hpp"
#include "karpos/detail/relational/join/matches.hpp"
#include "karpos/detail/relational/join/payload_columns.hpp"
#include "karpos/detail/relational/join/split_join.hpp"
#include "karpos/detail/relational/join/tuning.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/join_options.hpp"
#include "karpos/rows.hpp"

// The host driver of partitioned_join: joins by partitions, and gathers columns that are not moved.

namespace karpos::detail::join {

/// Writes the rows of a join that fit the output. swapped: the sides have traded places.
template <class Write>
struct write_within {
  Write write;
  std::uint64_t capacity;
  bool swapped;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::uint64_t at, std::uint64_t l,
                                              std::uint64_t r) const {
    if (at < capacity) write(at, swapped ? r : l, swapped ? l : r);
  }
};
struct write_nothing {
  KOKKOS_FUNCTION void operator()(std::uint64_t, std::uint64_t, std::uint64_t) const {}
};

/// Asserts that tables can be joined. Throws std::invalid_argument if they have too many rows.
template <class ExecSpace, class Left, class Right>
void require_joinable(Left const& left, Right const& right) {
  static_assert(is_row_view<Left> && is_row_view<Right>,
                "karpos: the sides of a partitioned join are rows(column, ...)");
  static_assert(
      std::is_same_v<typename Left::row_type, typename Right::row_type>,
      "karpos: the two sides of a join have columns of the same types, in the same order");
  require_reachable_columns<ExecSpace, Left, Right>();
  require_rule_for_nulls(left, right);
  constexpr std::uint64_t max_rows = row_index::max_rows<std::uint32_t>;
  for (std::uint64_t const rows : {left.size(), right.size()})
    if (rows > max_rows)
      reject("too many rows",
             std::to_string(rows) + " on a side, of at most " + std::to_string(max_rows),
             "join by an index with row numbers of 64 bits");
}

/// How a kind of join is done by partitions: which side is looked up, and what its rows become.
struct probing {
  bool swapped;  // left rows are in scratch, and right ones are looked up
  join::multiplicity multiplicity;
};
inline probing probing_of(join_kind kind, std::uint64_t left_rows, std::uint64_t right_rows) {
  switch (kind) {
    case join_kind::inner:
      return {left_rows < right_rows, multiplicity::matches};
    case join_kind::right:
      return {true, multiplicity::matches_or_one};
    case join_kind::right_semi:
      return {true, multiplicity::one_if_matched};
    case join_kind::right_anti:
      return {true, multiplicity::one_if_not};
    default:
      return {false, join::multiplicity_of(kind)};
  }
}

/// Joins two tables once, by partitions.
template <class ExecSpace, class Left, class Right>
class pair_of_tables {
 public:
  pair_of_tables(ExecSpace const& exec, Left const& left, Right const& right)
      : m_exec(exec),
        m_left(left),
        m_right(right) {
    join::require_joinable<ExecSpace>(left, right);
  }

  /// Writes the rows of the join that fit the output. Returns the number of all rows; nothing if
  /// an index must be used: for full joins, and for tables too small or too skewed to be split.
  template <class Write>
  std::optional<std::uint64_t> join_by_partitions(join_kind kind, Write const& write,
                                                  std::uint64_t capacity,
                                                  partitioned_join_options const& o) const {
    require_enumerators(kind);
    if (is_given(o.workspace)) require_workspace(bytes_call, o.workspace, bytes());
    if (!splits(kind)) return {};
    auto const how = join::probing_of(kind, m_left.size(), m_right.size());
    auto const rows = run(how.swapped, how.multiplicity, write, capacity, o);
    // If the side in scratch is too skewed, an inner join may hold the other one.
    return rows || kind != join_kind::inner
               ? rows
               : run(!how.swapped, how.multiplicity, write, capacity, o);
  }
  /// Returns whether it is worth while to split the tables for this kind.
  bool splits(join_kind kind) const {
    return kind != join_kind::full &&
           m_left.size() + m_right.size() >= tuning<ExecSpace>::min_split_rows;
  }
  std::size_t bytes() const { return std::max(forward().bytes(), backward().bytes()); }

 private:
  static constexpr char bytes_call[] = "partitioned_join_bytes(exec, left, right)";

  auto forward() const { return join::split_join_of(m_exec, m_left, m_right, m_right); }
  auto backward() const { return join::split_join_of(m_exec, m_right, m_left, m_right); }
  template <class Write>
  std::optional<std::uint64_t> run(bool swapped, multiplicity kind, Write const& write,
                                   std::uint64_t capacity,
                                   partitioned_join_options const& o) const {
    workspace<ExecSpace> const w(m_exec, bytes_call, o.workspace, bytes());
    write_within<Write> const emit{write, capacity, swapped};
    return swapped ? backward().run(kind, emit, w.data()) : forward().run(kind, emit, w.data());
  }

  ExecSpace m_exec;
  Left m_left;
  Right m_right;
};

inline constexpr char payload_bytes_call[] =
    "partitioned_join_bytes(exec, left, right, left_columns, right_columns)";

/// Payload columns of a side, and the views for their values.
template <class In, class Out>
struct payload_side;
template <class... In, class... Out>
struct payload_side<column_list<In...>, column_list<Out...>> {
  static_assert(sizeof...(In) == sizeof...(Out),
                "karpos: every payload column of a join goes to one column of the output");
  static_assert((std::is_same_v<typename Out::value_type, typename In::non_const_value_type> &&
                 ...),
                "karpos: payload columns go to views of their values, not const");
  column_list<In...> in;
  column_list<Out...> out;

  /// Checks the views for `rows` rows. Returns the number of rows that fit all outputs.
  template <class ExecSpace>
  std::uint64_t check([[maybe_unused]] char const* what,
                      [[maybe_unused]] std::uint64_t rows) const {
    require_reachable<ExecSpace, In..., Out...>();
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      (require_same_extent(what, rows, "a payload column", detail::get<I>(in.views).extent(0)),
       ...);
      return std::min({~std::uint64_t(0), std::uint64_t(detail::get<I>(out.views).extent(0))...});
    }(std::index_sequence_for<In...>{});
  }
  payload_columns<In...> columns() const { return payload_columns<In...>(in.views); }
  payload_columns<Out...> output_columns() const { return payload_columns<Out...>(out.views); }
  template <class ExecSpace, class Numbers>
  void gather_rows(ExecSpace const& exec, Numbers const& rows) const {
    gather_rows(exec, rows, std::index_sequence_for<In...>{});
  }

 private:
  // No lambda instead: nvcc does not expand Out in one.
  template <class ExecSpace, class Numbers, std::size_t... I>
  void gather_rows(ExecSpace const& exec, Numbers const& rows, std::index_sequence<I...>) const {
    [[maybe_unused]] auto const part = std::pair(std::uint64_t(0), std::uint64_t(rows.extent(0)));
    (join::gather(exec, rows, detail::get<I>(in.views), typename Out::value_type{},
                  Kokkos::subview(detail::get<I>(out.views), part)),
     ...);
  }
};

/// Splits payload columns together with their rows. Returns: the number of rows of the join;
/// nothing if the columns must be gathered instead.
template <class ExecSpace, class Left, class Right, class LeftSide, class RightSide>
std::optional<std::uint64_t> join_with_payload(ExecSpace const& exec, Left const& left,
                                               Right const& right, LeftSide const& of_left,
                                               RightSide const& of_right, std::uint64_t capacity,
                                               partitioned_join_options const& o) {
  if (left.size() + right.size() < tuning<ExecSpace>::min_split_rows) return {};
  auto const l = of_left.columns();
  auto const r = of_right.columns();
  using result = std::optional<std::uint64_t>;
  return join::with_payload_join<result>(
      exec, left, right, l, r, [&](auto const& both, auto swapped) -> result {
        std::size_t const bytes = both.bytes();
        if (bytes == 0) return {};
        workspace<ExecSpace> const w(exec, payload_bytes_call, o.workspace, bytes);
        if constexpr (swapped)
          return both.run(r, l, of_right.output_columns(), of_left.output_columns(), capacity,
                          w.data());
        else
          return both.run(l, r, of_left.output_columns(), of_right.output_columns(), capacity,
                          w.data());
      });
}
/// Gathers the payload columns by pairs of row numbers. write_pairs(left, right) writes the pairs
/// to two views, and returns their number.
template <class ExecSpace, class LeftSide, class RightSide, class WritePairs>
std::uint64_t join_and_gather(ExecSpace const& exec, LeftSide const& of_left,
                              RightSide const& of_right, std::uint64_t capacity,
                              WritePairs const& write_pairs) {
  using numbers = Kokkos::View<std::uint32_t*, typename ExecSpace::memory_space>;
  auto const make = [&] {
    return allocate_array<numbers>(exec, "karpos::partitioned_join: rows",
                                   "the row numbers of a join", "join fewer rows at once",
                                   capacity);
  };
  numbers const left = make(), right = make();
  std::uint64_t const rows = write_pairs(left, right);
  auto const part = std::pair(std::uint64_t(0), rows);
  of_left.gather_rows(exec, Kokkos::subview(left, part));
  of_right.gather_rows(exec, Kokkos::subview(right, part));
  exec.fence("karpos::partitioned_join: gathered");
  return rows;
}

}  // namespace karpos::detail::join
