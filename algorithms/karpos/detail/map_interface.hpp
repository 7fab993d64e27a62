// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/slot_protocol.hpp"
#include "karpos/detail/table_interface.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail {

/// The bulk interface of a map, whatever its table: Table is a bulk_table, Ref and FrozenRef are what kernels
/// take by value.
template <class Table, class Ref, class FrozenRef>
class map_interface : public table_interface<Table, Ref, FrozenRef> {
  using base = table_interface<Table, Ref, FrozenRef>;

 public:
  using key_type = typename Table::key_type;
  using mapped_type = typename Table::mapped_type;
  using execution_space = typename Table::execution_space;
  using report_view = typename Table::report_view;

  /// Inserts pairs whose key is new; of equal keys in one call exactly one is inserted, unspecified which.
  /// Returns: how many were inserted, existing, rejected. Throws std::invalid_argument when a key equals a
  /// sentinel: every other key has then been handled as usual.
  /// `values` is a view as long as keys, or one value for all of them.
  template <view_1d Keys, class Values>
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values) {
    return upsert(exec, "insert", keys, values, keep_stored{});
  }
  /// As insert, for the keys with predicate(stencil(i)).
  template <view_1d Keys, class Values, view_1d Stencil, class Predicate = as_bool>
  insert_report insert_if(execution_space const& exec, Keys const& keys, Values const& values,
                          Stencil const& stencil, Predicate const& predicate = {}) {
    require_reachable<execution_space, Stencil>();
    require_same_extent("keys", keys.extent(0), "stencil", stencil.extent(0));
    return upsert(exec, "insert_if", keys, values, keep_stored{},
                  where<Stencil, Predicate>{stencil, predicate});
  }
  /// As insert; throws capacity_error when a key did not fit (those that did are in).
  template <view_1d Keys, class Values>
  insert_report insert_or_throw(execution_space const& exec, Keys const& keys,
                                Values const& values) {
    insert_report const r = insert(exec, keys, values);
    m_table.throw_if_rejected(exec, r);
    return r;
  }
  /// Inserts pairs or overwrites stored values; of equal keys in one call one value wins, unspecified which.
  template <view_1d Keys, class Values>
  insert_report insert_or_assign(execution_space const& exec, Keys const& keys,
                                 Values const& values) {
    return upsert(exec, "insert_or_assign", keys, values, take_new{});
  }
  /// Reduces by key: inserts pairs or replaces stored values by op(stored, value). op is associative and
  /// commutative: karpos::plus, minimum, maximum or a functor.
  template <view_1d Keys, class Values, class Op>
  insert_report insert_or_apply(execution_space const& exec, Keys const& keys, Values const& values,
                                Op const& op) {
    return upsert(exec, "insert_or_apply", keys, values, op);
  }

  /// The same three without waiting: the report is written to a view when the kernel is done. Keys equal to
  /// a sentinel are counted in report().invalid instead of thrown about.
  template <view_1d Keys, class Values>
  void insert_async(execution_space const& exec, Keys const& keys, Values const& values,
                    report_view const& report) {
    upsert_async(exec, "insert_async", keys, values, keep_stored{}, report);
  }
  template <view_1d Keys, class Values>
  void insert_or_assign_async(execution_space const& exec, Keys const& keys, Values const& values,
                              report_view const& report) {
    upsert_async(exec, "insert_or_assign_async", keys, values, take_new{}, report);
  }
  template <view_1d Keys, class Values, class Op>
  void insert_or_apply_async(execution_space const& exec, Keys const& keys, Values const& values,
                             Op const& op, report_view const& report) {
    upsert_async(exec, "insert_or_apply_async", keys, values, op, report);
  }

  /// Writes the value of each query, or `missing`, to out. Asynchronous. A query may be of any type that
  /// the hash and the equality of the map take.
  template <view_1d Queries, view_1d Out>
  void find(execution_space const& exec, Queries const& queries, Out const& out,
            mapped_type const& missing) const {
    base::template check_queries<Queries, Out>(queries, out);
    m_table.look_up(exec, "find", queries, out, value_or<mapped_type>{missing}, everything{});
  }
  /// As find, for the queries with predicate(stencil(i)); the others get `missing`. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = as_bool>
  void find_if(execution_space const& exec, Queries const& queries, Out const& out,
               mapped_type const& missing, Stencil const& stencil,
               Predicate const& predicate = {}) const {
    base::template check_queries<Queries, Out, Stencil>(queries, out);
    require_same_extent("queries", queries.extent(0), "stencil", stencil.extent(0));
    m_table.look_up(exec, "find_if", queries, out, value_or<mapped_type>{missing},
                    where<Stencil, Predicate>{stencil, predicate});
  }

  /// Executes insertions, erasures and lookups at once, and writes what became of operations(i), a map_operation,
  /// to results(i), a map_result. Each is linearizable by itself; there is no order between them. Asynchronous.
  /// An insertion of a key that is there changes nothing; a key equal to a sentinel is answered `invalid`.
  /// Complexity: that of the operations; one kernel. Allocates nothing.
  /// Requires: both views have the same length (else std::invalid_argument) and are different memory.
  /// Concurrency: may run beside anything that refs do in kernels, and beside other calls of apply, but not beside
  ///   bulk lookups on another instance, which read as if nobody wrote.
  template <view_1d Operations, view_1d Results>
  void apply(execution_space const& exec, Operations const& operations, Results const& results) {
    require_reachable<execution_space, Operations, Results>();
    static_assert(std::is_same_v<typename Operations::non_const_value_type,
                                 map_operation<key_type, mapped_type>>,
                  "karpos: operations come in a view of map_operation<Key, T>, of the map's types");
    static_assert(std::is_same_v<typename Results::value_type, map_result<mapped_type>>,
                  "karpos: results go to a view of map_result<T>, of the map's value type");
    require_same_extent("operations", operations.extent(0), "results", results.extent(0));
    m_table.apply(exec, operations, results);
  }

  /// Writes every pair to two views, in no particular order. Returns: how many there are.
  template <view_1d KeysOut, view_1d ValuesOut>
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    base::template check_queries<KeysOut, ValuesOut>(keys, values);
    return m_table.retrieve_all(exec, keys, values);
  }

 protected:
  using base::base;
  using base::m_table;

 private:
  template <class Keys, class Values>
  static auto checked_values(Keys const& keys, Values const& values) {
    require_key_type<key_type, Keys>();
    if constexpr (Kokkos::is_view_v<Values>) {
      require_reachable<execution_space, Keys, Values>();
      require_same_extent("keys", keys.extent(0), "values", values.extent(0));
      return values;
    } else {
      require_reachable<execution_space, Keys>();
      return constant<mapped_type>{static_cast<mapped_type>(values)};
    }
  }
  template <class Keys, class Values, class Combine, class Stencil = everything>
  insert_report upsert(execution_space const& exec, char const* what, Keys const& keys,
                       Values const& values, Combine const& combine, Stencil const& stencil = {}) {
    return m_table.insert(exec, what, keys, checked_values(keys, values), combine, stencil);
  }
  template <class Keys, class Values, class Combine>
  void upsert_async(execution_space const& exec, char const* what, Keys const& keys,
                    Values const& values, Combine const& combine, report_view const& report) {
    m_table.insert(exec, what, keys, checked_values(keys, values), combine, everything{}, report);
  }
};

}  // namespace karpos::detail
