// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/cuckoo/table.hpp"
#include "karpos/detail/scans.hpp"

// Insertion of later keys into the dense layout: new keys are found first, then placed as in a build. If one finds no
// place, the table as it was before and the new keys move to another.

namespace karpos::detail::cuckoo {

/// Lets the indices of keys through that a table does not hold.
template <class Ref, class Keys>
struct keep_absent {
  Ref ref;
  Keys keys;
  KOKKOS_FUNCTION bool operator()(std::uint64_t i) const {
    auto const key = keys(i);
    return !find_in<device::access::frozen>(ref, device::thread_tile{}, key).present;
  }
};

template <class Ref, class Keys>
struct count_reserved {
  Ref ref;
  Keys keys;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    n += ref.reserved(keys(i));
  }
};

/// Appends the pairs of a source to views of pairs.
template <class Key, class View, class Source, class KeysOut, class ValuesOut>
struct append_source {
  using layout = typename View::layout;
  Source source;
  KeysOut keys;
  ValuesOut values;
  std::uint64_t first;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const {
    auto const item = source.item(i);
    keys(first + i) = from_bits<Key>(layout::key_of(item));
    values(first + i) = layout::value_of(item);
  }
};

template <class Key, class T, class ExecSpace, class Hash>
template <class Keys, class Values>
insert_report table<Key, T, ExecSpace, Hash>::insert(ExecSpace const& exec, Keys const& keys,
                                                     Values const& values) {
  Kokkos::Profiling::ScopedRegion const region(label("insert"));
  dense const ref(seen());
  insert_report report;
  std::uint64_t const n = keys.extent(0);
  Kokkos::parallel_reduce(label("count sentinels"), index_range(exec, n),
                          count_reserved<dense, Keys>{ref, keys}, report.invalid);
  auto const first = distinct(name(), exec, seen(), keys, keep_absent<dense, Keys>{ref, keys});
  report.inserted = first.kept;
  report.existing = n - report.invalid - first.kept;
  std::uint64_t const together = m_size + first.kept, room = capacity();
  auto const source = chosen(keys, values, first);
  if (together > room)
    move_to_new(exec, source, together < room + room / 2 ? room + room / 2 : together);
  else if (first.kept == 0 || place_new(exec, source))
    finish(together);
  else
    move_to_new(exec, source, room);
  if (report.invalid != 0) reject_sentinels(report.invalid, n);
  return report;
}

/// Adds pairs whose keys are new and all different. Returns: whether there was a place for all; if not, the table is as
/// it was.
template <class Key, class T, class ExecSpace, class Hash>
template <class Source>
bool table<Key, T, ExecSpace, Hash>::place_new(ExecSpace const& exec, Source const& source) {
  auto const slots = m_slots;
  auto const marks = m_marks;
  division const d = division_for(source.size(), m_extents, m_options.layout);
  auto work = m_work;
  work.reserve(name(), exec, d, true);
  std::tie(m_slots, m_marks) = allocate(exec, m_extents);
  m_work = work;
  Kokkos::deep_copy(exec, m_slots, slots);
  Kokkos::deep_copy(exec, m_marks, marks);
  divide_source(exec, source, d, nullptr);
  place(exec, d);
  build_report const r = reported(exec);
  if (r.overflowing == 0 && r.homeless == 0) return true;
  m_slots = slots;
  m_marks = marks;
  finish(m_size);
  return false;
}

/// Builds a table with room for so many keys from what is in this one and from a source, and takes its place.
template <class Key, class T, class ExecSpace, class Hash>
template <class Source>
void table<Key, T, ExecSpace, Hash>::move_to_new(ExecSpace const& exec, Source const& source,
                                                 std::uint64_t room) {
  using keys_view = Kokkos::View<Key*, memory_space>;
  using values_view = Kokkos::View<T*, memory_space>;
  std::uint64_t const n = m_size + source.size();
  auto const [keys, values] = allocated<memory_space>(n * (sizeof(Key) + sizeof(T)), [&] {
    return std::pair{uninitialized_array<keys_view>(exec, label("keys to move"), n),
                     uninitialized_array<values_view>(exec, label("values to move"), n)};
  });
  std::uint64_t held = 0;
  Kokkos::parallel_scan(label("keys to move"), index_range(exec, m_extents.slots),
                        retrieve_body<dense, keys_view, values_view>{dense(seen()), keys, values},
                        held);
  Kokkos::parallel_for(
      label("keys to add"), index_range(exec, source.size()),
      append_source<Key, view, Source, keys_view, values_view>{source, keys, values, m_size});
  table fresh(m_options, m_hash);
  fresh.begin(exec, n, room);
  fresh.try_seeds(exec, all_pairs<view, keys_view, values_view>{keys, values});
  *this = std::move(fresh);
}

}  // namespace karpos::detail::cuckoo
