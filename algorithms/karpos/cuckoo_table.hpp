// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/tables/cuckoo/run.hpp"
#include "karpos/lookup_table.hpp"
#include "karpos/outcome.hpp"

// Constructors, building and inserting, for cuckoo_map and cuckoo_set alone. Bulk lookups:
// karpos/lookup_table.hpp; lookups in kernels: karpos/map_ref.hpp (table_reader).

namespace karpos {

/// Bulk operations that change a cuckoo_map or cuckoo_set, and its properties.
template <class Storage>
class cuckoo_table : public lookup_table<Storage> {
  using base = lookup_table<Storage>;
  using base::m_storage;

 public:
  using base::has_values;
  using typename base::execution_space, typename base::key_type, typename base::mapped_type;
  using hasher = typename Storage::hasher;
  using options = cuckoo_map_options<key_type>;
  using ref_type =
      table_reader<detail::cuckoo::any_ref<typename Storage::traits_type>, device::access::frozen>;

  /// Makes a table without memory and with default options. Lookups, insertions and ref throw
  /// std::logic_error until it is built, assigned to, or the destination of deep_copy.
  cuckoo_table() : base(Storage({}, {})) {}
  /// Makes a map of the pairs keys(i), values(i), or a set of keys(i). Blocks. Throws what build
  /// throws, and std::invalid_argument for an unknown layout or treatment of duplicates, or if the
  /// layout is dense and options.load is out of range.
  template <view_1d Keys, view_1d Values>
    requires has_values
  cuckoo_table(execution_space const& exec, Keys const& keys, Values const& values,
               options const& o = {}, hasher const& hash = {})
      : cuckoo_table(detail::user_call(Storage::name), exec, o, hash, keys, values) {}
  template <view_1d Keys>
    requires(!has_values)
  cuckoo_table(execution_space const& exec, Keys const& keys, options const& o = {},
               hasher const& hash = {})
      : cuckoo_table(detail::user_call(Storage::name), exec, o, hash, keys) {}

  /// Replaces the contents. `values` is a view as long as the keys; sets take none. Uses the memory
  /// that the map has if that has the right size. Refs become invalid. Blocks.
  /// Throws, and leaves the map as it was: std::invalid_argument if the views have different
  ///   lengths; allocation_error if there is no memory for another table or the workspace;
  ///   std::length_error on a capacity overflow (dense), and on GPUs from 2^32 keys on.
  /// Throws, and leaves the map empty: std::invalid_argument if a key equals the sentinel, or if
  ///   keys are equal and options.duplicates is reject; hash_error if none of 17 seeds gives every
  ///   key a slot; allocation_error if there is no memory to find equal keys in, or for the table
  ///   of the distinct keys. After an allocation_error, size() is 0 if the map was emptied.
  template <view_1d Keys, view_1d... Values>
    requires(sizeof...(Values) == (has_values ? 1 : 0))
  void build(execution_space const& exec, Keys const& keys, Values const&... values) {
    detail::user_call const call(Storage::name, "build");
    check(keys, values...);
    m_storage.build(exec, keys, values_or_none(values...));
  }

  /// Inserts pairs whose key is new; sets take no values. If keys in one call are equal, the pair
  /// of the lowest index is inserted. Blocks. If the table would be too full, it moves to memory
  /// 1.5 times as large, or larger if the keys need it. Refs become invalid if a key is inserted,
  /// even if the table does not grow; kernels that use them must have ended before the call.
  /// Returns: how many keys were inserted and how many existed. No key is rejected.
  /// Complexity: expected linear in the keys of the call if none is new; otherwise also in the
  ///   slots, because the table is copied. If a new key finds no slot, which is rare below
  ///   capacity(), all keys are placed anew in a table of equal size, with up to 17 seeds.
  /// Throws std::logic_error if the layout is not dense or the map has no memory;
  ///   std::invalid_argument if the views have different lengths (nothing changes) or a key equals
  ///   the sentinel (all other keys have then been handled); hash_error and allocation_error
  ///   (nothing changes); std::length_error if the table would have to grow to 2^32 keys or more on
  ///   a GPU (nothing changes).
  template <view_1d Keys, view_1d... Values>
    requires(sizeof...(Values) == (has_values ? 1 : 0))
  insert_report insert(execution_space const& exec, Keys const& keys, Values const&... values) {
    detail::user_call const call(Storage::name, "insert");
    check(keys, values...);
    require_insertable();
    return m_storage.insert(exec, keys, values_or_none(values...));
  }

  using base::size, base::empty;
  std::uint64_t size() const { return m_storage.size(); }  ///< number of keys
  bool empty() const { return size() == 0; }
  /// Returns how many keys, stored ones included, the table holds before an insertion grows it. For
  /// two_level: size().
  std::uint64_t capacity() const {
    return layout() == cuckoo_layout::dense ? m_storage.capacity() : size();
  }
  cuckoo_layout layout() const { return m_storage.options().layout; }
  /// Returns the bytes that the table has allocated, including what options.keep_workspace keeps.
  std::size_t bytes() const { return m_storage.bytes(); }
  /// Returns a ref for kernels: lookups only, like frozen_ref() of the other maps. Valid until a
  /// build, or an insertion that stores a key.
  ref_type ref() const {
    this->require_memory("ref");
    return ref_type({layout(), m_storage.view()});
  }
  /// Returns statistics of the table; zeros if it has no memory. Complexity: reads every slot.
  /// Blocks. Throws allocation_error.
  cuckoo_stats stats(execution_space const& exec) const { return m_storage.stats(exec); }

  /// Returns the bytes of a table for `keys` keys. Throws std::invalid_argument for an unknown
  /// layout, and, if the layout is dense, std::invalid_argument (load out of range) and
  /// std::length_error (capacity overflow).
  static std::size_t bytes_for(std::uint64_t keys, options const& o = {}) {
    detail::user_call const call(Storage::name, "bytes_for");
    return Storage::shape_type::of(keys, o.capacity, o).bytes();
  }
  /// Returns the bytes of workspace that a build on the default instance allocates in addition.
  /// A build on an instance of fewer threads takes less. Throws as bytes_for does.
  static std::size_t workspace_bytes_for(std::uint64_t keys, options const& o = {}) {
    detail::user_call const call(Storage::name, "workspace_bytes_for");
    return Storage::workspace_bytes_for(keys, o);
  }

  /// Makes dst an exact copy of src, which may be in another memory space. Refs of dst become
  /// invalid. Blocks. Throws allocation_error if dst needs other memory and there is none.
  template <class Other>
    requires requires(Storage& to, execution_space const& exec, Other const& from) {
      to.copy_from(exec, from);
    }
  friend void deep_copy(execution_space const& exec, cuckoo_table& dst,
                        cuckoo_table<Other> const& src) {
    dst.copy_from(exec, src);
  }

 private:
  template <class>
  friend class cuckoo_table;

  template <class... Views>
  cuckoo_table(detail::user_call const&, execution_space const& exec, options const& o,
               hasher const& hash, Views const&... views)
      : base(Storage(o, hash)) {
    build(exec, views...);
  }
  /// Does what deep_copy does. deep_copy is a friend of one cuckoo_table only; all cuckoo_tables
  /// are friends of each other.
  template <class Other>
  void copy_from(execution_space const& exec, cuckoo_table<Other> const& src) {
    detail::user_call const call("deep_copy");
    m_storage.copy_from(exec, src.m_storage);
  }
  void require_insertable() const {
    this->require_memory();
    if (layout() != cuckoo_layout::dense)
      detail::reject<std::logic_error>("cuckoo_layout::two_level takes no insertions",
                                       "it is built at once",
                                       "build it anew, or choose cuckoo_layout::dense");
  }
  template <class Keys, class... Values>
  static void check(Keys const& keys, Values const&... values) {
    detail::require_reachable<execution_space, Keys, Values...>();
    detail::require_key_type<key_type, Keys>();
    (detail::require_value_type<mapped_type, Values>(), ...);
    (detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0)), ...);
  }
  /// Returns the values of pairs, or what stands for those of a set's keys.
  template <class Values>
  static Values const& values_or_none(Values const& values) {
    return values;
  }
  static auto values_or_none() { return detail::constant<mapped_type>{}; }
};

}  // namespace karpos
