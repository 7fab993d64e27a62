// SPDX-License-Identifier: Apache-2.0
// g++ 13 at -O3 does not see that a row is only read under the condition under which it was loaded.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "karpos/detail/common/key_sampler.hpp"
#include "karpos/detail/common/scratch_table.hpp"
#include "karpos/detail/relational/partition/move.hpp"
#include "karpos/detail/relational/partition/split.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate.hpp"
#include "karpos/detail/relational/reduce_by_key/aggregate_partitions.hpp"
#include "karpos/detail/relational/reduce_by_key/columns.hpp"
#include "karpos/detail/relational/reduce_by_key/group_list.hpp"
#include "karpos/detail/relational/reduce_by_key/heavy_hitters.hpp"
#include "karpos/detail/relational/reduce_by_key/moments.hpp"
#include "support/emulated_team.hpp"
#include "support/keys.hpp"

// The steps with which GPU teams (blocks) split and aggregate rows, on teams that a CPU emulates:
// threads run in random order.

namespace {

namespace reduce = karpos::detail::reduce_by_key;
namespace partition = karpos::detail::partition;
using karpos::detail::pack;
using karpos_test::emulated_block;
using karpos_test::random_numbers;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Stands for a device: has the tuning and branches of the generic native part.
struct emulated_device {
  struct memory_space {};
};
static_assert(karpos::device::is_device<emulated_device>);

constexpr int threads = 48;

/// A value of two numbers, each with its own operation.
using two_values = pack<u64, double>;
using two_operations = reduce::merge_each<karpos::plus, karpos::maximum>;
two_values two(u64 a, double b) { return {{a}, {b}}; }

using narrow_row = karpos::key_value<u32, u32>;
using wide_row = karpos::key_value<u64, two_values>;

// Keys are mixed, as in the rows that the steps receive.
std::vector<narrow_row> narrow_rows(std::size_t n, u64 keys, u64 seed) {
  random_numbers random(seed);
  std::vector<narrow_row> rows(n);
  for (auto& r : rows) {
    auto const k = static_cast<u32>(random.below(keys));
    r = {k == 0 ? ~k : reduce::mixed(k), static_cast<u32>(random.below(100))};  // also the key ~0
  }
  return rows;
}
/// A user's value with an addition that zero does change.
struct tropical {
  u32 cost;
  friend tropical operator+(tropical const& a, tropical const& b) {
    return {std::min(a.cost, b.cost)};
  }
};
std::vector<karpos::key_value<u32, tropical>> tropical_rows(std::size_t n, u64 keys, u64 seed) {
  std::vector<karpos::key_value<u32, tropical>> rows;
  for (narrow_row const& r : narrow_rows(n, keys, seed)) rows.push_back({r.key, {r.value + 5}});
  return rows;
}
std::vector<wide_row> wide_rows(std::size_t n, u64 keys, u64 seed) {
  random_numbers random(seed);
  std::vector<wide_row> rows(n);
  for (auto& r : rows)
    r = {reduce::mixed(random.below(keys)),
         two(random.below(9), static_cast<double>(random.below(1000)))};
  return rows;
}

struct partition_by_key {
  u32 partitions;
  template <class Row>
  u32 operator()(Row const& r) const {
    return static_cast<u32>(r.key % partitions);
  }
};

/// Splits rows with the step, one team after another.
template <bool Stable, class Row>
std::vector<Row> split(std::vector<Row> const& rows, u32 partitions, int teams) {
  using source = reduce::partial_rows<Row>;
  u64 const n = rows.size(), count = static_cast<u64>(teams);
  partition::row_ranges const ranges{n, (n + count - 1) / count, teams};
  std::vector<u64> begins(partitions), firsts(partitions * count);
  std::vector<u32> taken(partitions);
  partition_by_key const partition_of{partitions};
  u64 at = 0;
  for (u32 p = 0; p < partitions; ++p) {
    begins[p] = at;
    for (int r = 0; r < teams; ++r) {
      firsts[static_cast<u64>(r) * partitions + p] = at;
      for (u64 i = ranges.begin(r); i < ranges.end(r); ++i) at += partition_of(rows[i]) == p;
    }
  }
  std::vector<Row> out(n);
  partition::places const to{begins.data(), Stable ? firsts.data() : nullptr, taken.data(),
                             partitions, static_cast<int>(partitions)};
  partition::move_tiles<emulated_device, source, partition_by_key, Stable> const step(
      source(rows.data(), n), partition_of, ranges, to, out.data());
  emulated_block block(threads, n + partitions);
  for (int team = 0; team < teams; ++team) block.run(step, team, teams);
  return out;
}

/// Rows after a split into fixed-capacity partitions, and the list of overflowed rows.
template <class Row>
struct rows_of_partitions {
  std::vector<std::vector<Row>> partitions;
  std::vector<Row> list;
  u32 overflowed;
};
/// Splits rows into fixed-capacity partitions, one team after another.
template <class Row>
rows_of_partitions<Row> split_into_fixed_partitions(std::vector<Row> const& rows, u32 partitions,
                                                    int teams, u32 capacity, u32 list_capacity) {
  using source = reduce::partial_rows<Row>;
  u64 const n = rows.size(), count = static_cast<u64>(teams);
  std::vector<u32> taken(partitions), filled(partitions, ~0u);
  std::vector<Row> out(u64(partitions) * capacity), list(list_capacity);
  u32 overflowed = 0;
  partition::fixed_partitions<Row> const to{taken.data(),
                                            filled.data(),
                                            list.data(),
                                            &overflowed,
                                            capacity,
                                            list_capacity,
                                            static_cast<int>(partitions)};
  partition::move_tiles<emulated_device, source, partition_by_key, false,
                        partition::fixed_partitions<Row>> const step(source(rows.data(), n),
                                                                     partition_by_key{partitions},
                                                                     {n, (n + count - 1) / count,
                                                                      teams},
                                                                     to, out.data());
  emulated_block block(threads, n + partitions);
  for (int team = 0; team < teams; ++team) block.run(step, team, teams);
  rows_of_partitions<Row> result{{}, list, overflowed};
  result.list.resize(std::min(overflowed, list_capacity));
  for (u32 p = 0; p < partitions; ++p) {
    auto const first = out.begin() + static_cast<std::ptrdiff_t>(u64(p) * capacity);
    u32 const stored_rows = to.stored_rows(p);
    REQUIRE(stored_rows <= capacity);
    result.partitions.emplace_back(first, first + stored_rows);
  }
  return result;
}

template <class Row>
void sort_rows(std::vector<Row>& rows, u32 partitions) {
  std::sort(rows.begin(), rows.end(), [&](Row const& a, Row const& b) {
    auto const x = a.key % partitions, y = b.key % partitions;
    if (x != y) return x < y;
    return a.key != b.key ? a.key < b.key : std::memcmp(&a.value, &b.value, sizeof(a.value)) < 0;
  });
}
template <class Row>
bool same_rows(std::vector<Row> const& a, std::vector<Row> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Row const& x, Row const& y) {
    return x.key == y.key && std::memcmp(&x.value, &y.value, sizeof(x.value)) == 0;
  });
}

/// Reduces rows by key on the host.
template <class Row, class Op>
std::map<u64, decltype(Row::value)> groups_of(std::vector<Row> const& rows, Op const& op) {
  std::map<u64, decltype(Row::value)> groups;
  for (Row const& r : rows) {
    auto const [at, is_new] = groups.emplace(r.key, r.value);
    if (!is_new) at->second = op(at->second, r.value);
  }
  return groups;
}
template <class T>
bool same_groups(std::map<u64, T> const& a, std::map<u64, T> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.first == y.first && std::memcmp(&x.second, &y.second, sizeof(T)) == 0;
  });
}
/// Moments of integers are exact, whichever number is the shift.
bool same_groups(std::map<u64, reduce::moments> const& a, std::map<u64, reduce::moments> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    reduce::moments const m = x.second.shifted_to(1e6), n = y.second.shifted_to(1e6);
    return x.first == y.first && m.count == n.count && m.sum == n.sum && m.squares == n.squares;
  });
}
/// Every fifth row is a null, which has no shift.
std::vector<karpos::key_value<u32, reduce::moments>> rows_of_moments(std::size_t n, u64 keys) {
  std::vector<karpos::key_value<u32, reduce::moments>> rows;
  for (narrow_row const& r : narrow_rows(n, keys, n))
    rows.push_back({r.key, rows.size() % 5 == 0 ? reduce::moments{0, 0, 0, 0}
                                                : reduce::moments_of(1e6 + r.value)});
  return rows;
}

template <class Row>
struct list_of_rows {
  Row* rows;
  void write(u64 at, Row const& r) const { rows[at] = r; }
};

/// Aggregates rows first, with two teams. Returns whether the partial rows reduce to what the rows
/// reduce to.
template <int Teams, class Row, class Op>
bool pre_aggregates(std::vector<Row> const& rows, Op const& op, u64 most_partial, u32 columns) {
  using source = reduce::partial_rows<Row>;
  using step_type = reduce::pre_aggregate<emulated_device, source, Op, Teams>;
  u64 const n = rows.size();
  std::vector<Row> partial(n);
  reduce::counters counts{0, 0};
  step_type const step{source(rows.data(), n),
                       {n, (n + 1) / 2, 2},
                       {partial.data(), n},
                       &counts.partial,
                       op,
                       step_type::max_slots / 64 * 64,
                       columns};
  emulated_block block(threads, n);
  for (int team = 0; team < 2; ++team) block.run(step, team, 2);
  CHECK(counts.partial <= most_partial);
  partial.resize(counts.partial);
  return same_groups(groups_of(partial, op), groups_of(rows, op));
}
template <class Row, class Op>
bool pre_aggregates(std::vector<Row> const& rows, Op const& op, u64 most_partial) {
  bool right =
      pre_aggregates<1>(rows, op, most_partial, 1) && pre_aggregates<2>(rows, op, most_partial, 1);
  // Few keys are in their home slots in every column, so their columns are merged.
  u64 const most_merged = most_partial <= 8 ? 2 * most_partial : rows.size();
  for (u32 columns : {2u, 16u}) right &= pre_aggregates<2>(rows, op, most_merged, columns);
  return right;
}

/// Aggregates rows as three chunks. Returns whether a chunk that makes up a whole partition gives
/// groups, and the other chunks partial rows.
template <class Row, class Op>
bool aggregates_chunks(std::vector<Row> const& rows, Op const& op) {
  using source = reduce::partial_rows<Row>;
  auto const third = static_cast<u32>(rows.size() / 3);
  partition::chunk const chunks[] = {{0, third, 1}, {third, third, 0}, {2 * third, third, 0}, {}};
  std::vector<Row> groups(rows.size()), partial(rows.size());
  reduce::counters counts{0, 0};
  reduce::aggregate_chunks<emulated_device, source, Op, list_of_rows<Row>> const step{
      source(rows.data(), rows.size()), chunks,  {groups.data()},
      {partial.data(), partial.size()}, &counts, op};
  emulated_block block(threads, third);
  for (int team = 0; team < 4; ++team) block.run(step, team, 4);
  groups.resize(counts.groups);
  partial.resize(counts.partial);
  std::vector<Row> const whole(rows.begin(), rows.begin() + third),
      others(rows.begin() + third, rows.begin() + 3 * third);
  auto const expected = groups_of(whole, op);
  return groups.size() == expected.size() && same_groups(groups_of(groups, op), expected) &&
         same_groups(groups_of(partial, op), groups_of(others, op));
}

/// The arrays of one round with fixed-capacity partitions.
template <class Row, class Op>
class round_in_fixed_partitions {
  using source = reduce::partial_rows<Row>;
  using table = reduce::heavy_hitter_table<emulated_device, Row>;
  using sampler = reduce::find_heavy_hitters<emulated_device, source>;
  using fixed_partitions = partition::fixed_partitions<Row>;
  using filtered_partitions =
      partition::fixed_partitions<Row, reduce::heavy_hitter_filter<emulated_device, source, Op>>;
  using reduction_type =
      reduce::partition_reduction<emulated_device, source, Op, list_of_rows<Row>, fixed_partitions>;
  static constexpr int teams = 3;

 public:
  round_in_fixed_partitions(std::vector<Row> const& rows, Op const& op, u32 partitions,
                            u32 capacity)
      : groups(rows.size()),
        partial(rows.size()),
        m_rows(rows),
        m_op(op),
        m_partitions(partitions),
        m_capacity(capacity),
        m_block(threads, rows.size() + partitions) {}

  void run(bool has_filter) {
    u64 const n = m_rows.size();
    source const all(m_rows.data(), n);
    table const heavy_hitters{m_keys.data(), m_values.data(), m_present.data()};
    m_block.run(sampler{all, std::min(static_cast<u32>(n), u32(sampler::max_keys)), &seen,
                        heavy_hitters.keys},
                0, 1);
    fixed_partitions const to{m_taken.data(),
                              m_filled.data(),
                              m_list.data(),
                              &counts.overflowed,
                              m_capacity,
                              static_cast<u32>(n),
                              static_cast<int>(m_partitions)};
    if (has_filter)
      split(all, filtered_partitions{to.taken,
                                     to.filled,
                                     to.list,
                                     to.overflowed,
                                     to.capacity,
                                     to.list_capacity,
                                     to.partitions,
                                     {all, m_op, heavy_hitters}});
    else
      split(all, to);
    reduction_type const p{source(m_out.data(), m_out.size()),
                           source(m_list.data(), n),
                           to,
                           heavy_hitters,
                           has_filter ? u64(teams) : 0,
                           {groups.data()},
                           {partial.data(), n},
                           &counts,
                           m_again.data(),
                           m_op};
    using first = reduce::aggregate_partitions<emulated_device, reduction_type>;
    int const league = to.partitions + 2 * first::other_teams;
    for (int team = 0; team < league; ++team) m_block.run(first{p}, team, league);
    for (int team = 0; team < 2; ++team)
      m_block.run(reduce::aggregate_deferred<emulated_device, reduction_type>{p}, team, 2);
    REQUIRE(counts.partial <= n);
    groups.resize(counts.groups);
    partial.resize(counts.partial);
  }
  /// Returns whether groups and partial rows reduce to what the rows reduce to, and groups are
  /// complete.
  bool is_right() const {
    auto const expected = groups_of(m_rows, m_op), overflow = groups_of(partial, m_op);
    auto got = groups_of(groups, m_op);
    bool right = got.size() == groups.size();
    for (auto const& [key, value] : overflow) right &= got.emplace(key, value).second;
    return right && same_groups(got, expected);
  }

  std::vector<Row> groups, partial;
  reduce::counters counts{0, 0};
  karpos::detail::sample_statistics seen{};

 private:
  template <class FixedPartitions>
  void split(source const& all, FixedPartitions const& to) {
    partition::move_tiles<emulated_device, source, partition_by_key, false, FixedPartitions> const
        step(all, partition_by_key{m_partitions}, {all.size(), all.size(), teams}, to,
             m_out.data());
    for (int team = 0; team < teams; ++team) m_block.run(step, team, teams);
  }

  std::vector<Row> m_rows;
  Op m_op;
  u32 m_partitions, m_capacity;
  emulated_block m_block;
  std::vector<Row> m_out = std::vector<Row>(u64(m_partitions) * m_capacity), m_list = m_rows;
  std::vector<u32> m_taken = std::vector<u32>(m_partitions), m_filled = m_taken, m_again = m_taken;
  std::vector<typename table::bits> m_keys = std::vector<typename table::bits>(table::all);
  std::vector<typename table::value> m_values =
      std::vector<typename table::value>(teams * table::all);
  std::vector<u32> m_present = std::vector<u32>(teams * table::words);
};

/// An operation whose identity is unknown.
struct larger {
  template <class T>
  T operator()(T const& a, T const& b) const {
    return a < b ? b : a;
  }
};

template <class Row, class Op>
void check_fixed_partitions(std::vector<Row> rows, Op const& op, bool half_one_key) {
  if (half_one_key)
    for (std::size_t i = 0; i < rows.size(); i += 2)
      rows[i].key = i % 4 == 0 ? 3 : decltype(Row::key)(~0ull);
  for (u32 partitions : {1u, 5u})
    for (u32 share : {50u, 130u})
      for (bool const has_filter : {false, true}) {
        round_in_fixed_partitions<Row, Op> r(
            rows, op, partitions,
            (static_cast<u32>(rows.size()) / partitions * share / 100 + 64) / 32 * 32);
        r.run(has_filter);
        CHECK(r.is_right());
        if (share > 100 && partitions == 1 && rows.size() < 1000 && sizeof(Row) == 8)
          CHECK(r.counts.partial == 0);
        if (half_one_key && rows.size() > 600) CHECK(r.seen.heavy_hitter_rows >= r.seen.keys / 3);
        if (half_one_key && has_filter && share > 100) CHECK(r.counts.overflowed == 0);
      }
}

}  // namespace

TEST_CASE("a round in fixed-capacity partitions: groups are complete, all else is partial rows") {
  for (std::size_t n : {700u, 9000u})
    for (u64 keys : {u64(20), u64(100'000)})
      for (bool const half_one_key : {false, true}) {
        check_fixed_partitions(narrow_rows(n, keys, n), karpos::plus{}, half_one_key);
        check_fixed_partitions(narrow_rows(n, keys, n), larger{}, half_one_key);
        check_fixed_partitions(wide_rows(n, keys, n), two_operations{}, half_one_key);
      }
}

namespace {

/// Searches for keys i * i + 1 of [0, n), and for the key that looks empty, twice.
template <class Bits, bool Sparse>
struct fill_table {
  using table = karpos::detail::scratch_table<Bits, Sparse>;
  static constexpr u32 max_slots = 64;
  static constexpr std::size_t scratch_bytes = table::bytes(max_slots);
  u32 slots, n;
  karpos::detail::scratch_slot *first,
      *second;  // of keys and, behind them, the one that looks empty

  static Bits key(u32 i) { return reduce::mixed(Bits(u64(i) * i + 1)); }
  template <class Team>
  void operator()(Team& t) const {
    table const all(t.scratch(), slots);
    all.clear(t);
    t.barrier();
    for (auto* to : {first, second}) {
      for (u32 i = static_cast<u32>(t.rank()); i <= n; i += static_cast<u32>(t.size()))
        to[i] = all.find_or_claim(i == n ? table::empty : key(i), table::max_probes(slots));
      t.barrier();
    }
    for (u32 i = static_cast<u32>(t.rank()); i < n; i += static_cast<u32>(t.size()))
      if (first[i].present && all.key(first[i].index) != key(i)) first[i].present = false;
  }
};

template <class Bits, bool Sparse>
void check_full_table(u32 slots, u32 n) {
  std::vector<karpos::detail::scratch_slot> first(n + 1), second(n + 1);
  emulated_block block(threads, slots + n);
  block.run(fill_table<Bits, Sparse>{slots, n, first.data(), second.data()}, 0, 1);
  u32 present = 0, wrong = 0;
  std::vector<bool> is_taken(slots);
  for (u32 i = 0; i < n; ++i) {
    wrong += second[i].present != first[i].present || second[i].claimed;
    if (!first[i].present) continue;
    ++present;
    wrong += !first[i].claimed || first[i].index != second[i].index || is_taken[first[i].index];
    is_taken[first[i].index] = true;
  }
  CHECK(present == std::min(slots, n));
  CHECK(wrong == 0);
  CHECK(first[n].index == slots);
  CHECK(first[n].claimed);
  CHECK(second[n].present);
}

}  // namespace

TEST_CASE("a table in scratch fills to its last slot, and then finds no slot for another key") {
  for (u32 slots : {4u, 28u, 64u})
    for (u32 n : {slots - 1, slots, slots + 1, 3 * slots}) {
      check_full_table<u32, false>(slots, n);
      check_full_table<u32, true>(slots, n);
      check_full_table<u64, false>(slots, n);
      check_full_table<u64, true>(slots, n);
    }
}

namespace {

/// Checks the statistics of a sample that has every row.
template <class Row>
void check_sample(std::vector<Row> const& rows) {
  using step = karpos::detail::sample_keys<emulated_device, reduce::partial_rows<Row>>;
  auto const n = static_cast<u32>(rows.size());
  REQUIRE(n <= step::sampler::max_keys);
  karpos::detail::sample_statistics got{}, expected{n, 0, 0, 0, 0, 0};
  emulated_block block(threads, n);
  block.run(step{{rows.data(), n}, n, &got}, 0, 1);
  std::map<u64, u32> counts;
  for (Row const& r : rows) ++counts[r.key];
  for (auto const& [key, count] : counts) {
    ++expected.distinct;
    expected.once += count == 1;
    expected.twice += count == 2;
    expected.most = std::max(expected.most, count);
  }
  CHECK(std::memcmp(&got, &expected, sizeof(got)) == 0);
  CHECK(got.repeated() == expected.distinct - expected.once);
}

}  // namespace

TEST_CASE("a sample of all rows has their statistics") {
  for (std::size_t n : {1u, 40u, 1000u})
    for (u64 keys : {u64(1), u64(20), u64(700), u64(100'000)}) {
      check_sample(narrow_rows(n, keys, n));
      check_sample(wide_rows(n, keys, n));
    }
}

TEST_CASE("a list of groups has as many as its capacity, and other rows overflow") {
  using list = reduce::group_list<Kokkos::DefaultHostExecutionSpace, narrow_row, karpos::plus>;
  struct thread {
    std::vector<std::max_align_t> memory =
        std::vector<std::max_align_t>(list::scratch_bytes / sizeof(std::max_align_t) + 1);
    std::byte* scratch() const {
      return reinterpret_cast<std::byte*>(const_cast<std::max_align_t*>(memory.data()));
    }
  } const t;
  for (u32 most : {1u, 30u, 3000u, list::max_slots})
    for (u64 keys : {u64(20), u64(3000), u64(100'000)})
      for (u32 probes : {1u, 8u, ~0u}) {
        auto const rows = narrow_rows(20'000, keys, most);
        std::vector<narrow_row> groups(rows.size()), overflow(rows.size());
        u64 count = 0, overflowed = 0;
        list l(t, most, karpos::plus{});
        l.add(t, reduce::partial_rows<narrow_row>(rows.data(), rows.size()), 0, rows.size(), probes,
              {overflow.data(), overflow.size()}, &overflowed);
        l.write_groups(t, list_of_rows<narrow_row>{groups.data()}, &count);
        CHECK(count <= most);
        groups.resize(count);
        CHECK(groups_of(groups, karpos::plus{}).size() == count);
        overflow.resize(overflowed);
        if (keys <= most && probes == ~0u) CHECK(overflowed == 0);
        if (most <= 30 && probes == ~0u) CHECK(count == std::min(u64(most), keys));
        groups.insert(groups.end(), overflow.begin(), overflow.end());
        CHECK(same_groups(groups_of(groups, karpos::plus{}), groups_of(rows, karpos::plus{})));
      }
}

TEST_CASE("plus of values of a user's has no identity") {
  auto const rows = tropical_rows(3000, 40, 1);
  CHECK(pre_aggregates(rows, karpos::plus{}, 200));
  CHECK(aggregates_chunks(rows, karpos::plus{}));
  check_fixed_partitions(rows, karpos::plus{}, true);
}

TEST_CASE("tiles: every row comes to its partition, in any number of partitions") {
  for (std::size_t n : {1u, 47u, 700u, 3000u})
    for (u32 partitions : {1u, 2u, 37u, 90u}) {
      auto rows = narrow_rows(n, 500, n);
      auto out = split<false>(rows, partitions, 3);
      bool in_order = true;
      for (std::size_t i = 1; i < n; ++i)
        in_order &= out[i - 1].key % partitions <= out[i].key % partitions;
      CHECK(in_order);
      sort_rows(rows, partitions);
      sort_rows(out, partitions);
      CHECK(same_rows(out, rows));
      auto wide = wide_rows(n, 500, n);
      auto wide_out = split<false>(wide, partitions, 2);
      sort_rows(wide, partitions);
      sort_rows(wide_out, partitions);
      CHECK(same_rows(wide_out, wide));
    }
}

TEST_CASE("fixed-capacity partitions: every row comes to its partition, or to the overflow list") {
  for (std::size_t n : {1u, 47u, 700u, 3000u, 20'000u})
    for (u32 partitions : {1u, 2u, 37u, 90u})
      for (u32 share : {0u, 50u, 100u, 200u}) {
        auto rows = narrow_rows(n, n % 2 == 0 ? 5 : 500, n);
        u32 const capacity = (static_cast<u32>(n) / partitions + 1) * share / 100;
        auto const got =
            split_into_fixed_partitions(rows, partitions, 3, capacity, static_cast<u32>(n));
        CHECK(got.overflowed == got.list.size());
        std::vector<narrow_row> all = got.list;
        bool in_place = true;
        for (u32 p = 0; p < partitions; ++p)
          for (narrow_row const& r : got.partitions[p]) {
            in_place &= r.key % partitions == p;
            all.push_back(r);
          }
        CHECK(in_place);
        sort_rows(rows, partitions);
        sort_rows(all, partitions);
        CHECK(same_rows(all, rows));
        if (share == 0) CHECK(got.overflowed == n);
      }
}

TEST_CASE("rows that the overflow list is too small for are counted, and written nowhere") {
  auto const rows = narrow_rows(5000, 500, 1);
  auto const got = split_into_fixed_partitions(rows, 37, 2, 40, 100);
  std::size_t in_fixed_partitions = 0;
  for (auto const& p : got.partitions) in_fixed_partitions += p.size();
  CHECK(got.list.size() == 100);
  CHECK(in_fixed_partitions + got.overflowed == rows.size());
  CHECK(in_fixed_partitions > 37 * 10);
}

TEST_CASE("tiles of a stable split: rows of a partition keep their order") {
  for (std::size_t n : {1u, 47u, 700u, 3000u})
    for (u32 partitions : {1u, 2u, 4u}) {
      auto const rows = narrow_rows(n, 500, n);
      auto expected = rows;
      std::stable_sort(expected.begin(), expected.end(), [&](auto const& a, auto const& b) {
        return a.key % partitions < b.key % partitions;
      });
      CHECK(same_rows(split<true>(rows, partitions, 3), expected));
    }
}

TEST_CASE("rows are aggregated as far as a table holds them; the others overflow") {
  for (std::size_t n : {1u, 3u, 500u, 9000u}) {
    CHECK(pre_aggregates(narrow_rows(n, 40, n), karpos::plus{}, 2 * 40));
    CHECK(pre_aggregates(narrow_rows(n, 40, n), karpos::minimum{}, 2 * 40));
    CHECK(pre_aggregates(narrow_rows(n, 7000, n), karpos::plus{}, n));
    CHECK(pre_aggregates(wide_rows(n, 40, n), two_operations{}, 2 * 40));
    CHECK(pre_aggregates(narrow_rows(n, 1, n), karpos::plus{}, 2));
    auto runs = narrow_rows(n, 4, n);
    sort_rows(runs, 1);
    CHECK(pre_aggregates(runs, karpos::plus{}, 2 * 4));
    CHECK(pre_aggregates(wide_rows(n, 4000, n), two_operations{}, n));
  }
}

TEST_CASE("chunks become groups, or partial rows if their partition has other chunks") {
  for (std::size_t n : {3u, 60u, 1500u})
    for (u64 keys : {u64(1), u64(30), u64(100'000)}) {
      CHECK(aggregates_chunks(narrow_rows(n, keys, n), karpos::plus{}));
      CHECK(aggregates_chunks(narrow_rows(n, keys, n), karpos::maximum{}));
      CHECK(aggregates_chunks(wide_rows(n, keys, n), two_operations{}));
    }
}

TEST_CASE("moments are merged whichever thread claims the shift") {
  for (std::size_t n : {700u, 9000u})
    for (u64 keys : {u64(20), u64(100'000)})
      for (bool const half_one_key : {false, true})
        check_fixed_partitions(rows_of_moments(n, keys), reduce::merge_moments{}, half_one_key);
}
