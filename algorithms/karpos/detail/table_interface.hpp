// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <optional>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/table_options.hpp"

namespace karpos::detail {

/// The bulk interface that maps and sets share: everything that does not store a value. Table is a bulk_table,
/// Ref and FrozenRef are what kernels take by value.
template <class Table, class Ref, class FrozenRef>
class table_interface {
 public:
  using key_type = typename Table::key_type;
  using execution_space = typename Table::execution_space;
  using memory_space = typename Table::memory_space;
  using options = typename Table::options;
  using ref_type = Ref;
  using frozen_ref_type = FrozenRef;
  using report_view = typename Table::report_view;
  using erase_view = typename Table::erase_view;

  /// Writes to out whether each query is there. Asynchronous.
  template <view_1d Queries, view_1d Out>
  void contains(execution_space const& exec, Queries const& queries, Out const& out) const {
    check_queries<Queries, Out>(queries, out);
    m_table.look_up(exec, "contains", queries, out, presence{}, everything{});
  }
  /// As contains, for the queries with predicate(stencil(i)); the others get false. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = as_bool>
  void contains_if(execution_space const& exec, Queries const& queries, Out const& out,
                   Stencil const& stencil, Predicate const& predicate = {}) const {
    check_queries<Queries, Out, Stencil>(queries, out);
    require_same_extent("queries", queries.extent(0), "stencil", stencil.extent(0));
    m_table.look_up(exec, "contains_if", queries, out, presence{},
                    where<Stencil, Predicate>{stencil, predicate});
  }

  /// Removes keys. Returns: how many were there.
  template <view_1d Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys) {
    require_reachable<execution_space, Keys>();
    return m_table.erase(exec, keys);
  }
  /// The same without waiting; the count is written to a view.
  template <view_1d Keys>
  void erase_async(execution_space const& exec, Keys const& keys, erase_view const& report) {
    require_reachable<execution_space, Keys>();
    m_table.erase(exec, keys, report);
  }

  /// Number of keys. Complexity: reads the table once. Waits for exec.
  std::uint64_t size(execution_space const& exec) const { return m_table.size(exec); }
  /// Removes every key and makes every slot usable again. Asynchronous.
  void clear(execution_space const& exec) { m_table.clear(exec); }
  /// Moves to a new table for new_max_keys keys, reclaiming erased slots; refs become invalid. Throws
  /// capacity_error, before anything changes, when the keys that are in would not fit. A table over wrapped
  /// memory leaves it and owns its memory from then on.
  void rehash(execution_space const& exec, std::uint64_t new_max_keys) {
    m_table.rehash(exec, new_max_keys);
  }
  /// Calls visit(key, value), or visit(key) for a set, for everything that is in, in a kernel. Asynchronous.
  template <class Visit>
  void for_each(execution_space const& exec, Visit const& visit) const {
    m_table.for_each(exec, visit);
  }

  ref_type ref() const { return ref_type(m_table.ref()); }
  /// A ref that only reads, faster on GPUs, for kernels during which nobody changes the table.
  frozen_ref_type frozen_ref() const { return frozen_ref_type(m_table.ref()); }
  std::uint64_t max_keys() const { return m_table.max_keys(); }  ///< asked for

  /// Makes dst an exact copy of src, which may live in another memory space; both have the same layout.
  /// Waits for exec.
  template <class OtherTable, class OtherRef, class OtherFrozenRef>
    requires requires(Table& to, execution_space const& exec, OtherTable const& from) {
      to.copy_from(exec, from);
    }
  friend void deep_copy(execution_space const& exec, table_interface& dst,
                        table_interface<OtherTable, OtherRef, OtherFrozenRef> const& src) {
    dst.copy_from(exec, src);
  }

 protected:
  using table_type = Table;

  table_interface(execution_space const& exec, char const* name, std::uint64_t max_keys,
                  options const& o, typename Table::hasher const& hash,
                  typename Table::key_equal const& equal, std::optional<wrapped_memory> memory)
      : m_table(exec, name, max_keys, o, hash, equal, memory) {}

  template <class Queries, class... Others>
  static void check_queries(Queries const& queries, auto const& out) {
    require_reachable<execution_space, Queries, Others...>();
    require_same_extent("the first view", queries.extent(0), "the output", out.extent(0));
  }

  Table m_table;

 private:
  template <class, class, class>
  friend class table_interface;
  /// A friend function of one specialization is none of the others.
  template <class Other>
  void copy_from(execution_space const& exec, Other const& src) {
    m_table.copy_from(exec, src.m_table);
  }
};

}  // namespace karpos::detail
