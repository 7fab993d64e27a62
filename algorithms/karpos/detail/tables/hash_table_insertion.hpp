// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/tables/open_addressing/run.hpp"
#include "karpos/detail/tables/placement.hpp"
#include "karpos/detail/tables/reduced_insertion.hpp"
#include "karpos/detail/tables/region_split.hpp"
#include "karpos/detail/tables/region_tally.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash_table.hpp"
#include "karpos/table_options.hpp"

// Bulk insertion of hash_table (karpos/hash_table.hpp). plan_insertion chooses a path; each path
// has one function. A function calls those that are indented below it, from the top:
//
//   insert_all                  cuts views on the host into batches (host_views.hpp)
//     try_insert_reduced        reduces the rows by key, and goes on with the groups
//     insert_in_parts           goes on with all rows or, if the table grows, with as many as fit
//       try_insert_part         inserts rows in the way that its caller chooses, and then
//         insert_rejected       those that are left, into a larger or compacted copy
//       try_insert_split        inserts by regions that the cache holds, or
//         try_insert_segments   by table segments
//       insert_directly         inserts row by row
//   try_insert_pieces           inserts rows that ranks have split by table segment
//     try_insert_part
//     try_insert_segments

namespace karpos {

namespace detail {

/// The ways from rows into the slots of a table. If one finds no memory, the next is tried.
enum class insertion_path {
  /// Rows are reduced by key, and the groups inserted by one of the paths below
  /// (reduced_insertion.hpp).
  reduced,
  /// Rows are split by table segment, in one pass or two, and a team inserts those of a segment in
  /// its scratch (open_addressing/run.hpp).
  segmented,
  /// Rows are split by region of the table, and a thread inserts each row while its region is in
  /// the cache (region_tally.hpp).
  regional,
  /// A thread inserts each row, in the caller's order. Needs no memory, and suits every table.
  direct
};

/// The path of `rows` rows.
struct insertion_plan {
  insertion_path path;
  std::uint64_t rows;
  int passes = 0;         ///< of the split by segment
  std::size_t bytes = 0;  ///< of the workspace
  table_regions regions = {};
  /// Maximum of coarse partitions, if rows come in pieces of them.
  std::uint64_t max_coarse = 0;
};

/// Returns the bytes of an insertion of `rows` rows by regions.
template <class Storage>
std::size_t regional_bytes(typename Storage::execution_space const& exec, Storage const& table,
                           table_regions const& plan, std::uint64_t rows) {
  using ref = typename Storage::ref_type;
  using source = partition::rows_of_array<open_addressing::rows_of_slots<ref>>;
  return region_tally<insert_report, typename Storage::execution_space, ref, source>(
             exec, table.ref(), source(nullptr, Kokkos::min(rows, plan.batch)), plan)
      .bytes();
}

/// The argument `pays` of plan_insertion for rows that are not reduced.
struct never_pays {};

/// Chooses the path of an insertion that merges by Op. `is_empty`: whether the table has no key.
/// pays(reduced_tuning) returns whether reducing the rows by key saves time: it is called once if
/// the choice depends on that, and may read the keys.
template <class Op, class Storage, class Pays>
insertion_plan plan_insertion(typename Storage::execution_space const& exec, Storage const& table,
                              bulk_strategy strategy, std::uint64_t rows, bool is_empty,
                              Pays const& pays) {
  using exec_space = typename Storage::execution_space;
  using ref = typename Storage::ref_type;
  insertion_plan const direct{insertion_path::direct, rows};
  if (strategy == bulk_strategy::direct || rows == 0) return direct;

  if constexpr (reducible<Storage> && !std::is_same_v<Pays, never_pays>) {
    using tuned =
        reduced_tuning<exec_space, typename Storage::mapped_type, Op, merges_by_retry<ref, Op>>;
    // Rows of one key wait for each other at its slot. To find out whether a key is that frequent
    // takes longer than inserting fewer than min_rows rows.
    bool const is_reduced =
        strategy == bulk_strategy::reduced ||
        (strategy == bulk_strategy::automatic && rows >= tuned::min_rows && pays(tuned{}));
    if (is_reduced)
      return {insertion_path::reduced, rows, 0, rows_reduction<Storage>::bytes(exec, rows)};
  }

  if constexpr (Storage::has_segments) {
    using tuned = open_addressing::tuning<exec_space>;
    // The split numbers rows, and buckets, by 32 bits.
    constexpr std::uint64_t max_rows = ~std::uint32_t(0), max_pairs = max_rows / 2;
    std::uint64_t const pairs = table.bucket_count() / 2;
    if (rows > max_rows || pairs > max_pairs) return direct;
    std::uint64_t const bytes = pairs * 2 * ref::bucket_slots * sizeof(typename ref::word);
    // A team compares the keys of a segment that is not empty with its rows. Few rows do not repay
    // that, and are inserted by compare-and-swap in the cache.
    if (!is_empty && bytes / tuned::min_regional_bytes_per_row >= rows) {
      auto const regions =
          detail::plan_regions(exec, bytes, rows, strategy, max_table_bytes_per_change);
      if (!regions.is_direct()) {
        insertion_plan plan{insertion_path::regional, rows};
        plan.bytes = detail::regional_bytes(exec, table, regions, rows);
        plan.regions = regions;
        return plan;
      }
    }
    if (table.defers_marks()) return direct;  // segments set marks eagerly
    auto segments = open_addressing::one_pass_plan<exec_space, ref>(pairs);
    // The team of a segment reads the rows of all segments of its partition.
    if (segments.segments_per_partition > tuned::max_segments_per_partition) return direct;
    if (strategy != bulk_strategy::partitioned &&
        !open_addressing::prefers_segments<exec_space>(bytes, rows))
      return direct;
    // The slots of an empty table hold the rows between two passes.
    if (is_empty) segments = open_addressing::empty_table_plan<exec_space, ref>(pairs, rows);
    return {insertion_path::segmented, rows, segments.passes.coarse() != 0 ? 2 : 1,
            open_addressing::segment_memory<exec_space, ref>(exec, segments, rows).bytes};
  }
  return direct;
}

/// Chooses the path of rows that come in pieces of at most max_coarse coarse partitions: by
/// segments, after the second of two passes. If another path is better, or the table has to grow
/// first, because they do not all fit, they have to be gathered. Ranks choose by this before they
/// split rows, and again when they have them.
template <class Storage>
insertion_plan plan_pieces(typename Storage::execution_space const& exec, Storage const& table,
                           std::uint64_t rows, bool is_empty, bool fit, std::uint64_t max_coarse) {
  using exec_space = typename Storage::execution_space;
  using ref = typename Storage::ref_type;
  if (!fit) return {insertion_path::direct, rows};
  auto plan = detail::plan_insertion<keep_stored>(exec, table, bulk_strategy::automatic, rows,
                                                  is_empty, never_pays{});
  if (plan.path != insertion_path::segmented) return plan;
  plan.passes = 2;
  plan.max_coarse = max_coarse;
  plan.bytes =
      open_addressing::segment_memory<exec_space, ref>(
          exec, open_addressing::pieces_plan<exec_space, ref>(table.bucket_count() / 2, max_coarse),
          rows)
          .bytes;
  return plan;
}

/// Chooses the path of the keys of a table into an empty one, `to`. size() returns their number; it
/// may read the table, and is called only if the choice depends on it.
template <class Storage, class Size>
insertion_plan plan_rebuild(typename Storage::execution_space const& exec, Storage const& from,
                            Storage const& to, Size const& size) {
  insertion_plan plan{insertion_path::direct, from.slot_count()};
  if constexpr (Storage::has_segments) {
    using tuned = open_addressing::tuning<typename Storage::execution_space>;
    using row = open_addressing::row_of<typename Storage::ref_type>;
    // Only segments keep an order of keys that lookups use (marks.hpp).
    if (!tuned::reinserts_faster(sizeof(row)) && !from.has_order()) return plan;
    auto const plan_for = [&](std::uint64_t rows) {
      return detail::plan_insertion<keep_stored>(exec, to, bulk_strategy::automatic, rows, true,
                                                 never_pays{});
    };
    // As many keys as there are slots: if these are too few, so are the keys.
    plan = plan_for(plan.rows);
    if (plan.path == insertion_path::segmented) plan = plan_for(size());
  }
  return plan;
}

/// Returns the bytes of workspace that an insertion of `rows` rows takes at most. Op: void if it
/// may merge by any operation.
template <class Op, class Storage, class Pays>
std::size_t insertion_bytes(typename Storage::execution_space const& exec, Storage const& table,
                            bulk_strategy strategy, std::uint64_t rows, Pays const& pays) {
  auto const bytes = [&](bool is_empty, auto const& reducing) {
    return detail::plan_insertion<Op>(exec, table, strategy, rows, is_empty, reducing).bytes;
  };
  return Kokkos::max({bytes(true, never_pays{}), bytes(false, never_pays{}), bytes(false, pays)});
}

/// Inserts rows by regions as planned, if there is memory. Returns whether it did.
template <class ExecSpace, class Table, class Rows>
bool try_insert_regions(ExecSpace const& exec, std::string const& label, Table const& table,
                        insertion_plan const& plan, Rows const& rows, wrapped_memory const& given,
                        insert_report& report) {
  using combine = typename Rows::combine_type;
  auto const source = [&](std::uint64_t first, std::uint64_t last) {
    Rows const part = rows.slice(first, last);
    return open_addressing::source_of<ExecSpace, Table>(part.keys, part.values);
  };
  return detail::try_tally_by_regions(exec, label, table, plan.regions, rows.size(), given, source,
                                      insert_rows<Table, combine>{table, rows.combine}, report);
}

/// Calls f(insertion) with an insertion by segments, in the caller's memory or its own, if that is
/// planned and there is memory. Returns what f does, which is whether the rows were inserted; or
/// false. If they were not, a table that was empty is empty again.
template <class Storage, class Combine, class F>
bool with_segmented_insertion(typename Storage::execution_space const& exec,
                              std::string const& label, Storage const& storage,
                              insertion_plan const& plan, wrapped_memory const& given,
                              Combine const& combine, F const& f) {
  using exec_space = typename Storage::execution_space;
  using table = typename Storage::ref_type;
  if (plan.path != insertion_path::segmented) return false;
  auto const w = try_workspace(exec, given, plan.bytes);
  if (!w) return false;
  std::uint64_t const pairs = storage.bucket_count() / 2;
  bool const in_pieces = plan.max_coarse != 0;
  auto const segments =
      in_pieces          ? open_addressing::pieces_plan<exec_space, table>(pairs, plan.max_coarse)
      : plan.passes == 2 ? open_addressing::empty_table_plan<exec_space, table>(pairs, plan.rows)
                         : open_addressing::one_pass_plan<exec_space, table>(pairs);
  open_addressing::segmented_insertion<exec_space, table, Combine> insertion(
      exec, label, storage.ref(), {exec, segments, plan.rows, w->data()}, combine);
  bool const inserted = f(insertion);
  if (insertion.loses_order()) storage.invalidate_order();
  if (!inserted && plan.passes == 2 && !in_pieces)
    open_addressing::clear_slots(exec, label, storage.ref());
  return inserted;
}

/// The parts of insertions that do not depend on where rows lie, and insertions of rows that ranks
/// have split by table segment.
struct insertion_access {
  /// Returns whether a table is known to have no key, and no slot of an erased one.
  template <class Storage>
  static bool is_as_new(hash_table<Storage> const& table) {
    return table.m_slots_used.taken == 0 && !table.m_slots_used.exposed;
  }
  /// Returns the slots that a table of `live` keys may still use, at least 1.
  template <class Storage>
  static std::uint64_t free_slots(hash_table<Storage> const& table, std::uint64_t live) {
    std::uint64_t const all = table.slots_to_use();
    return all - Kokkos::min(live, all - 1);
  }
  /// Returns how many of the rows fit before the table grows, given its keys and the share of new
  /// keys among rows (0 if it is unknown). Requires: more rows than tombstones_to_keep().
  template <class Storage>
  static std::uint64_t rows_that_fit(hash_table<Storage> const& table, std::uint64_t live,
                                     double share, std::uint64_t rows) {
    double const fit = static_cast<double>(free_slots(table, live)) / (share > 0 ? share : 1);
    return fit < static_cast<double>(rows) ? static_cast<std::uint64_t>(fit) : rows;
  }
  /// Calls try_insert(), which inserts n rows and fills `report`, or returns false and inserts
  /// none. Then inserts the rows that `report` counts as rejected; rows_again and expected_keys()
  /// are those of insert_rejected. Returns false if try_insert did.
  template <class Storage, class TryInsert, class RowsAgain, class ExpectedKeys>
  static bool try_insert_part(hash_table<Storage>& into,
                              typename Storage::execution_space const& exec, std::uint64_t n,
                              TryInsert const& try_insert, RowsAgain const& rows_again,
                              ExpectedKeys const& expected_keys, insert_report& report) {
    into.compact_if_crowded(exec, n);
    if (!try_insert()) return false;
    into.m_slots_used.add_inserted(report.inserted);
    if (report.rejected != 0) into.insert_rejected(exec, rows_again, report, expected_keys());
    return true;
  }
  /// Returns insert(insertion, state of the table), with an insertion by table segments, if that is
  /// planned and there is memory for it; else false.
  template <class Storage, class Combine, class Insert>
  static bool try_insert_segments(hash_table<Storage> const& into,
                                  typename Storage::execution_space const& exec, char const* what,
                                  insertion_plan const& plan, wrapped_memory const& given,
                                  Combine const& combine, Insert const& insert) {
    open_addressing::table_state const state{is_as_new(into), into.m_storage.has_order()};
    return detail::with_segmented_insertion(
        exec, into.label(what), into.m_storage, plan, given, combine,
        [&](auto& insertion) { return insert(insertion, state); });
  }
  /// Returns the plan of `rows` rows in pieces of at most max_coarse coarse partitions.
  template <class Combine, class Storage>
  static insertion_plan plan_pieces(hash_table<Storage> const& into,
                                    typename Storage::execution_space const& exec,
                                    std::uint64_t rows, std::uint64_t max_coarse) {
    if constexpr (Storage::has_segments) {
      bool const fit = !may_move<Storage, Combine> || !into.grows() ||
                       rows <= into.tombstones_to_keep() ||
                       rows_that_fit(into, into.size(exec), 0, rows) == rows;
      return detail::plan_pieces(exec, into.m_storage, rows, is_as_new(into), fit, max_coarse);
    }
    return {insertion_path::direct, rows};
  }
  /// Inserts rows that come in pieces of coarse partitions, as window_pieces has them
  /// (distributed/window_split.hpp), by table segments, if that is planned and there is memory for
  /// it. Returns whether it did; if not, the caller gathers them. `what` is for labels. Throws if
  /// keys equal a sentinel.
  template <class Storage, class Pieces, class Combine>
  static bool try_insert_pieces([[maybe_unused]] hash_table<Storage>& into,
                                [[maybe_unused]] typename Storage::execution_space const& exec,
                                [[maybe_unused]] char const* what,
                                [[maybe_unused]] Pieces const& pieces,
                                [[maybe_unused]] Combine const& combine,
                                [[maybe_unused]] insert_report& report) {
    if constexpr (Storage::has_segments) {
      using table = hash_table<Storage>;
      auto& storage = into.m_storage;
      std::uint64_t const n = pieces.count;
      auto const plan = plan_pieces<Combine>(into, exec, n, pieces.max_coarse);
      if (plan.path != insertion_path::segmented) return false;
      auto const try_insert = [&] {
        if (!(pieces.home == storage.ref().home())) return false;
        return try_insert_segments(
            into, exec, what, plan, {}, combine, [&](auto& insertion, auto const& state) {
              return insertion.insert_pieces(pieces.source(), pieces.from, state,
                                             into.m_insert_report, report);
            });
      };
      auto const gather = [&] {
        return pieces.with_columns([&](auto const& keys, auto const&... values) {
          if constexpr (sizeof...(values) == 0)
            return table::rows_of(what, keys, typename table::no_values{}, combine, everything{});
          else
            return table::rows_of(what, keys, values..., combine, everything{});
        });
      };
      auto const rows_again = [&]() -> std::optional<decltype(gather())> {
        try {
          return gather();
        } catch (allocation_error const&) {  // the rows stay rejected
          return {};
        }
      };
      auto const expected_keys = [] { return std::uint64_t(0); };
      if (!try_insert_part(into, exec, n, try_insert, rows_again, expected_keys, report))
        return false;
      detail::reject_invalid(report, n);
      return true;
    }
    return false;
  }
  /// Calls f(ref, i) for i in [0, n), in parts that fit, as insert_in_parts takes them; then, for
  /// the indices that found no slot, again with a larger or compacted copy. Returns the number of
  /// indices that were called again, each as often as it was. Throws capacity_error if there is no
  /// such copy.
  template <class Storage, class F>
  static std::uint64_t place(typename Storage::execution_space const& exec,
                             hash_table<Storage>& into, std::uint64_t n, F const& f) {
    using exec_space = typename Storage::execution_space;
    using indices = Kokkos::View<std::uint64_t*, typename exec_space::memory_space>;
    into.require_memory();
    std::string const label = into.label("for_each_until_placed");
    auto const count =
        allocate_array<indices>(exec, label, "a counter", "free memory", std::uint64_t(1));
    indices left, again;
    auto const run = [&](std::uint64_t first, std::uint64_t size) {
      fill_words(label.c_str(), exec, count.data(), 1, 0);
      auto const ref = into.ref();
      device::loop_over(
          label, exec, size,
          place_index<device::held_by_loop<exec_space, std::remove_const_t<decltype(ref)>>,
                      device::held_by_loop<exec_space, F>>{
              device::for_loop<exec_space>(ref), device::for_loop<exec_space>(f), first,
              again.data(), left.data(), count.data()});
      return read_back(exec, count.data(), label);
    };
    auto const allocate = [&](std::uint64_t size) {
      return allocate_array<indices>(exec, label, "indices without a slot", "place fewer indices",
                                     size);
    };
    std::uint64_t repeated = 0;
    double share = 0;  // of new keys in the part before
    for (std::uint64_t first = 0, last = n; first < n; first = last) {
      last = into.grows() ? first + into.next_part(exec, share, n - first) : n;
      std::uint64_t const before = into.size(exec), part = last - first;
      left = allocate(part);
      again = {};
      for (std::uint64_t not_placed = run(first, part); not_placed != 0;) {
        auto table = into.copy_with_free_slots(exec, not_placed, n - last);
        if (!table) into.reject_keys(exec, not_placed);
        into.adopt(exec, std::move(*table));
        again = left;
        left = allocate(not_placed);
        repeated += not_placed;
        not_placed = run(0, not_placed);
      }
      share = static_cast<double>(into.size(exec) - before + 1) / static_cast<double>(part + 1);
    }
    return repeated;
  }
};

}  // namespace detail

/// Inserts the keys of a bulk call. Throws if some of them are equal to a sentinel.
template <class Storage>
template <class Keys, class Values, class Combine, class Stencil>
insert_report hash_table<Storage>::insert_all(execution_space const& exec, char const* what,
                                              Keys const& keys, Values const& values,
                                              Combine const& combine, Stencil const& stencil,
                                              bulk_options const& bulk) {
  detail::user_call const call(Storage::name, what);
  this->require_memory();
  detail::require_enumerators(bulk.strategy);
  detail::require_stencil("keys", keys, stencil);
  auto const k = detail::with_dynamic_extent(keys);
  auto const each = detail::with_dynamic_extent(detail::values_for<mapped_type>(keys, values));
  auto const chosen = detail::with_dynamic_extent(stencil);
  insert_report all;
  detail::in_batches(
      exec, k.extent(0),
      [&](execution_space const& instance, auto const& batch, auto const& v, auto const& s) {
        auto const rows = rows_of(what, batch, v, combine, s);
        insert_report done;
        if (!try_insert_reduced(instance, rows, bulk, done))
          done = insert_in_parts(instance, rows, bulk);
        all += done;
      },
      detail::input{k}, detail::input{each}, detail::input{chosen});
  detail::reject_invalid(all, keys.extent(0));
  return all;
}

/// Reduces the rows by key and inserts the groups, if that is planned and there is memory for it.
/// Returns whether it did. The report is that of the rows: if groups were left out, counts the rows
/// whose key found no slot or is a sentinel.
template <class Storage>
template <class Rows>
bool hash_table<Storage>::try_insert_reduced(execution_space const& exec, Rows const& rows,
                                             bulk_options const& bulk, insert_report& report) {
  if constexpr (detail::may_reduce<Storage, Rows>) {
    using reduction = detail::rows_reduction<Storage>;
    std::uint64_t const n = rows.size();
    auto const pays = [&](auto tuned) {
      static_assert(sizeof(detail::sample_statistics) <= sizeof(insert_report));
      auto* const sample = reinterpret_cast<detail::sample_statistics*>(m_insert_report.data());
      detail::count_sample(exec, reduction::source(rows), tuned.sample_size(n), sample);
      return detail::is_worth_reducing<decltype(tuned)>(
          exec, detail::read_back(exec, sample, "karpos::hash_table: a sample of the keys"), n);
    };
    auto const plan = detail::plan_insertion<typename Rows::combine_type>(
        exec, m_storage, bulk.strategy, n, false, pays);
    if (plan.path != detail::insertion_path::reduced) return false;
    auto const w = detail::try_workspace(exec, bulk.workspace, plan.bytes);
    if (!w) return false;
    reduction const reduced(exec, n, w->data());
    for (std::uint64_t i = 0; i < reduction::parts(n); ++i) {
      Rows const part = rows.slice(reduction::begin_of(n, i), reduction::begin_of(n, i + 1));
      auto const groups = reduced.reduce(exec, part);
      insert_report r = insert_in_parts(exec, groups, {.workspace = reduced.rest()});
      if (r.rejected + r.invalid != 0) {
        r.invalid = detail::count_reserved_keys(label("count rejected rows"), exec,
                                                m_storage.ref().slot(), part.keys);
        r.rejected = part.size() - r.invalid - this->count_present(exec, part.keys);
      }
      r.existing = part.size() - r.inserted - r.rejected - r.invalid;
      report += r;
    }
    return true;
  }
  return false;
}

/// Inserts rows, each part by its own plan. A table that grows takes as many rows as fit, and grows
/// before a part that would not: a key that finds no slot costs a search of its whole path.
template <class Storage>
template <class Rows>
insert_report hash_table<Storage>::insert_in_parts(execution_space const& exec, Rows const& rows,
                                                   bulk_options const& bulk) {
  bool const in_parts = detail::may_move<Storage, typename Rows::combine_type> && grows();
  std::uint64_t const n = rows.size();
  std::uint64_t first = 0, last = n;
  insert_report all;
  double share = 0;  // share of new keys in the part before
  do {
    if (in_parts) last = first + next_part(exec, share, n - first);
    auto const part = rows.slice(first, last);
    insert_report done;
    auto const insert = [&] {
      if (!try_insert_split(exec, part, bulk, done)) {
        insert_directly(exec, m_storage, part, m_insert_report);
        done = read_report(exec);
      }
      return true;
    };
    auto const expected_keys = [&] {
      double const share_here =
          static_cast<double>(done.inserted + done.rejected) / static_cast<double>(last - first);
      return static_cast<std::uint64_t>(share_here * static_cast<double>(n - last));
    };
    detail::insertion_access::try_insert_part(
        *this, exec, part.size(), insert, [&] { return std::optional(part); }, expected_keys, done);
    share = static_cast<double>(done.inserted + 1) / static_cast<double>(last - first + 1);
    all += done;
    first = last;
  } while (first < n);
  return all;
}

/// Compacts the table if tombstones leave too few slots for n more keys.
template <class Storage>
void hash_table<Storage>::compact_if_crowded(execution_space const& exec, std::uint64_t n) {
  if constexpr (Storage::has_tombstones) {
    // Kernels may have left tombstones that the host does not know of. For many keys it counts.
    bool const counts = m_slots_used.exposed && n > tombstones_to_keep();
    if (counts || !has_slots_for({n, 0})) compact_before(exec, n);
  }
}

/// Returns how many of the remaining keys are inserted next: as many as fit, given the share of new
/// keys in the part before (0 if there was none). If the table holds max_keys keys and more are
/// expected than fit, doubles the table. If that fails, returns all remaining keys: they are
/// inserted as far as they fit.
template <class Storage>
std::uint64_t hash_table<Storage>::next_part(execution_space const& exec, double share,
                                             std::uint64_t remaining) {
  using access = detail::insertion_access;
  if (remaining <= tombstones_to_keep()) return remaining;
  std::uint64_t const live = this->size(exec);
  auto const free_slots = static_cast<double>(access::free_slots(*this, live));
  if (live >= max_keys() && share * static_cast<double>(remaining) > free_slots) {
    try {
      auto larger = larger_copy(exec, 2 * live, 2 * live);
      if (!larger) return remaining;
      adopt(exec, std::move(*larger));
    } catch (allocation_error const&) {
      return remaining;
    }
  }
  return access::rows_that_fit(*this, live, share, remaining);
}

/// Inserts rows by table segments or by regions, if that is planned and there is memory for it.
/// Returns whether it did: not if one segment belongs to far more rows than others.
template <class Storage>
template <class Rows>
bool hash_table<Storage>::try_insert_split(execution_space const& exec, Rows const& rows,
                                           bulk_options const& bulk, insert_report& report) {
  if constexpr (Storage::has_segments && Rows::selects_every_key) {
    auto const plan = detail::plan_insertion<typename Rows::combine_type>(
        exec, m_storage, bulk.strategy, rows.size(), detail::insertion_access::is_as_new(*this),
        detail::never_pays{});
    if (plan.path == detail::insertion_path::regional) {
      bool inserted = false;
      with_insertion_ref(m_storage, [&](auto const& table) {
        inserted = detail::try_insert_regions(exec, label(rows.what), table, plan, rows,
                                              bulk.workspace, report);
      });
      return inserted;
    }
    return detail::insertion_access::try_insert_segments(
        *this, exec, rows.what, plan, bulk.workspace, rows.combine,
        [&](auto& insertion, auto const& state) {
          return insertion.insert(rows.keys, rows.values, state, m_insert_report, report);
        });
  }
  return false;
}

/// Inserts the table's keys into an empty copy by table segments, if that is planned and there is
/// memory for it. Returns whether it did; if not, the copy is still empty.
template <class Storage>
bool hash_table<Storage>::try_reinsert_segments([[maybe_unused]] execution_space const& exec,
                                                [[maybe_unused]] char const* what,
                                                [[maybe_unused]] Storage const& into,
                                                [[maybe_unused]] insert_report& report) {
  if constexpr (Storage::has_segments)
    return detail::with_segmented_insertion(
        exec, label(what), into,
        detail::plan_rebuild(exec, m_storage, into, [&] { return this->size(exec); }), {},
        detail::keep_stored{}, [&](auto& insertion) {
          return insertion.insert_slots(m_storage.ref(), capacity(), into.has_order(),
                                        m_insert_report, report);
        });
  return false;
}

/// Inserts or merges rows by a kernel, and counts the outcomes in a view. Asynchronous.
template <class Storage>
template <class Rows>
void hash_table<Storage>::insert_directly(execution_space const& exec, Storage const& into,
                                          Rows const& rows, report_view const& report) const {
  with_insertion_ref(into, [&](auto const& table) {
    device::tally_each_staged<distance>(
        label(rows.what), exec, rows.size(),
        detail::make_keyed_body<detail::insert_body, distance>(table, rows.keys, rows.values,
                                                               rows.combine, rows.stencil),
        report);
  });
}
/// Calls f with the ref through which a kernel inserts rows one by one.
template <class Storage>
template <class F>
void hash_table<Storage>::with_insertion_ref(Storage const& into, F const& f) {
  into.invalidate_order();
  if constexpr (Storage::eager_marks)
    if (into.defers_marks()) return f(into.deferring_ref());
  f(into.ref());
}

/// Inserts all rows again, *rows_again(), into a larger or compacted copy, which then becomes the
/// table. Repeats that while keys are rejected, and there is such a copy and memory for the rows.
/// `report` becomes the report of all keys; `expected_keys` is the number of new keys that are
/// still expected in the same call.
/// If merging a value twice would be wrong, only rows whose key is not in the table are inserted
/// again. In open addressing these are the rejected rows: a full path stays full, so equal keys
/// have the same outcome. In hopscotch hashing that does not hold, and such keys stay rejected.
///
/// If keys stay rejected, later bulk insertions defer overflow marks (GPUs have set them eagerly
/// before), and if no slot is free, the marks of refused keys are removed. Later misses and
/// refusals then read no more buckets than in a table without refused keys.
template <class Storage>
template <class RowsAgain>
void hash_table<Storage>::insert_rejected(execution_space const& exec, RowsAgain const& rows_again,
                                          insert_report& report, std::uint64_t expected_keys) {
  using combine = typename std::invoke_result_t<RowsAgain const&>::value_type::combine_type;
  if constexpr (detail::may_move<Storage, combine>) {
    while (report.rejected != 0) {
      auto table = copy_with_free_slots(exec, report.rejected, expected_keys);
      if (!table) break;
      auto const rows = rows_again();
      if (!rows) break;
      if constexpr (detail::idempotent<combine>)
        insert_directly(exec, *table, *rows, m_insert_report);
      else
        insert_directly(exec, *table, rows->absent_from(m_storage.ref()), m_insert_report);
      insert_report const again = read_report(exec);
      adopt(exec, std::move(*table));
      m_slots_used.add_inserted(again.inserted);
      report.inserted += again.inserted;
      report.existing += report.rejected - again.inserted - again.rejected;
      report.rejected = again.rejected;
    }
  }
  if constexpr (Storage::eager_marks) {
    if (report.rejected == 0) return;
    m_storage.defer_marks();
    if (m_storage.has_rebuilt_marks() && !m_slots_used.exposed) return;
    if (!m_slots_used.size_is_known()) count_slots(exec);
    if (m_slots_used.taken == capacity()) m_storage.rebuild_marks(exec);
  }
}

/// Throws capacity_error for keys that insert_or_throw found no slot for.
template <class Storage>
void hash_table<Storage>::reject_keys(execution_space const& exec, std::uint64_t rejected) const {
  std::uint64_t const held = this->size(exec), required = held + rejected;
  if (grows() && detail::ends_growth(capacity(), held))
    throw capacity_error(
        "the table has 16 slots a key and no slot for some: their hashes crowd. Choose another "
        "Hash; capacity helps little",
        required, held, 2 * max_keys());
  throw capacity_error("the table is full", required, held, required);
}

template <class Storage>
std::size_t hash_table<Storage>::insert_bytes(execution_space const& exec, std::uint64_t keys,
                                              bulk_strategy strategy) const {
  detail::user_call const call(Storage::name, "insert_bytes");
  this->require_memory();
  detail::require_enumerators(strategy);
  return detail::insertion_bytes<detail::keep_stored>(exec, m_storage, strategy, keys,
                                                      detail::never_pays{});
}

// The constraint does not name the class's member has_values, because Clang 14 does not find it
// there.
template <class Storage>
std::size_t hash_table<Storage>::insert_or_apply_bytes(execution_space const& exec,
                                                       std::uint64_t keys,
                                                       bulk_strategy strategy) const
  requires(Storage::layout::has_value)
{
  detail::user_call const call(Storage::name, "insert_or_apply_bytes");
  this->require_memory();
  detail::require_enumerators(strategy);
  return detail::insertion_bytes<void>(exec, m_storage, strategy, keys,
                                       [](auto const&) { return true; });
}

}  // namespace karpos
