// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/contract.hpp"
#include "karpos/cuckoo_map_options.hpp"
#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/tables/cuckoo/geometry.hpp"
#include "karpos/detail/tables/cuckoo/tuning.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/detail/tables/table_memory.hpp"

// Sizes and memory of a cuckoo table and of its builds, and the errors of keys that it cannot hold.

namespace karpos::detail::cuckoo {

/// The number of a table's slots and of its groups: buckets (two_level) or partitions (dense).
template <class Word>
struct table_shape {
  cuckoo_layout layout = cuckoo_layout::two_level;
  std::uint64_t groups = 1, slots = 0;
  std::uint64_t metadata = 0;  ///< bytes: one for each bucket or window
  std::uint32_t windows = 0;   ///< of a partition

  /// Returns the shape for n keys; in the dense layout with capacity for at least `key_capacity`
  /// keys. Throws as cuckoo_table::bytes_for does.
  template <class Key>
  static table_shape of(std::uint64_t n, std::uint64_t key_capacity,
                        cuckoo_map_options<Key> const& o) {
    require_enumerators(o.layout);
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
    constexpr std::uint64_t each = partition_geometry<Word>::window_slots;
    std::uint64_t const windows = Kokkos::max<std::uint64_t>((slots + each - 1) / each, 1);
    std::uint64_t const partitions = (windows - 1) / max_windows + 1;
    std::uint64_t const windows_each = (windows - 1) / partitions + 1,
                        all = partitions * windows_each;
    return {cuckoo_layout::dense, partitions, all * each, all,
            static_cast<std::uint32_t>(windows_each)};
  }
};

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

/// The result of a build.
struct build_report {
  std::uint32_t overflowed = 0;  ///< items that overflowed their region, or its coarse region
  std::uint64_t invalid = 0;     ///< items with the sentinel for a key; perhaps not all of them
  std::uint64_t unplaced = 0;    ///< regions (two_level) or items (dense) without a place
  std::uint64_t duplicates = 0;  ///< keys that are equal to another one in the table

  bool is_complete() const {
    return overflowed == 0 && invalid == 0 && unplaced == 0 && duplicates == 0;
  }
};

/// How n items, whose hashes spread them evenly over groups, are split into regions of 2^shift
/// groups.
template <class ExecSpace, class Word>
struct region_plan {
  using split_type = partition::capacity_split<ExecSpace, Word, partition::tuning<ExecSpace>>;
  static constexpr bool by_capacity = device::is_device<ExecSpace>;

  std::uint64_t items = 0, regions = 1;
  int shift = 0;
  split_type split;  // its capacities hold on CPUs, too: a region with more items overflows

  region_plan() = default;
  /// max_regions: of one pass. max_items: of a region.
  region_plan(std::uint64_t n, std::uint64_t groups, int shift_by, std::uint64_t max_regions,
              std::uint64_t max_items)
      : items(n),
        regions(((groups - 1) >> shift_by) + 1),
        shift(shift_by) {
    double const mean = static_cast<double>(n) / static_cast<double>(groups) *
                        static_cast<double>(std::uint64_t(1) << shift);
    split = {regions <= max_regions ? partition::split_passes{regions}
                                    : partition::split_passes::two_by_bits(regions),
             partition::capacity_policy(mean, 1, Kokkos::min(n / 32 * 32 + 32, max_items))};
  }
  /// Returns the regions for n items of a table. A region is what a team builds (two_level), or one
  /// partition (dense).
  static region_plan of(std::uint64_t n, table_shape<Word> const& s) {
    using tune = tuning<ExecSpace>;
    constexpr std::uint64_t max_fixed_partitions =
                                partition::tuning<ExecSpace>::max_partitions(false),
                            one_pass = tune::on_device
                                           ? Kokkos::min(tune::max_regions, max_fixed_partitions)
                                           : ~std::uint64_t(0);
    constexpr int region_shift = std::countr_zero(static_cast<unsigned>(tune::region_buckets));
    if (s.layout == cuckoo_layout::two_level)
      return {n, s.groups, region_shift, one_pass, std::uint64_t(tune::region_items)};
    return {n, s.groups, 0, one_pass, ~std::uint64_t(0)};
  }
  std::uint32_t capacity() const { return split.fine.capacity; }
};

/// The arrays of a split, in one block of memory; arrays that it does not need have no elements.
template <class ExecSpace, class Word>
struct split_memory {
  using plan_type = region_plan<ExecSpace, Word>;
  using counting_plan = partition::plan<ExecSpace, Word>;

  plan_type plan;
  build_report* report = nullptr;
  std::uint64_t* begins = nullptr;
  Word *items = nullptr, *coarse_items = nullptr;
  std::byte* partition_workspace = nullptr;
  std::size_t bytes = 0;

  split_memory(ExecSpace const& exec, plan_type const& p, bool with_coarse,
               std::byte* memory = nullptr)
      : plan(p) {
    constexpr bool fixed = plan_type::by_capacity;
    arena a(memory);
    a.allocate(report, 1);
    if (memory != nullptr) plan.split.count_overflow_in(&report->overflowed);
    plan.split.allocate_from(a);
    a.allocate(begins, fixed ? 0 : p.regions + 1);
    a.allocate(items, fixed ? p.split.places() : p.items);
    a.allocate(coarse_items, fixed && with_coarse ? p.split.coarse_places() : 0);
    a.allocate(partition_workspace,
               fixed ? 0 : counting_plan(exec, p.items, p.regions, false).bytes());
    bytes = a.bytes();
  }
  partition::partitioned_rows<Word> regions() const {
    return {items, plan_type::by_capacity ? nullptr : begins, plan.split.fine};
  }
};

inline void require_no_sentinels(std::uint64_t invalid, std::uint64_t n) {
  if (invalid != 0)
    reject("keys equal to the sentinel",
           std::to_string(invalid) + " of " + std::to_string(n) + " keys",
           "choose another empty_key in the options");
}

template <class Key>
std::string name_of(Key const& key) {
  if constexpr (std::is_arithmetic_v<Key>)
    return std::to_string(key);
  else
    return "the bits " + std::to_string(to_bits<std::uint64_t>(key));
}

/// `example`: the index of the first key that equals one before it.
template <class ExecSpace, class Keys>
[[noreturn]] void reject_duplicates(ExecSpace const& exec, Keys const& keys,
                                    std::uint64_t duplicates, std::uint64_t example) {
  auto const key = read_back(exec, keys.data() + example * keys.stride(0),
                             "karpos::cuckoo_map: the first key that occurs again");
  reject("keys occur more than once",
         std::to_string(duplicates) + " of " + std::to_string(keys.extent(0)) + " keys; keys(" +
             std::to_string(example) + ") = " + name_of(key) + " is the first of them",
         "remove them, or choose duplicate_keys::keep_one");
}

[[noreturn]] inline void throw_unplaced(std::uint64_t n, std::uint64_t seeds,
                                        build_report const& r) {
  throw hash_error("no slots for all of " + std::to_string(n) + " keys with any of " +
                       std::to_string(seeds) + " seeds",
                   std::to_string(r.overflowed) + " keys too many in their group, " +
                       std::to_string(r.unplaced) + " groups or keys not placed",
                   "pass a hash function that tells keys apart, or a lower load");
}

}  // namespace karpos::detail::cuckoo
