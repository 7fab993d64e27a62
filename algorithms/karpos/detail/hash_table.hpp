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
}  // namespace detail

template <class Storage>
hash_table<Storage>::hash_table(execution_space const& exec, char const* name,
                                std::uint64_t max_keys, options const& o, hasher const& hash,
                                key_equal const& equal, std::optional<wrapped_memory> memory)
    : base(Storage(exec, {name, max_keys, o, hash, equal}, memory)),
      m_changed_unseen(memory.has_value()) {
  make_reports(exec);
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
  if constexpr (!detail::has_tombstones<Storage> && !detail::repeatable<Combine>) return;
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

/// The same, and remembers the sum.
template <class Storage>
void hash_table<Storage>::count_slots(execution_space const& exec, std::uint64_t& live,
                                      std::uint64_t& dead) {
  scan_slots(exec, live, dead);
  m_slots_used.most = live + dead;
  m_slots_used.erased = dead != 0;
}

/// Compacts the table if there is memory for it, and every key finds a place. Returns: whether it did.
template <class Storage>
bool hash_table<Storage>::compacted(execution_space const& exec) {
  try {
    adopt(exec, rebuilt(exec, "compact", max_keys()));
    return true;
  } catch (allocation_error const&) {
    return false;
  } catch (capacity_error const&) {
    return false;
  }
}

/// Compacts a table of which erased keys hold slots, before `more` keys take more than slots_to_use: insertions then probe
/// far. Without memory for it they do so, and are right all the same.
template <class Storage>
void hash_table<Storage>::compact_before(execution_space const& exec, std::uint64_t more) {
  if constexpr (detail::has_tombstones<Storage>) {
    if (!m_slots_used.erased || m_slots_used.most + more <= slots_to_use()) return;
    std::uint64_t live = 0, dead = 0;
    count_slots(exec, live, dead);
    if (dead != 0 && live + dead + more > slots_to_use()) compacted(exec);
  }
}

/// How many operations, of those that are left, may run in one kernel before slots must be counted again. Compacts the table
/// when erased keys hold half of the slots that it may use beside its keys.
template <class Storage>
std::uint64_t hash_table<Storage>::room_for(execution_space const& exec, std::uint64_t operations) {
  if constexpr (!detail::has_tombstones<Storage>) return operations;
  std::uint64_t const limit = slots_to_use();
  if (!m_changed_unseen && m_slots_used.most + operations <= limit) return operations;
  std::uint64_t live = 0, dead = 0;
  count_slots(exec, live, dead);
  if (live >= limit) return operations;  // more keys than it was made for: no compaction would help
  if (2 * dead > limit - live && compacted(exec)) dead = 0;
  return live + dead < limit ? Kokkos::min(operations, limit - live - dead) : operations;
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
    return rebuilt(exec, "rehash", 2 * Kokkos::max(held, max_keys()) + more);
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
  m_slots_used.erased = false;
}

/// Makes another memory the table's, which no ref knows.
template <class Storage>
void hash_table<Storage>::move_to(Storage&& fresh) {
  m_storage = std::move(fresh);
  m_slots_used.erased = m_changed_unseen = false;
  m_slots_used.exact = true;
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
  m_slots_used.most = m_slots_used.live = n;
  return fresh;
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
