// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/divide.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/table_memory.hpp"

namespace karpos::detail::cuckoo {

/// Slots and marks of a table for so many keys.
template <class Word>
struct extents {
  std::uint64_t groups = 1, slots = 0, marks = 0;
  std::uint32_t windows = 0;

  template <class Key>
  static extents of(std::uint64_t keys, std::uint64_t room, cuckoo_map_options<Key> const& o) {
    extents e;
    if (o.layout == cuckoo_layout::two_level) {
      e.groups = bucket_geometry<Word>::count_for(keys);
      e.slots = e.groups * bucket_geometry<Word>::slots;
      e.marks = e.groups;
      return e;
    }
    using in_district = district_geometry<Word>;
    constexpr std::uint64_t each = in_district::window_slots, most = in_district::max_windows;
    std::uint64_t const wanted = (slots_for(keys < room ? room : keys, o.load) + each - 1) / each;
    std::uint64_t const windows = wanted == 0 ? 1 : wanted;
    e.groups = (windows - 1) / most + 1;
    e.windows = static_cast<std::uint32_t>((windows - 1) / e.groups + 1);
    e.marks = e.groups * e.windows;
    e.slots = e.marks * each;
    return e;
  }
  std::size_t bytes() const { return slots * sizeof(Word) + mark_words() * 4; }
  std::uint64_t mark_words() const { return (marks + 3) / 4; }
};

/// Memory that a build needs beside the table. What a build counts lies in one array: the items of regions, and its
/// report.
template <class Word, class ExecSpace>
struct workspace {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Word*, memory_space> items;
  Kokkos::View<std::uint64_t*, memory_space> counters;
  static constexpr std::uint64_t report_words = sizeof(build_report) / sizeof(std::uint64_t);
  static_assert(std::is_trivially_copyable_v<build_report> &&
                sizeof(build_report) == report_words * sizeof(std::uint64_t));

  build_report* report() const { return reinterpret_cast<build_report*>(counters.data()); }
  std::uint64_t* fill() const { return counters.data() + report_words; }
  std::size_t bytes() const { return items.size() * sizeof(Word) + counters.size() * 8; }

  static std::size_t bytes_for(division const& d, bool coarse_too) {
    return (d.items() + (coarse_too ? d.coarse_items() : 0)) * sizeof(Word) +
           (report_words + d.regions + d.coarse_regions) * sizeof(std::uint64_t);
  }
  /// Makes room, if there is not enough. Changes nothing when there is no memory.
  void reserve(std::string const& name, ExecSpace const& exec, division const& d, bool coarse_too) {
    std::uint64_t const n = d.items() + (coarse_too ? d.coarse_items() : 0);
    std::uint64_t const counts = report_words + d.regions + d.coarse_regions;
    if (items.extent(0) >= n && counters.extent(0) >= counts) return;
    auto [new_items, new_counters] = allocated<memory_space>(bytes_for(d, coarse_too), [&] {
      return std::pair{
          uninitialized_array<decltype(items)>(exec, table_label(name, "workspace"), n),
          uninitialized_array<decltype(counters)>(exec, table_label(name, "counters"), counts)};
    });
    items = new_items;
    counters = new_counters;
  }
};

}  // namespace karpos::detail::cuckoo
