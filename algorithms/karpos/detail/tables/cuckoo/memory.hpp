// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/tables/cuckoo/geometry.hpp"
#include "karpos/detail/tables/table_memory.hpp"

// The memory of a cuckoo table.

namespace karpos::detail::cuckoo {

/// The number of a table's slots and of its groups: buckets (two_level) or partitions (dense).
template <class Word>
struct table_shape {
  cuckoo_layout layout = cuckoo_layout::two_level;
  std::uint64_t groups = 1, slots = 0;
  std::uint64_t metadata = 0;  ///< bytes: one for each bucket or window
  std::uint32_t windows = 0;   ///< of a partition

  /// Returns the shape for n keys; in the dense layout with capacity for at least `key_capacity`
  /// keys.
  template <class Key>
  static table_shape of(std::uint64_t n, std::uint64_t key_capacity,
                        cuckoo_map_options<Key> const& o) {
    return o.layout == cuckoo_layout::two_level
               ? of_buckets(n)
               : of_windows(slots_for(Kokkos::max(n, key_capacity), o.load),
                            partition_geometry<Word>::max_windows(o.load));
  }
  std::size_t bytes() const { return slots * sizeof(Word) + metadata_words() * 4; }
  std::uint64_t metadata_words() const { return (metadata + 3) / 4; }

 private:
  static table_shape of_buckets(std::uint64_t n) {
    using in_bucket = bucket_geometry<Word>;
    std::uint64_t const buckets = in_bucket::count_for(n);
    return {cuckoo_layout::two_level, buckets, buckets * in_bucket::slots, buckets, 0};
  }
  static table_shape of_windows(std::uint64_t slots, std::uint64_t max_windows) {
    using in_partition = partition_geometry<Word>;
    constexpr std::uint64_t each = in_partition::window_slots;
    std::uint64_t const windows = Kokkos::max<std::uint64_t>((slots + each - 1) / each, 1);
    std::uint64_t const partitions = (windows - 1) / max_windows + 1;
    std::uint64_t const windows_each = (windows - 1) / partitions + 1,
                        all = partitions * windows_each;
    return {cuckoo_layout::dense, partitions, all * each, all,
            static_cast<std::uint32_t>(windows_each)};
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
    return allocate_table<memory_space>(shape.bytes(), [&] {
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

}  // namespace karpos::detail::cuckoo
