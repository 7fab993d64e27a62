// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/arrays.hpp"
#include "karpos/detail/insertion.hpp"
#include "karpos/detail/key_sample.hpp"
#include "karpos/detail/reduce_by_key/reduction.hpp"
#include "karpos/detail/reduce_by_key/rows.hpp"
#include "karpos/detail/workspace.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/space.hpp"
#include "karpos/operations.hpp"
#include "karpos/table_options.hpp"

// Insertions that merge values, of rows among which equal keys are frequent: one by one, these wait for each other at the
// value that is stored. So they are reduced by key first (reduce_by_key/rows.hpp), and the groups inserted.
//
//   rows       | part 0        | part 1        | …       as many as the workspace is made for
//   groups     | one row for each key of the part |      in the workspace; the rest of it serves their insertion
//   table      as if the rows had gone in one by one

namespace karpos::detail {

/// Rows that are reduced at once, at most: a call takes memory for so many. Tests specialise this.
template <class ExecSpace>
inline constexpr std::uint64_t max_reduced_at_once = std::uint64_t(1) << 24;

/// Whether tables of words that stay where they are merge by repeating a compare-and-swap until no other row comes in
/// between, on GPUs n rows of one key for n * n / 10 ns. Integers, floats and doubles add by one instruction, in turns; extremes
/// do not repeat much, because few values are new ones.
template <class T, class Op>
inline constexpr bool exchanges_by_retry =
    !(std::is_same_v<Op, plus> && std::is_arithmetic_v<T>)&&!std::is_same_v<Op, minimum> &&
    !std::is_same_v<Op, maximum>;
/// Whether rows of one key repeat something in a table until it is their turn: the merge, or to take a lock, whatever is merged.
template <class Table, class Op>
inline constexpr bool merges_by_retry =
    Table::merges_under_lock || exchanges_by_retry<typename Table::mapped_type, Op>;

/// When rows are reduced before they are inserted. The times of GPUs are those of perf/results/h100/frequent_keys.md.
template <class ExecSpace, class T, class Op, bool ByRetry = exchanges_by_retry<T, Op>>
struct reduced_tuning {
  static constexpr bool is_device = device::is_device<ExecSpace>;
  static constexpr bool by_retry = is_device && ByRetry;
  static constexpr bool adds_floats = std::is_same_v<Op, plus> && std::is_floating_point_v<T>;
  /// Fewer rows are not looked at: on an H100 a sample takes 30 us, and 2^18 rows go in in 50, unless one key has them.
  static constexpr std::uint64_t min_rows = std::uint64_t(1) << (!is_device ? 16
                                                                 : by_retry ? 12
                                                                            : 20);
  /// Keys of a sample. GPUs look at one row in four at most, CPUs at one in 64.
  static constexpr std::uint32_t sample_of(std::uint64_t rows) {
    return static_cast<std::uint32_t>(
        Kokkos::min(rows / (is_device ? 4 : 64), std::uint64_t(4096)));
  }
  /// Rows of a key wait for each other: one row takes 0.85 ns on an H200 and others 0.07 each; on CPUs 20 ns and as much over
  /// the number of threads. A key is too frequent from this share of the rows on, four rows in so many.
  static std::uint64_t four_in(ExecSpace const& exec) {
    return is_device ? 32 : Kokkos::min(40, 3 * exec.concurrency());
  }
  /// On GPUs so few different keys wait for each other as one does, because their values share lines: one key in so many.
  static constexpr std::uint64_t few_in = 16;
  /// Rows of one key that are too many where each repeats its merge.
  static constexpr std::uint64_t max_retries = 200;
  /// Rows from which on it pays that groups are fewer than rows, although none is frequent.
  static constexpr std::uint64_t min_rows_of_groups = is_device ? std::uint64_t(1) << 21 : 0;
  /// Keys of a sample that occur in it again, at least, where no key is: 4,096 keys out of 2 million that are equally frequent
  /// have four, out of 500,000 sixteen (2 cores, 2^22 rows: reduced as fast as one by one).
  static constexpr std::uint64_t min_repeated = is_device ? 4 : 16;
  /// Rows of a group on average, at least, if all keys were equally frequent. On GPUs teams add integers of four bytes in their
  /// scratch twice as fast as anything else: 2^24 rows of 100,000 keys take 0.48 ms, and 1.5 with values of eight bytes.
  static constexpr std::uint64_t min_group = !is_device                                    ? 8
                                             : sizeof(T) == 4 && !by_retry && !adds_floats ? 16
                                                                                           : 512;
};

/// Whether so many different keys of a sample are repeated that groups are far fewer than rows: where three quarters of the
/// rows have keys that others have, or many enough. Of n keys out of g that are equally frequent n * n / (2 * g) are repeated.
template <class Tuned>
bool has_few_groups(key_sample const& s, std::uint64_t part) {
  std::uint64_t const single = s.different - s.repeated, pairs = std::uint64_t(s.keys) * s.keys / 2;
  return single * 4 <= s.keys ||
         s.repeated >= Kokkos::max(Tuned::min_repeated, Tuned::min_group * pairs / part);
}

/// Whether a sample of the keys says that rows are reduced: where a key is so frequent, or keys are so few, that rows wait for
/// each other, or where groups are far fewer than rows.
template <class Tuned, class ExecSpace>
bool is_worth_reducing(ExecSpace const& exec, key_sample const& s, std::uint64_t rows) {
  std::uint64_t const keys = s.keys, most = s.most;
  if (most * Tuned::four_in(exec) >= 4 * keys) return true;
  if (Tuned::is_device && s.different * Tuned::few_in <= keys) return true;
  if (Tuned::by_retry && most >= 4 && most * rows >= Tuned::max_retries * keys) return true;
  return rows >= Tuned::min_rows_of_groups &&
         has_few_groups<Tuned>(s, Kokkos::min(rows, max_reduced_at_once<ExecSpace>));
}

/// Whether so many rows may be reduced.
template <class Tuned>
bool may_go_reduced(bulk_strategy strategy, std::uint64_t rows) {
  if (strategy == bulk_strategy::automatic) return rows >= Tuned::min_rows;
  return strategy == bulk_strategy::reduced && rows > 0;
}

/// Whether the rows of a table can be reduced: by the bits of their keys, which are equal only if the keys are. If others are
/// equal, too, a table that has no fixed paths could refuse some of them only, and reports would be wrong.
template <class Storage>
inline constexpr bool reducible =
    !is_no_value<typename Storage::mapped_type> &&
    (sizeof(typename Storage::mapped_type) == 4 || sizeof(typename Storage::mapped_type) == 8) &&
    (has_tombstones<Storage> ||
     std::is_same_v<typename Storage::key_equal, equal_to<typename Storage::key_type>>);
/// Whether insertions write values, of equal keys any, and rows of one key repeat something meanwhile, on GPUs: until each has
/// had the lock.
template <class Storage, class Combine>
inline constexpr bool assigns_under_lock =
    device::is_device<typename Storage::execution_space> && Storage::ref_type::merges_under_lock &&
    std::is_same_v<Combine, take_new>;
template <class Storage, class Rows>
inline constexpr bool may_reduce =
    reducible<Storage> && Rows::takes_every_key &&
    (!repeatable<typename Rows::combine_type> ||
     assigns_under_lock<
         Storage, typename Rows::combine_type>)&&!of_different_keys<typename Rows::combine_type>;

/// The reduction of the rows of an insertion into a table, part by part, in a workspace.
template <class Storage>
class rows_reduction {
  using exec_space = typename Storage::execution_space;
  using key = typename Storage::key_type;
  using value = typename Storage::mapped_type;
  using row = typename reduce_by_key::row_type<key, value>::type;
  using memory_type = reduce_by_key::memory<exec_space, row>;
  template <class T>
  using array = Kokkos::View<T*, typename exec_space::memory_space, Kokkos::MemoryUnmanaged>;
  static constexpr std::uint64_t max_part = max_reduced_at_once<exec_space>;

 public:
  /// Bytes of the workspace.
  static std::size_t bytes(exec_space const& exec, std::uint64_t rows) {
    return rows_reduction(exec, rows, nullptr).m_bytes;
  }
  rows_reduction(exec_space const& exec, std::uint64_t rows, std::byte* workspace)
      : m_room(Kokkos::min(rows, max_part)) {
    arena a(workspace);
    a.take(m_keys, m_room);
    a.take(m_values, m_room);
    a.take(m_rest, memory_type(exec, m_room).bytes());
    m_bytes = a.bytes();
  }

  /// Parts of so many rows, and where they begin.
  static std::uint64_t parts(std::uint64_t rows) {
    return Kokkos::max((rows + max_part - 1) / max_part, std::uint64_t(1));
  }
  static std::uint64_t begin_of(std::uint64_t rows, std::uint64_t part) {
    return rows / parts(rows) * part + Kokkos::min(rows % parts(rows), part);
  }
  /// Rows as a reduction takes them.
  template <class X>
  using held = device::held_by_loop<exec_space, X>;
  template <class Rows>
  static auto source(Rows const& rows) {
    using keys = typename Rows::keys_type;
    using values = typename Rows::values_type;
    if constexpr (std::is_same_v<values, constant<value>>)
      return reduce_by_key::keys_with_value<row, held<keys>>{
          device::for_loop<exec_space>(rows.keys), rows.values.value};
    else
      return reduce_by_key::keys_and_values<row, held<keys>, held<values>>(
          device::for_loop<exec_space>(rows.keys), device::for_loop<exec_space>(rows.values));
  }
  /// The groups of a part, to be inserted; they are there until the next part's. Waits.
  template <class Rows>
  auto groups_of(exec_space const& exec, Rows const& rows) const {
    using op = typename Rows::combine_type;
    using result = reduce_by_key::result_views<held<array<key>>, held<array<value>>>;
    array<key> const keys(m_keys, m_room);
    array<value> const values(m_values, m_room);
    result const to{device::for_loop<exec_space>(keys), device::for_loop<exec_space>(values),
                    m_room};
    reduce_by_key::reduction<exec_space, row, result, op> const all(
        exec, memory_type(exec, m_room, m_rest), to, rows.combine);
    std::uint64_t const n = all.run(source(rows));
    return insertion{rows.what, array<key const>(m_keys, n), array<value const>(m_values, n),
                     rows.combine, everything{}};
  }
  /// The part of the workspace that the groups do not lie in.
  wrapped_memory rest() const {
    auto const used = static_cast<std::size_t>(m_rest - reinterpret_cast<std::byte*>(m_keys));
    return {m_rest, m_bytes - used};
  }

 private:
  std::uint64_t m_room;  // groups of a part
  std::size_t m_bytes;
  key* m_keys;
  value* m_values;
  std::byte* m_rest;
};

}  // namespace karpos::detail
