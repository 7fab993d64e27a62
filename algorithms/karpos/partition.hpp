// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/partition/count.hpp"
#include "karpos/detail/relational/partition/memory.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/table_options.hpp"

// Partition (multisplit): splits rows into partitions that are stored side by side.
//
//   keys     | 7 | 3 | 9 | 3 | 1 | …      Rows: keys, keys with values, or keys with row numbers.
//   out      | 3 | 3 | 9 | 7 | 1 | …      The rows of partition 0, then those of partition 1, …
//   offsets  | 0 | 2 | 3 | … | rows |     out[offsets(p)] is the first row of partition p.
//
// A pass has two steps, each of which reads the rows once: one counts them and computes their
// places (detail/relational/partition/count.hpp), one moves them
// (detail/relational/partition/move.hpp).

namespace karpos {

/// Maps a key to its partition by its hash: the default. The keys of one partition may go into a
/// hash table, to ranks, or through a split into another number of partitions: they do not crowd
/// there.
template <class Key, class Hash = hash<Key>>
class hash_partitioner {
 public:
  KOKKOS_FUNCTION constexpr explicit hash_partitioner(std::uint32_t partitions,
                                                      Hash const& hash = {})
      : m_place(detail::hashed::partition, partitions),
        m_hash(hash) {}
  KOKKOS_FUNCTION std::uint32_t operator()(Key const& key) const {
    return m_place.narrow(detail::hash_of(m_hash, key));
  }

 private:
  detail::place_among m_place;
  Hash m_hash;
};

template <class Key, class Hash = hash<Key>>
using hash_part [[deprecated("karpos: hash_part is hash_partitioner")]] =
    hash_partitioner<Key, Hash>;

struct partition_options {
  /// Keeps the rows of a partition in their order. Costs nothing on CPUs; GPUs take a pass for each
  /// factor of 256 in the number of partitions.
  bool stable = false;
  /// Memory that the caller owns: at least partition_bytes, aligned to 64 bytes; null: allocated,
  /// and freed at the end.
  wrapped_memory workspace = {nullptr, 0};
};

/// Returns the bytes that partition works in, without its views, for `rows` rows of type Row,
/// `partitions` partitions and these options.
///
/// Throws: std::invalid_argument for no partition, or for more than 2^26.
template <class Row, execution_space ExecSpace>
std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows, std::uint64_t partitions,
                            partition_options const& options = {}) {
  detail::partition::require_partitions(partitions);
  return detail::partition::plan<ExecSpace, Row>(exec, rows, partitions, options.stable).bytes();
}

namespace detail::partition {

/// Splits the rows of a source in one pass. Asynchronous.
template <bool Stable, class ExecSpace, class Source, class PartitionOf, class Offsets>
void split(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
           std::uint64_t partitions, plan<ExecSpace, typename Source::row> const& plan,
           arrays<typename Source::row> const& memory, typename Source::row* out,
           Offsets const& offsets) {
  using row = typename Source::row;
  constexpr bool is_device = device::is_device<ExecSpace>;
  auto const& ranges = plan.ranges();
  constexpr bool own_places = Stable || !is_device;
  places const to{memory.begins, own_places ? memory.firsts : nullptr,
                  own_places ? nullptr : memory.taken, plan.stride(), static_cast<int>(partitions)};
  partition::count_and_place(exec, source, partition_of, ranges, to, offsets, memory.tables());
  constexpr char const* label = "karpos::partition: move";
  if constexpr (is_device) {
    device::for_each_in_league(
        label, exec, ranges.count,
        move_tiles<ExecSpace, Source, PartitionOf, Stable>{source, partition_of, ranges, to, out});
  } else {
    bool const past_caches = ranges.rows * sizeof(row) >= tuning<ExecSpace>::min_streamed_bytes &&
                             reinterpret_cast<std::uintptr_t>(out) % sizeof(row) == 0;
    device::for_each_in_league(
        label, exec, ranges.count,
        move_lines<ExecSpace, Source, PartitionOf>{source, partition_of, ranges, to, out,
                                                   memory.waiting, past_caches});
  }
}

/// Finds where partition p begins in rows that are sorted by partition: at the first row of p or of
/// a later one.
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

/// Splits by the lowest bits of the partition's number first, then by higher ones, and keeps the
/// order.
template <class ExecSpace, class Source, class PartitionOf, class Offsets>
void split_in_passes(ExecSpace const& exec, Source const& source, PartitionOf const& partition_of,
                     plan<ExecSpace, typename Source::row> const& plan,
                     arrays<typename Source::row> const& memory, typename Source::row* out,
                     Offsets const& offsets) {
  using rows = rows_of_array<Source>;
  Kokkos::View<std::uint64_t*, typename ExecSpace::memory_space, Kokkos::MemoryUnmanaged> const
      between(memory.offsets, plan.stride() + 1);
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

template <class ExecSpace, class Source, class Partitioner, class Out, class Offsets>
void run(ExecSpace const& exec, Source const& source, Partitioner const& partitioner,
         Out const& out, Offsets const& offsets, std::initializer_list<memory_range> views,
         partition_options const& options) {
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
  require_partitions(offsets.extent(0) - 1);
  require_counts<offset>("the offsets", source.size(), source.size());
  require_apart("the offsets or the workspace of a partition",
                {range_of(offsets), range_of(options.workspace)}, views);
  plan<ExecSpace, row> const plan(exec, source.size(), offsets.extent(0) - 1, options.stable);
  workspace<ExecSpace> const w(
      exec, {"partition", "partition_bytes<Row>(exec, rows, partitions, options)"},
      options.workspace, plan.bytes());
  partition::split_as_planned(exec, source, partitioner, plan, w.data(), out.data(), offsets);
  w.finish();
}

template <class Values>
memory_range range_of_values(Values const& values) {
  if constexpr (Kokkos::is_view_v<Values>)
    return range_of(values);
  else
    return {};  // row numbers
}

template <class Key, class Partitioner>
auto partitioner_or_default(Partitioner const& partitioner, std::uint64_t offsets) {
  if constexpr (std::is_same_v<Partitioner, by_hash>) {
    static_assert(sizeof(Key) <= 8, "karpos: pass a partitioner for keys above eight bytes");
    return hash_partitioner<Key>(static_cast<std::uint32_t>(offsets - 1));
  } else {
    static_assert(
        requires(Partitioner const f, Key key) { static_cast<std::uint32_t>(f(key)); },
        "karpos: a partitioner is called as partitioner(key), const, and returns an integer");
    return partitioner;
  }
}

}  // namespace detail::partition

/// Splits keys into partitions: writes the keys of partition p to out[offsets(p)] …
/// out[offsets(p + 1) - 1], and writes the offsets. The keys of a partition come in no particular
/// order unless options.stable. The number of partitions is one less than the number of offsets.
///
/// Keys are trivially copyable objects of 4, 8 or 16 bytes. partitioner(key) returns the key's
/// partition; it is called in kernels, several times for each key, and may not throw
/// (operations.hpp says what functors may do). The default, or {}, is hash_partitioner, for keys of
/// up to 8 bytes.
///
/// Returns: nothing. Asynchronous if options.workspace is given; otherwise blocks before it frees
///   its own workspace.
/// Complexity: a pass reads the keys, then the rows, and writes the rows, however skewed the
///   partitions are (docs/partition.md has rates). Up to 8,192 partitions take one pass; each
///   further pass splits by a factor of up to 8,192 (GPUs: 256). On GPUs one pass makes at most 256
///   partitions if options.stable is set or there are 2^32 rows or more. If a block has less than
///   128 KiB of shared memory (stable: 68 KiB), one pass makes fewer.
/// Requires: 1 to 2^26 partitions; partitioner(key) is below their number (checked with
///   KARPOS_CONTRACTS; without, memory beyond the partitions is written), and the same at every
///   call; out is as long as the keys, and contiguous (other views may be strided); no output, nor
///   the workspace, overlaps another view.
/// Concurrency: works on `exec`, with one team for each multiprocessor, or CPU thread. A workspace
///   serves one call at a time.
/// Memory: partition_bytes. P is the number of partitions of one pass (at most 8,192):
///
///     GPUs             12 P bytes; if stable or in several passes, 8 P more for each team
///     CPUs             8 P bytes, and 84 P + 8 KiB for each thread
///     several passes   also 8 P bytes, and the rows once more
///
/// Throws: std::invalid_argument if views have a wrong length or no memory, or overlap; if out is
///   strided; for too many partitions; if the type of offsets is too small; if the workspace is too
///   small or not aligned; allocation_error.
/// Source: Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016; Wassenberg, Sanders,
///   "Engineering a multi-core radix sort", Euro-Par 2011.
template <execution_space ExecSpace, view_1d Keys, view_1d Out, view_1d Offsets,
          class Partitioner = detail::partition::by_hash>
  requires(!Kokkos::is_view_v<Partitioner>)
void partition(ExecSpace const& exec, Keys const& keys, Out const& out, Offsets const& offsets,
               Partitioner const& partitioner = {}, partition_options const& options = {}) {
  using key = typename Keys::non_const_value_type;
  detail::require_reachable<ExecSpace, Keys>();
  static_assert(std::is_same_v<typename Out::value_type, key>,
                "karpos: keys are split into a view of their type, not const");
  namespace p = detail::partition;
  detail::require_data("keys of a partition", keys);
  detail::require_apart("the output of a partition", out, keys, offsets);
  using held = device::held_by_loop<ExecSpace, Keys>;
  p::run(exec, p::keys_only<held>(device::for_loop<ExecSpace>(keys)),
         p::partitioner_or_default<key>(partitioner, offsets.extent(0)), out, offsets,
         {detail::range_of(out), detail::range_of(keys)}, options);
}

/// Splits keys with values. Rows of out are key_value<Key, T>, or any aggregate of `key` and
/// `value` of 4, 8 or 16 bytes. `values` is a view as long as the keys, or row_numbers: then a
/// row's value is its number. Otherwise as for keys alone.
///
/// Throws: also std::invalid_argument if the type of `value` is too small for the row numbers.
template <execution_space ExecSpace, view_1d Keys, class Values, view_1d Out, view_1d Offsets,
          class Partitioner = detail::partition::by_hash>
  requires(!Kokkos::is_view_v<Partitioner> &&
           (Kokkos::is_view_v<Values> || std::is_same_v<Values, row_numbers>))
void partition(ExecSpace const& exec, Keys const& keys, Values const& values, Out const& out,
               Offsets const& offsets, Partitioner const& partitioner = {},
               partition_options const& options = {}) {
  using key = typename Keys::non_const_value_type;
  using row = typename Out::value_type;
  detail::require_reachable<ExecSpace, Keys>();
  static_assert(!std::is_const_v<row>, "karpos: rows are split into a view that is not const");
  static_assert(
      requires(row r) { r.key, r.value; },
      "karpos: rows of keys and values have members key and value: key_value<Key, T>");
  static_assert(std::is_same_v<decltype(row::key), key>,
                "karpos: the rows of a partition hold keys of the type of the keys");
  if constexpr (Kokkos::is_view_v<Values>) {
    detail::require_reachable<ExecSpace, Values>();
    static_assert(std::is_same_v<decltype(row::value), typename Values::non_const_value_type>,
                  "karpos: the rows of a partition hold values of the type of the values");
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    detail::require_data("values of a partition", values);
    detail::require_apart("the output of a partition", out, values);
  } else {
    static_assert(std::is_integral_v<decltype(row::value)>, "karpos: row numbers are integers");
    std::uint64_t const n = keys.extent(0);
    detail::partition::require_counts<decltype(row::value)>("the row numbers", n, n - (n > 0));
  }
  namespace p = detail::partition;
  detail::require_data("keys of a partition", keys);
  detail::require_apart("the output of a partition", out, keys, offsets);
  using device::for_loop, device::held_by_loop;
  p::run(exec,
         p::keys_and_values<row, held_by_loop<ExecSpace, Keys>, held_by_loop<ExecSpace, Values>>(
             for_loop<ExecSpace>(keys), for_loop<ExecSpace>(values)),
         p::partitioner_or_default<key>(partitioner, offsets.extent(0)), out, offsets,
         {detail::range_of(out), detail::range_of(keys), p::range_of_values(values)}, options);
}

}  // namespace karpos
