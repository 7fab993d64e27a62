// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "karpos/detail/common/arrays.hpp"
#include "karpos/detail/common/bulk_arguments.hpp"
#include "karpos/detail/common/workspace.hpp"
#include "karpos/detail/index_range.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/reduce_by_key/rows.hpp"
#include "karpos/detail/relational/row_index/lookup.hpp"
#include "karpos/detail/relational/row_index/plan.hpp"
#include "karpos/detail/relational/row_index/run.hpp"
#include "karpos/detail/tables/multi_table/blocks.hpp"
#include "karpos/detail/tables/multi_table/group_partitions.hpp"
#include "karpos/detail/tables/multi_table/plan.hpp"
#include "karpos/detail/tables/probe.hpp"
#include "karpos/device/league.hpp"
#include "karpos/device/loop_arguments.hpp"
#include "karpos/device/loops.hpp"
#include "karpos/hash.hpp"
#include "karpos/rows.hpp"
#include "karpos/table_options.hpp"

// The pairs of one insertion, a batch, grouped by key. GPUs split them by hash, and group each
// partition (plan.hpp). Otherwise an index of rows over the keys puts equal keys
// side by side, in time linear in their number, however often a key occurs.
//
//   keys      | 7 | 3 | 7 | 7 | 3 |        grouped    | 0 2 3 | 1 4 |
//   values    | a | b | c | d | e |        values     | a c d | b e |     behind the stored values
//                                          distinct   | 7 | 3 |           heads: where a and b lie

namespace karpos::detail::multi_table {

/// Equality of keys as the table has it: the same bits, or equal by the caller's function.
template <class Key, class KeyEqual>
struct same_key {
  KeyEqual equal;
  KOKKOS_FUNCTION bool operator()(Key const& a, Key const& b) const {
    using bits = std::conditional_t<sizeof(Key) <= 4, std::uint32_t, std::uint64_t>;
    return key_bits_of<bits>(a) == key_bits_of<bits>(b) || equal(a, b);
  }
};

/// Writes the values of a batch in the order of its groups.
template <class Number, class Values, class T>
struct gather_values {
  row_index::row_groups<Number> groups;
  Values values;
  T* to;
  KOKKOS_FUNCTION void operator()(std::uint64_t i) const { to[i] = values(groups.row(i)); }
};

/// Writes the groups whose key is no sentinel, one after another, and the heads that the table gets
/// for them. A scan over the groups.
template <class Table, class Blocks, class Keys>
struct write_groups {
  using number = typename Blocks::mapped;
  row_index::row_groups<number> groups;
  Table table;
  Keys keys;
  Blocks blocks;
  std::uint64_t begin;  // index of the batch's first pair among all pairs
  typename Keys::non_const_value_type* distinct;
  number* heads;

  KOKKOS_FUNCTION void operator()(std::uint64_t g, std::uint64_t& place, bool last) const {
    std::uint64_t const first = groups.has_runs ? groups.begins[g] : g;
    std::uint64_t const count = groups.has_runs ? groups.begins[g + 1] - first : 1;
    auto const key = device::element(keys, groups.row(first));
    if (table.reserved(key)) return;
    if (last) {
      distinct[place] = key;
      heads[place] = blocks.write_block(begin + first, count);
    }
    ++place;
  }
};

/// Counts the pairs of distinct keys that are stored in the table (`in`), or of those that are not.
/// The number of a key's pairs is read from its head in the table, or else from its new head.
template <class Table, class Blocks, class Key>
struct count_pairs {
  Table table;
  Blocks blocks;
  Key const* distinct;
  typename Blocks::mapped const* heads;
  bool in;
  KOKKOS_FUNCTION void operator()(std::uint64_t i, std::uint64_t& n) const {
    auto const head = find_in<device::access::frozen>(table, one_thread<Table>{}, distinct[i]);
    if (head.present == in) n += blocks.count(in ? *head : heads[i]);
  }
};

template <class Row, class Blocks, class ExecSpace, class Keys, class Values>
auto source_of_batch(Keys const& keys, [[maybe_unused]] Values const& values) {
  if constexpr (Blocks::has_values)
    return reduce_by_key::source_of_rows<Row, ExecSpace>(keys, values);
  else
    return reduce_by_key::source_of_rows<Row, ExecSpace>(keys);
}

/// Splits the pairs of a batch and groups them: values go to their blocks, from `begin` on. Returns
/// the counters. If pairs have overflowed or partitions are full, not all pairs are grouped. Waits.
template <class ExecSpace, class Row, class Source, class Table, class Blocks, class Key>
group_counts split_and_group(ExecSpace const& exec, Source const& source, grouping how,
                             group_memory<ExecSpace, Row, Key, typename Blocks::mapped> const& m,
                             Table const& table, Blocks const& blocks, std::uint64_t begin) {
  fill_words("karpos::multi_table: clear counts", exec, m.counts, 1, 0);
  auto const partitions = static_cast<std::uint32_t>(m.by_counting.partitions());
  reduce_by_key::partition_of_bits const of_key(partitions, 0);
  partition::partitioned_rows<Row const> pairs{m.rows, m.begins, {}};
  if (how == grouping::in_fixed_partitions) {
    partition::partition_of_row<Source, reduce_by_key::partition_of_bits> const of_row{of_key,
                                                                                       partitions};
    partition::split_rows(exec, source, partition::partition_functions{of_row, of_row},
                          m.by_capacity, m.rows, m.rows);
    pairs = m.by_capacity.rows_in(static_cast<Row const*>(m.rows));
  } else {
    partition::split_by_counting(exec, source, of_key, m.by_counting, m.partition_workspace, m.rows,
                                 m.begins);
  }
  device::for_each_in_league("karpos::multi_table: group partitions", exec,
                             static_cast<int>(partitions),
                             group_partitions<ExecSpace, Row, Table, Blocks, Key>{
                                 pairs, table, blocks, begin, m.distinct, m.heads, m.counts});
  return read_back(exec, m.counts, "karpos::multi_table: pairs are grouped");
}

/// The distinct keys of a batch, and the head that the table gets for each.
template <class ExecSpace, class Key, class Number>
class batch {
  using memory_space = typename ExecSpace::memory_space;
  template <class X>
  using array = Kokkos::View<X*, memory_space, Kokkos::MemoryUnmanaged>;

 public:
  std::uint64_t size = 0;     // number of distinct keys, without sentinels
  bool has_reserved = false;  // whether keys equal a sentinel
  Key* distinct = nullptr;
  Number* heads = nullptr;

  /// Groups keys, and writes their values from `begin` on. Uses the caller's workspace if it is
  /// large enough. Waits.
  template <class Index, class Blocks, class Keys, class Values>
  batch(ExecSpace const& exec, Index const& table, Blocks const& blocks, std::uint64_t begin,
        Keys const& keys, Values const& values, wrapped_memory const& workspace = {nullptr, 0})
      : m_workspace(workspace) {
    if constexpr (may_group_in_partitions<ExecSpace, Key, typename Index::key_equal, Blocks>)
      if (try_group_in_partitions(exec, table, blocks, begin, keys, values)) return;
    group_by_index(exec, table, blocks, begin, keys, values);
  }

  array<Key const> keys() const { return array<Key const>(distinct, size); }
  array<Number const> values() const { return array<Number const>(heads, size); }
  /// Counts the pairs whose keys are stored in the table (`in`), or of those that are not.
  template <class Table, class Blocks>
  std::uint64_t count(char const* label, ExecSpace const& exec, Table const& table,
                      Blocks const& blocks, bool in) const {
    using body = count_pairs<device::held_by_loop<ExecSpace, Table>, Blocks, Key>;
    return device::reduce_over<Kokkos::Sum<std::uint64_t>>(
        label, exec, size, body{device::for_loop<ExecSpace>(table), blocks, distinct, heads, in});
  }
  /// Returns memory that the batch does not need any more, for the insertion of its keys; none if
  /// it is less than `bytes`.
  wrapped_memory workspace(std::size_t bytes) const {
    return bytes > 0 && m_rest.bytes >= bytes ? m_rest : wrapped_memory{nullptr, 0};
  }

 private:
  template <class Index, class Blocks, class Keys, class Values>
  bool try_group_in_partitions(ExecSpace const& exec, Index const& table, Blocks const& blocks,
                               std::uint64_t begin, Keys const& keys, Values const& values) {
    using row = row_of_batch<Key, Blocks>;
    group_plan<ExecSpace, row> const plan(exec, keys.extent(0));
    if (!plan.is_applicable()) return false;
    auto const source = multi_table::source_of_batch<row, Blocks, ExecSpace>(keys, values);
    grouping const how = multi_table::choose_grouping(exec, source, plan.partitions);
    if (how == grouping::by_index) return false;
    using memory_type = group_memory<ExecSpace, row, Key, Number>;
    allocate(exec, memory_type(exec, plan).bytes);
    memory_type const m(exec, plan, m_base);
    return try_adopt_groups(
        m, multi_table::split_and_group(exec, source, how, m, table.table(), blocks, begin));
  }
  /// Returns whether all pairs were grouped. If so, the groups become those of the batch.
  template <class Memory>
  bool try_adopt_groups(Memory const& m, group_counts const& c) {
    if (c.overflowed != 0 || c.full != 0) return false;
    distinct = m.distinct;
    heads = m.heads;
    auto const before = reinterpret_cast<std::byte*>(m.rows) - m_base;
    m_rest = {m.rows, m.bytes - static_cast<std::size_t>(before)};
    size = c.groups;
    has_reserved = c.reserved > 0;
    return true;
  }
  template <class Index, class Blocks, class Keys, class Values>
  void group_by_index(ExecSpace const& exec, Index const& table, Blocks const& blocks,
                      std::uint64_t begin, Keys const& keys, Values const& values) {
    m_memory = {};
    using equality = same_key<Key, typename Index::key_equal>;
    auto const rows =
        karpos::rows(keys).with_functions(table.hash_function(), equality{table.key_equality()});
    std::uint64_t const n = rows.size();
    auto const memory = allocate_batch(exec, row_index::arrays<ExecSpace, Number>(n, true).bytes);
    row_index::groups_of_rows<ExecSpace, Number> indexed(exec, n, true, memory.data());
    {  // append waits, so that this memory may be freed before the next is allocated
      auto const more =
          allocate_batch(exec, row_index::build_arrays<ExecSpace, Number>(exec, n, true).bytes);
      indexed.append(exec, rows, n, everything{}, more.data(),
                     [&](auto const& arrays) { return memory.data() + arrays.slot_bytes; });
    }
    auto const groups = indexed.runs();
    allocate(exec, allocate_groups(indexed.groups(), nullptr));
    allocate_groups(indexed.groups(), m_base);
    if constexpr (Blocks::has_values)
      device::loop_over("karpos::multi_table: gather values", exec, keys.extent(0),
                        gather_values<Number, device::held_by_loop<ExecSpace, Values>,
                                      typename Blocks::value_type>{
                            groups, device::for_loop<ExecSpace>(values), blocks.values + begin});
    using body = write_groups<decltype(table.table()), Blocks, Keys>;
    Kokkos::parallel_scan("karpos::multi_table: write groups", index_range(exec, indexed.groups()),
                          body{groups, table.table(), keys, blocks, begin, distinct, heads}, size);
    exec.fence("karpos::multi_table: grouped");
    has_reserved = size < indexed.groups();
  }
  /// Allocates the arrays for n groups in `memory`. Returns their bytes.
  std::size_t allocate_groups(std::uint64_t n, std::byte* memory) {
    arena a(memory);
    a.allocate(distinct, n);
    a.allocate(heads, n);
    return a.bytes();
  }
  void allocate(ExecSpace const& exec, std::size_t bytes) {
    if (is_given(m_workspace) && can_use_workspace(m_workspace, bytes)) {
      m_base = static_cast<std::byte*>(m_workspace.data);
      return;
    }
    m_memory = allocate_batch(exec, bytes);
    m_base = m_memory.data();
  }
  /// Allocates memory. Throws an allocation_error that names what the caller did.
  static Kokkos::View<std::byte*, memory_space> allocate_batch(ExecSpace const& exec,
                                                               std::size_t bytes) {
    return allocate_byte_array<memory_space>(exec, "karpos::multi_table: batch", bytes,
                                             "the pairs of an insertion",
                                             "insert fewer pairs at once");
  }

  wrapped_memory m_workspace;
  Kokkos::View<std::byte*, memory_space> m_memory;
  std::byte* m_base = nullptr;
  wrapped_memory m_rest = {nullptr, 0};
};

}  // namespace karpos::detail::multi_table
