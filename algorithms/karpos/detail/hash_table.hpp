// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "karpos/map.hpp"

// How hash_table (map.hpp) does it: insertion in bulk, growth, rehash.

namespace karpos {

namespace detail {
/// Whether bulk insertions into a full table rehash it: a storage says so by a constant of that name.
template <class Storage>
inline constexpr bool grows = requires { requires Storage::grows; };
}  // namespace detail

template <class Storage>
hash_table<Storage>::hash_table(execution_space const& exec, char const* name,
                                std::uint64_t max_keys, options const& o, hasher const& hash,
                                key_equal const& equal, std::optional<wrapped_memory> memory)
    : base(Storage(exec, {name, max_keys, o, hash, equal}, memory)),
      m_insert_report(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("insert_report"))),
      m_erase_report(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("erase_report"))) {
}

/// Inserts or merges, and counts the outcomes in a view. Asynchronous.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
void hash_table<Storage>::enqueue(execution_space const& exec, char const* what, Keys const& keys,
                                  Values const& values, Combine const& combine,
                                  Stencil const& stencil, report_view const& report) const {
  detail::require_reachable<execution_space, Keys>();
  detail::require_key_type<key_type, Keys>();
  auto const each_value = detail::values_for<execution_space, mapped_type>(keys, values);
  using body = detail::insert_body<distance, table_type, Keys, std::decay_t<decltype(each_value)>,
                                   Combine, Stencil>;
  device::tally_each_staged<distance>(label(what), exec, keys.extent(0),
                                      body{{m_storage.ref(), keys}, each_value, combine, stencil},
                                      report);
}

/// The same, waiting for the report. A storage that grows does so until every key is in, unless that would merge a
/// value twice. Keys that find no place in a table sixteen times their number share a hash: they stay rejected.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
insert_report hash_table<Storage>::insert_all(execution_space const& exec, char const* what,
                                              Keys const& keys, Values const& values,
                                              Combine const& combine, Stencil const& stencil) {
  auto const insert_once = [&] {
    enqueue(exec, what, keys, values, combine, stencil, m_insert_report);
    return detail::read_back(exec, m_insert_report.data(),
                             "karpos::hash_table: report of an insertion");
  };
  insert_report report = insert_once();
  if constexpr (detail::grows<Storage> && (std::is_same_v<Combine, detail::keep_stored> ||
                                           std::is_same_v<Combine, detail::take_new>)) {
    while (report.rejected != 0 && grow(exec, report.rejected)) {
      auto const again = insert_once();
      report.inserted += again.inserted;
      report.existing += report.rejected - again.inserted - again.rejected;
      report.rejected = again.rejected;
      if (again.inserted == 0) break;
    }
  }
  if (report.invalid != 0)
    detail::reject("keys equal to a sentinel",
                   std::to_string(report.invalid) + " of " + std::to_string(keys.extent(0)) +
                       " keys; the others were handled: " + std::to_string(report.inserted) +
                       " inserted, " + std::to_string(report.existing) + " existing, " +
                       std::to_string(report.rejected) + " rejected",
                   "choose other sentinels in the options");
  return report;
}

/// Rehashes to twice the size, with room for `more` keys. Returns: false if there are 16 slots or more for each key
/// already (the keys share a hash), or if not every key found a place in the new table; the table is then unchanged.
template <class Storage>
bool hash_table<Storage>::grow(execution_space const& exec, std::uint64_t more) {
  std::uint64_t const held = this->size(exec);
  if (m_storage.slot_count() / 16 >= held + more) return false;
  try {
    rehash(exec, 2 * Kokkos::max(held, max_keys()) + more);
  } catch (capacity_error const&) {
    return false;  // the table is as it was
  }
  return true;
}

template <class Storage>
void hash_table<Storage>::rehash(execution_space const& exec, std::uint64_t new_max_keys) {
  Kokkos::Profiling::ScopedRegion const region(label("rehash"));
  std::string const& name = m_storage.settings().name;
  std::uint64_t const n = this->size(exec);
  if (new_max_keys < n)
    throw capacity_error(name + "::rehash would not hold the keys that are in", n, new_max_keys, n);
  Storage fresh(exec, m_storage.settings().with_max_keys(new_max_keys));
  device::tally_each_staged<0>(label("rehash"), exec, m_storage.slot_count(),
                               detail::reinsert_body<table_type>{m_storage.ref(), fresh.ref()},
                               m_insert_report);
  insert_report const report =
      detail::read_back(exec, m_insert_report.data(), "karpos::hash_table: report of a rehash");
  if (report.rejected != 0)
    throw capacity_error(name + "::rehash found no place for some keys", n, report.inserted, 2 * n);
  m_storage = std::move(fresh);
}

}  // namespace karpos
