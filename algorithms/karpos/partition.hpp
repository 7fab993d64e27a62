// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/concepts.hpp"
#include "karpos/contract.hpp"
#include "karpos/detail/relational/partition/plan.hpp"
#include "karpos/detail/relational/partition/rows.hpp"
#include "karpos/detail/relational/partition/run.hpp"
#include "karpos/hash.hpp"
#include "karpos/key_value.hpp"
#include "karpos/partition_options.hpp"

// Partition (multisplit): splits rows into partitions that are stored side by side.
//
//   keys     | 7 | 3 | 9 | 3 | 1 | …      Rows: keys, keys with values, or keys with row numbers.
//   out      | 3 | 3 | 9 | 7 | 1 | …      The rows of partition 0, then those of partition 1, …
//   offsets  | 0 | 2 | 3 | … | rows |     out[offsets(p)] is the first row of partition p.
//
// Options: partition_options.hpp. A pass has two steps. One reads the keys, counts the rows of each
// partition and computes their places (detail/relational/partition/count.hpp). The other reads the
// rows and moves them (detail/relational/partition/move.hpp).

namespace karpos {

/// Maps a key to its partition by its hash: the default. The keys of one partition still spread
/// evenly over the slots of a hash table, over the MPI ranks of a distributed table, and over the
/// partitions of a split into another number of partitions.
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

/// Returns the bytes of partition's workspace for `rows` rows of type Row, `partitions` partitions
/// and these options. Inputs and outputs are not counted.
///
/// Throws: std::invalid_argument for no partition, or for more than 2^26.
template <class Row, execution_space ExecSpace>
std::size_t partition_bytes(ExecSpace const& exec, std::uint64_t rows, std::uint64_t partitions,
                            partition_options const& options = {}) {
  detail::user_call const call("partition_bytes");
  detail::partition::require_partitions(partitions);
  return detail::partition::plan<ExecSpace, Row>(exec, rows, partitions, options.stable).bytes();
}

namespace detail::partition {

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
/// Returns: nothing. Asynchronous if options.workspace is given: keep the workspace and all views
///   until exec has run the call. Otherwise blocks before it frees its own workspace.
/// Complexity: a pass reads the keys, then the rows, and writes the rows, however skewed the
///   partitions are (docs/partition.md has rates). Up to 8,192 partitions take one pass; each
///   further pass splits by a factor of up to 8,192 (GPUs: 256). On GPUs one pass makes at most 256
///   partitions if options.stable is set or there are 2^32 rows or more. If a block has less than
///   128 KiB of shared memory (stable: 68 KiB), one pass makes fewer.
/// Requires: 1 to 2^26 partitions; partitioner(key) is below their number (checked with
///   KARPOS_CONTRACTS; without, memory beyond the partitions is written), and the same at every
///   call; out is as long as the keys, and contiguous (other views may be strided); no output, nor
///   the workspace, overlaps another view.
/// Concurrency: works on `exec`, with at most one team for each multiprocessor, or CPU thread; with
///   fewer for few rows. A workspace serves one call at a time.
/// Memory: partition_bytes. P is the number of partitions of one pass (at most 8,192):
///
///     GPUs             12 P bytes; if stable or in several passes, 8 P more for each team
///     CPUs             8 P bytes, and 84 P + 8 KiB for each thread
///     several passes   also 8 P bytes, and the rows once more
///
/// Throws: std::invalid_argument if views have a wrong length or no memory, or overlap (not checked
///   if one of them is strided); if out is strided; for no or too many partitions; if offsets' type
///   is too small; if the workspace is too small or not aligned; allocation_error.
/// Source: Ashkiani, Davidson, Meyer, Owens, "GPU multisplit", PPoPP 2016; Wassenberg, Sanders,
///   "Engineering a multi-core radix sort", Euro-Par 2011.
template <execution_space ExecSpace, view_1d Keys, view_1d Out, view_1d Offsets,
          class Partitioner = detail::partition::by_hash>
  requires(!Kokkos::is_view_v<Partitioner>)
void partition(ExecSpace const& exec, Keys const& keys, Out const& out, Offsets const& offsets,
               Partitioner const& partitioner = {}, partition_options const& options = {}) {
  detail::user_call const call("partition");
  using key = typename Keys::non_const_value_type;
  detail::require_reachable<ExecSpace, Keys>();
  static_assert(std::is_same_v<typename Out::value_type, key>,
                "karpos: keys are split into a view of their type, not const");
  namespace p = detail::partition;
  detail::require_data("keys of a partition", keys);
  p::run(exec, p::source_of_rows<key, ExecSpace>(keys),
         p::partitioner_or_default<key>(partitioner, offsets.extent(0)), out, offsets,
         detail::range_of(keys), {}, options);
}

/// Splits keys with values. Rows of out are key_value<Key, T>, or any aggregate with the members
/// `key` and `value`. A whole row has 4, 8 or 16 bytes; keys may have any size that fits the row.
/// `values` is a view as long as the keys, or row_numbers{} (key_value.hpp): then a row's value is
/// its number.
/// Otherwise as for keys alone.
///
/// Throws: also std::invalid_argument if the type of `value` is too small for the row numbers.
template <execution_space ExecSpace, view_1d Keys, class Values, view_1d Out, view_1d Offsets,
          class Partitioner = detail::partition::by_hash>
  requires(!Kokkos::is_view_v<Partitioner> &&
           (Kokkos::is_view_v<Values> || std::is_same_v<Values, row_numbers>))
void partition(ExecSpace const& exec, Keys const& keys, Values const& values, Out const& out,
               Offsets const& offsets, Partitioner const& partitioner = {},
               partition_options const& options = {}) {
  detail::user_call const call("partition");
  using key = typename Keys::non_const_value_type;
  using row = typename Out::value_type;
  detail::require_reachable<ExecSpace, Keys>();
  static_assert(!std::is_const_v<row>, "karpos: rows are split into a view that is not const");
  static_assert(
      requires(row r) { r.key, r.value; },
      "karpos: rows of keys and values have members key and value: key_value<Key, T>");
  static_assert(std::is_same_v<decltype(row::key), key>,
                "karpos: the rows of a partition hold keys of the type of the keys");
  detail::memory_range range_of_values;  // none if they are row numbers
  if constexpr (Kokkos::is_view_v<Values>) {
    range_of_values = detail::range_of(values);
    detail::require_reachable<ExecSpace, Values>();
    static_assert(std::is_same_v<decltype(row::value), typename Values::non_const_value_type>,
                  "karpos: the rows of a partition hold values of the type of the values");
    detail::require_same_extent("keys", keys.extent(0), "values", values.extent(0));
    detail::require_data("values of a partition", values);
  } else {
    static_assert(std::is_integral_v<decltype(row::value)>, "karpos: row numbers are integers");
    std::uint64_t const n = keys.extent(0);
    detail::require_holds<decltype(row::value)>("row::value, for row numbers,", n - (n > 0),
                                                "give rows a value of more bits");
  }
  namespace p = detail::partition;
  detail::require_data("keys of a partition", keys);
  p::run(exec, p::source_of_rows<row, ExecSpace>(keys, values),
         p::partitioner_or_default<key>(partitioner, offsets.extent(0)), out, offsets,
         detail::range_of(keys), range_of_values, options);
}

}  // namespace karpos
