// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <optional>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/host_views.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/lookup_table.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/map_ref.hpp"
#include "karpos/operations.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Bulk operations of hash_map, hash_set, hopscotch_map and hopscotch_set, and what they share with
// cuckoo tables. Operations in kernels: karpos/map_ref.hpp. Kernels that insert into a table that
// grows: karpos/for_each_until_placed.hpp.
//
//   lookup_table  find, contains, for_each, …        all maps and sets: karpos/lookup_table.hpp
//   hash_table    insert …, erase, apply, rehash, …  hash_map, hash_set, hopscotch_map and
//                                                    hopscotch_set: here
//   cuckoo_table  build, insert                      cuckoo_map, cuckoo_set: cuckoo_table.hpp
//
// The map's own header says what operations cost and which may run concurrently: hash_map.hpp,
// hash_set.hpp, hopscotch_map.hpp, cuckoo_map.hpp.
//
// The first argument is an execution space instance. It must be able to access the views, except
// for the host views that some operations accept (below). Views that belong together have the same
// length; otherwise every operation throws std::invalid_argument. A lookup or erasure of a key that
// equals a sentinel does not find the key (apply answers `invalid`).
//
// A call blocks if it returns after its work on the instance is done. An asynchronous call only
// enqueues. Keep the table and the views of an asynchronous call until it has run.
//
// If the table is on a device, blocking operations accept host views (pinned or pageable), except
// retrieve_all, and build and insert of cuckoo_map and cuckoo_set. find, find_if, contains and
// contains_if accept host views, too, and then block. A call with host views waits for earlier work
// on `exec`, and works in batches, on instances of its own: it copies one batch while a kernel
// works on another. Memory: staging buffers while it runs (docs/hash_map.md). If memory is short,
// the call retries with smaller buffers, and in the end throws allocation_error before anything has
// changed. But find_or_insert inserts first, then allocates again to look up: it may have inserted.

namespace karpos {

/// Bulk operations that change a map or set. Bulk calls on one execution space instance run in
/// order. Calls that return a report or a count block, and so do apply, rehash, compact and
/// deep_copy. The other calls that change the table are asynchronous.
///
/// Concurrency: blocking insertions, erase, rehash, compact and deep_copy into the table share
///   counters of the table: only one of them at a time may run. Lookups do not use these counters:
///   several host threads may call lookups at the same time, also those that block (count, size,
///   retrieve_all). The _async forms count in the caller's memory. Blocking insertions, and apply
///   of a hash_map, may move or compact the table: nothing else may use the table meanwhile,
///   neither on other instances nor in kernels. erase_if, clear, rehash, compact, the for_each that
///   changes values, and deep_copy into the table need exclusive access, too. While deep_copy reads
///   the table, lookups may run, but nothing may change the table. The _async forms, from any host
///   threads, one blocking erase and kernels with refs may run concurrently.
template <class Storage>
class hash_table : public lookup_table<Storage> {
  using base = lookup_table<Storage>;

 public:
  using base::erase, base::insert, base::insert_or_assign;  // explain wrong calls
  using base::has_values;
  using typename base::execution_space, typename base::key_type, typename base::mapped_type,
      typename base::memory_space;
  using hasher = typename Storage::hasher;
  using key_equal = typename Storage::key_equal;
  using options = hash_table_options<key_type>;
  /// Types that kernels take by value. A ref_type reads and writes. A frozen_ref_type only reads,
  /// and is faster on GPUs; it is for kernels during which no other thread changes the table.
  using ref_type = table_ref<typename Storage::ref_type>;
  using frozen_ref_type = table_reader<typename Storage::ref_type, device::access::frozen>;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;

  /// Makes a table without memory, as one that was moved from. Its size, capacity and max_keys are
  /// 0. It can be assigned to, and be the destination of deep_copy. ref, and calls that read or
  /// change keys, throw std::logic_error, except size, empty, retrieve_all, clear, begin and end.
  hash_table() : base(Storage()) {}
  /// Makes an empty table for max_keys keys, which may be 0. Asynchronous, except for the
  /// allocation.
  /// Throws std::invalid_argument (load out of range, unknown growth, equal sentinels),
  /// std::length_error (capacity overflow), allocation_error (out of memory).
  hash_table(execution_space const& exec, std::uint64_t max_keys, options const& o = {},
             hasher const& hash = {}, key_equal const& equal = {})
      : hash_table(exec, max_keys, o, hash, equal, std::nullopt) {}
  /// Makes an empty table in the caller's memory, which must outlive the table. It takes
  /// bytes_for(max_keys, load) bytes, aligned to 64 bytes (small buckets need less). The headers of
  /// hash_map and hopscotch_map say what the table allocates in addition. Also throws
  /// std::invalid_argument if the memory is null, too small or not aligned.
  hash_table(execution_space const& exec, wrapped_memory memory, std::uint64_t max_keys,
             options const& o = {}, hasher const& hash = {}, key_equal const& equal = {})
      : hash_table(exec, max_keys, o, hash, equal, std::optional(memory)) {}

  /// Inserts pairs whose key is new. If keys in one call are equal, one of their pairs is inserted;
  /// it is unspecified which. `values` is a view as long as keys, or one value for all of them,
  /// converted by static_cast (floating-point for integers does not compile). `bulk`:
  /// table_options.hpp. Blocks.
  /// Returns: how many keys were inserted, existed, and were rejected.
  /// Throws std::invalid_argument if a key equals a sentinel, after all other keys were handled.
  ///   The message has the counts; insert_async gives them in its report. Throws allocation_error
  ///   if a table that grows finds no memory: the keys of this call may then be stored in part;
  ///   nothing stored is lost.
  template <view_1d Keys, class Values>
    requires has_values
  insert_report insert(execution_space const& exec, Keys const& keys, Values const& values,
                       bulk_options const& bulk = {}) {
    return insert_all(exec, "insert", keys, values, detail::keep_stored{}, every_key{}, bulk);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  insert_report insert(execution_space const& exec, Keys const& keys,
                       bulk_options const& bulk = {}) {
    return insert_all(exec, "insert", keys, no_values{}, detail::keep_stored{}, every_key{}, bulk);
  }
  /// Returns the bytes of workspace that an insertion of `keys` keys uses at most; 0 if none. But
  /// insert_or_apply, and insert_or_assign into a hopscotch_map, use insert_or_apply_bytes. Throws
  /// std::invalid_argument for an unknown strategy, std::logic_error if the table has no memory.
  std::size_t insert_bytes(execution_space const& exec, std::uint64_t keys,
                           bulk_strategy strategy = bulk_strategy::automatic) const;
  /// Does what insert does for the keys with predicate(stencil(i)).
  template <view_1d Keys, class Values, view_1d Stencil, class Predicate = detail::as_bool>
    requires has_values
  insert_report insert_if(execution_space const& exec, Keys const& keys, Values const& values,
                          Stencil const& stencil, Predicate const& predicate = {}) {
    return insert_all(exec, "insert_if", keys, values, detail::keep_stored{},
                      detail::where{stencil, predicate});
  }
  template <view_1d Keys, view_1d Stencil, class Predicate = detail::as_bool>  // a set
    requires(!has_values)
  insert_report insert_if(execution_space const& exec, Keys const& keys, Stencil const& stencil,
                          Predicate const& predicate = {}) {
    return insert_all(exec, "insert_if", keys, no_values{}, detail::keep_stored{},
                      detail::where{stencil, predicate});
  }
  /// Does what insert does, and throws capacity_error if a key did not fit. Keys that did fit are
  /// stored. If a key equals a sentinel, throws std::invalid_argument instead, as insert does.
  template <view_1d Keys, class... Values>
  insert_report insert_or_throw(execution_space const& exec, Keys const& keys,
                                Values const&... values) {
    detail::user_call const call(Storage::name, "insert_or_throw");
    insert_report const r = insert(exec, keys, values...);
    if (r.rejected != 0) reject_keys(exec, r.rejected);
    return r;
  }
  /// Inserts pairs or overwrites stored values. If keys in one call are equal, one of their values
  /// is stored; it is unspecified which. On GPUs a hopscotch_map may first reduce rows of equal
  /// keys to one row, in a workspace of insert_or_apply_bytes (hopscotch_map.hpp). Blocks. Returns
  /// and throws as insert.
  template <view_1d Keys, class Values>
    requires has_values
  insert_report insert_or_assign(execution_space const& exec, Keys const& keys,
                                 Values const& values, bulk_options const& bulk = {}) {
    return insert_all(exec, "insert_or_assign", keys, values, detail::replace_stored{}, every_key{},
                      bulk);
  }
  /// Reduces by key: inserts pairs, or replaces stored values by op(stored, value). op is
  /// associative and commutative: karpos::plus, minimum, maximum or a functor (operations.hpp says
  /// what it may do). If many keys are equal, rows are pre-aggregated by key first
  /// (docs/hash_map.md). Blocks. Returns and throws as insert.
  template <view_1d Keys, class Values, class Op>
    requires has_values
  insert_report insert_or_apply(execution_space const& exec, Keys const& keys, Values const& values,
                                Op const& op, bulk_options const& bulk = {}) {
    return insert_all(exec, "insert_or_apply", keys, values, op, every_key{}, bulk);
  }
  /// Returns the bytes of workspace that insert_or_apply, and insert_or_assign into a
  /// hopscotch_map, use at most; 0 if none. Throws as insert_bytes.
  std::size_t insert_or_apply_bytes(execution_space const& exec, std::uint64_t keys,
                                    bulk_strategy strategy = bulk_strategy::automatic) const
    requires(Storage::layout::has_value);

  /// Inserts pairs whose key is new. Writes to out(i) the value that is then stored for keys(i):
  /// the one that existed, or the inserted one. Writes `missing` for a key that was rejected.
  /// Blocks. Returns and throws as insert; also throws, before anything changes,
  /// std::invalid_argument if out is not as long as keys, or overlaps them in a way that find does
  /// not allow. If insert throws, nothing is written to out. `bulk` applies to the insertion and
  /// then to the lookups: its workspace takes the larger of insert_bytes and lookup_bytes.
  template <view_1d Keys, class Values, view_1d Out>
    requires has_values
  insert_report find_or_insert(execution_space const& exec, Keys const& keys, Values const& values,
                               Out const& out, mapped_type const& missing = {},
                               bulk_options const& bulk = {}) {
    detail::user_call const call(Storage::name, "find_or_insert");
    detail::require_same_extent("keys", keys.extent(0), "the output", out.extent(0));
    detail::require_apart_or_replacing(out, keys);
    insert_report const report = insert(exec, keys, values, bulk);
    this->find(exec, keys, out, missing, bulk);
    exec.fence("karpos::hash_table: the values of find_or_insert");
    return report;
  }

  /// Inserts as insert does, but asynchronously: does not grow or compact the table. The report is
  /// overwritten when the kernel is done. Keys equal to a sentinel are counted in report().invalid.
  template <view_1d Keys, class Values>
    requires has_values
  void insert_async(execution_space const& exec, Keys const& keys, Values const& values,
                    report_view const& report) {
    enqueue_insertion(exec, "insert_async", keys, values, detail::keep_stored{}, report);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  void insert_async(execution_space const& exec, Keys const& keys, report_view const& report) {
    enqueue_insertion(exec, "insert_async", keys, no_values{}, detail::keep_stored{}, report);
  }
  /// Inserts or overwrites as insert_or_assign does, with the differences of insert_async.
  template <view_1d Keys, class Values>
    requires has_values
  void insert_or_assign_async(execution_space const& exec, Keys const& keys, Values const& values,
                              report_view const& report) {
    enqueue_insertion(exec, "insert_or_assign_async", keys, values, detail::replace_stored{},
                      report);
  }
  /// Inserts or merges as insert_or_apply does, with the differences of insert_async.
  template <view_1d Keys, class Values, class Op>
    requires has_values
  void insert_or_apply_async(execution_space const& exec, Keys const& keys, Values const& values,
                             Op const& op, report_view const& report) {
    enqueue_insertion(exec, "insert_or_apply_async", keys, values, op, report);
  }

  /// Removes keys, of any type that queries may be of. Blocks. Returns how many were removed, equal
  /// keys of the call once.
  /// Memory: if keys of a hash_map or hash_set are split by region (bulk_strategy), at most
  ///   lookup_bytes(), as find.
  /// Throws std::invalid_argument for an unknown strategy.
  template <view_1d Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys, bulk_options const& bulk = {});
  /// Removes every key with predicate(key, value), or predicate(key) of a set. Blocks. Returns how
  /// many were removed. predicate may not throw (operations.hpp). Complexity: reads the table once.
  template <class Predicate>
  std::uint64_t erase_if(execution_space const& exec, Predicate const& predicate);
  /// Does what erase does, asynchronously. Overwrites the report with the count.
  template <view_1d Keys>
  void erase_async(execution_space const& exec, Keys const& keys, erase_view const& report) {
    detail::user_call const call(Storage::name, "erase_async");
    m_slots_used.add_possible_erasures(keys.extent(0));
    enqueue_erasure(exec, keys, report);
  }

  /// Executes insertions, erasures and lookups concurrently. operations(i) is a map_operation; its
  /// outcome is written to results(i), a map_result. Each operation is linearizable; there is no
  /// order between operations. Blocks. Maps only.
  /// Outcomes: an insertion of a key that exists changes nothing; an insertion that finds no slot
  /// is answered `full`; an operation on a key that equals a sentinel is answered `invalid`.
  /// A hash_map compacts itself between batches of operations if erased keys are in the way. So
  /// keys may come and go indefinitely while at most max_keys keys are stored.
  /// Complexity: one kernel for a hopscotch_map. A hash_map runs a kernel for each batch; the first
  ///   batch has all operations. A batch that inserts is halved until one of these holds:
  ///   - slots in use + insertions <= (max_keys + capacity) / 2;
  ///   - tombstones + erasures <= (capacity - max_keys) / 4;
  ///   - insertions <= max(1, (capacity - max_keys) / 4).
  ///   The next batch is twice as large as the one that ran. Before a batch there may be further
  ///   passes:
  ///   - A pass counts the operations if refs may exist (see ref), or if the first two conditions
  ///     both fail when every operation is taken for an insertion and for an erasure. After each
  ///     halving the operations are counted again.
  ///   - A pass counts the slots, once, if the batch inserts and one of two things holds: refs may
  ///     exist, or both conditions fail for the counted operations. If both fail for the counted
  ///     slots, too, the table is compacted. After this count the second condition is
  ///     tombstones <= (capacity - max_keys) / 4, without the erasures.
  /// Requires: the views have the same length (else throws std::invalid_argument) and do not
  ///   overlap; each `op` is an enumerator of map_op.
  template <view_1d Operations, view_1d Results>
    requires has_values
  void apply(execution_space const& exec, Operations const& operations, Results const& results) {
    detail::user_call const call(Storage::name, "apply");
    detail::require_operations<key_type, mapped_type>(operations, results);
    this->require_memory();
    detail::in_batches(
        exec, operations.extent(0),
        [&](execution_space const& instance, auto const& batch, auto const& results_of_batch) {
          apply_reachable(instance, batch, results_of_batch);
        },
        detail::input{operations}, detail::output{results});
  }
  /// Executes operations as apply does, but asynchronously, in one kernel and without compaction,
  /// so more insertions of a hash_map may be answered `full`.
  /// Concurrency: may run concurrently with kernels that use refs and with the other _async forms,
  ///   but not with bulk lookups on another instance, which read a frozen table.
  template <view_1d Operations, view_1d Results>
    requires has_values
  void apply_async(execution_space const& exec, Operations const& operations,
                   Results const& results) {
    detail::user_call const call(Storage::name, "apply_async");
    detail::require_operations<key_type, mapped_type>(operations, results);
    this->require_memory();
    std::uint64_t const n = operations.extent(0);
    run_operations(exec, operations, results, {n, n});
  }

  /// Removes every key and makes every slot usable again. Asynchronous. Refs stay valid, but
  /// nothing else may use the table until the call has run.
  void clear(execution_space const& exec) {
    m_storage.clear(exec);
    m_slots_used.set_counts(0, 0);
    if (!m_slots_used.exposed) m_storage.enable_order();
  }
  /// Moves to a new table for new_max_keys keys, without erased slots. Refs become invalid. A table
  /// over wrapped memory leaves that memory and owns its memory from then on. Blocks.
  /// Throws, before anything changes: capacity_error if more than new_max_keys keys are stored, or
  ///   if a stored key finds no slot; allocation_error (out of memory); std::length_error (capacity
  ///   overflow).
  void rehash(execution_space const& exec, std::uint64_t new_max_keys);
  /// Returns the number of tombstones: slots of erased keys that no insertion uses again before
  /// compact, rehash or clear. A hopscotch_map has none. Complexity: reads the table once. Blocks.
  std::uint64_t tombstones(execution_space const& exec) const
    requires(Storage::has_tombstones)
  {
    this->require_memory("tombstones");
    return this->scan_slots(exec).dead;
  }
  /// Makes the slots of erased keys usable again, in the memory that the table has. Refs stay
  /// valid. Blocking insertions and apply compact when they need those slots. Insertions in kernels
  /// and by _async forms never compact: programs that insert and erase only in these ways call
  /// compact themselves. Up to (capacity() - max_keys()) / 4 tombstones do not repay a compaction:
  /// apply leaves as many as they are, and so do blocking insertions unless a key finds no slot.
  /// Blocks.
  /// Throws, and changes nothing: allocation_error if there is no memory for a copy of the table;
  ///   capacity_error if a key finds no slot in the copy.
  void compact(execution_space const& exec)
    requires(Storage::has_tombstones);

  /// Returns what kernels read and write the table through, until the table gets new memory (by
  /// rehash, growth, or deep_copy from a table of another capacity). Until then, and always while
  /// the memory is the caller's, the host does not know the number of keys: size, apply and
  /// insertions may have to count slots. Throws std::logic_error if the table has no memory.
  ref_type ref() const;
  /// Returns what kernels read the table through while nothing changes it. Throws as ref.
  frozen_ref_type frozen_ref() const;
  /// Returns the number of keys. Constant time if the number is known; otherwise reads the table
  /// once and blocks. The number is known if all of these hold:
  ///   - the table owns its memory;
  ///   - ref() was not called since the table got that memory;
  ///   - no _async call, apply or apply_async came after the last clear, rehash, compact, growth or
  ///     deep_copy.
  std::uint64_t size(execution_space const& exec) const {
    return knows_size() ? m_slots_used.live : base::size(exec);
  }
  std::uint64_t size() const { return knows_size() ? m_slots_used.live : base::size(); }
  bool empty(execution_space const& exec) const { return size(exec) == 0; }
  bool empty() const { return size() == 0; }
  /// Returns for how many keys the table is sized. Growth, rehash and deep_copy change this number.
  std::uint64_t max_keys() const { return m_storage.settings().max_keys; }
  /// Returns the number of slots.
  std::uint64_t capacity() const { return m_storage.slot_count(); }
  /// Returns the number of buckets of a hash_map or hash_set.
  std::uint64_t bucket_count() const
    requires(Storage::has_tombstones)
  {
    return m_storage.bucket_count();
  }
  /// Returns the number of keys per slot. Complexity: as size.
  double load_factor(execution_space const& exec) const {
    return capacity() == 0 ? 0.0
                           : static_cast<double>(size(exec)) / static_cast<double>(capacity());
  }
  /// Returns whether blocking insertions grow the table (options.growth), as growth::automatic says
  /// (table_options.hpp). insert_or_apply grows a hash_map, but never a hopscotch_map.
  bool grows() const {
    return m_storage.settings().options.growth.value_or(
               Storage::grows ? growth::automatic : growth::fixed) == growth::automatic;
  }
  /// Returns the bytes of a table for max_keys keys at that load. Throws std::invalid_argument
  /// (load out of range), std::length_error (capacity overflow).
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    detail::user_call const call(Storage::name, "bytes_for");
    return Storage::bytes_for(max_keys, load);
  }

  /// Copies src, which may be in another memory space, to dst, with its max_keys, load, growth,
  /// sentinels, hash and equality. Blocks. Compiles if the types of key, value, hash, equality and
  /// probing are the same, and the bucket sizes are equal (host_mirror_type has them).
  /// If src has no memory (default-constructed or moved from), dst then has none, either. A copy of
  /// a table to itself leaves the keys as they are.
  /// Refs of dst stay valid if both tables have equal capacities and sentinels, and hash and
  /// equality have equal state. Nothing checks the state of hash and equality. Frozen refs of dst
  /// stay valid if also the seeds are equal.
  /// Requires: no work that changes src is pending on other instances, and nothing else uses dst.
  /// Memory: if the capacities differ, dst gets new memory, and leaves memory that is the caller's.
  ///   Otherwise allocates nothing, with one exception. If refs of dst may exist (ref() was called,
  ///   or the memory is the caller's), capacities are equal and seeds differ, dst keeps its seed,
  ///   which these refs use, and the keys are inserted anew by it. That takes two more tables while
  ///   it runs.
  /// Throws allocation_error (out of memory); capacity_error if a key that is inserted anew finds
  ///   no slot. dst then keeps its keys.
  template <class Other>
    requires requires(Storage& to, execution_space const& e, Other const& o) { to.copy_from(e, o); }
  friend void deep_copy(execution_space const& exec, hash_table& dst,
                        hash_table<Other> const& src) {
    dst.copy_from(exec, src);
  }

 protected:
  using base::label, base::m_storage;
  hash_table(hash_table const&) = delete;  // kernels capture ref() instead; deep_copy copies
  hash_table(hash_table&& other);
  hash_table& operator=(hash_table&& other);

 private:
  template <class>
  friend class hash_table;
  friend struct detail::insertion_access;
  bool knows_size() const { return capacity() != 0 && m_slots_used.size_is_known(); }
  using table_type = typename Storage::ref_type;
  using no_values = detail::constant<mapped_type>;
  static constexpr int distance = Storage::prefetch_distance;
  using every_key = detail::everything;

  hash_table(execution_space const& exec, std::uint64_t max_keys, options const& o,
             hasher const& hash, key_equal const& equal, std::optional<wrapped_memory> memory,
             detail::user_call const& = detail::user_call(Storage::name));
  template <class Keys>
  void enqueue_erasure(execution_space const& exec, Keys const& keys,
                       erase_view const& report) const {
    detail::require_reachable<execution_space, Keys>();
    this->require_memory();
    m_storage.with_erasure_ref(exec, keys.extent(0), [&](auto const& table) {
      device::tally_each_staged<distance>(
          label("erase"), exec, keys.extent(0),
          detail::make_keyed_body<detail::erase_body, distance>(table, keys), report);
    });
  }
  template <class Keys>
  std::uint64_t erase_reachable(execution_space const& exec, Keys const& keys,
                                bulk_options const& bulk) const;
  /// Returns the rows of an insertion. Compiles if kernels reach them and the key type is right.
  template <class Keys, class Values, class Combine, class Stencil>
  static auto rows_of(char const* what, Keys const& keys, Values const& values,
                      Combine const& combine, Stencil const& stencil) {
    detail::require_key_type<key_type, Keys>();
    detail::require_reachable<execution_space, Keys, detail::view_type_of<Values>,
                              detail::view_type_of<Stencil>>();
    return detail::insertion{what, keys, values, combine, stencil};
  }
  template <class Keys, class Values, class Combine>
  void enqueue_insertion(execution_space const& exec, char const* what, Keys const& keys,
                         Values const& values, Combine const& combine, report_view const& report) {
    detail::user_call const call(Storage::name, what);
    this->require_memory();
    auto const each = detail::values_for<mapped_type>(keys, values);
    insert_directly(exec, m_storage, rows_of(what, keys, each, combine, every_key{}), report);
    m_slots_used.add_possible_insertions(keys.extent(0));
  }
  template <class Keys, class Values, class Combine, class Stencil>
  insert_report insert_all(execution_space const& exec, char const* what, Keys const& keys,
                           Values const& values, Combine const& combine, Stencil const& stencil,
                           bulk_options const& bulk = {});
  template <class Rows>
  bool try_insert_reduced(execution_space const& exec, Rows const& rows, bulk_options const& bulk,
                          insert_report& report);
  template <class Rows>
  insert_report insert_in_parts(execution_space const& exec, Rows const& rows,
                                bulk_options const& bulk);
  template <class Rows>
  bool try_insert_split(execution_space const& exec, Rows const& rows, bulk_options const& bulk,
                        insert_report& report);
  bool try_reinsert_segments(execution_space const& exec, char const* what, Storage const& into,
                             insert_report& report);
  template <class Rows>
  void insert_directly(execution_space const& exec, Storage const& into, Rows const& rows,
                       report_view const& report) const;
  template <class F>
  static void with_insertion_ref(Storage const& into, F const& f);
  template <class RowsAgain>
  void insert_rejected(execution_space const&, RowsAgain const&, insert_report&,
                       std::uint64_t expected_keys);
  std::uint64_t next_part(execution_space const& exec, double share_of_new,
                          std::uint64_t remaining);
  [[noreturn]] void reject_keys(execution_space const& exec, std::uint64_t rejected) const;
  void make_reports(execution_space const& exec);
  insert_report read_report(execution_space const& exec) const;
  template <class Operations, class Results>
  void apply_reachable(execution_space const& exec, Operations const& operations,
                       Results const& results);
  template <class Operations, class Results>
  void run_operations(execution_space const& exec, Operations const& operations,
                      Results const& results, detail::operation_counts const& counts);
  template <class Operations>
  detail::operation_counts next_batch(execution_space const& exec, Operations const& operations,
                                      std::uint64_t first, std::uint64_t& size);
  /// Returns how many slots may be in use before insertions probe far.
  std::uint64_t slots_to_use() const { return (max_keys() + capacity()) / 2; }
  /// Returns the number of tombstones up to which a compaction does not pay. A table with
  /// max_keys keys and this number of tombstones has the same number of slots left to use.
  std::uint64_t tombstones_to_keep() const { return (capacity() - max_keys()) / 4; }
  bool has_slots_for(detail::operation_counts const& counts) const;
  detail::slot_counts count_slots(execution_space const& exec);
  void compact_before(execution_space const& exec, std::uint64_t more);
  void compact_if_crowded(execution_space const& exec, std::uint64_t more);
  std::optional<Storage> copy_with_free_slots(execution_space const&, std::uint64_t more,
                                              std::uint64_t expected_keys);
  std::optional<Storage> larger_copy(execution_space const&, std::uint64_t max_keys,
                                     std::uint64_t keys);
  Storage rebuilt_copy(execution_space const&, char const* what, std::uint64_t max_keys,
                       bool fail_fast);
  void adopt(execution_space const& exec, Storage&& fresh);
  /// Does what deep_copy does, which is a friend of one hash_table only.
  template <class Other>
  void copy_from(execution_space const& exec, hash_table<Other> const& src);

  // Counters of blocking calls that return a report, allocated once.
  report_view m_insert_report;
  erase_view m_erase_report;
  mutable detail::slots_used m_slots_used;
};

}  // namespace karpos

#include "karpos/detail/tables/hash_table.hpp"
#include "karpos/detail/tables/hash_table_insertion.hpp"
