// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/host_views.hpp"
#include "karpos/detail/insertion.hpp"
#include "karpos/detail/scans.hpp"
#include "karpos/detail/slots_used.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/lookup_table.hpp"
#include "karpos/map_operation.hpp"
#include "karpos/map_ref.hpp"
#include "karpos/operations.hpp"
#include "karpos/outcome.hpp"
#include "karpos/table_options.hpp"

// Every operation of every map and set in bulk, once; those in kernels are in karpos/map_ref.hpp.
//
//   lookup_table  find, contains, for_each, retrieve_all, …   in karpos/lookup_table.hpp; cuckoo_map adds build and insert
//   hash_table    insert …, erase, apply, rehash, …           hash_map, hash_set, hopscotch_map, hopscotch_set: here
//
// What an operation costs, and what may run beside what, is said by the map: hash_map.hpp, hash_set.hpp, hopscotch_map.hpp,
// cuckoo_map.hpp. In bulk an execution space instance comes first; views are read and written in its memory. Views that
// belong together have the same length: every operation throws std::invalid_argument otherwise. Lookups and erasures
// answer "not there" for a key equal to a sentinel. Keep the table and the views of an enqueued call until it has run.
//
// Views on the host, pinned or not, of a table on a device are taken by every operation that waits, and by find and contains,
// which wait then, too (not by retrieve_all, nor by what a cuckoo_map adds): in batches, copies beside kernels on instances
// of the call's own. Memory: staging buffers while it runs (docs/hash_map.md); without it smaller ones, then allocation_error.

namespace karpos {

/// Every operation of a map or set that changes, in bulk. Bulk calls on one execution space instance run in order. Calls
/// that return void only enqueue; calls that return a report or a count wait for that instance, and count in memory of the
/// table's own: one of them at a time per table (the _async forms count where you say).
/// Insertions that wait, and apply of a hash_map, may move or compact the table: they run beside nothing that uses it, on
/// other instances or in kernels. The _async forms, erase and refs run beside each other; several host threads may enqueue them.
template <class Storage>
class hash_table : public lookup_table<Storage> {
  using base = lookup_table<Storage>;

 public:
  using base::has_values;
  using typename base::execution_space;
  using typename base::key_type;
  using typename base::mapped_type;
  using typename base::memory_space;
  using hasher = typename Storage::hasher;
  using key_equal = typename Storage::key_equal;
  using options = hash_table_options<key_type>;
  /// What kernels take by value: all operations; and a ref that only reads, faster on GPUs, for kernels during which no
  /// other thread changes the table.
  using ref_type = table_ref<typename Storage::ref_type>;
  using frozen_ref_type = table_reader<typename Storage::ref_type, device::access::frozen>;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;

  /// Inserts pairs whose key is new; of equal keys in one call exactly one is inserted, unspecified which.
  /// `values` is a view as long as keys, or one value for all of them. Returns: how many were inserted, existing, rejected.
  /// Throws std::invalid_argument when a key equals a sentinel: every other key has then been handled. `bulk`: table_options.hpp.
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
  /// Bytes of workspace that an insertion of so many keys takes; 0 where it goes direct.
  std::size_t insert_bytes(execution_space const& exec, std::uint64_t keys,
                           bulk_strategy strategy = bulk_strategy::automatic) const;
  /// As insert, for the keys with predicate(stencil(i)).
  template <view_1d Keys, class Values, view_1d Stencil, class Predicate = detail::as_bool>
    requires has_values
  insert_report insert_if(execution_space const& exec, Keys const& keys, Values const& values,
                          Stencil const& stencil, Predicate const& predicate = {}) {
    return insert_all(exec, "insert_if", keys, values, detail::keep_stored{},
                      detail::stencil_for("keys", keys, stencil, predicate));
  }
  template <view_1d Keys, view_1d Stencil, class Predicate = detail::as_bool>  // a set
    requires(!has_values)
  insert_report insert_if(execution_space const& exec, Keys const& keys, Stencil const& stencil,
                          Predicate const& predicate = {}) {
    return insert_all(exec, "insert_if", keys, no_values{}, detail::keep_stored{},
                      detail::stencil_for("keys", keys, stencil, predicate));
  }
  /// As insert; throws capacity_error when a key did not fit (those that did are in).
  template <view_1d Keys, class... Values>
  insert_report insert_or_throw(execution_space const& exec, Keys const& keys,
                                Values const&... values) {
    insert_report const r = insert(exec, keys, values...);
    if (r.rejected != 0) reject_keys(exec, r.rejected);
    return r;
  }
  /// Inserts pairs or overwrites stored values; of equal keys in one call one value wins, unspecified which.
  template <view_1d Keys, class Values>
    requires has_values
  insert_report insert_or_assign(execution_space const& exec, Keys const& keys,
                                 Values const& values, bulk_options const& bulk = {}) {
    return insert_all(exec, "insert_or_assign", keys, values, detail::take_new{}, every_key{},
                      bulk);
  }
  /// Reduces by key: inserts pairs or replaces stored values by op(stored, value). op is associative and
  /// commutative: karpos::plus, minimum, maximum or a functor (operations.hpp: what it may do).
  /// Merges equal keys with each other first if many are (docs/hash_map.md).
  template <view_1d Keys, class Values, class Op>
    requires has_values
  insert_report insert_or_apply(execution_space const& exec, Keys const& keys, Values const& values,
                                Op const& op, bulk_options const& bulk = {}) {
    return insert_all(exec, "insert_or_apply", keys, values, op, every_key{}, bulk);
  }
  /// Bytes of workspace that insert_or_apply of so many keys may take; 0 where it goes direct.
  std::size_t insert_or_apply_bytes(execution_space const& exec, std::uint64_t keys,
                                    bulk_strategy strategy = bulk_strategy::automatic) const
    requires detail::stores_values<Storage>;

  /// Inserts pairs whose key is new, and writes to out(i) the value that is then stored for keys(i): the one that was there,
  /// or the inserted one; `missing` for a key that was rejected. Returns and throws as insert.
  template <view_1d Keys, class Values, view_1d Out>
    requires has_values
  insert_report find_or_insert(execution_space const& exec, Keys const& keys, Values const& values,
                               Out const& out, mapped_type const& missing = {}) {
    detail::require_same_extent("keys", keys.extent(0), "the output", out.extent(0));
    insert_report const report = insert(exec, keys, values);
    this->find(exec, keys, out, missing);
    exec.fence("karpos::hash_table: the values of find_or_insert");
    return report;
  }

  /// The same without waiting: the report is written to a view when the kernel is done. Keys equal to a sentinel are
  /// counted in report().invalid instead of thrown about.
  template <view_1d Keys, class Values>
    requires has_values
  void insert_async(execution_space const& exec, Keys const& keys, Values const& values,
                    report_view const& report) {
    insert_without_waiting(exec, "insert_async", keys, values, detail::keep_stored{}, report);
  }
  template <view_1d Keys>  // a set
    requires(!has_values)
  void insert_async(execution_space const& exec, Keys const& keys, report_view const& report) {
    insert_without_waiting(exec, "insert_async", keys, no_values{}, detail::keep_stored{}, report);
  }
  template <view_1d Keys, class Values>
    requires has_values
  void insert_or_assign_async(execution_space const& exec, Keys const& keys, Values const& values,
                              report_view const& report) {
    insert_without_waiting(exec, "insert_or_assign_async", keys, values, detail::take_new{},
                           report);
  }
  template <view_1d Keys, class Values, class Op>
    requires has_values
  void insert_or_apply_async(execution_space const& exec, Keys const& keys, Values const& values,
                             Op const& op, report_view const& report) {
    insert_without_waiting(exec, "insert_or_apply_async", keys, values, op, report);
  }

  /// Removes keys; they may be of any type that a query may be of. Returns: how many were there; so it waits.
  template <view_1d Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys);
  /// Removes every key with predicate(key, value), or predicate(key) of a set. Returns: how many; so it waits.
  /// Complexity: reads the table once. The predicate may not throw (operations.hpp).
  template <class Predicate>
  std::uint64_t erase_if(execution_space const& exec, Predicate const& predicate);
  /// As erase, without waiting; the count is written to a view.
  template <view_1d Keys>
  void erase_async(execution_space const& exec, Keys const& keys, erase_view const& report) {
    m_slots_used.may_erase(keys.extent(0));
    enqueue_erasure(exec, keys, report);
  }

  /// Executes insertions, erasures and lookups at once, and writes what became of operations(i), a map_operation, to
  /// results(i), a map_result. Each is linearizable by itself; there is no order between them. Waits for exec.
  /// An insertion of a key that is there changes nothing; a key equal to a sentinel is answered `invalid`. Maps only.
  /// A hash_map compacts itself between batches of operations when erased keys are in the way, so that keys may come and go
  /// for ever while those that are in are at most max_keys.
  /// Complexity: one kernel for as many operations as the table has slots for, whatever they do, or that do not insert. A
  ///   hash_map reads the others once more, counts its slots after each (capacity - max_keys) / 4 erasures at most, and then
  ///   may compact; once ref() was called, it counts slots in every call that inserts.
  /// Requires: both views have the same length (else std::invalid_argument) and are different memory.
  template <view_1d Operations, view_1d Results>
    requires has_values
  void apply(execution_space const& exec, Operations const& operations, Results const& results) {
    detail::require_operations<key_type, mapped_type>(operations, results);
    this->require_memory();
    detail::in_batches(
        exec, operations.extent(0),
        [&](execution_space const& instance, auto const& batch, auto const& results_of_batch) {
          apply_reachable(instance, batch, results_of_batch);
        },
        detail::input{operations}, detail::output{results});
  }
  /// The same in one kernel, without waiting and without compaction: an insertion may be answered `full`.
  /// Concurrency: may run beside anything that refs do in kernels, and beside other calls of apply_async, but not beside
  ///   bulk lookups on another instance, which read a frozen table.
  template <view_1d Operations, view_1d Results>
    requires has_values
  void apply_async(execution_space const& exec, Operations const& operations,
                   Results const& results) {
    detail::require_operations<key_type, mapped_type>(operations, results);
    this->require_memory();
    std::uint64_t const n = operations.extent(0);
    run_operations(exec, operations, results, {n, n});
  }

  /// Removes every key and makes every slot usable again. Asynchronous.
  void clear(execution_space const& exec) {
    m_storage.clear(exec);
    detail::was_cleared(m_storage, m_slots_used);
  }
  /// Moves to a new table for new_max_keys keys, reclaiming erased slots; refs become invalid. Throws
  /// capacity_error, before anything changes, when the keys that are in would not fit. A table over wrapped
  /// memory leaves it and owns its memory from then on.
  void rehash(execution_space const& exec, std::uint64_t new_max_keys);
  /// Slots of erased keys that no insertion uses again before compact, rehash or clear; hopscotch_map has none. Reads the
  /// table once. Waits for exec.
  std::uint64_t tombstones(execution_space const& exec) const
    requires detail::has_tombstones<Storage>
  {
    std::uint64_t live = 0, dead = 0;
    scan_slots(exec, live, dead);
    return dead;
  }
  /// Makes the slots of erased keys usable again, in the memory that the table has; refs stay valid. Waiting insertions do
  /// it when tombstones are in their way; programs that erase in kernels or asynchronously call it. Waits for exec. Throws,
  /// and changes nothing, allocation_error when there is no memory for a copy of the table, and capacity_error when not every
  /// key found a place in it.
  void compact(execution_space const& exec)
    requires detail::has_tombstones<Storage>;

  ref_type ref() const {
    m_slots_used.may_change_unseen();
    return ref_type(detail::forget_order(m_storage).ref());
  }
  frozen_ref_type frozen_ref() const { return frozen_ref_type(m_storage.ref()); }
  /// Number of keys. Complexity: constant as long as only calls that return a report or a count have changed the table,
  /// which owns its memory, and ref() was not called; else (after apply, too) reads the table once. Waits for exec.
  std::uint64_t size(execution_space const& exec) const {
    return capacity() != 0 && m_slots_used.size_is_known() ? m_slots_used.live : base::size(exec);
  }
  bool empty(execution_space const& exec) const { return size(exec) == 0; }
  /// Keys that the table was made for.
  std::uint64_t max_keys() const { return m_storage.settings().max_keys; }
  /// Slots that there are.
  std::uint64_t capacity() const { return m_storage.slot_count(); }
  /// Keys per slot. Waits for exec.
  double load_factor(execution_space const& exec) const {
    return capacity() == 0 ? 0.0
                           : static_cast<double>(size(exec)) / static_cast<double>(capacity());
  }
  /// Whether waiting insertions grow the table when a key finds no place: options.growth.
  bool grows() const {
    return m_storage.settings().options.growth.value_or(
               detail::grows<Storage> ? growth::automatic : growth::fixed) == growth::automatic;
  }
  /// Bytes that a table for max_keys keys at that load takes.
  static std::size_t bytes_for(std::uint64_t max_keys, double load = options{}.load) {
    return Storage::bytes_for(max_keys, load);
  }

  /// Copies src, of any memory space, to dst. Waits. Throws capacity_error if a key finds no place.
  /// If capacities are equal, refs of dst stay valid; if seeds are equal too, so do frozen refs.
  template <class Other>
    requires requires(Storage& to, execution_space const& e, Other const& o) { to.copy_from(e, o); }
  friend void deep_copy(execution_space const& exec, hash_table& dst,
                        hash_table<Other> const& src) {
    dst.copy_from(exec, src);
  }

 protected:
  using base::label;
  using base::m_storage;
  /// Without memory. Its size, capacity and max_keys are 0; it can be assigned to, and be the destination of deep_copy;
  /// other operations on keys throw std::logic_error.
  explicit hash_table(char const* name) : base(Storage(name)) {}
  hash_table(execution_space const& exec, char const* name, std::uint64_t max_keys,
             options const& o, hasher const& hash, key_equal const& equal,
             std::optional<wrapped_memory> memory);
  hash_table(hash_table&& other);
  hash_table& operator=(hash_table&& other);

 private:
  template <class>
  friend class hash_table;
  using table_type = typename Storage::ref_type;
  using no_values = detail::constant<mapped_type>;
  static constexpr int distance = Storage::prefetch_distance;
  using every_key = detail::everything;

  template <class Keys>
  void enqueue_erasure(execution_space const& exec, Keys const& keys,
                       erase_view const& report) const {
    detail::require_reachable<execution_space, Keys>();
    this->require_memory();
    m_storage.with_erasure_ref(exec, [&](auto const& table) {
      device::tally_each_staged<distance>(label("erase"), exec, keys.extent(0),
                                          detail::make_erase_body<distance>(table, keys), report);
    });
  }
  /// Inserts or merges, and counts the outcomes in a view. Asynchronous.
  template <class Rows>
  void enqueue(execution_space const& exec, Storage const& into, Rows const& rows,
               report_view const& report) const;
  template <class Keys, class Values, class Combine>
  void insert_without_waiting(execution_space const& exec, char const* what, Keys const& keys,
                              Values const& values, Combine const& combine,
                              report_view const& report) {
    enqueue(exec, m_storage, detail::insertion{what, keys, values, combine, every_key{}}, report);
    m_slots_used.may_insert(keys.extent(0));
  }
  template <class Keys, class Values, class Combine, class Stencil>
  insert_report insert_all(execution_space const& exec, char const* what, Keys const& keys,
                           Values const& values, Combine const& combine, Stencil const& stencil,
                           bulk_options const& bulk = {});
  template <class Rows>
  insert_report insert_reachable(execution_space const& exec, Rows const& rows,
                                 bulk_options const& bulk);
  template <class Rows>
  bool is_reduced(execution_space const& exec, Rows const& rows, bulk_options const& bulk,
                  insert_report& report);
  template <class Rows>
  bool is_worth_reducing(execution_space const& exec, Rows const& rows, bulk_strategy strategy);
  template <class Rows, class Reduction>
  insert_report insert_reduced(execution_space const& exec, Rows const& rows,
                               Reduction const& reduction);
  template <class Rows>
  insert_report insert_each(execution_space const& exec, Rows const& rows,
                            bulk_options const& bulk);
  template <class Rows>
  insert_report insert_part(execution_space const& exec, Rows const& rows, bulk_options const& bulk,
                            std::uint64_t rows_behind);
  template <class Rows>
  bool is_inserted_by_page(execution_space const& exec, Rows const& rows, bulk_options const& bulk,
                           insert_report& report);
  std::uint64_t next_part(execution_space const& exec, double share_of_new, std::uint64_t left);
  template <class Rows>
  void insert_rejected(execution_space const&, Rows const&, insert_report&, std::uint64_t coming);
  void note_refusals(execution_space const&);
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
  /// Slots in use up to which insertions do not probe far: half of those that are there beyond max_keys.
  std::uint64_t slots_to_use() const { return (max_keys() + capacity()) / 2; }
  /// Tombstones that are left alone: half of those slots, so that as many keys find one when max_keys are in.
  std::uint64_t tombstones_to_keep() const { return (capacity() - max_keys()) / 4; }
  bool has_room_for(detail::operation_counts const& counts) const;
  void make_room_for(execution_space const& exec, std::uint64_t more);
  void scan_slots(execution_space const& exec, std::uint64_t& live, std::uint64_t& dead) const;
  void count_slots(execution_space const& exec, std::uint64_t& live, std::uint64_t& dead);
  bool try_compact(execution_space const& exec);
  bool try_grow(execution_space const& exec, std::uint64_t new_max_keys);
  void compact_before(execution_space const& exec, std::uint64_t more);
  std::optional<Storage> roomier(execution_space const&, std::uint64_t more, std::uint64_t coming);
  std::optional<Storage> grown(execution_space const&, std::uint64_t max_keys, std::uint64_t keys);
  Storage rebuilt(execution_space const&, char const* what, std::uint64_t max_keys, bool gives_up);
  void adopt(execution_space const& exec, Storage&& roomier);
  void move_to(Storage&& fresh);
  /// What deep_copy does, which is a friend of one hash_table only: they all are friends of each other.
  template <class Other>
  void copy_from(execution_space const& exec, hash_table<Other> const& src);

  // Where kernels count for calls that wait for a report: allocated once, so that no call allocates.
  report_view m_insert_report;
  erase_view m_erase_report;
  mutable detail::slots_used m_slots_used;
};

}  // namespace karpos

#include "karpos/detail/bulk_insertion.hpp"
#include "karpos/detail/hash_table.hpp"
