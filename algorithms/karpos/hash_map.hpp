// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/table.hpp"
#include "karpos/hash.hpp"
#include "karpos/hash_map_ref.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

namespace karpos {

/// Hash map from keys to values of up to eight bytes each, for bulk use from the host and for use inside
/// kernels through ref(). Open addressing over buckets of BucketSlots slots; holds max_keys keys at the
/// load it was made with, and never moves them: it grows by rehash only.
///
/// Memory: bytes_for(max_keys, load); see docs/hash_map.md for the layout. Bulk calls allocate nothing.
/// Concurrency: bulk calls on one execution space instance run in order. Calls that return void only
///   enqueue; calls that return a report or a count wait for that instance. Those count in memory of the map's
///   own: one of them at a time per map (the _async forms count where you say). Bulk lookups read as a
///   frozen ref does: they see what happened before them, and must not run beside writers on another instance.
/// Requires: key and value types are trivially copyable; two key values serve as sentinels (three in
///   16-byte slots) and cannot be stored.
/// Source: cuCollections' static_map; overflow marks after boost::unordered_flat_map.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots = detail::default_bucket_slots<Key, T, ExecSpace>>
class hash_map {
  using table =
      detail::open_addressing_table<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;

 public:
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using options = hash_table_options<Key>;
  using ref_type = hash_map_ref<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;
  using frozen_ref_type =
      hash_map_reader<Key, T, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, access::frozen>;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;
  static constexpr int bucket_slots = BucketSlots;

  /// Makes an empty map for max_keys keys. Asynchronous but for the allocation.
  /// Throws std::invalid_argument (load, sentinels), std::length_error (capacity overflow),
  /// allocation_error (out of memory).
  hash_map(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : m_table(exec, "hash_map", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the map.
  hash_map(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : m_table(exec, "hash_map", max_keys, o, hash, equal, memory) {}

  /// Bytes that a map for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return table::bytes_for(max_keys, load);
  }

  /// Inserts pairs whose key is new; of equal keys in one call exactly one is inserted, unspecified which.
  /// Returns: how many were inserted, existing, rejected. Throws std::invalid_argument when a key equals a
  /// sentinel: every other key has then been handled as usual.
  /// `values` is a view as long as keys, or one value for all of them.
  template <view_1d Keys, class Values>
  insert_report insert(ExecSpace const& exec, Keys const& keys, Values const& values) {
    return upsert(exec, "insert", keys, values, detail::keep_stored{});
  }
  /// As insert, for the keys with predicate(stencil(i)).
  template <view_1d Keys, class Values, view_1d Stencil, class Predicate = detail::as_bool>
  insert_report insert_if(ExecSpace const& exec, Keys const& keys, Values const& values,
                          Stencil const& stencil, Predicate const& predicate = {}) {
    detail::require_reachable<ExecSpace, Stencil>();
    detail::require_same_extent("keys", keys.extent(0), "stencil", stencil.extent(0));
    return upsert(exec, "insert_if", keys, values, detail::keep_stored{},
                  detail::where<Stencil, Predicate>{stencil, predicate});
  }
  /// As insert; throws capacity_error when a key did not fit (those that did are in).
  template <view_1d Keys, class Values>
  insert_report insert_or_throw(ExecSpace const& exec, Keys const& keys, Values const& values) {
    insert_report const r = insert(exec, keys, values);
    m_table.throw_if_rejected(exec, r);
    return r;
  }
  /// Inserts pairs or overwrites stored values; of equal keys in one call one value wins, unspecified which.
  template <view_1d Keys, class Values>
  insert_report insert_or_assign(ExecSpace const& exec, Keys const& keys, Values const& values) {
    return upsert(exec, "insert_or_assign", keys, values, detail::take_new{});
  }
  /// Reduces by key: inserts pairs or replaces stored values by op(stored, value). op is associative and
  /// commutative: karpos::plus, minimum, maximum or a functor.
  template <view_1d Keys, class Values, class Op>
  insert_report insert_or_apply(ExecSpace const& exec, Keys const& keys, Values const& values,
                                Op const& op) {
    return upsert(exec, "insert_or_apply", keys, values, op);
  }

  /// The same three without waiting: the report is written to a view when the kernel is done. Keys equal to
  /// a sentinel are counted in report().invalid instead of thrown about.
  template <view_1d Keys, class Values>
  void insert_async(ExecSpace const& exec, Keys const& keys, Values const& values,
                    report_view const& report) {
    upsert_async(exec, "insert_async", keys, values, detail::keep_stored{}, report);
  }
  template <view_1d Keys, class Values>
  void insert_or_assign_async(ExecSpace const& exec, Keys const& keys, Values const& values,
                              report_view const& report) {
    upsert_async(exec, "insert_or_assign_async", keys, values, detail::take_new{}, report);
  }
  template <view_1d Keys, class Values, class Op>
  void insert_or_apply_async(ExecSpace const& exec, Keys const& keys, Values const& values,
                             Op const& op, report_view const& report) {
    upsert_async(exec, "insert_or_apply_async", keys, values, op, report);
  }

  /// Writes the value of each query, or `missing`, to out. Asynchronous. A query may be of any type that
  /// Hash and KeyEqual take.
  template <view_1d Queries, view_1d Out>
  void find(ExecSpace const& exec, Queries const& queries, Out const& out, T const& missing) const {
    check_queries<Queries, Out>(queries, out);
    m_table.look_up(exec, "find", queries, out, detail::value_or<T>{missing}, detail::everything{});
  }
  /// As find, for the queries with predicate(stencil(i)); the others get `missing`. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void find_if(ExecSpace const& exec, Queries const& queries, Out const& out, T const& missing,
               Stencil const& stencil, Predicate const& predicate = {}) const {
    check_queries<Queries, Out, Stencil>(queries, out);
    detail::require_same_extent("queries", queries.extent(0), "stencil", stencil.extent(0));
    m_table.look_up(exec, "find_if", queries, out, detail::value_or<T>{missing},
                    detail::where<Stencil, Predicate>{stencil, predicate});
  }
  /// Writes to out whether each query is there. Asynchronous.
  template <view_1d Queries, view_1d Out>
  void contains(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    check_queries<Queries, Out>(queries, out);
    m_table.look_up(exec, "contains", queries, out, detail::presence{}, detail::everything{});
  }
  /// As contains, for the queries with predicate(stencil(i)); the others get false. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void contains_if(ExecSpace const& exec, Queries const& queries, Out const& out,
                   Stencil const& stencil, Predicate const& predicate = {}) const {
    check_queries<Queries, Out, Stencil>(queries, out);
    detail::require_same_extent("queries", queries.extent(0), "stencil", stencil.extent(0));
    m_table.look_up(exec, "contains_if", queries, out, detail::presence{},
                    detail::where<Stencil, Predicate>{stencil, predicate});
  }

  /// Removes keys. Returns: how many were there. Their slots are used again after clear or rehash.
  template <view_1d Keys>
  std::uint64_t erase(ExecSpace const& exec, Keys const& keys) {
    detail::require_reachable<ExecSpace, Keys>();
    return m_table.erase(exec, keys);
  }
  /// The same without waiting; the count is written to a view.
  template <view_1d Keys>
  void erase_async(ExecSpace const& exec, Keys const& keys, erase_view const& report) {
    detail::require_reachable<ExecSpace, Keys>();
    m_table.erase(exec, keys, report);
  }

  /// Number of keys. Complexity: reads the table once. Waits for exec.
  std::uint64_t size(ExecSpace const& exec) const { return m_table.size(exec); }
  /// Removes every key and tombstone. Asynchronous.
  void clear(ExecSpace const& exec) { m_table.clear(exec); }
  /// Moves to a new table for new_max_keys keys, reclaiming erased slots; refs become invalid. Throws
  /// capacity_error, before anything changes, when the keys that are in would not fit. A map over wrapped
  /// memory leaves it and owns its memory from then on.
  void rehash(ExecSpace const& exec, std::uint64_t new_max_keys) {
    m_table.rehash(exec, new_max_keys);
  }
  /// Writes every pair to two views, in no particular order. Returns: how many there are.
  template <view_1d KeysOut, view_1d ValuesOut>
  std::uint64_t retrieve_all(ExecSpace const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    check_queries<KeysOut, ValuesOut>(keys, values);
    return m_table.retrieve_all(exec, keys, values);
  }
  /// Calls visit(key, value) for every pair, in a kernel. Asynchronous.
  template <class Visit>
  void for_each(ExecSpace const& exec, Visit const& visit) const {
    m_table.for_each(exec, visit);
  }

  ref_type ref() const { return ref_type(m_table.ref()); }
  /// A ref that only reads, faster on GPUs, for kernels during which nobody changes the map.
  frozen_ref_type frozen_ref() const { return frozen_ref_type(m_table.ref()); }
  std::uint64_t max_keys() const { return m_table.max_keys(); }          ///< asked for
  std::uint64_t bucket_count() const { return m_table.bucket_count(); }  ///< buckets there are
  std::uint64_t capacity() const {
    return m_table.bucket_count() * BucketSlots;
  }  ///< slots there are

  /// Makes dst an exact copy of src, which may live in another memory space; both have the same layout.
  /// Waits for exec.
  template <class OtherSpace>
  friend void deep_copy(
      ExecSpace const& exec, hash_map& dst,
      hash_map<Key, T, OtherSpace, Hash, KeyEqual, Probing, BucketSlots> const& src) {
    dst.copy_from(exec, src);
  }

 private:
  template <class, class, karpos::execution_space, class, class, class, int>
  friend class hash_map;
  /// A friend function of one specialization is none of the others.
  template <class Other>
  void copy_from(ExecSpace const& exec, Other const& src) {
    m_table.copy_from(exec, src.m_table);
  }

  template <class Keys, class Values>
  static auto checked_values(Keys const& keys, Values const& values) {
    detail::require_key_type<Key, Keys>();
    if constexpr (Kokkos::is_view_v<Values>) {
      detail::require_reachable<ExecSpace, Keys, Values>();
      detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
      return values;
    } else {
      detail::require_reachable<ExecSpace, Keys>();
      return detail::constant<T>{static_cast<T>(values)};
    }
  }
  template <class Queries, class... Others>
  static void check_queries(Queries const& queries, auto const& out) {
    detail::require_reachable<ExecSpace, Queries, Others...>();
    detail::require_same_extent("the first view", queries.extent(0), "the output", out.extent(0));
  }
  template <class Keys, class Values, class Combine, class Stencil = detail::everything>
  insert_report upsert(ExecSpace const& exec, char const* what, Keys const& keys,
                       Values const& values, Combine const& combine, Stencil const& stencil = {}) {
    return m_table.insert(exec, what, keys, checked_values(keys, values), combine, stencil);
  }
  template <class Keys, class Values, class Combine>
  void upsert_async(ExecSpace const& exec, char const* what, Keys const& keys, Values const& values,
                    Combine const& combine, report_view const& report) {
    m_table.insert(exec, what, keys, checked_values(keys, values), combine, detail::everything{},
                   report);
  }

  table m_table;
};

}  // namespace karpos
