// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "karpos/detail/tables/multi_table/batch.hpp"
#include "karpos/detail/tables/multi_table/group_partitions.hpp"
#include "support/check.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

// The step with which GPU teams (blocks) group the pairs of a partition, on teams that a CPU
// emulates: threads run in random order.

namespace {

namespace mt = karpos::detail::multi_table;
namespace reduce = karpos::detail::reduce_by_key;
namespace partition = karpos::detail::partition;
using karpos_test::emulated_block;
using karpos_test::random_numbers;
using karpos_test::same;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Stands for a device: has the tuning and branches of the generic native part.
struct emulated_device {
  struct memory_space {};
};
constexpr int threads = 40;

/// Tells, in place of a table, which keys are reserved and may not be stored.
template <class Key>
struct some_reserved {
  bool reserved(Key key) const { return key == std::numeric_limits<Key>::max() || key == 5; }
};

/// Fixed-capacity partitions, the groups that teams build of them, and the expected groups.
template <class Key, class Blocks, class Row>
class grouping {
  using mapped = typename Blocks::mapped;

 public:
  grouping(Blocks const& blocks, u64 begin, std::vector<std::vector<Row>> const& partitions,
           u32 capacity)
      : m_blocks(blocks),
        m_begin(begin),
        m_rows(partitions.size() * capacity) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      m_taken.push_back(static_cast<u32>(partitions[p].size()));
      std::transform(partitions[p].begin(), partitions[p].end(),
                     m_rows.begin() + static_cast<std::ptrdiff_t>(p * capacity),
                     &grouping::to_split_row);
      for (Row const& r : partitions[p]) {
        auto const key = static_cast<Key>(reduce::key_of(r));
        ++m_pairs;
        if (table.reserved(key))
          ++m_reserved;
        else
          expected[key].push_back(value_of(r));
      }
    }
    distinct.resize(m_pairs);
    heads.resize(m_pairs);
    m_capacity = capacity;
  }
  void run(u64 seed, u32 overflowed = 0) {
    counts = {0, 0, 0, overflowed, 0};
    partition::fixed_partitions<Row> const in{
        m_taken.data(), nullptr, nullptr, &counts.overflowed, m_capacity, 0, int(m_taken.size())};
    group({m_rows.data(), nullptr, in}, seed);
  }
  /// Runs the step on contiguous partitions, which may be longer than scratch memory.
  void run_counted(u64 seed, u32 overflowed = 0) {
    counts = {0, 0, 0, overflowed, 0};
    std::vector<u64> offsets(1);
    std::vector<Row> rows;
    for (std::size_t p = 0; p < m_taken.size(); ++p) {
      auto const from = m_rows.begin() + static_cast<std::ptrdiff_t>(p * m_capacity);
      rows.insert(rows.end(), from, from + m_taken[p]);
      offsets.push_back(rows.size());
    }
    m_rows = rows;
    group({m_rows.data(), offsets.data(), {}}, seed);
  }
  /// Checks that every key that may be stored has one group, with its values or their number.
  void check() {
    same("pairs", counts.pairs, m_pairs);
    same("reserved", counts.reserved, m_reserved);
    same("groups", counts.groups, expected.size());
    u64 wrong = 0;
    for (u64 g = 0; g < counts.groups; ++g) {
      auto const at = expected.find(distinct[g]);
      if (at == expected.end())
        ++wrong;
      else
        wrong += !is_group(heads[g], at->second);
      if (at != expected.end()) expected.erase(at);
    }
    same("groups that are wrong, or there twice", wrong, 0);
  }

  mt::group_counts counts{};
  std::vector<Key> distinct;
  std::vector<mapped> heads;

 private:
  void group(partition::partitioned_rows<Row const> const& pairs, u64 seed) {
    mt::group_partitions<emulated_device, Row, some_reserved<Key>, Blocks, Key> const step{
        pairs, table, m_blocks, m_begin, distinct.data(), heads.data(), &counts};
    emulated_block block(threads, seed);
    int const teams = static_cast<int>(m_taken.size());
    for (int p = 0; p < teams; ++p) block.run(step, p, teams);
  }
  /// Converts a row to the form in which the source of a batch fills the partitions.
  static Row to_split_row(Row const& r) {
    using host = Kokkos::HostSpace;
    Key const key = static_cast<Key>(reduce::key_of(r));
    Kokkos::View<Key const*, host, Kokkos::MemoryUnmanaged> const keys(&key, 1);
    if constexpr (Blocks::has_values) {
      using value = reduce::value_type<Row>;
      Kokkos::View<value const*, host, Kokkos::MemoryUnmanaged> const values(&r.value, 1);
      return mt::source_of_batch<Row, Blocks, emulated_device>(keys, values).load(0);
    } else {
      return mt::source_of_batch<Row, Blocks, emulated_device>(keys, keys).load(0);
    }
  }
  static u64 value_of(Row const& r) {
    if constexpr (Blocks::has_values)
      return static_cast<u64>(r.value);
    else
      return 0;
  }
  bool is_group(mapped head, std::vector<u64> values) const {
    if (m_blocks.count(head) != values.size()) return false;
    if constexpr (Blocks::has_values) {
      std::vector<u64> got;
      m_blocks.for_each(head, 0, values.size(),
                        [&](auto v) { got.push_back(static_cast<u64>(v)); });
      std::sort(got.begin(), got.end());
      std::sort(values.begin(), values.end());
      return got == values && m_blocks.at(head).next == Blocks::none;
    }
    return true;
  }

  some_reserved<Key> table;
  Blocks m_blocks;
  u64 m_begin;
  std::vector<Row> m_rows;
  std::vector<u32> m_taken;
  u32 m_capacity = 0;
  u64 m_pairs = 0, m_reserved = 0;
  std::map<Key, std::vector<u64>> expected;
};

/// Returns three partitions, one of them empty and one full. The keys of partition p are p modulo
/// 3, except for the largest key.
template <class Row, class Key>
std::vector<std::vector<Row>> partitions_of(u64 distinct, u32 capacity, u64 seed) {
  random_numbers random(seed);
  std::vector<std::vector<Row>> partitions(3);
  for (u64 p : {0, 2})
    for (u32 i = 0; i < (p == 0 ? capacity : capacity / 3); ++i) {
      auto const key = static_cast<Key>(
          p == 0 && i % 50 == 7 ? ~u64(0) : 3 * random.below(distinct / 3 + 1) + p);
      if constexpr (reduce::has_value<Row>)
        partitions[p].push_back({key, static_cast<reduce::value_type<Row>>(random.below(1 << 20))});
      else
        partitions[p].push_back(static_cast<Row>(key));
    }
  return partitions;
}

template <class Key, class T>
void groups_pairs() {
  using blocks = mt::value_blocks<T, u32>;
  using row = mt::row_of_batch<Key, blocks>;
  constexpr u32 most = mt::group_sizes<emulated_device, row>::capacity;
  for (u64 const distinct : {u64(1), u64(40), u64(1) << 30})
    for (u32 const capacity : {u32(3), u32(200), most}) {
      constexpr u64 begin = 13;
      std::vector<T> values(begin + 2 * capacity);
      std::vector<u32> links(begin + 2 * capacity);
      grouping<Key, blocks, row> g({values.data(), links.data()}, begin,
                                   partitions_of<row, Key>(distinct, capacity, capacity + distinct),
                                   capacity);
      g.run(distinct);
      g.check();
      same("what lies before the batch", values[begin - 1] == T(0) ? links[begin - 1] : 1, 0);
    }
}
/// Groups partitions that exceed scratch memory: with one key, with some, and with more keys than
/// scratch has slots.
template <class Key, class T>
void groups_long_partitions() {
  using blocks = mt::value_blocks<T, u32>;
  using row = mt::row_of_batch<Key, blocks>;
  using sizes = mt::group_sizes<emulated_device, row>;
  for (u64 const distinct : {u64(1), u64(40), u64(3 * sizes::slots / 2)}) {
    u32 const capacity = 3 * sizes::capacity + 5;
    std::vector<T> values(2 * capacity);
    std::vector<u32> links(2 * capacity);
    grouping<Key, blocks, row> g({values.data(), links.data()}, 0,
                                 partitions_of<row, Key>(distinct, capacity, distinct), capacity);
    g.run_counted(distinct);
    g.check();
  }
  u32 const capacity = 3 * sizes::slots;
  std::vector<T> values(2 * capacity);
  std::vector<u32> links(2 * capacity);
  grouping<Key, blocks, row> g({values.data(), links.data()}, 0,
                               partitions_of<row, Key>(u64(1) << 30, capacity, 5), capacity);
  g.run_counted(7);
  CHECK(g.counts.full > 0);
  same("what teams read to go on, which must not change meanwhile", g.counts.overflowed, 0);
}
template <class Key>
void counts_keys() {
  using blocks = mt::key_counts<u32>;
  using row = mt::row_of_batch<Key, blocks>;
  constexpr u32 most = mt::group_sizes<emulated_device, row>::capacity;
  for (u64 const distinct : {u64(1), u64(40), u64(1) << 30})
    for (u32 const capacity : {u32(3), most}) {
      grouping<Key, blocks, row> g({}, 0, partitions_of<row, Key>(distinct, capacity, capacity),
                                   capacity);
      g.run(distinct);
      g.check();
    }
}

}  // namespace

TEST_CASE(
    "pairs of 4 and 8 bytes, one key to all distinct, partitions of few pairs to full scratch") {
  groups_pairs<u32, u32>();
  groups_pairs<u32, float>();
  groups_pairs<u64, u64>();
  groups_pairs<u64, u32>();
  groups_pairs<u32, double>();  // values that need more of the scratch than keys
}
TEST_CASE("partitions that are counted, longer than scratch: of one key, some, and too many") {
  groups_long_partitions<u32, u32>();
  groups_long_partitions<u64, u64>();
}
TEST_CASE("keys without values are counted") {
  counts_keys<u32>();
  counts_keys<u64>();
}
TEST_CASE("nothing is written if a partition overflowed") {
  using blocks = mt::value_blocks<u32, u32>;
  using row = mt::row_of_batch<u32, blocks>;
  std::vector<u32> values(20, 77), links(20, 77);
  grouping<u32, blocks, row> g({values.data(), links.data()}, 0, partitions_of<row, u32>(9, 10, 1),
                               10);
  g.run(1, 1);
  CHECK(g.counts.pairs + g.counts.groups + g.counts.reserved == 0);
  CHECK(std::count(values.begin(), values.end(), 77u) == 20);
}
TEST_CASE("the head of a lone block says how many values it has, where they are few") {
  using blocks = mt::value_blocks<u32, u32>;
  CHECK(blocks::count_bits_for(0) == 16);
  CHECK(blocks::count_bits_for((u64(1) << 31) - 8) == 1);
  CHECK(blocks::count_bits_for((u64(1) << 30) - 7) == 1);
  CHECK(blocks::count_bits_for((u64(1) << 30) - 8) == 2);
  CHECK(blocks::count_bits_for(u64(1) << 26) == 5);
  CHECK(mt::value_blocks<u32, u64>::count_bits_for((u64(1) << 40) - 8) == 16);
  std::vector<u32> values(600), links(600);
  for (int bits : {1, 2, 5, 8}) {
    blocks const b{values.data(), links.data(), bits};
    u64 const most = (u64(1) << bits) - 1;
    for (u64 const count : {u64(1), u64(2), most, most + 1}) {
      u32 const first = b.write_block(300, count);
      same("values", b.count(first), count);
      CHECK(b.begin_of(first) == 300);
      CHECK(((first & most) != 0) == (count <= most));
      u32 const both = b.chain(b.write_block(20, 3), first);
      same("values of a chain", b.count(both), count + 3);
      CHECK(b.at(both).count == 3);
      CHECK(b.begin_of(b.at(both).next) == 300);
    }
  }
}
TEST_CASE("a partition has fewer pairs than there are slots, and fewer of longer values") {
  using sizes = mt::group_sizes<emulated_device, karpos::key_value<u32, u32>>;
  static_assert(sizes::capacity > 1000 && sizes::capacity < sizes::slots);
  static_assert(mt::group_sizes<emulated_device, karpos::key_value<u32, double>>::capacity <
                sizes::capacity);
}
