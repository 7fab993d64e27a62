// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/count.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/partition_options.hpp"

// The host driver of a split by counting: one pass, or several by digits of the partition number.

namespace karpos::detail::partition {

/// Returns the positions that one pass counts in.
template <bool Stable, class ExecSpace, class Row>
places places_in(plan<ExecSpace, Row> const& plan, arrays<Row> const& memory,
                 std::uint64_t partitions) {
  constexpr bool own_places = Stable || !device::is_device<ExecSpace>;
  return {memory.begins, own_places ? memory.firsts : nullptr, own_places ? nullptr : memory.taken,
          plan.stride(), static_cast<int>(partitions)};
}
/// Moves rows that have been counted. `streamed_bytes`: bytes of output from which on CPUs write
/// past the caches. Asynchronous.
template <bool Stable, class ExecSpace, class Source, class PartitionOf>
void move_rows(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
               row_ranges const& ranges, places const& to,
               arrays<typename Source::row> const& memory, typename Source::row* out,
               std::uint64_t streamed_bytes = tuning<ExecSpace>::min_streamed_bytes) {
  using row = typename Source::row;
  constexpr char const* label = "karpos::partition: move";
  if constexpr (device::is_device<ExecSpace>) {
    device::for_each_in_league(
        label, exec, ranges.count,
        move_tiles<ExecSpace, Source, PartitionOf, Stable>{source, partition_of, ranges, to, out});
  } else {
    bool const past_caches = ranges.rows * sizeof(row) >= streamed_bytes &&
                             reinterpret_cast<std::uintptr_t>(out) % sizeof(row) == 0;
    device::for_each_in_league(
        label, exec, ranges.count,
        move_lines<ExecSpace, Source, PartitionOf>{source, partition_of, ranges, to, out,
                                                   memory.waiting, past_caches});
  }
}

/// Splits the rows of a source in one pass. Asynchronous.
template <bool Stable, class ExecSpace, class Source, class PartitionOf, class Offsets>
void split(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
           std::uint64_t partitions, plan<ExecSpace, typename Source::row> const& plan,
           arrays<typename Source::row> const& memory, typename Source::row* out,
           Offsets const& offsets) {
  auto const to = partition::places_in<Stable>(plan, memory, partitions);
  partition::count_and_place(exec, source, partition_of, plan.ranges(), to, offsets,
                             memory.tables());
  partition::move_rows<Stable>(exec, source, partition_of, plan.ranges(), to, memory, out);
}

/// Finds where partition p begins in sorted rows: at the first row of p or of a later partition.
template <class Rows, class PartitionOf, class Offsets>
struct find_offsets {
  Rows rows;
  PartitionOf partition_of;
  Offsets offsets;
  KOKKOS_FUNCTION void operator()(std::uint64_t p) const {
    std::uint64_t first = 0, last = rows.size();
    while (first < last) {
      std::uint64_t const middle = (first + last) / 2;
      if (partition_of(rows.load(middle)) < p)
        first = middle + 1;
      else
        last = middle;
    }
    using offset = typename std::remove_cvref_t<Offsets>::non_const_value_type;
    offsets(p) = static_cast<offset>(first);
  }
};

/// Runs the only pass, or the first of several: stable or not, which makes no difference on CPUs.
template <class ExecSpace, class Source, class PartitionOf, class Offsets>
void split_first(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                 std::uint64_t partitions, plan<ExecSpace, typename Source::row> const& plan,
                 arrays<typename Source::row> const& memory, typename Source::row* out,
                 Offsets const& offsets) {
  if constexpr (device::is_device<ExecSpace>)
    if (!plan.stable(0))
      return partition::split<false>(exec, source, partition_of, partitions, plan, memory, out,
                                     offsets);
  partition::split<true>(exec, source, partition_of, partitions, plan, memory, out, offsets);
}

/// Splits by the lowest bits of the partition's number, then stably by higher ones.
template <class ExecSpace, class Source, class PartitionOf, class Offsets>
void split_in_passes(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                     plan<ExecSpace, typename Source::row> const& plan,
                     arrays<typename Source::row> const& memory, typename Source::row* out,
                     Offsets const& offsets) {
  using rows = rows_of_array<Source>;
  auto const between = unmanaged<ExecSpace>(memory.offsets, plan.stride() + 1);
  typename Source::row *from = nullptr, *to = plan.passes() % 2 == 0 ? memory.rows : out;
  for (int pass = 0; pass < plan.passes(); ++pass) {
    std::uint64_t const partitions = plan.partitions_of(pass);
    digit<PartitionOf> const by{partition_of, plan.shift(pass),
                                static_cast<std::uint32_t>(partitions - 1)};
    if (pass == 0)
      partition::split_first(exec, source, by, partitions, plan, memory, to, between);
    else
      partition::split<true>(exec, rows(from, source.size()), by, partitions, plan, memory, to,
                             between);
    from = to;
    to = from == out ? memory.rows : out;
  }
  device::loop_over(
      "karpos::partition: find offsets", exec, plan.partitions() + 1,
      find_offsets<rows, PartitionOf, device::held_by_loop<ExecSpace, Offsets>>{
          rows(out, source.size()), partition_of, device::for_loop<ExecSpace>(offsets)});
}

/// Splits the rows of a source as planned, in memory of plan.bytes(). Asynchronous.
template <class ExecSpace, class Source, class Partitioner, class Offsets>
void split_as_planned(ExecSpace const& exec, Source const& source, Partitioner const& partitioner,
                      plan<ExecSpace, typename Source::row> const& plan, std::byte* memory,
                      typename Source::row* out, Offsets const& offsets) {
  arrays<typename Source::row> const a(plan, memory);
  partition_of_row<Source, device::held_by_loop<ExecSpace, Partitioner>> const partition_of{
      device::for_loop<ExecSpace>(partitioner), static_cast<std::uint32_t>(plan.partitions())};
  if (plan.passes() == 1)
    partition::split_first(exec, source, partition_of, plan.partitions(), plan, a, out, offsets);
  else
    partition::split_in_passes(exec, source, partition_of, plan, a, out, offsets);
}

/// Checks the arguments, and splits. `keys` and `values` are the ranges that the source reads.
template <class ExecSpace, class Source, class Partitioner, class Out, class Offsets>
void run(ExecSpace const& exec, Source const& source, Partitioner const& partitioner,
         Out const& out, Offsets const& offsets, memory_range const& keys,
         memory_range const& values, partition_options const& options) {
  using row = typename Source::row;
  using offset = typename Offsets::non_const_value_type;
  static_assert(is_row<row>,
                "karpos: rows of a partition are trivially copyable, of 4, 8 or 16 bytes");
  static_assert(std::is_integral_v<offset> && !std::is_const_v<typename Offsets::value_type>,
                "karpos: offsets of partitions come in a view of integers, not const");
  require_reachable<ExecSpace, Out, Offsets>();
  require_same_extent("the rows", source.size(), "the output", out.extent(0));
  require_data("rows of a partition", out);
  require_data("offsets of a partition", offsets);
  require_contiguous("rows of a partition", out);
  if (offsets.extent(0) < 2)
    reject("a split into no partitions",
           std::to_string(offsets.extent(0)) + " of at least 2 offsets",
           "pass a view of one more offset than there are partitions");
  require_partitions(offsets.extent(0) - 1);
  require_holds<offset>("the view of offsets", source.size());
  require_apart("the output of a partition", out, keys, values, offsets);
  require_apart("the offsets or the workspace of a partition",
                {range_of(offsets), range_of(options.workspace)}, {range_of(out), keys, values});
  plan<ExecSpace, row> const plan(exec, source.size(), offsets.extent(0) - 1, options.stable);
  workspace<ExecSpace> const w(exec, "partition_bytes<Row>(exec, rows, partitions, options)",
                               options.workspace, plan.bytes());
  partition::split_as_planned(exec, source, partitioner, plan, w.data(), out.data(), offsets);
  w.finish();
}

}  // namespace karpos::detail::partition
