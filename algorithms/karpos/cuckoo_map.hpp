// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/cuckoo_map_ref.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/cuckoo/statistics.hpp"
#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"

namespace karpos {

/// Hash map from keys to values of up to eight bytes each that is built at once from views and then asked: a lookup
/// reads a bounded number of places, in any table, for any key. Two layouts (cuckoo_layout, docs/cuckoo_map.md):
///
///   two_level   built in buckets that fit a team's scratch, 1.41 slots a key; equal seeds build equal bytes everywhere
///   dense       loads up to 0.98; takes later insertions, and grows when they do not fit
///
/// Keys are compared by their bits.
///
/// Complexity: build, expected linear; lookups, see cuckoo_map_ref.
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
class cuckoo_map {
  using table = detail::cuckoo::table<Key, T, ExecSpace, Hash>;

 public:
  using key_type = Key;
  using mapped_type = T;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using hasher = Hash;
  using options = cuckoo_map_options<Key>;
  using ref_type = cuckoo_map_ref<Key, T, ExecSpace, Hash>;

  /// Makes a map of keys(i) and values(i). Throws what build throws, and std::invalid_argument for a load out of range.
  template <view_1d Keys, view_1d Values>
  cuckoo_map(ExecSpace const& exec, Keys const& keys, Values const& values, options const& o = {},
             Hash const& hash = {})
      : m_table(o, hash) {
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
    m_table.build(exec, keys, values);
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
    return m_table.insert(exec, keys, values);
  }

  /// Writes the value of each query, or `missing`, to out. Asynchronous.
  template <view_1d Queries, view_1d Out>
  void find(ExecSpace const& exec, Queries const& queries, Out const& out, T const& missing) const {
    look_up(exec, "find", queries, out, detail::value_or<T>{missing}, detail::everything{});
  }
  /// As find, for the queries with predicate(stencil(i)); the others get `missing`. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void find_if(ExecSpace const& exec, Queries const& queries, Out const& out, T const& missing,
               Stencil const& stencil, Predicate const& predicate = {}) const {
    check_stencil(queries, stencil);
    look_up(exec, "find_if", queries, out, detail::value_or<T>{missing},
            detail::where<Stencil, Predicate>{stencil, predicate});
  }
  /// Writes whether each query is there to out. Asynchronous.
  template <view_1d Queries, view_1d Out>
  void contains(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    look_up(exec, "contains", queries, out, detail::presence{}, detail::everything{});
  }
  /// As contains, for the queries with predicate(stencil(i)); the others get false. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void contains_if(ExecSpace const& exec, Queries const& queries, Out const& out,
                   Stencil const& stencil, Predicate const& predicate = {}) const {
    check_stencil(queries, stencil);
    look_up(exec, "contains_if", queries, out, detail::presence{},
            detail::where<Stencil, Predicate>{stencil, predicate});
  }

  /// Calls visit(key, value) for everything that is in, in a kernel. Asynchronous.
  template <class Visit>
  void for_each(ExecSpace const& exec, Visit const& visit) const {
    using body = detail::visit_body<typename table::dense, Key, Visit>;
    Kokkos::parallel_for(table::label("for_each"), each_slot(exec), body{any_ref(), visit});
  }
  /// Writes every pair to two views, in no particular order. Returns: how many there are. Waits for exec.
  template <view_1d KeysOut, view_1d ValuesOut>
  std::uint64_t retrieve_all(ExecSpace const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    detail::require_reachable<ExecSpace, KeysOut, ValuesOut>();
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    if (keys.extent(0) < size())
      detail::reject(
          "the views given to retrieve_all are too short",
          std::to_string(keys.extent(0)) + " elements for " + std::to_string(size()) + " keys",
          "give views of at least size() elements");
    using body = detail::retrieve_body<typename table::dense, Key, KeysOut, ValuesOut>;
    std::uint64_t n = 0;
    Kokkos::parallel_scan(table::label("retrieve_all"), each_slot(exec),
                          body{any_ref(), keys, values}, n);
    return n;
  }

  std::uint64_t size() const { return m_table.size(); }  ///< keys that are in
  /// Keys that fit before insertions move to other memory; of a map that takes none: those that are in.
  std::uint64_t capacity() const {
    return layout() == cuckoo_layout::dense ? m_table.capacity() : size();
  }
  cuckoo_layout layout() const { return m_table.options().layout; }
  /// Taken now, with a workspace that is kept.
  std::size_t bytes() const { return m_table.bytes(); }
  ref_type ref() const { return {layout(), m_table.view()}; }
  /// Looks at every slot. Waits for exec.
  cuckoo_stats stats(ExecSpace const& exec) const {
    return detail::cuckoo::statistics(exec, m_table);
  }

  /// Bytes that a map of so many keys takes.
  static std::size_t bytes_for(std::uint64_t keys, options const& o = {}) {
    return table::shape_type::of(keys, o.capacity, o).bytes();
  }
  /// Bytes that building it takes beside.
  static std::size_t workspace_bytes_for(std::uint64_t keys, options const& o = {}) {
    return table::workspace_bytes_for(keys, o);
  }

  /// Makes dst an exact copy of src, which may live in another memory space. Waits for exec.
  template <class OtherSpace>
  friend void deep_copy(ExecSpace const& exec, cuckoo_map& dst,
                        cuckoo_map<Key, T, OtherSpace, Hash> const& src) {
    dst.m_table.copy_from(exec, table_of(src));
  }

 private:
  template <class, class, karpos::execution_space, class>
  friend class cuckoo_map;
  /// A friend function of one specialization is none of the others.
  template <class Other>
  static auto const& table_of(Other const& other) {
    return other.m_table;
  }

  template <class Keys, class Values>
  static void check_pairs(Keys const& keys, Values const& values) {
    detail::require_reachable<ExecSpace, Keys, Values>();
    detail::require_key_type<Key, Keys>();
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
  }
  template <class Queries, class Stencil>
  static void check_stencil(Queries const& queries, Stencil const& stencil) {
    detail::require_reachable<ExecSpace, Stencil>();
    detail::require_same_extent("queries", queries.extent(0), "stencil", stencil.extent(0));
  }
  template <class Queries, class Out, class Write, class Stencil>
  void look_up(ExecSpace const& exec, char const* what, Queries const& queries, Out const& out,
               Write const& write, Stencil const& stencil) const {
    detail::require_reachable<ExecSpace, Queries, Out>();
    detail::require_key_type<Key, Queries>();
    detail::require_same_extent("queries", queries.extent(0), "the output", out.extent(0));
    if (layout() == cuckoo_layout::two_level)
      look_up_in<typename table::two_level>(exec, what, queries, out, write, stencil);
    else
      look_up_in<typename table::dense>(exec, what, queries, out, write, stencil);
  }
  template <class Ref, class Queries, class Out, class Write, class Stencil>
  void look_up_in(ExecSpace const& exec, char const* what, Queries const& queries, Out const& out,
                  Write const& write, Stencil const& stencil) const {
    constexpr int distance = table::prefetch_distance;
    using body = detail::lookup_body<distance, Ref, Queries, T, Out, Write, Stencil>;
    device::for_each_staged<distance>(table::label(what), exec, queries.extent(0),
                                      body{{Ref(m_table.view()), queries}, out, write, stencil});
  }
  /// Scans see slots, whatever the layout.
  typename table::dense any_ref() const { return typename table::dense(m_table.view()); }
  auto each_slot(ExecSpace const& exec) const {
    return detail::index_range(exec, m_table.shape().slots);
  }

  table m_table;
};

}  // namespace karpos
