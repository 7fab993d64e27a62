// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/aggregates.hpp"
#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/run.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/operations.hpp"
#include "karpos/table_options.hpp"

// Aggregation by key: computes one value for each different key. How: see
// detail/relational/reduce_by_key/rows.hpp.
//
//   keys     | 7 | 3 | 7 | 9 | 3 |      out_keys     | 9 | 7 | 3 |    in no particular order
//   values   | 1 | 2 | 3 | 4 | 5 |      out_values   | 4 | 4 | 7 |    returns 3

namespace karpos {

struct reduce_by_key_options {
  /// Memory that the caller owns: reduce_by_key_bytes, aligned to 64 bytes; null: allocated, and
  /// freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

/// Returns the bytes of reduce_by_key's workspace for `rows` rows of these types. Inputs and
/// outputs are not counted. count_by_key: T is the type of the counts; distinct: pass Key alone.
template <class Key, class T = detail::reduce_by_key::no_value, execution_space ExecSpace>
std::size_t reduce_by_key_bytes(ExecSpace const& exec, std::uint64_t rows) {
  using row = typename detail::reduce_by_key::row_type<Key, T>::type;
  return detail::reduce_by_key::memory<ExecSpace, row>(exec, rows).bytes();
}
/// Returns the bytes of reduce_by_key's workspace for these aggregates of `rows` rows.
template <class Key, execution_space ExecSpace, class Columns, class Outputs>
std::size_t reduce_by_key_bytes(ExecSpace const& exec, std::uint64_t rows,
                                aggregate_list<Columns, Outputs> const&) {
  return detail::reduce_by_key::aggregation<ExecSpace, Key, Columns, Outputs>::bytes(exec, rows);
}

namespace detail::reduce_by_key {

template <class Key>
constexpr void require_key() {
  static_assert((std::is_integral_v<Key> || std::is_enum_v<Key> ||
                 std::is_floating_point_v<Key>)&&(sizeof(Key) == 4 || sizeof(Key) == 8),
                "karpos: keys of a reduction are numbers or enumerators of 4 or 8 bytes");
}
template <class T>
constexpr void require_value() {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "karpos: values of a reduction are numbers of 4 or 8 bytes");
}
template <class ExecSpace, class Keys, class OutKeys>
constexpr void require_keys() {
  using key = typename Keys::non_const_value_type;
  require_key<key>();
  require_reachable<ExecSpace, Keys, OutKeys>();
  static_assert(std::is_same_v<typename OutKeys::value_type, key>,
                "karpos: different keys are written to a view of their type");
}

/// Reduces a source into views of keys and values.
template <class ExecSpace, class Source, class Keys, class Values, class Op>
std::uint64_t run(ExecSpace const& exec, Source const& source, Keys const& keys,
                  Values const& values, Op const& op, reduce_by_key_options const& options) {
  std::uint64_t const capacity = Kokkos::min(std::uint64_t(keys.extent(0)), values.extent(0));
  using device::for_loop, device::held_by_loop;
  using result = result_views<held_by_loop<ExecSpace, Keys>, held_by_loop<ExecSpace, Values>>;
  return reduce_by_key::run(
      exec, source, result{for_loop<ExecSpace>(keys), for_loop<ExecSpace>(values), capacity}, op,
      options.workspace, "reduce_by_key_bytes<Key, T>(exec, rows)");
}

}  // namespace detail::reduce_by_key

/// Reduces the values of equal keys by op: writes each different key once to out_keys, and what op
/// makes of all its values to out_values, at the same index; in no particular order.
///
/// Keys are integers, enumerators or floating-point numbers of 4 or 8 bytes; no value is reserved.
/// If keys are floating-point numbers, 0.0 and -0.0 are one key, written as 0.0, and all NaNs are
/// one key (hash.hpp). Values are numbers of 4 or 8 bytes. op(a, b) is associative and commutative:
/// karpos::plus, minimum, maximum or a functor, called in kernels (operations.hpp says what it may
/// do). Sums of integers wrap. checked_plus, which reports sums that do not fit, and
/// reproducible_plus are operations of an aggregate only: aggregate(values, checked_plus{}, out).
/// Only memory limits the number of rows.
///
/// Returns: the number of different keys. Blocks.
/// Complexity: O(rows), however often a key occurs. Rows are split by key as `partition` does it,
///   and then merged; on GPUs mostly in partitions of a fixed capacity, so that rows need not be
///   counted first. If keys repeat often, rows are merged as they are read, and only the results
///   are split. On GPUs the split also merges rows of heavy hitters, very frequent keys.
/// Requires: neither an output nor the workspace overlaps another view. Views may be strided.
///   Outputs may be longer than the number of different keys: elements after them are not written.
/// Concurrency: works on `exec`; one atomic operation on global memory serves many rows. The sum of
///   floating-point numbers depends on the order, which differs from call to call; that of an
///   aggregate with reproducible_plus (reproducible_plus.hpp) does not. A minimum or maximum of
///   numbers with NaNs depends on that order, too.
/// Memory: reduce_by_key_bytes: twice the rows, each a key with its value (8 or 16 bytes; for
///   distinct the key alone, 4 or 8), and what `partition` takes; on GPUs also up to 32 KiB for
///   each multiprocessor.
/// Throws: std::invalid_argument if views differ in length, if outputs or the workspace overlap
///   another view (not checked if one is strided), if outputs are too short (the message says how
///   many elements would do; what fitted is written), or if the workspace is too small or not
///   aligned; hash_error if keys were chosen to have equal hashes: some keys are written then, and
///   not all; allocation_error.
/// Source: Ye, Ross, Vesdapunt, "Scalable aggregation on multicore processors", DaMoN 2011;
///   Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016, for the split.
template <execution_space ExecSpace, view_1d Keys, view_1d Values, view_1d OutKeys,
          view_1d OutValues, class Op = plus>
std::uint64_t reduce_by_key(ExecSpace const& exec, Keys const& keys, Values const& values,
                            OutKeys const& out_keys, OutValues const& out_values, Op const& op = {},
                            reduce_by_key_options const& options = {}) {
  detail::user_call const call("reduce_by_key");
  using namespace detail::reduce_by_key;
  using value = typename Values::non_const_value_type;
  require_keys<ExecSpace, Keys, OutKeys>();
  require_value<value>();
  detail::require_reachable<ExecSpace, Values, OutValues>();
  static_assert(std::is_same_v<typename OutValues::value_type, value>,
                "karpos: reduced values are written to a view of the type of the values");
  static_assert(
      requires(value v) { static_cast<value>(op(v, v)); },
      "karpos: an operation is called as op(a, b), const, with two values; reproducible_plus and "
      "checked_plus are those of an aggregate(values, checked_plus{}, out)");
  detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
  auto const workspace = detail::range_of(options.workspace);
  detail::require_apart("the view of different keys", out_keys, keys, values, out_values,
                        workspace);
  detail::require_apart("the view of reduced values", out_values, keys, values, workspace);
  detail::require_apart("the workspace of a reduction", workspace, keys, values);
  using row = typename row_type<typename Keys::non_const_value_type, value>::type;
  return detail::reduce_by_key::run(exec, source_of_rows<row, ExecSpace>(keys, values), out_keys,
                                    out_values, op, options);
}

/// Does not compile: says what to do with keys or values that are no views.
template <execution_space ExecSpace, detail::column Keys, class Values, class... Rest>
  requires(!is_view_1d<Keys> || detail::is_nullable<Values>)
std::uint64_t reduce_by_key(ExecSpace const&, Keys const&, Values const&, Rest const&...) {
  static_assert(is_view_1d<Keys>,
                "karpos: keys with nulls, and strings, are numbered first: karpos::label(exec, "
                "karpos::rows(keys), numbers), then reduce_by_key(exec, numbers, ...)");
  static_assert(!is_view_1d<Keys> || !detail::is_nullable<Values>,
                "karpos: values with nulls are a column of an aggregate: reduce_by_key(exec, keys, "
                "out_keys, aggregates(aggregate(nullable(values, mask), plus{}, sums)))");
  return 0;
}

/// Reduces several columns at once, each by any number of operations (aggregates.hpp). The results
/// of a key are at the index of the key. Otherwise as reduce_by_key of one column.
///
/// Two sizes are limited to 128 bytes, padding included: a key with the partial results of its
/// outputs, and a key with the values of its columns. More does not compile. A mean or checked sum
/// takes 16 bytes, a variance or reproducible sum 32, any other output the size of its result.
///
/// Complexity: as for one column; each column is read, and split, once, however many operations it
///   has. reproducible_plus reads its column once more for each output.
/// Memory: reduce_by_key_bytes<Key>(exec, rows, aggregates). checked_plus and reproducible_plus
///   allocate more, and throw more (see their headers).
template <execution_space ExecSpace, view_1d Keys, view_1d OutKeys, class Columns, class Outputs>
std::uint64_t reduce_by_key(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                            aggregate_list<Columns, Outputs> const& aggregates,
                            reduce_by_key_options const& options = {}) {
  detail::user_call const call("reduce_by_key");
  using namespace detail::reduce_by_key;
  require_keys<ExecSpace, Keys, OutKeys>();
  return aggregation<ExecSpace, typename Keys::non_const_value_type, Columns, Outputs>::run(
      exec, keys, out_keys, aggregates, options.workspace);
}

/// Counts how often each key occurs, as reduce_by_key with values of 1. Counts are integers of 4 or
/// 8 bytes; modulo 2^32 if they have 4.
template <execution_space ExecSpace, view_1d Keys, view_1d OutKeys, view_1d OutCounts>
std::uint64_t count_by_key(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                           OutCounts const& out_counts, reduce_by_key_options const& options = {}) {
  detail::user_call const call("count_by_key");
  using namespace detail::reduce_by_key;
  using count = typename OutCounts::value_type;
  require_keys<ExecSpace, Keys, OutKeys>();
  require_value<count>();
  static_assert(std::is_integral_v<count> && !std::is_const_v<count>,
                "karpos: counts are written to a view of integers, not const");
  detail::require_reachable<ExecSpace, OutCounts>();
  auto const workspace = detail::range_of(options.workspace);
  detail::require_apart("the view of different keys", out_keys, keys, out_counts, workspace);
  detail::require_apart("the view of counts", out_counts, keys, workspace);
  detail::require_apart("the workspace of a reduction", workspace, keys);
  using row = typename row_type<typename Keys::non_const_value_type, count>::type;
  using rows = keys_with_value<row, device::held_by_loop<ExecSpace, Keys>, one<count>>;
  return detail::reduce_by_key::run(exec, rows{device::for_loop<ExecSpace>(keys), {}}, out_keys,
                                    out_counts, plus{}, options);
}

/// Writes each different key once, in no particular order, as reduce_by_key without values.
/// distinct_indices (row_index.hpp) writes numbers of rows instead of keys.
template <execution_space ExecSpace, view_1d Keys, view_1d OutKeys>
std::uint64_t distinct(ExecSpace const& exec, Keys const& keys, OutKeys const& out_keys,
                       reduce_by_key_options const& options = {}) {
  detail::user_call const call("distinct");
  using namespace detail::reduce_by_key;
  require_keys<ExecSpace, Keys, OutKeys>();
  auto const workspace = detail::range_of(options.workspace);
  detail::require_apart("the view of different keys", out_keys, keys, workspace);
  detail::require_apart("the workspace of a reduction", workspace, keys);
  using row = typename row_type<typename Keys::non_const_value_type, no_value>::type;
  return detail::reduce_by_key::run(exec, source_of_rows<row, ExecSpace>(keys), out_keys, out_keys,
                                    plus{}, options);
}

}  // namespace karpos
