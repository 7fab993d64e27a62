// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "karpos/map.hpp"

// How hash_table (map.hpp) does it: insertion into a full table, growth, compaction, rehash.

namespace karpos {

namespace detail {
/// Whether an insertion that is done twice for a key leaves what it leaves when it is done once.
template <class Combine>
inline constexpr bool repeatable =
    std::is_same_v<Combine, keep_stored> || std::is_same_v<Combine, take_new>;
/// Whether such an insertion may move a table that grows: the keys that found no place are known then.
template <class Storage, class Combine>
inline constexpr bool may_move = has_tombstones<Storage> || repeatable<Combine>;
}  // namespace detail

template <class Storage>
hash_table<Storage>::hash_table(execution_space const& exec, char const* name,
                                std::uint64_t max_keys, options const& o, hasher const& hash,
                                key_equal const& equal, std::optional<wrapped_memory> memory)
    : base(Storage(exec, {name, max_keys, o, hash, equal}, memory)) {
  m_slots_used.unseen = memory.has_value();
  make_reports(exec);
}

// A table that was moved from has no reports either: a view that was moved from would keep its pointer.
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

/// Allocates what calls that wait count in, unless it is there.
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

/// Inserts the keys of a bulk call. A table that grows takes them in parts: that a key finds no place shows after a search of
/// its whole path only, so the table grows before.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
insert_report hash_table<Storage>::insert_all(execution_space const& exec, char const* what,
                                              Keys const& keys, Values const& values,
                                              Combine const& combine, Stencil const& stencil) {
  this->require_memory();
  auto const each = detail::values_for<execution_space, mapped_type>(keys, values);
  bool const in_parts = detail::may_move<Storage, Combine> && grows();
  std::uint64_t const n = keys.extent(0);
  std::uint64_t first = 0, last = n;
  insert_report all;
  double share = 0;  // of new keys in the part before
  do {
    if (in_parts) last = first + next_part(exec, share, n - first);
    insert_report const part = insert_part(exec, what, detail::part_of(keys, first, last),
                                           detail::part_of(each, first, last), combine,
                                           detail::part_of(stencil, first, last));
    share = static_cast<double>(part.inserted + 1) / static_cast<double>(last - first + 1);
    all += part;
    first = last;
  } while (first < n);
  detail::reject_invalid(all, n);
  return all;
}

/// How many of the keys that are left are inserted next: those that the table has room for, given the share of new ones in
/// the part before, or 0 where there was none. Doubles a table that holds max_keys when it expects more than it has room for.
template <class Storage>
std::uint64_t hash_table<Storage>::next_part(execution_space const& exec, double share,
                                             std::uint64_t left) {
  if (left <= tombstones_to_keep()) return left;
  std::uint64_t const live = this->size(exec);
  auto const room = [&] { return slots_to_use() - Kokkos::min(live, slots_to_use() - 1); };
  if (live >= max_keys() && share * static_cast<double>(left) > static_cast<double>(room()))
    is_rebuilt(exec, "rehash", 2 * live);
  double const part = static_cast<double>(room()) / (share > 0 ? share : 1);
  return part < static_cast<double>(left) ? static_cast<std::uint64_t>(part) : left;
}

template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
insert_report hash_table<Storage>::insert_part(execution_space const& exec, char const* what,
                                               Keys const& keys, Values const& values,
                                               Combine const& combine, Stencil const& stencil) {
  make_room_for(exec, keys.extent(0));
  enqueue(exec, what, m_storage, keys, values, combine, stencil, m_insert_report);
  insert_report report = read_report(exec);
  m_slots_used.inserted(report.inserted);
  if (report.rejected != 0) insert_rejected(exec, what, keys, values, combine, stencil, report);
  return report;
}

/// Inserts the keys that found no place into a roomier copy of the table, which then is the table; as often as there is
/// one to be had. `report` becomes that of all keys. Merging a value twice would be wrong: of those, the keys that are not
/// in the table are merged into the copy. In open addressing that is all rejected ones, for a full path stays full, so
/// that equal keys meet the same end; not in hopscotch hashing, where their keys stay rejected.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
void hash_table<Storage>::insert_rejected(execution_space const& exec, char const* what,
                                          Keys const& keys, Values const& values,
                                          Combine const& combine, Stencil const& stencil,
                                          insert_report& report) {
  if constexpr (!detail::may_move<Storage, Combine>) return;
  while (report.rejected != 0) {
    auto table = roomier(exec, report.rejected);
    if (!table) return;
    if constexpr (detail::repeatable<Combine>) {
      enqueue(exec, what, *table, keys, values, combine, stencil, m_insert_report);
    } else {
      detail::absent_from<table_type, Keys, Stencil> const rejected{m_storage.ref(), keys, stencil};
      enqueue(exec, what, *table, keys, values, combine, rejected, m_insert_report);
    }
    insert_report const again = read_report(exec);
    adopt(exec, std::move(*table));
    m_slots_used.inserted(again.inserted);
    report.inserted += again.inserted;
    report.existing += report.rejected - again.inserted - again.rejected;
    report.rejected = again.rejected;
    if (again.inserted == 0) return;
  }
}

/// Counts the slots of keys and those of erased keys.
template <class Storage>
void hash_table<Storage>::scan_slots(execution_space const& exec, std::uint64_t& live,
                                     std::uint64_t& dead) const {
  auto const table = m_storage.scan_ref();
  live = dead = 0;
  Kokkos::parallel_reduce(label("count slots"), detail::index_range(exec, capacity()),
                          detail::count_slots_body<decltype(table)>{table}, live, dead);
}

/// The same, and remembers them.
template <class Storage>
void hash_table<Storage>::count_slots(execution_space const& exec, std::uint64_t& live,
                                      std::uint64_t& dead) {
  scan_slots(exec, live, dead);
  m_slots_used.counted(live, dead);
}

/// Compacts the table, or makes it larger, if there is memory for it, and every key finds a place. Returns: whether it did.
template <class Storage>
bool hash_table<Storage>::is_rebuilt(execution_space const& exec, char const* what,
                                     std::uint64_t new_max_keys) {
  try {
    adopt(exec, rebuilt(exec, what, new_max_keys));
    return true;
  } catch (allocation_error const&) {
    return false;
  } catch (capacity_error const&) {
    return false;
  }
}

/// Whether so many operations may run in one kernel before slots are counted again: if they insert no more than there are
/// slots to use, or if tombstones, together with the keys that they erase, are few.
template <class Storage>
bool hash_table<Storage>::has_room_for(detail::operation_counts const& counts) const {
  return m_slots_used.taken + counts.insertions <= slots_to_use() ||
         m_slots_used.erased + counts.erasures <= tombstones_to_keep();
}

/// Counts the slots, and compacts the table if tombstones are in the way of `more` keys. Where there is no memory for that,
/// insertions probe far, and are right all the same.
template <class Storage>
void hash_table<Storage>::compact_before(execution_space const& exec, std::uint64_t more) {
  std::uint64_t live = 0, dead = 0;
  count_slots(exec, live, dead);
  if (!has_room_for({more, 0})) is_rebuilt(exec, "compact", max_keys());
}

/// Before an insertion of `more` keys. Kernels may have left tombstones unseen; many keys are worth a count.
template <class Storage>
void hash_table<Storage>::make_room_for(execution_space const& exec, std::uint64_t more) {
  if constexpr (detail::has_tombstones<Storage>) {
    bool const counts = m_slots_used.unseen && more > tombstones_to_keep();
    if (counts || !has_room_for({more, 0})) compact_before(exec, more);
  }
}

/// Finds out how many of `size` operations from `first` on may run in one kernel, and makes room for them. Returns: how many
/// of these insert and erase, at most. When more than max_keys keys are in, no batch is small enough: the loop ends where it
/// would end with max_keys.
template <class Storage>
template <class Operations>
detail::operation_counts hash_table<Storage>::next_batch(execution_space const& exec,
                                                         Operations const& operations,
                                                         std::uint64_t first, std::uint64_t& size) {
  detail::operation_counts n{size, size};
  if constexpr (detail::has_tombstones<Storage>) {
    if (!m_slots_used.unseen && has_room_for(n)) return n;
    auto const count = [&] {
      Kokkos::parallel_reduce(label("count operations"), detail::index_range(exec, size),
                              detail::count_operations_body<Operations>{operations, first},
                              n.insertions, n.erasures);
    };
    count();
    if (n.insertions == 0) return n;
    if (m_slots_used.unseen || !has_room_for(n)) compact_before(exec, n.insertions);
    std::uint64_t const few = Kokkos::max(tombstones_to_keep(), std::uint64_t(1));
    while (n.insertions > few && !has_room_for(n)) {
      size /= 2;
      count();
    }
  }
  return n;
}

template <class Storage>
template <class Operations, class Results>
void hash_table<Storage>::run_operations(execution_space const& exec, Operations const& operations,
                                         Results const& results,
                                         detail::operation_counts const& counts) {
  using body = detail::apply_body<distance, table_type, Operations, Results>;
  m_slots_used.may_insert(counts.insertions);
  m_slots_used.may_erase(counts.erasures);
  device::for_each_staged<distance>(label("apply"), exec, operations.extent(0),
                                    body{m_storage.ref(), operations, results});
}

/// Returns: a copy of the table that has room for `more` keys: without the tombstones that are in the way or, of a table
/// that grows, larger. None if there is none: no tombstones and no growth; 16 slots for each key already (the keys share a
/// hash); a copy in which not every key found a place; no memory to compact a table that does not grow.
template <class Storage>
std::optional<Storage> hash_table<Storage>::roomier(execution_space const& exec,
                                                    std::uint64_t more) {
  std::uint64_t held = 0, dead = 0;
  count_slots(exec, held, dead);
  bool const compacts = dead != 0 && (!grows() || held + more <= max_keys());
  if (!compacts && (!grows() || capacity() / 16 >= held + more)) return {};
  try {
    if (compacts) return rebuilt(exec, "compact", max_keys());
    std::uint64_t const twice = 2 * Kokkos::max(held, max_keys());
    return rebuilt(exec, "rehash", twice + Kokkos::min(more, twice));  // some of these are equal
  } catch (allocation_error const&) {
    if (grows()) throw;
    return {};
  } catch (capacity_error const&) {
    return {};
  }
}

/// Makes a roomier copy the table. One of the same size is copied back into the memory that refs know.
template <class Storage>
void hash_table<Storage>::adopt(execution_space const& exec, Storage&& roomier) {
  if (roomier.slot_count() != capacity()) return move_to(std::move(roomier));
  m_storage.copy_from(exec, roomier);
  exec.fence("karpos::hash_table: the copy that a table was compacted in is freed");
}

/// Makes another memory the table's, which no ref knows.
template <class Storage>
void hash_table<Storage>::move_to(Storage&& fresh) {
  m_storage = std::move(fresh);
  m_slots_used.unseen = false;
}

/// Returns: a copy for another number of keys, without tombstones. Throws capacity_error if not every key found a place.
template <class Storage>
Storage hash_table<Storage>::rebuilt(execution_space const& exec, char const* what,
                                     std::uint64_t new_max_keys) {
  Kokkos::Profiling::ScopedRegion const region(label(what));
  Storage fresh(exec, m_storage.settings().with_max_keys(new_max_keys));
  device::tally_each_staged<0>(label(what), exec, m_storage.slot_count(),
                               detail::reinsert_body<table_type>{m_storage.ref(), fresh.ref()},
                               m_insert_report);
  insert_report const report = read_report(exec);
  std::uint64_t const n = report.inserted + report.rejected;
  if (report.rejected != 0)
    throw capacity_error(m_storage.settings().name + "::" + what + " found no place for some keys",
                         n, report.inserted, 2 * n);
  m_slots_used.counted(n, 0);
  return fresh;
}

/// The slots are counted in the copy: refs may have changed the source unseen.
template <class Storage>
template <class Other>
void hash_table<Storage>::copy_from(execution_space const& exec, hash_table<Other> const& src) {
  m_storage.copy_from(exec, src.m_storage);
  make_reports(exec);
  std::uint64_t live = 0, dead = 0;
  count_slots(exec, live, dead);
  exec.fence("karpos::deep_copy: the source may change once this returns");
}

template <class Storage>
void hash_table<Storage>::rehash(execution_space const& exec, std::uint64_t new_max_keys) {
  this->require_memory();
  std::uint64_t const n = this->size(exec);
  if (new_max_keys < n)
    throw capacity_error(m_storage.settings().name + "::rehash would not hold the keys that are in",
                         n, new_max_keys, n);
  move_to(rebuilt(exec, "rehash", new_max_keys));
}

template <class Storage>
void hash_table<Storage>::compact(execution_space const& exec)
  requires detail::has_tombstones<Storage>
{
  this->require_memory();
  adopt(exec, rebuilt(exec, "compact", max_keys()));
}

}  // namespace karpos
