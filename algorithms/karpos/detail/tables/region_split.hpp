// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "karpos/detail/relational/partition/restore.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/space.hpp"
#include "karpos/table_options.hpp"

// The keys of a bulk operation, split by region of the table, for GPUs. An operation on a table
// that is larger than the last cache costs a sector of memory for each key, however it is written.
// If keys are split by the region where their search begins, those of one region find it in the
// cache.
//
//   keys      7 2 9 4 | 1 3 8 6        in the callers' order
//   split     2 4 1 3 . | 7 9 8 6 .    by region, of fixed capacity (partition/restore.hpp)
//   work      region 0 while it is in the cache, then region 1
//
// The keys of a region are looked up, and results go back to the callers' order
// (partitioned_lookup.hpp); or an operation's outcomes are counted (region_tally.hpp).
//
// The first three pairs of a path lie in its region, or close to it (double_hashing, probing.hpp);
// later ones lie anywhere. Keys that overflow their partition, because some are frequent, are
// handled directly at the end.

namespace karpos::detail {

/// The regions of a table by which the keys of a bulk operation are split.
struct table_regions {
  std::uint32_t regions = 0;  // of the table; 0: keys are not split
  std::uint64_t batch = 0;    // keys that are split at once
  double slack = 1;           // of partitions, for keys that occur often (capacity_policy)

  bool is_direct() const { return regions == 0; }
  template <class ExecSpace, class Row>
  partition::capacity_split<ExecSpace, Row> partitions() const {
    return {{regions}, partition::capacity_policy(static_cast<double>(batch) / regions, slack)};
  }
};

/// Bytes of a table for each key up to which a split pays: of lookups, which read each region, and
/// of changes, which write it back as well. Lookups, H100, a 50 MB cache, 4+4 bytes at load 0.5,
/// direct and by partitions, G/s: 2^22 queries into 2^22 keys (64 MB) 36.7 and 30.2, 2^23 into 2^23
/// 32.0 and 35.4; into 2^27 keys (2 GB) 2^24 queries 27.5 and 24.5, 2^25 27.4 and 29.3. Insertions
/// into 2^27 slots that hold keys: 32 bytes a row 11.7 and 18.0, 80 bytes 11.4 and 14.6, 256 bytes
/// 10.6 and 10.5; of 8+8 bytes, 60 bytes a row 8.1 and 8.6, 100 bytes 7.5 and 7.5.
inline constexpr std::uint64_t max_table_bytes_per_query = 64, max_table_bytes_per_change = 96;

/// Chooses how n keys are handled, given the bytes of the device's cache. Splitting them pays if
/// single operations miss the cache, and if each region serves many keys.
template <class ExecSpace>
table_regions plan_regions_in_cache(std::uint64_t cache, std::uint64_t table_bytes, std::uint64_t n,
                                    bulk_strategy strategy,
                                    std::uint64_t max_bytes_per_key = max_table_bytes_per_query) {
  constexpr std::uint64_t max_batch = std::uint64_t(1) << 27, min_keys = 1 << 23;
  constexpr std::uint64_t max_regions =
      partition::tuning_of_recorded<ExecSpace>::max_partitions_each;
  if (strategy == bulk_strategy::direct || n == 0) return {};
  // A region takes a third of the cache: keys and results of several regions pass through it.
  std::uint64_t const region = Kokkos::max(cache / 3, std::uint64_t(1)),
                      regions = (table_bytes + region - 1) / region;
  if (strategy != bulk_strategy::partitioned &&
      (cache == 0 || table_bytes < 2 * cache || regions > 2 * max_regions || n < min_keys ||
       table_bytes / max_bytes_per_key > n))
    return {};
  return {static_cast<std::uint32_t>(Kokkos::clamp(regions, std::uint64_t(1), max_regions)),
          Kokkos::min(n, max_batch)};
}
/// Chooses how n keys are handled on a device.
template <class ExecSpace>
table_regions plan_regions(ExecSpace const& exec, std::uint64_t table_bytes, std::uint64_t n,
                           bulk_strategy strategy,
                           std::uint64_t max_bytes_per_key = max_table_bytes_per_query) {
  return detail::plan_regions_in_cache<ExecSpace>(device::cache_bytes(exec), table_bytes, n,
                                                  strategy, max_bytes_per_key);
}

/// Whether keys may be split by region: they are a view, or functions of the index that have
/// slices; the table tells the region of a hash; and the split can move them.
template <class ExecSpace, class Table, class Keys>
inline constexpr bool may_split_by_region = false;
template <class ExecSpace, class Table, class Keys>
  requires(Kokkos::is_view_v<Keys> || requires(Keys const& keys) { keys.slice(0, 0); })
inline constexpr bool may_split_by_region<ExecSpace, Table, Keys> =
    device::is_device<ExecSpace> && requires(Table const& t, std::uint64_t hash) {
      t.region_of(hash, std::uint32_t());
    } && partition::is_row<typename Keys::non_const_value_type>;

/// Maps a key to the region of the table where its search begins.
template <class Table>
struct region_of_query {
  Table table;
  std::uint32_t regions;
  template <class Key>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(Key const& key) const {
    return table.region_of(table.hash(key), regions);
  }
};

template <class ExecSpace, class Table, class Source>
struct region_split
    : partition::recorded_split<ExecSpace, Source,
                                partition::partition_of_row<Source, region_of_query<Table>>> {
  region_split(ExecSpace const& exec, Table const& table, Source const& source,
               table_regions const& plan)
      : region_split::recorded_split(exec, source, {{table, plan.regions}, plan.regions},
                                     plan.template partitions<ExecSpace, typename Source::row>()) {}
};

}  // namespace karpos::detail
