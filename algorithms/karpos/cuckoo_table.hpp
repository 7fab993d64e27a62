// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/statistics.hpp"
#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/lookup_table.hpp"
#include "karpos/outcome.hpp"

// What only cuckoo_map and cuckoo_set have. Their lookups: karpos/lookup_table.hpp in bulk, karpos/map_ref.hpp in kernels
// (table_reader).

namespace karpos {

/// Every operation of a cuckoo_map or cuckoo_set that changes, in bulk, and what it is made of.
template <class Storage>
class cuckoo_table : public lookup_table<Storage> {
  using base = lookup_table<Storage>;
  using base::m_storage;

 public:
  using base::has_values;
  using typename base::execution_space;
  using typename base::key_type;
  using typename base::mapped_type;
  using hasher = typename Storage::hasher;
  using options = cuckoo_map_options<key_type>;
  using ref_type =
      table_reader<detail::cuckoo::any_ref<typename Storage::traits_type>, device::access::frozen>;

  /// Replaces the contents, in the memory that there is if it has the right size. Waits for exec. Throws
  /// std::invalid_argument for views of different lengths and allocation_error when there is no memory for another
  /// table: the map is as it was. Throws, leaving it empty, std::invalid_argument for keys equal to the sentinel and
  /// for equal keys if they are to be rejected; hash_error when seventeen seeds found no place for every key;
  /// allocation_error when there is none for finding equal keys. On GPUs, std::length_error from 2^32 keys on: nothing
  /// has changed.
  template <view_1d Keys, view_1d Values>
    requires has_values
  void build(execution_space const& exec, Keys const& keys, Values const& values) {
    check_pairs(keys, values);
    m_storage.build(exec, keys, values);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  void build(execution_space const& exec, Keys const& keys) {
    check_keys<Keys>();
    m_storage.build(exec, keys, no_values{});
  }

  /// Inserts pairs whose key is new; of equal keys in one call the one of the lowest index. Waits for exec.
  /// Returns: how many were inserted, and how many keys were there already; none is ever rejected: a table that is too
  /// full moves to memory half as large again, and refs become invalid. Throws std::logic_error unless the layout is
  /// dense, and without memory; std::invalid_argument when a key equals the sentinel: the others have then been handled;
  /// hash_error and allocation_error: nothing has changed.
  template <view_1d Keys, view_1d Values>
    requires has_values
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values) {
    check_pairs(keys, values);
    require_insertable();
    return m_storage.insert(exec, keys, values);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  insert_report insert(execution_space const& exec, Keys const& keys) {
    check_keys<Keys>();
    require_insertable();
    return m_storage.insert(exec, keys, no_values{});
  }

  using base::size;
  std::uint64_t size() const { return m_storage.size(); }  ///< keys that are in
  /// Keys that fit before insertions move to other memory; of a table that takes none: those that are in.
  std::uint64_t capacity() const {
    return layout() == cuckoo_layout::dense ? m_storage.capacity() : size();
  }
  cuckoo_layout layout() const { return m_storage.options().layout; }
  /// Taken now, with a workspace that is kept.
  std::size_t bytes() const { return m_storage.bytes(); }
  /// For kernels: lookups only, while no build or insertion runs, as frozen_ref() of the other maps.
  ref_type ref() const { return ref_type({layout(), m_storage.view()}); }
  /// Looks at every slot. Waits for exec.
  cuckoo_stats stats(execution_space const& exec) const {
    return detail::cuckoo::statistics(exec, m_storage);
  }

  /// Bytes of a table of `keys` keys.
  static std::size_t bytes_for(std::uint64_t keys, options const& o = {}) {
    return Storage::shape_type::of(keys, o.capacity, o).bytes();
  }
  /// Bytes of workspace that a build on the default instance allocates in addition; instances of fewer threads take less.
  static std::size_t workspace_bytes_for(std::uint64_t keys, options const& o = {}) {
    return Storage::workspace_bytes_for(keys, o);
  }

  /// Makes dst an exact copy of src, which may live in another memory space. Waits for exec.
  template <class Other>
    requires requires(Storage& to, execution_space const& exec, Other const& from) {
      to.copy_from(exec, from);
    }
  friend void deep_copy(execution_space const& exec, cuckoo_table& dst,
                        cuckoo_table<Other> const& src) {
    dst.copy_from(exec, src);
  }

 protected:
  /// Without memory, until it is built, assigned to, or the destination of deep_copy; lookups and insertions throw
  /// std::logic_error.
  explicit cuckoo_table(Storage&& s) : base(std::move(s)) {}

 private:
  template <class>
  friend class cuckoo_table;
  using no_values = detail::constant<mapped_type>;

  /// What deep_copy does, which is a friend of one cuckoo_table only: they all are friends of each other.
  template <class Other>
  void copy_from(execution_space const& exec, cuckoo_table<Other> const& src) {
    m_storage.copy_from(exec, src.m_storage);
  }
  void require_insertable() const {
    this->require_memory();
    if (layout() != cuckoo_layout::dense)
      throw std::logic_error(
          "karpos: cuckoo_layout::two_level takes no insertions (it is built at once): build it "
          "anew, or choose cuckoo_layout::dense");
  }
  template <class Keys>
  static void check_keys() {
    detail::require_reachable<execution_space, Keys>();
    detail::require_key_type<key_type, Keys>();
  }
  template <class Keys, class Values>
  static void check_pairs(Keys const& keys, Values const& values) {
    check_keys<Keys>();
    detail::require_reachable<execution_space, Values>();
    detail::require_value_type<mapped_type, Values>();
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
  }
};

}  // namespace karpos
