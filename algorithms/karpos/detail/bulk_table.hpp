// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/contract.hpp"
#include "karpos/detail/bulk.hpp"
#include "karpos/detail/table_memory.hpp"
#include "karpos/detail/table_options.hpp"
#include "karpos/device/launch.hpp"
#include "karpos/outcome.hpp"

namespace karpos::detail {

/// Whether bulk insertions into a full table rehash it: a storage says so by a constant of that name.
template <class Storage>
inline constexpr bool grows = false;
template <class Storage>
  requires(Storage::grows)
inline constexpr bool grows<Storage> = true;

/// A table in bulk: the operations that are the same whatever the table looks like inside. Argument checks that
/// need the types of views are the caller's.
///
/// Storage owns the memory and offers, movable:
///   types      key_type, mapped_type (no_value: a set), execution_space, memory_space, hasher, key_equal,
///              options, ref_type; the constant prefetch_distance (keys in flight per CPU thread, or 0)
///   made by    (exec, name, max_keys, options, hash, equal, std::optional<wrapped_memory>); fresh(exec, max_keys)
///   sizes      bytes_for(max_keys, load), static; max_keys(); slot_count(), the slots that scans visit
///   contents   clear(exec); copy_from(exec, storage); ref(); name()
///
/// ref_type is what kernels see, trivially copyable:
///   types      key_type, mapped_type, path, layout (key_of, value_of, has_value), protocol (item)
///   a path     start(query), bucket(path): the address to prefetch
///   a key      reserved(query): no query may be it; holds(query): a predicate of slots
///   along it   upsert_along<walk>, find_along<walk, access>, erase_along<walk>: whether the result is decided
///              apply_along, if there is one, is any of the three and always decides
///   at once    upsert, find<access>, erase
///   scans      slot_at(i), slot().live(word)
template <class Storage>
class bulk_table {
 public:
  using storage_type = Storage;
  using key_type = typename Storage::key_type;
  using mapped_type = typename Storage::mapped_type;
  using execution_space = typename Storage::execution_space;
  using memory_space = typename Storage::memory_space;
  using hasher = typename Storage::hasher;
  using key_equal = typename Storage::key_equal;
  using options = typename Storage::options;
  using ref_type = typename Storage::ref_type;
  using report_view = Kokkos::View<insert_report, memory_space>;
  using erase_view = Kokkos::View<erase_report, memory_space>;

  bulk_table(execution_space const& exec, char const* name, std::uint64_t max_keys,
             options const& o, hasher const& hash, key_equal const& equal,
             std::optional<wrapped_memory> memory)
      : m_storage(exec, name, max_keys, o, hash, equal, memory),
        m_insert_report(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("insert_report"))),
        m_erase_report(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("erase_report"))) {}
  bulk_table(bulk_table&&) = default;
  bulk_table& operator=(bulk_table&&) = default;
  bulk_table(bulk_table const&) = delete;
  bulk_table& operator=(bulk_table const&) = delete;

  static std::size_t bytes_for(std::uint64_t max_keys, double load) {
    return Storage::bytes_for(max_keys, load);
  }

  Storage const& storage() const { return m_storage; }
  ref_type ref() const { return m_storage.ref(); }
  std::uint64_t max_keys() const { return m_storage.max_keys(); }
  std::uint64_t slot_count() const { return m_storage.slot_count(); }
  std::string label(char const* what) const { return table_label(m_storage.name(), what); }

  void clear(execution_space const& exec) { m_storage.clear(exec); }

  /// Inserts or merges, and counts the outcomes in a view. Asynchronous.
  template <class Keys, class Values, class Combine, class Stencil>
  void insert(execution_space const& exec, char const* what, Keys const& keys, Values const& values,
              Combine const& combine, Stencil const& stencil, report_view const& report) const {
    using body = insert_body<distance, ref_type, Keys, Values, Combine, Stencil>;
    device::tally_each_staged<distance>(label(what), exec, keys.extent(0),
                                        body{{ref(), keys}, values, combine, stencil}, report);
  }
  /// The same, waiting for the report. A storage that grows does so until every key is in, unless that would merge a
  /// value twice. Keys that find no place in a table sixteen times their number share a hash: they stay rejected.
  template <class Keys, class Values, class Combine, class Stencil>
  insert_report insert(execution_space const& exec, char const* what, Keys const& keys,
                       Values const& values, Combine const& combine, Stencil const& stencil) {
    insert_report report = insert_once(exec, what, keys, values, combine, stencil);
    if constexpr (grows<Storage> &&
                  (std::is_same_v<Combine, keep_stored> || std::is_same_v<Combine, take_new>)) {
      while (report.rejected != 0 && grow(exec, report.rejected)) {
        auto const again = insert_once(exec, what, keys, values, combine, stencil);
        report.inserted += again.inserted;
        report.existing += report.rejected - again.inserted - again.rejected;
        report.rejected = again.rejected;
        if (again.inserted == 0) break;
      }
    }
    if (report.invalid != 0)
      reject("keys equal to a sentinel",
             std::to_string(report.invalid) + " of " + std::to_string(keys.extent(0)) +
                 " keys; the others were handled: " + std::to_string(report.inserted) +
                 " inserted, " + std::to_string(report.existing) + " existing, " +
                 std::to_string(report.rejected) + " rejected",
             "choose other sentinels in the options");
    return report;
  }

  void throw_if_rejected(execution_space const& exec, insert_report const& report) const {
    if (report.rejected == 0) return;
    std::uint64_t const held = size(exec);
    throw capacity_error(m_storage.name() + " is full", held + report.rejected, held,
                         held + report.rejected);
  }

  /// Writes write(answer) for every query. Asynchronous.
  template <class Keys, class Out, class Write, class Stencil>
  void look_up(execution_space const& exec, char const* what, Keys const& queries, Out const& out,
               Write const& write, Stencil const& stencil) const {
    using body = lookup_body<distance, ref_type, Keys, mapped_type, Out, Write, Stencil>;
    device::for_each_staged<distance>(label(what), exec, queries.extent(0),
                                      body{{ref(), queries}, out, write, stencil});
  }

  /// Removes keys, and counts those that were there in a view. Asynchronous.
  template <class Keys>
  void erase(execution_space const& exec, Keys const& keys, erase_view const& report) const {
    device::tally_each_staged<distance>(label("erase"), exec, keys.extent(0),
                                        erase_body<distance, ref_type, Keys>{{ref(), keys}},
                                        report);
  }
  /// The same, waiting for the count.
  template <class Keys>
  std::uint64_t erase(execution_space const& exec, Keys const& keys) const {
    erase(exec, keys, m_erase_report);
    erase_report report;
    Kokkos::deep_copy(exec, report, m_erase_report);
    return report.erased;
  }

  /// Executes operations at once, and writes what became of each. Asynchronous.
  template <class Operations, class Results>
  void apply(execution_space const& exec, Operations const& operations,
             Results const& results) const {
    using body = apply_body<distance, ref_type, Operations, Results>;
    device::for_each_staged<distance>(label("apply"), exec, operations.extent(0),
                                      body{ref(), operations, results});
  }

  std::uint64_t size(execution_space const& exec) const {
    std::uint64_t n = 0;
    Kokkos::parallel_reduce(label("size"), index_range(exec, slot_count()),
                            count_body<ref_type>{ref()}, n);
    return n;
  }
  template <class Visit>
  void for_each(execution_space const& exec, Visit const& visit) const {
    Kokkos::parallel_for(label("for_each"), index_range(exec, slot_count()),
                         visit_body<ref_type, key_type, Visit>{ref(), visit});
  }
  template <class KeysOut, class ValuesOut>
  std::uint64_t retrieve_all(execution_space const& exec, KeysOut const& keys,
                             ValuesOut const& values) const {
    if (keys.extent(0) < slot_count()) {
      std::uint64_t const n = size(exec);
      if (keys.extent(0) < n)
        reject("the views given to retrieve_all are too short",
               std::to_string(keys.extent(0)) + " elements for " + std::to_string(n) + " keys",
               "give views of at least size() elements");
    }
    std::uint64_t n = 0;
    Kokkos::parallel_scan(
        label("retrieve_all"), index_range(exec, slot_count()),
        retrieve_body<ref_type, key_type, KeysOut, ValuesOut>{ref(), keys, values}, n);
    return n;
  }

  void rehash(execution_space const& exec, std::uint64_t new_max_keys) {
    Kokkos::Profiling::ScopedRegion const region(label("rehash"));
    std::string const& name = m_storage.name();
    std::uint64_t const n = size(exec);
    if (new_max_keys < n)
      throw capacity_error(name + "::rehash would not hold the keys that are in", n, new_max_keys,
                           n);
    Storage fresh = m_storage.fresh(exec, new_max_keys);
    device::tally_each_staged<0>(label("rehash"), exec, slot_count(),
                                 reinsert_body<ref_type, key_type>{ref(), fresh.ref()},
                                 m_insert_report);
    insert_report report;
    Kokkos::deep_copy(exec, report, m_insert_report);
    if (report.rejected != 0)
      throw capacity_error(name + "::rehash found no place for some keys", n, report.inserted,
                           2 * n);
    m_storage = std::move(fresh);
  }

  /// Takes over the contents of a table whose storage has the same layout, in any space. Waits for exec.
  template <class OtherStorage>
    requires requires(Storage& to, execution_space const& exec, OtherStorage const& from) {
      to.copy_from(exec, from);
    }
  void copy_from(execution_space const& exec, bulk_table<OtherStorage> const& other) {
    m_storage.copy_from(exec, other.storage());
    exec.fence("karpos::deep_copy: the source may change once this returns");
  }

 private:
  static constexpr int distance = Storage::prefetch_distance;

  /// Moves to a table twice as large, with room for so many keys more. Returns: whether there was a point in it.
  bool grow(execution_space const& exec, std::uint64_t more) {
    std::uint64_t const held = size(exec);
    if (slot_count() / 16 >= held + more) return false;
    try {
      rehash(exec, 2 * (held < max_keys() ? max_keys() : held) + more);
    } catch (capacity_error const&) {
      return false;  // the table is as it was
    }
    return true;
  }

  template <class Keys, class Values, class Combine, class Stencil>
  insert_report insert_once(execution_space const& exec, char const* what, Keys const& keys,
                            Values const& values, Combine const& combine,
                            Stencil const& stencil) const {
    insert(exec, what, keys, values, combine, stencil, m_insert_report);
    insert_report report;
    Kokkos::deep_copy(exec, report, m_insert_report);
    return report;
  }

  Storage m_storage;
  // Where kernels count for calls that wait for a report: allocated once, so that no call allocates.
  report_view m_insert_report;
  erase_view m_erase_report;
};

}  // namespace karpos::detail
