// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "karpos/detail/partition/move.hpp"
#include "karpos/detail/partition/rooms.hpp"
#include "karpos/detail/reduce_by_key/aggregate.hpp"
#include "karpos/detail/reduce_by_key/columns.hpp"
#include "karpos/detail/reduce_by_key/group_list.hpp"
#include "karpos/detail/reduce_by_key/hot_keys.hpp"
#include "karpos/detail/reduce_by_key/parts.hpp"
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

struct part_by_key {
  u32 parts;
  template <class Row>
  u32 operator()(Row const& r) const {
    return static_cast<u32>(r.key % parts);
  }
};

/// Splits rows with the step, one team after another.
template <bool Stable, class Row>
std::vector<Row> split(std::vector<Row> const& rows, u32 parts, int teams) {
  using source = reduce::partial_rows<Row>;
  u64 const n = rows.size(), count = static_cast<u64>(teams);
  partition::row_ranges const ranges{n, (n + count - 1) / count, teams};
  std::vector<u64> begins(parts), firsts(parts * count);
  std::vector<u32> taken(parts);
  part_by_key const part{parts};
  u64 at = 0;
  for (u32 p = 0; p < parts; ++p) {
    begins[p] = at;
    for (int r = 0; r < teams; ++r) {
      firsts[static_cast<u64>(r) * parts + p] = at;
      for (u64 i = ranges.begin(r); i < ranges.end(r); ++i) at += part(rows[i]) == p;
    }
  }
  std::vector<Row> out(n);
  partition::places const to{begins.data(), Stable ? firsts.data() : nullptr, taken.data(), parts,
                             static_cast<int>(parts)};
  partition::move_tiles<emulated_device, source, part_by_key, Stable> const step(
      source(rows.data(), n), part, ranges, to, out.data());
  emulated_block block(threads, n + parts);
  for (int team = 0; team < teams; ++team) block.run(step, team, teams);
  return out;
}

/// Rows after a split into fixed-capacity partitions ("rooms"), and the list of overflowed rows.
template <class Row>
struct rooms_of_rows {
  std::vector<std::vector<Row>> parts;
  std::vector<Row> list;
  u32 listed;
};
/// Splits rows into fixed-capacity partitions, one team after another.
template <class Row>
rooms_of_rows<Row> split_into_rooms(std::vector<Row> const& rows, u32 parts, int teams, u32 room,
                                    u32 capacity) {
  using source = reduce::partial_rows<Row>;
  u64 const n = rows.size(), count = static_cast<u64>(teams);
  std::vector<u32> taken(parts), filled(parts, ~0u);
  std::vector<Row> out(u64(parts) * room), list(capacity);
  u32 listed = 0;
  partition::rooms<Row> const to{taken.data(), filled.data(),          list.data(), &listed, room,
                                 capacity,     static_cast<int>(parts)};
  partition::move_tiles<emulated_device, source, part_by_key, false, partition::rooms<Row>> const
      step(source(rows.data(), n), part_by_key{parts}, {n, (n + count - 1) / count, teams}, to,
           out.data());
  emulated_block block(threads, n + parts);
  for (int team = 0; team < teams; ++team) block.run(step, team, teams);
  rooms_of_rows<Row> result{{}, list, listed};
  result.list.resize(std::min(listed, capacity));
  for (u32 p = 0; p < parts; ++p) {
    auto const first = out.begin() + static_cast<std::ptrdiff_t>(u64(p) * room);
    u32 const rows_in_room = to.rows_in_room(p);
    REQUIRE(rows_in_room <= room);
    result.parts.emplace_back(first, first + rows_in_room);
  }
  return result;
}

template <class Row>
void sort_rows(std::vector<Row>& rows, u32 parts) {
  std::sort(rows.begin(), rows.end(), [&](Row const& a, Row const& b) {
    auto const x = a.key % parts, y = b.key % parts;
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

template <class Row>
struct list_of_rows {
  Row* rows;
  void write(u64 at, Row const& r) const { rows[at] = r; }
};

/// Aggregates rows first, with two teams. Returns: whether the partial rows reduce to what the rows
/// reduce to.
template <int Teams, class Row, class Op>
bool aggregates_first(std::vector<Row> const& rows, Op const& op, u64 most_partial, u32 columns) {
  using source = reduce::partial_rows<Row>;
  using step_type = reduce::aggregate_first<emulated_device, source, Op, Teams>;
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
bool aggregates_first(std::vector<Row> const& rows, Op const& op, u64 most_partial) {
  bool right = aggregates_first<1>(rows, op, most_partial, 1) &&
               aggregates_first<2>(rows, op, most_partial, 1);
  // Few keys are in their home slots in every column, so they are folded.
  u64 const most_folded = most_partial <= 8 ? 2 * most_partial : rows.size();
  for (u32 columns : {2u, 16u}) right &= aggregates_first<2>(rows, op, most_folded, columns);
  return right;
}

/// Aggregates rows as three chunks. Returns: whether a chunk that makes up a whole partition gives
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
class round_in_rooms {
  using source = reduce::partial_rows<Row>;
  using table = reduce::hot_table<emulated_device, Row>;
  using sampler = reduce::find_hot_keys<emulated_device, source>;
  using rooms = partition::rooms<Row>;
  using held_rooms = partition::rooms<Row, reduce::hot_groups<emulated_device, source, Op>>;
  using parts_type = reduce::parts_in_rooms<emulated_device, source, Op, list_of_rows<Row>, rooms>;
  static constexpr int teams = 3;

 public:
  round_in_rooms(std::vector<Row> const& rows, Op const& op, u32 parts, u32 room)
      : groups(rows.size()),
        partial(rows.size()),
        m_rows(rows),
        m_op(op),
        m_parts(parts),
        m_room(room),
        m_block(threads, rows.size() + parts) {}

  void run(bool holds) {
    u64 const n = m_rows.size();
    source const all(m_rows.data(), n);
    table const hot{m_keys.data(), m_values.data(), m_present.data()};
    m_block.run(
        sampler{all, std::min(static_cast<u32>(n), u32(sampler::max_keys)), &seen, hot.keys}, 0, 1);
    rooms const to{m_taken.data(),           m_filled.data(), m_list.data(),
                   &counts.listed,           m_room,          static_cast<u32>(n),
                   static_cast<int>(m_parts)};
    if (holds)
      split(all, held_rooms{to.taken,
                            to.filled,
                            to.list,
                            to.listed,
                            to.room,
                            to.capacity,
                            to.parts,
                            {all, m_op, hot}});
    else
      split(all, to);
    parts_type const p{source(m_out.data(), m_out.size()),
                       source(m_list.data(), n),
                       to,
                       hot,
                       holds ? u64(teams) : 0,
                       {groups.data()},
                       {partial.data(), n},
                       &counts,
                       m_again.data(),
                       m_op};
    using first = reduce::aggregate_parts<emulated_device, parts_type>;
    int const league = to.parts + 2 * first::other_teams;
    for (int team = 0; team < league; ++team) m_block.run(first{p}, team, league);
    for (int team = 0; team < 2; ++team)
      m_block.run(reduce::aggregate_again<emulated_device, parts_type>{p}, team, 2);
    REQUIRE(counts.partial <= n);
    groups.resize(counts.groups);
    partial.resize(counts.partial);
  }
  /// Returns whether groups and partial rows reduce to what the rows reduce to, and groups are
  /// complete.
  bool is_right() const {
    auto const expected = groups_of(m_rows, m_op), left = groups_of(partial, m_op);
    auto got = groups_of(groups, m_op);
    bool right = got.size() == groups.size();
    for (auto const& [key, value] : left) right &= got.emplace(key, value).second;
    return right && same_groups(got, expected);
  }

  std::vector<Row> groups, partial;
  reduce::counters counts{0, 0};
  reduce::sample_of_keys seen{};

 private:
  template <class Rooms>
  void split(source const& all, Rooms const& to) {
    partition::move_tiles<emulated_device, source, part_by_key, false, Rooms> const step(
        all, part_by_key{m_parts}, {all.size(), all.size(), teams}, to, m_out.data());
    for (int team = 0; team < teams; ++team) m_block.run(step, team, teams);
  }

  std::vector<Row> m_rows;
  Op m_op;
  u32 m_parts, m_room;
  emulated_block m_block;
  std::vector<Row> m_out = std::vector<Row>(u64(m_parts) * m_room), m_list = m_rows;
  std::vector<u32> m_taken = std::vector<u32>(m_parts), m_filled = m_taken, m_again = m_taken;
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
void check_rooms(std::vector<Row> rows, Op const& op, bool half_one_key) {
  if (half_one_key)
    for (std::size_t i = 0; i < rows.size(); i += 2)
      rows[i].key = i % 4 == 0 ? 3 : decltype(Row::key)(~0ull);
  for (u32 parts : {1u, 5u})
    for (u32 share : {50u, 130u})
      for (bool const holds : {false, true}) {
        round_in_rooms<Row, Op> r(
            rows, op, parts, (static_cast<u32>(rows.size()) / parts * share / 100 + 64) / 32 * 32);
        r.run(holds);
        CHECK(r.is_right());
        if (share > 100 && parts == 1 && rows.size() < 1000 && sizeof(Row) == 8)
          CHECK(r.counts.partial == 0);
        if (half_one_key && rows.size() > 600) CHECK(r.seen.hot_rows >= r.seen.keys / 3);
        if (half_one_key && holds && share > 100) CHECK(r.counts.listed == 0);
      }
}

}  // namespace

TEST_CASE("a round in rooms: groups are complete, all else is left as partial rows") {
  for (std::size_t n : {700u, 9000u})
    for (u64 keys : {u64(20), u64(100'000)})
      for (bool const half_one_key : {false, true}) {
        check_rooms(narrow_rows(n, keys, n), karpos::plus{}, half_one_key);
        check_rooms(narrow_rows(n, keys, n), larger{}, half_one_key);
        check_rooms(wide_rows(n, keys, n), two_operations{}, half_one_key);
      }
}

TEST_CASE("a list of groups takes as many as it has room for, and leaves other rows") {
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
      for (u32 looks : {1u, 8u, ~0u}) {
        auto const rows = narrow_rows(20'000, keys, most);
        std::vector<narrow_row> groups(rows.size()), left(rows.size());
        u64 count = 0, rows_left = 0;
        list l(t, most, karpos::plus{});
        l.add(t, reduce::partial_rows<narrow_row>(rows.data(), rows.size()), 0, rows.size(), looks,
              {left.data(), left.size()}, &rows_left);
        l.write_groups(t, list_of_rows<narrow_row>{groups.data()}, &count);
        CHECK(count <= most);
        groups.resize(count);
        CHECK(groups_of(groups, karpos::plus{}).size() == count);
        left.resize(rows_left);
        if (keys <= most && looks == ~0u) CHECK(rows_left == 0);
        if (most <= 30 && looks == ~0u) CHECK(count == std::min(u64(most), keys));
        groups.insert(groups.end(), left.begin(), left.end());
        CHECK(same_groups(groups_of(groups, karpos::plus{}), groups_of(rows, karpos::plus{})));
      }
}

TEST_CASE("plus of values of a user's has no identity") {
  auto const rows = tropical_rows(3000, 40, 1);
  CHECK(aggregates_first(rows, karpos::plus{}, 200));
  CHECK(aggregates_chunks(rows, karpos::plus{}));
  check_rooms(rows, karpos::plus{}, true);
}

TEST_CASE("tiles: every row comes to its part, in any number of parts") {
  for (std::size_t n : {1u, 47u, 700u, 3000u})
    for (u32 parts : {1u, 2u, 37u, 90u}) {
      auto rows = narrow_rows(n, 500, n);
      auto out = split<false>(rows, parts, 3);
      bool in_order = true;
      for (std::size_t i = 1; i < n; ++i) in_order &= out[i - 1].key % parts <= out[i].key % parts;
      CHECK(in_order);
      sort_rows(rows, parts);
      sort_rows(out, parts);
      CHECK(same_rows(out, rows));
      auto wide = wide_rows(n, 500, n);
      auto wide_out = split<false>(wide, parts, 2);
      sort_rows(wide, parts);
      sort_rows(wide_out, parts);
      CHECK(same_rows(wide_out, wide));
    }
}

TEST_CASE("rooms: every row comes to the room of its part, or to the list") {
  for (std::size_t n : {1u, 47u, 700u, 3000u, 20'000u})
    for (u32 parts : {1u, 2u, 37u, 90u})
      for (u32 share : {0u, 50u, 100u, 200u}) {
        auto rows = narrow_rows(n, n % 2 == 0 ? 5 : 500, n);
        u32 const room = (static_cast<u32>(n) / parts + 1) * share / 100;
        auto const got = split_into_rooms(rows, parts, 3, room, static_cast<u32>(n));
        CHECK(got.listed == got.list.size());
        std::vector<narrow_row> all = got.list;
        bool in_place = true;
        for (u32 p = 0; p < parts; ++p)
          for (narrow_row const& r : got.parts[p]) {
            in_place &= r.key % parts == p;
            all.push_back(r);
          }
        CHECK(in_place);
        sort_rows(rows, parts);
        sort_rows(all, parts);
        CHECK(same_rows(all, rows));
        if (share == 0) CHECK(got.listed == n);
      }
}

TEST_CASE("rooms: rows that the list is too small for are counted, and written nowhere") {
  auto const rows = narrow_rows(5000, 500, 1);
  auto const got = split_into_rooms(rows, 37, 2, 40, 100);
  std::size_t in_rooms = 0;
  for (auto const& part : got.parts) in_rooms += part.size();
  CHECK(got.list.size() == 100);
  CHECK(in_rooms + got.listed == rows.size());
  CHECK(in_rooms > 37 * 10);
}

TEST_CASE("tiles of a stable partition: rows of a part keep their order") {
  for (std::size_t n : {1u, 47u, 700u, 3000u})
    for (u32 parts : {1u, 2u, 4u}) {
      auto const rows = narrow_rows(n, 500, n);
      auto expected = rows;
      std::stable_sort(expected.begin(), expected.end(),
                       [&](auto const& a, auto const& b) { return a.key % parts < b.key % parts; });
      CHECK(same_rows(split<true>(rows, parts, 3), expected));
    }
}

TEST_CASE("rows are aggregated as far as a table holds them; the others are left") {
  for (std::size_t n : {1u, 3u, 500u, 9000u}) {
    CHECK(aggregates_first(narrow_rows(n, 40, n), karpos::plus{}, 2 * 40));
    CHECK(aggregates_first(narrow_rows(n, 40, n), karpos::minimum{}, 2 * 40));
    CHECK(aggregates_first(narrow_rows(n, 7000, n), karpos::plus{}, n));
    CHECK(aggregates_first(wide_rows(n, 40, n), two_operations{}, 2 * 40));
    CHECK(aggregates_first(narrow_rows(n, 1, n), karpos::plus{}, 2));
    auto runs = narrow_rows(n, 4, n);
    sort_rows(runs, 1);
    CHECK(aggregates_first(runs, karpos::plus{}, 2 * 4));
    CHECK(aggregates_first(wide_rows(n, 4000, n), two_operations{}, n));
  }
}

TEST_CASE("chunks become groups, or partial rows where their part has others") {
  for (std::size_t n : {3u, 60u, 1500u})
    for (u64 keys : {u64(1), u64(30), u64(100'000)}) {
      CHECK(aggregates_chunks(narrow_rows(n, keys, n), karpos::plus{}));
      CHECK(aggregates_chunks(narrow_rows(n, keys, n), karpos::maximum{}));
      CHECK(aggregates_chunks(wide_rows(n, keys, n), two_operations{}));
    }
}
