// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/table.hpp"
#include "karpos/hash.hpp"
#include "karpos/outcome.hpp"
#include "karpos/probing.hpp"

namespace karpos {

/// The reading half of hash_set_ref, and all of a frozen ref: for kernels during which nobody changes the set.
template <class Key, class ExecSpace, class Hash, class KeyEqual, class Probing, int BucketSlots,
          access Access>
class hash_set_reader {
 protected:
  using table = detail::open_addressing_ref<Key, detail::no_value, ExecSpace, Hash, KeyEqual,
                                            Probing, BucketSlots>;
  table m_table;

 public:
  using key_type = Key;
  static constexpr int bucket_slots = BucketSlots;

  hash_set_reader() = default;
  explicit hash_set_reader(table const& t) : m_table(t) {}

  /// Whether a key is there.
  template <class Query>
  KOKKOS_FUNCTION bool contains(Query const& query) const {
    return contains(thread_tile{}, query);
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION bool contains(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be looked up");
    return m_table.template find<Access>(t, query).present;
  }
};

/// The view of a hash_set that kernels take by value; the contract is that of hash_map_ref.
template <class Key, class ExecSpace, class Hash, class KeyEqual, class Probing, int BucketSlots>
class hash_set_ref
    : public hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, access::shared> {
  using reader =
      hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, access::shared>;
  using reader::m_table;

 public:
  using reader::reader;

  /// Inserts the key unless it is there. Returns: inserted, existing or full.
  KOKKOS_FUNCTION outcome insert(Key const& key) const { return insert(thread_tile{}, key); }
  template <tile Tile>
  KOKKOS_FUNCTION outcome insert(Tile const& t, Key const& key) const {
    return m_table.upsert(t, key, {}, detail::keep_stored{});
  }
  /// Removes a key. Its slot is used again only after clear or rehash. Returns: whether this call removed it.
  template <class Query>
  KOKKOS_FUNCTION bool erase(Query const& query) const {
    return erase(thread_tile{}, query);
  }
  template <tile Tile, class Query>
  KOKKOS_FUNCTION bool erase(Tile const& t, Query const& query) const {
    KARPOS_EXPECTS(!m_table.reserved(query), "a key equal to a sentinel cannot be erased");
    return m_table.erase(t, query);
  }
};

/// Hash set of keys of up to eight bytes: hash_map without values, in half the memory. Interface, memory,
/// concurrency and errors are those of hash_map.
/// Source: cuCollections' static_set; overflow marks after boost::unordered_flat_set.
template <class Key, execution_space ExecSpace = Kokkos::DefaultExecutionSpace,
          class Hash = hash<Key>, class KeyEqual = equal_to<Key>, class Probing = double_hashing,
          int BucketSlots = detail::default_bucket_slots<Key, detail::no_value, ExecSpace>>
class hash_set {
  using table = detail::open_addressing_table<Key, detail::no_value, ExecSpace, Hash, KeyEqual,
                                              Probing, BucketSlots>;

 public:
  using key_type = Key;
  using execution_space = ExecSpace;
  using memory_space = typename ExecSpace::memory_space;
  using options = hash_table_options<Key>;
  using ref_type = hash_set_ref<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots>;
  using frozen_ref_type =
      hash_set_reader<Key, ExecSpace, Hash, KeyEqual, Probing, BucketSlots, access::frozen>;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;
  static constexpr int bucket_slots = BucketSlots;

  /// Makes an empty set for max_keys keys. Throws as hash_map does.
  hash_set(ExecSpace const& exec, std::uint64_t max_keys, options const& o = {},
           Hash const& hash = {}, KeyEqual const& equal = {})
      : m_table(exec, "hash_set", max_keys, o, hash, equal, {}) {}
  /// The same over memory of the caller's, which must outlive the set.
  hash_set(ExecSpace const& exec, wrapped_memory memory, std::uint64_t max_keys,
           options const& o = {}, Hash const& hash = {}, KeyEqual const& equal = {})
      : m_table(exec, "hash_set", max_keys, o, hash, equal, memory) {}

  /// Bytes that a set for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return table::bytes_for(max_keys, load);
  }

  /// Inserts keys that are new. Returns: how many were inserted, existing, rejected. Throws
  /// std::invalid_argument when a key equals a sentinel: every other key has then been handled as usual.
  template <view_1d Keys>
  insert_report insert(ExecSpace const& exec, Keys const& keys) {
    detail::require_reachable<ExecSpace, Keys>();
    detail::require_key_type<Key, Keys>();
    return m_table.insert(exec, "insert", keys, nothing{}, detail::keep_stored{},
                          detail::everything{});
  }
  /// As insert, for the keys with predicate(stencil(i)).
  template <view_1d Keys, view_1d Stencil, class Predicate = detail::as_bool>
  insert_report insert_if(ExecSpace const& exec, Keys const& keys, Stencil const& stencil,
                          Predicate const& predicate = {}) {
    detail::require_reachable<ExecSpace, Keys, Stencil>();
    detail::require_key_type<Key, Keys>();
    detail::require_same_extent("keys", keys.extent(0), "stencil", stencil.extent(0));
    return m_table.insert(exec, "insert_if", keys, nothing{}, detail::keep_stored{},
                          detail::where<Stencil, Predicate>{stencil, predicate});
  }
  /// As insert; throws capacity_error when a key did not fit (those that did are in).
  template <view_1d Keys>
  insert_report insert_or_throw(ExecSpace const& exec, Keys const& keys) {
    insert_report const r = insert(exec, keys);
    m_table.throw_if_rejected(exec, r);
    return r;
  }
  /// As insert without waiting: the report is written to a view when the kernel is done.
  template <view_1d Keys>
  void insert_async(ExecSpace const& exec, Keys const& keys, report_view const& report) {
    detail::require_reachable<ExecSpace, Keys>();
    detail::require_key_type<Key, Keys>();
    m_table.insert(exec, "insert_async", keys, nothing{}, detail::keep_stored{},
                   detail::everything{}, report);
  }

  /// Writes to out whether each query is there. Asynchronous.
  template <view_1d Queries, view_1d Out>
  void contains(ExecSpace const& exec, Queries const& queries, Out const& out) const {
    detail::require_reachable<ExecSpace, Queries, Out>();
    detail::require_same_extent("queries", queries.extent(0), "the output", out.extent(0));
    m_table.look_up(exec, "contains", queries, out, detail::presence{}, detail::everything{});
  }
  /// As contains, for the queries with predicate(stencil(i)); the others get false. Asynchronous.
  template <view_1d Queries, view_1d Out, view_1d Stencil, class Predicate = detail::as_bool>
  void contains_if(ExecSpace const& exec, Queries const& queries, Out const& out,
                   Stencil const& stencil, Predicate const& predicate = {}) const {
    detail::require_reachable<ExecSpace, Queries, Out, Stencil>();
    detail::require_same_extent("queries", queries.extent(0), "the output", out.extent(0));
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
  /// Moves to a new table for new_max_keys keys; see hash_map::rehash.
  void rehash(ExecSpace const& exec, std::uint64_t new_max_keys) {
    m_table.rehash(exec, new_max_keys);
  }
  /// Writes every key to a view, in no particular order. Returns: how many there are.
  template <view_1d KeysOut>
  std::uint64_t retrieve_all(ExecSpace const& exec, KeysOut const& keys) const {
    detail::require_reachable<ExecSpace, KeysOut>();
    return m_table.retrieve_all(exec, keys, nothing{});
  }
  /// Calls visit(key) for every key, in a kernel. Asynchronous.
  template <class Visit>
  void for_each(ExecSpace const& exec, Visit const& visit) const {
    m_table.for_each(exec, visit);
  }

  ref_type ref() const { return ref_type(m_table.ref()); }
  /// A ref that only reads, faster on GPUs, for kernels during which nobody changes the set.
  frozen_ref_type frozen_ref() const { return frozen_ref_type(m_table.ref()); }
  std::uint64_t max_keys() const { return m_table.max_keys(); }          ///< asked for
  std::uint64_t bucket_count() const { return m_table.bucket_count(); }  ///< buckets there are
  std::uint64_t capacity() const {
    return m_table.bucket_count() * BucketSlots;
  }  ///< slots there are

  /// Makes dst an exact copy of src, which may live in another memory space. Waits for exec.
  template <class OtherSpace>
  friend void deep_copy(
      ExecSpace const& exec, hash_set& dst,
      hash_set<Key, OtherSpace, Hash, KeyEqual, Probing, BucketSlots> const& src) {
    dst.copy_from(exec, src);
  }

 private:
  template <class, karpos::execution_space, class, class, class, int>
  friend class hash_set;
  /// A friend function of one specialization is none of the others.
  template <class Other>
  void copy_from(ExecSpace const& exec, Other const& src) {
    m_table.copy_from(exec, src.m_table);
  }
  using nothing = detail::constant<detail::no_value>;

  table m_table;
};

}  // namespace karpos
