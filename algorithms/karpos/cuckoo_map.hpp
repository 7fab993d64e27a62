// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/statistics.hpp"
#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/hash.hpp"
#include "karpos/map.hpp"
#include "karpos/outcome.hpp"

// cuckoo_map: cuckoo hashing. Its lookups: karpos/map.hpp in bulk (lookup_table), karpos/map_ref.hpp in kernels
// (table_reader); what only it has is here.

namespace karpos {

/// Hash map from keys to values of up to eight bytes each that is built at once from views and then asked: a lookup
/// reads a bounded number of places, in any table, for any key. Two layouts (cuckoo_layout, docs/cuckoo_map.md):
///
///   two_level   built in buckets that fit a team's scratch, 1.41 slots a key; equal seeds build equal bytes everywhere
///   dense       loads up to 0.98; takes later insertions, and grows when they do not fit
///
/// Keys are compared by their bits.
///
/// Complexity: build, expected linear. Lookups: two_level: the bucket's constants and at most three slots, two of them in
///   one line of 64 bytes; dense: one window of 64 bytes, or at most three. In kernels they are wait-free.
/// Memory: bytes_for(keys, options); while it is built workspace_bytes_for more, and three words a key where there are
///   equal keys. Insertions take, while they run, as much again as the table, five times as much when it grows.
/// Concurrency: bulk calls on one execution space instance run in order. build and insert wait for it; lookups only
///   enqueue, and must not run beside those two on another instance.
/// Requires: key and value types are trivially copyable; one key value serves as sentinel and cannot be stored. Hash
///   is a family, called as hash(key, seed) (see seeded_hash), or a plain hash function, called as hash(key).
/// Source: Alcantara et al., "Real-time parallel hashing on the GPU", SIGGRAPH Asia 2009; for dense see
///   detail/cuckoo/place.hpp.
template <class Key, class T, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = seeded_hash<Key>>
class cuckoo_map
    : public lookup_table<detail::cuckoo::table<detail::cuckoo::traits<Key, T, ExecSpace, Hash>>> {
  using table_traits = detail::cuckoo::traits<Key, T, ExecSpace, Hash>;
  using table = detail::cuckoo::table<table_traits>;
  using base = lookup_table<table>;
  using base::m_storage;

 public:
  using hasher = Hash;
  using options = cuckoo_map_options<Key>;
  using ref_type = table_reader<detail::cuckoo::any_ref<table_traits>, device::access::frozen>;

  /// Makes a map of keys(i) and values(i). Throws what build throws, and std::invalid_argument for a load out of range.
  template <view_1d Keys, view_1d Values>
  cuckoo_map(ExecSpace const& exec, Keys const& keys, Values const& values, options const& o = {},
             Hash const& hash = {})
      : base(table(o, hash)) {
    build(exec, keys, values);
  }
  cuckoo_map(cuckoo_map&&) = default;
  cuckoo_map& operator=(cuckoo_map&&) = default;
  cuckoo_map(cuckoo_map const&) = delete;
  cuckoo_map& operator=(cuckoo_map const&) = delete;

  /// Replaces the contents, in the memory that there is if it has the right size. Waits for exec. Throws
  /// std::invalid_argument for views of different lengths and allocation_error when there is no memory for another
  /// table: the map is as it was. Throws, leaving it empty, std::invalid_argument for keys equal to the sentinel and
  /// for equal keys if they are to be rejected; hash_error when seventeen seeds found no place for every key;
  /// allocation_error when there is none for finding equal keys. In two levels, std::length_error beyond 3.4 billion
  /// keys: nothing has changed.
  template <view_1d Keys, view_1d Values>
  void build(ExecSpace const& exec, Keys const& keys, Values const& values) {
    check_pairs(keys, values);
    m_storage.build(exec, keys, values);
  }

  /// Inserts pairs whose key is new; of equal keys in one call the one of the lowest index. Waits for exec.
  /// Returns: how many were inserted, and how many keys were there already; none is ever rejected: a map that is too
  /// full moves to memory half as large again, and refs become invalid. Throws std::logic_error unless the layout is
  /// dense; std::invalid_argument when a key equals the sentinel: the others have then been handled; hash_error and
  /// allocation_error: nothing has changed.
  template <view_1d Keys, view_1d Values>
  insert_report insert(ExecSpace const& exec, Keys const& keys, Values const& values) {
    check_pairs(keys, values);
    if (layout() != cuckoo_layout::dense)
      throw std::logic_error(
          "karpos: cuckoo_layout::two_level takes no insertions (it is built at once): build it "
          "anew, or choose cuckoo_layout::dense");
    return m_storage.insert(exec, keys, values);
  }

  using base::size;
  std::uint64_t size() const { return m_storage.size(); }  ///< keys that are in
  /// Keys that fit before insertions move to other memory; of a map that takes none: those that are in.
  std::uint64_t capacity() const {
    return layout() == cuckoo_layout::dense ? m_storage.capacity() : size();
  }
  cuckoo_layout layout() const { return m_storage.options().layout; }
  /// Taken now, with a workspace that is kept.
  std::size_t bytes() const { return m_storage.bytes(); }
  /// For kernels: lookups only, while no build or insertion runs, as frozen_ref() of the other maps.
  ref_type ref() const { return ref_type({layout(), m_storage.view()}); }
  /// Looks at every slot. Waits for exec.
  cuckoo_stats stats(ExecSpace const& exec) const {
    return detail::cuckoo::statistics(exec, m_storage);
  }

  /// Bytes of a map of `keys` keys.
  static std::size_t bytes_for(std::uint64_t keys, options const& o = {}) {
    return table::shape_type::of(keys, o.capacity, o).bytes();
  }
  /// Bytes of workspace that a build allocates in addition.
  static std::size_t workspace_bytes_for(std::uint64_t keys, options const& o = {}) {
    return table::workspace_bytes_for(keys, o);
  }

  /// Makes dst an exact copy of src, which may live in another memory space. Waits for exec.
  template <class OtherSpace>
  friend void deep_copy(ExecSpace const& exec, cuckoo_map& dst,
                        cuckoo_map<Key, T, OtherSpace, Hash> const& src) {
    dst.m_storage.copy_from(exec, table_of(src));
  }

 private:
  template <class, class, karpos::execution_space, class>
  friend class cuckoo_map;
  /// A friend function of one specialization is none of the others.
  template <class Other>
  static auto const& table_of(Other const& other) {
    return other.m_storage;
  }

  template <class Keys, class Values>
  static void check_pairs(Keys const& keys, Values const& values) {
    detail::require_reachable<ExecSpace, Keys, Values>();
    detail::require_key_type<Key, Keys>();
    detail::require_value_type<T, Values>();
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
  }
};

}  // namespace karpos
