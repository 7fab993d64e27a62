// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/reduce_by_key/run.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/detail/tables/slot.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/space.hpp"
#include "karpos/operations.hpp"
#include "karpos/table_options.hpp"

// The rows of a bulk insertion, and how they are pre-aggregated if they merge values and equal keys
// are frequent. Inserted row by row, rows of one key would wait for each other at the stored value.
// So the rows are reduced by key first (reduce_by_key/rows.hpp), and the groups are inserted.
//
//   rows       | part 0        | part 1        | …       a part is as long as the workspace allows
//   groups     | one row for each key of the part |      in the workspace, the rest of which is the
//                                                        workspace of the groups' insertion
//   table      as if the rows had been inserted one by one

namespace karpos::detail {

/// The rows of a bulk insertion, and how values are merged. `what` is for labels.
template <class Keys, class Values, class Combine, class Stencil>
struct insertion {
  using keys_type = Keys;
  using values_type = Values;
  using combine_type = Combine;
  static constexpr bool selects_every_key = std::is_same_v<Stencil, everything>;

  char const* what;
  Keys keys;
  Values values;
  Combine combine;
  Stencil stencil;

  std::uint64_t size() const { return keys.extent(0); }
  insertion slice(std::uint64_t first, std::uint64_t last) const {
    return {what, slice_of(keys, first, last), slice_of(values, first, last), combine,
            slice_of(stencil, first, last)};
  }
  template <class Table>
  auto absent_from(Table const& table) const {
    using absent = detail::absent_from<Table, Keys, Stencil>;
    return insertion<Keys, Values, Combine, absent>{what, keys, values, combine,
                                                    absent{table, keys, stencil}};
  }
};
template <class Keys, class Values, class Combine, class Stencil>
insertion(char const*, Keys const&, Values const&, Combine const&, Stencil const&)
    -> insertion<Keys, Values, Combine, Stencil>;

/// Whether inserting a pair twice has the same result as inserting it once.
template <class Combine>
inline constexpr bool idempotent =
    std::is_same_v<Combine, keep_stored> || std::is_same_v<Combine, replace_stored>;
/// Whether the rows of such an insertion have distinct keys, as the operation says by a member.
template <class Combine>
inline constexpr bool has_distinct_keys = requires { typename Combine::has_distinct_keys; };
/// Whether such an insertion may move a table that grows. It may if it is idempotent. It also may
/// in open addressing, where the keys that found no slot are those that are absent afterwards.
template <class Storage, class Combine>
inline constexpr bool may_move = Storage::has_tombstones || idempotent<Combine>;

/// The largest number of rows that are reduced at once: a call allocates memory for at most that
/// many. Tests specialise this.
template <class ExecSpace>
inline constexpr std::uint64_t max_reduced_at_once = std::uint64_t(1) << 24;

/// Whether a table whose words stay in place merges by repeating a compare-and-swap until no other
/// row comes in between. On GPUs n rows of one key then take n * n / 10 ns. Integers, floats and
/// doubles are added by one instruction, one row after the other. Minimum and maximum rarely
/// repeat, because few values are new extremes.
template <class T, class Op>
inline constexpr bool exchanges_by_retry =
    !(std::is_same_v<Op, plus> && std::is_arithmetic_v<T>)&&!std::is_same_v<Op, minimum> &&
    !std::is_same_v<Op, maximum>;
/// Whether rows of one key repeat in a table, until it is their turn, the merge or taking a lock.
template <class Table, class Op>
inline constexpr bool merges_by_retry =
    Table::merges_under_lock || exchanges_by_retry<typename Table::mapped_type, Op>;

/// When rows are reduced before they are inserted. The times of GPUs are those of
/// perf/results/h100/frequent_keys.md.
template <class ExecSpace, class T, class Op, bool ByRetry = exchanges_by_retry<T, Op>>
struct reduced_tuning {
  static constexpr bool is_device = device::is_device<ExecSpace>;
  static constexpr bool by_retry = is_device && ByRetry;
  static constexpr bool adds_floats = std::is_same_v<Op, plus> && std::is_floating_point_v<T>;
  /// Fewer rows are not sampled: on an H100 a sample takes 30 us, and 2^18 rows are inserted in 50
  /// us unless they all have one key.
  static constexpr std::uint64_t min_rows = std::uint64_t(1) << (!is_device ? 16
                                                                 : by_retry ? 12
                                                                            : 20);
  /// Returns the number of keys in a sample: one row in four at most on GPUs, one in 64 on CPUs.
  static constexpr std::uint32_t sample_size(std::uint64_t rows) {
    return static_cast<std::uint32_t>(
        Kokkos::min(rows / (is_device ? 4 : 64), std::uint64_t(4096)));
  }
  /// Rows of a key wait for each other. On an H200 a row of the key takes 0.85 ns and other rows
  /// 0.07 ns each; on CPUs 20 ns, and 20 ns divided by the number of threads. A key is too frequent
  /// if it has at least 4 of this number of rows.
  static std::uint64_t rows_per_four_equal(ExecSpace const& exec) {
    return is_device ? 32 : Kokkos::min(40, 3 * exec.concurrency());
  }
  /// On GPUs, rows of few distinct keys wait for each other like rows of one key, because their
  /// values share lines. Keys are too few if at most one in this number of keys is distinct.
  static constexpr std::uint64_t keys_per_distinct = 16;
  /// The number of rows of one key that is too large if each row repeats its merge.
  static constexpr std::uint64_t max_retries = 200;
  /// The number of rows from which on few groups are enough, although no key is frequent.
  static constexpr std::uint64_t min_rows_of_groups = is_device ? std::uint64_t(1) << 21 : 0;
  /// The least number of repeated keys in a sample that counts, if no key is frequent. In a sample
  /// of 4,096 keys four repeat if 2 million keys are equally frequent, and sixteen if 500,000 are
  /// (2 cores, 2^22 rows: reduced as fast as one by one).
  static constexpr std::uint64_t min_repeated = is_device ? 4 : 16;
  /// The least mean number of rows of a group, if all keys were equally frequent. On GPUs teams
  /// (blocks) add integers of four bytes in their scratch (shared memory) twice as fast as anything
  /// else: 2^24 rows of 100,000 keys take 0.48 ms, and 1.5 with values of eight bytes.
  static constexpr std::uint64_t min_group = !is_device                                    ? 8
                                             : sizeof(T) == 4 && !by_retry && !adds_floats ? 16
                                                                                           : 512;
};

/// Returns whether groups are far fewer than rows, according to a sample: three quarters of its
/// keys have equals in it, or enough distinct keys are repeated. If g keys are equally frequent, a
/// sample of n keys repeats n * n / (2 * g) of them.
template <class Tuned>
bool has_few_groups(sample_statistics const& s, std::uint64_t part) {
  std::uint64_t const pairs = std::uint64_t(s.keys) * s.keys / 2;
  return std::uint64_t(4) * s.once <= s.keys ||
         s.repeated() >= Kokkos::max(Tuned::min_repeated, Tuned::min_group * pairs / part);
}

/// Returns whether rows are reduced, according to a sample of their keys: a key is so frequent, or
/// keys are so few, that rows wait for each other, or groups are far fewer than rows.
template <class Tuned, class ExecSpace>
bool is_worth_reducing(ExecSpace const& exec, sample_statistics const& s, std::uint64_t rows) {
  std::uint64_t const keys = s.keys, most = s.most;
  if (most * Tuned::rows_per_four_equal(exec) >= 4 * keys) return true;
  if (Tuned::is_device && s.distinct * Tuned::keys_per_distinct <= keys) return true;
  if (Tuned::by_retry && most >= 4 && most * rows >= Tuned::max_retries * keys) return true;
  return rows >= Tuned::min_rows_of_groups &&
         has_few_groups<Tuned>(s, Kokkos::min(rows, max_reduced_at_once<ExecSpace>));
}

/// Whether the rows of a table can be reduced, by the bits of their keys, eight bytes at most. If
/// keys with other bits can be equal, a table without fixed paths might refuse some of them:
/// reports would be wrong.
template <class Storage>
inline constexpr bool reducible =
    !is_no_value<typename Storage::mapped_type> && sizeof(typename Storage::key_type) <= 8 &&
    (sizeof(typename Storage::mapped_type) == 4 || sizeof(typename Storage::mapped_type) == 8) &&
    (Storage::has_tombstones ||
     std::is_same_v<typename Storage::key_equal, equal_to<typename Storage::key_type>>);
/// Whether insertions assign values (of equal keys any value may win), and, on GPUs, rows of one
/// key repeat their attempts until each has had the lock.
template <class Storage, class Combine>
inline constexpr bool assigns_under_lock =
    device::is_device<typename Storage::execution_space> && Storage::ref_type::merges_under_lock &&
    std::is_same_v<Combine, replace_stored>;
template <class Storage, class Rows>
inline constexpr bool may_reduce =
    reducible<Storage> && Rows::selects_every_key &&
    (!idempotent<typename Rows::combine_type> ||
     assigns_under_lock<
         Storage, typename Rows::combine_type>)&&!has_distinct_keys<typename Rows::combine_type>;

/// Reduces the rows of an insertion into a table, part by part, in a workspace.
template <class Storage>
class rows_reduction {
  using exec_space = typename Storage::execution_space;
  using key = typename Storage::key_type;
  using value = typename Storage::mapped_type;
  using row = typename reduce_by_key::row_type<key, value>::type;
  using memory_type = reduce_by_key::memory<exec_space, row>;
  template <class T>
  using array = Kokkos::View<T*, typename exec_space::memory_space, Kokkos::MemoryUnmanaged>;
  template <class X>
  using held = device::held_by_loop<exec_space, X>;
  static constexpr std::uint64_t max_part = max_reduced_at_once<exec_space>;

 public:
  static std::size_t bytes(exec_space const& exec, std::uint64_t rows) {
    return rows_reduction(exec, rows, nullptr).m_bytes;
  }
  rows_reduction(exec_space const& exec, std::uint64_t rows, std::byte* workspace)
      : m_capacity(Kokkos::min(rows, max_part)) {
    arena a(workspace);
    a.allocate(m_keys, m_capacity);
    a.allocate(m_values, m_capacity);
    a.allocate(m_rest, memory_type(exec, m_capacity).bytes());
    m_bytes = a.bytes();
  }

  /// These two return the number of parts of `rows` rows, and where a part begins.
  static std::uint64_t parts(std::uint64_t rows) {
    return Kokkos::max((rows + max_part - 1) / max_part, std::uint64_t(1));
  }
  static std::uint64_t begin_of(std::uint64_t rows, std::uint64_t part) {
    return rows / parts(rows) * part + Kokkos::min(rows % parts(rows), part);
  }
  /// Makes the source of rows that a reduction reads.
  template <class Rows>
  static auto source(Rows const& rows) {
    using keys = typename Rows::keys_type;
    using values = typename Rows::values_type;
    if constexpr (std::is_same_v<values, constant<value>>)
      return reduce_by_key::keys_with_value<row, held<keys>>{
          device::for_loop<exec_space>(rows.keys), rows.values.value};
    else
      return reduce_by_key::source_of_rows<row, exec_space>(rows.keys, rows.values);
  }
  /// Returns the groups of a part, which are valid until those of the next part are made. Blocks.
  template <class Rows>
  auto reduce(exec_space const& exec, Rows const& rows) const {
    using op = typename Rows::combine_type;
    using result = reduce_by_key::result_views<held<array<key>>, held<array<value>>>;
    array<key> const keys(m_keys, m_capacity);
    array<value> const values(m_values, m_capacity);
    result const to{device::for_loop<exec_space>(keys), device::for_loop<exec_space>(values),
                    m_capacity};
    reduce_by_key::reduction<exec_space, row, result, op> const all(
        exec, memory_type(exec, m_capacity, m_rest), to, rows.combine);
    std::uint64_t const n = all.run(source(rows));
    return insertion{rows.what, array<key const>(m_keys, n), array<value const>(m_values, n),
                     rows.combine, everything{}};
  }
  /// Returns the rest of the workspace, in which no groups are.
  wrapped_memory rest() const {
    auto const used = static_cast<std::size_t>(m_rest - reinterpret_cast<std::byte*>(m_keys));
    return {m_rest, m_bytes - used};
  }

 private:
  std::uint64_t m_capacity;  // capacity for groups of a part
  std::size_t m_bytes;
  key* m_keys;
  value* m_values;
  std::byte* m_rest;
};

}  // namespace karpos::detail
