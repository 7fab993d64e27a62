// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "karpos/detail/tables/insertion.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/map.hpp"

// Bulk insertion of hash_table (map.hpp). A blocking call tries, from the top:
//
//   insert_all         views on the host: batches (host_views.hpp)
//   insert_reachable   equal keys are frequent: the rows are pre-aggregated, and go on as groups
//                      (reduced_insertion.hpp)
//   insert_each        a table that grows: in parts, each as large as the number of free slots
//   insert_slice        by table segments (open_addressing/segmented_insertion.hpp), or else
//   enqueue            row by row
//   insert_rejected    rows that found no slot: into a larger or compacted table

namespace karpos {

template <class Storage>
template <class Rows>
void hash_table<Storage>::enqueue(execution_space const& exec, Storage const& into,
                                  Rows const& rows, report_view const& report) const {
  using keys = typename Rows::keys_type;
  using stencil = typename Rows::stencil_type;
  detail::require_key_type<key_type, keys>();
  this->require_memory();
  auto const each = detail::values_for<mapped_type>(rows.keys, rows.values);
  detail::require_reachable<execution_space, keys, detail::view_type_of<decltype(each)>,
                            detail::view_type_of<stencil>>();
  detail::invalidate_order(into);
  detail::with_insertion_ref(into, [&](auto const& table) {
    device::tally_each_staged<distance>(
        label(rows.what), exec, rows.size(),
        detail::make_insert_body<distance>(table, rows.keys, each, rows.combine, rows.stencil),
        report);
  });
}

/// Inserts the keys of a bulk call. Throws if some of them are equal to a sentinel.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
insert_report hash_table<Storage>::insert_all(execution_space const& exec, char const* what,
                                              Keys const& keys, Values const& values,
                                              Combine const& combine, Stencil const& stencil,
                                              bulk_options const& bulk) {
  this->require_memory();
  detail::require_known(bulk.strategy);
  auto const k = detail::with_dynamic_extent(keys);
  auto const each = detail::with_dynamic_extent(detail::values_for<mapped_type>(keys, values));
  auto const chosen = detail::with_dynamic_extent(stencil);
  insert_report all;
  detail::in_batches(
      exec, k.extent(0),
      [&](execution_space const& instance, auto const& batch, auto const& v, auto const& s) {
        all += insert_reachable(instance, detail::insertion{what, batch, v, combine, s}, bulk);
      },
      detail::input{k}, detail::input{each}, detail::input{chosen});
  detail::reject_invalid(all, keys.extent(0));
  return all;
}

/// Inserts keys in views that kernels reach. Pre-aggregates the rows if that is possible and
/// faster.
template <class Storage>
template <class Rows>
insert_report hash_table<Storage>::insert_reachable(execution_space const& exec, Rows const& rows,
                                                    bulk_options const& bulk) {
  if constexpr (detail::may_reduce<Storage, Rows>) {
    insert_report report;
    if (try_insert_reduced(exec, rows, bulk, report)) return report;
  }
  return insert_each(exec, rows, bulk);
}

/// Inserts each row. A table that grows takes the rows in parts, and grows before a part that would
/// not fit: it takes a search of the whole path to know that a key finds no slot.
template <class Storage>
template <class Rows>
insert_report hash_table<Storage>::insert_each(execution_space const& exec, Rows const& rows,
                                               bulk_options const& bulk) {
  bool const in_slices = detail::may_move<Storage, typename Rows::combine_type> && grows();
  std::uint64_t const n = rows.size();
  std::uint64_t first = 0, last = n;
  insert_report all;
  double share = 0;  // share of new keys in the part before
  do {
    if (in_slices) last = first + next_slice(exec, share, n - first);
    insert_report const part = insert_slice(exec, rows.slice(first, last), bulk, n - last);
    share = static_cast<double>(part.inserted + 1) / static_cast<double>(last - first + 1);
    all += part;
    first = last;
  } while (first < n);
  return all;
}

/// Returns how many of the remaining keys are inserted next: as many as fit, given the share of new
/// keys in the part before (0 if there was none). If the table holds max_keys keys and more are
/// expected than fit, doubles the table. If there is no memory for that, returns all remaining
/// keys: they are inserted as far as they fit.
template <class Storage>
std::uint64_t hash_table<Storage>::next_slice(execution_space const& exec, double share,
                                              std::uint64_t remaining) {
  if (remaining <= tombstones_to_keep()) return remaining;
  std::uint64_t const live = this->size(exec);
  auto const free_slots = [&] { return slots_to_use() - Kokkos::min(live, slots_to_use() - 1); };
  if (live >= max_keys() &&
      share * static_cast<double>(remaining) > static_cast<double>(free_slots()) &&
      !try_grow(exec, 2 * live))
    return remaining;
  double const part = static_cast<double>(free_slots()) / (share > 0 ? share : 1);
  return part < static_cast<double>(remaining) ? static_cast<std::uint64_t>(part) : remaining;
}

/// Inserts one part of the rows of a call; rows_after other rows follow it.
template <class Storage>
template <class Rows>
insert_report hash_table<Storage>::insert_slice(execution_space const& exec, Rows const& rows,
                                                bulk_options const& bulk,
                                                std::uint64_t rows_after) {
  prepare_insertion(exec, rows.size());
  insert_report report;
  if (!try_insert_segments(exec, rows, bulk, report)) {
    enqueue(exec, m_storage, rows, m_insert_report);
    report = read_report(exec);
  }
  m_slots_used.add_inserted(report.inserted);
  if (report.rejected != 0) {
    double const share = static_cast<double>(report.inserted + report.rejected) /
                         static_cast<double>(rows.size());  // of new keys
    insert_rejected(exec, rows, report,
                    static_cast<std::uint64_t>(share * static_cast<double>(rows_after)));
    if (report.rejected != 0) handle_refusals(exec);
  }
  return report;
}

/// Makes later bulk insertions defer overflow marks (GPUs have set them eagerly before). If no slot
/// is free, also removes the marks of refused keys. Later misses and refusals then read no more
/// buckets than in a table without refused keys.
template <class Storage>
void hash_table<Storage>::handle_refusals([[maybe_unused]] execution_space const& exec) {
  if constexpr (detail::eager_marks<Storage>) {
    m_storage.defer_marks();
    if (m_storage.has_rebuilt_marks() && !m_slots_used.exposed) return;
    std::uint64_t live = 0, dead = 0;
    if (!m_slots_used.size_is_known()) count_slots(exec, live, dead);
    if (m_slots_used.taken == capacity()) m_storage.rebuild_marks(exec);
  }
}

/// Inserts keys by table segments if the table has them and that is faster. Returns whether it did.
template <class Storage>
template <class Rows>
bool hash_table<Storage>::try_insert_segments(execution_space const& exec, Rows const& rows,
                                              bulk_options const& bulk, insert_report& report) {
  if constexpr (detail::has_segments<Storage> && Rows::selects_every_key) {
    detail::require_key_type<key_type, typename Rows::keys_type>();
    detail::require_reachable<execution_space, typename Rows::keys_type,
                              detail::view_type_of<typename Rows::values_type>>();
    bool const is_empty = m_slots_used.taken == 0 && !m_slots_used.exposed;
    return m_storage.try_insert_segments(exec, rows.what, rows.keys, rows.values, rows.combine,
                                         is_empty, bulk, m_insert_report, report);
  }
  return false;
}

/// Inserts the rejected keys into a larger or compacted copy, which then becomes the table. Repeats
/// that while keys are rejected and there is such a copy. `report` becomes the report of all keys;
/// `expected_keys` is the number of new keys that are still expected in the same call.
/// If merging a value twice would be wrong, only keys that are not in the table are merged into the
/// copy. In open addressing these are all rejected keys: a full path stays full, so equal keys have
/// the same outcome. In hopscotch hashing that does not hold, and such keys stay rejected.
template <class Storage>
template <class Rows>
void hash_table<Storage>::insert_rejected(execution_space const& exec, Rows const& rows,
                                          insert_report& report, std::uint64_t expected_keys) {
  using combine = typename Rows::combine_type;
  if constexpr (!detail::may_move<Storage, combine>) return;
  while (report.rejected != 0) {
    auto table = copy_with_free_slots(exec, report.rejected, expected_keys);
    if (!table) return;
    if constexpr (detail::idempotent<combine>)
      enqueue(exec, *table, rows, m_insert_report);
    else
      enqueue(exec, *table, rows.absent_from(m_storage.ref()), m_insert_report);
    insert_report const again = read_report(exec);
    adopt(exec, std::move(*table));
    m_slots_used.add_inserted(again.inserted);
    report.inserted += again.inserted;
    report.existing += report.rejected - again.inserted - again.rejected;
    report.rejected = again.rejected;
  }
}

/// Throws capacity_error for keys that insert_or_throw found no slot for.
template <class Storage>
void hash_table<Storage>::reject_keys(execution_space const& exec, std::uint64_t rejected) const {
  std::uint64_t const held = this->size(exec), required = held + rejected;
  std::string const& name = m_storage.settings().name;
  if (grows() && detail::ends_growth(capacity(), held))
    throw capacity_error(name +
                             " has 16 slots a key and no slot for some: their hashes crowd, "
                             "and another Hash is needed, not capacity",
                         required, held, 2 * max_keys());
  throw capacity_error(name + " is full", required, held, required);
}

template <class Storage>
std::size_t hash_table<Storage>::insert_bytes([[maybe_unused]] execution_space const& exec,
                                              [[maybe_unused]] std::uint64_t keys,
                                              bulk_strategy strategy) const {
  this->require_memory();
  detail::require_known(strategy);
  if constexpr (detail::has_segments<Storage>) return m_storage.insert_bytes(exec, keys, strategy);
  return 0;
}

// The constraint does not name the class's member has_values, because Clang 14 does not find it
// there.
template <class Storage>
std::size_t hash_table<Storage>::insert_or_apply_bytes(execution_space const& exec,
                                                       std::uint64_t keys,
                                                       bulk_strategy strategy) const
  requires detail::stores_values<Storage>
{
  std::size_t const bytes = insert_bytes(exec, keys, strategy);
  if constexpr (detail::reducible<Storage>) {
    using op = void;  // an operation that is pre-aggregated from the fewest rows on
    if (detail::allows_reduction<detail::reduced_tuning<execution_space, mapped_type, op>>(strategy,
                                                                                           keys))
      return Kokkos::max(bytes, detail::rows_reduction<Storage>::bytes(exec, keys));
  }
  return bytes;
}

/// Pre-aggregates the rows and inserts the groups, if that is faster and there is memory for it.
/// Returns whether it did.
template <class Storage>
template <class Rows>
bool hash_table<Storage>::try_insert_reduced(execution_space const& exec, Rows const& rows,
                                             bulk_options const& bulk, insert_report& report) {
  using reduction = detail::rows_reduction<Storage>;
  detail::require_key_type<key_type, typename Rows::keys_type>();
  detail::require_reachable<execution_space, typename Rows::keys_type,
                            detail::view_type_of<typename Rows::values_type>>();
  if (!is_worth_reducing(exec, rows, bulk.strategy)) return false;
  std::size_t const bytes = reduction::bytes(exec, rows.size());
  if (!detail::can_use_workspace(bulk.workspace, bytes)) return false;
  std::optional<detail::workspace<execution_space>> w;
  try {
    w.emplace(exec, detail::workspace_user{"insert_or_apply", "insert_or_apply_bytes(exec, keys)"},
              bulk.workspace, bytes);
  } catch (allocation_error const&) {
    return false;
  }
  report = insert_reduced(exec, rows, reduction(exec, rows.size(), w->data()));
  return true;
}

/// Returns whether pre-aggregation is asked for, or is faster according to a sample of the keys.
template <class Storage>
template <class Rows>
bool hash_table<Storage>::is_worth_reducing(execution_space const& exec, Rows const& rows,
                                            bulk_strategy strategy) {
  using op = typename Rows::combine_type;
  using tuned = detail::reduced_tuning<execution_space, mapped_type, op,
                                       detail::merges_by_retry<table_type, op>>;
  if (!detail::allows_reduction<tuned>(strategy, rows.size())) return false;
  if (strategy == bulk_strategy::reduced) return true;
  static_assert(sizeof(detail::sample_statistics) <= sizeof(insert_report));
  auto* const sample = reinterpret_cast<detail::sample_statistics*>(m_insert_report.data());
  detail::count_sample(exec, detail::rows_reduction<Storage>::source(rows),
                       tuned::sample_size(rows.size()), sample);
  return detail::is_worth_reducing<tuned>(
      exec, detail::read_back(exec, sample, "karpos::hash_table: a sample of the keys"),
      rows.size());
}

/// Inserts the groups of the rows, part by part. The report is that of the rows: if groups were
/// left out, counts the rows whose key found no slot or is a sentinel.
template <class Storage>
template <class Rows, class Reduction>
insert_report hash_table<Storage>::insert_reduced(execution_space const& exec, Rows const& rows,
                                                  Reduction const& reduction) {
  insert_report all;
  std::uint64_t const n = rows.size(), parts = Reduction::parts(n);
  for (std::uint64_t i = 0; i < parts; ++i) {
    Rows const part = rows.slice(Reduction::begin_of(n, i), Reduction::begin_of(n, i + 1));
    auto const groups = reduction.reduce(exec, part);
    insert_report r = insert_each(exec, groups, {.workspace = reduction.rest()});
    if (r.rejected + r.invalid != 0) {
      using body = detail::count_rejected_body<table_type, typename Rows::keys_type>;
      Kokkos::parallel_reduce(label("count rejected rows"), detail::index_range(exec, part.size()),
                              body{m_storage.ref(), part.keys}, r.rejected, r.invalid);
    }
    r.existing = part.size() - r.inserted - r.rejected - r.invalid;
    all += r;
  }
  return all;
}

}  // namespace karpos
