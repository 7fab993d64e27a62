// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/cuckoo/geometry.hpp"
#include "karpos/detail/cuckoo/items.hpp"
#include "karpos/detail/multisplit.hpp"
#include "karpos/detail/table_memory.hpp"

// Memory of a cuckoo table, and of building one.

namespace karpos::detail::cuckoo {

/// How many slots a table has, and in how many groups: buckets (two_level) or partitions (dense).
template <class Word>
struct table_shape {
  cuckoo_layout layout = cuckoo_layout::two_level;
  std::uint64_t groups = 1, slots = 0;
  std::uint64_t metadata = 0;  ///< bytes: one for each bucket or window
  std::uint32_t windows = 0;   ///< of a partition

  /// For n keys; dense: with room for more.
  template <class Key>
  static table_shape of(std::uint64_t n, std::uint64_t room, cuckoo_map_options<Key> const& o) {
    return o.layout == cuckoo_layout::two_level
               ? of_buckets(n)
               : of_windows(slots_for(Kokkos::max(n, room), o.load));
  }
  std::size_t bytes() const { return slots * sizeof(Word) + metadata_words() * 4; }
  std::uint64_t metadata_words() const { return (metadata + 3) / 4; }

 private:
  static table_shape of_buckets(std::uint64_t n) {
    using in_bucket = bucket_geometry<Word>;
    std::uint64_t const buckets = in_bucket::count_for(n);
    return {cuckoo_layout::two_level, buckets, buckets * in_bucket::slots, buckets, 0};
  }
  static table_shape of_windows(std::uint64_t slots) {
    using in_partition = partition_geometry<Word>;
    constexpr std::uint64_t each = in_partition::window_slots;
    std::uint64_t const windows = Kokkos::max<std::uint64_t>((slots + each - 1) / each, 1);
    std::uint64_t const partitions = (windows - 1) / in_partition::max_windows + 1;
    std::uint64_t const of_each = (windows - 1) / partitions + 1, all = partitions * of_each;
    return {cuckoo_layout::dense, partitions, all * each, all, static_cast<std::uint32_t>(of_each)};
  }
};

/// The arrays of a table.
template <class Word, class ExecSpace>
struct table_arrays {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Word*, memory_space> slots;
  Kokkos::View<std::uint32_t*, memory_space> metadata;

  static table_arrays allocate(std::string const& name, ExecSpace const& exec,
                               table_shape<Word> const& shape) {
    return allocated<memory_space>(shape.bytes(), [&] {
      table_arrays a;
      a.slots = uninitialized_array<decltype(slots)>(exec, table_label(name, "slots"), shape.slots);
      a.metadata = uninitialized_array<decltype(metadata)>(exec, table_label(name, "metadata"),
                                                           shape.metadata_words());
      return a;
    });
  }
  bool has(table_shape<Word> const& shape) const {
    return slots.extent(0) == shape.slots && metadata.extent(0) == shape.metadata_words();
  }
  void clear(std::string const& name, ExecSpace const& exec, Word empty) const {
    fill(table_label(name, "clear"), exec, slots, empty);
    fill(table_label(name, "clear metadata"), exec, metadata, 0);
  }
  template <class OtherSpace>
  void copy_from(ExecSpace const& exec, table_arrays<Word, OtherSpace> const& other) const {
    Kokkos::deep_copy(exec, slots, other.slots);
    Kokkos::deep_copy(exec, metadata, other.metadata);
  }
};

/// Memory that a build needs beside the table: the regions of the multisplit, and one array of counters (the report,
/// and how many items each region has).
template <class Word, class ExecSpace>
struct build_workspace {
  using memory_space = typename ExecSpace::memory_space;
  Kokkos::View<Word*, memory_space> items;
  Kokkos::View<std::uint64_t*, memory_space> counters;
  static constexpr std::uint64_t report_words = sizeof(build_report) / sizeof(std::uint64_t);
  static_assert(std::is_trivially_copyable_v<build_report> &&
                sizeof(build_report) == report_words * sizeof(std::uint64_t));

  build_report* report() const { return reinterpret_cast<build_report*>(counters.data()); }
  multisplit_regions<Word> regions(multisplit_plan const& p) const {
    return {items.data(), fill_counters(), p.capacity};
  }
  /// Regions of the first pass, in memory of the caller's or, if that is null, behind the others.
  multisplit_regions<Word> coarse_regions(multisplit_plan const& p, Word* memory) const {
    return {memory ? memory : items.data() + p.items(), fill_counters() + p.regions,
            p.coarse_capacity};
  }

  std::size_t bytes() const { return items.size() * sizeof(Word) + counters.size() * 8; }
  static std::size_t bytes_for(multisplit_plan const& p, bool with_coarse) {
    return item_words(p, with_coarse) * sizeof(Word) + counter_words(p) * sizeof(std::uint64_t);
  }
  /// Allocates what is too small. Changes nothing when there is no memory.
  void reserve(std::string const& name, ExecSpace const& exec, multisplit_plan const& p,
               bool with_coarse) {
    std::uint64_t const n = item_words(p, with_coarse), counts = counter_words(p);
    if (items.extent(0) >= n && counters.extent(0) >= counts) return;
    auto [new_items, new_counters] = allocated<memory_space>(bytes_for(p, with_coarse), [&] {
      return std::pair{
          uninitialized_array<decltype(items)>(exec, table_label(name, "workspace"), n),
          uninitialized_array<decltype(counters)>(exec, table_label(name, "counters"), counts)};
    });
    items = new_items;
    counters = new_counters;
  }

 private:
  std::uint64_t* fill_counters() const { return counters.data() + report_words; }
  static std::uint64_t item_words(multisplit_plan const& p, bool with_coarse) {
    return p.items() + (with_coarse ? p.coarse_items() : 0);
  }
  static std::uint64_t counter_words(multisplit_plan const& p) {
    return report_words + p.regions + p.coarse_regions;
  }
};

}  // namespace karpos::detail::cuckoo
