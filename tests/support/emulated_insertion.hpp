// SPDX-License-Identifier: Apache-2.0
/// \file
/// Insertions by table segments on a device that a CPU emulates. Include emulated_space.hpp first.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "karpos/hash_map.hpp"
#include "support/emulated_restore.hpp"
#include "support/emulated_space.hpp"
#include "support/near_probing.hpp"

namespace karpos::detail::open_addressing {

/// The device whose tuning the emulated one has, except for sizes.
struct some_device {
  struct memory_space {};
};

/// Segments of 16 bucket pairs, so that few rows fill many segments.
template <>
struct tuning<karpos_test::emulated_space> : tuning<some_device> {
  static constexpr int segment_scratch_bytes = 64 + 16 * 68;
  static constexpr std::uint64_t max_partitions_of_one_pass = 8;
  static constexpr std::uint64_t min_regional_bytes_per_row = 200;
  static constexpr bool prefers_segments = true;
  static constexpr std::uint64_t min_segmented_table_bytes = 8192, max_table_bytes_per_row = 400;
};

}  // namespace karpos::detail::open_addressing

namespace karpos_test {

/// A map with the buckets of GPUs.
template <class Key, class T, class Hash>
struct open_map
    : karpos::hash_map<Key, T, Kokkos::DefaultHostExecutionSpace, Hash, karpos::equal_to<Key>,
                       near_probing<16>, sizeof(Key) + sizeof(T) == 8 ? 4 : 2> {
  using open_map::hash_map::hash_map;
  auto table() const { return this->m_storage.ref(); }
};
/// A map that acts as the storage of a device's map.
template <class Key, class T, class Hash = karpos::hash<Key>>
struct emulated_map : open_map<Key, T, Hash> {
  explicit emulated_map(std::uint64_t max_keys, double load = 0.5, Hash const& hash = {})
      : open_map<Key, T, Hash>(Kokkos::DefaultHostExecutionSpace{}, max_keys,
                               {.load = load, .seed = 0}, hash) {
    (void)open_map<Key, T, Hash>::ref();  // the map does not see changes to its table
  }
  using execution_space = emulated_space;
  using ref_type = decltype(std::declval<open_map<Key, T, Hash> const&>().table());

  ref_type ref() const { return this->table(); }
  std::string label(char const* what) const { return what; }
  bool has_order() const { return false; }
  bool defers = false;
  bool defers_marks() const { return defers; }
  void invalidate_order() const {}

  std::uint64_t pairs() const { return this->bucket_count() / 2; }
  /// Returns the plan for inserting `rows` rows into the empty table.
  auto plan(std::uint64_t rows) const {
    return karpos::detail::open_addressing::empty_table_plan<emulated_space, ref_type>(pairs(),
                                                                                       rows);
  }
  static constexpr bool has_segments = true, has_tombstones = true;
  std::size_t bytes(std::uint64_t rows) const {
    return karpos::detail::insertion_bytes<karpos::detail::keep_stored>(
        emulated_space{}, *this, karpos::bulk_strategy::partitioned, rows,
        karpos::detail::never_pays{});
  }
  using memory = karpos::detail::open_addressing::segment_memory<emulated_space, ref_type>;
};

}  // namespace karpos_test
