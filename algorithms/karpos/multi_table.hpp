// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/tables/multi_table/index.hpp"
#include "karpos/detail/tables/multi_table/matches.hpp"
#include "karpos/detail/tables/multi_table/run.hpp"
#include "karpos/multi_table_ref.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Bulk operations of hash_multimap and hash_multiset. Operations in kernels:
// karpos/multi_table_ref.hpp. Layout of the pairs: detail/tables/multi_table/blocks.hpp; their
// insertion: detail/tables/multi_table/batch.hpp.

namespace karpos {

/// A map or set whose keys may be stored several times. In a set, a pair means one occurrence of a
/// key. The first argument of an operation is an execution space instance, which must be able to
/// access the views. Host views are not supported if the table is on a device. Views that belong
/// together have the same length; otherwise every operation throws std::invalid_argument. Lookups
/// and erasures of a key that equals a sentinel find nothing. Keep the table and the views of an
/// asynchronous call until it has run. The values of a key come in no particular order. On a table
/// without memory (default-constructed or moved from) ref, and calls that read or change pairs,
/// throw std::logic_error, except size, empty, different_keys and clear.
///
/// Insertions through insert_async and in kernels are pending: they are appended to a list, where
/// lookups do not find them. consolidate, rehash, a blocking insertion or an erasure puts them into
/// the table. So does ref or insert_async if the list has too little capacity left. If an
/// allocation fails before any pending pair was inserted, all stay pending. If it fails later, the
/// pairs not yet inserted are dropped, and counted as `rejected` in the next report of consolidate.
/// The memory of the list is not in bytes_for. It is freed when a longer list replaces it, or with
/// the table.
///
/// Concurrency: lookups may run concurrently with each other, and with kernels that append to the
///   list. Nothing may run concurrently with an operation that changes the table; insert_async and
///   ref are such operations only if the list has too little capacity left. Insertions and erasures
///   block, except insert_async. Several host threads may call lookups at the same time. Only one
///   at a time may call insert_async or ref.
/// Throws: blocking lookups, retrieve_all and for_each allocate memory while they run, and throw
///   allocation_error if there is none.
template <class Traits>
class multi_table {
 public:
  using key_type = typename Traits::key_type;
  using mapped_type = typename Traits::mapped_type;  ///< detail::no_value of a set
  using execution_space = typename Traits::execution_space;
  using memory_space = typename execution_space::memory_space;
  using options = hash_table_options<key_type>;
  static constexpr bool has_values = detail::multi_table::table<Traits>::has_values;

 private:
  using table = detail::multi_table::table<Traits>;
  using blocks_type = typename table::blocks_type;

 public:
  /// Types that kernels take by value: to insert, and to look up.
  using ref_type = multi_ref<typename table::index_ref_type, mapped_type>;
  using frozen_ref_type =
      multi_reader<execution_space, typename table::index_type::frozen_ref_type, blocks_type>;

  /// Inserts every pair. `values` is a view as long as keys, or one value for all of them,
  /// converted by static_cast (floating-point for integers does not compile). Inserts pending pairs
  /// first. Blocks.
  /// Returns: how many pairs were inserted and rejected; none is `existing`.
  /// Complexity: O(pairs), however often a key occurs. An insertion that merges long chains, frees
  ///   erased pairs or moves to larger memory takes O(size); over all insertions that is O(1) a
  ///   pair, unless erased pairs are freed again and again in a nearly full map that may not grow.
  /// Memory: while it runs, about 55 bytes a pair on CPUs. On GPUs 20 bytes for pairs of 4 + 4
  ///   bytes, more for larger ones. There it takes about 55 bytes, too, in any of three cases: few
  ///   pairs, a very frequent key, or an equality of the caller's (docs/hash_multimap.md).
  ///   `workspace`: insert_bytes(exec, pairs) bytes that the caller owns, aligned to 64 bytes, in
  ///   which pairs are grouped. Null: the call allocates it, which on GPUs is about a fifth of the
  ///   call's time.
  /// Throws std::invalid_argument for a workspace that is too small or not aligned, before anything
  ///   changes (hash_map ignores such a workspace instead); std::invalid_argument if a key equals a
  ///   sentinel, after every other pair was handled (the message has the counts); allocation_error,
  ///   after which the pairs of the call may be stored in part.
  template <view_1d Keys, class Values>
    requires has_values
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values,
                       wrapped_memory const& workspace = {nullptr, 0}) {
    return m_table.insert(exec, keys, values, workspace);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  insert_report insert(execution_space const& exec, Keys const& keys,
                       wrapped_memory const& workspace = {nullptr, 0}) {
    return m_table.insert(exec, keys, typename table::no_values{}, workspace);
  }
  /// Returns the bytes of a workspace for the insertion of `pairs` pairs. 0 if no workspace is
  /// used: on CPUs, for few pairs, and for keys with an equality of the caller's.
  static std::size_t insert_bytes(execution_space const& exec, std::uint64_t pairs) {
    return table::insert_bytes(exec, pairs);
  }
  /// Appends every pair to the list of pending pairs. Earlier refs become invalid. Asynchronous if
  /// the list has enough capacity left; otherwise it blocks, and throws, as ref does.
  template <view_1d Keys, class Values>
    requires has_values
  void insert_async(execution_space const& exec, Keys const& keys, Values const& values) {
    m_table.append(exec, keys, values);
  }
  template <view_1d Keys>
    requires(!has_values)
  void insert_async(execution_space const& exec, Keys const& keys) {
    m_table.append(exec, keys, typename table::no_values{});
  }
  /// Reserves capacity for `pair_capacity` pending pairs. Reservations add up until the pending
  /// pairs are put into the table, whether they were used or not. Returns what kernels insert these
  /// pairs through; multi_ref says until when it is valid. Lookups find the pairs once they are in
  /// the table (see above).
  /// Earlier refs become invalid. Asynchronous if the list has enough capacity left; otherwise it
  /// blocks, and inserts the pending pairs first. Throws allocation_error, for the list or for the
  /// insertion of pending pairs.
  ref_type ref(execution_space const& exec, std::uint64_t pair_capacity) {
    return ref_type(m_table.ref(exec, pair_capacity));
  }
  /// Inserts the pending pairs, then consolidates the table: moves the values of each key into one
  /// block, as one insertion of all pairs would, and frees the memory of erased pairs. Lookups then
  /// read one block for each key. Frozen refs become invalid. Blocks.
  /// Returns: the outcomes of all pairs that were pending since the last consolidate. Pairs that
  ///   exceeded the list's capacity count as `rejected`. Pairs of insert_async whose key equals a
  ///   sentinel count as `invalid`; those of kernels do not count. Pending pairs that clear removed
  ///   are not counted; pairs that were put into the table before a clear are.
  /// Complexity: O(size + slots). Memory: while it runs, max_pairs pairs once more, and 8 bytes a
  ///   slot.
  /// Throws allocation_error; pending pairs: see above. Outcomes of pairs that were inserted before
  ///   are then in the report of the next consolidate.
  insert_report consolidate(execution_space const& exec) { return m_table.consolidate(exec); }
  [[deprecated("karpos: settle is consolidate")]] insert_report settle(
      execution_space const& exec) {
    return consolidate(exec);
  }

  /// Writes to out how many pairs with each query are stored. `out` is a view of integers, to which
  /// counts are converted by static_cast: one that does not fit is truncated. Asynchronous, but
  /// blocks if it allocates a workspace and the GPU has no stream-ordered memory.
  /// Memory: as find of a map: `bulk` chooses, lookup_bytes() says how much.
  template <view_1d Queries, view_1d Out>
  void count(execution_space const& exec, Queries const& queries, Out const& out,
             bulk_options const& bulk = {}) const {
    detail::user_call const call(table::name, "count");
    using result = typename Out::value_type;
    static_assert(std::is_integral_v<result> && !std::is_const_v<result>,
                  "karpos: counts are written to a view of integers, not const");
    m_table.look_up("karpos::multi_table: count", exec, queries, out,
                    detail::multi_table::count_of<blocks_type, result>{m_table.blocks()}, bulk);
  }
  /// Writes to out, a view of bool or integers, whether each query is stored. When it blocks, and
  /// its memory: as count.
  template <view_1d Queries, view_1d Out>
  void contains(execution_space const& exec, Queries const& queries, Out const& out,
                bulk_options const& bulk = {}) const {
    detail::user_call const call(table::name, "contains");
    m_table.index().contains(exec, queries, out, bulk);
  }
  /// Writes to out one value of each query, unspecified which, or `missing`, by default
  /// mapped_type{}. Asynchronous. Maps only.
  template <view_1d Queries, view_1d Out>
    requires has_values
  void find_any(execution_space const& exec, Queries const& queries, Out const& out,
                mapped_type const& missing = {}) const {
    detail::user_call const call(table::name, "find_any");
    detail::require_result_type<mapped_type, Out>();
    // Direct: values lie beyond the regions of the table (H100, 8 of a key: 20.5 G/s, by regions
    // 16.7).
    m_table.look_up(
        "karpos::multi_table: find_any", exec, queries, out,
        detail::multi_table::any_of<blocks_type, mapped_type>{m_table.blocks(), missing},
        {bulk_strategy::direct});
  }
  /// Returns the bytes of workspace that count and contains of these queries take at most: 0 if
  /// they are direct. Throws as lookup_bytes of a map.
  template <view_1d Queries>
  std::size_t lookup_bytes(execution_space const& exec, Queries const& queries,
                           bulk_strategy strategy = bulk_strategy::automatic) const {
    detail::user_call const call(table::name, "lookup_bytes");
    return m_table.index().template result_bytes<std::uint64_t>(exec, queries, strategy);
  }

  /// Returns the number of pairs that retrieve writes for these queries. Blocks.
  template <view_1d Queries>
  std::uint64_t retrieve_size(execution_space const& exec, Queries const& queries) const {
    detail::user_call const call(table::name, "retrieve_size");
    return m_table.matches_of(exec, queries, 0).size();
  }
  /// Returns the number of pairs that retrieve_outer writes for these queries. Blocks.
  template <view_1d Queries>
  std::uint64_t retrieve_outer_size(execution_space const& exec, Queries const& queries) const {
    detail::user_call const call(table::name, "retrieve_outer_size");
    return m_table.matches_of(exec, queries, 1).size();
  }
  /// Writes every match as a query number (the query's index) and a value, in the order of queries.
  /// Query numbers go to a view of integers of 32 or 64 bits. Blocks. Returns the number of
  /// matches.
  /// Complexity: O(queries + matches); threads share a key with many values.
  /// Memory: while it runs, at most 12 bytes a query (16 if PairNumber has 64 bits).
  /// Throws std::invalid_argument, before anything is written, if the integers of out_queries are
  ///   too small for the number of queries, or if the views are too short. In the second case the
  ///   message has the number of matches, which retrieve_size returns. Throws allocation_error.
  template <view_1d Queries, view_1d QueriesOut, view_1d ValuesOut>
    requires has_values
  std::uint64_t retrieve(execution_space const& exec, Queries const& queries,
                         QueriesOut const& out_queries, ValuesOut const& out_values) const {
    return m_table.write_matches(exec, queries, mapped_type{}, 0, out_queries, out_values);
  }
  /// Writes, for a set, the number of a query once for each occurrence of its key. Otherwise does
  /// what retrieve of a map does.
  template <view_1d Queries, view_1d QueriesOut>
    requires(!has_values)
  std::uint64_t retrieve(execution_space const& exec, Queries const& queries,
                         QueriesOut const& out_queries) const {
    return m_table.write_matches(exec, queries, {}, 0, out_queries);
  }
  /// Writes what retrieve writes, and a pair of the query number and `missing` for each query
  /// without a match. Blocks. Returns the number of pairs. Memory and errors: as for retrieve.
  template <view_1d Queries, view_1d QueriesOut, view_1d ValuesOut>
    requires has_values
  std::uint64_t retrieve_outer(execution_space const& exec, Queries const& queries,
                               QueriesOut const& out_queries, ValuesOut const& out_values,
                               mapped_type const& missing) const {
    return m_table.write_matches(exec, queries, missing, 1, out_queries, out_values);
  }
  template <view_1d Queries, view_1d QueriesOut>
    requires(!has_values)
  std::uint64_t retrieve_outer(execution_space const& exec, Queries const& queries,
                               QueriesOut const& out_queries) const {
    return m_table.write_matches(exec, queries, {}, 1, out_queries);
  }
  /// Calls f(query number, value), or f(query number) of a set, in a kernel for every match, in any
  /// order. Writes no output. Blocks. Complexity and memory: as for retrieve.
  template <view_1d Queries, class F>
  void for_each_match(execution_space const& exec, Queries const& queries, F const& f) const {
    detail::user_call const call(table::name, "for_each_match");
    using visit = detail::multi_table::visit_element<detail::multi_table::query_numbers, F>;
    m_table.emit(exec, m_table.matches_of(exec, queries, 0), visit{{}, f});
  }

  /// Calls visit(key, value), or visit(key) of a set, in a kernel for every pair. Blocks. visit may
  /// not throw (operations.hpp).
  /// Complexity: O(size + slots). Memory: at most 8 bytes a slot while it runs. Throws
  ///   allocation_error.
  template <class Visit>
  void for_each(execution_space const& exec, Visit const& visit) const {
    detail::user_call const call(table::name, "for_each");
    using body = detail::multi_table::visit_element<typename table::slots_type, Visit>;
    m_table.emit(exec, m_table.all_pairs(exec), body{m_table.slots(), visit});
  }
  /// Writes every pair, those of one key contiguously. Blocks. Returns the number of pairs. Throws
  /// std::invalid_argument if the views are too short; nothing was written then. allocation_error.
  template <view_1d KeysOut, view_1d ValuesOut>
    requires has_values
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    return m_table.write_all(exec, keys, values);
  }
  template <view_1d KeysOut>
    requires(!has_values)
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys) const {
    return m_table.write_all(exec, keys);
  }

  /// Removes all pairs of some keys, which have the key type (queries may have others). Inserts
  /// pending pairs first. Blocks. Returns how many pairs were removed. Their memory is free again
  /// after consolidate; an insertion that needs memory frees it, too.
  /// Throws std::invalid_argument for more keys than a table can have pairs: 2^31 - 8, or 2^40 - 8
  ///   with pair numbers of 64 bits; allocation_error.
  template <view_1d Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys) {
    return m_table.erase(exec, keys);
  }
  /// Removes every pair, pending ones too. Refs become invalid. Asynchronous.
  void clear(execution_space const& exec) { m_table.clear(exec); }
  /// Inserts the pending pairs, moves the table to memory for max_pairs pairs and max_keys keys,
  /// and consolidates it. Blocks. The pending pairs stay inserted if rehash throws later.
  /// Throws std::invalid_argument for more pairs than PairNumber can count, before anything
  ///   changes; capacity_error, without moving, if more pairs or keys are stored, or a stored key
  ///   finds no slot; allocation_error, after which the keys may have moved, but not the pairs: the
  ///   table is valid.
  void rehash(execution_space const& exec, std::uint64_t max_pairs, std::uint64_t max_keys)
    requires has_values
  {
    m_table.rehash(exec, max_pairs, max_keys);
  }
  void rehash(execution_space const& exec, std::uint64_t max_keys)
    requires(!has_values)
  {
    m_table.rehash(exec, max_pairs(), max_keys);
  }

  /// Returns the bytes of a map for max_pairs pairs of max_keys distinct keys, or of a set of
  /// max_keys distinct keys. Throws what bytes_for of a hash_map throws.
  static std::size_t bytes_for(std::uint64_t max_pairs, std::uint64_t max_keys,
                               double load = options{}.load)
    requires has_values
  {
    detail::user_call const call(table::name, "bytes_for");
    return table::index_type::bytes_for(max_keys, load) + table::storage_type::bytes_for(max_pairs);
  }
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load)
    requires(!has_values)
  {
    detail::user_call const call(table::name, "bytes_for");
    return table::index_type::bytes_for(max_keys, load);
  }
  /// Returns what kernels look up with while no thread changes the table.
  frozen_ref_type frozen_ref() const {
    detail::user_call const call(table::name, "frozen_ref");
    return {m_table.index().frozen_ref(), m_table.blocks()};
  }
  /// Returns the number of pairs in the table, without pending ones.
  std::uint64_t size() const { return m_table.size(); }
  bool empty() const { return size() == 0; }
  /// Returns the number of distinct keys. Complexity: as hash_map's size; it may block.
  std::uint64_t different_keys(execution_space const& exec) const {
    return m_table.index().size(exec);
  }
  /// Returns an upper bound of the number of blocks of a key: at most 1 after consolidate. Maps
  /// only.
  std::uint64_t longest_chain() const
    requires has_values
  {
    return m_table.batches();
  }
  /// Returns how many pairs the table can store; of a set, how many it can count.
  std::uint64_t max_pairs() const { return m_table.max_pairs(); }
  /// Returns for how many distinct keys the table is sized. Growth, rehash and deep_copy change
  /// this number.
  std::uint64_t max_keys() const { return m_table.index().max_keys(); }
  /// Returns the number of slots of the table of keys.
  std::uint64_t capacity() const { return m_table.index().capacity(); }

  /// Makes dst an exact copy of src, which may be in another memory space. Discards dst's pending
  /// pairs; copies the outcomes that src has not reported yet (consolidate). Refs of dst become
  /// invalid. Waits for kernels that may append pairs to src. Blocks.
  /// Requires: both tables have buckets of the same size.
  /// Throws std::invalid_argument if src has pending pairs; allocation_error (out of memory).
  template <class Other>
  friend void deep_copy(execution_space const& exec, multi_table& dst,
                        multi_table<Other> const& src) {
    dst.copy_from(exec, src);
  }

 protected:
  multi_table() = default;
  multi_table(execution_space const& exec, std::uint64_t max_pairs, std::uint64_t max_keys,
              options const& o, typename table::index_type::hasher const& hash,
              typename table::index_type::key_equal const& equal)
      : m_table(exec, max_pairs, max_keys, o, hash, equal) {}
  multi_table(multi_table&&) = default;
  multi_table& operator=(multi_table&&) = default;
  ~multi_table() = default;

 private:
  template <class>
  friend class multi_table;
  template <class Other>
  void copy_from(execution_space const& exec, multi_table<Other> const& src) {
    m_table.copy_from(exec, src.m_table);
  }

  table m_table;
};

}  // namespace karpos
