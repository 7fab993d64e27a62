// SPDX-License-Identifier: Apache-2.0
// g++ 13 and 14 at -O3 do not see that a row is only read under the condition under which it was
// loaded.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <doctest/doctest.h>

#include "support/emulated_space.hpp"
// The headers below must see its declarations.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "karpos/detail/relational/join/split_join.hpp"
#include "support/check.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

// The steps with which GPU teams (blocks) split rows with their payload columns and join the
// partitions, on teams that a CPU emulates: threads run in random order.

namespace {

namespace join = karpos::detail::join;
namespace partition = karpos::detail::partition;
using karpos::detail::pack;
using karpos_test::emulated_block;
using karpos_test::emulated_space;
using karpos_test::random_numbers;
using karpos_test::same;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
template <class T>
using array = Kokkos::View<T*, Kokkos::HostSpace>;

/// Stands for a device: has the tuning and branches of the generic native part.
struct emulated_device {
  struct memory_space {};
};
constexpr int threads = 36, partition_bits = 2;
constexpr u64 partitions = 1 << partition_bits;

/// A table with a key and two payload columns, which identify the row.
template <class Key>
struct side {
  array<Key> keys;
  array<u32> number;
  array<double> other;

  using rows = decltype(karpos::rows(array<Key>()));
  using columns = join::payload_columns<array<u32>, array<double>>;
  using source = join::payload_rows_to_split<rows, columns>;

  side(std::size_t n, u64 different, u64 seed)
      : keys("keys", n),
        number("number", n),
        other("other", n) {
    random_numbers random(seed);
    for (std::size_t i = 0; i < n; ++i) {
      keys(i) = static_cast<Key>(random.below(different));
      number(i) = static_cast<u32>(i);
      other(i) = static_cast<double>(i) / 4;
    }
  }
  columns of() const { return columns(pack<array<u32>, array<double>>{{number}, {other}}); }
};

/// A side split into partitions of fixed capacity, in one pass or two.
template <class Key>
struct split {
  using source = typename side<Key>::source;
  using side_type = join::payload_split_side<emulated_space, source>;
  using word = typename source::loaded;
  side_type arrays;
  u32 overflowed = 0;

  split(side<Key> const& from, u32 capacity, bool in_two) {
    auto const rows = karpos::rows(from.keys);
    auto& s = arrays.split;
    s = {{partitions, in_two ? u64(2) : u64(1)}, partition::capacity_policy(1)};
    s.fine.capacity = s.coarse.capacity = capacity;
    s.count_overflow_in(&overflowed);
    for (bool const is_counted : {true, false}) {
      karpos::detail::arena a(is_counted ? nullptr : m_bytes.data());
      s.allocate_from(a);
      join::allocate_rows(a, arrays.rows, s.places());
      join::allocate_rows(a, arrays.coarse_rows, s.coarse_places());
      if (is_counted) m_bytes.resize(a.bytes());
    }
    join::split_into_capacities(
        emulated_space{}, source{{rows, rows, join::word_multiplier(partition_bits)}, from.of()},
        arrays);
  }

 private:
  std::vector<std::byte> m_bytes;
};

using row_pairs = std::vector<std::pair<u32, u32>>;

/// Returns the pairs of rows with equal keys.
template <class Key>
row_pairs equal_pairs(side<Key> const& left, side<Key> const& right) {
  std::multimap<Key, u32> by_key;
  for (u32 i = 0; i < right.keys.size(); ++i) by_key.emplace(right.keys(i), i);
  row_pairs pairs;
  for (u32 i = 0; i < left.keys.size(); ++i)
    for (auto [at, last] = by_key.equal_range(left.keys(i)); at != last; ++at)
      pairs.emplace_back(i, at->second);
  return pairs;
}
/// Joins two split sides, with `each` chunks per partition, and writes at most `written` rows.
template <class Key>
void join_sides(split<Key>& l, split<Key>& r, u32 each, side<Key> const& left_out,
                side<Key> const& right_out, u64 written, u64 expected) {
  std::vector<u64> begins(partitions), ends(partitions);
  std::vector<partition::chunk> chunks(partitions * each);
  auto const &of_left = l.arrays.split.fine, &of_right = r.arrays.split.fine;
  using fixed_partitions = std::decay_t<decltype(of_left)>;
  join::write_chunks_and_bounds<fixed_partitions, fixed_partitions> const find{
      of_left, of_right, begins.data(), ends.data(), each, chunks.data()};
  for (u64 c = 0; c < chunks.size(); ++c) find(c);
  using word = typename split<Key>::word;
  using columns = typename side<Key>::columns;
  using table = join::payload_table<emulated_device, word, typename columns::values>;
  using step = join::join_partitions<emulated_device, join::key_only_row<word>, join::same_word,
                                     join::write_payload<columns, columns>, table>;
  join::join_counts counts{};
  step const s{{l.arrays.rows.keys, r.arrays.rows.keys, begins.data(), ends.data(), chunks.data()},
               {partition_bits, r.arrays.rows.keys, r.arrays.rows.values},
               &counts,
               {},
               join::row_multiplicity(join::multiplicity::matches),
               {l.arrays.rows.values, left_out.of(), right_out.of(), written}};
  emulated_block block(threads, expected);
  for (int team = 0; team < int(chunks.size()); ++team) block.run(s, team, int(chunks.size()));
  same("rows", counts.rows, expected);
}
template <class Key>
void joins(std::size_t left_rows, std::size_t right_rows, u64 different, u32 each, bool in_two) {
  side<Key> const left(left_rows, different, 1), right(right_rows, different, 2);
  u32 const left_capacity = static_cast<u32>(left_rows) / 32 * 32 + 32,
            right_capacity = static_cast<u32>(right_rows) / 32 * 32 + 32;
  split<Key> l(left, left_capacity, in_two), r(right, right_capacity, in_two);
  same("overflowed rows", l.overflowed + r.overflowed, 0);
  row_pairs expected = equal_pairs(left, right), got;
  u64 const n = expected.size(), capacity = n - n / 3;  // output for two thirds of them
  side<Key> const left_out(n, 1, 3), right_out(n, 1, 4);
  if (n > 0) left_out.number(n - 1) = 123456789;
  join_sides(l, r, each, left_out, right_out, capacity, n);
  if (capacity < n) same("a row beyond the capacity", left_out.number(n - 1), 123456789);
  join_sides(l, r, each, left_out, right_out, n, n);
  u64 wrong = 0;
  for (u64 i = 0; i < n; ++i) {
    got.emplace_back(left_out.number(i), right_out.number(i));
    wrong += left_out.other(i) != left_out.number(i) / 4.0 ||
             right_out.other(i) != right_out.number(i) / 4.0;
  }
  same("rows of values that do not belong together", wrong, 0);
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  CHECK(got == expected);
}

}  // namespace

TEST_CASE("payload columns: no match, one, several, partitions in one and two chunks") {
  for (bool const in_two : {false, true}) {
    joins<u32>(3, 2, 1, 1, in_two);
    joins<u32>(900, 700, 1'000, 1, in_two);
    joins<u32>(2'000, 1'500, 300, 2, in_two);
    joins<u64>(900, 700, 1'000, 2, in_two);
    joins<u64>(100, 3'000, 20, 1, in_two);
    joins<u32>(500, 1, u64(1) << 32, 1, in_two);
  }
}

TEST_CASE("a partition with more right rows than a table holds: it is filled again for the rest") {
  using columns = side<u32>::columns;
  using table = join::payload_table<emulated_device, u32, columns::values>;
  static_assert(table::fills_in_pieces && 2 * table::capacity < 9'000);
  joins<u32>(60, 9'000, 2, 1, false);
  joins<u64>(60, 9'000, 2, 2, false);
}

TEST_CASE(
    "materialised rows, in a table with them: words that are equal, and rows that are "
    "not") {
  using row = join::wide_row;
  using table = join::table_of_partition<emulated_device, row>;
  static_assert(std::is_same_v<table, join::wide_table<emulated_device>>);
  struct pairs {
    std::vector<std::pair<u64, u64>>* to;
    void operator()(u64 at, u64 l, u64 r) const { (*to)[at] = {l, r}; }
  };
  using step =
      join::join_partitions<emulated_device, row, join::equal_wide_rows<false>, pairs, table>;
  constexpr u32 left_rows = 700, right_rows = table::capacity;
  std::vector<row> left(left_rows), right(right_rows);
  random_numbers random(3);
  auto const draw = [&](row& r, u32 number) {
    // All words belong to partition 2 of four; words have several rows each, and some share a
    // bucket.
    r = {u32(2) << 30 | static_cast<u32>(random.below(900)) << 18, number, random.below(3)};
  };
  for (u32 i = 0; i < left_rows; ++i) draw(left[i], 1'000 + i);
  for (u32 i = 0; i < right_rows; ++i) draw(right[i], 5'000 + i);
  std::vector<std::pair<u64, u64>> expected;
  for (row const& l : left)
    for (row const& r : right)
      if (l.key == r.key && l.rest == r.rest) expected.emplace_back(l.value, r.value);
  std::vector<std::pair<u64, u64>> got(expected.size());
  u64 const begins[] = {0, 0, 0, 0}, ends[] = {0, 0, right_rows, 0};
  partition::chunk const chunk{0, left_rows, 1, 2};
  join::join_counts counts{};
  step const s{{left.data(), right.data(), begins, ends, &chunk},
               {partition_bits},
               &counts,
               {true},
               join::row_multiplicity(join::multiplicity::matches),
               {&got}};
  emulated_block(threads, 1).run(s, 0, 1);
  same("rows", counts.rows, expected.size());
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  CHECK(got == expected);
}

TEST_CASE("columns as words: where each begins, and how they are aligned") {
  using small = join::payload_columns<array<std::uint8_t>, array<std::uint16_t>>;
  using mixed = join::payload_columns<array<std::uint16_t>, array<double>, array<u32>>;
  struct wide {
    u64 words[2];
  };
  static_assert(small::words == 2 && small::fit && alignof(small::values) == 8);
  static_assert(mixed::words == 4 && mixed::fit && alignof(mixed::values) == 16);
  static_assert(!join::payload_columns<array<double>, array<double>, array<u32>>::fit);
  static_assert(!join::payload_columns<array<wide>>::fit);
  static_assert(join::payload_columns<>::words == 1 && join::payload_columns<>::fit);
  array<std::uint16_t> const a("a", 5), a_out("a", 9);
  array<double> const b("b", 5), b_out("b", 9);
  array<u32> const c("c", 5), c_out("c", 9);
  for (u32 i = 0; i < 5; ++i) {
    a(i) = static_cast<std::uint16_t>(65'530 + i);
    b(i) = -1.5 * i;
    c(i) = ~i;
  }
  using three = pack<array<std::uint16_t>, array<double>, array<u32>>;
  mixed const from(three{{a}, {b}, {c}}), to(three{{a_out}, {b_out}, {c_out}});
  mixed::values v[4];
  from.load<4>(1, v);
  for (u32 k = 0; k < 4; ++k) to.store(8 - k, v[k]);
  for (u32 k = 0; k < 4; ++k) {
    CHECK(a_out(8 - k) == a(k + 1));
    CHECK(b_out(8 - k) == b(k + 1));
    CHECK(c_out(8 - k) == c(k + 1));
  }
}
