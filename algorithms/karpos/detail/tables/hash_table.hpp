// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/tables/scans.hpp"
#include "karpos/detail/tables/table_memory.hpp"
#include "karpos/hash_table.hpp"

// Implementation of hash_table (karpos/hash_table.hpp): growth, compaction, rehash, erasures and
// mixed operations. Insertions: hash_table_insertion.hpp.

namespace karpos {

template <class Storage>
hash_table<Storage>::hash_table(execution_space const& exec, std::uint64_t max_keys,
                                options const& o, hasher const& hash, key_equal const& equal,
                                std::optional<wrapped_memory> memory, detail::user_call const&)
    : base(Storage(exec, {max_keys, detail::with_seed(o, memory.has_value()), hash, equal},
                   memory)) {
  m_slots_used.exposed = memory.has_value();
  make_reports(exec);
}

// A moved-from Kokkos::View keeps its pointer. So the reports are exchanged for empty ones: two
// tables must not share them.
template <class Storage>
hash_table<Storage>::hash_table(hash_table&& other)
    : base(std::move(other)),
      m_insert_report(std::exchange(other.m_insert_report, {})),
      m_erase_report(std::exchange(other.m_erase_report, {})),
      m_slots_used(std::exchange(other.m_slots_used, {})) {}

template <class Storage>
auto hash_table<Storage>::operator=(hash_table&& other) -> hash_table& {
  if (this == &other) return *this;
  base::operator=(std::move(other));
  m_insert_report = std::exchange(other.m_insert_report, {});
  m_erase_report = std::exchange(other.m_erase_report, {});
  m_slots_used = std::exchange(other.m_slots_used, {});
  return *this;
}

/// Allocates the counters of blocking calls, unless they exist.
template <class Storage>
void hash_table<Storage>::make_reports(execution_space const& exec) {
  if (m_insert_report.data() != nullptr) return;
  using Kokkos::view_alloc, Kokkos::WithoutInitializing;
  m_insert_report = report_view(view_alloc(exec, WithoutInitializing, label("insert_report")));
  m_erase_report = erase_view(view_alloc(exec, WithoutInitializing, label("erase_report")));
}

template <class Storage>
insert_report hash_table<Storage>::read_report(execution_space const& exec) const {
  return detail::read_back(exec, m_insert_report.data(),
                           "karpos::hash_table: report of an insertion");
}

template <class Storage>
auto hash_table<Storage>::ref() const -> ref_type {
  this->require_memory("ref");
  m_slots_used.mark_exposed();
  m_storage.invalidate_order();
  return ref_type(m_storage.ref());
}
template <class Storage>
auto hash_table<Storage>::frozen_ref() const -> frozen_ref_type {
  this->require_memory("frozen_ref");
  return frozen_ref_type(m_storage.ref());
}

template <class Storage>
template <view_1d Keys>
std::uint64_t hash_table<Storage>::erase(execution_space const& exec, Keys const& keys,
                                         bulk_options const& bulk) {
  detail::user_call const call(Storage::name, "erase");
  detail::require_enumerators(bulk.strategy);
  this->require_memory();
  std::uint64_t n = 0;
  detail::in_batches(
      exec, keys.extent(0),
      [&](execution_space const& instance, auto const& batch) {
        std::uint64_t const erased =
            erase_reachable(instance, batch, detail::options_of_batch(exec, instance, bulk));
        m_slots_used.add_erased(erased);
        n += erased;
      },
      detail::input{keys});
  return n;
}

/// Erases keys in a view that kernels reach. Returns how many were erased.
template <class Storage>
template <class Keys>
std::uint64_t hash_table<Storage>::erase_reachable(execution_space const& exec, Keys const& keys,
                                                   bulk_options const& bulk) const {
  // Hopscotch tables have no tombstones, and erase directly (H100: 8.9 G/s, by regions 8.6).
  if constexpr (Storage::has_tombstones) {
    erase_report done;
    if (this->try_by_regions(exec, "erase", m_storage.ref(), keys, bulk,
                             detail::max_table_bytes_per_change,
                             detail::erase_rows<table_type>{m_storage.ref()}, done))
      return done.erased;
  }
  enqueue_erasure(exec, keys, m_erase_report);
  return detail::read_back(exec, m_erase_report.data(), "karpos::hash_table: report of an erasure")
      .erased;
}

template <class Storage>
template <class Predicate>
std::uint64_t hash_table<Storage>::erase_if(execution_space const& exec,
                                            Predicate const& predicate) {
  detail::user_call const call(Storage::name, "erase_if");
  this->require_memory();
  std::uint64_t n = 0;
  m_storage.with_erasure_ref(exec, capacity(), [&](auto const& table) {
    n = device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        label("erase_if"), exec, capacity(),
        device::make_body<execution_space, detail::erase_if_body>(table, predicate));
  });
  if constexpr (Storage::tracks_free_slots)  // by a kernel after the reduction, perhaps
    exec.fence("karpos::hash_table: erase_if");
  m_slots_used.add_erased(n);
  return n;
}

/// Counts the slots, and remembers the counts. Blocks.
template <class Storage>
detail::slot_counts hash_table<Storage>::count_slots(execution_space const& exec) {
  detail::slot_counts const n = this->scan_slots(exec);
  m_slots_used.set_counts(n.live, n.dead);
  return n;
}

/// Returns whether operations may run in one kernel before slots are counted again: if their
/// insertions fit into slots_to_use(), or tombstones, together with their erasures, are few.
template <class Storage>
bool hash_table<Storage>::has_slots_for(detail::operation_counts const& counts) const {
  return m_slots_used.taken + counts.insertions <= slots_to_use() ||
         m_slots_used.erased + counts.erasures <= tombstones_to_keep();
}

/// Counts the slots, and compacts the table if tombstones leave too few slots for `more` keys. If
/// that fails, insertions probe far, but are correct.
template <class Storage>
void hash_table<Storage>::compact_before(execution_space const& exec, std::uint64_t more) {
  count_slots(exec);
  if (has_slots_for({more, 0})) return;
  try {
    adopt(exec, rebuilt_copy(exec, "compact", max_keys(), false));
  } catch (allocation_error const&) {
  } catch (capacity_error const&) {
  }
}

/// Computes how many of `size` operations from `first` on may run in one kernel (sets `size`), and
/// compacts the table if they need it. Returns upper bounds of the insertions and erasures among
/// them. If more than max_keys keys are stored, halving ends where it would end with max_keys.
template <class Storage>
template <class Operations>
detail::operation_counts hash_table<Storage>::next_batch(execution_space const& exec,
                                                         Operations const& operations,
                                                         std::uint64_t first, std::uint64_t& size) {
  detail::operation_counts n{size, size};
  if constexpr (Storage::has_tombstones) {
    if (!m_slots_used.exposed && has_slots_for(n)) return n;
    auto const count = [&] {
      Kokkos::parallel_reduce(label("count operations"), detail::index_range(exec, size),
                              detail::count_operations_body<Operations>{operations, first},
                              n.insertions, n.erasures);
    };
    count();
    if (n.insertions == 0) return n;
    if (m_slots_used.exposed || !has_slots_for(n)) compact_before(exec, n.insertions);
    std::uint64_t const few = Kokkos::max(tombstones_to_keep(), std::uint64_t(1));
    while (n.insertions > few && !has_slots_for(n)) {
      size /= 2;
      count();
    }
  }
  return n;
}

/// Executes operations in views that kernels reach. Between its kernels the table may be compacted.
template <class Storage>
template <class Operations, class Results>
void hash_table<Storage>::apply_reachable(execution_space const& exec, Operations const& operations,
                                          Results const& results) {
  std::uint64_t const n = operations.extent(0);
  std::uint64_t size = n;
  for (std::uint64_t first = 0; first < n; first += size, size *= 2) {
    size = Kokkos::min(size, n - first);
    detail::operation_counts const counts = next_batch(exec, operations, first, size);
    auto const batch = std::pair(first, first + size);
    run_operations(exec, Kokkos::subview(operations, batch), Kokkos::subview(results, batch),
                   counts);
  }
  exec.fence("karpos::hash_table: the results of apply");
}

template <class Storage>
template <class Operations, class Results>
void hash_table<Storage>::run_operations(execution_space const& exec, Operations const& operations,
                                         Results const& results,
                                         detail::operation_counts const& counts) {
  detail::require_reachable<execution_space, Operations, Results>();
  m_slots_used.add_possible_insertions(counts.insertions);
  m_slots_used.add_possible_erasures(counts.erasures);
  m_storage.invalidate_order();
  if constexpr (Storage::eager_marks) m_storage.invalidate_rebuilt_marks();
  table_type const table = m_storage.ref();
  device::for_each_staged<distance>(
      label("apply"), exec, operations.extent(0),
      detail::make_keyed_body<detail::apply_body, distance>(table, operations, results));
}

/// Returns a copy with free slots for `more` keys: a larger one if the table grows, else one
/// without tombstones. `expected_keys` is the number of new keys that are still expected in this
/// call. Returns nothing if the table does not grow and has no tombstones, or no memory for a copy
/// without them, or if the table already has 16 slots for each key, including expected ones.
template <class Storage>
std::optional<Storage> hash_table<Storage>::copy_with_free_slots(execution_space const& exec,
                                                                 std::uint64_t more,
                                                                 std::uint64_t expected_keys) {
  auto const [held, dead] = count_slots(exec);
  bool const compacts = dead != 0 && (!grows() || held + more <= max_keys());
  if (compacts) {
    try {
      return rebuilt_copy(exec, "compact", max_keys(), false);
    } catch (allocation_error const&) {
      if (grows()) throw;
    } catch (capacity_error const&) {
    }
  }
  if (!grows() || detail::ends_growth(capacity(), held + more + expected_keys)) return {};
  std::uint64_t const twice = 2 * Kokkos::max(Kokkos::max(held, max_keys()), std::uint64_t(1));
  return larger_copy(exec, twice + Kokkos::min(more, twice),  // some of these are equal
                     held + more + expected_keys);
}

/// Returns a copy for new_max_keys keys. If keys find no slot in it because their hashes crowd,
/// tries twice as many keys, and so on, until there are 16 slots for each of `keys` keys; then
/// returns nothing. Throws allocation_error.
template <class Storage>
std::optional<Storage> hash_table<Storage>::larger_copy(execution_space const& exec,
                                                        std::uint64_t new_max_keys,
                                                        std::uint64_t keys) {
  for (;; new_max_keys *= 2) {
    try {
      return rebuilt_copy(exec, "rehash", new_max_keys, true);
    } catch (capacity_error const&) {
    }
    if (detail::ends_growth(detail::slots_for(new_max_keys, m_storage.settings().options.load),
                            keys))
      return {};
  }
}

/// Replaces the table by `fresh`. If sizes are equal, copies it into the memory that refs point to.
template <class Storage>
void hash_table<Storage>::adopt(execution_space const& exec, Storage&& fresh) {
  if (fresh.slot_count() != capacity()) {
    m_storage = std::move(fresh);
    m_slots_used.exposed = false;
    return;
  }
  m_storage.copy_from(exec, fresh);
  if (m_slots_used.exposed) m_storage.invalidate_order();
  exec.fence("karpos::hash_table: the copy that a table was compacted in is freed");
}

namespace detail {
/// Inserts the keys of a storage into another one, and counts them in `report`. If `refused` is
/// given, it counts keys without a slot, and the insertion stops after the first one.
template <class Storage, class Report>
void reinsert(typename Storage::execution_space const& exec, char const* what, Storage const& from,
              Storage const& to, Report const& report, erase_report* refused) {
  to.invalidate_order();
  constexpr int ahead = Storage::prefetch_distance;
  device::tally_each_staged<ahead>(
      from.label(what), exec, from.slot_count(),
      reinsert_body<ahead, typename Storage::ref_type>(from.ref(), to.ref(), refused), report);
}
/// Returns the number of keys of an insertion of distinct keys. Throws capacity_error with this
/// message if some of them found no slot.
inline std::uint64_t require_all_inserted(insert_report const& r, char const* message) {
  std::uint64_t const n = r.inserted + r.rejected;
  if (r.rejected != 0) throw capacity_error(message, n, r.inserted, 2 * n);
  return n;
}
}  // namespace detail

/// Returns a copy for another number of keys, without tombstones. Throws capacity_error if a key
/// finds no slot; if fail_fast is set, as soon as one has found none.
template <class Storage>
Storage hash_table<Storage>::rebuilt_copy(execution_space const& exec, char const* what,
                                          std::uint64_t new_max_keys, bool fail_fast) {
  Kokkos::Profiling::ScopedRegion const region(label(what));
  auto settings = m_storage.settings();
  settings.max_keys = new_max_keys;
  Storage fresh(exec, settings);
  insert_report report;
  if (!try_reinsert_segments(exec, what, fresh, report)) {
    erase_report* const refused = fail_fast ? m_erase_report.data() : nullptr;
    if (fail_fast)
      detail::fill_with(label("clear refused"), exec, &refused->erased, 1,
                        detail::constant<std::uint64_t>{0});
    detail::reinsert(exec, what, m_storage, fresh, m_insert_report, refused);
    report = read_report(exec);
  }
  m_slots_used.set_counts(detail::require_all_inserted(report, "no slot for some keys"), 0);
  return fresh;
}

/// Copies the slots. If the source has another seed and refs of this table may exist, inserts the
/// keys instead, at the places of this table's seed: refs probe there. Counts the slots, because
/// refs of the source may have changed them.
template <class Storage>
template <class Other>
void hash_table<Storage>::copy_from(execution_space const& exec, hash_table<Other> const& src) {
  detail::user_call const call("deep_copy");
  make_reports(exec);
  std::uint64_t const seed = m_storage.settings().seed;
  bool const keeps_memory = capacity() == src.capacity();
  if (m_slots_used.exposed && keeps_memory && seed != src.m_storage.settings().seed) {
    Storage copy(exec, m_storage.settings());
    copy.copy_from(exec, src.m_storage);
    auto settings = copy.settings();
    settings.seed = seed;
    Storage reseeded(exec, settings);
    detail::reinsert(exec, "deep_copy", copy, reseeded, m_insert_report, nullptr);
    detail::require_all_inserted(read_report(exec), "no slot for some keys where refs probe");
    adopt(exec, std::move(reseeded));
  } else {
    m_storage.copy_from(exec, src.m_storage);
    if (!keeps_memory) m_slots_used.exposed = false;  // no ref points to the new memory
  }
  if (m_slots_used.exposed) m_storage.invalidate_order();
  if constexpr (Storage::eager_marks)
    if (src.m_slots_used.exposed) m_storage.invalidate_rebuilt_marks();
  count_slots(exec);
  exec.fence("karpos::deep_copy: the source may change once this returns");
}

template <class Storage>
void hash_table<Storage>::rehash(execution_space const& exec, std::uint64_t new_max_keys) {
  detail::user_call const call(Storage::name, "rehash");
  this->require_memory();
  std::uint64_t const n = this->size(exec);
  if (new_max_keys < n) throw capacity_error("the stored keys would not fit", n, new_max_keys, n);
  m_storage = rebuilt_copy(exec, "rehash", new_max_keys, false);
  m_slots_used.exposed = false;
}

template <class Storage>
void hash_table<Storage>::compact(execution_space const& exec)
  requires(Storage::has_tombstones)
{
  detail::user_call const call(Storage::name, "compact");
  this->require_memory();
  adopt(exec, rebuilt_copy(exec, "compact", max_keys(), false));
}

}  // namespace karpos
