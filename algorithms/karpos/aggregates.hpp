// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/operations.hpp"
#include "karpos/rows.hpp"

// Lists of columns and operations for one reduction by key: the SELECT of SQL's GROUP BY.
//
//   aggregates(aggregate_count(orders),                                      COUNT(*)
//              aggregate(price, plus{}, revenue, minimum{}, cheapest),       SUM(price), MIN(price)
//              aggregate(weight, maximum{}, heaviest))                       MAX(weight)
//
// orders, revenue, cheapest and heaviest are the views for the results.

namespace karpos {

namespace detail::reduce_by_key {

/// Stands for the operation of outputs that count rows.
struct count_rows {};

/// An operation on column number Column (no_column: a count of rows), and the view for its results.
template <int Column, class Op, class Out>
struct output {
  static_assert(!std::is_const_v<typename Out::value_type>,
                "karpos: results of a reduction are written to views that are not const");
  static constexpr int column = Column;
  Op op;
  Out out;
};
inline constexpr int no_column = -1;

/// A column of a reduction: a view of rank one, or nullable(view, mask).
template <class X>
concept aggregate_column = is_nullable<X> || view_1d<X>;

/// Returns an output whose column number is moved up by Columns.
template <int Columns, int Column, class Op, class Out>
auto behind(output<Column, Op, Out> const& o) {
  constexpr int moved = Column == no_column ? no_column : Column + Columns;
  return output<moved, Op, Out>{o.op, o.out};
}

template <class OpsAndViews, std::size_t... I>
auto outputs_of(OpsAndViews const& list, std::index_sequence<I...>) {
  return std::make_tuple(output<0, std::tuple_element_t<2 * I, OpsAndViews>,
                                std::tuple_element_t<2 * I + 1, OpsAndViews>>{
      std::get<2 * I>(list), std::get<2 * I + 1>(list)}...);
}

}  // namespace detail::reduce_by_key

/// Columns, and the operations on them with their results: what aggregate, aggregate_count and
/// aggregates return. Cheap to copy; copies share the views' memory.
template <class Columns, class Outputs>
struct aggregate_list {
  Columns columns;  ///< a std::tuple of views
  Outputs outputs;  ///< a std::tuple of detail::reduce_by_key::output
};

/// Returns a column with its operations, each followed by the view for its results:
/// `aggregate(price, plus{}, revenue, minimum{}, cheapest)`.
///
/// The column is a view of numbers of 4 or 8 bytes, or nullable(view, mask) (rows.hpp), whose nulls
/// are left out, as in SQL. If all values of a key are nulls, plus gives 0, minimum the largest
/// value of the results' type (or infinity) and maximum the smallest. To tell such a key from
/// others, add count_valid (statistics.hpp), which is 0 for it. Of all operations only plus,
/// minimum, maximum, count_valid, mean and variance (statistics.hpp) take a column with nulls.
///
/// The view for results has the column's type, or one that holds all of its values, for instance
/// for sums of 32-bit integers in 64 bits. Operations are associative and commutative; they are
/// called as op(a, b), const, in kernels, with numbers of the type of the view for their results
/// (operations.hpp says what they may do).
template <detail::reduce_by_key::aggregate_column Column, class... OpsAndViews>
auto aggregate(Column const& column, OpsAndViews const&... ops_and_views) {
  static_assert(
      sizeof...(OpsAndViews) > 0 && sizeof...(OpsAndViews) % 2 == 0,
      "karpos: aggregate(column, op, view, op, view, ...) has pairs of operation and view");
  auto const outputs = detail::reduce_by_key::outputs_of(
      std::make_tuple(ops_and_views...), std::make_index_sequence<sizeof...(OpsAndViews) / 2>());
  return aggregate_list<std::tuple<Column>, std::remove_const_t<decltype(outputs)>>{{column},
                                                                                    outputs};
}

/// Returns an aggregate that counts the rows of each key, in integers of 4 or 8 bytes; modulo 2^32
/// if they have 4.
template <view_1d Out>
auto aggregate_count(Out const& out) {
  static_assert(std::is_integral_v<typename Out::value_type>, "karpos: counts are integers");
  using outputs = std::tuple<detail::reduce_by_key::output<detail::reduce_by_key::no_column,
                                                           detail::reduce_by_key::count_rows, Out>>;
  return aggregate_list<std::tuple<>, outputs>{{}, outputs{{{}, out}}};
}

/// Combines several aggregates into one, for one reduction (reduce_by_key.hpp says how many bytes
/// their results may have). A column in two aggregates is moved twice: give all of its operations
/// to one aggregate.
template <class Columns, class Outputs>
auto aggregates(aggregate_list<Columns, Outputs> const& only) {
  return only;
}
template <class Columns, class Outputs, class MoreColumns, class MoreOutputs, class... Others>
auto aggregates(aggregate_list<Columns, Outputs> const& first,
                aggregate_list<MoreColumns, MoreOutputs> const& second, Others const&... others) {
  constexpr int before = static_cast<int>(std::tuple_size_v<Columns>);
  auto const columns = std::tuple_cat(first.columns, second.columns);
  auto const outputs = std::tuple_cat(
      first.outputs, std::apply(
                         [](auto const&... o) {
                           return std::make_tuple(detail::reduce_by_key::behind<before>(o)...);
                         },
                         second.outputs));
  using both = aggregate_list<std::remove_const_t<decltype(columns)>,
                              std::remove_const_t<decltype(outputs)>>;
  return aggregates(both{columns, outputs}, others...);
}

}  // namespace karpos
